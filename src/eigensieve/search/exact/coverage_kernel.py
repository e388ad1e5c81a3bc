"""The coverage audit inside a kernel: which subproblems were closed, as counts."""

from __future__ import annotations

import numpy as np

from ...pencil.compile import jit


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
