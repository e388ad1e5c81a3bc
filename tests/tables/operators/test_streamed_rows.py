"""Rows that are read in blocks of columns, against the array that they stand for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from eigensieve.errors import InputError
from eigensieve.pencil import row_factor
from eigensieve.pencil.row_factor import column_squares, weighted_gram
from eigensieve.tables.operators import streamed_rows
from eigensieve.tables.operators.streamed_rows import StreamedRows, WithinGroups
from tests.oracles.streamed import CountedTable

Pair = tuple[StreamedRows, np.ndarray]
RNG = np.random.default_rng(3)
N, P = 9, 250
X = RNG.normal(size=(N, P)) + 1e6
GROUP = np.array([0, 0, 0, 1, 1, 1, 1, 2, 2])
WEIGHT = RNG.uniform(0.5, 2.0, N)
CENTRING = WithinGroups(GROUP, WEIGHT)


def plain() -> Pair:
    means = np.array([X[group == GROUP].mean(axis=0) for group in GROUP])
    return StreamedRows(CountedTable(X, 37), CENTRING), WEIGHT[:, None] * (X - means)


def scaled() -> Pair:
    rows, R = plain()
    scale = RNG.uniform(1.0, 3.0, P)
    return rows * scale / 2.0, R * scale / 2.0


def with_products() -> Pair:
    rows, R = scaled()
    few, many = np.zeros(P), RNG.normal(size=P)
    few[[3, 70, 249]] = 1.0, -2.0, 3.0
    L, M = RNG.normal(size=(N, 2)), np.vstack([few, many])
    return rows.plus(L, M).scaled(many), (R + L @ M) * many


def with_more_rows() -> Pair:
    rows, R = with_products()
    few = np.zeros((2, P))
    few[0, 11], few[1, 60:80] = 4.0, 1.0
    return rows.above(few).above(few[:1]), np.vstack([R, few, few[:1]])


def some_columns() -> Pair:
    rows, R = with_more_rows()
    index = np.sort(RNG.permutation(P)[:120])
    part = rows.take(index)
    assert isinstance(part, StreamedRows)
    again = part.take(np.arange(0, 120, 3))
    assert isinstance(again, StreamedRows)
    return again, R[:, index[::3]]


@pytest.fixture(autouse=True)
def nothing_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_factor, "SMALL_ENTRIES", 0)


@pytest.mark.parametrize("make", [plain, scaled, with_products, with_more_rows, some_columns])
def test_streamed_rows_are_the_array_they_stand_for(make: Callable[[], Pair]) -> None:
    rows, R = make()
    m, p = R.shape
    assert (rows.shape, len(rows)) == ((m, p), m)
    close = {"rtol": 1e-8, "atol": 1e-7}  # an offset of 1e6 costs digits in the test's own means
    index = np.array([5, 0, p - 1, 5])
    np.testing.assert_allclose(rows[:, index], R[:, index], **close)
    np.testing.assert_allclose(rows[:, 4], R[:, 4], **close)
    np.testing.assert_allclose(rows[:, :], R, **close)
    np.testing.assert_allclose(rows[:, R[0] > 0], R[:, R[0] > 0], **close)
    assert rows[:, np.array([], dtype=int)].shape == (m, 0)
    V, x = RNG.normal(size=(m, 3)), RNG.normal(size=(p, 2))
    np.testing.assert_allclose(rows.T @ V, R.T @ V, **close)
    np.testing.assert_allclose(V.T @ rows, V.T @ R, **close)
    np.testing.assert_allclose(V[:, 0] @ rows, V[:, 0] @ R, **close)
    np.testing.assert_allclose(rows @ x, R @ x, **close)
    np.testing.assert_allclose(column_squares(rows), np.square(R).sum(axis=0), **close)
    w = RNG.uniform(size=p)
    np.testing.assert_allclose(weighted_gram(rows, w), (R * w) @ R.T, **close)
    np.testing.assert_allclose(weighted_gram(rows), R @ R.T, **close)
    blocks = {where.start: block for where, block in rows.column_blocks()}
    np.testing.assert_allclose(np.hstack([blocks[start] for start in sorted(blocks)]), R, **close)


def test_a_large_offset_costs_no_digits() -> None:
    exact = RNG.integers(-50, 50, size=(N, P)).astype(float)
    near, far = (StreamedRows(CountedTable(exact + c), CENTRING) for c in (0.0, 2.0**40))
    np.testing.assert_allclose(far[:, :], near[:, :], atol=1e-9)


def test_a_vector_with_few_entries_needs_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, R = plain()
    assert isinstance(rows.table, CountedTable)
    x = np.zeros(P)
    x[[7, 200]] = 1.0, -1.0
    np.testing.assert_allclose(rows @ x, R @ x, atol=1e-7)
    assert rows.table.passes == 0
    monkeypatch.setattr(streamed_rows, "BLOCK_ENTRIES", 0)
    np.testing.assert_allclose(rows @ x, R @ x, atol=1e-7)
    assert rows.table.passes == 1


def test_few_columns_are_taken_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_factor, "SMALL_ENTRIES", 5 * N)
    rows, R = plain()
    few = rows.take(np.array([9, 2, 4]))
    assert isinstance(few, np.ndarray)
    np.testing.assert_allclose(few, R[:, [9, 2, 4]], atol=1e-7)
    assert isinstance(rows.take(np.arange(6)), StreamedRows)
    with pytest.raises(ValueError, match="ascending"):
        rows.take(np.arange(6)[::-1])


def test_missing_numbers_are_refused() -> None:
    bad = X.copy()
    bad[3, 100] = np.nan
    rows = StreamedRows(CountedTable(bad), CENTRING)
    with pytest.raises(InputError, match="NaN"):
        rows.squares()
