"""Parquet files, by pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from eigensieve.errors import MissingExtraError, TableError

from ._cells import texts_of
from ._sheet import Sheet, sheet_of_records


def read_parquet(
    path: Path, labels: tuple[str, ...], ignore: frozenset[str], transpose: bool
) -> Sheet:
    """A parquet file; an index that pandas wrote holds the names of the rows."""
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    try:
        with pq.ParquetFile(path) as file:
            frame = _without_decimals(file.read(), labels).to_pandas()
    except Exception as error:  # damaged bytes raise nearly anything
        raise TableError(
            f"not a readable parquet file ({error}); copy or write it again"
        ) from error
    if not set(labels).isdisjoint(frame.index.names):
        frame = frame.reset_index()
    if transpose:
        return _sheet_of_rows(frame, ignore.union(labels))
    return _sheet_of_columns(frame, labels)


def _without_decimals(table: Any, labels: tuple[str, ...]) -> Any:
    """Decimals as floats, as which pandas would not take them; a label stays as it is written."""
    import pyarrow as pa

    for j, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type) and field.name not in labels:
            table = table.set_column(j, field.name, table.column(j).cast(pa.float64()))
    return table


def _sheet_of_columns(frame: Any, labels: tuple[str, ...]) -> Sheet:
    import pandas as pd

    names = [str(name) for name in frame.columns]
    numeric = [j for j, dtype in enumerate(frame.dtypes) if _is_numeric(dtype)]
    numbers = np.full(frame.shape, np.nan)
    numbers[:, numeric] = frame.iloc[:, numeric].to_numpy(np.float64, na_value=np.nan)
    text = set(range(len(names))).difference(numeric)
    text.update(j for j, name in enumerate(names) if name.strip() in labels)
    texts = {j: texts_of(frame.iloc[:, j]) for j in sorted(text)}
    plain = isinstance(frame.index, pd.RangeIndex)
    return Sheet(names, numbers, texts, None if plain else texts_of(frame.index.to_series()))


def _sheet_of_rows(frame: Any, apart: frozenset[str]) -> Sheet:
    """Features in rows; the index, or else the first column, holds their names."""
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex):
        names, frame = texts_of(frame.iloc[:, 0]), frame.iloc[:, 1:]
    else:
        names = texts_of(frame.index.to_series())
    samples = [str(name).strip() for name in frame.columns]
    if apart.isdisjoint(names) and all(_is_numeric(dtype) for dtype in frame.dtypes):
        return Sheet(names, frame.to_numpy(np.float64, na_value=np.nan).T.copy(), {}, samples)
    columns = [texts_of(frame.iloc[:, j]) for j in range(len(samples))]
    return sheet_of_records(([*row] for row in zip(names, *columns)), samples, apart)


def _is_numeric(dtype: Any) -> bool:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    return is_numeric_dtype(dtype) and not is_complex_dtype(dtype)
