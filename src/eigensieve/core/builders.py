"""Pencils from data: PCA, LDA and CCA."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError, OptionError
from .checks import check_number
from .factor_pencil import FactorPencil
from .pencil import Pencil
from .shrinkage import SHRINKAGE_FLOOR, check_shrinkage, resolve_shrinkage
from .stats import DENSE_FEATURES, ClassStats


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
) -> Pencil:
    """The pencil of sparse LDA.

    A = sum_k (n_k/n) (m_k - m)(m_k - m)', S_w = (1/n) sum of within-class squares,
    B = (1-s) S_w + s diag(S_w) + ridge I.

    Parameters
    ----------
    X : array (n, p), or ClassStats
    y : labels (n,); None if X is ClassStats
    shrinkage : float in [0, 1] or "auto"
        s. "auto" is the square root of the analytic Schaefer-Strimmer value. It is
        kept at 1e-10 or more, so that B stays positive definite.
    ridge : float >= 0
        The papers' multiple of the identity.

    Notes
    -----
    A column that does not vary within the classes gets 1e-10 of its total variance
    as within-class variance; a constant column gets 1, and can never be worth anything.

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
    W = np.multiply(rows, np.sqrt((1 - s) / n), out=rows if reuse_rows else None)
    return FactorPencil(H, W, d)


def cca_pencil(X: ArrayLike, Y: ArrayLike, shrinkage: float | str = "auto") -> Pencil:
    """The pencil of sparse CCA: A = [0 Sxy; Syx 0], B = blockdiag(Bx, By).

    Each view's covariance is shrunk towards its diagonal as in `lda_pencil`, with one
    intensity per view if "auto". ``pencil.blocks`` is 0 for columns of X, 1 for Y, so
    that `solve` takes k = (kx, ky). A is indefinite: the criterion is "lambda_max".

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> pencil = es.cca_pencil(rng.normal(size=(30, 3)), rng.normal(size=(30, 2)))
    >>> pencil.blocks.tolist()
    [0, 0, 0, 1, 1]
    """
    views = [_centre(X, "X"), _centre(Y, "Y")]
    n = len(views[0])
    if len(views[1]) != n:
        raise InputError(f"X has {n} rows and Y {len(views[1])}; the views must share their rows")
    shares = [max(resolve_shrinkage(shrinkage, V, 1), SHRINKAGE_FLOOR) for V in views]
    for V in views:
        V /= np.sqrt(n)
    variances = [np.einsum("ij,ij->j", V, V) for V in views]
    d = np.concatenate([np.where(v > 0, s * v, 1.0) for s, v in zip(shares, variances)])
    px, py = (V.shape[1] for V in views)
    blocks = np.repeat([0, 1], [px, py])
    if px + py <= max(n, DENSE_FEATURES):
        return _dense_cca(views, shares, d, blocks)
    H = np.zeros((2 * n, px + py))
    H[:n, :px], H[n:, px:] = views
    root = np.sqrt(1 - np.repeat(shares, n))[:, None]
    swap = np.kron(np.array([[0.0, 1.0], [1.0, 0.0]]), np.eye(n))
    return FactorPencil(H, root * H, d, core=swap, blocks=list(blocks))


def _dense_cca(
    views: list[np.ndarray], shares: list[float], d: np.ndarray, blocks: np.ndarray
) -> Pencil:
    X, Y = views
    px = X.shape[1]
    A, B = np.zeros((d.size, d.size)), np.diag(d)
    A[:px, px:] = X.T @ Y
    A[px:, :px] = A[:px, px:].T
    B[:px, :px] += (1 - shares[0]) * (X.T @ X)
    B[px:, px:] += (1 - shares[1]) * (Y.T @ Y)
    return Pencil(A, B, blocks=list(blocks))


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
