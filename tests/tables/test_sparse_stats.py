"""Class statistics of sparse tables, against those of the same tables as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from eigensieve import ClassStats
from eigensieve.errors import InputError
from eigensieve.tables.operators.centred_rows import CentredRows
from eigensieve.tables.shrinkage import analytic_shrinkage
from tests.oracles.sparse_tables import FORMATS, at_most, awkward_table

SHAPES = [(30, 12, 0.2), (60, 200, 0.05), (200, 50, 0.2), (40, 900, 0.01)]


def both(X: np.ndarray, y: np.ndarray, form: str) -> tuple[ClassStats, ClassStats]:
    return tuple(
        ClassStats.from_data(kind(X), y, form=form) for kind in (np.array, sparse.csr_array)
    )


def assert_same(found: ClassStats, expected: ClassStats, rtol: float = 1e-12) -> None:
    """Numbers of the same size, in units of each column."""
    np.testing.assert_array_equal(found.counts, expected.counts)
    np.testing.assert_allclose(found.means, expected.means, rtol=1e-14, atol=1e-15)
    d = np.sqrt(expected.within_variance())
    np.testing.assert_allclose(np.sqrt(found.within_variance()), d, rtol=rtol)
    unit = np.outer(d, d) + (np.outer(d, d) == 0)
    np.testing.assert_allclose(
        found.within_scatter() / unit, expected.within_scatter() / unit, atol=rtol
    )


@pytest.mark.parametrize("form", ["rows", "gram", "auto", "grams", "moments"])
@pytest.mark.parametrize(("n", "p", "density"), SHAPES)
def test_a_sparse_table_has_the_statistics_of_the_array(n, p, density, form) -> None:
    X = awkward_table(n, p, density, seed=n)
    y = np.random.default_rng(0).integers(0, 4, size=n)
    dense, found = both(X, y, form)
    assert_same(found, dense)
    np.testing.assert_allclose(found.between_factor(), dense.between_factor(), atol=1e-8)


def test_constant_columns_have_exact_zeros() -> None:
    X, y = awkward_table(30, 12, 0.2), np.arange(30) % 3
    stats = ClassStats.from_data(sparse.csc_matrix(X), y, form="rows")
    assert stats.within_variance()[[0, 1, 4]].tolist() == [0.0, 0.0, 0.0]
    assert not stats.rows[:, [0, 1, 4]].any()
    assert np.all(stats.between_factor()[:, :2] == 0)
    assert np.all(stats.means[:, 1] == 5.3)
    assert stats.rows.S.nnz == np.count_nonzero(stats.rows.S.data)


def test_an_offset_costs_no_digits() -> None:
    """Values about 1e6 in one class and none in the others: deviations keep their digits."""
    rng = np.random.default_rng(1)
    X, y = np.zeros((30, 2)), np.repeat([0, 1, 2], 10)
    X[:10, 0] = 1e8 + rng.normal(size=10)
    X[:9, 1] = 1e8 + rng.normal(size=9)  # one zero: that is what varies
    stats = ClassStats.from_data(sparse.csr_array(X), y, form="rows")
    exact = [np.var(column[:10].astype(np.longdouble)) * 10 / 30 for column in X.T]
    np.testing.assert_allclose(stats.within_variance(), np.array(exact, dtype=float), rtol=1e-8)
    np.testing.assert_allclose(stats.within_variance()[0] * 30, np.var(X[:10, 0] - 1e8) * 10)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int16, np.uint8, bool])
def test_every_format_and_type(kind: str, dtype: Any) -> None:
    rng = np.random.default_rng(2)
    X = np.where(rng.random((20, 8)) < 0.3, rng.integers(1, 100, size=(20, 8)), 0).astype(dtype)
    y = np.arange(20) % 2
    table = sparse.coo_matrix(X).asformat(kind)
    assert_same(
        ClassStats.from_data(table, y, form="rows"), ClassStats.from_data(X, y, form="rows")
    )
    np.testing.assert_array_equal(table.toarray(), X)  # as it was


def test_entries_that_are_stored_twice_count_as_their_sum() -> None:
    values, rows, columns = [1.0, 2.0, 5.0, -1.0], [0, 0, 1, 3], [1, 1, 0, 1]
    table = sparse.coo_array((values, (rows, columns)), shape=(4, 2))
    y = [0, 0, 1, 1]
    as_csr = sparse.csr_array((values, columns, [0, 2, 3, 3, 4]), shape=(4, 2))
    for each in (table, as_csr):
        assert_same(ClassStats.from_data(each, y), ClassStats.from_data(table.toarray(), y))
        assert each.nnz == 4  # the caller's table is as it was


def test_stored_zeros_are_zeros() -> None:
    table = sparse.csr_array(awkward_table(12, 8, 0.3))
    table.data[::3] = 0.0
    y = np.arange(12) % 2
    assert_same(ClassStats.from_data(table, y), ClassStats.from_data(table.toarray(), y))


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_missing_values_are_refused(bad: float) -> None:
    table = sparse.csr_array(awkward_table(12, 8, 0.3))
    table.data[3] = bad
    with pytest.raises(InputError, match="NaN or infinity"):
        ClassStats.from_data(table, np.arange(12) % 2)


def test_numbers_must_be_real_and_of_a_size_that_can_be_squared() -> None:
    table = sparse.csr_array(awkward_table(12, 8, 0.3))
    with pytest.raises(InputError, match="complex128"):
        ClassStats.from_data(table.astype(complex), np.arange(12) % 2)
    with pytest.raises(InputError, match="rescale"):
        ClassStats.from_data(table * 1e80, np.arange(12) % 2)


def test_a_class_with_one_sample_and_one_class_only() -> None:
    X = awkward_table(9, 12, 0.3)
    for y in ([0] * 8 + [1], [0] * 9, list(range(9))):
        dense, found = both(X, np.array(y), "rows")
        assert_same(found, dense)


def test_weighted_classes() -> None:
    X, y = awkward_table(40, 30, 0.2), np.arange(40) % 3
    dense, found = (stats.weighted({0: 3.0, 2: 0.5}) for stats in both(X, y, "rows"))
    assert_same(found, dense)


def test_statistics_of_parts_add_up() -> None:
    X, y = awkward_table(40, 30, 0.2), np.arange(40) % 3
    parts = [ClassStats.from_data(sparse.csr_array(X[i]), y[i]) for i in (slice(15), slice(15, 40))]
    assert_same(parts[0] + parts[1], ClassStats.from_data(X, y), rtol=1e-10)


@pytest.mark.parametrize(("n", "p", "density"), SHAPES)
def test_the_analytic_shrinkage(n, p, density) -> None:
    X, y = awkward_table(n, p, density, seed=p), np.arange(n) % 3
    dense, found = both(X, y, "rows")
    assert isinstance(found.rows, CentredRows)
    assert analytic_shrinkage(found.rows, 3) == pytest.approx(
        analytic_shrinkage(dense.rows, 3), rel=1e-9
    )


def test_a_large_table_stays_sparse() -> None:
    """As an array it would take 480 MB."""
    rng = np.random.default_rng(0)
    table = sparse.random_array((1000, 60_000), density=0.001, rng=rng, format="csr")
    with at_most(60):
        stats = ClassStats.from_data(table, np.arange(1000) % 2, form="rows")
        stats.within_variance()
        analytic_shrinkage(stats.rows, 2)
