"""The same numbers in tables of every kind that is read in blocks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import eigensieve as es

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


def assert_same_lda(ours: es.SparseLDA, plain: es.SparseLDA) -> None:
    """Two classifiers of the same samples: the same choice, the same numbers."""
    np.testing.assert_array_equal(ours.solution_.support, plain.solution_.support)
    np.testing.assert_array_equal(ours.classes_, plain.classes_)
    assert ours.shrinkage_ == pytest.approx(plain.shrinkage_, rel=1e-8)
    assert ours.solution_.objective == pytest.approx(plain.solution_.objective, rel=1e-8)
    for name in ("coef_", "intercept_", "scalings_", "means_", "priors_", "xbar_"):
        np.testing.assert_allclose(
            getattr(ours, name), getattr(plain, name), rtol=1e-8, atol=1e-8, err_msg=name
        )
