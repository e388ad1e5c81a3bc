"""Steps on the weights of the perspective relaxation: curvature, Newton, projection."""

from __future__ import annotations

import math

import numpy as np

from ....pencil.compile import jit
from ...linear_kernel import factorize, solve, solve_lower
from .weights_kernel import WEIGHTLESS, Scratch, WeightProblem


@jit
def with_free(problem: WeightProblem, free: np.ndarray) -> WeightProblem:
    """The same with fewer weights to find; the others are zero."""
    B, H, D, forced, _, need, logdet, stop = problem
    return WeightProblem(B, H, D, forced, free, need, logdet, stop)


@jit
def make_scratch(problem: WeightProblem, most: int) -> Scratch:
    """Room for evaluations with up to ``most`` features of ``free`` that have weight."""
    c, t = problem.H.shape[0], problem.forced.size + most
    return Scratch(
        np.empty(t, dtype=np.int64),
        np.empty((t, t)),
        np.empty((c, t)),
        np.empty((c, problem.free.size)),
        np.empty((c, c)),
    )


@jit
def project(v: np.ndarray, k: float) -> None:
    """v <- the nearest point with entries in [0, 1] that sum to k, in place."""
    low, high = v.min() - 1.0, v.max()
    for _ in range(60):
        middle = 0.5 * (low + high)
        total = 0.0
        for i in range(v.size):
            total += min(max(v[i] - middle, 0.0), 1.0)
        if total > k:
            low = middle
        else:
            high = middle
    total, inside = 0.0, 0
    for i in range(v.size):
        v[i] = min(max(v[i] - high, 0.0), 1.0)
        total += v[i]
        if 0.0 < v[i] < 1.0:
            inside += 1
    if inside:
        for i in range(v.size):
            if 0.0 < v[i] < 1.0:
                v[i] = min(max(v[i] + (k - total) / inside, 0.0), 1.0)


@jit
def curvature(problem: WeightProblem, moving: np.ndarray, t: int, scratch: Scratch) -> np.ndarray:
    """Minus the Hessian of f on the positions ``moving`` of free."""
    B, D, free = problem.B, problem.D, problem.free
    T, U, Y = scratch.T, scratch.U, scratch.Y
    m, c = moving.size, Y.shape[0]
    C = np.empty((m, t))
    for i in range(m):
        j = free[moving[i]]
        row = B[j]
        for a in range(t):
            C[i, a] = row[T[a]]
            if T[a] == j:
                C[i, a] -= D[j]
        solve_lower(U, t, C[i])
    M = np.dot(C, C.T)
    Z = np.empty((m, c))
    V = np.empty((m, c))
    for i in range(m):
        for r in range(c):
            Z[i, r] = Y[r, moving[i]]
    V[:, :] = np.dot(Z, scratch.G)
    N = np.dot(V, Z.T)
    for i in range(m):
        a = free[moving[i]]
        for j in range(i + 1):
            b = free[moving[j]]
            rest = B[a, b] - M[i, j]
            if i == j:
                rest -= D[a]
            value = 2.0 * rest / (math.sqrt(D[a]) * math.sqrt(D[b])) * N[i, j]
            if problem.logdet:
                value += N[i, j] * N[i, j]
            M[i, j] = value
            M[j, i] = value
    return M


@jit
def newton_step(M: np.ndarray, slope: np.ndarray, w: np.ndarray) -> np.ndarray:
    """A step d of sum zero with w + d in [0, 1] that about maximises slope'd - d'Md/2.

    Exchanges between the pair that violates the optimality conditions most find out which
    weights end on the border; the others are then solved for at once.
    """
    m = slope.size
    d, q = np.zeros(m), slope.copy()
    first = 0.0
    for step in range(10 * m):
        up, down = -1, -1
        for i in range(m):
            if w[i] + d[i] < 1.0 - WEIGHTLESS and (up < 0 or q[i] > q[up]):
                up = i
            if w[i] + d[i] > WEIGHTLESS and (down < 0 or q[i] < q[down]):
                down = i
        if up < 0 or down < 0 or q[up] <= q[down]:
            break
        if step == 0:
            first = q[up] - q[down]
        elif q[up] - q[down] <= 1e-3 * first:
            break
        bend = M[up, up] + M[down, down] - 2.0 * M[up, down]
        most = min(1.0 - w[up] - d[up], w[down] + d[down])
        size = most if bend <= 0.0 else min(most, (q[up] - q[down]) / bend)
        d[up] += size
        d[down] -= size
        for i in range(m):
            q[i] -= size * (M[up, i] - M[down, i])
    polish_step(M, q, w, d)
    return d


@jit
def polish_step(M: np.ndarray, q: np.ndarray, w: np.ndarray, d: np.ndarray) -> None:
    """Newton on the entries inside the box, as far as the box allows; q = slope - M d."""
    m = q.size
    inside = np.empty(m, dtype=np.int64)
    a = 0
    for i in range(m):
        if WEIGHTLESS < w[i] + d[i] < 1.0 - WEIGHTLESS:
            inside[a] = i
            a += 1
    if a < 2:
        return
    S = np.empty((a, a))
    right, ones = np.empty(a), np.ones(a)
    lift = 0.0
    for i in range(a):
        lift += M[inside[i], inside[i]]
    lift = 1e-10 * lift / a + 1e-300
    for i in range(a):
        for j in range(a):
            S[i, j] = M[inside[i], inside[j]]
        S[i, i] += lift
        right[i] = q[inside[i]]
    if not factorize(S, a):
        return
    solve(S, a, right)
    solve(S, a, ones)
    total = ones.sum()
    if not total > 0.0:  # of a positive definite S: rounding has spoiled it
        return
    nu = right.sum() / total
    share = 1.0
    for i in range(a):
        move = right[i] - nu * ones[i]
        right[i] = move
        at = w[inside[i]] + d[inside[i]]
        if at + share * move > 1.0:
            share = (1.0 - at) / move
        elif at + share * move < 0.0:
            share = -at / move
    for i in range(a):
        d[inside[i]] += share * right[i]
