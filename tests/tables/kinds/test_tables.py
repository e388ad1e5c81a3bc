"""Tables that are read in blocks: every kind gives the numbers of the array it was made from."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from eigensieve.errors import InputError
from eigensieve.tables.kinds import big_table as tables
from eigensieve.tables.kinds.big_table import BigTable, join_pieces
from eigensieve.tables.kinds.opening import as_big_table

Maker = Callable[[np.ndarray, Path], Any]


def mapped(X: np.ndarray, folder: Path) -> Any:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def transposed_map(X: np.ndarray, folder: Path) -> Any:
    return mapped(np.ascontiguousarray(X.T), folder).T


def dask_array(X: np.ndarray, folder: Path, chunks: Any = (7, 4)) -> Any:
    return pytest.importorskip("dask.array").from_array(X, chunks=chunks)


def dask_frame(X: np.ndarray, folder: Path) -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    return pytest.importorskip("dask.dataframe").from_pandas(frame, npartitions=3)


def zarr_array(X: np.ndarray, folder: Path, chunks: Any = (6, 5)) -> Any:
    zarr = pytest.importorskip("zarr")
    array = zarr.open(str(folder / "X.zarr"), mode="w", shape=X.shape, chunks=chunks, dtype=X.dtype)
    array[:] = X
    return array


def hdf5(X: np.ndarray, folder: Path, **options: Any) -> Any:
    file = pytest.importorskip("h5py").File(folder / "X.h5", "w")
    return file.create_dataset("X", data=X, **options)


def parquet(X: np.ndarray, folder: Path) -> Any:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {f"g{j}": X[:, j] for j in range(X.shape[1])}
    pq.write_table(pa.table(columns), folder / "X.parquet", row_group_size=5)
    return pq.ParquetFile(folder / "X.parquet")


def parquet_dataset(X: np.ndarray, folder: Path) -> Any:
    parquet(X, folder)
    return pytest.importorskip("pyarrow.dataset").dataset(folder / "X.parquet")


def backed_anndata(X: np.ndarray, folder: Path, make: Any = np.asarray) -> Any:
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    names = pandas.DataFrame(index=[f"g{j}" for j in range(X.shape[1])])
    cells = pandas.DataFrame(index=[f"c{i}" for i in range(X.shape[0])])
    anndata.AnnData(make(X), obs=cells, var=names).write_h5ad(folder / "X.h5ad")
    return anndata.read_h5ad(folder / "X.h5ad", backed="r")


def sparse_anndata(X: np.ndarray, folder: Path) -> Any:
    return backed_anndata(X, folder, pytest.importorskip("scipy.sparse").csr_matrix)


KINDS = {
    "memmap": mapped,
    "transposed memmap": transposed_map,
    "dask": dask_array,
    "dask, one chunk": partial(dask_array, chunks=-1),
    "dask frame": dask_frame,
    "zarr": zarr_array,
    "zarr by columns": partial(zarr_array, chunks=(23, 1)),
    "hdf5 in one piece": hdf5,
    "hdf5 chunked": partial(hdf5, chunks=(4, 3)),
    "parquet": parquet,
    "parquet dataset": parquet_dataset,
    "h5ad": backed_anndata,
    "sparse h5ad": sparse_anndata,
}


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Maker:
    return KINDS[request.param]


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(23, 11)).round(3)


@pytest.fixture(params=[1, 50, 10**6])
def block_entries(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", request.param)
    return request.param


def opened(kind: Maker, X: np.ndarray, folder: Path) -> BigTable:
    table = as_big_table(kind(X, folder))
    assert table is not None
    return table


def test_blocks_cover_the_table_once(kind, X, tmp_path, block_entries) -> None:
    table = opened(kind, X, tmp_path)
    assert table.shape == X.shape
    rows, columns = np.full(X.shape, np.nan), np.full(X.shape, np.nan)
    for where, block in table.row_blocks():
        assert np.isnan(rows[where]).all()
        rows[where] = block
    for where, block in table.column_blocks():
        assert np.isnan(columns[:, where]).all()
        columns[:, where] = block
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(columns, X)


def test_blocks_are_small(X, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", 50)
    table = opened(mapped, X, tmp_path)
    assert max(block.size for _, block in table.row_blocks()) <= 50
    assert max(block.size for _, block in table.column_blocks()) <= 50


def test_columns_come_in_the_order_asked_for(kind, X, tmp_path) -> None:
    table = opened(kind, X, tmp_path)
    wanted = [7, 2, 10, 2]
    np.testing.assert_array_equal(table.columns(wanted), X[:, wanted])


def sums(where: slice, block: np.ndarray) -> np.ndarray:
    return block.sum(axis=0) + where.start * 0.0


def test_a_reduction_sees_every_row_once(kind, X, tmp_path, block_entries) -> None:
    total = opened(kind, X, tmp_path).reduce_rows(sums, operator.add)
    np.testing.assert_allclose(total, X.sum(axis=0), atol=1e-12)


def span(where: slice, block: np.ndarray) -> list[tuple[int, int]]:
    return [(where.start, where.stop)]


def test_a_reduction_knows_which_rows_it_sees(kind, X, tmp_path, block_entries) -> None:
    spans = sorted(opened(kind, X, tmp_path).reduce_rows(span, operator.add))
    assert spans[0][0] == 0
    assert spans[-1][1] == len(X)
    assert all(a[1] == b[0] for a, b in itertools.pairwise(spans))


def test_names_are_those_of_the_table(X, tmp_path) -> None:
    for kind in (dask_frame, parquet, backed_anndata):
        names = opened(kind, X, tmp_path).names
        assert names is not None
        assert names.tolist() == [f"g{j}" for j in range(11)]
    assert opened(mapped, X, tmp_path).names is None


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_numbers_are_refused(kind, X, tmp_path, bad) -> None:
    X[5, 3] = bad
    table = opened(kind, X, tmp_path)
    with pytest.raises(InputError, match="NaN or infinity"):
        list(table.row_blocks())
    with pytest.raises(InputError, match="NaN or infinity"):
        list(table.column_blocks())
    with pytest.raises(InputError, match="NaN or infinity"):
        table.columns([3])
    with pytest.raises(InputError, match="NaN or infinity"):
        table.reduce_rows(sums, operator.add)


def test_huge_numbers_are_no_infinity(X, tmp_path) -> None:
    X[:] = 1e308  # their sum overflows
    assert len(list(opened(mapped, X, tmp_path).row_blocks())) == 1


@pytest.mark.parametrize("dtype", ["float32", "int16", "uint8", "bool"])
def test_numbers_of_every_type(X, tmp_path, dtype) -> None:
    Y = (X > 0).astype(dtype)
    for kind in (mapped, dask_array, zarr_array, hdf5, parquet):
        table = opened(kind, Y, tmp_path)
        np.testing.assert_array_equal(np.concatenate([b for _, b in table.row_blocks()]), Y)


def test_text_is_refused(tmp_path) -> None:
    words = np.array([["a", "b"], ["c", "d"]])
    for kind in (mapped, dask_array):
        with pytest.raises(InputError, match="must hold real numbers"):
            opened(kind, words, tmp_path)
    with pytest.raises(InputError, match="column 'g0' of type"):
        opened(parquet, words, tmp_path)


def test_a_table_without_columns_is_refused(tmp_path) -> None:
    with pytest.raises(InputError, match="samples x features"):
        opened(dask_array, np.zeros((4, 0)), tmp_path)
    with pytest.raises(InputError, match="samples x features"):
        opened(partial(dask_array, chunks=-1), np.zeros(4), tmp_path)


def test_a_dask_array_of_unknown_length_is_explained(X, tmp_path) -> None:
    array = dask_array(X, tmp_path)
    with pytest.raises(InputError, match="compute_chunk_sizes"):
        as_big_table(array[array[:, 0] > 0])


def test_what_lies_in_memory_is_no_big_table() -> None:
    pandas = pytest.importorskip("pandas")
    for X in (np.zeros((2, 2)), [[1.0]], pandas.DataFrame({"a": [1.0]})):
        assert as_big_table(X) is None


def test_pieces_are_joined_and_never_cut() -> None:
    def ends(cuts: list[int], most: int) -> list[int]:
        return [part.stop for part in join_pieces(cuts, cuts[-1], most)]

    assert ends([0, 2, 4, 6, 20, 21], 4) == [4, 6, 20, 21]
    assert ends([0, 3], 100) == [3]
    assert [s.stop for s in join_pieces(None, 10, 4)] == [4, 8, 10]


def test_a_chunk_is_computed_once_in_a_pass(X) -> None:
    da = pytest.importorskip("dask.array")
    calls = []

    def load(block: np.ndarray, block_info: Any = None) -> np.ndarray:
        calls.append(block_info[0]["chunk-location"])
        return block

    array = da.from_array(X, chunks=(6, 11)).map_blocks(load, dtype=X.dtype, meta=X[:0])
    table = as_big_table(array)
    assert table is not None
    list(table.row_blocks())
    assert sorted(calls) == [(i, 0) for i in range(4)]
