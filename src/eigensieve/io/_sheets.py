"""From a file to a sheet: names, numbers, and the few columns that are text.

One reader per format. None of them judges what it reads: that is the work of
``tables.py``, the same for all formats.
"""

from __future__ import annotations

import csv
import gzip
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from eigensieve.errors import MissingExtraError, TableError

MISSING = frozenset({"", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL"})
# Tried in this order on the header line; a .csv with semicolons is the European habit.
DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".txt": "\t"}
# Put after the last line of a file: a quotation mark that is not closed would swallow it.
_END = "\x03end of the table\x03"
SUFFIXES = ".csv, .tsv, .txt (each also with .gz), .parquet, .npz"


@dataclass
class Sheet:
    """What a file holds; column j is text if j is in ``texts``, else ``numbers[:, j]``."""

    names: list[str]
    numbers: np.ndarray
    texts: dict[int, list[str]]
    rows: list[str] | None = None
    delimiter: str | None = None  # of a text file
    notes: list[str] = field(default_factory=list)


_Reader = Callable[[Path, str | None, frozenset[str], bool], Sheet]


def read_sheet(path: Path, target: str | None, ignore: frozenset[str], transpose: bool) -> Sheet:
    """Read a file by the reader its suffix asks for.

    The target and the ignored names are text even where they look like numbers. What goes
    wrong is a TableError, or an error of the library that reads the bytes.
    """
    return _reader(path)(path, target, ignore, transpose)


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
        reader = csv.reader(itertools.chain(lines, [_END]), delimiter=self.delimiter)
        begin = self.skip + 1
        for row in reader:
            if row == [_END]:
                return
            if row and row[-1].endswith(_END):
                raise _not_closed(begin)
            if len(row) == len(self.header):
                yield row
            elif len(row) > 1 or "".join(row).strip():
                raise self._ragged(row, self.skip + reader.line_num)
            begin = self.skip + reader.line_num + 1

    def _ragged(self, row: list[str], line: int) -> TableError:
        advice = "every line needs the same number"
        if _has_line_end(row):
            advice += "; look for a quotation mark that is not closed in the lines above"
        return TableError(
            f"line {line} has {len(row)} fields, the header has {len(self.header)}; {advice}"
        )


def _not_closed(line: int) -> TableError:
    return TableError(
        f"a quotation mark that is opened on line {line} is not closed; close it or take it out"
    )


def _has_line_end(cells: Iterable[str]) -> bool:
    return any("\n" in cell or "\r" in cell for cell in cells)


def _open_text(path: Path) -> TextIO:
    # newline="" leaves line ends inside quotes to the csv module.
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return open(path, encoding="utf-8-sig", newline="")


def _read_text(path: Path, target: str | None, ignore: frozenset[str], transpose: bool) -> Sheet:
    layout = _layout(path, transpose)
    if transpose:
        sheet = _read_rows(layout, ignore | ({target} if target is not None else set()))
    else:
        sheet = _read_columns(layout, target)
    sheet.delimiter = layout.delimiter
    return sheet


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
    if first is None and _has_line_end(header):
        raise _not_closed(blank + 1)
    if first is None:
        raise TableError("has a header but no rows below it")
    # R's write.table gives the column of row names no name. A number there, or an
    # empty last field (a delimiter at the line's end), would be some other accident.
    if (
        len(first) == len(header) + 1
        and first[-1]
        and (transpose or parse_number(first[0]) is None)
    ):
        header = ["", *header]
    return _Layout(path, delimiter, header, first, skip)


def _read_columns(layout: _Layout, target: str | None) -> Sheet:
    # Columns that start with a word, and the target, are text from the start.
    text = {
        j
        for j, (name, cell) in enumerate(zip(layout.header, layout.first))
        if name == target or parse_number(cell) is None
    }
    try:
        return _columns_fast(layout, text)
    except ValueError:
        return _columns_careful(layout, text)


def _columns_fast(layout: _Layout, text: set[int]) -> Sheet:
    """Clean numbers by NumPy's C reader; ValueError for anything else."""
    books: dict[int | str, _Codebook] = {j: _Codebook() for j in text}
    with layout.lines() as lines:
        numbers = _loadtxt(lines, layout, books)
    texts = {j: books[j].decode(numbers[:, j]) for j in text}
    return Sheet(layout.header, numbers, texts)


def _columns_careful(layout: _Layout, text: set[int]) -> Sheet:
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
    return Sheet(layout.header, np.array(values), texts)


def _read_rows(layout: _Layout, apart: frozenset[str]) -> Sheet:
    try:
        return _rows_fast(layout, apart)
    except ValueError:
        with layout.lines() as lines:
            return _rows_careful(layout.records(lines), layout.header[1:], apart)


def _rows_fast(layout: _Layout, apart: frozenset[str]) -> Sheet:
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
    return Sheet(names, block[:, 1:].T, texts, layout.header[1:])


def _rows_careful(
    records: Iterable[list[str]], samples: list[str], apart: Collection[str]
) -> Sheet:
    names: list[str] = []
    values, texts = [], {}
    for j, (name, *cells) in enumerate(records):
        names.append(name.strip())
        numbers, odd = _numbers(cells)
        values.append(numbers)
        if odd or names[-1] in apart:
            texts[j] = [cell.strip() for cell in cells]
    numbers = np.array(values).reshape(len(names), len(samples))
    return Sheet(names, numbers.T, texts, samples)


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
    if any(_has_line_end(book) for book in books.values()):
        raise ValueError("a cell of several lines: the careful reader sees whether it is closed")
    return numbers


def _numbers(cells: list[str]) -> tuple[np.ndarray, list[int]]:
    """Cells as numbers (NaN where missing), and the positions of those that are text."""
    try:
        if "_" not in "".join(cells):  # float() takes 1_000 for a number
            return np.fromiter(map(float, cells), np.float64, len(cells)), []
    except ValueError:
        pass
    parsed = [parse_number(cell) for cell in cells]
    odd = [j for j, value in enumerate(parsed) if value is None]
    return np.array([np.nan if value is None else value for value in parsed]), odd


def parse_number(cell: str) -> float | None:
    """NaN for a missing value, None for text."""
    cell = cell.strip()
    if cell in MISSING:
        return np.nan
    try:
        return None if "_" in cell else float(cell)
    except ValueError:
        return None


# ---------------------------------------------------------------- binary formats


def _read_parquet(path: Path, target: str | None, ignore: frozenset[str], transpose: bool) -> Sheet:
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


def _sheet_of_columns(frame: Any, target: str | None) -> Sheet:
    import pandas as pd

    names = [str(name) for name in frame.columns]
    numeric = [j for j, dtype in enumerate(frame.dtypes) if _is_numeric(dtype)]
    numbers = np.full(frame.shape, np.nan)
    numbers[:, numeric] = frame.iloc[:, numeric].to_numpy(np.float64, na_value=np.nan)
    text = set(range(len(names))).difference(numeric)
    text.update(j for j, name in enumerate(names) if name.strip() == target)
    texts = {j: _cells(frame.iloc[:, j]) for j in sorted(text)}
    plain = isinstance(frame.index, pd.RangeIndex)
    return Sheet(names, numbers, texts, None if plain else _cells(frame.index.to_series()))


def _sheet_of_rows(frame: Any, apart: frozenset[str]) -> Sheet:
    """Features in rows; the index, or else the first column, holds their names."""
    import pandas as pd

    if isinstance(frame.index, pd.RangeIndex):
        names, frame = _cells(frame.iloc[:, 0]), frame.iloc[:, 1:]
    else:
        names = _cells(frame.index.to_series())
    samples = [str(name).strip() for name in frame.columns]
    if apart.isdisjoint(names) and all(_is_numeric(dtype) for dtype in frame.dtypes):
        return Sheet(names, frame.to_numpy(np.float64, na_value=np.nan).T.copy(), {}, samples)
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


def _read_npz(path: Path, target: str | None, ignore: frozenset[str], transpose: bool) -> Sheet:
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
    sheet = Sheet([], np.array(X.T if transpose else X, dtype=np.float64), {})
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
