"""SparseUncorrelatedLDA on columns and rows of every odd kind."""

from __future__ import annotations

import numpy as np
import pytest

from eigensieve import SparseUncorrelatedLDA
from tests.oracles import linear
from tests.oracles.instances import shifted_classes as make

PENALTIES = ["l1", "l21"]
# samples, columns, classes
WIDE = [(16, 40, 2), (21, 80, 3), (24, 300, 4), (30, 31, 5), (12, 100, 6), (20, 20, 3)]
Data = tuple[np.ndarray, np.ndarray]


def centre(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


# --- columns ---


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_column_that_is_the_label_is_all_it_takes(penalty: str) -> None:
    """Provided that nothing is shorter; the column must be long enough for that."""
    X, y = make(20, 100, 2, shift=0.0)
    X[:, 37] = 10.0 * y
    A = centre(X) / np.sqrt(20)
    contrast = np.where(y == 1, 1.0, -1.0) / np.sqrt(20)
    assert linear.least_l1(A, contrast) == pytest.approx(0.2, rel=1e-9)  # 1 / sd of that column
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    assert lda.get_support(indices=True).tolist() == [37]
    assert lda.scalings_[37, 0] == pytest.approx(0.2, rel=1e-12)
    assert lda.solution_.gap <= 1e-12
    assert lda.score(*make_labelled(seed=1)) == 1.0


def make_labelled(seed: int) -> Data:
    X, y = make(50, 100, 2, seed, shift=0.0)
    X[:, 37] = 10.0 * y
    return X, y


def test_a_short_column_that_is_the_label_is_not_all_it_takes() -> None:
    X, y = make(20, 100, 2, shift=0.0)
    X[:, 37] = 0.1 * y
    A = centre(X) / np.sqrt(20)
    best = linear.least_l1(A, np.where(y == 1, 1.0, -1.0) / np.sqrt(20))
    assert best < 19  # alone it would need 20
    lda = SparseUncorrelatedLDA().fit(X, y)
    assert lda.solution_.objective == pytest.approx(best, rel=1e-9)
    assert lda.support_.sum() > 1


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("left_out", [1, 0])
@pytest.mark.parametrize("K", [3, 5])
def test_columns_that_indicate_the_classes_are_all_it_takes(
    K: int, left_out: int, penalty: str
) -> None:
    """With one class left out, as in regression, or all: these are dependent once centred."""
    X, y = make(30, 100, K, shift=0.0)
    indicators = np.arange(50, 50 + K - left_out)
    X[:, indicators] = 10.0 * np.equal.outer(y, np.arange(K - left_out))
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    G = lda.scalings_
    assert set(lda.get_support(indices=True)) <= set(indicators)
    assert lda.solution_.is_certified
    assert lda.orthogonality_error_ < 1e-12
    if left_out:  # only one set of weights gives the scores
        assert lda.solution_.gap <= 1e-12
    if penalty == "l1":
        A = centre(X) / np.sqrt(30)
        np.testing.assert_allclose(
            np.abs(G).sum(axis=0), [linear.least_l1(A, b) for b in (A @ G).T], rtol=1e-9
        )


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("shape", [(24, 120), (60, 12)])
def test_constant_columns_are_never_used(shape: tuple[int, int], penalty: str) -> None:
    X, y = make(*shape)
    X[:, [0, 5, 11]] = 0.1, -1e5, 0.0
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    assert not lda.support_[[0, 5, 11]].any()
    assert lda.support_[1:5].any()


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("K", [2, 3])
def test_of_identical_columns_the_first_is_used(K: int, sign: float, penalty: str) -> None:
    X, y = make(K=K)
    G = SparseUncorrelatedLDA(penalty).fit(X, y).scalings_
    chosen = np.flatnonzero(G.any(axis=1))
    behind = SparseUncorrelatedLDA(penalty).fit(np.hstack([X, sign * X[:, chosen]]), y)
    np.testing.assert_allclose(behind.scalings_[:120], G, rtol=1e-8, atol=1e-12)
    assert not behind.support_[120:].any()
    before = SparseUncorrelatedLDA(penalty).fit(np.hstack([sign * X[:, chosen], X]), y)
    np.testing.assert_allclose(
        sign * before.scalings_[: chosen.size], G[chosen], rtol=1e-8, atol=1e-12
    )
    assert not before.support_[chosen.size :].any()


@pytest.mark.parametrize("penalty", PENALTIES)
def test_the_order_of_rows_and_columns_does_not_matter(penalty: str) -> None:
    X, y = make(K=4)
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(len(X)), rng.permutation(X.shape[1])
    other = SparseUncorrelatedLDA(penalty).fit(X[rows][:, columns], y[rows])
    np.testing.assert_array_equal(other.support_, lda.support_[columns])
    np.testing.assert_allclose(other.scalings_, lda.scalings_[columns], atol=1e-10)


# --- odd data ---


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("size", [1e60, 1e-60])
def test_the_scale_of_the_data_does_not_matter(size: float, penalty: str) -> None:
    X, y = make()
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    scaled = SparseUncorrelatedLDA(penalty).fit(X * size, y)
    np.testing.assert_array_equal(scaled.support_, lda.support_)
    np.testing.assert_allclose(scaled.scalings_ * size, lda.scalings_, rtol=1e-8, atol=1e-12)
    assert scaled.solution_.is_certified


@pytest.mark.parametrize("penalty", PENALTIES)
def test_float32_with_a_large_offset_loses_nothing(penalty: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 10, size=(24, 120)).astype(np.float64), np.arange(24) % 3
    single = (X + 1e6).astype(np.float32)
    np.testing.assert_array_equal(single.astype(np.float64) - 1e6, X)
    plain = SparseUncorrelatedLDA(penalty).fit(X, y)
    offset = SparseUncorrelatedLDA(penalty).fit(single, y)
    np.testing.assert_array_equal(offset.support_, plain.support_)
    np.testing.assert_allclose(offset.scalings_, plain.scalings_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(offset.transform(single), plain.transform(X), atol=1e-9)
    assert offset.orthogonality_error_ < 1e-9
    new = rng.integers(-9, 10, size=(50, 120)).astype(np.float64)
    np.testing.assert_array_equal(
        offset.predict((new + 1e6).astype(np.float32)), plain.predict(new)
    )


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("counts", [(8, 8, 1), (1, 9), (1, 1, 1, 1)])
def test_classes_with_one_sample(counts: tuple[int, ...], penalty: str) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(y.size, 50))
    for rule in ("centroid", "1-nn", "lda"):
        lda = SparseUncorrelatedLDA(penalty, rule=rule).fit(X, y)
        np.testing.assert_array_equal(lda.predict(X), y)
        assert lda.scalings_.shape == (50, len(counts) - 1)
        assert lda.orthogonality_error_ < 1e-12


@pytest.mark.parametrize(
    "names",
    [[10, 20], ["no", "yes"], [False, True], [-1.0, 1.0], np.array(["a", "b"], dtype=object)],
    ids=["integers", "strings", "booleans", "floats", "objects"],
)
def test_labels_of_any_kind(names: list) -> None:
    X, y = make(K=2)
    names = np.asarray(names)
    lda = SparseUncorrelatedLDA().fit(X, names[y])
    assert lda.classes_.tolist() == names.tolist()
    assert lda.predict(X).dtype == names.dtype
    np.testing.assert_array_equal(lda.predict(X), names[y])
    np.testing.assert_array_equal(lda.support_, SparseUncorrelatedLDA().fit(X, y).support_)
    listed = SparseUncorrelatedLDA().fit(X.tolist(), names[y].tolist())
    np.testing.assert_allclose(listed.scalings_, lda.scalings_, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_data_with_many_ties(penalty: str) -> None:
    """Columns of 0, 1, 2 as in genotypes: many columns are equal, bounds are met together."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(14, 500)).astype(np.float64), np.arange(14) % 3
    lda = SparseUncorrelatedLDA(penalty).fit(X, y)
    assert lda.solution_.gap <= 1e-12
    assert lda.orthogonality_error_ < 1e-12
    if penalty == "l1":
        A = centre(X) / np.sqrt(14)
        best = [linear.least_l1(A, b) for b in (A @ lda.scalings_).T]
        np.testing.assert_allclose(np.abs(lda.scalings_).sum(axis=0), best, rtol=1e-9)


def test_the_data_are_never_changed() -> None:
    X, y = make()
    for order in ("C", "F"):
        given = np.array(X, order=order)
        given.flags.writeable = False
        SparseUncorrelatedLDA("l21").fit(given, y).predict(given)
        np.testing.assert_array_equal(given, X)
