"""Pencils from a table: PCA and LDA."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..errors import InputError, OptionError
from ..pencil.factor_pencil import FactorPencil
from ..pencil.pencil import Pencil
from ..pencil.recipe import Recipe, lda_recipe
from ..pencil.row_factor import column_squares
from .device_pencil import DevicePencil
from .kinds.arrays import is_device_array, to_numpy
from .kinds.big_table import BigTable
from .kinds.frames import plain_frame
from .kinds.opening import as_big_table
from .named_columns import feature_names
from .shrinkage import (
    check_ridge,
    check_shrinkage,
    is_auto,
    lda_diagonal,
    resolve_shrinkage,
    shrinkage_from_moments,
)
from .statistics import DENSE_FEATURES, ClassStats, ClassWeight, check_classes
from .streamed_builders import streamed_lda, streamed_pca

# Rows that are no array may stay as they are: p x p is formed for fewer features than this.
MAX_DENSE_FEATURES = 10_000


@dataclass(frozen=True, eq=False)
class PCAProblem:
    """A table as sparse PCA sees it: its column means (p,) and its pencil."""

    n_samples: int
    mean: np.ndarray
    pencil: Pencil


def pca_pencil(X: Any) -> Pencil:
    """The pencil of sparse PCA: A = covariance of the columns (divisor n), B = I.

    For wide data the centred rows are kept as the factor of A. The criterion that belongs to it is
    "lambda_max".

    Parameters
    ----------
    X : any table (n, p) of docs/scale.md

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> bool(np.allclose(es.pca_pencil(X).A, np.cov(X.T, bias=True)))
    True
    """
    return pca_problem(X).pencil


def pca_problem(X: Any, names: Iterable[str] | None = None) -> PCAProblem:
    """From a table, or from statistics of one class, to the problem; its rows give a recipe.

    ``names`` are those of the features, where the table itself does not know them.
    """
    if isinstance(X, ClassStats):
        return PCAProblem(X.n_samples, X.means[0], _pca_of_stats(X))
    table = _open(X)
    if table.shape[0] < 2:
        kind = table.kind if isinstance(table, BigTable) else "X"
        raise InputError(f"{kind} has one row only; at least two are needed")
    if isinstance(table, BigTable) and not table.is_tall:
        problem = PCAProblem(table.shape[0], *streamed_pca(table))
    else:
        problem = pca_problem(_pca_stats(table))
    problem.pencil.recipe = Recipe("pca", {}, feature_names(X, names))
    return problem


def _pca_stats(table: Any) -> ClassStats:
    """The statistics of all rows as one class: p x p if there are more rows than columns."""
    n, p = table.shape
    may_stay = not isinstance(table, np.ndarray | BigTable)
    is_small = p <= n and not (may_stay and p > MAX_DENSE_FEATURES)
    # otherwise the rows tell the rank of A, which searches profit from
    form = "gram" if is_small else "rows"
    return ClassStats.from_data(table, np.zeros(n, dtype=np.int8), form=form)


def _pca_of_stats(stats: ClassStats) -> Pencil:
    """The PCA pencil of statistics of one class; an array of rows is scaled in place."""
    if stats.rows is None:
        return Pencil(stats.within_scatter())
    rows = to_numpy(stats.rows) if is_device_array(stats.rows) else stats.rows
    return FactorPencil(
        divide_rows(rows, np.sqrt(stats.n_samples)), None, np.ones(stats.n_features)
    )


@dataclass(frozen=True, eq=False)
class LDAProblem:
    """A table and its labels as sparse LDA sees them.

    Attributes
    ----------
    stats : ClassStats, weighted as was asked for; without the rows, which are the pencil's
    shrinkage : float, resolved
    pencil : Pencil, with its recipe if it was made from a table without weights
    """

    stats: ClassStats
    shrinkage: float
    pencil: Pencil


def lda_pencil(
    X: Any,
    y: ArrayLike | None = None,
    shrinkage: float | str = "auto",
    ridge: float = 0.0,
    class_weight: ClassWeight = None,
) -> Pencil:
    """The pencil of sparse LDA.

    A = sum_k (n_k/n) (m_k - m)(m_k - m)', S_w = (1/n) sum of within-class squares,
    B = (1-s) S_w + s diag(S_w) + ridge I.

    With weights, pi_k proportional to weight_k n_k takes the place of n_k/n:
    A = sum_k pi_k (m_k - m)(m_k - m)', m = sum_k pi_k m_k, S_w = sum_k pi_k S_k, where S_k is the
    covariance of class k (divisor n_k). The criterion that belongs to it is "logdet".

    Parameters
    ----------
    X : ClassStats, or any table (n, p) of docs/scale.md
    y : labels (n,); None if X is ClassStats
    shrinkage : float in [0, 1] or "auto"
        s. "auto" is the square root of the analytic Schaefer-Strimmer value. It is
        kept at 1e-10 or more, so that B stays positive definite.
    ridge : float >= 0
        The papers' multiple of the identity.
    class_weight : None, "balanced" or dict of class: weight > 0
        What a sample of each class counts: 1, 1/n_k (all classes alike), or the weight given
        (1 for a class that the dict does not name). ClassStats need form="rows", "grams" or
        "moments" for it, and None leaves those that are weighted already as they are.

    Notes
    -----
    A column that does not vary within the classes gets 1e-10 of its total variance
    as within-class variance; a constant column gets 1, and can never be worth anything.
    A class with one sample adds nothing to S_w, whatever its weight, and no other class takes
    its share there. "auto" is found from the samples as they are, without weights.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> es.lda_pencil(X, np.arange(20) % 3, shrinkage=0.5).size
    5
    """
    return lda_problem(X, y, shrinkage, ridge, class_weight).pencil


def lda_problem(
    X: Any,
    y: ArrayLike | None = None,
    shrinkage: float | str = "auto",
    ridge: float = 0.0,
    class_weight: ClassWeight = None,
    names: Iterable[str] | None = None,
) -> LDAProblem:
    """From a table and its labels, or from statistics, to the problem: see `lda_pencil`.

    ``names`` are those of the features, where the table itself does not know them.
    """
    ridge = check_ridge(ridge)
    if isinstance(X, ClassStats):
        s = stats_shrinkage(X, shrinkage)
        stats = X if class_weight is None else X.weighted(class_weight)
        return _with_criterion(LDAProblem(stats, s, _lda_of_stats(stats, s, ridge)))
    if y is None:
        raise InputError("lda_pencil needs labels y beside X")
    table = _open(X)
    if isinstance(table, BigTable) and not table.is_tall:
        problem = LDAProblem(*streamed_lda(table, y, shrinkage, ridge, class_weight))
    else:
        problem = _lda_of_rows(table, y, shrinkage, ridge, class_weight)
    if class_weight is None:
        problem.pencil.recipe = lda_recipe(y, problem.shrinkage, ridge, feature_names(X, names))
    return _with_criterion(problem)


def _with_criterion(problem: LDAProblem) -> LDAProblem:
    """With Wilks's: of many classes the others go on separating the pair that is farthest apart."""
    problem.pencil.criterion = "logdet"
    return problem


def _lda_of_rows(
    table: Any, y: ArrayLike, shrinkage: float | str, ridge: float, class_weight: ClassWeight
) -> LDAProblem:
    """From rows, or from sums over those of a tall table."""
    form = sums_form(shrinkage, class_weight) if isinstance(table, BigTable) else "rows"
    stats = ClassStats.from_data(table, y, form=form)
    s = stats_shrinkage(stats, shrinkage)
    stats = stats.weighted(class_weight)
    pencil = _lda_of_stats(stats, s, ridge, reuse_rows=True)
    return LDAProblem(replace(stats, rows=None), s, pencil)


def sums_form(shrinkage: float | str, class_weight: ClassWeight) -> str:
    """The smallest form of `ClassStats` without rows from which the pencil can be built."""
    if is_auto(shrinkage):
        return "moments"
    return "gram" if class_weight is None else "grams"


def stats_shrinkage(stats: ClassStats, shrinkage: float | str) -> float:
    """A number in [0, 1] from the user's choice: a number, or "auto"."""
    if not is_auto(shrinkage):
        return check_shrinkage(shrinkage)
    if stats.moments is not None and stats.moments.fourth is not None:
        return float(np.sqrt(shrinkage_from_moments(stats.moments, stats.n_samples)))
    # fourth moments of the samples' residuals: of rows, only those that are samples have them
    if stats.rows is None or stats.rows.shape[0] != stats.n_samples:
        raise OptionError(
            "shrinkage='auto' needs the samples, or form='moments'; give a number for merged "
            "statistics without them"
        )
    return resolve_shrinkage(shrinkage, stats.rows, stats.classes.size)


def _lda_of_stats(stats: ClassStats, s: float, ridge: float, reuse_rows: bool = False) -> Pencil:
    """The LDA pencil for a resolved shrinkage s: dense if p is small, else by factors.

    ``reuse_rows`` scales the residual rows in place: wide data are not held twice.
    """
    check_classes(stats.classes, stats.n_samples)
    H = stats.between_factor()
    s, d = lda_diagonal(stats.within_variance(), column_squares(H), s, ridge)
    p, n = stats.n_features, stats.n_samples
    most = max(n, DENSE_FEATURES)
    if not isinstance(stats.rows, np.ndarray):
        most = min(most, MAX_DENSE_FEATURES)
    if stats.rows is None or p <= most:
        B = (1 - s) * stats.within_scatter()
        B[np.diag_indices(p)] += d
        return Pencil._trusted(H.T @ H, B, factor=H)
    return _factor_pencil(H, stats, np.sqrt((1 - s) / n), d, reuse_rows)


def _factor_pencil(
    H: np.ndarray, stats: ClassStats, scale: Any, d: np.ndarray, reuse_rows: bool
) -> Pencil:
    rows = stats.rows
    if not isinstance(rows, np.ndarray):
        W = stats.weighted_rows() * float(scale)
        if not is_device_array(rows):
            return FactorPencil(H, W, d)
        return DevicePencil(H, W, d)
    if stats.shares is not None:
        scale = scale * stats.row_scale()[:, None]
    return FactorPencil(H, np.multiply(rows, scale, out=rows if reuse_rows else None), d)


def _open(X: Any) -> Any:
    """A `BigTable`, X itself if it is sparse or on a device, or an array; all look at NaN later."""
    table = as_big_table(X)
    if table is not None:
        return table
    return X if sparse.issparse(X) or is_device_array(X) else real_matrix(X, "X")


def real_matrix(X: ArrayLike, name: str) -> np.ndarray:
    """A table in memory as an array of real numbers."""
    data = np.asarray(plain_frame(X, name))
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(f"{name} must be a table of samples x features; it has shape {data.shape}")
    if data.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold real numbers; its dtype is {data.dtype}")
    return data


def divide_rows(rows: Any, number: float) -> Any:
    """Rows divided by a number: in place if they are an array."""
    return np.divide(rows, number, out=rows) if isinstance(rows, np.ndarray) else rows / number
