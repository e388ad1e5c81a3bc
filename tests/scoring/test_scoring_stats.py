"""ScoringProblem from statistics: the same problem as from the samples."""

from __future__ import annotations

import numpy as np
import pytest

from eigensieve import ClassStats, ScoringProblem
from eigensieve.errors import InputError, OptionError
from eigensieve.tables.column_statistics import ColumnStats
from tests.big_tables import make_classes


@pytest.mark.parametrize("form", ["gram", "grams", "rows"])
@pytest.mark.parametrize("shape", [(80, 30), (26, 40)])
def test_products_are_those_of_the_samples(form: str, shape: tuple[int, int]) -> None:
    X, y = make_classes(shape, 3)
    X[:, 10] = X[:, 11] - 2 * X[:, 12]  # singular, with a copy and a constant besides
    X *= np.geomspace(1e-4, 1e4, shape[1])
    wanted = ScoringProblem.from_data(X, y)
    found = ScoringProblem.from_stats(ClassStats.from_data(X, y, form=form))
    size = np.outer(wanted.lengths, wanted.lengths)
    off = found.factor.T @ found.factor - wanted.factor.T @ wanted.factor
    assert np.abs(off).max() <= 1e-12 * size.max()
    assert np.all(np.abs(off) <= 1e-11 * size)
    np.testing.assert_allclose(
        found.correlations, wanted.correlations, atol=1e-12 * wanted.lengths.max()
    )
    np.testing.assert_allclose(found.target.T @ found.target, np.eye(2), atol=1e-14)
    assert found.lambda_max == pytest.approx(wanted.lambda_max, rel=1e-12)
    assert not found.factor[:, 25].any()
    for name in ("mean", "means", "quadratic", "weights"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-12)


def test_copies_are_spared() -> None:
    X, y = make_classes((80, 30), 2)
    found = ScoringProblem.from_stats(ClassStats.from_data(X, y, form="gram"))
    assert np.flatnonzero(found.is_redundant).tolist() == [20]


def test_diagonal_is_the_same_but_for_digits() -> None:
    X, y = make_classes((80, 30), 4)
    wanted = ScoringProblem.from_data(X, y, within="diagonal", ridge=0.3, weights="std")
    stats = ClassStats.from_data(X, y, form="gram")
    found = ScoringProblem.from_stats(stats, within="diagonal", ridge=0.3, weights="std")
    for name in ("factor", "target", "quadratic", "weights"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), atol=1e-11)


def test_what_is_refused() -> None:
    X, y = make_classes((80, 30), 2)
    with pytest.raises(InputError, match="one class only"):
        ScoringProblem.from_stats(ClassStats.from_data(X, np.zeros(80)))
    with pytest.raises(InputError, match="means are all equal"):
        ScoringProblem.from_stats(ClassStats.from_data(np.ones_like(X), y))
    with pytest.raises(OptionError, match="within"):
        ScoringProblem.from_stats(ClassStats.from_data(X, y), within="none")


def test_columns_by_themselves() -> None:
    X, y = make_classes((30, 40), 3)
    found = ColumnStats.of(ClassStats.from_data(X, y, form="rows"))
    residuals = X - found.means[np.unique(y, return_inverse=True)[1]]
    np.testing.assert_allclose(found.variance, np.square(residuals).mean(axis=0), atol=1e-13)
    np.testing.assert_allclose(found.separation + found.variance, X.var(axis=0), atol=1e-12)


def test_a_part_of_the_features() -> None:
    X, y = make_classes((30, 40), 3)
    W = np.array([1, 4, 30])
    for ridge in (0.2, np.diag(np.arange(40.0))):
        whole = ScoringProblem.from_data(X, y, ridge=ridge, weights="std")
        part = whole.restrict(W)
        assert np.array_equal(part.factor, whole.factor[:, W])
        assert np.array_equal(part.weights, whole.weights[W])
        assert np.array_equal(part.gram(np.arange(3)), whole.gram(W))
