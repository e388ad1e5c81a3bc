"""Data frames of pandas, polars and pyarrow, as frames of numbers that numpy can read.

A frame is known by the name of its class: neither polars nor pyarrow is imported to look for one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import InputError

PLAIN = "iuf"  # kinds of numbers that numpy puts together without a loss
LAZY = ("polars", "LazyFrame")


def plain_frame(X: Any, name: str = "X") -> Any:
    """A frame as one of pandas that holds numbers only; anything else, as it came.

    Missing values become NaN; truth values, decimals and text that is a number become floats.

    Raises
    ------
    InputError
        If a column holds something else: text, categories, times. It names the column. For a
        ``polars.LazyFrame``, which has no values yet.

    Examples
    --------
    >>> import pandas as pd
    >>> from eigensieve.tables.kinds.frames import plain_frame
    >>> frame = pd.DataFrame({"a": [True, False], "b": pd.array([1, None], dtype="Int64")})
    >>> plain_frame(frame).to_numpy().tolist()
    [[1.0, 1.0], [0.0, nan]]
    """
    kinds = _kinds(X)
    if LAZY in kinds:
        raise InputError(f"{name} is a polars LazyFrame, which has no values yet: {name}.collect()")
    for kind, read in READERS.items():
        if kind in kinds:
            return read(X, name)
    return X


def column_names(X: Any) -> tuple[str, ...] | None:
    """The names of a frame's columns, as text; None for what has no names."""
    names = getattr(X, "column_names", None)  # pyarrow's; the others say columns
    names = getattr(X, "columns", None) if names is None else names
    return None if names is None or callable(names) else tuple(str(name) for name in names)


def pick_columns(X: Any, wanted: Sequence[str]) -> Any:
    """The columns of these names, in this order, as `plain_frame` gives them.

    What has no names comes back as it is. Other columns may hold anything.

    Raises
    ------
    InputError
        If a column is not there, or twice.
    """
    names = column_names(X)
    if names is None:
        return X
    count = Counter(names)
    odd = [name for name in wanted if count[name] != 1]
    if odd:
        what = "has more than one column" if count[odd[0]] else "has no column"
        raise InputError(
            f"X {what} {odd[0]!r}; it needs the {len(wanted)} columns {_listed(wanted)}, each once"
        )
    places = [names.index(name) for name in wanted]
    if hasattr(X, "iloc"):  # pandas, dask
        return plain_frame(X.iloc[:, places])
    return plain_frame(X.select([names[j] for j in places]))  # polars, pyarrow


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")


def _kinds(X: Any) -> set[tuple[str, str]]:
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__}


def _of_pandas(frame: Any, name: str) -> Any:
    """The frame itself, where all of its columns are plain numbers."""
    is_plain = np.array([_is_plain(dtype) for dtype in frame.dtypes], dtype=bool)
    if is_plain.all():
        return frame
    import pandas as pd

    plain = frame.loc[:, is_plain].to_numpy()
    numbers = np.empty(frame.shape, dtype=np.result_type(plain.dtype, np.float64))
    numbers[:, is_plain] = plain
    for j in np.flatnonzero(~is_plain):
        column, label = frame.iloc[:, j], frame.columns[j]
        numbers[:, j] = _converted(column, label, column.dtype, name, _of_series)
    return pd.DataFrame(numbers, index=frame.index, columns=frame.columns, copy=False)


def _is_plain(dtype: Any) -> bool:
    """A number of numpy; also complex ones, which others refuse, and pandas' sparse ones."""
    if not isinstance(dtype, np.dtype):
        return hasattr(dtype, "fill_value") and getattr(dtype, "kind", "O") in PLAIN
    return dtype.kind in PLAIN or dtype.kind == "c"


def _of_series(series: Any) -> np.ndarray:
    if getattr(series.dtype, "kind", "O") in "mM":
        raise TypeError("no numbers")
    if hasattr(series, "cat"):  # of categories that are numbers
        kind = series.cat.categories.dtype
        series = series.astype(np.float64 if getattr(kind, "kind", "O") in PLAIN else kind)
    numbers: np.ndarray = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return numbers


def _of_polars(frame: Any, name: str) -> Any:
    import polars as pl

    def read(series: Any) -> Any:
        if series.dtype.is_temporal() or series.dtype.is_nested():  # polars would read both
            raise TypeError("no numbers")
        return series.cast(pl.Float64)

    def is_plain(dtype: Any) -> bool:
        return dtype.is_numeric() and not dtype.is_decimal()

    odd = [series for series in frame.get_columns() if not is_plain(series.dtype)]
    cast = [_converted(series, series.name, series.dtype, name, read) for series in odd]
    return _named(frame.with_columns(cast).to_numpy(), frame.columns)


def _of_arrow(table: Any, name: str) -> Any:
    import pyarrow as pa

    def read(column: Any) -> Any:
        if pa.types.is_dictionary(column.type):
            column = column.cast(column.type.value_type)
        if pa.types.is_temporal(column.type):
            raise TypeError("no numbers")
        return column.cast(pa.float64())

    def is_plain(kind: Any) -> bool:
        return pa.types.is_integer(kind) or pa.types.is_floating(kind)

    names = table.schema.names
    columns = [
        column if is_plain(column.type) else _converted(column, names[j], column.type, name, read)
        for j, column in enumerate(table.columns)
    ]
    arrays = (column.to_numpy(zero_copy_only=False) for column in columns)
    return _named(_side_by_side(arrays, table.num_rows), names)


def _converted(column: Any, label: Any, dtype: Any, table: str, read: Callable[[Any], Any]) -> Any:
    """The column as floats; an error names it."""
    try:
        return read(column)
    except Exception as error:  # each library has its own
        why = str(error).partition("\n")[0]
        raise InputError(
            f"{table} must hold numbers only: column {label!r} is of type {dtype} ({why:.80}); "
            "drop it, or encode it as numbers first"
        ) from error


def _side_by_side(columns: Iterable[np.ndarray], n_rows: int) -> np.ndarray:
    arrays = list(columns)
    return np.column_stack(arrays) if arrays else np.empty((n_rows, 0))


def frame_of(columns: dict[str, np.ndarray]) -> Any:
    """A pandas frame of these columns."""
    import pandas as pd

    return pd.DataFrame(columns)


def _named(numbers: np.ndarray, names: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(numbers, columns=names, copy=False)


READERS: dict[tuple[str, str], Callable[[Any, str], Any]] = {
    ("pandas", "DataFrame"): _of_pandas,
    ("polars", "DataFrame"): _of_polars,
    ("pyarrow", "Table"): _of_arrow,
    ("pyarrow", "RecordBatch"): _of_arrow,
}
