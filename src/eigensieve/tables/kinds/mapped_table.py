"""A table in a file that numpy has mapped into memory."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np

from .big_table import BigTable, check_numeric, equal_blocks

# Those of numpy's maps that share their pages with the file.
SHARED_MODES = ("r", "r+", "w+")
# In the names of joblib's own files.
JOBLIB = "joblib_memmapping_folder"
# The system maps up to 2 MB around every place that is read: so many rows are read at a time,
# or so many bytes, or so many scattered entries.
ROWS = 16
CONTIGUOUS = 2**23
MAX_SCATTERED_COLUMNS = 2**7


class MappedTable(BigTable):
    """Blocks are copied, and their pages given back: what was read does not stay in memory."""

    kind = "a memory-mapped array"
    loading = "numpy.array(X)"

    def __init__(self, X: np.ndarray) -> None:
        check_numeric(X.shape, X.dtype, self.kind)
        self.X = X
        self.shape, self.dtype = X.shape, X.dtype
        self._map = _find_shared_map(X)

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        part = self.X[rows]
        if isinstance(columns, slice):
            width = len(range(self.shape[1])[columns])
            step = max(ROWS, CONTIGUOUS // max(1, width * self.dtype.itemsize))
        else:
            width = len(columns)
            step = max(1, MAX_SCATTERED_COLUMNS // max(1, width))
        block = np.empty((len(part), width), dtype=self.dtype)
        for some in equal_blocks(len(part), step):
            block[some] = part[some][:, columns]
            self._give_back()
        return block

    def _give_back(self) -> None:
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)


def is_mapped(X: np.ndarray) -> bool:
    """Whether the numbers are those of a file that the user has mapped into memory.

    joblib maps what it hands to its processes: that is an array like any other.
    """
    links = list(links_of(X))
    if any(JOBLIB in str(getattr(link, "filename", "")) for link in links):
        return False
    return any(has_map(link) or isinstance(link, mmap.mmap) for link in links)


def links_of(X: np.ndarray) -> Iterator[Any]:
    """X, what it is a view of, what that is a view of, ..."""
    link: Any = X
    while link is not None:
        yield link
        link = getattr(link, "base", None)


def has_map(link: Any) -> bool:
    """Whether it is numpy's own kind of map; a copy of one bears the name, but is in memory."""
    return isinstance(link, np.memmap) and getattr(link, "_mmap", None) is not None


def _find_shared_map(X: np.ndarray) -> mmap.mmap | None:
    """The map, if its pages can be given back: what is written to them must go to the file.

    A page of a copy-on-write map (mode "c") that was given back has lost what was written to it.
    Of a map that numpy has not made nobody knows of which kind it is.
    """
    if not hasattr(mmap, "MADV_DONTNEED"):
        return None
    owners = [link for link in links_of(X) if has_map(link)]
    if any(link.mode not in SHARED_MODES for link in owners):
        return None
    return owners[0]._mmap if owners else None
