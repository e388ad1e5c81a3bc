"""Penalised optimal scoring: a regression on class scores that solves a penalised LDA.

    minimise  1/2 |T - FB|^2 + 1/2 tr B'RB + lambda sum_j w_j |beta_j|     over B (p, q)

beta_j is row j of B: a feature is used by all directions, or by none. With Xc the centred samples,
E (n, K - 1) orthonormal contrasts of the classes and S_w the covariance within them, T'T = I:

    within="full"      F = Xc,    T = E,  R = n ridge
    within="diagonal"  F = E'Xc,  T = I,  R = n ridge + n diag(S_w)

The second needs only K - 1 rows. At the minimum B spans the leading generalized eigenvectors of the
covariance between the classes against

    S = S_w (or its diagonal) + ridge + (lambda / n) diag(w_j / |beta_j|)

(Hastie, Buja and Tibshirani 1995; Sanchez Merchante, Grandvalet and Govaert 2012).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse

from ..errors import InputError
from ..pencil.checks import check_choice, check_labels
from ..pencil.criteria import EPS
from ..pencil.factor_pencil import take_columns
from ..pencil.row_factor import RowFactor, column_squares
from ..tables.column_statistics import (
    ColumnStats,
    centre_samples,
    class_contrasts,
    class_sums,
    open_table,
)
from ..tables.copies import first_copies, unify_copies
from ..tables.kinds.arrays import is_device_array, to_numpy
from ..tables.operators.column_passes import gather_columns
from ..tables.statistics import ClassStats
from .options import check_ridge, check_weights

WITHIN = ("full", "diagonal")
# Class means as near as this, in units of a column's deviation, are equal but for round-off.
EQUAL = 1e-13
# Directions that separate the classes less than this, relatively, are round-off.
SEPARATES = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class ScoringProblem:
    """The data of a penalised optimal scoring problem.

    Attributes
    ----------
    factor : array (r, p), F; a `RowFactor` for sparse or stored tables with p > n
    target : array (r, q), T
    quadratic : R, an array (p,), its diagonal, or a matrix (p, p), dense or sparse
    weights : array (p,), w > 0
    n_samples : int
    mean, means : arrays (p,) and (K, p), of all samples and of the classes
    within : "full" or "diagonal"
    """

    factor: Any
    target: np.ndarray
    quadratic: Any
    weights: np.ndarray
    n_samples: int
    mean: np.ndarray
    means: np.ndarray
    within: str

    @classmethod
    def from_data(
        cls,
        X: Any,
        y: ArrayLike,
        *,
        within: str = "full",
        weights: ArrayLike | str | None = None,
        ridge: Any = 0.0,
    ) -> ScoringProblem:
        """From samples (n, p) and labels (n,).

        Sparse matrices and tables that do not lie in memory, too: the factor is then made of their
        p x p sums (n >= p), or reads them (a `RowFactor`).
        """
        check_choice(within, "within", WITHIN)
        labels = to_numpy(y)
        check_labels(labels)
        data = to_numpy(X) if is_device_array(X) else open_table(X)
        sums = class_sums(data, labels)
        if sums is not None:
            return cls.from_stats(sums, within=within, weights=weights, ridge=ridge)
        if within == "diagonal":
            return cls._diagonal(ColumnStats.from_data(data, labels), weights, ridge)
        columns, factor = centre_samples(data, labels)
        contrasts = class_contrasts(np.searchsorted(columns.classes, labels))
        return cls._assemble(factor, contrasts, columns, "full", weights, ridge)

    @classmethod
    def from_stats(
        cls,
        stats: ClassStats,
        *,
        within: str = "full",
        weights: ArrayLike | str | None = None,
        ridge: Any = 0.0,
    ) -> ScoringProblem:
        """From class statistics, of whatever rows they were made.

        within="full": F = [L; E'Xc] and T = [0; I], where L'L = n S_w: F'F, F'T and T'T are as with
        the samples themselves.
        """
        check_choice(within, "within", WITHIN)
        columns = ColumnStats.of(stats)
        if within == "diagonal":
            return cls._diagonal(columns, weights, ridge)
        scatter = stats.n_samples * stats.within_scatter()
        factor = np.vstack([_root(scatter), columns.between])
        unify_copies(factor, np.vstack([scatter, columns.between]))
        target = np.eye(len(factor))[:, -len(columns.between) :]
        return cls._assemble(factor, target, columns, "full", weights, ridge)

    @classmethod
    def _diagonal(cls, columns: ColumnStats, weights: Any, ridge: Any) -> ScoringProblem:
        between = columns.between
        return cls._assemble(between, np.eye(len(between)), columns, "diagonal", weights, ridge)

    @classmethod
    def _assemble(
        cls,
        factor: Any,
        target: np.ndarray,
        columns: ColumnStats,
        within: str,
        weights: Any,
        ridge: Any,
    ) -> ScoringProblem:
        if columns.classes.size < 2:
            raise InputError(f"y has one class only ({str(columns.classes[0])!r}); two are needed")
        n, separation = columns.n_samples, columns.separation
        spread = columns.variance + separation
        quadratic = check_ridge(ridge, spread.size, n)
        if within == "diagonal":
            quadratic = _plus_diagonal(quadratic, n * columns.variance)
        if not np.any(separation > EQUAL**2 * spread):
            raise InputError("the class means are all equal: no feature separates the classes")
        w = check_weights(weights, spread)
        problem = cls(factor, target, quadratic, w, n, columns.mean, columns.means, within)
        if isinstance(factor, RowFactor):  # known already: each would be a pass over the table
            lengths = np.sqrt(n * spread)
            problem.__dict__.update(correlations=columns.between.T, lengths=lengths)
        return problem

    def __repr__(self) -> str:
        _, p = self.factor.shape
        q = self.target.shape[1]
        return f"ScoringProblem({self.n_samples} samples, {p} features, {q} scores, {self.within})"

    @cached_property
    def correlations(self) -> np.ndarray:
        """F'T (p, q): minus the gradient at B = 0."""
        return self.factor.T @ self.target

    @cached_property
    def lambda_max(self) -> float:
        """The smallest lambda at which no feature is used."""
        return float((row_lengths(self.correlations) / self.weights).max(initial=0.0))

    @cached_property
    def lengths(self) -> np.ndarray:
        """Of the columns of F."""
        return np.sqrt(column_squares(self.factor))

    @cached_property
    def curvatures(self) -> np.ndarray:
        """The diagonal of F'F + R."""
        own = self.quadratic if self.is_separable else self.quadratic.diagonal()
        return np.square(self.lengths) + own

    @cached_property
    def is_redundant(self) -> np.ndarray:
        """Mask (p,) of columns that are copies of another one and need not be used.

        Copies may share a weight in any way; here the one of least weight w, or the first, has it
        all. So may columns that are copies in units of w. With a quadratic term they share it
        equally, and none is redundant.
        """
        redundant = np.zeros(self.weights.size, dtype=bool)
        if not self.is_separable or self.quadratic.any():
            return redundant
        forms = [self.factor]
        if np.ptp(self.weights) > 0:
            forms.append(self.factor / self.weights)
        for first in map(first_copies, forms):
            for model in np.unique(first[first != np.arange(first.size)]):
                group = np.flatnonzero((first == model) & ~redundant)
                if group.size > 1:
                    redundant[group] = True
                    redundant[group[np.argmin(self.weights[group])]] = False
        return redundant

    @property
    def is_separable(self) -> bool:
        """Whether R is diagonal."""
        return bool(self.quadratic.ndim == 1)

    def combine(self, a: np.ndarray) -> ScoringProblem:
        """The problem of fewer scores: Ta (r, m) for the target, with orthonormal a (q, m)."""
        part = replace(self, target=self.target @ a)
        # what does not depend on the target is not computed again
        part.__dict__.update(
            correlations=self.correlations @ a,
            lengths=self.lengths,
            curvatures=self.curvatures,
            is_redundant=self.is_redundant,
        )
        return part

    def restrict(self, W: np.ndarray) -> ScoringProblem:
        """The problem of the features W (ascending) alone, in memory."""
        quadratic = self.quadratic[W] if self.is_separable else self.quadratic[W][:, W]
        return replace(
            self,
            factor=gather_columns(self.factor, W),
            quadratic=quadratic,
            weights=self.weights[W],
            mean=self.mean[W],
            means=self.means[:, W],
        )

    def gram(self, W: np.ndarray) -> np.ndarray:
        """F'F + R of the features W."""
        columns = self.factor[:, W]
        G: np.ndarray = columns.T @ columns
        if self.is_separable:
            G[np.diag_indices(W.size)] += self.quadratic[W]
        else:
            G += _block(self.quadratic, W, W)
        return G

    def residual(self, S: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """T - FB for the B with these rows in S and zeros elsewhere."""
        return self.target - self.factor[:, S] @ rows

    def slope(
        self, S: np.ndarray, rows: np.ndarray, columns: np.ndarray | None = None
    ) -> np.ndarray:
        """F'(T - FB) - RB: minus the gradient of the smooth part, of all features or some."""
        factor = self.factor if columns is None else take_columns(self.factor, columns)
        slope: np.ndarray = factor.T @ self.residual(S, rows)
        slope -= self.quadratic_product(S, rows, slice(None) if columns is None else columns)
        return slope

    def quadratic_product(
        self,
        S: np.ndarray,
        rows: np.ndarray,
        columns: np.ndarray | slice = slice(None),
        absolute: bool = False,
    ) -> np.ndarray:
        """RB (or ``|R|B``), of all features or some."""
        if self.is_separable:
            product = np.zeros((self.weights.size, *rows.shape[1:]))
            product[S] = (self.quadratic[S] * rows.T).T
            return product[columns]
        block = _block(self.quadratic, columns, S)
        return np.asarray((abs(block) if absolute else block) @ rows)

    def quadratic_form(self, S: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """B'RB (q, q)."""
        return np.asarray(self.quadratic_product(S, rows, S).T @ rows)

    def discriminate(
        self, S: np.ndarray, rows: np.ndarray, penalty: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Directions V ``(|S|, m)`` with V'SV = I and their eigenvalues, descending.

        The eigenvalues are those of the covariance between the classes against S (see above).
        """
        _, sizes, turn = linalg.svd(self.target.T @ (self.factor[:, S] @ rows))
        kept = sizes > SEPARATES * sizes.max(initial=0.0)
        V = rows @ (turn[kept].T / sizes[kept])  # of unit reach, the weak directions too
        omega = penalty * self.weights[S] / row_lengths(rows)
        for _ in range(2):  # the second time in well-scaled directions: all digits
            fit = self.factor[:, S] @ V
            reach = self.target.T @ fit
            rest = fit - self.target @ reach
            spread = rest.T @ rest + self.quadratic_form(S, V) + (V.T * omega) @ V
            try:
                values, turn = linalg.eigh(reach.T @ reach, spread)
            except linalg.LinAlgError:
                raise InputError(
                    "the within-class covariance is not positive definite in double precision: "
                    "the columns, or the ridge, differ too much in scale; standardise"
                ) from None
            V = V @ turn[:, ::-1]
        return np.sqrt(self.n_samples) * V, values[::-1].copy()


def row_lengths(rows: np.ndarray) -> np.ndarray:
    """Euclidean lengths of the rows."""
    return np.sqrt(np.einsum("ij,ij->i", rows, rows))


def _block(matrix: Any, rows: np.ndarray | slice, columns: np.ndarray) -> np.ndarray:
    part = matrix[rows][:, columns]
    return part.toarray() if sparse.issparse(part) else part


def _plus_diagonal(quadratic: Any, diagonal: np.ndarray) -> Any:
    if quadratic.ndim == 1:
        return quadratic + diagonal
    if sparse.issparse(quadratic):
        return (quadratic + sparse.diags_array(diagonal)).tocsr()
    return quadratic + np.diag(diagonal)


def _root(scatter: np.ndarray) -> np.ndarray:
    """L (r, p) with L'L = scatter, which is of rank r; the units of the columns do not matter."""
    size = np.sqrt(np.diag(scatter))
    unit = np.where(size > 0, size, 1.0)
    scaled = scatter / unit / unit[:, None]
    upper, order, rank, _ = linalg.lapack.dpstrf(scaled, tol=len(unit) * EPS, overwrite_a=True)
    root = np.empty((rank, unit.size))
    root[:, order - 1] = np.triu(upper)[:rank]
    return root * size
