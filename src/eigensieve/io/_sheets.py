"""From a file to a sheet: one reader per format, chosen by the suffix.

None of them judges what it reads: that is the work of ``tables.py``, the same for all formats.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eigensieve.errors import TableError

from ._npz import read_npz
from ._parquet import read_parquet
from ._sheet import Sheet
from ._text import DELIMITERS, read_text, suffix_of

TEXT_SUFFIXES = ".csv, .tsv, .txt (each also with .gz)"
SUFFIXES = f"{TEXT_SUFFIXES}, .parquet, .npz"

_Reader = Callable[[Path, tuple[str, ...], frozenset[str], bool], Sheet]


def read_sheet(
    path: Path, labels: tuple[str, ...], ignore: frozenset[str], transpose: bool
) -> Sheet:
    """Read a file by the reader its suffix asks for.

    The labels (target and groups) and the ignored names are text even where they look like
    numbers. What goes wrong is a TableError, or an error of the library that reads the bytes.
    """
    return _reader(path)(path, labels, ignore, transpose)


def check_is_file(path: Path) -> None:
    """Refuse a folder, and a path with nothing there."""
    if path.is_dir():
        raise TableError("is a directory; name one table file in it")
    if not path.exists():
        raise TableError("no such file; check the spelling and the folder")


def _reader(path: Path) -> _Reader:
    check_is_file(path)
    suffix = suffix_of(path)
    if suffix in DELIMITERS:
        return read_text
    readers: dict[str, _Reader] = {".parquet": read_parquet, ".npz": read_npz}
    if suffix not in readers or path.suffix.lower() == ".gz":
        raise TableError(f"unknown kind of file; known are {SUFFIXES}")
    return readers[suffix]
