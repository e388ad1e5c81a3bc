"""Enclosures of A and B, computed once from the source.

Everything is in scaled coordinates: feature j is multiplied by 2**exponents[j], so that the
diagonal of B is near one. B = G + diag(floor), where G is never formed for a whole wide table, and
A = sum of w_c z_c z_c' where the recipe gives such columns (``columns``; for matrices
A <= sum + diag(slack), which is to be verified).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from ..errors import VerificationError
from .balls import Ball
from .definite import MAX_DENSE_FEATURES
from .sources import MIN_SHRINKAGE, ProofSource

_SMALL = 512  # features of which a whole G is kept
_STRIPE = 256  # rows of a large product at a time


@dataclass(frozen=True, eq=False)
class Pencil:
    """What witnesses ask of a pencil; ``rows`` centred, (n, p)."""

    exponents: np.ndarray
    floor: Ball
    weights: list[Fraction]
    columns: Ball | None = None
    slack: Ball | None = None
    rows: Ball | None = None
    share: Ball | None = None  # G_ij = share_j rows_i'rows_j
    view: np.ndarray | None = None
    A: Ball | None = None
    G: Ball | None = None

    @property
    def has_floor(self) -> bool:
        """Whether G is positive semidefinite by construction, and the floor positive."""
        return self.G is None

    @property
    def is_covariance(self) -> bool:
        """Whether A comes from the centred rows: all of it (pca), or between two views (cca)."""
        return self.rows is not None and (self.share is None or self.view is not None)

    def g_block(self, some: np.ndarray, others: np.ndarray) -> Ball:
        """G between two lists of features."""
        _check_size(len(some), len(others))
        if self.G is not None:
            return self.G[np.ix_(some, others)]
        if len(self.exponents) <= _SMALL:
            return self._whole_g[np.ix_(some, others)]
        return self._make_g(some, others)

    @cached_property
    def _whole_g(self) -> Ball:
        """All of G, for a small table: nodes then take their parts."""
        everything = np.arange(len(self.exponents))
        return self._make_g(everything, everything)

    def _make_g(self, some: np.ndarray, others: np.ndarray) -> Ball:
        if self.rows is None or self.share is None:
            return Ball.exact(np.zeros((len(some), len(others))))
        gram = self.rows[:, some].T @ (self.rows[:, others] * self.share[others])
        return gram if self.view is None else _where(self.same_view(some, others), gram)

    def same_view(self, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Pairs of features of one table (cca)."""
        assert self.view is not None
        return np.asarray(self.view[some][:, None] == self.view[others])

    def b_block(self, some: np.ndarray, others: np.ndarray) -> Ball:
        """B between two lists of features."""
        same = some[:, None] == others
        return self.g_block(some, others) + _where(same, self.floor[others])

    def a_block(self, some: np.ndarray, others: np.ndarray) -> Ball:
        """A between two lists of features."""
        _check_size(len(some), len(others))
        if self.A is not None:
            return self.A[np.ix_(some, others)]
        if self.is_covariance:
            assert self.rows is not None
            gram = self.rows[:, some].T @ self.rows[:, others]
            gram = gram / Ball.exact(float(self.rows.shape[0]))
            return gram if self.view is None else _where(~self.same_view(some, others), gram)
        assert self.columns is not None
        weighted = self.columns[others] * Ball.rational(self.weights)
        return self.columns[some] @ weighted.T

    def g_times(self, some: np.ndarray, others: np.ndarray, V: Ball) -> Ball:
        """G[some, others] V without the block where that is possible."""
        if self.rows is None or self.share is None or self.view is not None:
            return self.g_block(some, others) @ V
        inner = (self.rows[:, others] * self.share[others]) @ V
        return self.rows[:, some].T @ inner

    @cached_property
    def a_diagonal(self) -> Ball:
        """The diagonal of A."""
        if self.A is not None:
            return Ball(self.A.mid.diagonal(), self.A.rad.diagonal())
        if self.view is not None:
            return Ball.exact(np.zeros(len(self.exponents)))
        if self.is_covariance:
            assert self.rows is not None
            return self.rows.squared().sum(axis=0) / Ball.exact(float(self.rows.shape[0]))
        assert self.columns is not None
        return (self.columns.squared() * Ball.rational(self.weights)).sum(axis=1)

    @cached_property
    def b_diagonal(self) -> Ball:
        """The diagonal of B."""
        if self.G is not None:
            return Ball(self.G.mid.diagonal(), self.G.rad.diagonal())
        if self.rows is None or self.share is None:
            return self.floor
        return self.rows.squared().sum(axis=0) * self.share + self.floor

    def scale(self, index: np.ndarray, mark: np.ndarray) -> float:
        """What some features can make of the score, alone or two together; at most that.

        With a_i = A_ii / B_ii it is the largest a_i, or the largest |A_ij| / sqrt(B_ii B_jj) of two
        features with different marks, less what negative a_i and a_j take away: the pair then
        scores at least half of it. A that is PSD by construction has its largest entry on the
        diagonal.
        """
        alone = (self.a_diagonal[index] / self.b_diagonal[index]).lower
        alone = np.where(np.isnan(alone), -np.inf, alone)
        best = float(np.max(alone, initial=0.0))
        if self.A is None and self.view is None:
            return best
        root = np.nextafter(np.sqrt(self.b_diagonal.upper[index]), np.inf)
        for start in range(0, len(index), _STRIPE):
            some = slice(start, start + _STRIPE)
            A = self.a_block(index[some], index)
            size = np.maximum(np.abs(A.mid) - A.rad, 0.0) / (root[some][:, None] * root)
            lost = np.maximum(-0.5 * (alone[some][:, None] + alone), 0.0)
            left = size * (1.0 - 2.0**-45) - lost * (1.0 + 2.0**-45)
            left[~(mark[some][:, None] != mark) | np.isnan(left)] = 0.0
            best = max(best, float(np.max(left, initial=0.0)) * (1.0 - 2.0**-45))
        return best


def _check_size(some: int, others: int) -> None:
    if some * others > MAX_DENSE_FEATURES**2:
        raise VerificationError(
            f"needs a dense matrix of {some} x {others}; {MAX_DENSE_FEATURES} features are the most"
        )


def _where(mask: np.ndarray, ball: Ball) -> Ball:
    return Ball(np.where(mask, ball.mid, 0.0), np.where(mask, ball.rad, 0.0))


def enclose(source: ProofSource) -> Pencil:
    """The enclosures of a source."""
    kind = source.recipe.kind
    if kind == "matrices":
        return _enclose_matrices(source)
    if kind == "pca":
        rows = _deviations(source.X)
        rows = rows - _mean(rows)
        p = source.n_features
        return Pencil(
            np.zeros(p, dtype=np.intp),
            Ball.exact(np.ones(p)),
            source.weights,
            columns=rows.T,
            rows=rows,
        )
    return _enclose_lda(source) if kind == "lda" else _enclose_cca(source)


def _deviations(X: np.ndarray) -> Ball:
    """Every column less one of its entries near the mean, so that offsets cost no digits."""
    near = np.argmin(np.abs(X - X.mean(axis=0)), axis=0)
    return Ball.exact(X) - Ball.exact(X[near, np.arange(X.shape[1])])


def _mean(rows: Ball) -> Ball:
    return rows.sum(axis=0) / Ball.exact(float(rows.shape[0]))


def _log_spread(rows: Ball) -> np.ndarray:
    """The logarithm (to base 2) of the largest entry of each column; -1100 for none."""
    most = np.abs(rows.mid).max(axis=0)
    return np.where(most > 0.0, np.log2(np.where(most > 0.0, most, 1.0)), -1100.0)


def _enclose_lda(source: ProofSource) -> Pencil:
    n, p = source.X.shape
    everything = np.arange(p)
    constant = source.is_constant(everything)
    deviations = _deviations(source.X)
    ridge = source.recipe.ridge
    spread = 2.0 * _log_spread(deviations)
    size = np.maximum(spread, np.log2(ridge) if ridge > 0.0 else -2200.0)
    exponents = np.where(constant, 0, -np.round(size / 2.0)).astype(np.intp)
    deviations = deviations.shifted(exponents)
    counts = source.counts.astype(np.float64)
    members = np.zeros((len(counts), n))
    members[source.codes, np.arange(n)] = 1.0
    means = (Ball.exact(members) @ deviations) / Ball.exact(counts[:, None])
    rows = deviations - means[source.codes]
    columns = (means - _mean(deviations)).T
    weights = source.weights
    within = rows.squared().sum(axis=0) / Ball.exact(float(n))
    total = within + (columns.squared() * Ball.rational(weights)).sum(axis=1)
    share = Ball.exact(source.shrinkage_of(everything))
    floor = (share * within + Ball.scaled(np.full(p, ridge), 2 * exponents)).maximum(
        Ball.exact(MIN_SHRINKAGE) * total
    )
    return Pencil(
        exponents,
        _one_where(constant, floor),
        weights,
        columns=_zero_where(constant[:, None], columns),
        rows=_zero_where(constant, rows),
        share=(Ball.exact(1.0) - share) / Ball.exact(float(n)),
    )


def _enclose_cca(source: ProofSource) -> Pencil:
    n, p = source.X.shape
    everything = np.arange(p)
    constant = source.is_constant(everything)
    rows = _deviations(source.X)
    exponents = np.where(constant, 0, -np.round(_log_spread(rows))).astype(np.intp)
    rows = rows.shifted(exponents)
    rows = _zero_where(constant, rows - _mean(rows))
    share = Ball.exact(source.shrinkage_of(everything))
    floor = share * (rows.squared().sum(axis=0) / Ball.exact(float(n)))
    return Pencil(
        exponents,
        _one_where(constant, floor),
        [],
        rows=rows,
        share=(Ball.exact(1.0) - share) / Ball.exact(float(n)),
        view=source.view,
    )


def _zero_where(mask: np.ndarray, ball: Ball) -> Ball:
    return _where(np.broadcast_to(~mask, ball.shape), ball)


def _one_where(mask: np.ndarray, ball: Ball) -> Ball:
    return Ball(np.where(mask, 1.0, ball.mid), np.where(mask, 0.0, ball.rad))


def _enclose_matrices(source: ProofSource) -> Pencil:
    p, A, B, recipe = source.n_features, source.A, source.B, source.recipe
    assert A is not None
    exponents = np.zeros(p, dtype=np.intp)
    if B is not None:
        diagonal = B.diagonal()
        if not (diagonal > 0.0).all():
            raise VerificationError("B has an entry on its diagonal that is not positive")
        exponents = -np.round(np.log2(diagonal) / 2.0).astype(np.intp)
    both = exponents[:, None] + exponents
    factor, slack = recipe.factor, recipe.slack
    return Pencil(
        exponents,
        Ball.exact(np.ones(p) if B is None else np.zeros(p)),
        source.weights,
        columns=None if factor is None else Ball.scaled(factor, exponents[:, None]),
        slack=None if slack is None else Ball.scaled(slack, 2 * exponents),
        A=Ball.scaled(A, both),
        G=None if B is None else Ball.scaled(B, both),
    )
