"""LDA pencils straight from a table, in fractions: what its entries say, before any rounding."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tests.oracles.exact import ExactPencil, integers

# The least share of a column's total variance on B's diagonal: docs/proofs.md has the formula.
LEAST_SHARE = Fraction(1e-10)


def exact_lda(X: np.ndarray, y: np.ndarray, shrinkage: float) -> ExactPencil:
    """Between-class A and shrunken within-class B of a table."""
    n, p = X.shape
    rows = [[Fraction(float(x)) for x in row] for row in X]
    mean = _mean(rows)
    A = [[Fraction(0)] * p for _ in range(p)]
    W = [[Fraction(0)] * p for _ in range(p)]
    for label in np.unique(y):
        own = [rows[i] for i in np.flatnonzero(y == label)]
        centre, share = _mean(own), Fraction(len(own), n)
        residuals = [[x - m for x, m in zip(row, centre)] for row in own]
        for i in range(p):
            for j in range(p):
                A[i][j] += share * (centre[i] - mean[i]) * (centre[j] - mean[j])
                W[i][j] += sum(r[i] * r[j] for r in residuals) / n
    s = Fraction(shrinkage)
    B = [[(1 - s) * w for w in row] for row in W]
    for j in range(p):
        total = W[j][j] + A[j][j]
        B[j][j] += max(s * W[j][j], LEAST_SHARE * total) if total else Fraction(1)
    exact = ExactPencil.__new__(ExactPencil)
    exact.A, exact.unit_A = integers(A)
    exact.B, exact.unit_B = integers(B)
    return exact


def _mean(rows: list[list[Fraction]]) -> list[Fraction]:
    return [sum(column, Fraction(0)) / len(rows) for column in zip(*rows)]
