"""The same numbers in tables of every kind that is read in blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

Maker = Callable[[np.ndarray, Path], Any]


def memmap(X: np.ndarray, folder: Path) -> Any:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def dask_rows(X: np.ndarray, folder: Path) -> Any:
    return pytest.importorskip("dask.array").from_array(X, chunks=(11, X.shape[1]))


def dask_tiles(X: np.ndarray, folder: Path) -> Any:
    return pytest.importorskip("dask.array").from_array(X, chunks=(17, 4))


def dask_one_chunk(X: np.ndarray, folder: Path) -> Any:
    return pytest.importorskip("dask.array").from_array(X, chunks=X.shape)


def zarr_array(X: np.ndarray, folder: Path) -> Any:
    zarr = pytest.importorskip("zarr")
    path = str(folder / "X.zarr")
    array = zarr.open(path, mode="w", shape=X.shape, chunks=(13, 5), dtype=X.dtype)
    array[:] = X
    return array


def hdf5(X: np.ndarray, folder: Path) -> Any:
    file = pytest.importorskip("h5py").File(folder / "X.h5", "w")
    return file.create_dataset("X", data=X, chunks=(7, min(6, X.shape[1])))


MAKERS: dict[str, Maker] = {
    "memmap": memmap,
    "dask rows": dask_rows,
    "dask tiles": dask_tiles,
    "dask one chunk": dask_one_chunk,
    "zarr": zarr_array,
    "hdf5": hdf5,
}
