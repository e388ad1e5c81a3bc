"""Rows (m, p) of which no array is at hand: sparse and centred on paper, on disk, on a device.

A `FactorPencil` asks little of its factors: some columns, products with thin matrices, the sums of
squares. A `RowFactor` gives these, and looks like an array where it does, so that the pencil need
not know: ``R[:, index]``, ``R.T @ V``, ``V @ R``, ``R @ x``, ``R * scale``. The kinds of tables are
in tables/operators.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

FEATURE_ENTRIES = 2_000_000  # 16 MB of float64
DEVICE_ENTRIES = 2**27  # 1 GB of float64: a device has the memory, and is slow to call
SMALL_ENTRIES = 2**22  # 32 MB of float64: of a table on disk, as well in memory


def is_small(n: int, p: int) -> bool:
    """Whether a table of so many rows and columns is read as a whole if it is on disk."""
    return n * p <= SMALL_ENTRIES


class RowFactor(ABC):
    """A matrix (m, p) by its products, named as scipy's LinearOperator names them.

    Attributes
    ----------
    shape : (m, p)
    dtype : float64, or float32
    """

    shape: tuple[int, int]
    dtype: np.dtype = np.dtype(np.float64)
    ndim = 2
    # ``array @ factor`` is ours to answer: numpy must not try
    __array_ufunc__ = None

    # -- what a kind of rows must be able to do -------------------------------------

    @abstractmethod
    def columns(self, index: np.ndarray) -> np.ndarray:
        """Some columns (m, t), dense, in the order given."""

    @abstractmethod
    def scaled(self, scale: np.ndarray) -> RowFactor:
        """R diag(scale)."""

    def take(self, index: np.ndarray) -> RowFactor | np.ndarray:
        """Some columns: dense, or if they are many as a factor."""
        return self.columns(index)

    # -- products: by blocks of columns, where a kind has no better way -------------

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """All columns, dense, some at a time."""
        for where in feature_slices(self.shape[1], self.shape[0]):
            yield where, self[:, where]

    def matmat(self, X: Any) -> np.ndarray:
        """R X (m, t), for X (p, t)."""
        out = np.zeros((self.shape[0], X.shape[1]), dtype=self.dtype)
        for where, block in self.column_blocks():
            out += block @ X[where]
        return out

    def rmatmat(self, V: np.ndarray) -> Any:
        """R'V (p, t), for V (m, t); that of rows on a device stays there."""
        out = np.empty((self.shape[1], V.shape[1]), dtype=self.dtype)
        for where, block in self.column_blocks():
            out[where] = block.T @ V
        return out

    def fetch(self, values: Any) -> np.ndarray:
        """What lies where the rows do, brought to the host."""
        return values

    def squares(self) -> np.ndarray:
        """The sum of squares of every column, (p,)."""
        out = np.empty(self.shape[1], dtype=self.dtype)
        for where, block in self.column_blocks():
            out[where] = column_squares(block)
        return out

    def gram(self, weights: Any = None) -> np.ndarray:
        """R diag(weights) R' (m, m); the weights are 1 by default."""
        out = np.zeros((self.shape[0], self.shape[0]), dtype=self.dtype)
        for where, block in self.column_blocks():
            out += weighted_gram(block, None if weights is None else weights[where])
        return out

    def cross(self, other: Any, weights: np.ndarray) -> np.ndarray:
        """R diag(weights) Q' for other rows Q, or an array, of the same columns."""
        out = np.zeros((self.shape[0], other.shape[0]), dtype=self.dtype)
        for where, block in self.column_blocks():
            out += (block * weights[where]) @ other[:, where].T
        return out

    def quadratic_forms(self, G: np.ndarray) -> np.ndarray:
        """r_j' G r_j for every column."""
        out = np.empty(self.shape[1], dtype=self.dtype)
        for where, block in self.column_blocks():
            out[where] = np.einsum("ij,ij->j", block, G @ block)
        return out

    def inner(self) -> np.ndarray:
        """R'R (p, p)."""
        out = np.empty((self.shape[1], self.shape[1]), dtype=self.dtype)
        for where, block in self.column_blocks():
            out[:, where] = self.T @ np.ascontiguousarray(block)
        return out

    # -- how it looks like an array -------------------------------------------------

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, key: Any) -> np.ndarray:
        rows, index = key
        if rows != slice(None):
            raise TypeError("a RowFactor gives whole columns only: R[:, index]")
        if np.ndim(index) == 0 and not isinstance(index, slice):
            return self.columns(np.array([index]))[:, 0]
        if isinstance(index, slice):
            index = np.arange(*index.indices(self.shape[1]))
        chosen = np.asarray(index)
        return self.columns(np.flatnonzero(chosen) if chosen.dtype == bool else chosen)

    def __matmul__(self, X: np.ndarray) -> np.ndarray:
        return self.matmat(X[:, None])[:, 0] if X.ndim == 1 else self.matmat(X)

    def __rmatmul__(self, V: np.ndarray) -> np.ndarray:
        return (self.T @ V.T).T

    def __mul__(self, scale: np.ndarray | float) -> RowFactor:
        return self.scaled(np.broadcast_to(scale, self.shape[1]))

    __rmul__ = __mul__

    def __truediv__(self, scale: np.ndarray | float) -> RowFactor:
        return self.scaled(np.broadcast_to(1.0 / np.asarray(scale), self.shape[1]))

    @property
    def T(self) -> Transposed:
        """For ``R.T @ V``."""
        return Transposed(self)


class Transposed:
    """R' of a `RowFactor`, for products only."""

    __array_ufunc__ = None

    def __init__(self, factor: RowFactor) -> None:
        self.T = factor
        self.shape = factor.shape[::-1]

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        R = self.T
        return R.fetch(R.rmatmat(V[:, None])[:, 0] if V.ndim == 1 else R.rmatmat(V))

    def __rmatmul__(self, X: np.ndarray) -> np.ndarray:
        return (self.T @ X.T).T


class TurnedRows(RowFactor):
    """The rows T R, for an array T (m, r) and rows R (r, p) that are no array: turned on paper."""

    def __init__(self, T: np.ndarray, rows: RowFactor) -> None:
        self.turn, self.rows = T, rows
        self.shape = (len(T), rows.shape[1])

    def columns(self, index: np.ndarray) -> np.ndarray:
        return self.turn @ self.rows.columns(index)

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for where, block in self.rows.column_blocks():
            yield where, self.turn @ block

    def matmat(self, X: np.ndarray) -> np.ndarray:
        return self.turn @ self.rows.matmat(X)

    def rmatmat(self, V: np.ndarray) -> np.ndarray:
        return self.rows.T @ (self.turn.T @ V)

    def gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        return self.turn @ self.rows.gram(weights) @ self.turn.T

    def scaled(self, scale: np.ndarray) -> TurnedRows:
        return TurnedRows(self.turn, self.rows.scaled(scale))

    def take(self, index: np.ndarray) -> RowFactor | np.ndarray:
        return turn_rows(self.turn, self.rows.take(index))


def turn_rows(T: np.ndarray, rows: np.ndarray | RowFactor) -> np.ndarray | RowFactor:
    """T @ rows, an array if the rows are one."""
    return TurnedRows(T, rows) if isinstance(rows, RowFactor) else T @ rows


def column_squares(rows: np.ndarray | RowFactor) -> np.ndarray:
    """The sum of squares of every column, (p,)."""
    if isinstance(rows, RowFactor):
        return rows.squares()
    return np.einsum("ij,ij->j", rows, rows)


def weighted_gram(rows: np.ndarray | RowFactor, weights: np.ndarray | None = None) -> np.ndarray:
    """R diag(weights) R' (m, m)."""
    if isinstance(rows, RowFactor):
        return rows.gram(weights)
    return (rows if weights is None else rows * weights) @ rows.T


def feature_slices(n_features: int, n_samples: int, entries: int | None = None) -> Iterator[slice]:
    """Blocks of features with about so many entries (default `FEATURE_ENTRIES`) each."""
    step = max(1, (entries or FEATURE_ENTRIES) // max(1, n_samples))
    for first in range(0, n_features, step):
        yield slice(first, min(first + step, n_features))
