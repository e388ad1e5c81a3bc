"""What one eigen-decomposition of N tells of a subproblem of the level-set search.

The spectral trace test: for a diagonal D > 0 and tau > 0 let Y = (I - tau D^-1/2 N D^-1/2)_+.
Every set S whose part of diag(Y) sums to at most 1 has N_S >= 0: the level is not exceeded.

The inverse test, where N has one negative eigenvalue: with Q = N^-1 and T the features that a set
leaves out, N without T keeps the negative eigenvalue exactly if Q_TT is positive semidefinite. So
a feature with Q_jj < 0 must be chosen, and of two with Q_ij^2 > Q_ii Q_jj at least one.
"""

from __future__ import annotations

import math

import numpy as np

from ....pencil.compile import jit

# A share of Y's trace, or of N's and Q's largest entry, that round-off may hide.
HIDDEN_SHARE = 1e-10
# Backward error of an eigen-decomposition, per row, in units of the largest eigenvalue.
BACKWARD = 1e-14


@jit
def decompose(N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues (ascending) and vectors (rows) of D^-1/2 N D^-1/2, D = sqrt(diag N).

    Between no scaling and a unit diagonal: fewer nodes than with either, or with a D that is
    tuned by further decompositions.
    """
    u = N.shape[0]
    root = np.empty(u)
    for j in range(u):
        root[j] = N[j, j] ** -0.25
    M = np.empty((u, u))
    for i in range(u):
        for j in range(u):
            M[i, j] = N[i, j] * root[i] * root[j]
    theta, V = np.linalg.eigh(M)
    return theta, np.ascontiguousarray(V.T)


@jit
def positive_diagonal(theta: np.ndarray, V: np.ndarray, tau: float, y: np.ndarray) -> None:
    """y = diag((I - tau Nh)_+) from the eigenvalues of Nh, ascending, and its vectors in rows."""
    y[:] = 0.0
    for i in range(theta.size):
        part = 1.0 - tau * theta[i]
        if part <= 0.0:
            break
        for j in range(y.size):
            y[j] += part * V[i, j] * V[i, j]


@jit
def trace_sum(
    theta: np.ndarray, V: np.ndarray, block: np.ndarray, need: np.ndarray, y: np.ndarray
) -> tuple[float, float]:
    """The least sum, over tau > 0, of the need[b] largest entries of Y's diagonal; and the tau.

    The sum is convex in tau, and bisected on its slope; below 1 it is small enough. ``y`` gets
    the diagonal.
    """
    least, after = np.empty(need.size), np.empty(need.size)
    low, high, tau = 0.0, np.inf, 1.0
    best_tau, best = 1.0, np.inf
    for _ in range(24):
        positive_diagonal(theta, V, tau, y)
        total, taken = take_largest(y, block, need, least, after)
        if total < best:
            best, best_tau = total, tau
        if total <= 1.0 - 2.0 * HIDDEN_SHARE:
            break
        slope = 0.0
        for i in range(theta.size):
            if tau * theta[i] >= 1.0:
                break
            for j in range(y.size):
                if taken[j]:
                    slope -= theta[i] * V[i, j] * V[i, j]
        if slope < 0.0:
            low = tau
        else:
            high = tau
        if high < 1.02 * low:
            break
        if high == np.inf:
            tau *= 4.0
        elif low == 0.0:
            tau *= 0.25
        else:
            tau = math.sqrt(low * high)
    if tau != best_tau:
        positive_diagonal(theta, V, best_tau, y)
    error = BACKWARD * theta.size * best_tau * max(abs(theta[0]), abs(theta[-1]))
    return best + error, best_tau


@jit
def fix_by_trace(
    y: np.ndarray, total: float, block: np.ndarray, need: np.ndarray, fix: np.ndarray
) -> None:
    """Features that the trace test decides: 1 in every set above the level, -1 in none."""
    least, after = np.empty(need.size), np.empty(need.size)
    _, taken = take_largest(y, block, need, least, after)
    for j in range(y.size):
        b = block[j]
        if taken[j]:
            if total - y[j] + max(after[b], 0.0) <= 1.0 - HIDDEN_SHARE:
                fix[j] = 1
        elif total - least[b] + y[j] <= 1.0 - HIDDEN_SHARE:
            fix[j] = -1


@jit
def fix_by_inverse(
    theta: np.ndarray, V: np.ndarray, block: np.ndarray, need: np.ndarray, fix: np.ndarray
) -> bool:
    """Mark with 1 what must be chosen; False if nothing can be left out often enough."""
    u = theta.size
    largest = max(abs(theta[0]), abs(theta[u - 1]))
    if not (theta[0] < -HIDDEN_SHARE * largest and theta[1] > HIDDEN_SHARE * largest):
        return True  # not one negative eigenvalue, or too close to call
    Q = (V.T / theta) @ V
    size = np.abs(Q).max()
    doubt = size * max(HIDDEN_SHARE, BACKWARD * u * largest * size)
    drop = -need
    for j in range(u):
        drop[block[j]] += 1
        if Q[j, j] < -doubt:
            fix[j] = 1
    allies = np.empty_like(drop)
    changed = True
    while changed:
        changed = False
        allies[:] = 0
        for j in range(u):
            if fix[j] == 0:
                allies[block[j]] += 1
        if np.any(allies < drop):
            return False
        if drop.sum() < 2:
            break
        for i in range(u):
            if fix[i] == 0:
                allies[:] = 0
                for j in range(u):
                    if fix[j] == 0:
                        both = (Q[i, i] + doubt) * (Q[j, j] + doubt) * (1.0 + HIDDEN_SHARE)
                        if max(abs(Q[i, j]) - doubt, 0.0) ** 2 <= both:
                            allies[block[j]] += 1
                if np.any(allies < drop):  # i is an ally of itself
                    fix[i] = 1
                    changed = True
    return True


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
