"""Columns of chunked tables: each chunk is read once, and no more than a block at a time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from eigensieve.tables.kinds import big_table as tables
from eigensieve.tables.kinds import stored_table
from eigensieve.tables.kinds.stored_table import StoredTable

N, P = 50, 400


class Recorder:
    """An array in chunks that counts how often each is read, and how much is read at once."""

    def __init__(self, X: np.ndarray, chunks: tuple[int, int] | None) -> None:
        self.X, self.chunks, self.shape, self.dtype = X, chunks, X.shape, X.dtype
        self.reads: Counter[tuple[int, int]] = Counter()
        self.most = 0

    def __getitem__(self, where: tuple[slice, slice]) -> np.ndarray:
        part = self.X[where]
        self.most = max(self.most, part.size)
        if self.chunks is not None:
            rows, columns = (np.arange(size)[w] for size, w in zip(self.shape, where))
            height, width = self.chunks
            touched = {(i, j) for i in set(rows // height) for j in set(columns // width)}
            self.reads.update(touched)
        return part


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(N, P))


WANTED: dict[str, Any] = {
    "one": [17],
    "60 apart": np.arange(0, P, 60),
    "all": np.arange(P),
    "near": [3, 4, 5, 90, 91, 399],
    "unordered": [200, 3, 100, 3],
}


@pytest.mark.parametrize("wanted", WANTED.values(), ids=WANTED)
@pytest.mark.parametrize("chunks", [(7, 30), (50, 1), (1, 400), (50, 400)])
@pytest.mark.parametrize("entries", [1, 600, 10**6])
def test_each_chunk_of_wanted_columns_is_read_once(X, wanted, chunks, entries, monkeypatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", entries)
    array = Recorder(X, chunks)
    np.testing.assert_array_equal(StoredTable(array, "it").columns(wanted), X[:, wanted])
    needed = {int(j) // chunks[1] for j in wanted}
    assert set(array.reads) == {(i, j) for i in range(-(-N // chunks[0])) for j in needed}
    assert set(array.reads.values()) == {1}
    assert array.most <= max(entries, chunks[0] * chunks[1])


@pytest.mark.parametrize("wanted", WANTED.values(), ids=WANTED)
@pytest.mark.parametrize("entries", [600, 10**6])
def test_a_table_without_chunks_is_read_in_blocks(X, wanted, entries, monkeypatch) -> None:
    monkeypatch.setattr(tables, "BLOCK_ENTRIES", entries)
    monkeypatch.setattr(stored_table, "PIECE_COLUMNS", 8)
    array = Recorder(X, None)
    np.testing.assert_array_equal(StoredTable(array, "it").columns(wanted), X[:, wanted])
    assert array.most <= entries
    if entries == 10**6:  # what lies between pieces is not read
        assert array.most <= N * 8 * (1 + len({int(j) // 8 for j in wanted}))


def test_some_rows_of_some_columns(X) -> None:
    table = StoredTable(Recorder(X, (7, 30)), "it")
    few = np.array([2, 31, 250])
    np.testing.assert_array_equal(table.read(slice(5, 23), few), X[5:23][:, few])
    np.testing.assert_array_equal(table.read(slice(44, None), few), X[44:][:, few])
