"""dask arrays and data frames: blocks are computed where dask runs, one after the other here.

A reduction over rows is one graph: on a cluster the workers do it, and only the result travels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import InputError
from .arrays import to_numpy
from .big_table import ArrayTable, BigTable, check_numeric

# results that are combined in one task of a reduction
FAN_IN = 8


class DaskTable(BigTable):
    """A dask array (n, p) of known shape."""

    loading = "X.compute()"

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
        return _ends(self.array.chunks[0])

    def column_cuts(self) -> list[int]:
        return _ends(self.array.chunks[1])

    def reduce_rows(
        self, make: Callable[[slice, np.ndarray], Any], combine: Callable[[Any, Any], Any]
    ) -> Any:
        import dask

        array = self.array.rechunk({1: -1})
        cuts = np.cumsum([0, *array.chunks[0]]).tolist()
        blocks = array.to_delayed().ravel().tolist()
        task = dask.delayed(_make_checked, pure=False)
        # a function that carries a number per row goes to a chunk with those of its rows only
        cut = getattr(make, "of_rows", lambda where: make)
        parts = [
            task(cut(slice(*ends)), combine, self.kind, ends[0], block)
            for ends, block in zip(pairwise(cuts), blocks)
            if ends[0] < ends[1]  # a partition may be empty
        ]
        join = dask.delayed(_combine_all, pure=False)
        while len(parts) > 1:
            parts = [join(combine, parts[i : i + FAN_IN]) for i in range(0, len(parts), FAN_IN)]
        return parts[0].compute()


def _ends(sizes: Sequence[int]) -> list[int]:
    """0, and where chunks end; those of no rows say nothing."""
    return [0, *np.cumsum([size for size in sizes if size]).tolist()]


def _make_checked(
    make: Callable[[slice, np.ndarray], Any],
    combine: Callable[[Any, Any], Any],
    kind: str,
    start: int,
    chunk: np.ndarray,
) -> Any:
    """What is made of one chunk, in blocks of bounded size."""
    return ArrayTable(chunk, kind, start=start).reduce_rows(make, combine)


def _combine_all(combine: Callable[[Any, Any], Any], parts: list[Any]) -> Any:
    total = parts[0]
    for part in parts[1:]:
        total = combine(total, part)
    return total


def open_dask_array(array: Any) -> BigTable:
    """A ``dask.array.Array``; chunks that are sparse, or on a device, are filled in here."""
    chunk = array._meta
    if np.ma.isMaskedArray(chunk):
        raise InputError("X is a masked dask array; fill in or drop what is masked first")
    if not isinstance(chunk, np.ndarray):
        array = array.map_blocks(_fill_in, dtype=array.dtype, meta=np.empty((0, 0), array.dtype))
    return DaskTable(array, "a dask array")


def _fill_in(chunk: Any) -> np.ndarray:
    for method in ("toarray", "todense"):  # of scipy.sparse, and of sparse
        if hasattr(chunk, method):
            return np.asarray(getattr(chunk, method)())
    return to_numpy(chunk)


def open_dask_frame(frame: Any) -> BigTable:
    """A ``dask.dataframe.DataFrame``; all of its columns are features."""
    names = np.asarray(frame.columns, dtype=object)
    kinds = frame.dtypes.tolist()
    for name, kind in zip(names, kinds):
        if getattr(kind, "kind", "O") not in "biuf":
            raise InputError(
                f"a dask data frame has the column {name!r} of type {kind}; features must be "
                f"numbers: leave the others out, by X.drop(columns=[{name!r}]) (labels: give that "
                "column as y)"
            )
    # numpy has no type for some of them together, nor for those of pandas that know missing ones
    if len(set(kinds)) > 1 or not isinstance(kinds[0], np.dtype):
        frame = frame.astype(np.float64)
    return DaskTable(frame.to_dask_array(lengths=True), "a dask data frame", names)
