"""The perspective bound: how much the best set of a reduced problem can be worth.

For weights 0 < w <= 1 with the right sums and any diagonal D <= B (B - D semidefinite), the value
of A = H H' with B - D + D/w in place of B is concave in w, and that of a set is its value at the
set's indicator. So a tangent plane bounds all sets: a few steps that raise the value at w
make a good one. A larger D is better, and every node gets its own.
"""

from __future__ import annotations

import numpy as np

from ....pencil.compile import jit
from ....pencil.criteria import EPS
from ...linear_kernel import eliminate, factorize, invert, top_sum
from .problem_kernel import Rest, log_det

MIN_WEIGHT = 1e-5
# How far D stays inside B - D >= 0.
INSIDE = 1e-7
POWER_STEPS = 8
# Rounds of improving the weights; what they bring falls off fast.
TURNS = 6


@jit
def inner_diagonal(B: np.ndarray, P: np.ndarray, fuzz: float) -> tuple[bool, np.ndarray]:
    """A diagonal D with B - D semidefinite; P is the inverse of B.

    By Gershgorin's theorem 1/D >= P if 1/D_j is the sum of |P_ji| sqrt(P_jj/P_ii); a few steps of
    the power method tell how much larger D may be, and a Cholesky factorisation decides.
    """
    u = P.shape[0]
    D, x = np.empty(u), np.ones(u)
    for a in range(u):
        total = 0.0
        for b in range(u):
            total += abs(P[a, b]) / np.sqrt(P[b, b])
        D[a] = 1.0 / (total * np.sqrt(P[a, a]))
    largest = 1.0
    for _ in range(POWER_STEPS):
        x = np.sqrt(D) * (P @ (np.sqrt(D) * x))
        largest = np.sqrt((x * x).sum())
        x /= largest
    D *= 0.98 / largest
    for _ in range(40):
        if is_inside(B, D, fuzz):
            return True, D
        D *= 0.9
    return False, D


@jit
def spread(w: np.ndarray, starts: np.ndarray, needs: np.ndarray) -> None:
    """Scale the weights of every block to their sum, none above 1 or too near 0.

    Only their ratios count: first they are made small, so that those at 1 are those put there.
    """
    for b in range(needs.size):
        lo, hi, largest = starts[b], starts[b + 1], 0.0
        for j in range(lo, hi):
            largest = max(largest, w[j])
        for j in range(lo, hi):
            w[j] = 0.5 * w[j] / largest if largest > 0.0 else 0.5
        for _ in range(50):
            capped, total = 0.0, 0.0
            for j in range(lo, hi):
                if w[j] >= 1.0:
                    capped += 1.0
                else:
                    total += w[j]
            if total <= 0.0:
                break
            factor = (needs[b] - capped) / total
            over = False
            for j in range(lo, hi):
                if w[j] < 1.0:
                    w[j] = max(w[j] * factor, MIN_WEIGHT)
                    if w[j] > 1.0:
                        w[j] = 1.0
                        over = True
            if not over:
                break


@jit
def tangent(
    B: np.ndarray,
    H: np.ndarray,
    D: np.ndarray,
    w: np.ndarray,
    is_log: bool,
    X: np.ndarray,
    gains: np.ndarray,
) -> tuple[float, float]:
    """The plane at w: offset + the sum of gains over a set bounds the set's value.

    Returns the offset (inf: not to be had) and the relaxed value at w. The plane is valid for
    whatever X comes out of the solve; what rounding may do to it is added to the gains.
    """
    u, c = H.shape
    M = B.copy()
    X[:] = H
    for a in range(u):
        M[a, a] += D[a] / w[a] - D[a]
    if eliminate(M, X, u) == np.inf:
        return np.inf, np.inf
    for a in range(u - 1, -1, -1):
        for s in range(c):
            X[a, s] /= M[a, a]
        for b in range(a):
            factor = M[b, a]
            for s in range(c):
                X[b, s] -= factor * X[a, s]
    return _plane(B, H, D, is_log, X, gains)


@jit
def _plane(
    B: np.ndarray, H: np.ndarray, D: np.ndarray, is_log: bool, X: np.ndarray, gains: np.ndarray
) -> tuple[float, float]:
    u, c = H.shape
    Y = np.zeros((u, c))  # (B - D) X
    rough = np.zeros(u)
    largest = np.zeros(u)
    for a in range(u):
        for s in range(c):
            largest[a] += abs(X[a, s])
    for a in range(u):
        for b in range(u):
            factor = B[a, b] if a != b else B[a, a] - D[a]
            rough[a] += abs(factor) * largest[b]
            for s in range(c):
                Y[a, s] += factor * X[b, s]
    Q, V = H.T @ X, X.T @ Y
    G = np.eye(c)
    offset, value = 0.0, np.trace(Q)
    if is_log:
        K = Q + np.eye(c)
        K = (K + K.T) / 2.0
        value = log_det(K)
        if value == np.inf:
            return np.inf, np.inf
        invert(K, c, G)
        offset = -log_det(G.copy()) + np.trace(G) - c
    size = abs(offset)
    for s in range(c):
        for t in range(c):
            offset += G[s, t] * V[s, t]
            size += abs(G[s, t] * V[s, t])
    error = 2.0 * EPS * np.sqrt(u)
    for a in range(u):
        total = 0.0
        slack = error * (rough[a] + np.abs(H[a]).sum())
        for s in range(c):
            for t in range(c):
                total += G[s, t] * (H[a, s] - Y[a, s]) * (H[a, t] - Y[a, t])
        gains[a] = (np.sqrt(max(total, 0.0)) + slack) ** 2 / D[a]
    return offset + 2.0 * error * size, value


@jit
def take_best(
    values: np.ndarray, starts: np.ndarray, needs: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """The sum of the ``need`` largest values of every block; per block their least, and the next.

    A block that needs none gives zeros; every other one is larger than its need.
    """
    total, last, following = 0.0, np.zeros(needs.size), np.zeros(needs.size)
    for b in range(needs.size):
        if needs[b] > 0:
            part, last[b], following[b] = top_sum(values[starts[b] : starts[b + 1]], needs[b])
            total += part
    return total, last, following


@jit
def is_inside(B: np.ndarray, D: np.ndarray, fuzz: float) -> bool:
    """Whether B - D is positive definite, beyond what rounding can feign."""
    u = D.size
    M = B.copy()
    for a in range(u):
        M[a, a] -= D[a] * (1.0 + INSIDE) + fuzz
    return factorize(M, u)


@jit
def relax(
    rest: Rest, is_log: bool, starts: np.ndarray, needs: np.ndarray, target: float, fuzz: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Improve the weights until no set is worth more than ``target``, or that is out of reach.

    Returns the bound, the gains that go with it, and the weights; inf if there is none.
    """
    B, H = rest.B, rest.H
    u = B.shape[0]
    X, trial, gains, w = np.empty(H.shape), np.empty(u), np.zeros(u), np.empty(u)
    for b in range(needs.size):
        w[starts[b] : starts[b + 1]] = needs[b] / max(starts[b + 1] - starts[b], 1)
    best = np.inf
    fine, D = inner_diagonal(B, rest.P, fuzz)
    if not fine:
        return best, gains, w
    for turn in range(TURNS):
        offset, value = tangent(B, H, D, w, is_log, X, trial)
        bound = offset + take_best(trial, starts, needs)[0]
        if bound < best:
            best = bound
            gains[:] = trial
        if not bound < np.inf or best <= target or turn + 1 == TURNS:
            break
        if value > target and best - value < 0.1 * (value - target):
            break
        for a in range(u):
            w[a] *= np.sqrt(trial[a])
        spread(w, starts, needs)
    return best, gains, w
