"""Tables by name: those that come with scikit-learn, and those of a data folder."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..errors import InputError, TableError

EMBEDDED = ("breast_cancer", "digits", "iris", "wine")
VARIABLE = "EIGENSIEVE_DATA"


@dataclass(frozen=True, eq=False)
class NamedTable:
    """A table with labels.

    Attributes
    ----------
    name : str
    X : array (n, p) of float64
    y : array (n,) of labels, as str
    names : the p feature names, as they are in the source (they may repeat)
    source : where it comes from
    """

    name: str
    X: np.ndarray
    y: np.ndarray
    names: list[str]
    source: str


def load_table(name: str) -> NamedTable:
    """Load an embedded table, or ``name.npz`` of the folder that EIGENSIEVE_DATA names.

    Raises
    ------
    InputError
        If there is no such table; the message says which variable to set.

    Examples
    --------
    >>> from eigensieve.datasets.loader import load_table
    >>> load_table("iris").X.shape
    (150, 4)
    """
    if name in EMBEDDED:
        return _load_embedded(name)
    paths = {path.stem: path for path in data_files()}
    if name in paths:
        return _load_file(paths[name])
    raise InputError(f"no table is named {name!r}; {_advice(name, [*EMBEDDED, *paths])}")


def data_files() -> list[Path]:
    """The .npz files of the data folder, sorted; none if the variable is not set."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        return []
    if not Path(folder).is_dir():
        raise InputError(f"{VARIABLE} is {folder!r}, which is not a folder; set it to one")
    return sorted(Path(folder).glob("*.npz"))


def table_names() -> Iterator[tuple[str, str]]:
    """Name and source of every table at hand."""
    yield from ((name, "scikit-learn") for name in EMBEDDED)
    yield from ((path.stem, str(path)) for path in data_files() if path.stem not in EMBEDDED)


def _advice(name: str, known: list[str]) -> str:
    close = difflib.get_close_matches(name, known)
    if close:
        return f"close: {', '.join(close)}"
    if os.environ.get(VARIABLE):
        return f"see: eigensieve data list (looked for {name}.npz in {os.environ[VARIABLE]})"
    return (
        f"embedded are {', '.join(EMBEDDED)}; for others set the variable {VARIABLE} "
        f"to the folder that holds {name}.npz"
    )


def _load_embedded(name: str) -> NamedTable:
    from sklearn import datasets

    data = getattr(datasets, f"load_{name}")()
    labels = np.array([str(label) for label in data.target_names])
    names = [str(feature) for feature in data.feature_names]
    X = np.ascontiguousarray(data.data, dtype=np.float64)
    return NamedTable(name, X, labels[data.target], names, "scikit-learn")


def _load_file(path: Path) -> NamedTable:
    try:
        # Opened here: np.load leaves the file open when the archive is damaged.
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            found = list(archive.files)
            arrays = {key: archive[key] for key in ("X", "y", "feature_names") if key in found}
    except Exception as error:  # damaged bytes raise nearly anything
        raise TableError(f"{path}: not a readable .npz file ({error})") from error
    if not {"X", "y"} <= set(arrays):
        raise TableError(f"{path}: needs the arrays X and y; it has {', '.join(found)}")
    X, y = arrays["X"], arrays["y"]
    if X.ndim != 2 or X.dtype.kind not in "biuf" or y.shape != X.shape[:1]:
        raise TableError(f"{path}: X ({X.dtype} {X.shape}) and y {y.shape} do not make a table")
    names = arrays.get("feature_names", np.array([f"column_{j + 1}" for j in range(X.shape[1])]))
    if names.shape != X.shape[1:]:
        raise TableError(f"{path}: {X.shape[1]} features, but feature_names is {names.shape}")
    values = np.ascontiguousarray(X, dtype=np.float64)
    return NamedTable(path.stem, values, y.astype(str), names.astype(str).tolist(), str(path))
