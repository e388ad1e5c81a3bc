"""The pencil of two views of the same rows: CCA."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError, OptionError
from ..pencil.factor_pencil import FactorPencil
from ..pencil.pencil import Pencil
from ..pencil.recipe import Recipe
from ..pencil.row_factor import column_squares
from .builders import MAX_DENSE_FEATURES, divide_rows, real_matrix
from .named_columns import feature_names
from .operators.any_rows import row_products
from .operators.centred_rows import CentredRows, join_columns
from .shrinkage import SHRINKAGE_FLOOR, resolve_shrinkage
from .statistics import DENSE_FEATURES, ClassStats

# One value for both views, or a pair.
ViewShrinkage = float | str | Sequence[float | str]


def cca_pencil(X: Any, Y: Any, shrinkage: ViewShrinkage = "auto") -> Pencil:
    """The pencil of sparse CCA: A = [0 Sxy; Syx 0], B = blockdiag(Bx, By).

    Each view's covariance is shrunk towards its diagonal as in `lda_pencil`, with one
    intensity per view if "auto"; a pair gives each view its own. ``pencil.blocks`` is 0 for
    columns of X, 1 for Y, so that `solve` takes k = (kx, ky). A is indefinite: the criterion
    that belongs to it is "lambda_max", and no other will do. Each view is an array or a
    scipy.sparse matrix.

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
    """Two views as rows (n, p) with rows'rows = covariance, and the shrinkage of each.

    ``names`` are those of all features, the first view's first, where both views have any.
    """

    rows: tuple[Any, Any]
    shrinkage: tuple[float, float]
    names: tuple[str, ...] | None

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return len(self.rows[0])


def centre_views(
    X: Any,
    Y: Any,
    shrinkage: ViewShrinkage = "auto",
    names: Sequence[Iterable[str] | None] = (None, None),
) -> CentredViews:
    """The views centred and divided by sqrt(n), with their shrinkage resolved.

    ``names`` are those of their features, where the tables themselves do not know them.
    """
    pair = _shrinkage_pair(shrinkage)
    views = _centre(X, "X"), _centre(Y, "Y")
    of_first, of_second = (feature_names(V, own) for V, own in zip((X, Y), names))
    both = None if of_first is None or of_second is None else of_first + of_second
    n, other = map(len, views)
    if other != n:
        raise InputError(f"X has {n} rows and Y {other}; the views must share their rows")
    first, second = (resolve_shrinkage(s, V, 1) for s, V in zip(pair, views))
    X, Y = (divide_rows(V, np.sqrt(n)) for V in views)
    return CentredViews((X, Y), (first, second), both)


def cca_pencil_from_views(views: CentredViews) -> Pencil:
    """The CCA pencil with its recipe: dense if there are few columns, else by factors."""
    pencil = _cca_of_views(views)
    pencil.recipe = Recipe("cca", {"shrinkage": list(views.shrinkage)}, views.names)
    return pencil


def _cca_of_views(views: CentredViews) -> Pencil:
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


def _centre(X: Any, name: str) -> Any:
    data = X if sparse.issparse(X) else real_matrix(X, name)
    if isinstance(data, np.ndarray) and data.dtype.kind == "f" and not np.isfinite(data).all():
        raise InputError(f"{name} contains NaN or infinity; impute or drop them first")
    n = data.shape[0]
    if n < 2:
        raise InputError(f"{name} has one row only; at least two are needed")
    return ClassStats.from_data(data, np.zeros(n, dtype=int), form="rows").rows
