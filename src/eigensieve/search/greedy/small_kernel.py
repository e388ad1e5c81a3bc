"""Local search among a few features: the best exchange, again and again, on dense matrices.

The formulas are those of swap.py. There every scan of all exchanges costs some hundred
microseconds whatever its size; here as many as the arithmetic takes, so that many starts are
cheap where there are few features. Sets are proposals: swap.py confirms the best of them.
"""

from __future__ import annotations

import math

import numpy as np

from ...pencil.compile import jit
from ..linear_kernel import factorize, invert, largest_ratio

# As in swap.py.
MIN_GAIN = 1e-9
DEPENDENT = 1e-13
MAX_SWAPS = 1000


@jit
def climb(
    A: np.ndarray, B: np.ndarray, H: np.ndarray, kind: int, S: np.ndarray, group: np.ndarray
) -> None:
    """Improve the set S, in place, until no exchange helps.

    Parameters
    ----------
    A, B : arrays (p, p); B has a unit diagonal, and so has A + B for kind 1 a scale of its own
    H : array (c, p), A = H'H, for kind 0
    kind : 0 for the trace of B^-1 A, 1 for log det(A) - log det(B), 2 for the largest eigenvalue
    group : array (p,); features of one group may take each other's place, those of -1 stay
    """
    p, k = B.shape[0], S.size
    outside = np.ones(p, dtype=np.bool_)
    for i in range(k):
        outside[S[i]] = False
    for _ in range(MAX_SWAPS):
        if kind == 0:
            slot, j = best_trace(B, H, S, group, outside)
        elif kind == 1:
            slot, j = best_logdet(A, B, S, group, outside)
        else:
            slot, j = best_lambda(A, B, S, group, outside)
        if slot < 0:
            return
        outside[S[slot]], outside[j] = True, False
        S[slot] = j


@jit
def regress(M: np.ndarray, S: np.ndarray, C: np.ndarray, v: np.ndarray) -> np.ndarray:
    """P = M_S^-1, C = P M[S] (k, p), and v, what the set leaves of every feature."""
    p, k = M.shape[0], S.size
    U, P = np.empty((k, k)), np.zeros((k, k))
    for a in range(k):
        for b in range(k):
            U[a, b] = M[S[a], S[b]]
    if not factorize(U, k):
        return P
    invert(U, k, P)
    C[:] = 0.0
    for j in range(p):
        v[j] = M[j, j]
    for a in range(k):
        for b in range(k):
            factor = P[a, b]
            for j in range(p):
                C[a, j] += factor * M[S[b], j]
        for j in range(p):
            v[j] -= C[a, j] * M[S[a], j]
    return P


@jit
def best_logdet(
    A: np.ndarray, B: np.ndarray, S: np.ndarray, group: np.ndarray, outside: np.ndarray
) -> tuple[int, int]:
    """The best exchange for log det(A_S) - log det(B_S)."""
    p, k = B.shape[0], S.size
    C, v, D, w = np.empty((k, p)), np.empty(p), np.empty((k, p)), np.empty(p)
    P, Q = regress(B, S, C, v), regress(A, S, D, w)
    # the logarithm of the best ratio; a set is worth some units at least where gains matter
    best, slot, new = 1.0 + MIN_GAIN, -1, -1
    for i in range(k):
        if group[S[i]] < 0 or not (P[i, i] > 0.0 and Q[i, i] > 0.0):
            continue
        for j in range(p):
            if outside[j] and group[j] == group[S[i]]:
                room = P[i, i] * v[j] + C[i, j] * C[i, j]
                if not room > DEPENDENT * P[i, i]:
                    continue
                ratio = (Q[i, i] * w[j] + D[i, j] * D[i, j]) / room
                if ratio > best * (1.0 + 1e-12):
                    best, slot, new = ratio, i, j
    return slot, new


@jit
def best_trace(
    B: np.ndarray, H: np.ndarray, S: np.ndarray, group: np.ndarray, outside: np.ndarray
) -> tuple[int, int]:
    """The best exchange for trace(B_S^-1 H_S'H_S)."""
    c, p = H.shape
    k = S.size
    C, v = np.empty((k, p)), np.empty(p)
    P = regress(B, S, C, v)
    beta, rest, norm2, total = np.zeros((k, c)), H.copy(), np.zeros(p), 0.0
    for a in range(k):
        for t in range(c):
            own = H[t, S[a]]
            for b in range(k):
                beta[b, t] += P[b, a] * own
            for j in range(p):
                rest[t, j] -= C[a, j] * own
    for t in range(c):
        for j in range(p):
            norm2[j] += rest[t, j] * rest[t, j]
        for a in range(k):
            total += beta[a, t] * H[t, S[a]]
    best, slot, new = MIN_GAIN * total, -1, -1
    cross = np.empty(p)
    for i in range(k):
        if group[S[i]] < 0 or not P[i, i] > 0.0:
            continue
        lost = 0.0
        cross[:] = 0.0
        for t in range(c):
            lost += beta[i, t] * beta[i, t] / P[i, i]
            for j in range(p):
                cross[j] += rest[t, j] * beta[i, t]
        for j in range(p):
            if outside[j] and group[j] == group[S[i]]:
                x = C[i, j]
                room = P[i, i] * v[j] + x * x
                if not room > DEPENDENT * P[i, i]:
                    continue
                won = (P[i, i] * norm2[j] + 2.0 * x * cross[j] + x * x * lost) / room
                if won - lost > best * (1.0 + 1e-12):
                    best, slot, new = won - lost, i, j
    return slot, new


@jit
def best_lambda(
    A: np.ndarray, B: np.ndarray, S: np.ndarray, group: np.ndarray, outside: np.ndarray
) -> tuple[int, int]:
    """The best exchange for the largest eigenvalue.

    The set R + j exceeds a level if and only if level B - A is not positive semidefinite there:
    one elimination of R tells it of all j. Eigenvalues are for those that do.
    """
    p, k = B.shape[0], S.size
    value = largest_ratio(A, B, S)
    level = value + MIN_GAIN * max(abs(value), 1.0)
    slot, new = -1, -1
    left, T = np.empty(p), S.copy()
    for i in range(k):
        if group[S[i]] < 0 or not leftover(A, B, S, i, level, left):
            continue
        for j in range(p):
            if outside[j] and group[j] == group[S[i]] and left[j] < 0.0:
                T[i] = j
                value = largest_ratio(A, B, T)
                if value > level:
                    level, slot, new = value * (1.0 + math.copysign(1e-12, value)), i, j
                    if not leftover(A, B, S, i, level, left):
                        break
        T[i] = S[i]
    return slot, new


@jit
def leftover(
    A: np.ndarray, B: np.ndarray, S: np.ndarray, slot: int, level: float, left: np.ndarray
) -> bool:
    """What S without the slot leaves of every feature under level B - A; False if it exceeds."""
    p, k = B.shape[0], S.size
    X = np.empty((k - 1, p))
    for j in range(p):
        left[j] = level * B[j, j] - A[j, j]
    row = 0
    for a in range(k):
        if a != slot:
            for j in range(p):
                X[row, j] = level * B[S[a], j] - A[S[a], j]
            row += 1
    row = 0
    for a in range(k):
        if a == slot:
            continue
        pivot = X[row, S[a]]
        if not pivot > 0.0:
            return False
        scale = 1.0 / math.sqrt(pivot)
        for j in range(p):
            X[row, j] *= scale
            left[j] -= X[row, j] * X[row, j]
        below = row + 1
        for b in range(a + 1, k):
            if b != slot:
                factor = X[row, S[b]]
                for j in range(p):
                    X[below, j] -= factor * X[row, j]
                below += 1
        row += 1
    return True
