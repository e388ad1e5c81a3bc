"""Some rows and some columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .big_table import BigTable
from .opening import as_big_table


def select(matrix: Any, rows: np.ndarray | None, columns: np.ndarray) -> Any:
    """Some rows (a mask; None for all) and columns (sorted indices); on disk, nothing is read."""
    every_row = rows is None or bool(rows.all())
    every_column = columns.size == matrix.shape[1]
    if every_row and every_column:
        return matrix
    big = as_big_table(matrix)
    if big is not None:
        chosen = np.arange(matrix.shape[0]) if rows is None else np.flatnonzero(rows)
        return SelectedTable(big, chosen, columns)
    part = matrix if rows is None else matrix[np.flatnonzero(rows)]
    return part if every_column else part[:, columns]


class SelectedTable(BigTable):
    """A table as if it had these rows and these columns only.

    Parameters
    ----------
    table : BigTable
    rows, columns : sorted indices of what is seen of it
    """

    def __init__(self, table: BigTable, rows: np.ndarray, columns: np.ndarray) -> None:
        self.table, self.rows, self.selected = table, rows, columns
        self.kind, self.loading = table.kind, table.loading
        self.shape, self.dtype = (len(rows), len(columns)), table.dtype
        self.names = None if table.names is None else table.names[columns]

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        wanted = self.rows[rows]
        if wanted.size == 0:
            return np.empty((0, len(self.selected[columns])), dtype=self.dtype)
        # all that lies between the first and the last row: files are read in spans, not in rows
        span = slice(int(wanted[0]), int(wanted[-1]) + 1)
        return self.table.read(span, _as_slice(self.selected[columns]))[wanted - span.start]

    def row_cuts(self) -> list[int] | None:
        return _cuts_of(self.rows, self.table.row_cuts())

    def column_cuts(self) -> list[int] | None:
        return _cuts_of(self.selected, self.table.column_cuts())


def _cuts_of(places: np.ndarray, cuts: Sequence[int] | None) -> list[int] | None:
    """Where the pieces of the table begin and end among those that are seen."""
    return None if cuts is None else np.unique(np.searchsorted(places, cuts)).tolist()


def _as_slice(columns: np.ndarray) -> slice | np.ndarray:
    """Neighbours as a slice, which is quicker to read."""
    if columns.size and columns[-1] - columns[0] == columns.size - 1:
        return slice(int(columns[0]), int(columns[-1]) + 1)
    return columns
