"""Small dense linear algebra for the level-set search: N = level * B - A and what it tells.

B has a unit diagonal and max |A| = 1 throughout.
"""

from __future__ import annotations

import math

import numpy as np

from ....pencil.compile import jit

# Round-off of an entry of N, per feature, in units of the largest term in it: N is lowered by it.
ROUND_OFF = 4.4e-16


@jit
def cholesky_in_place(M: np.ndarray, floor: float) -> bool:
    """Cholesky factor, right-looking; False as soon as a pivot is not above the floor."""
    n = M.shape[0]
    for c in range(n):
        pivot = M[c, c]
        if not pivot > floor:
            return False
        root = math.sqrt(pivot)
        M[c, c] = root
        for i in range(c + 1, n):
            M[c, i] = (
                M[c, i] / root
            )  # the factor is kept in the upper triangle: rows are contiguous
        for i in range(c + 1, n):
            factor = M[c, i]
            for j in range(i, n):
                M[i, j] -= factor * M[c, j]
    return True


@jit
def is_positive_definite(M: np.ndarray, margin: float) -> bool:
    """Whether M, scaled to a unit diagonal, has all eigenvalues above the margin."""
    n = M.shape[0]
    scaled = np.empty((n, n))
    for i in range(n):
        for j in range(i, n):
            scaled[i, j] = M[i, j] / math.sqrt(M[i, i] * M[j, j])
        scaled[i, i] = 1.0 - margin
    return cholesky_in_place(scaled, 1e-14)


@jit
def largest_ratio(A: np.ndarray, B: np.ndarray, chosen: np.ndarray) -> float:
    """The largest generalized eigenvalue of a set, from scratch; -inf if B is singular there."""
    n = chosen.size
    L = np.empty((n, n))
    C = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            L[i, j] = B[chosen[i], chosen[j]]
            C[i, j] = A[chosen[i], chosen[j]]
    if not cholesky_in_place(L, 0.0):
        return -np.inf
    for _ in range(2):  # C = L^-1 (L^-1 C)'
        for c in range(n):
            for j in range(n):
                C[c, j] = C[c, j] / L[c, c]
            for i in range(c + 1, n):
                factor = L[c, i]
                for j in range(n):
                    C[i, j] -= factor * C[c, j]
        C = np.ascontiguousarray(C.T)
    for i in range(n):
        for j in range(i):
            C[i, j] = C[j, i] = (C[i, j] + C[j, i]) / 2
    return np.linalg.eigvalsh(C)[n - 1]


@jit
def eliminate(
    A: np.ndarray, B: np.ndarray, level: float, inside: np.ndarray, free: np.ndarray
) -> tuple[np.ndarray, int]:
    """The Schur complement of N on the free features, and how many pivots were positive.

    Fewer than ``inside`` holds means that the features up to that pivot exceed the level,
    or that double precision cannot tell; such a pivot is replaced by the least one.
    """
    f, u = inside.size, free.size
    n = f + u
    order = np.concatenate((inside, free))
    slack = ROUND_OFF * (n + 2) * (1.0 + abs(level))
    M = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            M[i, j] = level * B[order[i], order[j]] - A[order[i], order[j]]
        M[i, i] -= slack
    positive = f
    for c in range(f):
        pivot = M[c, c]
        if not pivot > 0.0:
            positive = min(positive, c)
        pivot = max(pivot, slack)
        for i in range(c + 1, n):
            factor = M[c, i] / pivot
            for j in range(i, n):
                M[i, j] -= factor * M[c, j]
    N = np.empty((u, u))
    for i in range(u):
        for j in range(i, u):
            N[i, j] = N[j, i] = M[f + i, f + j]
    return N, positive


@jit
def take_largest(
    y: np.ndarray, block: np.ndarray, need: np.ndarray, least: np.ndarray, next_: np.ndarray
) -> tuple[float, np.ndarray]:
    """Sum and mask of the need[b] largest y of every block b.

    ``least`` gets the smallest taken of every block, ``next_`` the largest not taken.
    """
    left = need.copy()
    taken = np.zeros(y.size, dtype=np.bool_)
    least[:] = np.inf
    next_[:] = -np.inf
    total = 0.0
    for j in np.argsort(-y):
        b = block[j]
        if left[b] > 0:
            left[b] -= 1
            taken[j] = True
            total += y[j]
            least[b] = y[j]
        elif y[j] > next_[b]:
            next_[b] = y[j]
    return total, taken
