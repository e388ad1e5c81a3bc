"""Tables in chunked files: zarr arrays and HDF5 data sets."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from .big_table import BigTable, check_numeric, count_per_block, join_pieces

# Columns of a data set without chunks that are worth one look: some pages of the file.
PIECE_COLUMNS = 512


class StoredTable(BigTable):
    """An array on disk that gives numpy arrays when it is sliced, stored in chunks."""

    loading = "X[:]"

    def __init__(self, array: Any, kind: str) -> None:
        self.kind = kind
        check_numeric(array.shape, array.dtype, kind)
        self.array = array
        self.shape, self.dtype = tuple(array.shape), np.dtype(array.dtype)
        self.chunks = array.chunks  # None: HDF5 may store it in one piece

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        if isinstance(columns, slice):
            return np.asarray(self.array[rows, columns])
        first, last, _ = rows.indices(self.shape[0])
        found = np.empty((max(0, last - first), len(columns)), dtype=self.dtype)
        done = 0
        for group in self._neighbours(columns):
            own = slice(done, done + len(group))
            span = slice(int(group[0]), int(group[-1]) + 1)
            most = count_per_block(span.stop - span.start)
            for part in join_pieces(self.row_cuts(), self.shape[0], most):
                start, stop = max(part.start, first), min(part.stop, last)
                if start < stop:
                    block = np.asarray(self.array[start:stop, span])
                    found[start - first : stop - first, own] = block[:, group - span.start]
            done = own.stop
        return found

    def _neighbours(self, columns: np.ndarray) -> list[np.ndarray]:
        """Sorted indices, parted into those that are read at once.

        They lie in one chunk or in chunks side by side, so that each chunk is read once and none
        that has no column of them.
        """
        height, width = self.chunks or (1, PIECE_COLUMNS)
        chunk = columns // width
        bunch = chunk // count_per_block(height * width)
        is_apart = (np.diff(chunk) > 1) | (np.diff(bunch) > 0)
        return np.split(columns, np.flatnonzero(is_apart) + 1)

    def row_cuts(self) -> list[int] | None:
        return self._cuts(0)

    def column_cuts(self) -> list[int] | None:
        return self._cuts(1)

    def _cuts(self, axis: int) -> list[int] | None:
        if self.chunks is None:
            return None
        return [*range(0, self.shape[axis], self.chunks[axis]), self.shape[axis]]


def open_zarr(array: Any) -> BigTable:
    """A zarr array."""
    return StoredTable(array, "a zarr array")


def open_hdf5(data: Any) -> BigTable:
    """An HDF5 data set, as h5py gives it."""
    if not data:
        raise InputError("X is an HDF5 data set of a file that is closed; keep the file open")
    return StoredTable(data, "an HDF5 data set")
