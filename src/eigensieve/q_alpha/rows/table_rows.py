"""The rows of Q-alpha of a table on disk (or on a cluster): read, scaled, used and forgotten.

Each method is one pass over blocks of features. What has a row per feature (the weights, U) is in
memory: some numbers per feature, however many samples there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from tempfile import TemporaryFile

import numpy as np

from ...tables.kinds.big_table import BigTable
from ...tables.kinds.opening import as_big_table
from ..scaling import Scaling
from .class_rows import ClassRows
from .feature_rows import FeatureRows


class TableRows(FeatureRows):
    """M of a `BigTable` (samples, features), or of some of its samples."""

    is_remote = True

    def __init__(
        self, table: BigTable, scaling: Scaling, samples: np.ndarray | slice = np.s_[:]
    ) -> None:
        self.table, self.scaling, self.samples = table, scaling, samples
        self.n_samples = np.arange(table.shape[0])[samples].size
        self.n_features = table.shape[1]
        self.dtype = scaling.dtype

    def blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for where, columns in self.table.column_blocks():
            yield where, self.scaling.apply(columns, where)[self.samples].T

    def of_samples(self, samples: np.ndarray) -> TableRows:
        chosen = np.arange(self.table.shape[0])[self.samples][samples]
        return TableRows(self.table, self.scaling, chosen)

    def split(self, members: list[np.ndarray]) -> ClassRows:
        return TableClassRows(self, members)

    def permuted(self, seed: int) -> TableRows:
        """On disk, too: a nameless file that is gone with the rows."""
        with TemporaryFile() as file:
            data = np.memmap(file, self.dtype, "w+", shape=(self.n_samples, self.n_features))
        self._permute_into(data, seed)
        data.flush()
        table = as_big_table(data)
        assert table is not None
        return TableRows(table, Scaling.identity(self.n_features, self.dtype))

    def push(self, U: np.ndarray, Z: np.ndarray) -> np.ndarray:
        y = np.empty(self.n_features, dtype=self.dtype)
        for where, rows in self.blocks():
            y[where] = self.row_products(U[where], rows @ Z)
        return y

    def pull(self, x: np.ndarray, U: np.ndarray) -> np.ndarray:
        pulled = np.zeros((self.n_samples, U.shape[1]), dtype=self.dtype)
        for where, rows in self.blocks():
            pulled += rows.T @ (x[where, None] * U[where])
        return pulled

    def push_and_pull(self, U: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = np.empty(self.n_features, dtype=self.dtype)
        pulled = np.zeros((self.n_samples, U.shape[1]), dtype=self.dtype)
        for where, rows in self.blocks():
            y[where] = self.row_products(U[where], rows @ Z)
            pulled += rows.T @ (y[where, None] * U[where])
        return y, pulled

    def times_and_pull(self, B: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        U = np.empty((self.n_features, B.shape[1]), dtype=self.dtype)
        pulled = np.zeros((self.n_samples, B.shape[1]), dtype=self.dtype)
        for where, rows in self.blocks():
            U[where] = rows @ B
            pulled += rows.T @ (x[where, None] * U[where])
        return U, pulled


class TableClassRows(ClassRows):
    """The samples of each class of a table: all classes in one pass."""

    def _blocks(self) -> Iterator[tuple[slice, list[np.ndarray]]]:
        for where, rows in self.rows.blocks():
            yield where, [rows[:, samples] for samples in self.members]

    def times(self, B: list[np.ndarray]) -> list[np.ndarray]:
        n = self.rows.n_features
        out = [np.empty((n, b.shape[1]), dtype=self.rows.dtype) for b in B]
        for where, classes in self._blocks():
            for g, rows in enumerate(classes):
                out[g][where] = rows @ B[g]
        return out

    def pull(self, x: np.ndarray, U: list[np.ndarray]) -> list[np.ndarray]:
        out = [np.zeros((q, u.shape[1]), dtype=self.rows.dtype) for q, u in zip(self.sizes, U)]
        for where, classes in self._blocks():
            for g, rows in enumerate(classes):
                out[g] += rows.T @ (x[where, None] * U[g][where])
        return out

    def push(self, U: list[np.ndarray], Z: list[np.ndarray]) -> np.ndarray:
        y = np.zeros(self.rows.n_features, dtype=self.rows.dtype)
        for where, classes in self._blocks():
            for u, rows, z in zip(U, classes, Z):
                y[where] += self.rows.row_products(u[where], rows @ z)
        return y
