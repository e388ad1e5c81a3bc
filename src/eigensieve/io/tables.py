"""Read a table from disk: numbers, names, row identifiers and labels.

Each format is first read into a ``_Sheet`` (names, numbers, and the few columns
that are text); one common part then finds the target, the identifiers and the
features, and judges them.
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
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from eigensieve.errors import MissingExtraError, TableError

MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"})
# Tried in this order on the header line; a .csv with semicolons is the European habit.
DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".txt": "\t"}
SUFFIXES = ".csv, .tsv, .txt (each also with .gz), .parquet, .npz"
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
        sheet = _reader(path)(path, target, left_out, transpose)
        return _Assembly(sheet, transpose).table(target, left_out, columns)


@dataclass
class _Sheet:
    """What a file holds; column j is text if j is in ``texts``, else ``numbers[:, j]``."""

    names: list[str]
    numbers: np.ndarray
    texts: dict[int, list[str]]
    rows: list[str] | None = None
    notes: list[str] = field(default_factory=list)


_Reader = Callable[[Path, str | None, frozenset[str], bool], _Sheet]


def _reader(path: Path) -> _Reader:
    if path.is_dir():
        raise TableError("is a directory; name one table file in it")
    if not path.exists():
        raise TableError("no such file; check the spelling and the folder")
    suffix = _suffix(path)
    if suffix in DELIMITERS:
        return _read_text
    readers: dict[str, _Reader] = {".parquet": _read_parquet, ".npz": _read_npz}
    if suffix not in readers or path.suffix.lower() == ".gz":
        raise TableError(f"unknown kind of file; known are {SUFFIXES}")
    return readers[suffix]


def _suffix(path: Path) -> str:
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


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


# ---------------------------------------------------------------- delimited text


@dataclass(frozen=True)
class _Layout:
    """Where things are in a delimited file."""

    path: Path
    delimiter: str
    header: list[str]
    first: list[str]  # the first row after the header
    skip: int  # lines before that row

    @contextmanager
    def lines(self) -> Iterator[Iterator[str]]:
        with _open_text(self.path) as file:
            yield itertools.islice(file, self.skip, None)

    def records(self, lines: Iterable[str]) -> Iterator[list[str]]:
        """Rows that all have as many fields as the header."""
        reader = csv.reader(lines, delimiter=self.delimiter)
        for row in reader:
            if len(row) == len(self.header):
                yield row
            elif len(row) > 1 or "".join(row).strip():
                raise TableError(
                    f"line {self.skip + reader.line_num} has {len(row)} fields, the header has "
                    f"{len(self.header)}; every line needs the same number"
                )


def _open_text(path: Path) -> TextIO:
    # newline="" leaves line ends inside quotes to the csv module.
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def _read_text(path: Path, target: str | None, ignore: frozenset[str], transpose: bool) -> _Sheet:
    layout = _layout(path, transpose)
    if transpose:
        return _read_rows(layout, ignore | ({target} if target is not None else set()))
    return _read_columns(layout, target)


def _layout(path: Path, transpose: bool) -> _Layout:
    """Look at the header and the first row only."""
    with _open_text(path) as file:
        blank, line = 0, file.readline()
        while line and not line.strip():
            blank, line = blank + 1, file.readline()
        if not line:
            raise TableError("is empty; expected a header line and rows")
        bare = re.sub(r'"[^"]*"', "", line)
        choices = DELIMITERS[_suffix(path)]
        delimiter = next((mark for mark in choices if mark in bare), choices[0])
        reader = csv.reader(itertools.chain([line], file), delimiter=delimiter)
        header = [name.strip() for name in next(reader)]
        skip = blank + reader.line_num
        first = next((row for row in reader if "".join(row).strip()), None)
    if first is None:
        raise TableError("has a header but no rows below it")
    # R's write.table gives the column of row names no name. A number there, or an
    # empty last field (a delimiter at the line's end), would be some other accident.
    if len(first) == len(header) + 1 and first[-1] and (transpose or _number(first[0]) is None):
        header = ["", *header]
    return _Layout(path, delimiter, header, first, skip)


def _read_columns(layout: _Layout, target: str | None) -> _Sheet:
    # Columns that start with a word, and the target, are text from the start.
    text = {
        j
        for j, (name, cell) in enumerate(zip(layout.header, layout.first))
        if name == target or _number(cell) is None
    }
    try:
        return _columns_fast(layout, text)
    except ValueError:
        return _columns_careful(layout, text)


def _columns_fast(layout: _Layout, text: set[int]) -> _Sheet:
    """Clean numbers by NumPy's C reader; ValueError for anything else."""
    books: dict[int | str, _Codebook] = {j: _Codebook() for j in text}
    with layout.lines() as lines:
        numbers = _loadtxt(lines, layout, books)
    texts = {j: books[j].decode(numbers[:, j]) for j in text}
    return _Sheet(layout.header, numbers, texts)


def _columns_careful(layout: _Layout, text: set[int]) -> _Sheet:
    """Any values; a column that turns out to be text costs a second pass."""
    texts: dict[int, list[str]] = {j: [] for j in text}
    values, late = [], set[int]()
    with layout.lines() as lines:
        for row in layout.records(lines):
            for j, cells in texts.items():
                cells.append(row[j].strip())
                row[j] = "nan"
            numbers, odd = _numbers(row)
            values.append(numbers)
            late.update(odd)
    if late:
        return _columns_careful(layout, text | late)
    return _Sheet(layout.header, np.array(values), texts)


def _read_rows(layout: _Layout, apart: frozenset[str]) -> _Sheet:
    try:
        return _rows_fast(layout, apart)
    except ValueError:
        with layout.lines() as lines:
            return _rows_careful(layout.records(lines), layout.header[1:], apart)


def _rows_fast(layout: _Layout, apart: frozenset[str]) -> _Sheet:
    """Features in rows, the rows named in apart as text; ValueError if others are."""
    quoted = ['"' + name.replace('"', '""') + '"' for name in apart]
    heads = tuple(name + layout.delimiter for name in (*apart, *quoted))
    kept: list[str] = []

    def others(lines: Iterable[str]) -> Iterator[str]:
        for line in lines:
            if line.startswith(heads):
                kept.append(line)
            else:
                yield line

    book = _Codebook()
    with layout.lines() as lines:
        block = _loadtxt(others(lines), layout, {0: book})
    names = book.decode(block[:, 0])
    special = list(layout.records(kept))
    # A name written with blanks around it, say, is left to the careful reader.
    if not apart.isdisjoint(names) or any(row[0].strip() not in apart for row in special):
        raise ValueError("some row was not recognised by the start of its line")
    texts = {len(names) + i: [c.strip() for c in row[1:]] for i, row in enumerate(special)}
    names += [row[0].strip() for row in special]
    return _Sheet(names, block[:, 1:].T, texts, layout.header[1:])


def _rows_careful(
    records: Iterable[list[str]], samples: list[str], apart: Collection[str]
) -> _Sheet:
    names: list[str] = []
    values, texts = [], {}
    for j, (name, *cells) in enumerate(records):
        names.append(name.strip())
        numbers, odd = _numbers(cells)
        values.append(numbers)
        if odd or names[-1] in apart:
            texts[j] = [cell.strip() for cell in cells]
    numbers = np.array(values).reshape(len(names), len(samples))
    return _Sheet(names, numbers.T, texts, samples)


class _Codebook(dict[str, float]):
    """Stands in for text while NumPy reads numbers: each new text gets the next code."""

    def __call__(self, text: str) -> float:
        return self.setdefault(text, float(len(self)))

    def decode(self, codes: np.ndarray) -> list[str]:
        texts = [text.strip() for text in self]
        return [texts[int(code)] for code in codes]


def _loadtxt(
    lines: Iterator[str], layout: _Layout, books: dict[int | str, _Codebook]
) -> np.ndarray:
    some = next(lines, None)
    if some is None:  # np.loadtxt would warn
        raise ValueError("no lines")
    numbers = np.loadtxt(
        itertools.chain([some], lines),
        delimiter=layout.delimiter,
        comments=None,
        quotechar='"',
        converters=books,
        ndmin=2,
    )
    if numbers.shape[1] != len(layout.header):
        raise ValueError("not as wide as the header")
    return numbers


def _numbers(cells: list[str]) -> tuple[np.ndarray, list[int]]:
    """Cells as numbers (NaN where missing), and the positions of those that are text."""
    try:
        if "_" not in "".join(cells):  # float() takes 1_000 for a number
            return np.fromiter(map(float, cells), np.float64, len(cells)), []
    except ValueError:
        pass
    parsed = [_number(cell) for cell in cells]
    odd = [j for j, value in enumerate(parsed) if value is None]
    return np.array([np.nan if value is None else value for value in parsed]), odd


def _number(cell: str) -> float | None:
    cell = cell.strip()
    if cell in MISSING:
        return np.nan
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


# ---------------------------------------------------------------- binary formats


def _read_parquet(
    path: Path, target: str | None, ignore: frozenset[str], transpose: bool
) -> _Sheet:
    try:
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    try:
        with pq.ParquetFile(path) as file:
            frame = file.read().to_pandas()
    except Exception as error:  # damaged bytes raise nearly anything
        raise TableError(
            f"not a readable parquet file ({error}); copy or write it again"
        ) from error
    if target is not None and target in frame.index.names:
        frame = frame.reset_index()
    apart = ignore | ({target} if target is not None else set())
    return _sheet_of_rows(frame, apart) if transpose else _sheet_of_columns(frame, target)


def _sheet_of_columns(frame: Any, target: str | None) -> _Sheet:
    import pandas as pd

    names = [str(name) for name in frame.columns]
    numeric = [j for j, dtype in enumerate(frame.dtypes) if _is_numeric(dtype)]
    numbers = np.full(frame.shape, np.nan)
    numbers[:, numeric] = frame.iloc[:, numeric].to_numpy(np.float64, na_value=np.nan)
    text = set(range(len(names))).difference(numeric)
    text.update(j for j, name in enumerate(names) if name.strip() == target)
    texts = {j: _cells(frame.iloc[:, j]) for j in sorted(text)}
    plain = isinstance(frame.index, pd.RangeIndex)
    return _Sheet(names, numbers, texts, None if plain else _cells(frame.index.to_series()))


def _sheet_of_rows(frame: Any, apart: frozenset[str]) -> _Sheet:
    """Features in rows; the index, or else the first column, holds their names."""
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex):
        names, frame = _cells(frame.iloc[:, 0]), frame.iloc[:, 1:]
    else:
        names = _cells(frame.index.to_series())
    samples = [str(name).strip() for name in frame.columns]
    if apart.isdisjoint(names) and all(_is_numeric(dtype) for dtype in frame.dtypes):
        return _Sheet(names, frame.to_numpy(np.float64, na_value=np.nan).T.copy(), {}, samples)
    columns = [_cells(frame.iloc[:, j]) for j in range(len(samples))]
    return _rows_careful(([*row] for row in zip(names, *columns)), samples, apart)


def _is_numeric(dtype: Any) -> bool:
    from pandas.api.types import is_complex_dtype, is_numeric_dtype

    return is_numeric_dtype(dtype) and not is_complex_dtype(dtype)


def _cells(column: Any) -> list[str]:
    return [
        "" if missing else str(value).strip()
        for value, missing in zip(column.tolist(), column.isna().tolist())
    ]


def _read_npz(path: Path, target: str | None, ignore: frozenset[str], transpose: bool) -> _Sheet:
    try:
        # Opened here: np.load leaves the file open when the archive is damaged.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            found = list(archive.files)
            arrays = {key: archive[key] for key in ("X", "feature_names", target) if key in found}
    except Exception as error:  # damaged bytes raise nearly anything
        raise TableError(
            f"not a readable .npz file ({error}); write it again with np.savez, without objects"
        ) from error
    X = arrays.get("X")
    if X is None or X.ndim != 2 or X.dtype.kind not in "biuf":
        raise TableError(
            f"needs an array X of numbers in two dimensions; the file has {', '.join(found[:10])}"
        )
    sheet = _Sheet([], np.array(X.T if transpose else X, dtype=np.float64), {})
    n, p = sheet.numbers.shape
    if "feature_names" in arrays:
        sheet.names = _vector("feature_names", arrays["feature_names"], p)
    else:
        sheet.names = [f"column_{j + 1}" for j in range(p)]
        sheet.notes.append(f"The file has no feature_names: named column_1 to column_{p}.")
    if target is not None and target in arrays:
        sheet.texts[p] = _vector(target, arrays[target], n)
        sheet.names = [*sheet.names, target]
    return sheet


def _vector(name: str, array: np.ndarray, length: int) -> list[str]:
    if array.shape != (length,) or array.dtype.kind not in "biufUS":
        raise TableError(
            f"the array {name} has shape {array.shape} and type {array.dtype}; "
            f"expected {length} strings or numbers, to go with X"
        )
    return [str(value).strip() for value in array.astype(str)]


# ---------------------------------------------------------------- from sheet to table


class _Assembly:
    """Finds the target, the identifiers and the features of a sheet."""

    def __init__(self, sheet: _Sheet, transpose: bool) -> None:
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
