"""Merged moments against sums over the rows, and the shrinkage that is made of them."""

import functools
import operator

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.tables.builders import stats_shrinkage
from eigensieve.tables.moments import MAX_FEATURES, ClassMoments
from eigensieve.tables.shrinkage import analytic_shrinkage, shrinkage_from_moments
from eigensieve.tables.statistics import ClassStats


def make_data(n: int = 60, p: int = 5, K: int = 3, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.gamma(2.0, size=(n, p)) * np.geomspace(0.1, 10, p)  # skewed: third moments matter
    X[:, 1] += X[:, 0]
    return X, rng.permutation(n) % K


def residuals(X: np.ndarray, y: np.ndarray) -> list[np.ndarray]:
    return [X[y == c] - X[y == c].mean(axis=0) for c in np.unique(y)]


def merge(X, y, cuts: list[int], form: str = "moments") -> ClassStats:
    parts = zip(np.split(np.arange(len(y)), cuts))
    return functools.reduce(
        operator.add, [ClassStats.from_data(X[i], y[i], form=form) for (i,) in parts if i.size]
    )


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("cuts", [[], [30], [1, 2, 17, 40, 59]])
def test_moments_are_sums_over_the_rows(cuts: list[int], offset: float) -> None:
    X, y = make_data()
    if offset:  # what the sums are must not be blurred by the rounding of X itself
        X = np.round(X * 2**10) / 2**10
    found = merge(X + offset, y, cuts).moments
    R = residuals(X, y)
    grams = np.array([r.T @ r for r in R])
    third = np.array([np.square(r).T @ r for r in R])
    fourth = np.square(np.vstack(R)).T @ np.square(np.vstack(R))
    assert found is not None
    for ours, plain in ((found.grams, grams), (found.third, third), (found.fourth, fourth)):
        np.testing.assert_allclose(ours, plain, rtol=1e-9, atol=1e-9 * np.abs(plain).max())


def test_moments_of_classes_that_come_one_after_the_other() -> None:
    X, y = make_data()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    whole, merged = merge(X, y, []), merge(X, y, [7, 20, 33, 50])
    np.testing.assert_array_equal(merged.counts, whole.counts)
    for name in ("grams", "third", "fourth"):
        ours, plain = (getattr(stats.moments, name) for stats in (merged, whole))
        np.testing.assert_allclose(ours, plain, rtol=1e-10, atol=1e-10 * np.abs(plain).max())


@pytest.mark.parametrize(("n", "p", "K"), [(40, 6, 2), (12, 30, 3), (30, 4, 1), (50, 3, 9)])
def test_shrinkage_of_moments_is_that_of_the_rows(n: int, p: int, K: int) -> None:
    X, y = make_data(n, p, K, seed=1)
    expected = analytic_shrinkage(np.vstack(residuals(X, y)), K)
    for cuts in ([], [3, 10], [1, 2, 5, 9]):
        stats = merge(X, y, cuts)
        assert stats.moments is not None
        assert shrinkage_from_moments(stats.moments, n) == pytest.approx(expected, rel=1e-9)
        assert stats_shrinkage(stats, "auto") == pytest.approx(np.sqrt(expected), rel=1e-9)


def test_shrinkage_without_anything_to_estimate() -> None:
    y = np.array([0, 0, 1])
    for X in (np.ones((3, 4)), np.eye(3)[:, :1]):  # constants; a single column
        assert stats_shrinkage(merge(X, y, [1]), "auto") == 1.0
    assert stats_shrinkage(merge(np.eye(3), np.arange(3), [2]), "auto") == 1.0  # no scatter


@pytest.mark.parametrize("weight", [None, "balanced", {0: 3.0, 2: 0.5}])
@pytest.mark.parametrize("form", ["grams", "moments"])
def test_pencils_of_merged_statistics(form: str, weight: object) -> None:
    X, y = make_data(p=8)
    stats = merge(X, y, [4, 5, 31], form)
    shrinkage = "auto" if form == "moments" else 0.3
    ours = es.lda_pencil(stats, shrinkage=shrinkage, class_weight=weight)
    plain = es.lda_pencil(X, y, shrinkage=shrinkage, class_weight=weight)
    np.testing.assert_allclose(ours.A, plain.A, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.B, plain.B, rtol=1e-9, atol=1e-12)
    variance = stats.weighted(weight).within_variance()
    np.testing.assert_allclose(variance, np.diag(stats.weighted(weight).within_scatter()))


def test_statistics_of_more_columns_than_rows_make_a_pencil() -> None:
    X, y = make_data(20, 700)
    ours, plain = es.lda_pencil(merge(X, y, [7])), es.lda_pencil(X, y)
    np.testing.assert_allclose(ours.B, plain.B, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ours.A, plain.A, rtol=1e-8, atol=1e-10)


def test_what_one_part_lacks_the_whole_lacks() -> None:
    X, y = make_data()
    parts = {f: ClassStats.from_data(X, y, form=f) for f in ("rows", "gram", "grams", "moments")}
    assert (parts["grams"] + parts["moments"]).moments.fourth is None
    assert (parts["moments"] + parts["grams"]).moments.third is None
    twice = 2 * np.vstack(residuals(X, y)).T @ np.vstack(residuals(X, y))
    for other in ("rows", "gram"):
        mixed = parts["moments"] + parts[other]
        assert mixed.moments is None
        np.testing.assert_allclose(mixed.gram, twice)
    with pytest.raises(OptionError, match="form='moments'"):
        es.lda_pencil(parts["grams"])


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_moments_of_sparse_tables(make, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data()
    X[X < 1] = 0.0
    monkeypatch.setattr("eigensieve.tables.statistics.BLOCK_ENTRIES", 64)  # blocks of twelve rows
    ours = ClassStats.from_data(make(X), y, form="moments").moments
    plain = ClassStats.from_data(X, y, form="moments").moments
    for name in ("grams", "third", "fourth"):
        np.testing.assert_allclose(getattr(ours, name), getattr(plain, name), atol=1e-9)


def test_too_many_features_are_refused() -> None:
    with pytest.raises(InputError, match="at most 20000 features"):
        ClassMoments.from_rows(np.zeros((1, MAX_FEATURES + 1)), np.zeros(1, int), 1, higher=False)
    wide = sparse.csr_array((2, MAX_FEATURES + 1))
    with pytest.raises(InputError, match="at most 20000 features"):
        ClassStats.from_data(wide, [0, 1], form="grams")
    with pytest.raises(InputError, match="form is 'cubes'"):
        ClassStats.from_data(np.eye(2), [0, 1], form="cubes")
