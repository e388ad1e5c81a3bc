"""Columns of a factor some at a time: how far a pass over all of them needs to go at once."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...pencil.row_factor import RowFactor, feature_slices
from .device_rows import DeviceRows
from .streamed_rows import StreamedRows

# So few columns of a table are read by themselves; more come by in a pass over all of them.
MAX_SINGLE_COLUMNS = 64


def column_parts(rows: RowFactor) -> Iterator[tuple[slice, np.ndarray | RowFactor]]:
    """All columns in turn, as arrays or (sparse) factors that are small: one pass."""
    if isinstance(rows, StreamedRows):
        yield from rows.column_blocks()
        return
    for where in feature_slices(rows.shape[1], rows.shape[0]):
        if isinstance(rows, DeviceRows):
            yield where, DeviceRows(rows.array[:, where])
        else:
            yield where, rows.take(np.arange(where.start, where.stop))


def gather_columns(rows: np.ndarray | RowFactor, index: np.ndarray) -> np.ndarray:
    """Some columns (m, t), in ascending order, dense: in one pass if they are many."""
    if isinstance(rows, StreamedRows) and index.size > MAX_SINGLE_COLUMNS:
        few = rows.narrowed(index)
        return np.concatenate([block for _, block in few.column_blocks()], axis=1)
    return rows[:, index]


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """Ascending indices of the largest values; of equal ones the first."""
    if values.size <= count:
        return np.arange(values.size)
    least = np.partition(values, values.size - count)[values.size - count]
    above = np.flatnonzero(values > least)
    ties = np.flatnonzero(values == least)[: count - above.size]
    return np.union1d(above, ties)
