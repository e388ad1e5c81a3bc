"""Tables that count how often they are read, and data that make a greedy search look twice."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigensieve.tables.kinds.big_table import BigTable


class CountedTable(BigTable):
    """An array that is read in blocks of an odd number of columns; ``passes`` counts."""

    kind = "a counted table"

    def __init__(self, X: np.ndarray, width: int = 101) -> None:
        self.X, self.width, self.passes = X, width, 0
        self.shape, self.dtype = X.shape, X.dtype

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        return self.X[rows][:, columns]

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        self.passes += 1
        for start in range(0, self.shape[1], self.width):
            where = slice(start, min(start + self.width, self.shape[1]))
            yield where, self._checked(self.X[:, where])


def wide_data(seed: int, n: int, p: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns with common noise: many are worth nothing alone, and much beside another.

    Column 7 is constant, 50 and 300 are copies of 20.
    """
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    noise = rng.normal(size=(n, 40)) @ rng.normal(size=(40, p)) * (rng.random(p) < 0.7)
    X = noise + 0.3 * rng.normal(size=(n, p))
    X += 2 * rng.normal(size=(n_classes, p))[y] * (rng.random(p) < 0.05)
    X[:, 7] = 3.0
    X[:, 50] = X[:, 300] = X[:, 20]
    return X, y
