"""From a table to the form that Q-alpha maximises."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..tables.kinds.arrays import is_device_array, to_numpy
from ..tables.kinds.big_table import BigTable
from ..tables.kinds.opening import as_big_table
from ..tables.moments import MAX_FEATURES
from ..tables.operators.scaled_rows import read_all, read_if_small, scaled_rows
from ..tables.operators.table_rows import ArrayRows, TableRows
from .class_rows import ClassRows
from .kernels import FeatureKernel, check_kernel_matrix, is_zero
from .options import QAlphaOptions
from .relevance import Basic, Family, Gap, Standard
from .tall_rows import TallClassRows, TallRows
from .variants.kernel import KernelRelevance
from .variants.laplacian import Laplacian
from .variants.ritz import Ritz
from .variants.supervised import Supervised

BY_VARIANT: dict[str, Callable[[TableRows, int], Family]] = {
    "standard": Standard,
    "basic": Basic,
    "gap": Gap,
    "ritz": Ritz,
    "laplacian": Laplacian,
}
ON_DEVICE = ("standard", "basic", "supervised")


def make_rows(X: Any, options: QAlphaOptions, code: np.ndarray | None = None) -> TableRows:
    """The scaled rows of a table (samples, features), or the kernel matrix that the user gives.

    ``code`` is the class of every sample, for variant "supervised".
    """
    if options.is_precomputed:
        return ArrayRows(_read_kernel_matrix(X))
    scaled: dict[str, Any] = {
        "center": options.is_centred,
        "scale": bool(options.scale),
        "offset": options.shift,
    }
    X = read_if_small(X)
    if isinstance(X, BigTable) and X.is_tall and X.shape[1] <= MAX_FEATURES:
        if not _needs_samples(options):
            return TallRows(X, code, **scaled)
    elif is_device_array(X):
        _check_on_device(options)
    return scaled_rows(X, **scaled)


def _read_kernel_matrix(V: Any) -> np.ndarray:
    table = as_big_table(V)
    if table is not None:
        V = read_all(table)
    return check_kernel_matrix(V.toarray() if sparse.issparse(V) else to_numpy(V))


def _needs_samples(options: QAlphaOptions) -> bool:
    if options.variant == "laplacian" or callable(options.kernel):
        return True
    return isinstance(options.kernel, str) and options.kernel == "block"


def _check_on_device(options: QAlphaOptions) -> None:
    if options.kernel is not None or options.variant not in ON_DEVICE:
        what = f"variant {options.variant!r}" if options.kernel is None else "a kernel"
        raise InputError(
            f"{what} does not run on a device; variants {', '.join(ON_DEVICE)} do: give a numpy "
            "array (X.cpu().numpy()) for the others"
        )


def make_family(
    rows: TableRows, options: QAlphaOptions, code: np.ndarray | None, rng: np.random.Generator
) -> Family:
    """The variant on these rows; ``code`` has the class of every sample for "supervised"."""
    if options.variant == "supervised":
        assert code is not None
        if isinstance(rows, TallRows):
            return Supervised(TallClassRows(rows), options.blocks)
        members = [np.flatnonzero(code == g) for g in range(code.max() + 1)]
        return Supervised(ClassRows(rows, members), options.blocks)
    if options.kernel is not None:
        return _make_kernel_family(rows, options, rng)
    k = min(options.n_clusters, rows.n_samples, rows.n_features)
    return BY_VARIANT[options.variant](rows, k)


def _make_kernel_family(
    rows: TableRows, options: QAlphaOptions, rng: np.random.Generator
) -> Family:
    """The kernel's matrix, or fewer explicit features than it has rows."""
    n, q = rows.n_features, rows.n_samples
    if options.is_precomputed:
        return KernelRelevance(rows[:, :], min(options.n_clusters, n))
    kernel = FeatureKernel.of(options.kernel, options.kernel_params)
    route = kernel.choose_route(n, q, rows.is_sparse)
    if route == "rows":
        return Unseen(rows, min(options.n_clusters, q, n))
    constant = is_zero(rows)
    if route == "matrix":
        V = kernel.matrix(rows)
        V[constant], V[:, constant] = 0.0, 0.0
        return KernelRelevance(V, min(options.n_clusters, n))
    data = kernel.nystroem(rows, rng) if route == "nystroem" else kernel.explicit(rows)
    data[:, constant] = 0.0
    return Unseen(ArrayRows(data), min(options.n_clusters, len(data), n))


def check_null_fits(rows: TableRows, options: QAlphaOptions) -> None:
    """Raise before the search, not after it, if there can be no permuted copies."""
    if isinstance(rows, TallRows):
        raise InputError(
            "a tall table on disk is read for its inner products only, and features cannot be "
            "permuted in them; use n_permutations=0, or give some of the samples as an array"
        )
    if options.kernel is not None:
        kernel = FeatureKernel.of(options.kernel, options.kernel_params)
        kernel.choose_route(2 * rows.n_features, rows.n_samples, rows.is_sparse)


class Unseen(Standard):
    """The standard form on explicit features of a kernel, whose basis is nobody's business."""

    def express(self, basis: np.ndarray) -> None:
        """Nothing, as for every kernel: the basis has no coordinates in terms of samples."""
