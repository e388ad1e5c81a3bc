"""From a table to the form that Q-alpha maximises."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .feature_kernels import FeatureKernel, check_kernel_matrix, is_zero
from .feature_rows import DenseRows, FeatureRows, MappedRows
from .feature_scaling import find_scaling
from .kernel_relevance import KernelRelevance
from .laplacian_relevance import Laplacian
from .qalpha_options import QAlphaOptions
from .relevance import Basic, Family, Gap, Standard
from .ritz_relevance import Ritz
from .sparse_rows import SparseRows
from .supervised_relevance import Supervised

BY_VARIANT: dict[str, Callable[[FeatureRows, int], Family]] = {
    "standard": Standard,
    "basic": Basic,
    "gap": Gap,
    "ritz": Ritz,
    "laplacian": Laplacian,
}


def make_rows(X: Any, options: QAlphaOptions) -> FeatureRows:
    """M of a table (samples, features): dense, sparse, or on disk."""
    if sparse.issparse(X):
        X = sparse.csc_array(X)
        if not X.has_canonical_format:  # an entry stored in two parts would be counted twice
            X = X.copy()
            X.sum_duplicates()
    scaling = find_scaling(
        X, center=options.is_centred, scale=bool(options.scale), offset=options.shift
    )
    if sparse.issparse(X):
        return SparseRows.from_scaling(X, scaling)
    if is_mapped(X):
        return MappedRows(X, scaling)
    return DenseRows(scaling.apply(X))


def is_mapped(X: np.ndarray) -> bool:
    """Whether the numbers are those of a file that numpy has mapped."""
    base: Any = X
    while base is not None:
        if isinstance(base, np.memmap | mmap.mmap):
            return True
        base = getattr(base, "base", None)
    return False


def make_family(
    rows: FeatureRows, options: QAlphaOptions, code: np.ndarray | None, rng: np.random.Generator
) -> Family:
    """The variant on these rows; ``code`` has the class of every sample for "supervised"."""
    if options.variant == "supervised":
        assert code is not None
        return Supervised(rows, code, options.blocks)
    if options.kernel is not None:
        return _make_kernel_family(rows, options, rng)
    k = min(options.n_clusters, rows.n_samples, rows.n_features)
    return BY_VARIANT[options.variant](rows, k)


def _make_kernel_family(
    rows: FeatureRows, options: QAlphaOptions, rng: np.random.Generator
) -> Family:
    """The kernel's matrix, or fewer explicit features than it has rows."""
    kernel = FeatureKernel.of(options.kernel, options.kernel_params)
    n, q = rows.n_features, rows.n_samples
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
    return Unseen(DenseRows(data), min(options.n_clusters, len(data), n))


def check_null_fits(rows: FeatureRows, options: QAlphaOptions) -> None:
    """Raise before the search, not after it, if the permuted copies would be too many."""
    if options.kernel is not None:
        kernel = FeatureKernel.of(options.kernel, options.kernel_params)
        kernel.choose_route(2 * rows.n_features, rows.n_samples, rows.is_sparse)


class Unseen(Standard):
    """The standard form on explicit features of a kernel, whose basis is nobody's business."""

    def express(self, basis: np.ndarray) -> None:
        """Nothing, as for every kernel: the basis has no coordinates in terms of samples."""


def make_precomputed(V: Any, options: QAlphaOptions) -> Family:
    """The family of a kernel matrix that the user gives."""
    V = check_kernel_matrix(V.toarray() if sparse.issparse(V) else V)
    return KernelRelevance(V, min(options.n_clusters, len(V)))
