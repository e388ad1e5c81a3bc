"""What the cells of one column look like: slips, decimal commas, row numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ._sheet import MISSING, parse_number

_DECIMAL_COMMA = re.compile(r"[+-]?[\d.,]*\d,\d[\d.,]*(e[+-]?\d+)?", re.IGNORECASE)
_MIN_ROWS = 10  # so many numbers in order may be chance


def texts_of(column: Any) -> list[str]:
    """The cells of a pandas column; empty where a value is missing."""
    return [
        "" if missing else str(value).strip()
        for value, missing in zip(column.tolist(), column.isna().tolist())
    ]


def filled(cells: list[str]) -> list[str]:
    """The cells that hold something."""
    return [cell for cell in cells if cell not in MISSING]


def numbers_in(cells: list[str]) -> list[float]:
    """The numbers among the cells that hold something."""
    return [x for cell in filled(cells) if (x := parse_number(cell)) is not None]


def is_mistyped(cells: list[str]) -> bool:
    """Text in which half of the cells are numbers: a column of numbers with some slips."""
    n, n_numbers = len(filled(cells)), len(numbers_in(cells))
    return n <= 2 * n_numbers < 2 * n


def example(cells: list[str]) -> str:
    """The first cell of a text column that is not a number, if there is one."""
    some = filled(cells)
    return next((cell for cell in some if parse_number(cell) is None), (some or [""])[0])


def is_decimal_comma(cell: str) -> bool:
    """1,5 or 1.000,5 or 1,000."""
    return _DECIMAL_COMMA.fullmatch(cell) is not None


def label(text: str) -> str:
    """1.0 and 1 are one class, whatever the file's number format."""
    return re.sub(r"^([+-]?\d+)\.0*$", r"\1", text)


def are_distinct(cells: list[str]) -> bool:
    """No two cells the same."""
    return len(set(cells)) == len(cells)


def are_integers(values: np.ndarray) -> bool:
    """Finite whole numbers only."""
    return bool(np.isfinite(values).all() and np.all(values == np.trunc(values)))


def are_distinct_integers(values: np.ndarray) -> bool:
    """Finite whole numbers, no two the same."""
    return are_integers(values) and len(np.unique(values)) == len(values)


def mostly_distinct_integers(values: np.ndarray) -> bool:
    """As above, but a patient may have given two samples."""
    return are_integers(values) and 2 * len(np.unique(values)) >= len(values)


def order_of(values: np.ndarray) -> str | None:
    """How whole numbers rise or fall from row to row, if they do so all the way."""
    if len(values) < _MIN_ROWS or not are_integers(values):
        return None
    steps = np.diff(values)
    if np.all(steps > 0):
        return "increasing"
    return "decreasing" if np.all(steps < 0) else None
