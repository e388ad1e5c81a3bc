"""Read a table from disk: numbers, names, row identifiers, labels and groups.

``_sheets.py`` turns a file of any format into a sheet, ``_roles.py`` says which
of its columns is what; here the values are judged and put together.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy import sparse

from eigensieve.errors import OptionError, TableError

from ..pencil.names import listed
from ._cells import (
    are_distinct,
    example,
    is_decimal_comma,
    is_mistyped,
    label,
    mostly_distinct_integers,
    order_of,
)
from ._columns import Columns
from ._explain import explained
from ._names import names_rows
from ._roles import Asked, Roles, find_roles
from ._sheet import MISSING, Sheet
from ._sheets import read_sheet

_MISSING_NOTE = "value(s) are missing, in"


@dataclass(frozen=True, eq=False)
class Table:
    """A table ready for fitting or predicting.

    Parameters
    ----------
    X : ndarray of shape (n, p), or csr_array
        Float64 values, C order; rows are samples. Sparse where an .h5ad file has a sparse matrix
        and no ``columns`` were asked for. Finite, but for NaN where a value is
        missing and ``missing="keep"`` was asked for.
    names : list of str
        Unique feature names.
    rows : list of str
        Row identifiers; "1", "2", ... where the file has none.
    target : ndarray of str of shape (n,), or None
        Labels; None if no target was asked for.
    groups : ndarray of str of shape (n,), or None
        Which samples belong together (are of one patient, say); None if not asked for.
    notes : list of str
        Sentences about what was changed or noticed.
    repeated : frozenset of str
        Those of the names whose column shares its name with another one of the file.
    identifier : str or None
        Name of the column that was taken as row identifiers.
    """

    X: Any
    names: list[str]
    rows: list[str]
    target: np.ndarray | None
    groups: np.ndarray | None
    notes: list[str]
    repeated: frozenset[str] = frozenset()
    identifier: str | None = None

    @property
    def notes_but_missing(self) -> list[str]:
        """The notes for one who tells the number of missing values himself."""
        return [note for note in self.notes if _MISSING_NOTE not in note]


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    transpose: bool = False,
    ignore: Collection[str] = (),
    columns: Sequence[str] | None = None,
    missing: Literal["error", "keep"] = "error",
    groups: str | None = None,
    not_rows: Collection[str] = (),
    layer: str | None = None,
) -> Table:
    """Read a .csv, .tsv, .txt, .parquet, .npz or .h5ad table.

    Of an .h5ad file the features are the genes of .var_names, in .X or in a layer; target and
    groups are columns of .obs, and the rows have the names of .obs_names. Elsewhere a first column
    of text (target, groups and ignored ones not counted) holds the names of the rows; text further
    right is refused.

    Parameters
    ----------
    path : path-like
    target : str, optional
        Name of the column of labels (of the row, with ``transpose``).
    transpose : bool
        The file has features in rows: names in its first column, sample names
        in its header.
    ignore : collection of str
        Columns to leave out.
    columns : sequence of str, optional
        Return exactly these features in this order, whatever else is there.
    missing : {"error", "keep"}
        What to do with missing values of features (empty, NA, NaN ...): refuse
        the table, or leave them as NaN and say so in a note. Infinite values are
        refused in any case.
    groups : str, optional
        Name of the column (of the row, with ``transpose``) that says which samples
        belong together; text or numbers, one in every sample. It is no feature and
        does not identify the rows.
    not_rows : collection of str
        Columns that do not identify the rows either, where the table has them.
    layer : str, optional
        The layer of an .h5ad file to read, in place of .X.

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the file cannot be read, or not as asked; the message says what to do.
    OptionError
        For a value of ``missing`` that is not known.
    MissingExtraError
        For .parquet where pyarrow is not installed, .h5ad where anndata is not.
    """
    if missing not in ("error", "keep"):
        raise OptionError(f"missing is {missing!r}; it must be 'error' or 'keep'")
    path = Path(path)
    asked = Asked(
        target if target is None else target.strip(),
        groups if groups is None else groups.strip(),
        frozenset(name.strip() for name in ignore),
        columns,
        keep_missing=missing == "keep",
        not_rows=frozenset(not_rows),
    )
    with explained(path):
        if asked.groups is not None and asked.groups == asked.target:
            raise TableError(
                f"{asked.target!r} is the target, and cannot be the groups as well; "
                "name the column that says which samples belong together, or no groups"
            )
        sheet = read_sheet(path, asked.labels, asked.ignore, transpose, layer)
        columns_of_sheet = Columns(sheet, transpose)
        if sheet.numbers.shape[0] == 0:
            raise TableError(f"has no samples{columns_of_sheet.about_the_delimiter()}")
        return _Assembly(columns_of_sheet, find_roles(columns_of_sheet, asked), asked).table()


class _Assembly:
    """Judges the values of a sheet whose columns have their roles, and makes the table."""

    def __init__(self, columns: Columns, roles: Roles, asked: Asked) -> None:
        self.sheet: Sheet = columns.sheet
        self.kind, self.raw, self.names = columns.kind, columns.raw, columns.names
        self.repeated = columns.repeated
        self.roles = roles
        self.features = roles.features
        self.chosen = asked.columns is not None
        self.keep_missing = asked.keep_missing
        self.notes = list(self.sheet.notes)
        if not self.chosen:
            self.notes += columns.renamed

    def table(self) -> Table:
        rows = self.identifiers(self.roles.identifier)
        self.note_unnamed()
        self.check_numeric(rows)
        target = self.labels(self.roles.target, rows, "label")
        groups = self.labels(self.roles.groups, rows, "group")
        X = self.numbers()
        self.check_finite(X)
        if not self.chosen and not self.sheet.is_matrix:
            self.note_row_numbers(X)
        names = [self.names[j] for j in self.features]
        repeated = frozenset(names) & self.repeated
        marker = self.roles.identifier
        identifier = None if marker is None else self.names[marker]
        return Table(X, names, rows, target, groups, self.notes, repeated, identifier)

    def numbers(self) -> Any:
        """The features; a few columns of a sparse matrix are filled in."""
        X = self.sheet.numbers[:, self.features]
        if not sparse.issparse(X):
            return np.ascontiguousarray(X)
        return X.toarray() if self.chosen else X

    def identifiers(self, marker: int | None) -> list[str]:
        numbered = [str(i + 1) for i in range(self.sheet.numbers.shape[0])]
        if marker is None:
            return [row or number for row, number in zip(self.sheet.rows or numbered, numbered)]
        cells = self.sheet.texts.get(marker)
        if cells is None:  # whole numbers, all different
            cells = [str(int(value)) for value in self.sheet.numbers[:, marker]]
        self.note_identifiers(marker, [cell for cell in cells if cell])
        return [cell or number for cell, number in zip(cells, numbered)]

    def note_identifiers(self, marker: int, cells: list[str]) -> None:
        name = self.names[marker]
        note = f"The column {name!r} was taken as row identifiers"
        if len(set(cells)) < len(cells):
            note += f", though its entries repeat ({len(set(cells))} different ones)"
        self.notes.append(f"{note}.")

    def note_unnamed(self) -> None:
        unnamed = [self.names[j] for j in self.features if not self.raw[j]]
        if unnamed:
            self.notes.append(
                f"{len(unnamed)} {self.kind}(s) without a name: now {listed(unnamed)}."
            )

    def check_numeric(self, rows: list[str]) -> None:
        if not self.features:
            raise TableError(f"has no feature {self.kind}s besides the target and identifiers")
        odd = [j for j in self.features if j in self.sheet.texts]
        if not odd:
            return
        shown = ", ".join(f"{self.names[j]!r} ({self.evidence(j, rows)})" for j in odd[:5])
        more = ", ..." if len(odd) > 5 else ""
        if any(is_decimal_comma(example(self.sheet.texts[j])) for j in odd):
            hint = "decimal commas and thousands separators are not supported: write 1.5, not 1,5"
        elif self.chosen:
            hint = "numbers are needed there"
        else:
            move = self.about_row_names(odd)
            hint = f"{move}use --ignore NAME to leave one out, or turn it into numbers"
        raise TableError(f"{len(odd)} {self.kind}(s) not numeric: {shown}{more}; {hint}")

    def about_row_names(self, odd: list[int]) -> str:
        """Advice where one of the columns of text may have been meant to name the rows."""
        if self.sheet.rows is not None or self.roles.identifier is not None:
            return ""
        texts = self.sheet.texts
        meant = [j for j in odd if names_rows(self.raw[j]) or are_distinct(texts[j])]
        if not meant:
            return ""
        name = self.names[meant[0]]
        return f"row names must be in the first column: move {name!r} there if it holds them, or "

    def evidence(self, j: int, rows: list[str]) -> str:
        """What keeps a column from being numeric, and where, if that is a slip."""
        cells = self.sheet.texts[j]
        cell = example(cells)
        if not is_mistyped(cells):
            return f"e.g. {cell!r:.40}"
        return f"{cell!r:.40} in sample {rows[cells.index(cell)]!r}"

    def labels(self, j: int | None, rows: list[str], word: str) -> np.ndarray | None:
        if j is None:
            return None
        cells = self.sheet.texts.get(j) or map(str, self.sheet.numbers[:, j].tolist())
        labels = [label(cell) for cell in cells]
        without = [row for row, text in zip(rows, labels) if text in MISSING]
        if without:
            raise TableError(
                f"{len(without)} sample(s) have no {word} in {self.names[j]!r}: "
                f"{listed(without)}; drop them or fill the {word}s in"
            )
        return np.array(labels, dtype=np.str_)

    def check_finite(self, X: Any) -> None:
        """No infinite values; missing ones only where they may stay."""
        stored = X.data if sparse.issparse(X) else X
        if np.isfinite(stored).all():
            return
        missing = _count(X, np.isnan)
        if self.keep_missing and not np.isinf(stored).any():
            self.note_missing(missing)
            return
        advice = ["fill them in", "drop these samples"]
        if not self.chosen:
            advice.append(f"leave such {self.kind}s out with --ignore NAME")
        if self.keep_missing:
            counts, word = _count(X, np.isinf), "infinite"
        else:
            counts, word = missing + _count(X, np.isinf), "missing or infinite"
            if missing.any():
                whose = "fit the model" if self.chosen else "let them be filled"
                advice.append(f"{whose} with --missing median")
        where = np.flatnonzero(counts)
        shown = ", ".join(f"{self.names[self.features[i]]!r} ({counts[i]})" for i in where[:5])
        more = ", ..." if len(where) > 5 else ""
        raise TableError(
            f"{counts.sum()} {word} value(s) in {len(where)} of {len(self.features)} "
            f"features: {shown}{more}; {', '.join(advice[:-1])} or {advice[-1]}"
        )

    def note_missing(self, counts: np.ndarray) -> None:
        self.notes.append(
            f"{counts.sum()} {_MISSING_NOTE} {np.count_nonzero(counts)} of "
            f"{len(self.features)} features."
        )
        n = self.sheet.numbers.shape[0]
        if empty := [self.names[self.features[i]] for i in np.flatnonzero(counts == n)]:
            self.notes.append(f"{len(empty)} feature(s) have no value at all: {listed(empty)}.")

    def note_row_numbers(self, X: np.ndarray) -> None:
        """Say which features may be row numbers; the user knows whether they are."""
        order = order_of(X[:, 0])
        if order is not None:
            name = self.names[self.features[0]]
            self.notes.append(
                f"The {self.kind} {name!r} holds distinct {order} whole numbers, as a row number "
                f"would; if it is one, leave it out with --ignore {shlex.quote(name)}."
            )
        named = [
            self.names[j]
            for i, j in list(enumerate(self.features))[order is not None :]  # one note is enough
            if names_rows(self.raw[j]) and mostly_distinct_integers(X[:, i])
        ]
        if named:
            self.notes.append(
                f"{len(named)} {self.kind}(s) of whole numbers have names as identifiers do, and "
                f"are features here: {listed(named)}; if they identify samples, leave them out "
                "with --ignore NAME."
            )


def _count(X: Any, test: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """In how many rows each column has such a value; zeros that a matrix leaves out are none."""
    if sparse.issparse(X):
        return np.bincount(X.indices[test(X.data)], minlength=X.shape[1])
    return np.asarray(test(X).sum(axis=0))
