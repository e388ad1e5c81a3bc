"""NumPy archives with an array X, and perhaps feature_names, a target and groups."""

from __future__ import annotations

from pathlib import Path
from zipfile import is_zipfile

import numpy as np

from eigensieve.errors import TableError

from ._sheet import Sheet


def read_npz(path: Path, labels: tuple[str, ...], ignore: frozenset[str], transpose: bool) -> Sheet:
    """An .npz file without pickled objects."""
    found, arrays = _load(path, ("X", "feature_names", *labels))
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
    for name in labels:
        if name in arrays:
            sheet.texts[len(sheet.names)] = _vector(name, arrays[name], n)
            sheet.names = [*sheet.names, name]
    return sheet


def _load(path: Path, wanted: tuple[str, ...]) -> tuple[list[str], dict[str, np.ndarray]]:
    """The names of all arrays in the file, and the arrays that are wanted."""
    # Opened here: np.load leaves the file open when the archive is damaged.
    with open(path, "rb") as file:
        if not is_zipfile(file):
            raise TableError(
                "not a readable .npz file (no archive of arrays, or cut off); copy it again, or "
                "write it with np.savez"
            )
        file.seek(0)
        try:
            with np.load(file, allow_pickle=False) as archive:
                found = list(archive.files)
                return found, {key: archive[key] for key in wanted if key in found}
        except Exception as error:  # damaged bytes raise nearly anything
            # what numpy says of objects is advice that would run code from the file
            reason = "an array of objects" if "allow_pickle" in str(error) else error
            raise TableError(
                f"not a readable .npz file ({reason}); write it again with np.savez, without "
                "objects"
            ) from error


def _vector(name: str, array: np.ndarray, length: int) -> list[str]:
    if array.shape != (length,) or array.dtype.kind not in "biufUS":
        raise TableError(
            f"the array {name} has shape {array.shape} and type {array.dtype}; "
            f"expected {length} strings or numbers, to go with X"
        )
    return [str(value).strip() for value in array.astype(str)]
