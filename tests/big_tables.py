"""The same numbers in tables of every kind that estimators take: sparse, in blocks, on a device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import eigensieve as es
from tests.device_arrays import DEVICES, sender

Maker = Callable[[np.ndarray, Path], Any]


def memmap(X: np.ndarray, folder: Path) -> Any:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def dask_rows(X: np.ndarray, folder: Path) -> Any:
    return pytest.importorskip("dask.array").from_array(X, chunks=(11, X.shape[1]))


def dask_tiles(X: np.ndarray, folder: Path) -> Any:
    return pytest.importorskip("dask.array").from_array(X, chunks=(17, X.shape[1] // 4 + 1))


def dask_one_chunk(X: np.ndarray, folder: Path) -> Any:
    return pytest.importorskip("dask.array").from_array(X, chunks=X.shape)


def zarr_array(X: np.ndarray, folder: Path) -> Any:
    zarr = pytest.importorskip("zarr")
    path = str(folder / "X.zarr")
    array = zarr.open(
        path, mode="w", shape=X.shape, chunks=(13, X.shape[1] // 4 + 1), dtype=X.dtype
    )
    array[:] = X
    return array


def hdf5(X: np.ndarray, folder: Path) -> Any:
    # a name of its own: an earlier file may still be open
    path = folder / f"X{len(list(folder.glob('*.h5')))}.h5"
    file = pytest.importorskip("h5py").File(path, "w")
    return file.create_dataset("X", data=X, chunks=(17, X.shape[1] // 4 + 1))


def dask_frame(X: np.ndarray, folder: Path) -> Any:
    frame = pd.DataFrame(X, columns=names_of(X))
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=4)


def parquet(X: np.ndarray, folder: Path) -> Any:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(dict(zip(names_of(X), X.T))), folder / "X.pq", row_group_size=17)
    return pq.ParquetFile(folder / "X.pq")


def annotated(X: np.ndarray, folder: Path) -> Any:
    return pytest.importorskip("anndata").AnnData(X, var=pd.DataFrame(index=names_of(X)))


def h5ad(X: np.ndarray, folder: Path) -> Any:
    """A sparse AnnData that stays in its file."""
    anndata = pytest.importorskip("anndata")
    whole = anndata.AnnData(sparse.csr_matrix(X), var=pd.DataFrame(index=names_of(X)))
    whole.write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r")


def names_of(X: np.ndarray) -> list[str]:
    """The names that tables with names give to the columns."""
    return [f"gene {j}" for j in range(X.shape[1])]


MAKERS: dict[str, Maker] = {
    "memmap": memmap,
    "dask rows": dask_rows,
    "dask tiles": dask_tiles,
    "dask one chunk": dask_one_chunk,
    "zarr": zarr_array,
    "hdf5": hdf5,
}
WITH_NAMES: dict[str, Maker] = {
    "dask frame": dask_frame,
    "parquet": parquet,
    "anndata": annotated,
    "h5ad": h5ad,
}
SPARSE: dict[str, Maker] = {
    "csr": lambda X, folder: sparse.csr_array(X),
    "csc": lambda X, folder: sparse.csc_matrix(X),
}
KINDS = (*SPARSE, *MAKERS, *WITH_NAMES, *DEVICES)


def as_kind(X: np.ndarray, kind: str, folder: Path) -> Any:
    """X as a table of a kind; a test whose library is missing is skipped."""
    return sender(kind)(X) if kind in DEVICES else (SPARSE | MAKERS | WITH_NAMES)[kind](X, folder)


def make_classes(
    shape: tuple[int, int], n_classes: int, density: float = 1.0, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Classes that differ in eight columns; column 20 is a copy of 3, and 25 is constant."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=shape) * (rng.random(shape) < density)
    y = np.array(list("abcdef"))[np.arange(shape[0]) % n_classes]
    X[y == "a", :5] += 2.0
    X[y == "b", 3:8] -= 1.5
    X[:, 20] = X[:, 3]
    X[:, 25] = 5.0
    return X, y


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


def assert_same_fit(
    found: Any, wanted: Any, X: np.ndarray, fitted: Sequence[str], tol: float
) -> None:
    """The fitted attributes of these names, the projection and the predictions agree."""
    for name in fitted:
        assert hasattr(found, name) == hasattr(wanted, name), name
        if hasattr(wanted, name):
            a, b = np.asarray(getattr(found, name)), np.asarray(getattr(wanted, name))
            np.testing.assert_allclose(a, b, rtol=0, atol=tol * max(1, np.abs(b).max()))
    np.testing.assert_allclose(found.transform(X), wanted.transform(X), atol=100 * tol)
    assert np.array_equal(found.predict(X), wanted.predict(X))
