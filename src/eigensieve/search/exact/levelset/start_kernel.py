"""A local search for the largest eigenvalue, by exchanges, on small dense pencils."""

from __future__ import annotations

import numpy as np

from ....pencil.compile import jit
from ...linear_kernel import eliminate, largest_ratio

# An exchange must gain this much, relatively: round-off must not cycle.
MIN_GAIN = 1e-9


@jit
def climb(
    A: np.ndarray, B: np.ndarray, block: np.ndarray, chosen: np.ndarray, movable: np.ndarray
) -> tuple[np.ndarray, float]:
    """Exchange one feature after the other, while that helps; the set and its value.

    With R the set without one feature, R + j exceeds the level exactly if the Schur complement of
    N at j is negative: one Cholesky factor of N_R answers for every j.
    """
    S = chosen.copy()
    value = largest_ratio(A, B, S)
    slot, unchanged = 0, 0
    while unchanged < S.size:
        if movable[S[slot]]:
            level = value + MIN_GAIN * max(abs(value), 1.0)
            j = best_exchange(A, B, block, S, slot, level)
            if j >= 0:
                old = S[slot]
                S[slot] = j
                new = largest_ratio(A, B, S)
                if new > level:
                    value, unchanged = new, -1
                else:  # double precision could not tell
                    S[slot] = old
        slot = (slot + 1) % S.size
        unchanged += 1
    return np.sort(S), value


@jit
def best_exchange(
    A: np.ndarray, B: np.ndarray, block: np.ndarray, S: np.ndarray, slot: int, level: float
) -> int:
    """The feature that lifts the set most clearly above the level in that slot, or -1."""
    n, r = A.shape[0], S.size - 1
    rest = np.concatenate((S[:slot], S[slot + 1 :]))
    N = np.empty((r, r))
    X = np.empty((r, n))
    for i in range(r):
        for j in range(r):
            N[i, j] = level * B[rest[i], rest[j]] - A[rest[i], rest[j]]
        for j in range(n):
            X[i, j] = level * B[rest[i], j] - A[rest[i], j]
    if eliminate(N, X, r) == np.inf:
        return -1
    schur = np.empty(n)
    for j in range(n):
        schur[j] = level * B[j, j] - A[j, j]
    for c in range(r):
        for j in range(n):
            schur[j] -= X[c, j] * X[c, j]
    schur[S] = np.inf
    best, lowest = -1, 0.0
    for j in range(n):
        if schur[j] < lowest and block[j] == block[S[slot]]:
            best, lowest = j, schur[j]
    return best
