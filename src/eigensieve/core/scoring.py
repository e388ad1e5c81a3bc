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

import reprlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import linalg, sparse
from scipy.sparse.linalg import splu

from ..errors import InputError, OptionError
from .checks import check_labels, check_number
from .pursuit import first_copies
from .stats import ClassStats
from .uncorrelated import class_contrasts

WITHIN = ("full", "diagonal")
# Class means as near as this, in units of a column's deviation, are equal but for round-off.
EQUAL = 1e-13
ROWS = 16  # that are handled at once
SYMMETRIC = 1e-8
# A matrix with eigenvalues below minus this share of its largest entry is not semidefinite.
NEGATIVE = 1e-10
# Directions that separate the classes less than this, relatively, are round-off.
SEPARATES = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class ScoringProblem:
    """The data of a penalised optimal scoring problem.

    Attributes
    ----------
    factor : array (r, p), F
    target : array (r, q), T
    quadratic : R, an array (p,), its diagonal, or a matrix (p, p), dense or sparse
    weights : array (p,), w > 0
    n_samples : int
    mean, means : arrays (p,) and (K, p), of all samples and of the classes
    within : "full" or "diagonal"
    """

    factor: np.ndarray
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
        X: ArrayLike,
        y: ArrayLike,
        *,
        within: str = "full",
        weights: ArrayLike | str | None = None,
        ridge: Any = 0.0,
    ) -> ScoringProblem:
        """From samples (n, p) and labels (n,)."""
        if not isinstance(within, str) or within not in WITHIN:
            raise OptionError(f"within is {within!r}; it must be one of {', '.join(WITHIN)}")
        labels = np.asarray(y)
        check_labels(labels)
        inner = ClassStats.from_data(X, labels, form="rows")
        if inner.classes.size < 2:
            raise InputError(f"y has one class only ({str(inner.classes[0])!r}); two are needed")
        assert inner.rows is not None
        n, code = inner.n_samples, np.searchsorted(inner.classes, labels)
        contrasts, between = class_contrasts(code), np.sqrt(n) * inner.between_factor()  # E'Xc
        separation = np.einsum("ij,ij->j", between, between) / n
        quadratic = _check_ridge(ridge, inner.n_features, n)
        if within == "diagonal":
            quadratic = _plus_diagonal(quadratic, n * inner.within_variance())
            factor, target = between, np.eye(len(between))
            spread = inner.within_variance() + separation
        else:
            factor, target = inner.rows, contrasts
            for start in range(0, n, ROWS):  # Xc = rows + E E'Xc, without a second copy
                factor[start : start + ROWS] += contrasts[start : start + ROWS] @ between
            spread = np.einsum("ij,ij->j", factor, factor) / n
        if not np.any(separation > EQUAL**2 * spread):
            raise InputError("the class means are all equal: no feature separates the classes")
        w = _check_weights(weights, spread)
        return cls(factor, target, quadratic, w, n, inner.mean, inner.means, within)

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
        return np.sqrt(np.einsum("ij,ij->j", self.factor, self.factor))

    @cached_property
    def curvatures(self) -> np.ndarray:
        """The diagonal of F'F + R."""
        own = self.quadratic if self.is_separable else self.quadratic.diagonal()
        return np.square(self.lengths) + own

    @cached_property
    def spare(self) -> np.ndarray:
        """Mask (p,) of columns that are copies of another one and need not be used.

        Copies may share a weight in any way; here the one of least weight w, or the first, has it
        all. So may columns that are copies in units of w. With a quadratic term they share it
        equally, and none is spare.
        """
        spare = np.zeros(self.weights.size, dtype=bool)
        if not self.is_separable or self.quadratic.any():
            return spare
        forms = [self.factor]
        if np.ptp(self.weights) > 0:
            forms.append(self.factor / self.weights)
        for first in map(first_copies, forms):
            for model in np.unique(first[first != np.arange(first.size)]):
                group = np.flatnonzero((first == model) & ~spare)
                if group.size > 1:
                    spare[group] = True
                    spare[group[np.argmin(self.weights[group])]] = False
        return spare

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
            spare=self.spare,
        )
        return part

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
        self, S: np.ndarray, rows: np.ndarray, columns: np.ndarray | slice = slice(None)
    ) -> np.ndarray:
        """F'(T - FB) - RB: minus the gradient of the smooth part, of all features or some."""
        r = self.residual(S, rows)
        slope: np.ndarray = self.factor[:, columns].T @ r
        if self.is_separable:
            if isinstance(columns, slice):
                slope[S] -= self.quadratic[S, None] * rows
            else:
                here = np.flatnonzero(np.isin(columns, S))
                place = np.searchsorted(S, columns[here])
                slope[here] -= self.quadratic[columns[here], None] * rows[place]
        else:
            slope -= _block(self.quadratic, columns, S) @ rows
        return slope

    def pull(self, S: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        """|R| b (p,) for the b >= 0 with these entries in S."""
        if self.is_separable:
            pull = np.zeros(self.weights.size)
            pull[S] = self.quadratic[S] * sizes
            return pull
        return np.asarray(abs(_block(self.quadratic, slice(None), S)) @ sizes)

    def stretch(self, S: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """B'RB (q, q)."""
        if self.is_separable:
            return np.asarray((rows * self.quadratic[S, None]).T @ rows)
        return np.asarray(rows.T @ (_block(self.quadratic, S, S) @ rows))

    def discriminate(
        self, S: np.ndarray, rows: np.ndarray, penalty: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Directions V (|S|, m) with V'SV = I and their eigenvalues, descending.

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
            spread = rest.T @ rest + self.stretch(S, V) + (V.T * omega) @ V
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


def _check_weights(weights: Any, spread: np.ndarray) -> np.ndarray:
    """One positive weight per feature; "std": its standard deviation, 1 for constant columns."""
    if weights is None:
        return np.ones(spread.size)
    if isinstance(weights, str) and weights == "std":
        return np.where(spread > 0, np.sqrt(spread), 1.0)
    wrong = OptionError(
        f"weights is {reprlib.repr(weights)}; it must be None, 'std' or {spread.size} positive "
        "numbers"
    )
    try:
        w = np.array(weights, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong from None
    if w.shape != spread.shape or not np.all((w > 0) & np.isfinite(w)):
        raise wrong
    return w


def _check_ridge(ridge: Any, p: int, n: int) -> Any:
    """n times the ridge: a diagonal (p,), or a symmetric semidefinite matrix (p, p)."""
    if np.ndim(ridge) == 0 and not sparse.issparse(ridge):
        number = check_number(ridge, "ridge", 0.0, 1e150, "a number >= 0, or a matrix")
        return np.full(p, n * number)
    if sparse.issparse(ridge):
        matrix = ridge.tocsr().astype(np.float64)
        finite = bool(np.isfinite(matrix.data).all())
    else:
        try:
            matrix = np.array(ridge, dtype=np.float64)
        except (TypeError, ValueError):
            raise OptionError("ridge must be a number >= 0, or a matrix of numbers") from None
        finite = bool(np.isfinite(matrix).all())
    if matrix.shape != (p, p):
        raise OptionError(
            f"ridge has shape {matrix.shape}; it must be a number, or a matrix with a row and a "
            f"column per feature, {(p, p)}; for differences D give D.T @ D"
        )
    if not finite:
        raise OptionError("ridge has NaN or infinity in it")
    size = float(abs(matrix).max())
    if float(abs(matrix - matrix.T).max()) > SYMMETRIC * size:
        raise OptionError("ridge is not symmetric; for differences D give D.T @ D")
    matrix = (matrix + matrix.T) / 2
    if size > 0 and not _is_semidefinite(matrix / size):
        raise OptionError(
            "ridge has negative eigenvalues: it must be positive semidefinite; for differences D "
            "give D.T @ D"
        )
    return n * (matrix.tocsr() if sparse.issparse(matrix) else matrix)


def _is_semidefinite(matrix: Any) -> bool:
    """By the pivots of an elimination without row exchanges, a little above singular."""
    if not sparse.issparse(matrix):
        moved = matrix + NEGATIVE * np.eye(len(matrix))
        return int(linalg.lapack.dpotrf(moved, lower=True)[1]) == 0
    moved = (matrix + NEGATIVE * sparse.eye_array(matrix.shape[0])).tocsc()
    try:
        factors = splu(
            moved,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # a pivot is zero
        return False
    return bool(np.all(factors.U.diagonal() > 0))
