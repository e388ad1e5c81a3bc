"""Monte Carlo of small pencils: heuristics and the proved optimum of every cardinality.

For thousands of pairs (A, B) of some 16 features, A positive semidefinite. That a set's largest
eigenvalue does not exceed a level is one Cholesky factor of level * B - A: an eigenvalue costs ten
times as much, and is computed only where there is something to gain.
"""

from __future__ import annotations

import math

import numpy as np

from ...pencil.compile import jit
from ...search.linear_kernel import largest_ratio

# Rows of the result, after those of the rankings.
FORWARD, BACKWARD, SWAP, OPTIMUM = 0, 1, 2, 3
# All relative to the value of a set.
TIE = 1e-11
MIN_GAIN = 1e-9  # of an exchange
STEP = 1e-10  # no set exceeds an optimum by more
ROUND_OFF = 1e-14  # of a pivot: what is below is looked at again, by eigenvalues


@jit
def solve_pairs(A: np.ndarray, B: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """The value of every method at every cardinality.

    Parameters
    ----------
    A, B : arrays (pairs, n, n)
    orders : array (pairs, m, n) of int
        Rankings of the features: m methods that take the first k of them.

    Returns
    -------
    array (pairs, m + 4, n) : largest eigenvalues of the sets of size 1 ... n; the rankings first,
    then FORWARD, BACKWARD, SWAP (exchanges from both) and OPTIMUM.
    """
    pairs, m, n = orders.shape
    values = np.empty((pairs, m + OPTIMUM + 1, n))
    for i in range(pairs):
        scale = 1.0 / np.sqrt(np.diag(B[i]))
        a, b = scaled(A[i], scale), scaled(B[i], scale)
        for r in range(m):
            for k in range(1, n + 1):
                values[i, r, k - 1] = largest_ratio(a, b, orders[i, r, :k])
        search(a, b, values[i, m:])
    return values


@jit
def scaled(M: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Rows and columns of M times a scale."""
    out = np.empty_like(M)
    for i in range(scale.size):
        for j in range(scale.size):
            out[i, j] = M[i, j] * (scale[i] * scale[j])
    return out


@jit
def search(A: np.ndarray, B: np.ndarray, values: np.ndarray) -> None:
    """Both greedy passes, exchanges and the optimum; B has a unit diagonal."""
    n = A.shape[0]
    added, kept = np.empty(n, dtype=np.int64), np.arange(n)
    forward(A, B, added, values[FORWARD])
    backward(A, B, kept, values[BACKWARD])
    values[SWAP] = values[FORWARD]  # optimal for one feature, and for all
    values[OPTIMUM] = values[FORWARD]
    for k in range(2, n):
        first, value = exchange(A, B, added, k, values[FORWARD, k - 1])
        second, other = exchange(A, B, kept, k, values[BACKWARD, k - 1])
        if other > value:
            first, value = second, other
        values[SWAP, k - 1] = value
        values[OPTIMUM, k - 1] = prove(A, B, first, k, value)


@jit
def raised(A: np.ndarray, B: np.ndarray, S: np.ndarray, value: float, gain: float) -> float:
    """The value of a set where it is above ``value``, relatively by a gain; else ``value``."""
    level = value * (1.0 + gain)
    k = S.size
    L = np.empty((k, k))
    for i in range(k):
        for j in range(i + 1):
            dot = level * B[S[i], S[j]] - A[S[i], S[j]]
            for c in range(j):
                dot -= L[i, c] * L[j, c]
            if j < i:
                L[i, j] = dot * L[j, j]
            elif dot > ROUND_OFF * level:
                L[i, i] = 1.0 / math.sqrt(dot)
            else:
                new = largest_ratio(A, B, S)
                return new if new > level else value
    return value


@jit
def forward(A: np.ndarray, B: np.ndarray, order: np.ndarray, values: np.ndarray) -> None:
    """Add the feature that raises the value most; the first k of the order are the set of k."""
    n = order.size
    free = np.ones(n, dtype=np.bool_)
    for k in range(1, n + 1):
        best, winner = -1.0, -1
        for j in range(n):
            if free[j]:
                order[k - 1] = j
                new = raised(A, B, order[:k], best, TIE)
                if new > best:
                    best, winner = new, j
        order[k - 1] = winner
        values[k - 1] = best
        free[winner] = False


@jit
def backward(A: np.ndarray, B: np.ndarray, order: np.ndarray, values: np.ndarray) -> None:
    """Delete the feature that lowers the value least; the order is as that of `forward`."""
    n = order.size
    values[n - 1] = largest_ratio(A, B, order)
    for k in range(n - 1, 0, -1):
        best, winner = -1.0, -1
        for i in range(k + 1):
            rest = np.concatenate((order[:i], order[i + 1 : k + 1]))
            new = raised(A, B, rest, best, TIE)
            if new > best:
                best, winner = new, i
        deleted = order[winner]
        order[winner:k] = order[winner + 1 : k + 1].copy()
        order[k] = deleted
        values[k - 1] = best


@jit
def exchange(
    A: np.ndarray, B: np.ndarray, order: np.ndarray, k: int, value: float
) -> tuple[np.ndarray, float]:
    """Exchange one of the first k features for another, the best pair first, while that helps.

    The new order, and the value of its first k.
    """
    order = order.copy()
    while True:
        best, out, into = value, -1, -1
        for i in range(k):
            old = order[i]
            for j in range(k, order.size):
                order[i] = order[j]
                new = raised(A, B, order[:k], best, MIN_GAIN if out < 0 else TIE)
                if new > best:
                    best, out, into = new, i, j
            order[i] = old
        if out < 0:
            return order, value
        order[out], order[into] = order[into], order[out]
        value = best


@jit
def prove(A: np.ndarray, B: np.ndarray, order: np.ndarray, k: int, value: float) -> float:
    """The largest value of k features, given that of a good set, which the order has first."""
    n = order.size
    a, b = A[order][:, order], B[order][:, order]
    N = np.empty((k, n, n))
    while True:
        level = value * (1.0 + STEP)
        N[0] = level * b - a
        new = find_above(a, b, N, level)
        if not new > level:
            return value
        value = new


@jit
def find_above(A: np.ndarray, B: np.ndarray, N: np.ndarray, level: float) -> float:
    """The value of a set of at most k features, if there is one above the level; else 0.

    Depth first: N[m] is the Schur complement of N[0] = level * B - A after m features, on those
    that come later. No set below a node is above the level where N is positive definite on them.
    """
    k, n = N.shape[0], N.shape[1]
    floor = ROUND_OFF * level
    chosen, end = np.zeros(k, dtype=np.int64), np.empty(k, dtype=np.int64)
    scratch = np.empty((n, n))
    end[0] = min(n - k + 1, definite_from(N[0], 0, floor, scratch))
    m = 0
    while m >= 0:
        i = chosen[m]
        if i >= end[m]:
            m -= 1
            if m >= 0:
                chosen[m] += 1
            continue
        pivot = max(N[m, i, i], floor)
        for j in range(i + 1, n):
            if N[m, j, j] - N[m, i, j] * N[m, i, j] / pivot <= floor:
                value = largest_ratio(A, B, np.append(chosen[: m + 1], j))
                if value > level:
                    return value
        if m + 2 >= k:
            chosen[m] += 1
            continue
        eliminate_first(N[m], N[m + 1], i, pivot)
        m += 1
        chosen[m] = i + 1
        end[m] = min(n - k + m + 1, definite_from(N[m], i + 1, floor, scratch))
    return 0.0


@jit
def eliminate_first(N: np.ndarray, rest: np.ndarray, i: int, pivot: float) -> None:
    """The Schur complement of N after i, on what comes later; the upper triangle."""
    n = N.shape[0]
    for a in range(i + 1, n):
        factor = N[i, a] / pivot
        for b in range(a, n):
            rest[a, b] = N[a, b] - factor * N[i, b]


@jit
def definite_from(N: np.ndarray, start: int, floor: float, M: np.ndarray) -> int:
    """The least t, not below the start, such that N is positive definite on t, t + 1, ..."""
    n = N.shape[0]
    for a in range(start, n):
        for b in range(a, n):
            M[a, b] = N[a, b]
    for c in range(n - 1, start - 1, -1):
        if not M[c, c] > floor:
            return c + 1
        for b in range(start, c):
            factor = M[b, c] / M[c, c]
            for a in range(start, b + 1):
                M[a, b] -= factor * M[a, c]
    return start
