"""Some rows and columns of a table on disk are as they are in memory."""

from __future__ import annotations

import numpy as np
import pytest

from eigensieve.errors import InputError
from eigensieve.tables.kinds import big_table as tables
from eigensieve.tables.kinds.big_table import ArrayTable, BigTable
from eigensieve.tables.kinds.opening import as_big_table
from eigensieve.tables.kinds.selected_table import SelectedTable

ROWS = np.array([0, 1, 4, 5, 11, 19])
COLUMNS = np.array([2, 3, 4, 7, 9])


def plain(X: np.ndarray, folder) -> BigTable:
    return ArrayTable(X, "a table", np.array([f"g{j}" for j in range(10)], dtype=object))


def hdf5(X: np.ndarray, folder) -> BigTable:
    h5py = pytest.importorskip("h5py")
    file = h5py.File(folder / "X.h5", "w")
    return as_big_table(file.create_dataset("X", data=X, chunks=(6, 3)))


def dask(X: np.ndarray, folder) -> BigTable:
    return as_big_table(pytest.importorskip("dask.array").from_array(X, chunks=(7, 4)))


@pytest.mark.parametrize("entries", [8, 2**22])  # many blocks, and one
@pytest.mark.parametrize("make", [plain, hdf5, dask])
def test_blocks_and_columns(make, entries, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", entries)
    X = np.arange(200.0).reshape(20, 10)
    table = SelectedTable(make(X, tmp_path), ROWS, COLUMNS)
    expected = X[np.ix_(ROWS, COLUMNS)]
    assert table.shape == (6, 5)
    assert table.is_tall
    found = np.full((6, 5), np.nan)
    for where, block in table.row_blocks():
        found[where] = block
    np.testing.assert_array_equal(found, expected)
    found = np.full((6, 5), np.nan)
    for where, block in table.column_blocks():
        found[:, where] = block
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(table.columns([4, 0, 0]), expected[:, [4, 0, 0]])
    np.testing.assert_array_equal(table.map_rows(lambda b: b.sum(axis=1)), expected.sum(axis=1))
    assert table.read(slice(3, 3), slice(None)).shape == (0, 5)


def test_names_and_values_are_those_that_are_seen(tmp_path) -> None:
    X = np.arange(200.0).reshape(20, 10)
    X[2, 2] = np.nan  # not seen
    table = SelectedTable(plain(X, tmp_path), ROWS, COLUMNS)
    assert table.names.tolist() == ["g2", "g3", "g4", "g7", "g9"]
    assert np.isfinite(table.columns(np.arange(5))).all()
    X[4, 2] = np.nan
    with pytest.raises(InputError, match="NaN"):
        table.columns([0])
