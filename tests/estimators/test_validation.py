"""The door: every kind of table comes in with its number and names of features."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import DataConversionWarning

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.estimators._projected import project_rows
from eigensieve.estimators._validation import (
    labels_on_host,
    read_columns,
    require_in_memory,
    take_labels,
    validate_table,
)
from eigensieve.tables.kinds.big_table import BigTable
from tests.device_arrays import library

N, P = 12, 5


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, P))


class Model(BaseEstimator):
    """An estimator that only looks at its table."""


def mapped(X: np.ndarray, folder: Any) -> np.ndarray:
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def all_kinds(X: np.ndarray, folder: Any) -> list[Any]:
    torch, da = library("torch"), pytest.importorskip("dask.array")
    kinds = [X, X.tolist(), sparse.csr_matrix(X), sparse.csc_array(X), mapped(X, folder)]
    return [*kinds, da.from_array(X, chunks=(5, 2)), torch.asarray(X)]


def test_every_kind_is_counted_and_read(X, tmp_path) -> None:
    for kind in all_kinds(X, tmp_path):
        model = Model()
        table = validate_table(model, kind, reset=True)
        assert model.n_features_in_ == P
        assert tuple(table.shape) == (N, P)
        columns = read_columns(table, np.array([3, 0]))
        assert columns.dtype == np.float64
        np.testing.assert_allclose(columns, X[:, [3, 0]])


def test_tables_stay_what_they_are(X, tmp_path) -> None:
    model = Model()
    assert isinstance(validate_table(model, mapped(X, tmp_path), reset=True), BigTable)
    assert sparse.issparse(validate_table(model, sparse.coo_matrix(X), reset=True))
    torch = library("torch")
    assert isinstance(validate_table(model, torch.asarray(X), reset=True), torch.Tensor)


def test_another_number_of_features_is_refused(X, tmp_path) -> None:
    model = Model()
    validate_table(model, X, reset=True)
    for kind in all_kinds(X[:, :4], tmp_path):
        with pytest.raises(ValueError, match="4 features, but Model is expecting 5"):
            validate_table(model, kind, reset=False)


def test_names_are_kept_and_compared(X) -> None:
    pandas = pytest.importorskip("pandas")
    frames = pytest.importorskip("dask.dataframe")
    frame = pandas.DataFrame(X, columns=list("abcde"))
    model = Model()
    validate_table(model, frames.from_pandas(frame, npartitions=2), reset=True)
    assert model.feature_names_in_.tolist() == list("abcde")
    validate_table(model, frame, reset=False)
    other = frames.from_pandas(frame[list("abced")], npartitions=2)
    with pytest.raises(InputError, match=r"not those .* the same, in another order"):
        validate_table(model, other, reset=False)
    other = frames.from_pandas(frame.set_axis(list("axcye"), axis=1), npartitions=2)
    with pytest.raises(InputError, match="missing: 'b', 'd'; unexpected: 'x', 'y'"):
        validate_table(model, other, reset=False)
    validate_table(model, pytest.importorskip("dask.array").from_array(X), reset=True)
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_missing_numbers_are_refused(X, tmp_path, bad) -> None:
    X[2, 2] = bad
    for kind in all_kinds(X, tmp_path):
        with pytest.raises(ValueError, match=r"NaN|infinity"):
            read_columns(validate_table(Model(), kind, reset=True), np.arange(P))


def test_tables_that_cannot_go_to_a_device(X, tmp_path) -> None:
    library("torch")
    with pytest.raises(InputError, match="does not lie in memory"):
        validate_table(Model(), mapped(X, tmp_path), reset=True, device="cpu")
    with pytest.raises(InputError, match="dense tables"):
        validate_table(Model(), sparse.csr_matrix(X), reset=True, device="cpu")
    with pytest.raises(OptionError, match="device is 'moon'"):
        validate_table(Model(), X, reset=True, device="moon")


def test_whole_numbers_on_a_device_become_floats() -> None:
    torch = library("torch")
    table = validate_table(Model(), torch.arange(6).reshape(3, 2), reset=True)
    assert table.dtype == torch.float64
    with pytest.raises(InputError, match="real numbers"):
        validate_table(Model(), torch.zeros((2, 2), dtype=torch.complex64), reset=True)


def test_too_few_samples(X, tmp_path) -> None:
    for kind in all_kinds(X[:1], tmp_path):
        with pytest.raises(ValueError, match=r"1 sample|minimum of 2"):
            validate_table(Model(), kind, reset=True, min_samples=2)


def test_labels_from_everywhere() -> None:
    da, torch = pytest.importorskip("dask.array"), library("torch")
    y = np.array([0, 1, 1, 0])
    for labels in (y, y.tolist(), da.from_array(y, chunks=2), torch.asarray(y)):
        np.testing.assert_array_equal(take_labels(labels, 4), y)
    assert take_labels(["a", "b", "a"], 3).tolist() == ["a", "b", "a"]
    with pytest.warns(DataConversionWarning, match="column-vector"):  # as scikit-learn does
        np.testing.assert_array_equal(take_labels(y[:, None], 4), y)


def test_labels_come_to_the_host_as_they_are() -> None:
    y = np.array([0, 1, 1, 0])
    assert labels_on_host(y) is y
    for labels in (pytest.importorskip("dask.array").from_array(y), library("torch").asarray(y)):
        found = labels_on_host(labels)
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, y)


def test_a_score_takes_labels_from_everywhere(X) -> None:
    da, torch = pytest.importorskip("dask.array"), library("torch")
    y = np.arange(N) % 2
    model = es.GroupLassoLDA(2).fit(X, y)
    for labels in (da.from_array(y), torch.asarray(y)):
        assert model.score(X, labels) == model.score(X, y)


@pytest.mark.parametrize(
    ("y", "said"),
    [
        (None, "y is missing"),
        ([0, 1], "X has 3 samples"),
        ([0, 1, None], "missing labels"),
        ([0.5, 1.2, 3.3], "continuous"),
        (np.zeros((3, 2)), "shape"),
    ],
)
def test_bad_labels(y, said) -> None:
    with pytest.raises(ValueError, match=said):
        take_labels(y, 3)


def test_rows_go_through_block_by_block(X, tmp_path, monkeypatch) -> None:
    from eigensieve.tables.kinds import big_table as tables

    monkeypatch.setattr(tables, "BLOCK_ENTRIES", 7 * P)
    model = Model()
    validate_table(model, X, reset=True)
    wide = np.random.default_rng(1).normal(size=(3, P))
    for table in (X, wide):
        checked = validate_table(model, mapped(table, tmp_path), reset=False)
        sums = project_rows(checked, np.arange(P), np.zeros(P), np.ones((P, 1)))
        np.testing.assert_allclose(sums[:, 0], table.sum(axis=1))


def test_what_needs_memory_says_so(X, tmp_path) -> None:
    da, torch = pytest.importorskip("dask.array"), library("torch")
    y = np.arange(N) % 2
    needy = (
        lambda table: es.study(table, y, ks=[1], cv=2, n_repeats=1),
        lambda table: es.PreparedClassifier(es.SparseLDA(2)).fit(table, y),
        lambda table: es.RankedLDA(n_features_to_select=2).fit(table, y),
        lambda table: es.SparseCCA(n_features_to_select=(1, 1)).fit(table, X),
    )
    for fit in needy:
        with pytest.raises(InputError, match=r"a dask array; .* needs a table in memory"):
            fit(da.from_array(X))
        with pytest.raises(InputError, match=r"an array on a device; .* needs a table in memory"):
            fit(torch.asarray(X))
        fit(mapped(X, tmp_path))


def test_what_would_be_in_memory_is_told(X, tmp_path) -> None:
    zarr, pandas = pytest.importorskip("zarr"), pytest.importorskip("pandas")
    pa, ds = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.dataset")
    anndata = pytest.importorskip("anndata")
    cells, genes = (pandas.DataFrame(index=[f"i{i}" for i in range(m)]) for m in X.shape)
    calls = {
        "X.compute()": pytest.importorskip("dask.array").from_array(X),
        "X[:]": zarr.array(X, store=zarr.storage.MemoryStore()),
        "X.X": anndata.AnnData(X, obs=cells, var=genes),
        "X.to_table().to_pandas()": ds.dataset(pa.table({"a": X[:, 0]})),
        "X.cpu().numpy()": library("torch").asarray(X),
    }
    for call, table in calls.items():
        with pytest.raises(InputError, match=re.escape(f"A needs a table in memory: give {call},")):
            require_in_memory(table, "A")


def test_every_mapped_array_is_read_into_memory(X, tmp_path) -> None:
    for array in (mapped(X, tmp_path), np.asarray(mapped(X, tmp_path))):
        read = require_in_memory(array, "A")
        assert type(read) is np.ndarray
        assert read.base is None
    assert require_in_memory(X, "A") is X


def test_a_sparse_tensor_is_refused(X) -> None:
    with pytest.raises(InputError, match="X is a sparse tensor"):
        validate_table(Model(), library("torch").asarray(X).to_sparse(), reset=True)


def test_a_path_is_refused() -> None:
    with pytest.raises(InputError, match="X is a path"):
        validate_table(Model(), "X.npy", reset=True)


def test_what_joblib_has_mapped_is_an_array(X, tmp_path) -> None:
    folder = tmp_path / "joblib_memmapping_folder_1_2_3"
    folder.mkdir()
    table = validate_table(Model(), mapped(X, folder), reset=True)
    assert not isinstance(table, BigTable)
