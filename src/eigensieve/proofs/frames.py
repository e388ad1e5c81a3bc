"""Tables as they come: arrays and frames, taken as doubles with the names of their columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError

_PLAIN = (bool, int, float, np.bool_, np.integer, np.floating)


def as_doubles(given: Any, name: str) -> tuple[np.ndarray, list[str] | None]:
    """The numbers of a table, exactly, and its column names if it has any.

    A frame (pandas, polars, pyarrow) is taken column by column; bool counts as 0 and 1.
    """
    columns = _columns(given)
    if columns is None:
        table = np.asarray(given)
        if table.ndim != 2 or not table.size:
            raise InputError(f"{name} has the shape {table.shape}; rows and columns are needed")
        return exact_doubles(table, name), None
    names, values = columns
    if not values or not len(values[0]):
        raise InputError(f"{name} has no rows or no columns; both are needed")
    parts = [
        exact_doubles(_plain(part), f"column {title!r} of {name}")
        for title, part in zip(names, values)
    ]
    return np.ascontiguousarray(np.column_stack(parts)), names


def _columns(given: Any) -> tuple[list[str], list[np.ndarray]] | None:
    """Names and columns of a frame, by what it can do; None for anything else."""
    if hasattr(given, "column_names"):  # pyarrow
        found: Sequence[Any] = given.columns
        return list(map(str, given.column_names)), [np.asarray(one) for one in found]
    if hasattr(given, "iloc") and hasattr(given, "columns"):  # pandas
        found = [given.iloc[:, j] for j in range(given.shape[1])]
    elif hasattr(given, "get_columns"):  # polars
        found = given.get_columns()
    else:
        return None
    return list(map(str, given.columns)), [one.to_numpy() for one in found]


def _plain(values: np.ndarray) -> np.ndarray:
    """Columns of objects that are all numbers, as numbers."""
    if values.dtype != object or not all(isinstance(value, _PLAIN) for value in values):
        return values
    numbers = np.array(values.tolist())
    return numbers if numbers.dtype.kind in "buif" else values


def exact_doubles(values: np.ndarray, name: str) -> np.ndarray:
    """Real numbers as the doubles that they are, none missing."""
    if values.dtype.kind not in "buif":
        raise InputError(
            f"{name} holds {values.dtype}, not real numbers; leave such columns out, as for the "
            "proof, and fill in what is missing"
        )
    doubles = np.ascontiguousarray(values, dtype=np.float64)
    if not np.isfinite(doubles).all():
        raise InputError(f"{name} has missing or infinite values")
    is_long = values.dtype.kind in "iu" and (np.abs(doubles) >= 2.0**53).any()
    if is_long or (doubles != values).any():
        raise InputError(f"{name} holds numbers that are no doubles; the proof is about doubles")
    return doubles
