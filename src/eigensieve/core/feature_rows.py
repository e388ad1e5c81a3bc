"""The rows of Q-alpha: M (features x samples), each feature centred and scaled, dense or not.

Everything that Q-alpha asks of the data are products with thin matrices, so M itself need not
exist: a memory-mapped table is read block by block, a sparse one (`sparse_rows`) is centred on
paper only. ``X`` is always samples x features, M its transpose after the scaling.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from tempfile import TemporaryFile

import numpy as np

from .feature_blocks import feature_slices
from .feature_scaling import Scaling


class FeatureRows(ABC):
    """M by blocks of features; what a kind of table can do faster, it does itself.

    Attributes
    ----------
    n_features, n_samples : the shape of M
    dtype : float32 or float64
    is_sparse : whether most of M exists on paper only
    """

    n_features: int
    n_samples: int
    dtype: np.dtype
    is_sparse = False

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

    def affinity(self, weights: np.ndarray) -> np.ndarray:
        """A_w = M' diag(w) M (q, q)."""
        out = np.zeros((self.n_samples, self.n_samples), dtype=self.dtype)
        for where, rows in self.blocks():
            out += (rows * weights[where, None]).T @ rows
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

    def times(self, B: np.ndarray) -> np.ndarray:
        return self.data.T @ B

    def times_transposed(self, W: np.ndarray) -> np.ndarray:
        return self.data @ W


class MappedRows(FeatureRows):
    """M of a table that stays on disk: each block is read, scaled, used and forgotten."""

    def __init__(
        self, X: np.ndarray, scaling: Scaling, samples: np.ndarray | slice = np.s_[:]
    ) -> None:
        self.X, self.scaling, self.samples = X, scaling, samples
        self.n_samples = X[samples, :1].shape[0]
        self.n_features = X.shape[1]
        self.dtype = scaling.dtype

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for where in feature_slices(self.n_features, self.X.shape[0]):
            yield where, self.scaling.apply(self.X[:, where], where)[self.samples].T

    def of_samples(self, samples: np.ndarray) -> MappedRows:
        chosen = np.arange(self.X.shape[0])[self.samples][samples]
        return MappedRows(self.X, self.scaling, chosen)

    def permuted(self, seed: int) -> MappedRows:
        """On disk, too: a nameless file that is gone with the rows."""
        with TemporaryFile() as file:
            data = np.memmap(file, self.dtype, "w+", shape=(self.n_samples, self.n_features))
        scaled = Scaling.identity(self.n_features, self.dtype)
        return MappedRows(self._permute_into(data, seed), scaled)


class StackedRows(FeatureRows):
    """Several sets of features of the same samples as one."""

    def __init__(self, parts: Sequence[FeatureRows]) -> None:
        self.parts = parts
        self.ends = np.cumsum([part.n_features for part in parts])
        self.n_features = int(self.ends[-1])
        self.n_samples, self.dtype = parts[0].n_samples, parts[0].dtype

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

    def times(self, B: np.ndarray) -> np.ndarray:
        return np.concatenate([part.times(B) for part in self.parts])

    def times_transposed(self, W: np.ndarray) -> np.ndarray:
        pieces = np.split(W, self.ends[:-1])
        return np.sum([p.times_transposed(w) for p, w in zip(self.parts, pieces)], axis=0)
