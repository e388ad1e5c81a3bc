"""Which tables are read in blocks; the one place that knows all kinds of them.

A kind is found by the name of its class, so that no library is imported to look for it.
"""

from __future__ import annotations

import mmap
from importlib import import_module
from typing import Any

import numpy as np

from .tables import BigTable

# the package and the class of an object, and where its reader is
READERS = {
    ("dask", "Array"): "dask_table:open_dask_array",
    ("dask", "DataFrame"): "dask_table:open_dask_frame",
    ("dask_expr", "DataFrame"): "dask_table:open_dask_frame",
    ("zarr", "Array"): "stored_table:open_zarr",
    ("h5py", "Dataset"): "stored_table:open_hdf5",
    ("anndata", "AnnData"): "anndata_table:open_anndata",
    ("pyarrow", "ParquetFile"): "parquet_table:open_parquet",
    ("pyarrow", "FileSystemDataset"): "parquet_table:open_parquet",
}


def as_big_table(X: Any) -> BigTable | None:
    """X as a table that is read in blocks, or None if it is none of those.

    Memory-mapped arrays, dask arrays and data frames, zarr arrays, HDF5 data sets, AnnData (backed
    or not), parquet files (``pyarrow.parquet.ParquetFile`` or ``pyarrow.dataset``).

    Examples
    --------
    >>> import numpy as np
    >>> from tempfile import TemporaryFile
    >>> from eigensieve.backends.opening import as_big_table
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
        if not is_mapped(X):
            return None
        from .mapped_table import MappedTable

        return MappedTable(X)
    for kind in type(X).__mro__:
        reader = READERS.get((kind.__module__.partition(".")[0], kind.__name__))
        if reader is not None:
            module, _, function = reader.partition(":")
            table: BigTable = getattr(import_module(f"{__package__}.{module}"), function)(X)
            return table
    return None


def is_mapped(X: np.ndarray) -> bool:
    """Whether the numbers are those of a file that numpy has mapped."""
    base: Any = X
    while base is not None:
        if isinstance(base, np.memmap | mmap.mmap):
            return True
        base = getattr(base, "base", None)
    return False
