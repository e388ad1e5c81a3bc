"""The rows of Q-alpha of a sparse table: centred on paper, never filled in.

m_i = x_i + b_i 1 with x_i scaled: a product with M is one with the sparse table and one with the
vector of ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ...pencil.feature_blocks import feature_slices
from ..scaling import Scaling
from .feature_rows import FeatureRows


class SparseRows(FeatureRows):
    """M of a scaled sparse table (samples, features), and what is added to each feature."""

    is_sparse = True

    def __init__(self, X: Any, b: np.ndarray) -> None:
        # along the longer side: what a product gathers from, or scatters to, then fits the cache
        self.X = X.asformat("csc" if X.shape[1] > X.shape[0] else "csr")
        self.b = b
        self.n_samples, self.n_features = X.shape
        self.dtype = X.dtype

    @classmethod
    def from_scaling(cls, X: Any, scaling: Scaling) -> SparseRows:
        """From the table as it is, a csc_array."""
        stored = np.diff(X.indptr)
        column = np.repeat(np.arange(X.shape[1]), stored)
        # a feature without a zero is centred in full: on paper a large mean would cost digits
        shift = np.where(stored == X.shape[0], scaling.shift, 0.0)
        values = ((X.data - shift[column]) * scaling.factor[column]).astype(scaling.dtype)
        scaled = sparse.csc_array((values, X.indices, X.indptr), shape=X.shape)
        b = scaling.lift - scaling.factor * (scaling.shift - shift)
        return cls(scaled, b.astype(scaling.dtype))

    @property
    def n_entries(self) -> int:
        return int(self.X.nnz) + self.n_features

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        by_feature = self.X.tocsc()
        for where in feature_slices(self.n_features, self.n_samples):
            yield where, by_feature[:, where].T.toarray() + self.b[where, None]

    def of_samples(self, samples: np.ndarray) -> SparseRows:
        return SparseRows(self.X[samples], self.b)

    def permuted(self, seed: int) -> SparseRows:
        rng = np.random.default_rng(seed)
        X = self.X.tocsc(copy=True)
        for i in np.flatnonzero(np.diff(X.indptr)).tolist():
            first, last = X.indptr[i], X.indptr[i + 1]
            X.indices[first:last] = rng.choice(self.n_samples, last - first, replace=False)
        X.has_sorted_indices = False
        return SparseRows(X, self.b)

    def beside(self, other: FeatureRows) -> FeatureRows:
        if not isinstance(other, SparseRows):
            return super().beside(other)
        return SparseRows(sparse.hstack([self.X, other.X]), np.concatenate([self.b, other.b]))

    def times(self, B: np.ndarray) -> np.ndarray:
        out = self.X.T @ B
        out += self.b[:, None] * B.sum(axis=0)
        return out

    def times_transposed(self, W: np.ndarray) -> np.ndarray:
        return self.X @ W + self.b @ W

    def affinity(self, weights: np.ndarray | None = None) -> np.ndarray:
        if weights is None:
            weights = np.ones(self.n_features, dtype=self.dtype)
        crossed = self.X @ (weights * self.b)
        inner = (self.X.multiply(weights) @ self.X.T).toarray()
        return inner + crossed + crossed[:, None] + weights @ self.b**2

    def quadratic_forms(self, A: np.ndarray) -> np.ndarray:
        inner = np.empty(self.n_features, dtype=self.dtype)
        by_feature = self.X.tocsc()
        for where in feature_slices(self.n_features, self.n_samples):
            rows = by_feature[:, where].T.tocsr()
            inner[where] = rows.multiply(rows @ A).sum(axis=1)
        crossed = self.X.T @ (A.sum(axis=0) + A.sum(axis=1))
        return inner + self.b * crossed + self.b**2 * A.sum()

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        least, most = (getattr(self.X, end)(axis=0).toarray().ravel() for end in ("min", "max"))
        return least + self.b, most + self.b

    def gram(self) -> np.ndarray:
        crossed = np.outer(self.X.sum(axis=0), self.b)
        inner = (self.X.T @ self.X).toarray()
        return inner + crossed + crossed.T + self.n_samples * np.outer(self.b, self.b)
