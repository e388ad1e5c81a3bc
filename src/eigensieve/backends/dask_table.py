"""dask arrays and data frames: blocks are computed where dask runs, one after the other here.

A reduction over rows is one graph: on a cluster the workers do it, and only the result travels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InputError
from .tables import BigTable, check_numeric

# results that are combined in one task of a reduction
FAN_IN = 8


class DaskTable(BigTable):
    """A dask array (n, p) of known shape."""

    def __init__(self, array: Any, kind: str, names: np.ndarray | None = None) -> None:
        self.kind, self.names = kind, names
        if any(np.isnan(array.shape)):
            raise InputError(
                f"{kind} of unknown shape {array.shape} was given; call compute_chunk_sizes() on "
                "the array (a data frame: to_dask_array(lengths=True)) first"
            )
        check_numeric(array.shape, array.dtype, kind)
        self.array = array
        self.shape, self.dtype = array.shape, np.dtype(array.dtype)

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        return np.asarray(self.array[rows, columns].compute())

    def row_cuts(self) -> list[int]:
        return [0, *np.cumsum(self.array.chunks[0]).tolist()]

    def column_cuts(self) -> list[int]:
        return [0, *np.cumsum(self.array.chunks[1]).tolist()]

    def reduce_rows(
        self, make: Callable[[slice, np.ndarray], Any], combine: Callable[[Any, Any], Any]
    ) -> Any:
        import dask

        array = self.array.rechunk({1: -1})
        cuts = [0, *np.cumsum(array.chunks[0]).tolist()]
        blocks = array.to_delayed().ravel().tolist()
        task = dask.delayed(_make_checked, pure=False)
        # a function that carries a number per row goes to a chunk with those of its rows only
        cut = getattr(make, "of_rows", lambda where: make)
        parts = [
            task(cut(slice(*ends)), combine, self.kind, ends[0], block)
            for ends, block in zip(pairwise(cuts), blocks)
        ]
        join = dask.delayed(_combine_all, pure=False)
        while len(parts) > 1:
            parts = [join(combine, parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        return parts[0].compute()


def _make_checked(
    make: Callable[[slice, np.ndarray], Any],
    combine: Callable[[Any, Any], Any],
    kind: str,
    start: int,
    chunk: np.ndarray,
) -> Any:
    """What is made of one chunk, in blocks of bounded size."""
    return _ChunkTable(chunk, kind, start).reduce_rows(make, combine)


class _ChunkTable(BigTable):
    """A chunk that is in memory, as part of a larger table."""

    def __init__(self, chunk: np.ndarray, kind: str, start: int) -> None:
        self.chunk, self.kind, self.start = np.asarray(chunk), kind, start
        self.shape, self.dtype = self.chunk.shape, self.chunk.dtype

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        return self.chunk[rows, columns]

    def row_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        for where, block in super().row_blocks():
            yield slice(self.start + where.start, self.start + where.stop), block


def _combine_all(combine: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = combine(total, part)
    return total


def open_dask_array(array: Any) -> BigTable:
    """A ``dask.array.Array``."""
    return DaskTable(array, "a dask array")


def open_dask_frame(frame: Any) -> BigTable:
    """A ``dask.dataframe.DataFrame``; all of its columns are features."""
    names = np.asarray(frame.columns, dtype=object)
    return DaskTable(frame.to_dask_array(lengths=True), "a dask data frame", names)
