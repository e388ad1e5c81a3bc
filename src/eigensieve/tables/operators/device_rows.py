"""Rows on a device (torch, cupy): what has a row per feature never leaves it.

A few numbers per sample come to the host. To a pencil they are a `RowFactor` as any other, which
answers in numpy: ``R.T @ V``, ``R[:, index]``, squares, gram.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...pencil.row_factor import DEVICE_ENTRIES, RowFactor, feature_slices
from ..kinds.arrays import is_device_array, like, namespace, to_numpy
from .any_rows import row_squares
from .scaling import working_dtype
from .table_rows import ArrayRows

# Features of which a product is summed up by itself.
PIECE = 100_000


class DeviceRows(ArrayRows):
    """Rows (m, p) on a device; ``array`` is what lies there.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve.tables.operators.device_rows import DeviceRows
    >>> rows = DeviceRows(np.arange(6.0).reshape(2, 3))  # numpy counts as a device of its own
    >>> rows.squares().tolist()
    [9.0, 17.0, 29.0]
    """

    is_remote = True

    def __init__(self, array: Any, rotation: Any = None) -> None:
        super().__init__(array, rotation)
        self.dtype = working_dtype(array)

    def place(self, values: Any) -> Any:
        return values if is_device_array(values) else like(values, self.array, self.dtype)

    def fetch(self, values: Any) -> np.ndarray:
        return to_numpy(values)

    def array_blocks(self) -> Iterator[tuple[slice, Any]]:
        for where in feature_slices(self.shape[1], self.shape[0], DEVICE_ENTRIES):
            yield where, self.array[:, where]

    # a block of the device's size would be large on the host
    column_blocks = RowFactor.column_blocks

    def columns(self, index: np.ndarray) -> np.ndarray:
        return to_numpy(take_columns(self.array, index))

    def matmat(self, X: Any) -> np.ndarray:
        """In pieces side by side: one sum over millions of features uses little of a device."""
        xp, W = namespace(self.array), self.place(X)
        (m, p), k = self.shape, W.shape[1]
        count = p // PIECE
        whole = count * PIECE
        total = self.array[:, whole:] @ W[whole:, :]
        if count:
            rows = xp.reshape(self.array[:, :whole], (m, count, PIECE))
            columns = xp.reshape(W.T[:, :whole], (k, count, PIECE))
            parts = xp.permute_dims(columns, (1, 0, 2)) @ xp.permute_dims(rows, (1, 2, 0))
            total = total + xp.sum(parts, axis=0).T
        return to_numpy(total)

    def rmatmat(self, V: np.ndarray) -> Any:
        # the columns of the result in one piece each, as `matmat` likes them
        return (self.place(V).T @ self.array).T

    def squares(self) -> np.ndarray:
        return row_squares(self.array)

    def gram(self, weights: Any = None) -> np.ndarray:
        if weights is None:
            return to_numpy(self.array @ self.array.T)
        there = self.place(weights)
        parts = ((block * there[where]) @ block.T for where, block in self.array_blocks())
        return to_numpy(sum(parts))

    def scaled(self, scale: np.ndarray) -> DeviceRows:
        return DeviceRows(self.array * self.place(np.ascontiguousarray(scale)))

    def take(self, index: np.ndarray) -> DeviceRows:
        return DeviceRows(take_columns(self.array, index))

    def of_rows(self, index: np.ndarray) -> DeviceRows:
        return DeviceRows(namespace(self.array).take(self.array, like(index, self.array), axis=0))

    def permuted(self, seed: int) -> DeviceRows:
        """In the memory of the host, in the same orders as there."""
        host = ArrayRows(to_numpy(self.array))
        return DeviceRows(self.place(host.permute_into(np.empty(self.shape, self.dtype), seed)))


def take_columns(array: Any, index: np.ndarray) -> Any:
    """Some columns of a device array, on its device."""
    place = like(np.asarray(index, dtype=np.int64), array)
    return namespace(array).take(array, place, axis=1)
