"""Which tables are read in blocks; the one place that knows all kinds of them.

A kind is found by the name of its class, so that no library is imported to look for it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from typing import Any

import numpy as np

from ...errors import InputError
from .big_table import BigTable
from .mapped_table import MappedTable, is_mapped

# the package and the class of an object, and where its reader is
READERS = {
    ("dask", "Array"): "dask_table:open_dask_array",
    ("dask", "DataFrame"): "dask_table:open_dask_frame",
    ("dask_expr", "DataFrame"): "dask_table:open_dask_frame",
    ("zarr", "Array"): "stored_table:open_zarr",
    ("h5py", "Dataset"): "stored_table:open_hdf5",
    ("anndata", "AnnData"): "anndata_table:open_anndata",
    ("anndata", "BaseCompressedSparseDataset"): "anndata_table:open_sparse",
    ("pyarrow", "ParquetFile"): "parquet_table:open_parquet",
    ("pyarrow", "Dataset"): "parquet_table:open_parquet",
    ("pyarrow", "Scanner"): "parquet_table:refuse_scanner",
}
GROUPS = {("zarr", "Group"), ("h5py", "Group")}


def as_big_table(X: Any) -> BigTable | None:
    """X as a table that is read in blocks, or None if it is none of those.

    Memory-mapped arrays, dask arrays and data frames, zarr arrays, HDF5 data sets, AnnData (backed
    or not), parquet files (``pyarrow.parquet.ParquetFile`` or ``pyarrow.dataset``).

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryFile
    >>> from eigensieve.tables.kinds.opening import as_big_table
    >>> with TemporaryFile() as file:
    ...     X = np.memmap(file, np.float32, "w+", shape=(1000, 20))
    >>> as_big_table(X)
    MappedTable(1000 samples, 20 features)
    >>> as_big_table(np.zeros((3, 3))) is None
    True
    """
    if isinstance(X, BigTable):
        return X
    if isinstance(X, np.ndarray):
        return MappedTable(X) if is_mapped(X) else None
    _refuse_others(X)
    for name in _names(X) & READERS.keys():
        module, _, function = READERS[name].partition(":")
        table: BigTable = getattr(import_module(f"{__package__}.{module}"), function)(X)
        return table
    return None


def is_anndata(X: Any) -> bool:
    """Whether it is an AnnData, which has its labels and its names in it."""
    return ("anndata", "AnnData") in _names(X)


def matrix_of(data: Any) -> Any:
    """The .X of an AnnData; None if it has none, which one that is backed says by a KeyError."""
    with suppress(KeyError):
        return data.X
    return None


def _refuse_others(X: Any) -> None:
    """Say of what only leads to a table where that table is."""
    if isinstance(X, str | os.PathLike):
        raise InputError(
            f"X is a path ({os.fspath(X)!r}); open it first: numpy.load(path, mmap_mode='r'), "
            "zarr.open(path, mode='r'), h5py.File(path)['name'], pyarrow.dataset.dataset(path), "
            "anndata.read_h5ad(path, backed='r')"
        )
    if _names(X) & GROUPS:
        kind = "zarr group" if _names(X) & {("zarr", "Group")} else "HDF5 file, or a group of it"
        raise InputError(f"X is a {kind}; give one of the arrays in it: X['name']")


def _names(X: Any) -> set[tuple[str, str]]:
    """The package and the name of the class of X, and of those that it is made from."""
    return {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(X).__mro__}
