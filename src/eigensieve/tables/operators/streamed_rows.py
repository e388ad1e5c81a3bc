"""Rows of a table on disk, centred and scaled as they are read: blocks of columns in turn.

Every product is one pass over the table. What is kept in memory is a number per row, and one per
column where the columns are scaled; a vector with few entries is multiplied with their columns
only, and those are read by themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from tempfile import TemporaryFile

import numpy as np

from ...pencil.row_factor import is_small
from ..kinds.big_table import BLOCK_ENTRIES, BigTable
from ..kinds.opening import as_big_table
from ..statistics import ClassStats
from .scaling import Scaling
from .table_rows import ArrayRows, TableRows

# So many entries are centred at a time: they stay in the processor's cache.
CACHED_ENTRIES = 2**17


@dataclass(frozen=True, eq=False)
class OuterProduct:
    """left right', where right may have few entries: ``right`` at ``index``, None for all."""

    left: np.ndarray
    index: np.ndarray | None
    right: np.ndarray

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray) -> OuterProduct:
        """In the form that takes less memory."""
        index = np.flatnonzero(right)
        if 2 * index.size >= right.size:
            return cls(left, None, right)
        return cls(left, index, right[index])

    def add_to(self, block: np.ndarray, where: slice) -> None:
        """Add the columns ``where`` of it to a block of them."""
        if self.index is None:
            block += np.outer(self.left, self.right[where])
            return
        first, last = np.searchsorted(self.index, [where.start, where.stop])
        if first < last:
            inside = self.index[first:last] - where.start
            block[:, inside] += np.outer(self.left, self.right[first:last])

    def columns(self, index: np.ndarray) -> np.ndarray:
        """Some columns of it."""
        if self.index is None:
            return np.outer(self.left, self.right[index])
        values = np.zeros(index.size)
        place = np.minimum(np.searchsorted(self.index, index), max(self.index.size - 1, 0))
        if self.index.size:
            values = np.where(self.index[place] == index, self.right[place], 0.0)
        return np.outer(self.left, values)

    def take(self, index: np.ndarray) -> OuterProduct:
        """The same on some columns, in ascending order."""
        if self.index is None:
            return replace(self, right=self.right[index])
        inside = np.flatnonzero(np.isin(index, self.index))
        return OuterProduct(
            self.left, inside, self.right[np.searchsorted(self.index, index[inside])]
        )

    def scaled(self, scale: np.ndarray) -> OuterProduct:
        """The same with scaled columns."""
        own = scale if self.index is None else scale[self.index]
        return replace(self, right=self.right * own)

    def above(self, extra: int) -> OuterProduct:
        """The same with rows of zeros beneath."""
        return replace(self, left=np.append(self.left, np.zeros(extra)))


@dataclass(frozen=True, eq=False)
class WithinGroups:
    """Rows less the means of their groups, times a number per row.

    Parameters
    ----------
    group : array (n,), whole numbers
    weight : array (n,), what each row is multiplied by
    """

    group: np.ndarray
    weight: np.ndarray
    dtype = np.dtype(np.float64)

    def apply(self, X: np.ndarray, where: slice | np.ndarray) -> np.ndarray:
        rows = np.empty(X.shape)
        step = max(1, CACHED_ENTRIES // len(X))
        for start in range(0, X.shape[1], step):
            part = slice(start, start + step)
            own = ClassStats.from_data(X[:, part], self.group, form="rows").rows
            np.multiply(own, self.weight[:, None], out=rows[:, part])
        return rows


@dataclass(eq=False)
class StreamedRows(TableRows):
    """The rows of a table, centred, times a number per column.

    Parameters
    ----------
    table : BigTable (n, P)
    centring : what is done to columns as they are read
    scale : array (p,), what each column is multiplied by, or None
    chosen : array (p,), the table's columns that these are, ascending, or None for all
    samples : array (m,), the table's rows that these are, or None for all
    products : outer products that are added
    extra : rows beneath those of the table, of zeros but for the outer products
    """

    table: BigTable
    centring: WithinGroups | Scaling
    scale: np.ndarray | None = None
    chosen: np.ndarray | None = None
    samples: np.ndarray | None = None
    products: tuple[OuterProduct, ...] = ()
    extra: int = 0

    is_streamed = True
    is_remote = True

    def __post_init__(self) -> None:
        n, p = self.table.shape
        m = n if self.samples is None else self.samples.size
        self.shape = (m + self.extra, p if self.chosen is None else self.chosen.size)
        self.dtype = self.centring.dtype

    # -- reading --------------------------------------------------------------------

    def array_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        """One pass over the table."""
        for where, block in self.table.column_blocks():
            place: slice | np.ndarray = where
            if self.chosen is not None:
                first, last = np.searchsorted(self.chosen, [where.start, where.stop])
                if first == last:
                    continue
                place = self.chosen[first:last]
                block = block[:, place - where.start]
                where = slice(int(first), int(last))
            rows = self._centred(block, place)
            if self.scale is not None:
                rows *= self.scale[where]
            for product in self.products:
                product.add_to(rows, where)
            yield where, rows

    def pieces(self) -> Iterator[tuple[slice, TableRows]]:
        for where, block in self.array_blocks():
            yield where, ArrayRows(block)

    def columns(self, index: np.ndarray) -> np.ndarray:
        index = np.asarray(index, dtype=np.intp)
        if index.size == 0:
            return np.empty((self.shape[0], 0), dtype=self.dtype)
        place = index if self.chosen is None else self.chosen[index]
        rows = self._centred(self.table.columns(place), place)
        if self.scale is not None:
            rows *= self.scale[index]
        for product in self.products:
            rows += product.columns(index)
        return rows

    def _centred(self, block: np.ndarray, where: slice | np.ndarray) -> np.ndarray:
        rows = self.centring.apply(block, where)
        if self.samples is not None:
            rows = rows[self.samples]
        if self.extra:
            rows = np.pad(rows, ((0, self.extra), (0, 0)))
        return rows

    # -- products -------------------------------------------------------------------

    def matmat(self, X: np.ndarray) -> np.ndarray:
        used = np.flatnonzero(X.any(axis=1))
        if used.size * self.shape[0] <= BLOCK_ENTRIES:
            return self.columns(used) @ X[used]
        return super().matmat(X)

    # -- other rows from these ------------------------------------------------------

    def scaled(self, scale: np.ndarray) -> StreamedRows:
        own = np.asarray(scale) if self.scale is None else self.scale * scale
        return replace(self, scale=own, products=tuple(o.scaled(scale) for o in self.products))

    def take(self, index: np.ndarray) -> StreamedRows | np.ndarray:
        """Some columns: dense if they are few; else they must be in ascending order."""
        index = np.asarray(index, dtype=np.intp)
        if is_small(self.shape[0], index.size):
            return self.columns(index)
        if np.any(np.diff(index) <= 0):
            raise ValueError("columns of a table on disk are taken in ascending order")
        return self.narrowed(index)

    def narrowed(self, index: np.ndarray) -> StreamedRows:
        """Some columns, in ascending order, whether they are few or not."""
        return replace(
            self,
            scale=None if self.scale is None else self.scale[index],
            chosen=index if self.chosen is None else self.chosen[index],
            products=tuple(o.take(index) for o in self.products),
        )

    def of_rows(self, index: np.ndarray) -> StreamedRows:
        if self.extra or self.products:
            raise TypeError("rows of the table are chosen before others are added")
        return replace(self, samples=index if self.samples is None else self.samples[index])

    def permuted(self, seed: int) -> StreamedRows:
        """On disk, too: a nameless file that is gone with the rows."""
        with TemporaryFile() as file:
            data = np.memmap(file, self.dtype, "w+", shape=self.shape)
        self.permute_into(data, seed)
        data.flush()
        table = as_big_table(data)
        assert table is not None
        return StreamedRows(table, Scaling.identity(self.shape[1], self.dtype))

    def plus(self, L: np.ndarray, M: np.ndarray) -> StreamedRows:
        """R + L M, for L (m, q) and M (q, p)."""
        new = tuple(OuterProduct.of(left, right) for left, right in zip(L.T, M))
        return replace(self, products=self.products + new)

    def above(self, extra: np.ndarray) -> StreamedRows:
        """These rows, and some others (q, p) beneath them."""
        q = len(extra)
        padded = replace(
            self, extra=self.extra + q, products=tuple(o.above(q) for o in self.products)
        )
        return padded.plus(np.eye(padded.shape[0])[:, -q:], extra)
