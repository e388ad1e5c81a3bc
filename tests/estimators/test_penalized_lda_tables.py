"""PenalizedLDA on tables on disk: what it finds in memory, by the passes that suit the shape."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from eigensieve import PenalizedLDA
from eigensieve.tables.kinds.big_table import BigTable

SHAPES = [(90, 12), (20, 60)]


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


@pytest.mark.parametrize("shape", SHAPES)
def test_as_in_memory(shape: tuple[int, int]) -> None:
    rng, y = np.random.default_rng(0), np.arange(shape[0]) % 3
    X = rng.normal(size=shape) + 1e3
    X[:, :4] += y[:, None]
    table = Pieces(X)
    here, there = PenalizedLDA(alpha=0.1).fit(X, y), PenalizedLDA(alpha=0.1).fit(table, y)
    np.testing.assert_array_equal(there.support_, here.support_)
    np.testing.assert_allclose(there.scalings_, here.scalings_, rtol=1e-8, atol=1e-10)
    np.testing.assert_array_equal(there.predict(table), here.predict(X))


def test_a_tall_table_is_read_by_rows() -> None:
    """By columns it would be read whole, or once for every few columns."""
    X, y = np.random.default_rng(0).normal(size=SHAPES[0]), np.arange(SHAPES[0][0]) % 2
    table = Pieces(X)
    PenalizedLDA().fit(table, y)
    assert table.asked == {"rows"}
