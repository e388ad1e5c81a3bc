"""Tables of unusual make are read, or refused with a word on what to do."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from eigensieve.errors import InputError
from eigensieve.tables.kinds.big_table import ArrayTable, BigTable
from eigensieve.tables.kinds.opening import as_big_table


@pytest.fixture
def X() -> np.ndarray:
    X = np.random.default_rng(0).normal(size=(20, 6)).round(3)
    X[X < 0] = 0.0
    return X


def opened(source: Any) -> BigTable:
    table = as_big_table(source)
    assert table is not None
    return table


def total(where: slice, block: np.ndarray) -> np.ndarray:
    return block.sum(axis=0)


def assert_reads(table: BigTable, X: np.ndarray) -> None:
    assert table.shape == X.shape
    np.testing.assert_array_equal(table.map_rows(lambda block: block), X)
    np.testing.assert_array_equal(np.hstack([block for _, block in table.column_blocks()]), X)
    np.testing.assert_array_equal(table.columns([4, 1]), X[:, [4, 1]])
    np.testing.assert_allclose(table.reduce_rows(total, operator.add), X.sum(axis=0))


@pytest.mark.parametrize("sizes", [(0, 8, 12), (8, 0, 12), (8, 12, 0), (0, 20, 0, 0)])
@pytest.mark.parametrize("columns", [(6,), (4, 2)])
def test_empty_chunks_of_dask(X, sizes, columns) -> None:
    array = pytest.importorskip("dask.array").from_array(X, chunks=(sizes, columns))
    assert array.chunks[0] == sizes
    assert_reads(opened(array), X)


def test_empty_partitions_of_a_dask_frame(X) -> None:
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    X[:, 0] = np.arange(20)
    frame = frames.from_pandas(pandas.DataFrame(X, columns=list("abcdef")), npartitions=4)
    some = frame[frame["a"] > 12]
    assert 0 in some.map_partitions(len).compute().tolist()
    assert_reads(opened(some), X[13:])


def test_chunks_that_are_sparse(X) -> None:
    da = pytest.importorskip("dask.array")
    for make in (sparse.csr_matrix, sparse.csc_array):
        assert_reads(opened(da.from_array(X, chunks=(7, 4)).map_blocks(make)), X)


def test_masked_chunks_are_refused(X) -> None:
    da = pytest.importorskip("dask.array")
    with pytest.raises(InputError, match="masked dask array"):
        as_big_table(da.ma.masked_equal(da.from_array(X), 0.0))


def mixed_frame(X: np.ndarray) -> Any:
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    frame["a"] = frame["a"] > 0.5
    frame["b"] = frame["b"].astype("Float64")
    frame["c"] = frame["c"].round().astype("Int64")
    frame["d"] = frame["d"].astype("float32")
    return frame


def test_numbers_of_several_types_in_one_frame(X) -> None:
    frames, frame = pytest.importorskip("dask.dataframe"), mixed_frame(X)
    table = opened(frames.from_pandas(frame, npartitions=3))
    assert_reads(table, frame.astype("float64").to_numpy())
    bools = frames.from_pandas(frame[["a", "a"]].set_axis(["x", "y"], axis=1), npartitions=2)
    assert opened(bools).dtype == bool


@pytest.mark.parametrize("column", ["b", "c"])
def test_missing_values_of_pandas_own_types_are_refused(X, column) -> None:
    frames, frame = pytest.importorskip("dask.dataframe"), mixed_frame(X)
    frame.loc[3, column] = None
    table = opened(frames.from_pandas(frame, npartitions=3))
    with pytest.raises(InputError, match="NaN or infinity"):
        list(table.row_blocks())


def test_a_column_of_a_dask_frame_that_is_no_number_is_named(X) -> None:
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    for values in (["u", "v"] * 10, pandas.date_range("2020", periods=20)):
        frame = pandas.DataFrame(X, columns=list("abcdef")).assign(site=values)
        with pytest.raises(InputError, match="column 'site' of type"):
            as_big_table(frames.from_pandas(frame, npartitions=2))


def test_every_dataset_of_pyarrow_is_read(X, tmp_path) -> None:
    pa, ds = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.dataset")
    pq = pytest.importorskip("pyarrow.parquet")
    table = pa.table({f"g{j}": X[:, j] for j in range(6)})
    assert_reads(opened(ds.dataset(table)), X)
    assert_reads(opened(ds.dataset([ds.dataset(table[:8]), ds.dataset(table[8:])])), X)
    with pytest.raises(InputError, match="give the dataset that it was made"):
        as_big_table(ds.dataset(table).scanner())
    labelled = table.append_column("label", pa.array(["u", "v"] * 10))
    pq.write_table(labelled, tmp_path / "X.parquet")
    with pytest.raises(InputError, match=r"'label' of type string.*dataset\(path, schema="):
        as_big_table(pq.ParquetFile(tmp_path / "X.parquet"))
    assert_reads(opened(ds.dataset(tmp_path / "X.parquet", schema=table.schema)), X)


def make_anndata(X: Any) -> Any:
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    cells = pandas.DataFrame(index=[f"c{i}" for i in range(20)])
    genes = pandas.DataFrame(index=[f"g{j}" for j in range(6)])
    return anndata.AnnData(X, obs=cells, var=genes)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_x_of_anndata_in_memory_and_backed(X, tmp_path, make) -> None:
    data = make_anndata(make(X))
    assert_reads(opened(data), X)
    data.write_h5ad(tmp_path / "X.h5ad")
    backed = pytest.importorskip("anndata").read_h5ad(tmp_path / "X.h5ad", backed="r")
    assert_reads(opened(backed.X), X)
    table = opened(backed)
    assert_reads(table, X)
    assert table.kind == "an AnnData object"
    assert table.names is not None
    assert table.names.tolist() == [f"g{j}" for j in range(6)]


def test_x_of_anndata_may_be_a_dask_array(X) -> None:
    data = make_anndata(pytest.importorskip("dask.array").from_array(X, chunks=(7, 4)))
    assert_reads(opened(data), X)


def test_anndata_without_x() -> None:
    with pytest.raises(InputError, match=r"without X was given.*layers"):
        as_big_table(make_anndata(None))


@pytest.mark.parametrize("path", ["X.npy", Path("X.npy")])
def test_a_path_is_no_table(path) -> None:
    with pytest.raises(InputError, match=r"X is a path \('X.npy'\); open it first: numpy.load"):
        as_big_table(path)


def test_groups_are_no_tables(tmp_path) -> None:
    zarr, h5py = pytest.importorskip("zarr"), pytest.importorskip("h5py")
    with pytest.raises(InputError, match=r"a zarr group; give one of the arrays in it: X\['name'"):
        as_big_table(zarr.open_group(tmp_path / "X.zarr", mode="w"))
    with h5py.File(tmp_path / "X.h5", "w") as file:
        for group in (file, file.create_group("g")):
            with pytest.raises(InputError, match="HDF5 file, or a group of it; give one"):
                as_big_table(group)


def test_a_closed_file_is_explained(X, tmp_path) -> None:
    with pytest.importorskip("h5py").File(tmp_path / "X.h5", "w") as file:
        data = file.create_dataset("X", data=X)
    with pytest.raises(InputError, match="closed; keep the file open"):
        as_big_table(data)


def test_an_array_in_memory_as_part_of_a_table(X) -> None:
    part = ArrayTable(X, "a part", np.array(list("abcdef")), start=100)
    assert_reads(part, X)
    assert [where for where, _ in part.row_blocks()] == [slice(100, 120)]
