"""GroupLassoLDA on columns, rows and labels of every odd kind."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import linalg
from sklearn.base import ClassifierMixin, clone

from eigensieve import GroupLassoLDA, GroupLassoLDACV, ScoringProblem
from eigensieve.errors import InputError
from tests.oracles.instances import shifted_classes as make

WITHIN = ["full", "diagonal"]
BOTH = [GroupLassoLDA(3), GroupLassoLDACV([0.5, 0.2], cv=3)]


def identity_error(lda: GroupLassoLDA, X: np.ndarray, y: np.ndarray) -> float:
    """How far V'(S_w + lambda Omega / n)V is from I; Omega from the regression's rows."""
    X = np.asarray(X, dtype=np.float64)[:, lda.support_]
    _, code = np.unique(y, return_inverse=True)
    inner = X - np.array([X[code == k].mean(axis=0) for k in range(code.max() + 1)])[code]
    S = inner.T @ inner / len(X)
    if lda.within == "diagonal":
        S = np.diag(np.diag(S))
    S += lda.lambda_ / len(X) * np.diag(1 / np.linalg.norm(lda.solution_.rows, axis=1))
    V = lda.scalings_[lda.support_]
    return float(np.abs(V.T @ S @ V - np.eye(V.shape[1])).max())


# --- columns ---


@pytest.mark.parametrize("options", [{}, {"weights": "std"}, {"ridge": 0.1}])
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("shape", [(24, 60), (60, 12)])
def test_constant_columns_are_never_used(
    shape: tuple[int, int], within: str, options: dict
) -> None:
    X, y = make(*shape)
    X[:, [0, 5, 11]] = 0.1, -1e5, 0.0
    lda = GroupLassoLDA(alpha=0.001, within=within, **options).fit(X, y)
    assert not lda.support_[[0, 5, 11]].any()
    assert lda.support_.sum() >= 9
    assert lda.solution_.is_certified
    rest = np.delete(np.arange(shape[1]), [0, 5, 11])
    without = GroupLassoLDA(alpha=0.001, within=within, **options).fit(X[:, rest], y)
    np.testing.assert_array_equal(lda.support_[rest], without.support_)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("K", [2, 3])
def test_a_long_column_that_is_the_label_comes_first(K: int, within: str) -> None:
    """It does not vary within the classes at all: only the penalty keeps it finite."""
    X, y = make(30, 50, K)
    X[:, 37] = 10.0 * y
    lda = GroupLassoLDA(1, within=within).fit(X, y)
    assert lda.get_support(indices=True).tolist() == [37]
    assert lda.solution_.is_certified
    assert identity_error(lda, X, y) < 1e-9
    if K == 2:  # what it leaves of the scores is a multiple of them: no other is ever better
        with pytest.warns(UserWarning, match="exactly 5 features; the nearest number is 1 "):
            more = GroupLassoLDA(5, within=within).fit(X, y)
    else:
        more = GroupLassoLDA(5, within=within).fit(X, y)
        assert more.support_.sum() == 5
    assert more.support_[37]
    np.testing.assert_array_equal(more.predict(X), y)
    assert np.isfinite(more.predict_proba(X)).all()
    assert identity_error(more, X, y) < 1e-9


@pytest.mark.parametrize("within", WITHIN)
def test_only_columns_that_are_the_classes(within: str) -> None:
    y = np.arange(30) % 3
    X = np.equal.outer(y, np.arange(3)) * 1.0
    with_one_left_out = X[:, :2]
    for data in (X, with_one_left_out):
        lda = GroupLassoLDA(alpha=0.1, within=within).fit(data, y)
        np.testing.assert_array_equal(lda.predict(data), y)
        lda.solution_.verify(ScoringProblem.from_data(data, y, within=within))
        assert np.isfinite(lda.coef_).all()


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("K", [2, 3])
def test_of_identical_columns_the_first_is_used(K: int, sign: float) -> None:
    X, y = make(24, 60, K)
    once = GroupLassoLDA(6).fit(X, y)
    twice = GroupLassoLDA(6).fit(np.hstack([X, sign * X]), y)
    np.testing.assert_array_equal(twice.support_[:60], once.support_)
    assert not twice.support_[60:].any()
    np.testing.assert_allclose(twice.scalings_[:60], once.scalings_, rtol=1e-7, atol=1e-10)


def test_of_identical_columns_that_of_least_weight_is_used() -> None:
    X, y = make(24, 60, 3)
    weights = np.repeat([1.0, 0.9], 60)
    lda = GroupLassoLDA(6, weights=weights).fit(np.hstack([X, X]), y)
    assert not lda.support_[:60].any()
    assert lda.support_[60:].sum() == 6


@pytest.mark.parametrize("options", [{"within": "diagonal"}, {"ridge": 0.2}])
def test_identical_columns_share_their_weight(options: dict) -> None:
    X, y = make(24, 60, 3)
    lda = GroupLassoLDA(6, **options).fit(np.hstack([X, X]), y)
    np.testing.assert_allclose(lda.scalings_[:60], lda.scalings_[60:], rtol=1e-6, atol=1e-9)
    assert lda.support_.sum() == 6


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("K", [2, 3])
def test_one_column(K: int, within: str) -> None:
    """There is one direction then, and the mean nearest in it wins."""
    X, y = make(40, K, K)
    X = X[:, :1]
    lda = GroupLassoLDA(1, within=within).fit(X, y)
    assert lda.scalings_.shape == (1, 1)
    assert lda.scalings_[0, 0] > 0
    z = X @ lda.scalings_
    means = np.array([z[y == k].mean() for k in range(K)])
    costs = np.square(z - means) - 2 * np.log(np.bincount(y) / 40)
    np.testing.assert_array_equal(lda.predict(X), costs.argmin(axis=1))


@pytest.mark.parametrize("within", WITHIN)
def test_few_rows_and_thousands_of_columns(within: str) -> None:
    X, y = make(20, 5000, 4, shift=6.0)
    for k in (1, 4, 15):
        lda = GroupLassoLDA(k, within=within).fit(X, y)
        assert lda.support_.sum() == k
        assert lda.solution_.is_certified
        assert identity_error(lda, X, y) < 1e-9
    assert lda.support_[:4].all()


@pytest.mark.parametrize("within", WITHIN)
def test_the_order_of_rows_and_columns_does_not_matter(within: str) -> None:
    X, y = make(30, 60, 4)
    lda = GroupLassoLDA(8, within=within).fit(X, y)
    rng = np.random.default_rng(3)
    rows, columns = rng.permutation(30), rng.permutation(60)
    other = GroupLassoLDA(8, within=within).fit(X[rows][:, columns], y[rows])
    np.testing.assert_array_equal(other.support_, lda.support_[columns])
    np.testing.assert_allclose(other.scalings_, lda.scalings_[columns], atol=1e-7)


def test_the_names_of_the_classes_do_not_matter() -> None:
    X, y = make(30, 60, 4)
    turn = np.array([2, 0, 3, 1])
    lda, other = (GroupLassoLDA(8).fit(X, labels) for labels in (y, turn[y]))
    np.testing.assert_array_equal(other.support_, lda.support_)
    np.testing.assert_array_equal(other.predict(X), turn[lda.predict(X)])


# --- sizes ---


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("size", [1e60, 1e-60])
def test_the_scale_of_the_data_does_not_matter(size: float, within: str) -> None:
    X, y = make(24, 60, 3)
    lda = GroupLassoLDA(6, within=within).fit(X, y)
    scaled = GroupLassoLDA(6, within=within).fit(X * size, y)
    np.testing.assert_array_equal(scaled.support_, lda.support_)
    np.testing.assert_allclose(scaled.scalings_ * size, lda.scalings_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(scaled.predict_proba(X * size), lda.predict_proba(X), atol=1e-8)
    assert scaled.solution_.is_certified


@pytest.mark.parametrize("within", WITHIN)
def test_a_large_offset_loses_nothing_that_doubles_can_hold(within: str) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(-9, 10, size=(24, 60)) / 8.0, np.arange(24) % 3
    X[np.arange(24), y] += 2
    np.testing.assert_array_equal((X + 1e8) - 1e8, X)
    lda, moved = (GroupLassoLDA(6, within=within).fit(Z, y) for Z in (X, X + 1e8))
    np.testing.assert_array_equal(moved.support_, lda.support_)
    np.testing.assert_allclose(moved.scalings_, lda.scalings_, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(moved.predict(X + 1e8), lda.predict(X))


@pytest.mark.parametrize("offset", [0.0, 1e4])
@pytest.mark.parametrize("within", WITHIN)
def test_float32_is_the_same_numbers_in_double(within: str, offset: float) -> None:
    X, y = make(24, 60, 3)
    single = (X + offset).astype(np.float32)
    double = single.astype(np.float64)
    a, b = (GroupLassoLDA(6, within=within).fit(Z, y) for Z in (single, double))
    assert a.scalings_.dtype == np.float64
    np.testing.assert_array_equal(a.support_, b.support_)
    np.testing.assert_allclose(a.scalings_, b.scalings_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(a.predict_proba(single), b.predict_proba(double), atol=1e-9)
    one, two = (GroupLassoLDACV([0.5, 0.2], cv=3, within=within).fit(Z, y) for Z in (single, X))
    if offset == 0.0:
        np.testing.assert_array_equal(one.errors_, two.errors_)


@pytest.mark.parametrize("factor", [1e80, 1e-80])
def test_columns_beyond_what_squares_can_hold_are_named(factor: float) -> None:
    X, y = make(24, 60, 3)
    X[:, 2] *= factor
    with pytest.raises(InputError, match="column 2 has values of size"):
        GroupLassoLDA().fit(X, y)


# --- rows and labels ---


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("counts", [(8, 8, 1), (1, 9), (1, 1, 1, 1), (1, 1)])
def test_classes_with_one_sample(counts: tuple[int, ...], within: str) -> None:
    y = np.repeat(np.arange(len(counts)), counts)
    X = np.random.default_rng(0).normal(size=(y.size, 50))
    X[np.arange(y.size), y] += 5
    lda = GroupLassoLDA(alpha=0.05, within=within).fit(X, y)
    np.testing.assert_array_equal(lda.predict(X), y)
    assert lda.scalings_.shape == (50, len(counts) - 1)
    assert lda.solution_.is_certified
    assert identity_error(lda, X, y) < 1e-8


@pytest.mark.parametrize("within", WITHIN)
def test_fourteen_classes_of_two(within: str) -> None:
    X, y = make(28, 60, 14, shift=8.0)
    lda = GroupLassoLDA(20, within=within).fit(X, y)
    assert lda.support_.sum() == 20
    assert lda.support_[:13].all()
    assert lda.scalings_.shape == (60, 13)
    assert lda.coef_.shape == (14, 60)
    assert lda.score(X, y) == 1.0
    assert identity_error(lda, X, y) < 1e-9


@pytest.mark.parametrize("within", WITHIN)
def test_there_are_no_more_directions_than_features(within: str) -> None:
    X, y = make(60, 50, 6)
    for k in (1, 2, 3):
        lda = GroupLassoLDA(k, within=within).fit(X, y)
        assert lda.scalings_.shape == (50, k)
        assert linalg.norm(lda.scalings_[lda.support_]) > 0
        assert lda.eigenvalues_.shape == (k,)
        assert np.linalg.matrix_rank(lda.scalings_) == k


@pytest.mark.parametrize(
    "names",
    [[10, 20], ["no", "yes"], [False, True], [-1.0, 1.0], np.array(["a", "b"], dtype=object)],
    ids=["integers", "strings", "booleans", "floats", "objects"],
)
@pytest.mark.parametrize("classifier", BOTH)
def test_labels_of_any_kind(classifier: ClassifierMixin, names: list) -> None:
    X, y = make(24, 60, 2, shift=6.0)
    names = np.asarray(names)
    lda = clone(classifier).fit(X, names[y])
    assert lda.classes_.tolist() == names.tolist()
    assert lda.predict(X).dtype == names.dtype
    np.testing.assert_array_equal(lda.predict(X), names[y])
    np.testing.assert_array_equal(lda.support_, clone(classifier).fit(X, y).support_)
    listed = clone(classifier).fit(X.tolist(), names[y].tolist())
    np.testing.assert_allclose(listed.scalings_, lda.scalings_, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("dtype", ["string", "category", "Int64", "boolean"])
def test_labels_of_pandas(dtype: str) -> None:
    """Whole numbers that may be missing become floats, as everywhere in scikit-learn."""
    X, y = make(24, 60, 2, shift=6.0)
    labels = pd.Series(y).astype(str if dtype == "string" else int).astype(dtype)
    predicted = GroupLassoLDA(3).fit(X, labels).predict(X)
    np.testing.assert_array_equal(predicted.astype(int), y)
    assert isinstance(predicted[0], str) == (dtype == "string")


@pytest.mark.parametrize("missing", [None, np.nan, pd.NA])
@pytest.mark.parametrize("classifier", BOTH)
def test_missing_labels(classifier: ClassifierMixin, missing: object) -> None:
    X, y = make(24, 60, 2)
    labels = np.array(["a", "b"], dtype=object)[y]
    labels[3] = missing
    with pytest.raises(InputError, match="missing labels"):
        clone(classifier).fit(X, labels)
    with pytest.raises(InputError, match="missing labels"):
        clone(classifier).fit(X, pd.array([missing, *y[1:]], dtype="Int64"))


# --- what is refused ---


@pytest.mark.parametrize("classifier", BOTH)
def test_wrong_data(classifier: ClassifierMixin) -> None:
    X, y = make(24, 60, 3)
    for bad, says in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoilt = X.copy()
        spoilt[2, 3] = bad
        with pytest.raises(ValueError, match=says):
            clone(classifier).fit(spoilt, y)
        fitted = clone(classifier).fit(X, y)
        with pytest.raises(ValueError, match=says):
            fitted.predict(spoilt)
    with pytest.raises(InputError, match=r"one class only.*'all'"):
        clone(classifier).fit(X, np.full(24, "all"))
    with pytest.raises(ValueError, match="X has 24 samples"):
        clone(classifier).fit(X, y[:-1])
    with pytest.raises(ValueError, match=r"0 sample\(s\)"):
        clone(classifier).fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"0 feature\(s\)"):
        clone(classifier).fit(X[:, :0], y)
    with pytest.raises(ValueError, match="continuous"):
        clone(classifier).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="requires y to be passed"):
        clone(classifier).fit(X, None)
    with pytest.raises(ValueError, match=r"59 features, but .* expecting 60"):
        clone(classifier).fit(X, y).predict(X[:, 1:])


@pytest.mark.parametrize("classifier", BOTH)
def test_columns_of_zeros_or_constants_only(classifier: ClassifierMixin) -> None:
    _, y = make(24, 60, 3)
    for value in (0.0, 0.1, -1e6):
        with pytest.raises(InputError, match="class means are all equal"):
            clone(classifier).fit(np.full((24, 5), value), y)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("offset", [0.0, 100.0])
def test_equal_class_means_are_refused_up_to_round_off(offset: float, within: str) -> None:
    """The same rows in every class, in another order: what differs is round-off."""
    X, _ = make(24, 60, 3)
    X += offset
    order = np.random.default_rng(0).permutation(24)
    data, labels = np.vstack([X, X[order]]), np.repeat(["a", "b"], 24)
    with pytest.raises(InputError, match="class means are all equal"):
        GroupLassoLDA(within=within).fit(data, labels)


def test_names_of_columns() -> None:
    X, y = make(24, 4, 3)
    lda = GroupLassoLDA(4).fit(pd.DataFrame(X, columns=["", "a\nb", "é 1", "x" * 300]), y)
    assert list(lda.selected_features_) == ["", "a\nb", "é 1", "x" * 300]
    assert not hasattr(GroupLassoLDA(4).fit(pd.DataFrame(X), y), "feature_names_in_")
    for classifier in BOTH:
        with pytest.raises(InputError, match="'g' for one"):
            clone(classifier).fit(pd.DataFrame(X, columns=["g", "h", "g", "i"]), y)
        with pytest.raises(InputError, match="'1' for one"):
            clone(classifier).fit(pd.DataFrame(X, columns=["1", 1, "b", "c"]), y)


def test_the_data_are_never_changed() -> None:
    X, y = make(24, 60, 3)
    weights, ridge = np.linspace(1, 2, 60), np.eye(60)
    for order in ("C", "F"):
        for within in WITHIN:
            for classifier in BOTH:
                given = np.array(X, order=order)
                given.flags.writeable = False
                options = {"within": within, "weights": weights, "ridge": ridge}
                clone(classifier).set_params(**options).fit(given, y).predict(given)
                np.testing.assert_array_equal(given, X)
    np.testing.assert_array_equal(weights, np.linspace(1, 2, 60))
    np.testing.assert_array_equal(ridge, np.eye(60))
