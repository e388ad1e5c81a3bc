"""Factors that are products with the samples, and are computed as those are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..pencil.row_factor import FEATURE_ENTRIES, RowFactor
from ..tables.copies import unify_copies
from ..tables.kinds.arrays import to_numpy
from ..tables.kinds.big_table import BigTable, equal_blocks
from ..tables.operators.column_passes import column_parts, gather_columns


class SpannedRows(RowFactor):
    """A'R (g, p), for samples R (n, p) that are read, and A (n, g)."""

    def __init__(self, A: np.ndarray, samples: RowFactor) -> None:
        self.A, self.samples = A, samples
        self.shape = (A.shape[1], samples.shape[1])

    def columns(self, index: np.ndarray) -> np.ndarray:
        order = np.unique(index, return_inverse=True)
        return self.span(gather_columns(self.samples, order[0]))[:, order[1]]

    def span(self, samples: np.ndarray) -> np.ndarray:
        """Columns of A'R from those of R; copies stay copies to the last digit."""
        rows = self.A.T @ samples
        unify_copies(rows, samples)
        return rows

    def rmatmat(self, V: np.ndarray) -> np.ndarray:
        return self.samples.T @ (self.A @ V)

    def matmat(self, X: np.ndarray) -> np.ndarray:
        return np.asarray(self.A.T @ self.samples.matmat(X))

    def squares(self) -> np.ndarray:
        parts = (np.square(part.T @ self.A).sum(axis=1) for _, part in column_parts(self.samples))
        return np.concatenate(list(parts))

    def gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        return np.asarray(self.A.T @ self.samples.gram(weights) @ self.A)

    def scaled(self, scale: np.ndarray) -> SpannedRows:
        return SpannedRows(self.A, self.samples.scaled(scale))

    def take(self, index: np.ndarray) -> SpannedRows | np.ndarray:
        part = self.samples.take(index)
        return self.span(part) if isinstance(part, np.ndarray) else SpannedRows(self.A, part)


class Scores:
    """Xc M (n, g) of a tall table, by blocks of rows; for products with thin matrices.

    Parameters
    ----------
    data : BigTable, scipy.sparse matrix or device array (n, p)
    mean : array (p,)
    M : array (p, g)
    """

    def __init__(self, data: Any, mean: np.ndarray, M: np.ndarray) -> None:
        self.data, self.mean, self.M = data, mean, M
        self.shape = (data.shape[0], M.shape[1])

    def __len__(self) -> int:
        return int(self.shape[0])

    def __matmul__(self, B: np.ndarray) -> np.ndarray:
        small = self.M @ B
        return np.concatenate([rows @ small for rows in centred_blocks(self.data, self.mean)])

    def __truediv__(self, scale: np.ndarray) -> Scores:
        return Scores(self.data, self.mean, self.M / scale)


def centred_blocks(data: Any, mean: np.ndarray) -> Iterator[np.ndarray]:
    """The rows of a tall table less their mean, some at a time: one pass."""
    if isinstance(data, BigTable):
        for _, block in data.row_blocks():
            yield block - mean
        return
    source = data.tocsr() if sparse.issparse(data) else data
    n, p = data.shape
    for where in equal_blocks(n, max(1, FEATURE_ENTRIES // p)):
        part = source[where, :]
        yield (part.toarray() if sparse.issparse(part) else to_numpy(part)) - mean
