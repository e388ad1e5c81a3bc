"""The rows of a table, whatever its kind: what the methods ask of them beyond a `RowFactor`.

R (m, p) has a row per sample and a column per feature. What has a row per feature lies where the
data are, perhaps on a device; what has a row per sample is small, and always a numpy array.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...pencil.row_factor import RowFactor, feature_slices
from ..kinds.arrays import namespace, to_numpy
from .any_rows import join_arrays


class TableRows(RowFactor):
    """R by its products; a new kind of table is a new subclass.

    Attributes
    ----------
    is_sparse : whether most of R exists on paper only
    is_streamed : whether every product reads the table
    is_remote : whether a product is dear beside everything that the host does
    """

    is_sparse = False
    is_streamed = False
    is_remote = False

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.shape[0]

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.shape[1]

    @property
    def n_entries(self) -> int:
        """What one product with a vector costs."""
        return self.shape[0] * self.shape[1]

    # -- other rows from these ------------------------------------------------------

    @abstractmethod
    def scaled(self, scale: np.ndarray) -> TableRows:
        """R diag(scale)."""

    @abstractmethod
    def of_rows(self, index: np.ndarray) -> TableRows:
        """Some rows, in the order given; not centred again."""

    def permuted(self, seed: int) -> TableRows:
        """Each column with its rows in an order of its own: noise with the same values."""
        return ArrayRows(self.permute_into(np.empty(self.shape, dtype=self.dtype), seed))

    def permute_into(self, data: np.ndarray, seed: int) -> np.ndarray:
        """Fill an array with that; the order of a column does not depend on the blocks."""
        rng = np.random.default_rng(seed)
        for where, block in self.column_blocks():
            data[:, where] = rng.permuted(block.T, axis=1).T
        return data

    def beside(self, other: TableRows) -> TableRows:
        """These columns and others of the same samples."""
        return StackedRows([self, other])

    def reduced(self) -> TableRows:
        """Fewer rows with the same inner products of columns, if they are to be had."""
        return self

    def express(self, basis: np.ndarray) -> np.ndarray:
        """A basis (m, k) in terms of the table's own rows, where these are `reduced`."""
        return basis

    # -- where the columns lie ------------------------------------------------------

    def place(self, values: np.ndarray) -> Any:
        """An array with a row per column, brought to where the rows lie."""
        return values

    @abstractmethod
    def array_blocks(self) -> Iterator[tuple[slice, Any]]:
        """All columns in turn, as arrays (m, b) where they lie."""

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for where, block in self.array_blocks():
            yield where, self.fetch(block)

    def pieces(self) -> Iterator[tuple[slice, TableRows]]:
        """All columns as rows of which several products may be formed: one pass over a table."""
        yield slice(0, self.shape[1]), self

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest and the largest entry of every column."""
        found = [(block.min(axis=0), block.max(axis=0)) for _, block in self.column_blocks()]
        least, most = zip(*found)
        return np.concatenate(least), np.concatenate(most)


class ArrayRows(TableRows):
    """R as an array (m, p) in memory; ``rotation`` Q if these are fewer rows in place of QR."""

    def __init__(self, array: Any, rotation: Any = None) -> None:
        self.array, self.rotation = array, rotation
        self.shape = (int(array.shape[0]), int(array.shape[1]))
        self.dtype = array.dtype

    def array_blocks(self) -> Iterator[tuple[slice, Any]]:
        for where in feature_slices(self.shape[1], self.shape[0]):
            yield where, self.array[:, where]

    def columns(self, index: np.ndarray) -> np.ndarray:
        return self.array[:, index]

    def matmat(self, X: Any) -> np.ndarray:
        return self.array @ X

    def rmatmat(self, V: np.ndarray) -> Any:
        return self.array.T @ V

    def scaled(self, scale: np.ndarray) -> ArrayRows:
        return ArrayRows(self.array * scale)

    def of_rows(self, index: np.ndarray) -> ArrayRows:
        return ArrayRows(self.array[index])

    def reduced(self) -> ArrayRows:
        """Only inner products of columns count: p coordinates of their span suffice."""
        if self.shape[0] <= self.shape[1]:
            return self
        rotation, R = namespace(self.array).linalg.qr(self.array)
        return type(self)(R, rotation)

    def express(self, basis: np.ndarray) -> np.ndarray:
        return basis if self.rotation is None else to_numpy(self.rotation @ self.place(basis))


class StackedRows(TableRows):
    """Several sets of columns of the same samples side by side; none of them is copied."""

    def __init__(self, parts: Sequence[TableRows]) -> None:
        self.parts = parts
        self.ends = np.cumsum([part.shape[1] for part in parts]).tolist()
        self.shape, self.dtype = (parts[0].shape[0], self.ends[-1]), parts[0].dtype
        self.is_sparse = any(part.is_sparse for part in parts)
        self.is_streamed = any(part.is_streamed for part in parts)
        self.is_remote = any(part.is_remote for part in parts)

    def _split(self, values: Any) -> Iterator[tuple[TableRows, Any]]:
        """Each part, with its share of an array that has a row per column."""
        for part, end in zip(self.parts, self.ends):
            yield part, values[end - part.shape[1] : end, ...]

    def _chain(self, blocks: str) -> Iterator[tuple[slice, Any]]:
        for part, end in zip(self.parts, self.ends):
            first = end - part.shape[1]
            for where, block in getattr(part, blocks)():
                yield slice(first + where.start, first + where.stop), block

    def array_blocks(self) -> Iterator[tuple[slice, Any]]:
        return self._chain("array_blocks")

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        return self._chain("column_blocks")

    def pieces(self) -> Iterator[tuple[slice, TableRows]]:
        return self._chain("pieces")

    @property
    def n_entries(self) -> int:
        return sum(part.n_entries for part in self.parts)

    def place(self, values: np.ndarray) -> Any:
        return self.parts[0].place(values)

    def fetch(self, values: Any) -> np.ndarray:
        return self.parts[0].fetch(values)

    def columns(self, index: np.ndarray) -> np.ndarray:
        out = np.empty((self.shape[0], index.size), dtype=self.dtype)
        for part, end in zip(self.parts, self.ends):
            local = index - (end - part.shape[1])
            mine = np.flatnonzero((local >= 0) & (index < end))
            out[:, mine] = part.columns(local[mine])
        return out

    def matmat(self, X: Any) -> np.ndarray:
        return np.sum([part.matmat(x) for part, x in self._split(X)], axis=0)

    def rmatmat(self, V: np.ndarray) -> Any:
        return join_arrays([part.rmatmat(V) for part in self.parts])

    def gram(self, weights: Any = None) -> np.ndarray:
        if weights is None:
            return np.sum([part.gram() for part in self.parts], axis=0)
        return np.sum([part.gram(w) for part, w in self._split(weights)], axis=0)

    def limits(self) -> tuple[np.ndarray, np.ndarray]:
        least, most = zip(*[part.limits() for part in self.parts])
        return np.concatenate(least), np.concatenate(most)

    def scaled(self, scale: np.ndarray) -> StackedRows:
        return StackedRows([part.scaled(s) for part, s in self._split(scale)])

    def of_rows(self, index: np.ndarray) -> StackedRows:
        return StackedRows([part.of_rows(index) for part in self.parts])
