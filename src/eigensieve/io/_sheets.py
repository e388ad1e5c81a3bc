"""From a file to a sheet: one reader per format, chosen by the suffix.

None of them judges what it reads: that is the work of ``tables.py``, the same for all formats.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eigensieve.errors import TableError

from ._h5ad import read_h5ad
from ._npz import read_npz
from ._parquet import read_parquet
from ._sheet import Sheet
from ._text import DELIMITERS, read_text, suffix_of

TEXT_SUFFIXES = ".csv, .tsv, .txt (each also with .gz)"
H5AD = ".h5ad"
SUFFIXES = f"{TEXT_SUFFIXES}, .parquet, .npz, {H5AD}"

_Reader = Callable[[Path, tuple[str, ...], frozenset[str], bool], Sheet]


def read_sheet(
    path: Path,
    labels: tuple[str, ...],
    ignore: frozenset[str],
    transpose: bool,
    layer: str | None = None,
) -> Sheet:
    """Read a file by the reader its suffix asks for.

    The labels (target and groups) and the ignored names are text even where they look like
    numbers. What goes wrong is a TableError, or an error of the library that reads the bytes.
    """
    check_is_file(path)
    if path.suffix.lower() == H5AD:
        if transpose:
            raise TableError(f"{H5AD} files have cells in rows: read it without --transpose")
        return read_h5ad(path, labels, layer)
    if layer is not None:
        raise TableError(f"has no layers ({layer!r} was asked for): only {H5AD} files have")
    return _reader(path)(path, labels, ignore, transpose)


def check_is_file(path: Path) -> None:
    """Refuse a folder, and a path with nothing there."""
    if path.is_dir():
        raise TableError("is a directory; name one table file in it")
    if not path.exists():
        raise TableError("no such file; check the spelling and the folder")


def _reader(path: Path) -> _Reader:
    suffix = suffix_of(path)
    if suffix in DELIMITERS:
        return read_text
    readers: dict[str, _Reader] = {".parquet": read_parquet, ".npz": read_npz}
    if suffix not in readers or path.suffix.lower() == ".gz":
        raise TableError(f"unknown kind of file; known are {SUFFIXES}")
    return readers[suffix]
