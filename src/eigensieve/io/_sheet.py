"""A sheet: names, numbers, and the few columns that are text; and how a cell is read."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"})


@dataclass
class Sheet:
    """What a file holds; column j is text if j is in ``texts``, else ``numbers[:, j]``."""

    names: list[str]
    numbers: Any  # an array; a csr matrix, where the file has one
    texts: dict[int, list[str]]
    rows: list[str] | None = None
    delimiter: str | None = None  # of a text file
    notes: list[str] = field(default_factory=list)
    is_matrix: bool = False  # the file itself says what is a feature and what is not


def sheet_of_records(
    records: Iterable[list[str]], samples: list[str], apart: Collection[str]
) -> Sheet:
    """Features in rows, each a name and its cells."""
    names: list[str] = []
    values, texts = [], {}
    for j, (name, *cells) in enumerate(records):
        names.append(name.strip())
        numbers, odd = parse_numbers(cells)
        values.append(numbers)
        if odd or names[-1] in apart:
            texts[j] = [cell.strip() for cell in cells]
    numbers = np.array(values).reshape(len(names), len(samples))
    return Sheet(names, numbers.T, texts, samples)


def parse_numbers(cells: list[str]) -> tuple[np.ndarray, list[int]]:
    """Cells as numbers (NaN where missing), and the positions of those that are text."""
    if "_" not in "".join(cells):  # float() takes 1_000 for a number
        with suppress(ValueError):
            return _floats(cells), []
        with suppress(ValueError):
            return _floats(["nan" if cell in MISSING else cell for cell in cells]), []
    parsed = [parse_number(cell) for cell in cells]
    odd = [j for j, value in enumerate(parsed) if value is None]
    return np.array([np.nan if value is None else value for value in parsed]), odd


def _floats(cells: list[str]) -> np.ndarray:
    return np.fromiter(map(float, cells), np.float64, len(cells))


def parse_number(cell: str) -> float | None:
    """NaN for a missing value, None for text."""
    cell = cell.strip()
    if cell in MISSING:
        return np.nan
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None
