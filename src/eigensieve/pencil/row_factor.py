"""Rows (m, p) of which no dense array exists: sparse and centred on paper, or on disk.

A `FactorPencil` asks little of its factors: some columns, products with thin matrices, the sums of
squares. A `RowFactor` gives these, and looks like an array where it does, so that the pencil need
not know: ``R[:, index]``, ``R.T @ V``, ``V @ R``, ``R @ x``, ``R * scale``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from .feature_blocks import feature_slices


class RowFactor(ABC):
    """A matrix (m, p) by its products.

    Attributes
    ----------
    shape : (m, p)
    """

    shape: tuple[int, int]
    ndim = 2
    # ``array @ factor`` is ours to answer: numpy must not try
    __array_ufunc__ = None

    # -- what a kind of rows must be able to do -------------------------------------

    @abstractmethod
    def columns(self, index: np.ndarray) -> np.ndarray:
        """Some columns (m, t), dense, in the order given."""

    @abstractmethod
    def pull(self, V: np.ndarray) -> np.ndarray:
        """R'V (p, t), for V (m, t)."""

    @abstractmethod
    def push(self, X: np.ndarray) -> np.ndarray:
        """R X (m, t), for X (p, t)."""

    @abstractmethod
    def squares(self) -> np.ndarray:
        """The sum of squares of every column, (p,)."""

    @abstractmethod
    def gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        """R diag(weights) R' (m, m); the weights are 1 by default."""

    @abstractmethod
    def scaled(self, scale: np.ndarray) -> RowFactor:
        """R diag(scale)."""

    @abstractmethod
    def take(self, index: np.ndarray) -> RowFactor | np.ndarray:
        """Some columns as a factor, or dense if they are few."""

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

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """All columns, dense, some at a time."""
        for where in feature_slices(self.shape[1], self.shape[0]):
            yield where, self[:, where]

    def __matmul__(self, X: np.ndarray) -> np.ndarray:
        return self.push(X[:, None])[:, 0] if X.ndim == 1 else self.push(X)

    def __rmatmul__(self, V: np.ndarray) -> np.ndarray:
        return self.pull(V[:, None])[:, 0] if V.ndim == 1 else self.pull(V.T).T

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
        return self.T.pull(V[:, None])[:, 0] if V.ndim == 1 else self.T.pull(V)

    def __rmatmul__(self, X: np.ndarray) -> np.ndarray:
        return self.T.push(X[:, None])[:, 0] if X.ndim == 1 else self.T.push(X.T).T


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
