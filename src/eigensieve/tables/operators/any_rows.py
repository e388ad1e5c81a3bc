"""The same few operations on rows of every kind: an array, centred sparse rows, a device array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...pencil.row_factor import RowFactor, column_squares
from ..kinds.arrays import is_device_array, like, namespace, to_numpy

# Entries of a device array that are squared at a time.
SQUARED_ENTRIES = 2**24


def row_squares(rows: Any) -> np.ndarray:
    """The sum of squares of every column, (p,)."""
    if not is_device_array(rows):
        return column_squares(rows)
    xp = namespace(rows)
    total = like(np.zeros(rows.shape[1]), rows)
    step = max(1, SQUARED_ENTRIES // rows.shape[1])
    for start in range(0, rows.shape[0], step):
        part = rows[start : min(start + step, rows.shape[0]), :]
        total += xp.sum(part * part, axis=0)
    return to_numpy(total)


def row_products(rows: Any) -> np.ndarray:
    """R'R (p, p)."""
    return rows.inner() if isinstance(rows, RowFactor) else to_numpy(rows.T @ rows)


def scale_rows(rows: Any, scale: np.ndarray) -> Any:
    """diag(scale) R."""
    return rows * (like(scale, rows) if is_device_array(rows) else scale)[:, None]


def join_arrays(parts: Sequence[Any], axis: int = 0) -> Any:
    """Arrays of numpy or of a device as one, below each other or side by side."""
    if len(parts) == 1:
        return parts[0]
    xp = namespace(parts[0])
    return np.concatenate(parts, axis) if xp is np else xp.concat(list(parts), axis=axis)
