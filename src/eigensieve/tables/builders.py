"""Pencils from data: PCA, LDA and CCA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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
from .kinds.frames import column_names, plain_frame
from .kinds.opening import as_big_table
from .operators.any_rows import row_products
from .operators.centred_rows import CentredRows, join_columns
from .shrinkage import (
    SHRINKAGE_FLOOR,
    check_ridge,
    check_shrinkage,
    is_auto,
    lda_diagonal,
    resolve_shrinkage,
    shrinkage_from_moments,
)
from .statistics import DENSE_FEATURES, ClassStats, ClassWeight
from .streamed_builders import streamed_lda, streamed_pca

# Rows that are no array may stay as they are: p x p is formed for fewer features than this.
MAX_DENSE_FEATURES = 10_000

# One value for both views, or a pair.
ViewShrinkage = float | str | Sequence[float | str]


def pca_pencil(X: Any) -> Pencil:
    """The pencil of sparse PCA: A = covariance of the columns (divisor n), B = I.

    For wide data the centred rows are kept as the factor of A.

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
    table = as_big_table(X)
    if table is not None and not table.is_tall:
        return streamed_pca(table)[1]
    pencil = pca_pencil_from_stats(pca_stats(X if table is None else table))
    pencil.recipe = Recipe("pca", {}, column_names(X))
    return pencil


def pca_stats(X: Any) -> ClassStats:
    """The statistics of all rows as one class: p x p if there are more rows than columns."""
    data = X if isinstance(X, BigTable) else _real_table(X, "X")
    n, p = data.shape
    if n < 2:
        raise InputError("X has one row only; at least two are needed")
    labels = np.zeros(n, dtype=np.int8)
    if isinstance(data, BigTable):
        return ClassStats.from_table(data, labels)
    is_small = p <= n and (isinstance(data, np.ndarray) or p <= MAX_DENSE_FEATURES)
    # otherwise the rows tell the rank of A, which searches profit from
    return ClassStats.from_data(data, labels, form="gram" if is_small else "rows")


def pca_pencil_from_stats(stats: ClassStats) -> Pencil:
    """The PCA pencil of statistics of one class; an array of rows is scaled in place."""
    if stats.rows is None:
        return Pencil(stats.within_scatter())
    rows = to_numpy(stats.rows) if is_device_array(stats.rows) else stats.rows
    return FactorPencil(_divide(rows, np.sqrt(stats.n_samples)), None, np.ones(stats.n_features))


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
    covariance of class k (divisor n_k).

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
    ridge = check_ridge(ridge)
    if isinstance(X, ClassStats):
        stats = X
    else:
        if y is None:
            raise InputError("lda_pencil needs labels y beside X")
        table = as_big_table(X)
        if table is not None and not table.is_tall:
            return streamed_lda(table, y, shrinkage, ridge, class_weight)[2]
        data = _real_table(X, "X") if table is None else table
        stats = lda_stats(data, y, shrinkage, class_weight)
    s = stats_shrinkage(stats, shrinkage)
    if class_weight is not None:
        stats = stats.weighted(class_weight)
    pencil = lda_pencil_from_stats(stats, s, ridge, reuse_rows=not isinstance(X, ClassStats))
    if y is not None and class_weight is None:
        pencil.recipe = lda_recipe(y, s, ridge, column_names(X))
    return pencil


def lda_stats(
    data: Any, y: ArrayLike, shrinkage: float | str, class_weight: ClassWeight
) -> ClassStats:
    """Statistics that the pencil can be built from: rows, or sums over those of a tall table."""
    if isinstance(data, BigTable):
        return ClassStats.from_table(data, y, form=sums_form(shrinkage, class_weight))
    return ClassStats.from_data(data, y, form="rows")


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


def lda_pencil_from_stats(
    stats: ClassStats, s: float, ridge: float, *, reuse_rows: bool = False
) -> Pencil:
    """The LDA pencil for a resolved shrinkage s: dense if p is small, else by factors.

    ``reuse_rows`` scales the residual rows in place: wide data are not held twice.
    """
    if stats.classes.size < 2:
        raise InputError(
            f"y has one class only ({str(stats.classes[0])!r}); LDA needs at least two classes"
        )
    if stats.n_samples <= stats.classes.size:
        raise InputError(
            "every class has one sample only, so there is no within-class scatter; "
            "at least one class needs two samples"
        )
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


def cca_pencil(X: Any, Y: Any, shrinkage: ViewShrinkage = "auto") -> Pencil:
    """The pencil of sparse CCA: A = [0 Sxy; Syx 0], B = blockdiag(Bx, By).

    Each view's covariance is shrunk towards its diagonal as in `lda_pencil`, with one
    intensity per view if "auto"; a pair gives each view its own. ``pencil.blocks`` is 0 for
    columns of X, 1 for Y, so that `solve` takes k = (kx, ky). A is indefinite: the criterion
    is "lambda_max". Each view is an array or a scipy.sparse matrix.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> pencil = es.cca_pencil(rng.normal(size=(30, 3)), rng.normal(size=(30, 2)))
    >>> pencil.blocks.tolist()
    [0, 0, 0, 1, 1]
    """
    views = centre_views(X, Y, shrinkage)
    pencil = cca_pencil_from_views(views)
    first, second = column_names(X), column_names(Y)
    names = None if first is None or second is None else first + second
    pencil.recipe = Recipe("cca", {"shrinkage": list(views.shrinkage)}, names)
    return pencil


@dataclass(frozen=True, eq=False)
class CentredViews:
    """Two views as rows (n, p) with rows'rows = covariance, and the shrinkage of each."""

    rows: tuple[Any, Any]
    shrinkage: tuple[float, float]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.rows[0])


def centre_views(X: Any, Y: Any, shrinkage: ViewShrinkage = "auto") -> CentredViews:
    """The views centred and divided by sqrt(n), with their shrinkage resolved."""
    pair = _shrinkage_pair(shrinkage)
    views = _centre(X, "X"), _centre(Y, "Y")
    n, other = map(len, views)
    if other != n:
        raise InputError(f"X has {n} rows and Y {other}; the views must share their rows")
    first, second = (resolve_shrinkage(s, V, 1) for s, V in zip(pair, views))
    X, Y = (_divide(V, np.sqrt(n)) for V in views)
    return CentredViews((X, Y), (first, second))


def cca_pencil_from_views(views: CentredViews) -> Pencil:
    """The CCA pencil: dense if there are few columns, else by factors."""
    n, sizes = views.n_samples, [V.shape[1] for V in views.rows]
    shares = [max(s, SHRINKAGE_FLOOR) for s in views.shrinkage]
    variances = [column_squares(V) for V in views.rows]
    d = np.concatenate([np.where(v > 0, s * v, 1.0) for s, v in zip(shares, variances)])
    blocks = np.repeat([0, 1], sizes).tolist()
    is_sparse = any(isinstance(V, CentredRows) for V in views.rows)
    if d.size <= min(max(n, DENSE_FEATURES), MAX_DENSE_FEATURES if is_sparse else np.inf):
        B = np.diag(d)
        own = slice(sizes[0]), slice(sizes[0], None)
        for V, s, part in zip(views.rows, shares, own):
            B[part, part] += (1 - s) * row_products(V)
        return Pencil(_cross_covariance(*views.rows), B, blocks=blocks)
    if is_sparse:
        H: Any = join_columns(*views.rows)
    else:
        H = np.zeros((2 * n, d.size))
        H[:n, : sizes[0]], H[n:, sizes[0] :] = views.rows
    root = np.sqrt(1 - np.repeat(shares, n))[:, None]
    return FactorPencil(H, root * H, d, core=_cross_core(np.arange(n)), blocks=blocks)


def permute_second_view(pencil: Pencil, views: CentredViews, order: np.ndarray) -> Pencil:
    """The CCA pencil of the same views with the rows of the second in another order.

    Covariances within a view do not know the order of the rows: only A changes.
    """
    assert pencil.blocks is not None
    if isinstance(pencil, FactorPencil):  # A = H' C H: the order goes into C
        core, blocks = _cross_core(order), pencil.blocks.tolist()
        return FactorPencil(pencil.H, pencil.W, pencil.d, core=core, blocks=blocks)
    X, Y = views.rows
    A = _cross_covariance(X, Y.of_rows(order) if isinstance(Y, CentredRows) else Y[order])
    return Pencil._trusted(A, pencil.B, blocks=pencil.blocks)


def _cross_covariance(X: Any, Y: Any) -> np.ndarray:
    """[0 X'Y; Y'X 0]."""
    px = X.shape[1]
    A = np.zeros((px + Y.shape[1],) * 2)
    both = isinstance(X, CentredRows) and isinstance(Y, CentredRows)
    A[:px, px:] = X.inner(Y) if both else X.T @ Y
    A[px:, :px] = A[:px, px:].T
    return A


def _cross_core(order: np.ndarray) -> np.ndarray:
    """C with H' C H = [0 X'PY; Y'P'X 0] for H = blockdiag(X, Y), P putting Y's rows in order."""
    n = order.size
    core = np.zeros((2 * n, 2 * n))
    core[np.arange(n), n + order] = 1.0
    core[n + order, np.arange(n)] = 1.0
    return core


def _shrinkage_pair(shrinkage: Any) -> tuple[float | str, float | str]:
    """The shrinkage of each view, as given: one for both, or a pair."""
    if isinstance(shrinkage, str) or not isinstance(shrinkage, Sequence | np.ndarray):
        return shrinkage, shrinkage
    if len(shrinkage) != 2:
        raise OptionError(
            f"shrinkage is {shrinkage!r}; it must be 'auto', a number 0..1, or a pair of those, "
            "one per view"
        )
    return shrinkage[0], shrinkage[1]


def _real_table(X: Any, name: str) -> Any:
    """X itself if it is sparse or on a device, which look at their numbers later, or an array."""
    if sparse.issparse(X) or is_device_array(X):
        return X
    return _finite_matrix(X, name)


def _finite_matrix(X: ArrayLike, name: str) -> np.ndarray:
    data = np.asarray(plain_frame(X, name))
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(f"{name} must be a table of samples x features; it has shape {data.shape}")
    if data.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold real numbers; its dtype is {data.dtype}")
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        raise InputError(f"{name} contains NaN or infinity; impute or drop them first")
    return data


def _centre(X: Any, name: str) -> Any:
    data = X if sparse.issparse(X) else _finite_matrix(X, name)
    n = data.shape[0]
    if n < 2:
        raise InputError(f"{name} has one row only; at least two are needed")
    return ClassStats.from_data(data, np.zeros(n, dtype=int), form="rows").rows


def _divide(rows: Any, number: float) -> Any:
    """Rows divided by a number: in place if they are an array."""
    return np.divide(rows, number, out=rows) if isinstance(rows, np.ndarray) else rows / number
