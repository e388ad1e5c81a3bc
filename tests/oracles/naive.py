"""Plain, slow, independent versions of what the solvers do. SciPy only, no solver code."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
from scipy.linalg import eigh


def score(A: np.ndarray, B: np.ndarray, support: list[int], criterion: str) -> float:
    """The criterion of a set by a generalized eigen-solve."""
    S = sorted(support)
    values = eigh(A[np.ix_(S, S)], B[np.ix_(S, S)], eigvals_only=True)
    if criterion == "lambda_max":
        return float(values[-1])
    values = np.maximum(values, 0.0)
    return float(values.sum() if criterion == "trace" else np.log1p(values).sum())


def forward(A: np.ndarray, B: np.ndarray, k: int, criterion: str) -> list[int]:
    """Add the feature with the best score, k times."""
    S: list[int] = []
    while len(S) < k:
        rest = [j for j in range(len(A)) if j not in S]
        S.append(max(rest, key=lambda j: score(A, B, [*S, j], criterion)))
    return sorted(S)


def backward(A: np.ndarray, B: np.ndarray, k: int, criterion: str) -> list[int]:
    """Delete the feature without which the score is best, down to k."""
    S = list(range(len(A)))
    while len(S) > k:
        S.remove(max(S, key=lambda j: score(A, B, [i for i in S if i != j], criterion)))
    return S


def best(A: np.ndarray, B: np.ndarray, k: int, criterion: str) -> tuple[float, list[int]]:
    """The optimum by brute force."""
    sets = itertools.combinations(range(len(A)), k)
    return max((score(A, B, list(S), criterion), list(S)) for S in sets)


def is_swap_optimal(A: np.ndarray, B: np.ndarray, support: list[int], criterion: str) -> bool:
    """Whether no single exchange improves the set by more than 1e-7, relatively."""
    S = set(support)
    value = score(A, B, sorted(S), criterion)
    limit = value + 1e-7 * abs(value) + 1e-12
    outside = set(range(len(A))) - S
    return all(score(A, B, sorted((S - {i}) | {j}), criterion) <= limit for i in S for j in outside)


def all_rank_one(d: np.ndarray, B: np.ndarray) -> np.ndarray:
    """max of d_S' B_S^-1 d_S over |S| = k, for k = 0..n: all 2^n sets by Schur complements.

    Features are decided in order; every partial set carries the Schur complement of the
    rest. 2^16 sets take milliseconds.
    """
    n = d.size
    M, e = B[None].copy(), d[None].copy()
    value, size = np.zeros(1), np.zeros(1, dtype=int)
    for _ in range(n):
        pivot = M[:, 0, 0]
        gain = e[:, 0] ** 2 / pivot
        row = M[:, 0, 1:]
        taken_M = M[:, 1:, 1:] - row[:, :, None] * row[:, None, :] / pivot[:, None, None]
        taken_e = e[:, 1:] - row * (e[:, :1] / pivot[:, None])
        M, e = np.concatenate([M[:, 1:, 1:], taken_M]), np.concatenate([e[:, 1:], taken_e])
        value, size = np.concatenate([value, value + gain]), np.concatenate([size, size + 1])
    return np.array([value[size == k].max() for k in range(n + 1)])


def brownian_covariance(n: int, rng: np.random.Generator, samples: int = 64) -> np.ndarray:
    """Sample covariance of fractional Brownian motion, Hurst exponent U(.1, .9)."""
    H = 2 * rng.uniform(0.1, 0.9)
    t = np.arange(1, n + 1, dtype=float)
    C = (t[:, None] ** H + t[None, :] ** H - np.abs(t[:, None] - t[None, :]) ** H) / 2
    paths = rng.multivariate_normal(np.zeros(n), C, size=samples, method="cholesky")
    return np.cov(paths.T, bias=True)


def exact_det_ratio(A: np.ndarray, B: np.ndarray, support: list[int]) -> Fraction:
    """det(A_S + B_S) / det(B_S) = exp(logdet) of the very matrices given, in rationals."""
    S = sorted(support)
    b = [[Fraction(float(B[i, j])) for j in S] for i in S]
    t = [[Fraction(float(A[i, j])) + b[r][c] for c, j in enumerate(S)] for r, i in enumerate(S)]
    return _determinant(t) / _determinant(b)


def _determinant(M: list[list[Fraction]]) -> Fraction:
    """By elimination; a positive definite matrix needs no pivoting."""
    product = Fraction(1)
    for i in range(len(M)):
        product *= M[i][i]
        for r in range(i + 1, len(M)):
            f = M[r][i] / M[i][i]
            M[r] = [a - f * c for a, c in zip(M[r], M[i])]
    return product
