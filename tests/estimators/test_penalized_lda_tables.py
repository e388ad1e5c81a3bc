"""PenalizedLDA reads a table on disk by the passes that suit its shape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from eigensieve import PenalizedLDA
from eigensieve.tables.kinds.big_table import BigTable


class Pieces(BigTable):
    """An array that comes in small blocks, of rows or of columns."""

    def __init__(self, X: np.ndarray) -> None:
        self.X, self.shape, self.dtype = X, X.shape, X.dtype
        self.asked: set[str] = set()

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        return self.X[rows, columns]

    def row_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        self.asked.add("rows")
        for start in range(0, self.shape[0], 7):
            yield slice(start, min(start + 7, self.shape[0])), self.X[start : start + 7]

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        self.asked.add("columns")
        for start in range(0, self.shape[1], 7):
            yield slice(start, min(start + 7, self.shape[1])), self.X[:, start : start + 7]


def test_a_tall_table_is_read_by_rows() -> None:
    """By columns it would be read whole, or once for every few columns."""
    X, y = np.random.default_rng(0).normal(size=(90, 12)), np.arange(90) % 2
    table = Pieces(X)
    PenalizedLDA().fit(table, y)
    assert table.asked == {"rows"}
