"""Pencils from data: PCA, LDA and CCA."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, OptionError
from .checks import check_number
from .factor_pencil import FactorPencil
from .pencil import Pencil
from .shrinkage import SHRINKAGE_FLOOR, check_shrinkage, resolve_shrinkage
from .stats import DENSE_FEATURES, ClassStats, ClassWeight

# One value for both views, or a pair.
ViewShrinkage = float | str | Sequence[float | str]


def pca_pencil(X: ArrayLike) -> Pencil:
    """The pencil of sparse PCA: A = covariance of the columns (divisor n), B = I.

    For wide data the centred rows are kept as the factor of A.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> X = np.random.default_rng(0).normal(size=(20, 5))
    >>> bool(np.allclose(es.pca_pencil(X).A, np.cov(X.T, bias=True)))
    True
    """
    rows = _centre(X, "X")
    n, p = rows.shape
    rows /= np.sqrt(n)
    if p <= n:  # otherwise the rows tell the rank of A, which searches profit from
        return Pencil(rows.T @ rows)
    return FactorPencil(rows, None, np.ones(p))


def lda_pencil(
    X: ArrayLike | ClassStats,
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
    X : array (n, p), or ClassStats
    y : labels (n,); None if X is ClassStats
    shrinkage : float in [0, 1] or "auto"
        s. "auto" is the square root of the analytic Schaefer-Strimmer value. It is
        kept at 1e-10 or more, so that B stays positive definite.
    ridge : float >= 0
        The papers' multiple of the identity.
    class_weight : None, "balanced" or dict of class: weight > 0
        What a sample of each class counts: 1, 1/n_k (all classes alike), or the weight given
        (1 for a class that the dict does not name). ClassStats need form="rows" for it, and
        None leaves those that are weighted already as they are.

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
        stats, s = X, _stats_shrinkage(X, shrinkage)
    else:
        if y is None:
            raise InputError("lda_pencil needs labels y beside X")
        data = _finite_matrix(X, "X")
        stats = ClassStats.from_data(data, y, form="rows")
        assert stats.rows is not None
        s = resolve_shrinkage(shrinkage, stats.rows, stats.classes.size)
    if class_weight is not None:
        stats = stats.weighted(class_weight)
    return lda_pencil_from_stats(stats, s, ridge, reuse_rows=not isinstance(X, ClassStats))


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
    s = max(s, SHRINKAGE_FLOOR)
    H = stats.between_factor()
    within = stats.within_variance()
    total = within + np.einsum("ij,ij->j", H, H)  # exactly 0 for a constant column
    d = np.maximum(s * within + ridge, SHRINKAGE_FLOOR * total)
    d[total == 0] = 1.0
    p, n = stats.n_features, stats.n_samples
    if p <= max(n, DENSE_FEATURES):
        B = (1 - s) * stats.within_scatter()
        B[np.diag_indices(p)] += d
        return Pencil._trusted(H.T @ H, B, factor=H)
    rows = stats.rows if stats.rows is not None else _gram_rows(stats)
    scale = np.sqrt((1 - s) / n)
    if stats.shares is not None:
        scale = scale * stats.row_scale()[:, None]
    W = np.multiply(rows, scale, out=rows if reuse_rows else None)
    return FactorPencil(H, W, d)


def cca_pencil(X: ArrayLike, Y: ArrayLike, shrinkage: ViewShrinkage = "auto") -> Pencil:
    """The pencil of sparse CCA: A = [0 Sxy; Syx 0], B = blockdiag(Bx, By).

    Each view's covariance is shrunk towards its diagonal as in `lda_pencil`, with one
    intensity per view if "auto"; a pair gives each view its own. ``pencil.blocks`` is 0 for
    columns of X, 1 for Y, so that `solve` takes k = (kx, ky). A is indefinite: the criterion
    is "lambda_max".

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> pencil = es.cca_pencil(rng.normal(size=(30, 3)), rng.normal(size=(30, 2)))
    >>> pencil.blocks.tolist()
    [0, 0, 0, 1, 1]
    """
    return cca_pencil_from_views(centre_views(X, Y, shrinkage))


@dataclass(frozen=True, eq=False)
class CentredViews:
    """Two views as rows (n, p) with rows'rows = covariance, and the shrinkage of each."""

    rows: tuple[np.ndarray, np.ndarray]
    shrinkage: tuple[float, float]

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.rows[0])


def centre_views(X: ArrayLike, Y: ArrayLike, shrinkage: ViewShrinkage = "auto") -> CentredViews:
    """The views centred and divided by sqrt(n), with their shrinkage resolved."""
    wishes = _shrinkage_pair(shrinkage)
    views = _centre(X, "X"), _centre(Y, "Y")
    n, other = map(len, views)
    if other != n:
        raise InputError(f"X has {n} rows and Y {other}; the views must share their rows")
    first, second = (resolve_shrinkage(s, V, 1) for s, V in zip(wishes, views))
    for V in views:
        V /= np.sqrt(n)
    return CentredViews(views, (first, second))


def cca_pencil_from_views(views: CentredViews) -> Pencil:
    """The CCA pencil: dense if there are few columns, else by factors."""
    n, sizes = views.n_samples, [V.shape[1] for V in views.rows]
    shares = [max(s, SHRINKAGE_FLOOR) for s in views.shrinkage]
    variances = [np.einsum("ij,ij->j", V, V) for V in views.rows]
    d = np.concatenate([np.where(v > 0, s * v, 1.0) for s, v in zip(shares, variances)])
    blocks = np.repeat([0, 1], sizes).tolist()
    if d.size <= max(n, DENSE_FEATURES):
        B = np.diag(d)
        own = slice(sizes[0]), slice(sizes[0], None)
        for V, s, part in zip(views.rows, shares, own):
            B[part, part] += (1 - s) * (V.T @ V)
        return Pencil(_cross_covariance(*views.rows), B, blocks=blocks)
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
    A = _cross_covariance(views.rows[0], views.rows[1][order])
    return Pencil._trusted(A, pencil.B, blocks=pencil.blocks)


def _cross_covariance(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """[0 X'Y; Y'X 0]."""
    px = X.shape[1]
    A = np.zeros((px + Y.shape[1],) * 2)
    A[:px, px:] = X.T @ Y
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


def check_ridge(ridge: Any) -> float:
    """The ridge as a float, if it is a finite number >= 0."""
    return check_number(ridge, "ridge", 0.0, np.finfo(float).max, "a number >= 0")


def _stats_shrinkage(stats: ClassStats, shrinkage: float | str) -> float:
    # "auto" needs fourth moments of the samples' residuals: only rows that are samples have them
    if not isinstance(shrinkage, str):
        return check_shrinkage(shrinkage)
    if stats.rows is None or len(stats.rows) != stats.n_samples:
        raise OptionError("shrinkage='auto' needs the samples; give a number for merged statistics")
    return resolve_shrinkage(shrinkage, stats.rows, stats.classes.size)


def _gram_rows(stats: ClassStats) -> np.ndarray:
    assert stats.gram is not None
    values, vectors = np.linalg.eigh(stats.gram)
    keep = values > 1e-14 * values.max(initial=0.0)
    return (vectors[:, keep] * np.sqrt(values[keep])).T


def _finite_matrix(X: ArrayLike, name: str) -> np.ndarray:
    data = np.asarray(X)
    if data.ndim != 2 or 0 in data.shape:
        raise InputError(f"{name} must be a table of samples x features; it has shape {data.shape}")
    if data.dtype.kind not in "fiub":
        raise InputError(f"{name} must hold real numbers; its dtype is {data.dtype}")
    if data.dtype.kind == "f" and not np.isfinite(data).all():
        raise InputError(f"{name} contains NaN or infinity; impute or drop them first")
    return data


def _centre(X: ArrayLike, name: str) -> np.ndarray:
    data = _finite_matrix(X, name)
    if len(data) < 2:
        raise InputError(f"{name} has one row only; at least two are needed")
    stats = ClassStats.from_data(data, np.zeros(len(data), dtype=int), form="rows")
    assert stats.rows is not None
    return stats.rows
