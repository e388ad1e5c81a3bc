"""Delimited text: fast where all is clean numbers, careful where it is not."""

from __future__ import annotations

import csv
import gzip
import itertools
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np

from eigensieve.errors import TableError

from ._sheet import Sheet, parse_number, parse_numbers, sheet_of_records

# Tried in this order on the header line; a .csv with semicolons is the European habit.
DELIMITERS = {".csv": ",;\t", ".tsv": "\t", ".txt": "\t"}
# Put after the last line of a file: a quotation mark that is not closed would swallow it.
_END = "\x03end of the table\x03"


def suffix_of(path: Path) -> str:
    """The suffix, that of a compressed file without .gz."""
    name = path.name.lower().removesuffix(".gz")
    return Path(name).suffix


@dataclass(frozen=True)
class Layout:
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


def read_text(
    path: Path, labels: tuple[str, ...], ignore: frozenset[str], transpose: bool
) -> Sheet:
    """A .csv, .tsv or .txt file, also compressed."""
    layout = layout_of(path, transpose)
    sheet = _read_rows(layout, ignore.union(labels)) if transpose else _read_columns(layout, labels)
    sheet.delimiter = layout.delimiter
    return sheet


def layout_of(path: Path, transpose: bool) -> Layout:
    """Look at the header and the first row only.

    With ``transpose`` the first column holds names, even where they look like numbers.
    """
    with _open_text(path) as file:
        blank, line = 0, file.readline()
        while line and not line.strip():
            blank, line = blank + 1, file.readline()
        if not line:
            raise TableError("is empty; expected a header line and rows")
        bare = re.sub(r'"[^"]*"', "", line)
        choices = DELIMITERS[suffix_of(path)]
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
    return Layout(path, delimiter, header, first, skip)


def _read_columns(layout: Layout, labels: tuple[str, ...]) -> Sheet:
    # Columns that start with a word, and those of labels, are text from the start.
    text = {
        j
        for j, (name, cell) in enumerate(zip(layout.header, layout.first))
        if name in labels or parse_number(cell) is None
    }
    try:
        return _columns_fast(layout, text)
    except ValueError:
        return _columns_careful(layout, text)


def _columns_fast(layout: Layout, text: set[int]) -> Sheet:
    """Clean numbers by NumPy's C reader; ValueError for anything else."""
    books: dict[int | str, _Codebook] = {j: _Codebook() for j in text}
    with layout.lines() as lines:
        numbers = _loadtxt(lines, layout, books)
    texts = {j: books[j].decode(numbers[:, j]) for j in text}
    return Sheet(layout.header, numbers, texts)


def _columns_careful(layout: Layout, text: set[int]) -> Sheet:
    """Any values; a column that turns out to be text costs a second pass."""
    texts: dict[int, list[str]] = {j: [] for j in text}
    values, late = [], set[int]()
    with layout.lines() as lines:
        for row in layout.records(lines):
            for j, cells in texts.items():
                cells.append(row[j].strip())
                row[j] = "nan"
            numbers, odd = parse_numbers(row)
            values.append(numbers)
            late.update(odd)
    if late:
        return _columns_careful(layout, text | late)
    return Sheet(layout.header, np.array(values), texts)


def _read_rows(layout: Layout, apart: frozenset[str]) -> Sheet:
    try:
        return _rows_fast(layout, apart)
    except ValueError:
        with layout.lines() as lines:
            return sheet_of_records(layout.records(lines), layout.header[1:], apart)


def _rows_fast(layout: Layout, apart: frozenset[str]) -> Sheet:
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


class _Codebook(dict[str, float]):
    """Stands in for text while NumPy reads numbers: each new text gets the next code."""

    def __call__(self, text: str) -> float:
        return self.setdefault(text, float(len(self)))

    def decode(self, codes: np.ndarray) -> list[str]:
        texts = [text.strip() for text in self]
        return [texts[int(code)] for code in codes]


def _loadtxt(lines: Iterator[str], layout: Layout, books: dict[int | str, _Codebook]) -> np.ndarray:
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
        encoding=None,  # converters get text with NumPy 1, too
    )
    if numbers.shape[1] != len(layout.header):
        raise ValueError("not as wide as the header")
    if any(_has_line_end(book) for book in books.values()):
        raise ValueError("a cell of several lines: the careful reader sees whether it is closed")
    return numbers
