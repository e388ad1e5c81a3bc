"""A table in a file that numpy has mapped into memory."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from .tables import BigTable, check_numeric, equal_blocks

# Scattered entries that are read at a time: the system maps some 64 KB around each.
MOST_SCATTERED = 2**10


class MappedTable(BigTable):
    """Blocks are copied, and their pages given back: what was read does not stay in memory."""

    kind = "a memory-mapped array"

    def __init__(self, X: np.ndarray) -> None:
        check_numeric(X.shape, X.dtype, self.kind)
        self.X = X
        self.shape, self.dtype = X.shape, X.dtype
        self._map = _find_map(X)

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        part = self.X[rows]
        if isinstance(columns, slice):
            block = np.array(part[:, columns])
            self._give_back()
            return block
        block = np.empty((len(part), len(columns)), dtype=self.dtype)
        for some in equal_blocks(len(part), max(1, MOST_SCATTERED // max(1, len(columns)))):
            block[some] = part[some][:, columns]
            self._give_back()
        return block

    def _give_back(self) -> None:
        if self._map is not None:
            self._map.madvise(mmap.MADV_DONTNEED)


def _find_map(X: np.ndarray) -> mmap.mmap | None:
    """The map, if its pages can be given back and no unwritten change lies in them."""
    base: Any = X
    while base is not None and not isinstance(base, mmap.mmap):
        base = getattr(base, "_mmap", None) or getattr(base, "base", None)
    is_copy_on_write = getattr(X, "mode", None) == "c"
    return base if hasattr(mmap, "MADV_DONTNEED") and not is_copy_on_write else None
