"""Counting inside a kernel: what every block needs, and which subproblems were closed."""

from __future__ import annotations

import numpy as np

from ...pencil.compile import jit

FREE, IN, OUT = 0, 1, -1  # as in search/target.py


@jit
def record_closed(
    counts: np.ndarray, strides: np.ndarray, sizes: np.ndarray, needs: np.ndarray, amount: int
) -> None:
    """Add ``amount`` to the entry of a subproblem: sizes[b] undecided, needs[b] still to choose.

    A closed node counts +1. A node that fixing turns into a smaller one counts +1 for itself and
    -1 for what is left of it. ``counts`` is empty where no audit is wanted.
    """
    if counts.size == 0:
        return
    code = 0
    for b in range(sizes.size):
        code += sizes[b] * strides[b, 0] + needs[b] * strides[b, 1]
    counts[code] += amount


@jit
def count_free(
    state: np.ndarray, block: np.ndarray, need: np.ndarray, sizes: np.ndarray, needs: np.ndarray
) -> bool:
    """Free and needed features of every block; False if a block cannot be filled."""
    sizes[:] = 0
    needs[:] = need
    for j in range(state.size):
        if state[j] == FREE:
            sizes[block[j]] += 1
        elif state[j] == IN:
            needs[block[j]] -= 1
    return bool(np.all(needs >= 0) and np.all(sizes >= needs))


@jit
def decide_full_blocks(
    state: np.ndarray, block: np.ndarray, sizes: np.ndarray, needs: np.ndarray
) -> None:
    """Where a block needs all of its free features, or none, there is no choice left."""
    for b in range(sizes.size):
        if sizes[b] > 0 and (needs[b] == 0 or needs[b] == sizes[b]):
            for j in range(state.size):
                if state[j] == FREE and block[j] == b:
                    state[j] = OUT if needs[b] == 0 else IN
            sizes[b] = 0
            needs[b] = 0
