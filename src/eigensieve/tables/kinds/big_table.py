"""Tables that stay where they are, and come in blocks of rows or of columns.

`BigTable` is all that the rest of the package knows of them. One pass over blocks of rows serves
tall tables, blocks of columns serve wide ones. A block is a plain numpy array without missing
numbers, of some 32 MB. A chunk that is larger is read once, whole, and divided in memory.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from ...errors import InputError
from .arrays import all_finite

# in numbers, not bytes: work is done in float64, whatever is stored
BLOCK_ENTRIES = 2**22


class BigTable(ABC):
    """A table (n samples, p features) that is read in blocks.

    Attributes
    ----------
    shape : (n, p)
    dtype : as stored
    names : array (p,) of feature names, or None
    kind : what it is, for messages: "a zarr array"
    loading : what gives all of it in memory, for messages: "X[:]"
    """

    shape: tuple[int, int]
    dtype: np.dtype
    names: np.ndarray | None = None
    kind = "a table"
    loading = "an array"

    @property
    def is_tall(self) -> bool:
        """Whether there are at least as many samples as features."""
        return self.shape[0] >= self.shape[1]

    @abstractmethod
    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        """Part of the table as an array; columns by a slice, or by sorted indices."""

    def row_cuts(self) -> list[int] | None:
        """Where the pieces begin and end that the table is stored in; None if it is in one."""
        return None

    def column_cuts(self) -> list[int] | None:
        """The same for pieces of columns."""
        return None

    def row_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Some samples and their rows (b, p), in turn."""
        n, p = self.shape
        most = count_per_block(p)
        for group in join_pieces(self.row_cuts(), n, most):
            rows = self._checked(self.read(group, slice(None)))
            for part in equal_blocks(len(rows), most):
                yield slice(group.start + part.start, group.start + part.stop), rows[part]

    def column_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """Some features and their columns (n, b), in turn."""
        n, p = self.shape
        most = count_per_block(n)
        for group in join_pieces(self.column_cuts(), p, most):
            columns = self._checked(self.read(slice(None), group))
            for part in equal_blocks(columns.shape[1], most):
                yield slice(group.start + part.start, group.start + part.stop), columns[:, part]

    def columns(self, index: np.ndarray | Sequence[int]) -> np.ndarray:
        """Some columns (n, m), in the order of the index."""
        wanted, back = np.unique(np.asarray(index, dtype=np.intp), return_inverse=True)
        return self._checked(self.read(slice(None), wanted))[:, back]

    def reduce_rows(
        self, make: Callable[[slice, np.ndarray], Any], combine: Callable[[Any, Any], Any]
    ) -> Any:
        """What ``make`` makes of each block of rows, combined: one pass.

        A table on a cluster does it there, so that both functions must pickle.
        """
        return reduce(combine, (make(where, block) for where, block in self.row_blocks()))

    def map_rows(self, make: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """What ``make`` makes of each block of rows, a row for a row, stacked: one pass.

        The way to a few columns of a tall table, too: a column may lie all over a file.
        """
        return np.concatenate([make(block) for _, block in self.row_blocks()])

    def _checked(self, block: np.ndarray) -> np.ndarray:
        if not all_finite(block):
            raise InputError(f"{self.kind} contains NaN or infinity; impute or drop them first")
        return block

    def __len__(self) -> int:
        return self.shape[0]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.shape[0]} samples, {self.shape[1]} features)"


class ArrayTable(BigTable):
    """An array in memory as a table: some rows of a larger one, of which ``start`` is the first."""

    def __init__(
        self, array: Any, kind: str, names: np.ndarray | None = None, start: int = 0
    ) -> None:
        self.array, self.kind, self.names, self.start = np.asarray(array), kind, names, start
        self.shape, self.dtype = self.array.shape, self.array.dtype

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        return self.array[rows, columns]

    def row_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for where, block in super().row_blocks():
            yield slice(self.start + where.start, self.start + where.stop), block


def count_per_block(length: int) -> int:
    """How many rows, or columns, of this length make a block."""
    return max(1, BLOCK_ENTRIES // max(1, length))


def equal_blocks(size: int, most: int) -> Iterator[slice]:
    """Blocks of ``most``, and what is left."""
    for start in range(0, size, most):
        yield slice(start, min(start + most, size))


def join_pieces(cuts: Sequence[int] | None, size: int, most: int) -> Iterator[slice]:
    """What to read at once: small pieces together, a large one whole, since it is stored so."""
    if cuts is None:
        yield from equal_blocks(size, most)
        return
    start = 0
    for end, following in zip(cuts[1:], [*cuts[2:], None]):
        if following is None or following - start > most:
            yield slice(start, end)
            start = end


def check_numeric(shape: Sequence[int], dtype: Any, kind: str) -> None:
    """Raise unless it is a table of real numbers that has rows and columns."""
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"{kind} of shape {tuple(shape)} was given; it must be samples x features")
    if np.dtype(dtype).kind not in "biuf":
        raise InputError(f"{kind} holds {dtype}; it must hold real numbers")
