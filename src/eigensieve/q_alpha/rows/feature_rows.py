"""The rows of Q-alpha: M (features x samples), each feature centred and scaled, dense or not.

Everything that Q-alpha asks of the data are products with thin matrices, so M itself need not
exist: a table on disk is read block by block (`table_rows`), a sparse one (`sparse_rows`) is
centred on paper only, that of a GPU stays there (`device_rows`). ``X`` is always samples x
features, M its transpose after the scaling.

What has a row per feature lies where the data are; what has a row per sample is small, and always
a numpy array.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...pencil.feature_blocks import feature_slices
from .class_rows import ClassRows


class FeatureRows(ABC):
    """M by blocks of features; what a kind of table can do faster, it does itself.

    Attributes
    ----------
    n_features, n_samples : the shape of M
    dtype : float32 or float64
    is_sparse : whether most of M exists on paper only
    is_remote : whether a pass over M is dear beside everything that the host does
    can_permute : whether the samples of a feature are at hand, to be permuted
    """

    n_features: int
    n_samples: int
    dtype: np.dtype
    is_sparse = False
    is_remote = False
    can_permute = True

    @property
    def n_entries(self) -> int:
        """What one product with a vector costs."""
        return self.n_features * self.n_samples

    @abstractmethod
    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Some features and their rows of M (b, q), in turn."""

    @abstractmethod
    def of_samples(self, samples: np.ndarray) -> FeatureRows:
        """The same rows, of some samples only: not scaled again."""

    def split(self, members: list[np.ndarray]) -> ClassRows:
        """The samples of each class as rows of their own."""
        return ClassRows(self, members)

    def permuted(self, seed: int) -> FeatureRows:
        """Each feature with its samples in an order of its own: noise with the same values."""
        data = np.empty((self.n_samples, self.n_features), dtype=self.dtype)
        return DenseRows(self._permute_into(data, seed))

    def _permute_into(self, data: np.ndarray, seed: int) -> np.ndarray:
        """Fill M' (q, n); the order of a feature does not depend on the blocks."""
        rng = np.random.default_rng(seed)
        for where, rows in self.blocks():
            data[:, where] = rng.permuted(rows, axis=1).T
        return data

    def beside(self, other: FeatureRows) -> FeatureRows:
        """These features and others of the same samples."""
        return StackedRows([self, other])

    def reduced(self) -> FeatureRows:
        """Rows with the same inner products and fewer samples, if that is to be had."""
        return self

    def express(self, basis: np.ndarray) -> np.ndarray:
        """A basis (q, k) in terms of the samples of the table, where these rows have others."""
        return basis

    def equal_weights(self) -> Any:
        """Weights (n,) of unit norm."""
        return np.full(self.n_features, 1.0 / np.sqrt(self.n_features), dtype=self.dtype)

    def place(self, W: np.ndarray) -> Any:
        """An array with a row per feature, brought to where the data are."""
        return W

    def join(self, parts: Sequence[Any]) -> Any:
        """Matrices with a row per feature, side by side."""
        return np.hstack(parts)

    def row_products(self, U: Any, V: Any) -> Any:
        """u_i'v_i for every feature."""
        return np.einsum("ij,ij->i", U, V)

    def push(self, U: Any, Z: np.ndarray) -> Any:
        """The row sums of U * MZ."""
        return self.row_products(U, self.times(Z))

    def push_and_pull(self, U: Any, Z: np.ndarray) -> tuple[Any, np.ndarray]:
        """Those row sums y, and M'(y U): one pass where a pass is dear."""
        y = self.push(U, Z)
        return y, self.pull(y, U)

    def pull(self, x: Any, U: Any) -> np.ndarray:
        """M'(x U)."""
        return self.times_transposed(x[:, None] * U)

    def times_and_pull(self, B: np.ndarray, x: Any) -> tuple[Any, np.ndarray]:
        """U = M B and M'(x U): one pass where a pass is dear."""
        U = self.times(B)
        return U, self.pull(x, U)

    def times(self, B: np.ndarray) -> np.ndarray:
        """M B (n, k)."""
        out = np.empty((self.n_features, B.shape[1]), dtype=self.dtype)
        for where, rows in self.blocks():
            out[where] = rows @ B
        return out

    def times_transposed(self, W: np.ndarray) -> np.ndarray:
        """M'W (q, k)."""
        out = np.zeros((self.n_samples, W.shape[1]), dtype=self.dtype)
        for where, rows in self.blocks():
            out += rows.T @ W[where]
        return out

    def affinity(self, weights: Any = None) -> np.ndarray:
        """A_w = M' diag(w) M (q, q); equal weights 1 by default."""
        out = np.zeros((self.n_samples, self.n_samples), dtype=self.dtype)
        for where, rows in self.blocks():
            out += (rows if weights is None else rows * weights[where, None]).T @ rows
        return out

    def quadratic_forms(self, A: np.ndarray) -> np.ndarray:
        """m_i'A m_i for every feature."""
        out = np.empty(self.n_features, dtype=self.dtype)
        for where, rows in self.blocks():
            out[where] = np.einsum("ij,ij->i", rows, rows @ A)
        return out

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest entry of every feature."""
        found = [(rows.min(axis=1), rows.max(axis=1)) for _, rows in self.blocks()]
        least, most = zip(*found)
        return np.concatenate(least), np.concatenate(most)

    def gram(self) -> np.ndarray:
        """MM' (n, n): only for kernels, which need it anyway."""
        out = np.empty((self.n_features, self.n_features), dtype=self.dtype)
        for where, rows in self.blocks():
            out[:, where] = self.times(np.ascontiguousarray(rows.T))
        return out

    def select(self, features: np.ndarray) -> np.ndarray:
        """The rows of some features (b, q), as an array."""
        picks = np.zeros((self.n_features, features.size), dtype=self.dtype)
        picks[features, np.arange(features.size)] = 1.0
        return self.times_transposed(picks).T


class DenseRows(FeatureRows):
    """M in memory; ``data`` is M' (q, n), already scaled."""

    def __init__(self, data: np.ndarray) -> None:
        self.data = data
        self.n_samples, self.n_features = data.shape
        self.dtype = data.dtype

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for where in feature_slices(self.n_features, self.n_samples):
            yield where, self.data[:, where].T

    def of_samples(self, samples: np.ndarray) -> DenseRows:
        return DenseRows(self.data[samples])

    def reduced(self) -> DenseRows:
        """Only inner products of features count: n coordinates of their span suffice."""
        if self.n_samples <= self.n_features:
            return self
        return RotatedRows(*np.linalg.qr(self.data))

    def times(self, B: np.ndarray) -> np.ndarray:
        return self.data.T @ B

    def times_transposed(self, W: np.ndarray) -> np.ndarray:
        return self.data @ W


class RotatedRows(DenseRows):
    """M = RQ' with few rows in R' (n, n): a basis is brought back by Q (q, n)."""

    def __init__(self, rotation: np.ndarray, data: np.ndarray) -> None:
        super().__init__(data)
        self.rotation = rotation

    def express(self, basis: np.ndarray) -> np.ndarray:
        return self.rotation @ basis


class StackedRows(FeatureRows):
    """Several sets of features of the same samples as one."""

    def __init__(self, parts: Sequence[FeatureRows]) -> None:
        self.parts = parts
        self.ends = np.cumsum([part.n_features for part in parts])
        self.n_features = int(self.ends[-1])
        self.n_samples, self.dtype = parts[0].n_samples, parts[0].dtype
        self.is_remote = any(part.is_remote for part in parts)

    @property
    def n_entries(self) -> int:
        return sum(part.n_entries for part in self.parts)

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for part, end in zip(self.parts, self.ends.tolist()):
            first = end - part.n_features
            for where, rows in part.blocks():
                yield slice(first + where.start, first + where.stop), rows

    def of_samples(self, samples: np.ndarray) -> StackedRows:
        return StackedRows([part.of_samples(samples) for part in self.parts])

    def _pieces(self, W: np.ndarray) -> list[np.ndarray]:
        return np.split(W, self.ends[:-1])

    def times(self, B: np.ndarray) -> np.ndarray:
        return np.concatenate([part.times(B) for part in self.parts])

    def times_transposed(self, W: np.ndarray) -> np.ndarray:
        pieces = zip(self.parts, self._pieces(W))
        return np.sum([part.times_transposed(w) for part, w in pieces], axis=0)

    def push_and_pull(self, U: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pieces = zip(self.parts, self._pieces(U))
        y, pulled = zip(*[part.push_and_pull(u, Z) for part, u in pieces])
        return np.concatenate(y), np.sum(pulled, axis=0)

    def times_and_pull(self, B: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        pieces = zip(self.parts, self._pieces(x))
        U, pulled = zip(*[part.times_and_pull(B, w) for part, w in pieces])
        return np.concatenate(U), np.sum(pulled, axis=0)
