"""The pencil on a few features, exactly: every entry a fraction, straight from the doubles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..errors import VerificationError
from .rational import (
    MAX_EXACT_FEATURES,
    Matrix,
    fraction_rows,
    fractions_of,
    inner_products,
    spend,
    submatrix,
)
from .sources import MIN_SHRINKAGE, ProofSource

_MAX_PRODUCTS = 40_000_000  # rows times pairs of features


@dataclass(frozen=True)
class ExactPencil:
    """A and B on a list of features; the other fields as in pencils.Pencil, not scaled."""

    A: Matrix
    B: Matrix
    columns: Matrix
    weights: list[Fraction]
    floor: list[Fraction]
    slack: list[Fraction]

    def take(self, index: list[int]) -> ExactPencil:
        """The pencil on some of its features."""
        return ExactPencil(
            submatrix(self.A, index),
            submatrix(self.B, index),
            [self.columns[i] for i in index] if self.columns else [],
            self.weights,
            [self.floor[i] for i in index],
            [self.slack[i] for i in index],
        )


def exact_pencil(source: ProofSource, index: np.ndarray) -> ExactPencil:
    """The pencil on some features, or a refusal where they are too many."""
    n, u = len(source.X), len(index)
    if u > MAX_EXACT_FEATURES or n * u * u > _MAX_PRODUCTS:
        raise VerificationError(
            f"too close to decide with doubles, and too large for exact numbers ({u} features)"
        )
    spend(0.3 * n * u * u + 5.0 * u * (u + n))
    kind = source.recipe.kind
    if kind == "matrices":
        return _matrices(source, index)
    table = _ExactTable(source.X[:, index])
    if kind == "pca":
        return _pca(source, table)
    return _lda(source, index, table) if kind == "lda" else _cca(source, index, table)


class _ExactTable:
    """Columns as whole numbers over a common power of two."""

    def __init__(self, X: np.ndarray) -> None:
        ratios = [[value.as_integer_ratio() for value in column] for column in X.T.tolist()]
        self.below = [max(bottom for _, bottom in column) for column in ratios]
        self.whole = [
            [top * (below // bottom) for top, bottom in column]
            for column, below in zip(ratios, self.below)
        ]
        self.n = len(X)

    def sums(self, rows: np.ndarray) -> list[Fraction]:
        """The sum of every column over some rows."""
        at = rows.tolist()
        return [
            Fraction(sum(column[i] for i in at), below)
            for column, below in zip(self.whole, self.below)
        ]

    def gram(self) -> Matrix:
        """The inner products of all columns, not centred."""
        u = len(self.whole)
        out = [[Fraction(0)] * u for _ in range(u)]
        for i in range(u):
            for j in range(i, u):
                inner = sum(a * b for a, b in zip(self.whole[i], self.whole[j]))
                out[i][j] = out[j][i] = Fraction(inner, self.below[i] * self.below[j])
        return out

    def column(self, i: int) -> list[Fraction]:
        return [Fraction(top, self.below[i]) for top in self.whole[i]]


def _centred(gram: Matrix, groups: list[list[Fraction]], counts: list[int], n: int) -> Matrix:
    """(gram less what the means of the groups explain) / n."""
    u = range(len(gram))
    return [
        [(gram[i][j] - sum(s[i] * s[j] / count for s, count in zip(groups, counts))) / n for j in u]
        for i in u
    ]


def _matrices(source: ProofSource, index: np.ndarray) -> ExactPencil:
    assert source.A is not None
    block = np.ix_(index, index)
    u, factor, slack = len(index), source.recipe.factor, source.recipe.slack
    identity = [[Fraction(int(i == j)) for j in range(u)] for i in range(u)]
    return ExactPencil(
        fraction_rows(source.A[block].tolist()),
        identity if source.B is None else fraction_rows(source.B[block].tolist()),
        [] if factor is None else fraction_rows(factor[index].tolist()),
        source.weights,
        [Fraction(int(source.B is None))] * u,
        [Fraction(0)] * u if slack is None else fractions_of(slack[index].tolist()),
    )


def _pca(source: ProofSource, table: _ExactTable) -> ExactPencil:
    n, u = table.n, len(table.whole)
    sums = table.sums(np.arange(n))
    columns = [[x - sums[i] / n for x in table.column(i)] for i in range(u)]
    A = _centred(table.gram(), [sums], [n], n)
    one = [[Fraction(int(i == j)) for j in range(u)] for i in range(u)]
    return ExactPencil(A, one, columns, source.weights, [Fraction(1)] * u, [Fraction(0)] * u)


def _lda(source: ProofSource, index: np.ndarray, table: _ExactTable) -> ExactPencil:
    n, u = table.n, len(index)
    counts = source.counts.tolist()
    groups = [table.sums(np.flatnonzero(source.codes == c)) for c in range(len(counts))]
    sums = [sum(column, Fraction(0)) for column in zip(*groups)]
    columns = [
        [group[i] / count - sums[i] / n for group, count in zip(groups, counts)] for i in range(u)
    ]
    weights = source.weights
    weighted = [[w * z for w, z in zip(weights, row)] for row in columns]
    A = inner_products(weighted, columns)
    within = _centred(table.gram(), groups, counts, n)
    share = Fraction(float(source.shrinkage_of(index[:1])[0])) if u else Fraction(0)
    ridge, least = Fraction(source.recipe.ridge), Fraction(MIN_SHRINKAGE)
    floor = []
    for i in range(u):
        total = within[i][i] + A[i][i]
        floor.append(max(share * within[i][i] + ridge, least * total) if total else Fraction(1))
    B = [[(1 - share) * value for value in row] for row in within]
    return ExactPencil(A, _plus(B, floor), columns, weights, floor, [Fraction(0)] * u)


def _cca(source: ProofSource, index: np.ndarray, table: _ExactTable) -> ExactPencil:
    n, u = table.n, len(index)
    assert source.view is not None
    view = source.view[index].tolist()
    covariance = _centred(table.gram(), [table.sums(np.arange(n))], [n], n)
    share = fractions_of(source.shrinkage_of(index).tolist())
    A = [[covariance[i][j] * (view[i] != view[j]) for j in range(u)] for i in range(u)]
    B = [
        [covariance[i][j] * (1 - share[i]) * (view[i] == view[j]) for j in range(u)]
        for i in range(u)
    ]
    floor = [share[i] * covariance[i][i] or Fraction(1) for i in range(u)]
    return ExactPencil(A, _plus(B, floor), [], [], floor, [Fraction(0)] * u)


def _plus(matrix: Matrix, diagonal: list[Fraction]) -> Matrix:
    return [
        [value + diagonal[i] if i == j else value for j, value in enumerate(row)]
        for i, row in enumerate(matrix)
    ]
