"""The rows of Q-alpha of a sparse table: centred and scaled on paper, never filled in.

m_i = a_i x_i + b_i 1: a product with M is one with the sparse table and one with the vector of
ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .feature_rows import FeatureRows, feature_slices
from .feature_scaling import Scaling


class SparseRows(FeatureRows):
    """M of a sparse table (samples, features)."""

    def __init__(self, X: Any, a: np.ndarray, b: np.ndarray) -> None:
        self.X, self.a, self.b = X, a, b
        self.n_samples, self.n_features = X.shape
        self.dtype = X.dtype

    @classmethod
    def from_scaling(cls, X: Any, scaling: Scaling) -> SparseRows:
        """The table as it is, with the affine map beside it."""
        a = scaling.factor
        b = scaling.lift - a * scaling.shift
        table = sparse.csr_array(X, dtype=scaling.dtype)
        return cls(table, a.astype(scaling.dtype), b.astype(scaling.dtype))

    @property
    def n_entries(self) -> int:
        return int(self.X.nnz) + self.n_features

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        by_feature = self.X.tocsc()
        for where in feature_slices(self.n_features, self.n_samples):
            rows = by_feature[:, where].T.toarray()
            yield where, rows * self.a[where, None] + self.b[where, None]

    def of_samples(self, samples: np.ndarray) -> SparseRows:
        return SparseRows(self.X[samples], self.a, self.b)

    def permuted(self, seed: int) -> SparseRows:
        rng = np.random.default_rng(seed)
        X = self.X.tocsc(copy=True)
        for i in np.flatnonzero(np.diff(X.indptr)).tolist():
            first, last = X.indptr[i], X.indptr[i + 1]
            X.indices[first:last] = rng.choice(self.n_samples, last - first, replace=False)
        return SparseRows(X.tocsr(), self.a, self.b)

    def times(self, B: np.ndarray) -> np.ndarray:
        return self.a[:, None] * (self.X.T @ B) + np.outer(self.b, B.sum(axis=0))

    def times_transposed(self, W: np.ndarray) -> np.ndarray:
        return self.X @ (self.a[:, None] * W) + self.b @ W

    def affinity(self, weights: np.ndarray) -> np.ndarray:
        crossed = self.X @ (weights * self.a * self.b)
        inner = (self.X.multiply(self.a**2 * weights) @ self.X.T).toarray()
        return inner + crossed + crossed[:, None] + weights @ self.b**2

    def quadratic_forms(self, A: np.ndarray) -> np.ndarray:
        inner = np.empty(self.n_features, dtype=self.dtype)
        by_feature = self.X.tocsc()
        for where in feature_slices(self.n_features, self.n_samples):
            rows = by_feature[:, where].T.tocsr()
            inner[where] = rows.multiply(rows @ A).sum(axis=1)
        crossed = self.X.T @ (A.sum(axis=0) + A.sum(axis=1))
        return self.a**2 * inner + self.a * self.b * crossed + self.b**2 * A.sum()

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        ends = [getattr(self.X, end)(axis=0).toarray().ravel() for end in ("min", "max")]
        least, most = (self.a * end + self.b for end in ends)
        return least, most

    def gram(self) -> np.ndarray:
        inner = (self.X.T @ self.X).toarray() * np.outer(self.a, self.a)
        crossed = np.outer(self.a * self.X.sum(axis=0), self.b)
        return inner + crossed + crossed.T + self.n_samples * np.outer(self.b, self.b)
