"""Read what is known about features: symbols, descriptions, chromosomes."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from eigensieve.errors import TableError

from ..pencil.names import listed
from ._columns import about_one_column
from ._explain import explained
from ._names import filled_names, unique_names
from ._sheets import TEXT_SUFFIXES, check_is_file
from ._text import DELIMITERS, Layout, layout_of, suffix_of


@dataclass(frozen=True)
class Annotations:
    """Text about the features of a table.

    Parameters
    ----------
    columns : tuple of str
        What the text is about: the header without its first column.
    rows : dict of str to tuple of str
        By the name of a feature, its text in the order of ``columns``; only for
        features of the table, and only for those that the file has.
    notes : list of str
        Sentences about what was noticed.
    """

    columns: tuple[str, ...]
    rows: dict[str, tuple[str, ...]]
    notes: list[str]


def read_annotations(
    path: str | os.PathLike[str], names: Collection[str], repeated: Collection[str] = ()
) -> Annotations:
    """Read a .csv, .tsv or .txt file (also with .gz) about the features of a table.

    Parameters
    ----------
    path : path-like
        A header, then one line a feature: its name first, then text about it.
    names : collection of str
        The features of the table; lines about others are passed over.
    repeated : collection of str
        Those of them whose column shares its name with another one of the file; a line about "x"
        is about "x_2" as well, unless that has its own.

    Returns
    -------
    Annotations

    Raises
    ------
    TableError
        If the file cannot be read, or none of its names is a feature of the table.
    """
    path = Path(path)
    with explained(path):
        layout = _layout(path)
        rows, again, first = _read_rows(layout, frozenset(names))
        if not rows:
            raise TableError(
                f"none of its names is a feature of the table; here they begin with "
                f"{listed(first)}, in the table with {listed(list(names)[:5])}: the first column "
                "must hold the names, written as in the table"
            )
    for name in names:
        original = name.rpartition("_")[0]
        if name in repeated and original in repeated and original in rows:
            rows.setdefault(name, rows[original])
    columns, _ = unique_names(filled_names(layout.header)[1:])
    return Annotations(tuple(columns), rows, _notes(len(names) - len(rows), len(names), again))


def _layout(path: Path) -> Layout:
    check_is_file(path)
    if suffix_of(path) not in DELIMITERS:
        raise TableError(f"unknown kind of file; annotations are text: {TEXT_SUFFIXES}")
    layout = layout_of(path, transpose=True)
    if len(layout.header) == 1:
        raise TableError(
            "has one column only; the first must hold the names of features, the others text "
            f"about them{about_one_column(layout.delimiter)}"
        )
    return layout


def _read_rows(
    layout: Layout, names: frozenset[str]
) -> tuple[dict[str, tuple[str, ...]], list[str], list[str]]:
    """Text by name, the names that come again, and the first names of the file."""
    rows: dict[str, tuple[str, ...]] = {}
    repeated: dict[str, None] = {}  # a set that keeps its order
    first: list[str] = []
    with layout.lines() as lines:
        for name, *cells in layout.records(lines):
            name = name.strip()
            if len(first) < 5:
                first.append(name)
            if name in rows:
                repeated[name] = None
            elif name in names:
                rows[name] = tuple(cell.strip() for cell in cells)
    return rows, list(repeated), first


def _notes(n_without: int, n_features: int, repeated: list[str]) -> list[str]:
    notes = []
    if n_without:
        notes.append(f"{n_without} of {n_features} features have no annotation.")
    if repeated:
        notes.append(
            f"{len(repeated)} feature(s) have more than one annotation, and the first one counts: "
            f"{listed(repeated)}."
        )
    return notes
