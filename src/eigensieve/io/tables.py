"""Read a table from disk: numbers, names, row identifiers and labels.

``_sheets.py`` turns a file of any format into a sheet; here the target, the
identifiers and the features of the sheet are found and judged.
"""

from __future__ import annotations

import csv
import gzip
import os
import re
import shlex
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eigensieve.errors import TableError

from ._names import close_names, filled_names, has_no_name, listed, names_rows, unique_names
from ._sheet import MISSING, Sheet, parse_number
from ._sheets import read_sheet

_DECIMAL_COMMA = re.compile(r"[+-]?[\d.,]*\d,\d[\d.,]*(e[+-]?\d+)?", re.IGNORECASE)
_MARKS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}
_FEW_ROWS = 10  # so many numbers in order may be chance


@dataclass(frozen=True, eq=False)
class Table:
    """A table ready for fitting or predicting.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Finite float64 values, C order; rows are samples.
    names : list of str
        Unique feature names.
    rows : list of str
        Row identifiers; "1", "2", ... where the file has none.
    target : ndarray of str of shape (n,), or None
        Labels; None if no target was asked for.
    notes : list of str
        Sentences about what was changed or noticed.
    """

    X: np.ndarray
    names: list[str]
    rows: list[str]
    target: np.ndarray | None
    notes: list[str]


def read_table(
    path: str | os.PathLike[str],
    target: str | None = None,
    *,
    transpose: bool = False,
    ignore: Collection[str] = (),
    columns: Sequence[str] | None = None,
) -> Table:
    """Read a .csv, .tsv, .txt, .parquet or .npz table.

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

    Returns
    -------
    Table

    Raises
    ------
    TableError
        If the file cannot be read, or not as asked; the message says what to do.
    MissingExtraError
        For .parquet where pyarrow is not installed.
    """
    path = Path(path)
    left_out = frozenset(name.strip() for name in ignore)
    target = target if target is None else target.strip()
    with _explained(path):
        sheet = read_sheet(path, target, left_out, transpose)
        return _Assembly(sheet, transpose).table(target, left_out, columns)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """One TableError with the path in front, whatever goes wrong with the file."""
    try:
        yield
    except TableError as error:
        raise TableError(f"{path}: {error}") from error
    except UnicodeDecodeError as error:
        raise TableError(f"{path}: not text in UTF-8 ({error}); save it as UTF-8") from error
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise TableError(f"{path}: damaged or cut off ({error}); copy it again") from error
    except csv.Error as error:
        raise TableError(
            f"{path}: {error}; look for a quotation mark that is not closed"
        ) from error
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from error


class _Assembly:
    """Finds the target, the identifiers and the features of a sheet."""

    def __init__(self, sheet: Sheet, transpose: bool) -> None:
        self.sheet = sheet
        self.kind = "row" if transpose else "column"
        self.raw = [name.strip() for name in sheet.names]
        self.given = filled_names(self.raw)
        self.names, self.renamed = unique_names(self.given)
        self.notes = list(sheet.notes)

    def table(
        self, target: str | None, ignore: Collection[str], columns: Sequence[str] | None
    ) -> Table:
        n = len(self.sheet.numbers)
        if n == 0:
            raise TableError(f"has no samples{self.about_the_delimiter()}")
        goal = None if target is None else self.find_target(target)
        left_out = self.find_ignored(ignore)
        if goal in left_out:
            raise TableError(f"{target!r} is the target, and cannot be ignored as well")
        others = [j for j in range(len(self.names)) if j not in left_out | {goal}]
        self.settle_booleans(others)
        wanted = None if columns is None else self.find_columns(columns, goal)
        if wanted is None:
            self.notes += self.renamed
        marker = self.find_identifier(others, wanted)
        features = wanted or [j for j in others if j != marker]
        rows = self.identifiers(marker)
        self.note_unnamed(features)
        self.check_numeric(features, rows, chosen=wanted is not None)
        labels = None if goal is None else self.labels(goal, rows)
        X = np.ascontiguousarray(self.sheet.numbers[:, features])
        self.check_finite(X, features, chosen=wanted is not None)
        if wanted is None:
            self.note_row_numbers(X, features)
        return Table(X, [self.names[j] for j in features], rows, labels, self.notes)

    def find_target(self, target: str) -> int:
        found = [j for j, name in enumerate(self.raw) if name == target]
        if len(found) == 1:
            return found[0]
        if found:
            raise TableError(
                f"{len(found)} {self.kind}s are named {target!r}, the target; rename all but one"
            )
        if target in self.crosswise():
            hint = f"a {self.other_kind} has that name: {self.turn}"
        elif close := close_names(target, self.names):
            hint = f"close: {listed(close)}"
        else:
            hint = f"the first {self.kind}s are {listed(self.names[:5])}"
        raise TableError(
            f"no {self.kind} is named {target!r}, the target; {hint}{self.about_the_delimiter()}"
        )

    def crosswise(self) -> Collection[str]:
        """What would be names of features if the table were read the other way round."""
        if self.kind == "row":
            return self.sheet.rows or []
        return self.sheet.rows or self.sheet.texts.get(0, [])

    @property
    def other_kind(self) -> str:
        return "column" if self.kind == "row" else "row"

    @property
    def turn(self) -> str:
        return f"read the table {'without' if self.kind == 'row' else 'with'} --transpose"

    def about_the_delimiter(self) -> str:
        """A hint where the file has one column: it may be delimited by some other character."""
        width = len(self.names) if self.kind == "column" else 1 + len(self.sheet.rows or [])
        if width > 1 or self.sheet.delimiter is None:
            return ""
        return (
            f"; the header is one column, with {_MARKS[self.sheet.delimiter]} as the delimiter: "
            "a .csv needs commas, semicolons or tabs, a .tsv or .txt needs tabs"
        )

    def find_ignored(self, ignore: Collection[str]) -> set[int | None]:
        # A repeated name stands for all columns of that name.
        unknown = set(ignore).difference(self.raw, self.names)
        if unknown:
            raise TableError(
                f"to ignore, but not in the table: {self.with_close(sorted(unknown))}; "
                f"the first {self.kind}s are {listed(self.names[:5])}"
            )
        pairs = enumerate(zip(self.raw, self.names))
        return {j for j, (raw, name) in pairs if raw in ignore or name in ignore}

    def find_columns(self, columns: Sequence[str], goal: int | None) -> list[int]:
        where = {name: j for j, name in enumerate(self.names) if j != goal}
        missing = [name for name in columns if name not in where]
        if missing:
            found = not set(self.crosswise()).isdisjoint(missing)
            hint = (
                f"{self.other_kind}s have such names: {self.turn}"
                if found
                else "rename or add them"
            )
            raise TableError(
                f"{len(missing)} of the {len(columns)} {self.kind}s needed are missing: "
                f"{self.with_close(missing)}; {hint}{self.about_the_delimiter()}"
            )
        if not columns:
            raise TableError("the list of columns to read is empty; name at least one")
        self.check_unambiguous([where[name] for name in columns])
        return [where[name] for name in columns]

    def check_unambiguous(self, wanted: Iterable[int]) -> None:
        """Repeated names differ by their order only, and that may be another in a new table."""
        counts = Counter(self.given)
        for j in wanted:
            if counts[self.given[j]] > 1:
                raise TableError(
                    f"{counts[self.given[j]]} {self.kind}s are named {self.given[j]!r}, and it "
                    f"cannot be told which of them is the {self.names[j]!r} that is needed; rename "
                    "them, and if the table of the fit repeats the name, do so there and fit again"
                )

    def settle_booleans(self, others: Iterable[int]) -> None:
        """Text that only says true or false (or nothing) is a column of 1 and 0."""
        for j in self.sheet.texts.keys() & set(others):
            cells = self.sheet.texts[j]
            if {cell.casefold() for cell in set(cells) - MISSING} <= {"true", "false"}:
                codes = {"true": 1.0, "false": 0.0}
                self.sheet.numbers[:, j] = [codes.get(c.casefold(), np.nan) for c in cells]
                del self.sheet.texts[j]

    def find_identifier(self, others: list[int], wanted: Collection[int] | None) -> int | None:
        """The column that says which sample a row is, if there is one."""
        if self.sheet.rows is not None:
            return None
        taken = frozenset(wanted or ())
        for j in others:
            if j in taken:
                continue
            if j in self.sheet.texts:
                found = self.is_identifier(j, first=j == others[0], sure=wanted is None)
            else:
                found = j == others[0] and self.numbers_rows(j)
            if found:
                return j
        return None

    def is_identifier(self, j: int, first: bool, sure: bool) -> bool:
        """Text at the left, or text that tells all rows apart.

        Where the target is not known (not sure), such text might be the labels of few rows: it
        must have the name of an identifier then.
        """
        if _DECIMAL_COMMA.fullmatch(self.example(j)):
            return False
        # 1, 2, 2b in a column that is called id are identifiers, not slips.
        whole = first and self.is_named_so(j) and all(x.is_integer() for x in self.numbers_in(j))
        if self.is_mistyped(j) and not whole:
            return False
        distinct = len(set(self.sheet.texts[j])) == len(self.sheet.numbers)
        return first or (distinct and (sure or self.is_named_so(j)))

    def is_named_so(self, j: int) -> bool:
        return has_no_name(self.raw[j]) or names_rows(self.raw[j])

    def is_mistyped(self, j: int) -> bool:
        """Text in which half of the cells are numbers: a column of numbers with some slips."""
        n, n_numbers = len(self.filled(j)), len(self.numbers_in(j))
        return n <= 2 * n_numbers < 2 * n

    def filled(self, j: int) -> list[str]:
        return [cell for cell in self.sheet.texts[j] if cell not in MISSING]

    def numbers_in(self, j: int) -> list[float]:
        return [x for cell in self.filled(j) if (x := parse_number(cell)) is not None]

    def numbers_rows(self, j: int) -> bool:
        """Whole numbers, all different: as a feature they would leak the order of the rows."""
        return self.is_named_so(j) and _are_distinct_integers(self.sheet.numbers[:, j])

    def note_row_numbers(self, X: np.ndarray, features: list[int]) -> None:
        """Say which features may be row numbers; the user knows whether they are."""
        order = _order(X[:, 0])
        if order is not None:
            name = self.names[features[0]]
            self.notes.append(
                f"The {self.kind} {name!r} holds distinct {order} whole numbers, as a row number "
                f"would; if it is one, leave it out with --ignore {shlex.quote(name)}."
            )
        named = [
            self.names[j]
            for i, j in list(enumerate(features))[order is not None :]  # one note is enough
            if names_rows(self.raw[j]) and _mostly_distinct_integers(X[:, i])
        ]
        if named:
            self.notes.append(
                f"{len(named)} {self.kind}(s) of whole numbers have names as identifiers do, and "
                f"are features here: {listed(named)}; if they identify samples, leave them out "
                "with --ignore NAME."
            )

    def identifiers(self, marker: int | None) -> list[str]:
        numbered = [str(i + 1) for i in range(len(self.sheet.numbers))]
        if marker is None:
            return [row or number for row, number in zip(self.sheet.rows or numbered, numbered)]
        self.notes.append(f"The column {self.names[marker]!r} was taken as row identifiers.")
        cells = self.sheet.texts.get(marker)
        if cells is None:
            return [str(int(value)) for value in self.sheet.numbers[:, marker]]
        return [cell or number for cell, number in zip(cells, numbered)]

    def note_unnamed(self, features: Iterable[int]) -> None:
        unnamed = [self.names[j] for j in features if not self.raw[j]]
        if unnamed:
            self.notes.append(
                f"{len(unnamed)} {self.kind}(s) without a name: now {listed(unnamed)}."
            )

    def check_numeric(self, features: list[int], rows: list[str], chosen: bool) -> None:
        if not features:
            raise TableError(f"has no feature {self.kind}s besides the target and identifiers")
        odd = [j for j in features if j in self.sheet.texts]
        if not odd:
            return
        shown = ", ".join(f"{self.names[j]!r} ({self.evidence(j, rows)})" for j in odd[:5])
        more = ", ..." if len(odd) > 5 else ""
        if any(_DECIMAL_COMMA.fullmatch(self.example(j)) for j in odd):
            hint = "decimal commas and thousands separators are not supported: write 1.5, not 1,5"
        elif chosen:
            hint = "numbers are needed there"
        else:
            hint = "use --ignore NAME to leave one out, or turn it into numbers"
        raise TableError(f"{len(odd)} {self.kind}(s) not numeric: {shown}{more}; {hint}")

    def check_finite(self, X: np.ndarray, features: list[int], chosen: bool) -> None:
        counts = np.count_nonzero(~np.isfinite(X), axis=0)
        bad = np.flatnonzero(counts)
        if len(bad) == 0:
            return
        shown = ", ".join(f"{self.names[features[i]]!r} ({counts[i]})" for i in bad[:5])
        more = ", ..." if len(bad) > 5 else ""
        advice = "" if chosen else f", or leave such {self.kind}s out with --ignore NAME"
        raise TableError(
            f"{counts.sum()} missing or infinite value(s) in {len(bad)} of {len(features)} "
            f"features: {shown}{more}; fill them in or drop these samples{advice}"
        )

    def labels(self, goal: int, rows: list[str]) -> np.ndarray:
        cells = self.sheet.texts.get(goal) or map(str, self.sheet.numbers[:, goal].tolist())
        labels = [_label(cell) for cell in cells]
        without = [row for row, label in zip(rows, labels) if label in MISSING]
        if without:
            raise TableError(
                f"{len(without)} sample(s) have no label in {self.names[goal]!r}: "
                f"{listed(without)}; drop them or fill the labels in"
            )
        return np.array(labels, dtype=np.str_)

    def example(self, j: int) -> str:
        """The first cell of a text column that is not a number, if there is one."""
        cells = self.filled(j)
        return next((cell for cell in cells if parse_number(cell) is None), (cells or [""])[0])

    def evidence(self, j: int, rows: list[str]) -> str:
        """What keeps a column from being numeric, and where, if that is a slip."""
        cell = self.example(j)
        if not self.is_mistyped(j):
            return f"e.g. {cell!r:.40}"
        return f"{cell!r:.40} in sample {rows[self.sheet.texts[j].index(cell)]!r}"

    def with_close(self, missing: Sequence[str]) -> str:
        """Up to ten names, the first three with those of the table that look alike."""
        parts = [repr(name) for name in missing[:10]]
        for i, name in enumerate(missing[:3]):
            if close := close_names(name, self.names):
                parts[i] += f" (close: {listed(close)})"
        return ", ".join(parts) + (", ..." if len(missing) > 10 else "")


def _are_integers(values: np.ndarray) -> bool:
    return bool(np.isfinite(values).all() and np.all(values == np.trunc(values)))


def _are_distinct_integers(values: np.ndarray) -> bool:
    return _are_integers(values) and len(np.unique(values)) == len(values)


def _mostly_distinct_integers(values: np.ndarray) -> bool:
    # A patient may have given two samples.
    return _are_integers(values) and 2 * len(np.unique(values)) >= len(values)


def _order(values: np.ndarray) -> str | None:
    """How whole numbers rise or fall from row to row, if they do so all the way."""
    if len(values) < _FEW_ROWS or not _are_integers(values):
        return None
    steps = np.diff(values)
    if np.all(steps > 0):
        return "increasing"
    return "decreasing" if np.all(steps < 0) else None


def _label(text: str) -> str:
    """1.0 and 1 are one class, whatever the file's number format."""
    return re.sub(r"^([+-]?\d+)\.0*$", r"\1", text)
