"""Read a table from disk: numbers, names, row identifiers and labels.

``_sheets.py`` turns a file of any format into a sheet; here the target, the
identifiers and the features of the sheet are found and judged.
"""

from __future__ import annotations

import csv
import difflib
import gzip
import itertools
import os
import re
import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from eigensieve.errors import TableError

from ._sheets import MISSING, Sheet, read_sheet

_DECIMAL_COMMA = re.compile(r"[+-]?[\d.,]*\d,\d[\d.,]*(e[+-]?\d+)?", re.IGNORECASE)


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
        raise TableError(f"{path}: {error}; look for a quote that is not closed") from error
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror or error})") from error


class _Assembly:
    """Finds the target, the identifiers and the features of a sheet."""

    def __init__(self, sheet: Sheet, transpose: bool) -> None:
        self.sheet = sheet
        self.kind = "row" if transpose else "column"
        self.raw = [name.strip() for name in sheet.names]
        self.names, renamed = _unique_names(self.raw)
        self.notes = [*sheet.notes, *renamed]

    def table(
        self, target: str | None, ignore: Collection[str], columns: Sequence[str] | None
    ) -> Table:
        n = len(self.sheet.numbers)
        if n == 0:
            raise TableError("has no samples")
        goal = None if target is None else self.find_target(target)
        left_out = self.find_ignored(ignore) | {goal}
        others = [j for j in range(len(self.names)) if j not in left_out]
        self.settle_booleans(others)
        wanted = None if columns is None else self.find_columns(columns, goal)
        marker = self.find_identifier(others, wanted or [])
        features = wanted or [j for j in others if j != marker]
        rows = self.identifiers(marker)
        self.note_unnamed(features)
        self.check_numeric(features, chosen=wanted is not None)
        labels = None if goal is None else self.labels(goal, rows)
        X = np.ascontiguousarray(self.sheet.numbers[:, features])
        self.check_finite(X, features, chosen=wanted is not None)
        return Table(X, [self.names[j] for j in features], rows, labels, self.notes)

    def find_target(self, target: str) -> int:
        found = [j for j, name in enumerate(self.raw) if name == target]
        if len(found) == 1:
            return found[0]
        if found:
            raise TableError(
                f"{len(found)} {self.kind}s are named {target!r}, the target; rename all but one"
            )
        elsewhere = self.sheet.rows if self.kind == "row" else self.sheet.texts.get(0)
        if target in (elsewhere or []):
            other, advice = ("column", "without") if self.kind == "row" else ("row", "with")
            hint = f"a {other} has that name: read the table {advice} --transpose"
        elif close := _close(target, self.names):
            hint = f"close: {_listed(close)}"
        else:
            hint = f"the first {self.kind}s are {_listed(self.names[:5])}"
        raise TableError(f"no {self.kind} is named {target!r}, the target; {hint}")

    def find_ignored(self, ignore: Collection[str]) -> set[int | None]:
        # A repeated name stands for all columns of that name.
        unknown = set(ignore).difference(self.raw, self.names)
        if unknown:
            raise TableError(
                f"to ignore, but not in the table: {self.with_close(sorted(unknown))}; "
                f"the first {self.kind}s are {_listed(self.names[:5])}"
            )
        pairs = enumerate(zip(self.raw, self.names))
        return {j for j, (raw, name) in pairs if raw in ignore or name in ignore}

    def find_columns(self, columns: Sequence[str], goal: int | None) -> list[int]:
        where = {name: j for j, name in enumerate(self.names) if j != goal}
        missing = [name for name in columns if name not in where]
        if missing:
            raise TableError(
                f"{len(missing)} of the {len(columns)} {self.kind}s needed are missing: "
                f"{self.with_close(missing)}; rename or add them"
            )
        if not columns:
            raise TableError("the list of columns to read is empty; name at least one")
        return [where[name] for name in columns]

    def settle_booleans(self, others: Iterable[int]) -> None:
        """Text that only says true or false (or nothing) is a column of 1 and 0."""
        for j in self.sheet.texts.keys() & set(others):
            cells = self.sheet.texts[j]
            if {cell.casefold() for cell in set(cells) - MISSING} <= {"true", "false"}:
                codes = {"true": 1.0, "false": 0.0}
                self.sheet.numbers[:, j] = [codes.get(c.casefold(), np.nan) for c in cells]
                del self.sheet.texts[j]

    def find_identifier(self, others: list[int], wanted: Collection[int]) -> int | None:
        """The first text column, if it stands at the left or tells all rows apart."""
        if self.sheet.rows is not None:
            return None
        n = len(self.sheet.numbers)
        # pandas and R write a row counter without a name; as a feature it would be a leak.
        if others[:1] == [0] and 0 not in wanted and self.raw[0] in ("", "Unnamed: 0"):
            counter = self.sheet.numbers[:, 0] - np.arange(n)
            if 0 not in self.sheet.texts and (np.all(counter == 0) or np.all(counter == 1)):
                return 0
        for j in others:
            if j in self.sheet.texts and j not in wanted:
                distinct = len(set(self.sheet.texts[j])) == n
                comma = _DECIMAL_COMMA.fullmatch(self.example(j))
                return j if (j == others[0] or distinct) and not comma else None
        return None

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
                f"{len(unnamed)} {self.kind}(s) without a name: now {_listed(unnamed)}."
            )

    def check_numeric(self, features: list[int], chosen: bool) -> None:
        if not features:
            raise TableError(f"has no feature {self.kind}s besides the target and identifiers")
        odd = [j for j in features if j in self.sheet.texts]
        if not odd:
            return
        shown = ", ".join(f"{self.names[j]!r} (e.g. {self.example(j)!r:.40})" for j in odd[:5])
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
                f"{_listed(without)}; drop them or fill the labels in"
            )
        return np.array(labels, dtype=np.str_)

    def example(self, j: int) -> str:
        return next((cell for cell in self.sheet.texts[j] if cell not in MISSING), "")

    def with_close(self, missing: Sequence[str]) -> str:
        """Up to ten names, the first three with those of the table that look alike."""
        parts = [repr(name) for name in missing[:10]]
        for i, name in enumerate(missing[:3]):
            if close := _close(name, self.names):
                parts[i] += f" (close: {_listed(close)})"
        return ", ".join(parts) + (", ..." if len(missing) > 10 else "")


def _unique_names(raw: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names that are all different and not empty, and a note on what was changed."""
    names = [name or f"column_{j + 1}" for j, name in enumerate(raw)]
    taken = set(names)
    seen: Counter[str] = Counter()
    renamed: list[tuple[str, str]] = []
    for j, name in enumerate(names):
        seen[name] += 1
        if seen[name] == 1:
            continue
        while (fresh := f"{name}_{seen[name]}") in taken:
            seen[name] += 1
        taken.add(fresh)
        names[j] = fresh
        renamed.append((name, fresh))
    if not renamed:
        return names, []
    old, new = renamed[0]
    note = f"{len(renamed)} repeated name(s) made unique; the second {old!r} is now {new!r}."
    return names, [note]


def _label(text: str) -> str:
    """1.0 and 1 are one class, whatever the file's number format."""
    return re.sub(r"^([+-]?\d+)\.0*$", r"\1", text)


def _close(name: str, names: Sequence[str]) -> list[str]:
    same = [other for other in names if other.casefold() == name.casefold()]
    # difflib takes seconds on 50,000 names: show it those of similar length and start only.
    alike = (
        other
        for other in names
        if abs(len(other) - len(name)) <= 3 and other[:1].casefold() == name[:1].casefold()
    )
    return same[:3] or difflib.get_close_matches(name, list(itertools.islice(alike, 5000)))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
