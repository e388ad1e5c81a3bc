"""Parquet files, by row groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import InputError
from .big_table import BigTable, count_per_block

KIND = "a parquet file"


class ParquetTable(BigTable):
    """The columns of a parquet file, or of several as one data set; all are features.

    Rows are read row group by row group, and only forwards: the format has no other way.
    """

    kind = KIND

    def __init__(self, source: Any, names: list[str], n: int) -> None:
        self.source = source
        self.names = np.array(names, dtype=object)
        self.shape = (n, len(names))
        self.dtype = np.dtype(np.float64)
        if 0 in self.shape:
            raise InputError(f"{KIND} of shape {self.shape} was given; it has no rows, or columns")

    def _batches(self, names: list[str], rows: int) -> Iterator[np.ndarray]:
        options = {"batch_size": rows, "columns": names}
        read = getattr(self.source, "iter_batches", None) or self.source.to_batches
        for batch in read(**options):
            if batch.num_rows:
                yield np.column_stack([_numbers(batch.column(name)) for name in names])

    def row_blocks(self) -> Iterator[tuple[slice, np.ndarray]]:
        start = 0
        assert self.names is not None
        for block in self._batches(self.names.tolist(), count_per_block(self.shape[1])):
            yield slice(start, start + len(block)), self._checked(block)
            start += len(block)

    def read(self, rows: slice, columns: slice | np.ndarray) -> np.ndarray:
        assert self.names is not None
        names = self.names[columns].tolist()
        whole = np.concatenate(list(self._batches(names, count_per_block(len(names)))))
        return whole[rows]


def _numbers(column: Any) -> np.ndarray:
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)


def open_parquet(source: Any) -> BigTable:
    """A ``pyarrow.parquet.ParquetFile``, or a ``pyarrow.dataset.Dataset`` of any kind."""
    is_file = hasattr(source, "schema_arrow")
    schema = source.schema_arrow if is_file else source.schema
    for field in schema:
        if not _is_number(str(field.type)):
            raise InputError(
                f"{KIND} has the column {field.name!r} of type {field.type}; features must be "
                "numbers: leave the others out, by pyarrow.dataset.dataset(path, schema=<schema of "
                "the features>) (for labels, read that column and give it as y)"
            )
    n = source.metadata.num_rows if is_file else source.count_rows()
    table = ParquetTable(source, schema.names, n)
    table.loading = f"X.{'read' if is_file else 'to_table'}().to_pandas()"
    return table


def refuse_scanner(source: Any) -> BigTable:
    """A ``pyarrow.dataset.Scanner`` cannot be a table."""
    raise InputError(
        "X is a pyarrow Scanner, which may be read once only; give the dataset that it was made "
        "of: pyarrow.dataset.dataset(path, schema=<schema of the features>)"
    )


def _is_number(kind: str) -> bool:
    return kind.startswith(("int", "uint", "float", "halffloat", "double", "bool"))
