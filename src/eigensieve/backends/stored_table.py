"""Tables in chunked files: zarr arrays and HDF5 data sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from .tables import BigTable, check_numeric


class StoredTable(BigTable):
    """An array on disk that gives numpy arrays when it is sliced, stored in chunks."""

    def __init__(self, array: Any, kind: str) -> None:
        self.kind = kind
        check_numeric(array.shape, array.dtype, kind)
        self.array = array
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype)
        self.chunks = array.chunks  # None: HDF5 may store it in one piece

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        if isinstance(columns, slice):
            return np.asarray(self.array[rows, columns])
        return np.column_stack([self._run(rows, run) for run in _runs(columns)])

    def _run(self, rows: slice, columns: np.ndarray) -> np.ndarray:
        """Columns that lie near each other: what is between them is read, and dropped."""
        first = int(columns[0])
        part = np.asarray(self.array[rows, first : int(columns[-1]) + 1])
        return part[:, columns - first]

    def row_cuts(self) -> list[int] | None:
        return self._cuts(0)

    def column_cuts(self) -> list[int] | None:
        return self._cuts(1)

    def _cuts(self, axis: int) -> list[int] | None:
        if self.chunks is None:
            return None
        return [*range(0, self.shape[axis], self.chunks[axis]), self.shape[axis]]


def _runs(columns: np.ndarray, near: int = 64) -> list[np.ndarray]:
    """Sorted indices, parted where there is much between them or they are many."""
    far = np.flatnonzero(np.diff(columns) > near) + 1
    return np.split(columns, far)


def open_zarr(array: Any) -> BigTable:
    """A zarr array."""
    return StoredTable(array, "a zarr array")


def open_hdf5(data: Any) -> BigTable:
    """An HDF5 data set, as h5py gives it."""
    return StoredTable(data, "an HDF5 data set")
