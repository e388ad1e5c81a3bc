"""What a node of the perspective search may do: tune its diagonal, end, choose a branch."""

from __future__ import annotations

import numpy as np

from ....pencil.compile import jit
from ...linear_kernel import factorize, invert_by_rows, solve_lower
from .newton_kernel import curvature, make_scratch, with_free
from .relax_kernel import evaluate, log_determinant
from .weights_kernel import WEIGHTLESS, WeightProblem

# Relative rounding of a value.
MARGIN = 1e-11


@jit
def schur(problem: WeightProblem) -> np.ndarray:
    """B on the free features, after the forced ones are eliminated; nan if these are dependent."""
    B, forced, free = problem.B, problem.forced, problem.free
    f, u = forced.size, free.size
    U = np.empty((f, f))
    for a in range(f):
        for b in range(a, f):
            U[a, b] = B[forced[a], forced[b]]
    if not factorize(U, f):
        return np.full((u, u), np.nan)
    C = np.empty((u, f))
    for i in range(u):
        for a in range(f):
            C[i, a] = B[free[i], forced[a]]
        solve_lower(U, f, C[i])
    S = np.dot(C, C.T)
    for i in range(u):
        for j in range(u):
            S[i, j] = B[free[i], free[j]] - S[i, j]
    return S


@jit
def tune_diagonal(S: np.ndarray, D: np.ndarray, pull: np.ndarray) -> np.ndarray:
    """A larger diagonal below S (in the order of matrices) where ``pull`` says that it helps.

    Coordinate ascent on sum pull_j D_j + mu log det(S - diag D), D >= .995 of what it was. An
    empty array if rounding spoils it.
    """
    u = D.size
    low = 0.995 * D
    new = low.copy()
    M, P = np.empty((u, u)), np.empty((u, u))
    for i in range(u):
        M[i, i:] = S[i, i:]
        M[i, i] -= new[i]
    if not factorize(M, u):
        return np.empty(0)
    invert_by_rows(M, u, P)
    mu = 0.0
    for i in range(u):
        mu += pull[i] * D[i]
    mu *= 0.3 / u
    for _ in range(2):
        for j in range(u):
            if P[j, j] <= 0.0:
                return np.empty(0)
            delta = 1.0 / P[j, j] - mu / pull[j] if pull[j] > 0.0 else -np.inf
            delta = max(min(delta, 0.98 / P[j, j]), low[j] - new[j])
            new[j] = max(new[j] + delta, low[j])  # which the sum may miss by rounding
            factor = delta / (1.0 - delta * P[j, j])
            row = P[j].copy()
            for a in range(u):
                step = factor * row[a]
                for b in range(u):
                    P[a, b] += step * row[b]
        mu *= 0.3
    for i in range(u):
        M[i, i:] = S[i, i:]
        M[i, i] -= (1.0 + 1e-9) * new[i]
    if not factorize(M, u):
        return np.empty(0)
    return new


@jit
def best_last(problem: WeightProblem) -> tuple[float, int]:
    """The best single feature to add to the forced ones, by Schur complements; its value."""
    B, H, forced, free = problem.B, problem.H, problem.forced, problem.free
    f, u, c = forced.size, free.size, H.shape[0]
    U = np.empty((f, f))
    for a in range(f):
        for b in range(a, f):
            U[a, b] = B[forced[a], forced[b]]
    if not factorize(U, f):
        return np.inf, -1
    for a in range(f):
        if U[a, a] * U[a, a] <= 1e-4:
            return np.inf, -1
    X = np.empty((c, f))
    Q = np.zeros((c, c))
    for r in range(c):
        for a in range(f):
            X[r, a] = H[r, forced[a]]
        solve_lower(U, f, X[r])
    for r in range(c):
        for s in range(c):
            for a in range(f):
                Q[r, s] += X[r, a] * X[s, a]
    C, h, R = np.empty(f), np.empty(c), np.empty((c, c))
    best, where = -np.inf, -1
    for i in range(u):
        rest = B[free[i], free[i]]
        for a in range(f):
            C[a] = B[free[i], forced[a]]
        solve_lower(U, f, C)
        for a in range(f):
            rest -= C[a] * C[a]
        if rest <= 1e-4:  # too near to the others for this arithmetic: leave it to score_set
            return np.inf, i
        for r in range(c):
            h[r] = H[r, free[i]]
            for a in range(f):
                h[r] -= C[a] * X[r, a]
        value = 0.0
        for r in range(c):
            for s in range(c):
                R[r, s] = Q[r, s] + h[r] * h[s] / rest
            value += R[r, r]
        if problem.logdet:
            value = log_determinant(R)
        if value != value:
            return np.inf, i
        if value > best:
            best, where = value, i
    return best * (1.0 + MARGIN), where


@jit
def choose_branch(problem: WeightProblem, w: np.ndarray) -> int:
    """The position whose decision should lower the bound most, either way.

    By the second-order model at the maximum: forcing w_j to v costs (w_j - v)^2 / (2 V_jj), V the
    inverse of the curvature on the undecided weights, whose sum is given.
    """
    where = 0
    for i in range(w.size):
        if w[i] * (1.0 - w[i]) > w[where] * (1.0 - w[where]):
            where = i
    held = np.flatnonzero(w > WEIGHTLESS)
    w, u = w[held], held.size
    moving = np.empty(u, dtype=np.int64)
    m = 0
    for i in range(u):
        if 1e-4 < w[i] < 1.0 - 1e-4:
            moving[m] = i
            m += 1
    if m < 2:
        return where
    moving = moving[:m]
    problem = with_free(problem, problem.free[held])
    scratch = make_scratch(problem, u)
    value, t = evaluate(problem, w, scratch, np.empty(u))
    if value != value:
        return where
    M = curvature(problem, moving, t, scratch)
    V = np.empty((m, m))
    for i in range(m):
        M[i, i] *= 1.0 + 1e-9
    if not factorize(M, m):
        return where
    invert_by_rows(M, m, V)
    sums = V.sum(axis=1)
    total = sums.sum()
    if not total > 0.0:  # of a positive definite V: rounding has spoiled it
        return where
    best = -1.0
    for i in range(m):
        spread = max(V[i, i] - sums[i] * sums[i] / total, 1e-300)
        x = w[moving[i]]
        score = x * (1.0 - x) / spread
        if score > best:
            best, where = score, held[moving[i]]
    return where
