"""Tables in mapped files: their pages are given back, and nothing that was written is lost."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import eigensieve as es
from eigensieve.tables.kinds.mapped_table import MappedTable, is_mapped
from eigensieve.tables.kinds.opening import as_big_table

VIEWS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "itself": lambda X: X,
    "asarray": np.asarray,
    "view": lambda X: X.view(np.ndarray),
    "rows": lambda X: np.asarray(X[:-1])[1:],
    "transposed": lambda X: np.asarray(X).T,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    X = np.random.default_rng(0).normal(size=(40, 30))
    np.save(tmp_path / "X.npy", X)
    return tmp_path / "X.npy"


def read_all(table: MappedTable) -> None:
    list(table.row_blocks())
    list(table.column_blocks())
    table.columns([3, 7])


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("mode", ["c", "r+"])
def test_what_was_written_stays(path, view, mode) -> None:
    X = np.load(path, mmap_mode=mode)
    X[2, 3] = 99.0
    table = as_big_table(VIEWS[view](X))
    assert isinstance(table, MappedTable)
    read_all(table)
    assert X[2, 3] == 99.0


def test_a_new_file_keeps_what_was_written(tmp_path) -> None:
    X = np.memmap(tmp_path / "new", np.float64, "w+", shape=(30, 20))
    X[2, 3] = 99.0
    read_all(MappedTable(np.asarray(X)))
    assert X[2, 3] == 99.0
    assert MappedTable(X)._map is not None


def test_a_fit_leaves_the_users_changes_alone(path) -> None:
    X = np.load(path, mmap_mode="c")
    X[0, 0] = 99.0
    es.SparseLDA(3).fit(np.asarray(X), np.arange(40) % 2)
    assert X[0, 0] == 99.0


@pytest.mark.parametrize("access", [mmap.ACCESS_COPY, mmap.ACCESS_WRITE])
def test_pages_of_a_map_that_numpy_has_not_made_are_kept(path, access) -> None:
    with open(path, "r+b") as file:
        pages = mmap.mmap(file.fileno(), 0, access=access)
    X = np.ndarray((40, 30), np.float64, buffer=pages, offset=128)
    X[2, 3] = 99.0
    table = MappedTable(X)
    assert table._map is None
    read_all(table)
    assert X[2, 3] == 99.0


def test_pages_of_shared_maps_are_given_back(path) -> None:
    for mode in ("r", "r+"):
        for view in VIEWS.values():
            assert MappedTable(view(np.load(path, mmap_mode=mode)))._map is not None


def test_a_copy_is_in_memory(path) -> None:
    X = np.load(path, mmap_mode="r")
    assert is_mapped(X)
    assert is_mapped(np.asarray(X)[3:])
    for copy in (X.copy(), X.copy()[1:], np.array(X), X + 1, X[[1, 2]]):
        assert not is_mapped(copy)
        assert as_big_table(copy) is None
