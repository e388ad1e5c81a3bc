"""UncorrelatedLDA and its rules, against scikit-learn and formulas written out."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import linalg
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from eigensieve import UncorrelatedLDA
from eigensieve.errors import InputError, OptionError

RULES = ["centroid", "1-nn", "lda"]
Data = tuple[np.ndarray, np.ndarray]


def make(n: int = 240, p: int = 8, K: int = 4, seed: int = 0) -> Data:
    """Unbalanced Gaussian classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.choice(K, size=n, p=np.arange(1, K + 1) / (K * (K + 1) / 2))
    y[:K] = np.arange(K)
    mixing = np.random.default_rng(99).normal(size=(p, p))
    means = np.random.default_rng(98).normal(size=(K, p))
    return (rng.normal(size=(n, p)) + means[y]) @ mixing + 3.0, y


def total_scatter(X: np.ndarray) -> np.ndarray:
    return np.cov(X, rowvar=False, bias=True)


def within_scatter(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    rest = X.copy()
    for label in np.unique(y):
        rest[y == label] -= X[y == label].mean(axis=0)
    return rest.T @ rest / len(X)


# --- the directions ---


@pytest.mark.parametrize("solver", ["svd", "eigen"])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_directions_span_what_scikit_learn_finds(solver: str, K: int) -> None:
    X, y = make(K=K)
    ours = UncorrelatedLDA().fit(X, y).scalings_
    theirs = LinearDiscriminantAnalysis(solver=solver).fit(X, y).scalings_[:, : K - 1]
    assert ours.shape == theirs.shape
    assert linalg.subspace_angles(ours, theirs).max() < 1e-8
    # one after the other: correlations are distinct here
    for a, b in zip(ours.T, theirs.T):
        assert abs(a @ b) / np.linalg.norm(a) / np.linalg.norm(b) > 1 - 1e-12


@pytest.mark.parametrize("shape", [(240, 8), (20, 60), (30, 30)])
def test_projected_rows_are_centred_and_uncorrelated(shape: tuple[int, int]) -> None:
    X, y = make(*shape)
    lda = UncorrelatedLDA().fit(X, y)
    Z = lda.transform(X)
    assert Z.shape == (shape[0], 3)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-11)
    np.testing.assert_allclose(Z.T @ Z / len(Z), np.eye(3), atol=1e-11)
    np.testing.assert_allclose(Z, (X - X.mean(axis=0)) @ lda.scalings_, atol=1e-10)
    gram = lda.scalings_.T @ total_scatter(X) @ lda.scalings_
    assert np.linalg.norm(gram - np.eye(3)) / np.sqrt(3) < 1e-10
    assert lda.orthogonality_error_ < 1e-12
    assert lda.sparsity_ == 0
    np.testing.assert_allclose(lda.xbar_, X.mean(axis=0))
    np.testing.assert_allclose(lda.means_, [X[y == k].mean(axis=0) for k in range(4)])
    np.testing.assert_allclose(lda.priors_, np.bincount(y) / len(y))
    assert lda.classes_.tolist() == [0, 1, 2, 3]


def test_training_rows_of_a_class_fall_on_one_point_for_wide_data() -> None:
    X, y = make(20, 60)
    lda = UncorrelatedLDA().fit(X, y)
    Z = lda.transform(X)
    assert max(np.ptp(Z[y == k], axis=0).max() for k in range(4)) < 1e-11
    np.testing.assert_allclose(lda.canonical_correlations_, 1, atol=1e-12)
    assert lda.rank_ == 19


# --- the rules ---


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_the_lda_rule_is_lda(load) -> None:
    """Solver "lsqr" has the divisor n that the rule has, "svd" has n - K: the labels are equal."""
    X, y = load(return_X_y=True)
    ours = UncorrelatedLDA(rule="lda").fit(X, y)
    svd = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), svd.predict(X))
    lsqr = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), lsqr.predict_proba(X), atol=1e-8)


@pytest.mark.parametrize("K", [2, 4])
def test_the_lda_rule_on_new_rows(K: int) -> None:
    X, y = make(K=K)
    new, _ = make(500, K=K, seed=1)
    ours = UncorrelatedLDA(rule="lda").fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-9)
    assert len(np.unique(ours.predict(new))) == K


def gaussian_posterior(
    Z: np.ndarray, means: np.ndarray, covariance: np.ndarray, priors: np.ndarray
) -> np.ndarray:
    log_density = np.empty((len(Z), len(means)))
    for k, mean in enumerate(means):
        r = Z - mean
        log_density[:, k] = -0.5 * np.einsum("ij,ij->i", r @ linalg.inv(covariance), r)
    return softmax(log_density + np.log(priors), axis=1)


@pytest.mark.parametrize("K", [2, 4])
@pytest.mark.parametrize("n_components", [None, 1])
def test_probabilities_are_those_of_gaussians(K: int, n_components: int | None) -> None:
    X, y = make(K=K)
    new, _ = make(100, K=K, seed=1)
    priors = np.arange(K, 0, -1) / np.arange(K, 0, -1).sum()
    lda = UncorrelatedLDA(n_components, rule="lda", priors=3 * priors).fit(X, y)
    Z, W = lda.transform(X), lda.transform(new)
    means = np.array([Z[y == k].mean(axis=0) for k in range(K)])
    within = within_scatter(Z, y)
    expected = gaussian_posterior(W, means, within, priors)
    np.testing.assert_allclose(lda.predict_proba(new), expected, atol=1e-10)
    np.testing.assert_allclose(lda.priors_, priors)
    np.testing.assert_allclose(np.exp(lda.predict_log_proba(new)), expected, atol=1e-10)
    # with the nearest mean: the total covariance, which is I here, and equal priors
    centroid = UncorrelatedLDA(n_components, rule="centroid").fit(X, y)
    even = gaussian_posterior(W, means, np.eye(Z.shape[1]), np.full(K, 1 / K))
    np.testing.assert_allclose(centroid.predict_proba(new), even, atol=1e-10)


def test_priors_move_the_border() -> None:
    X, y = make(K=2)
    shares = [
        np.mean(UncorrelatedLDA(rule="lda", priors=[1 - p, p]).fit(X, y).predict(X))
        for p in (0.01, 0.5, 0.99)
    ]
    assert shares[0] < shares[1] < shares[2]


@pytest.mark.parametrize("K", [2, 4])
def test_the_centroid_rule_is_nearest_centroid(K: int) -> None:
    X, y = make(K=K)
    new, _ = make(500, K=K, seed=1)
    ours = UncorrelatedLDA(rule="centroid").fit(X, y)
    theirs = NearestCentroid().fit(ours.transform(X), y)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(ours.transform(new)))


@pytest.mark.parametrize("K", [2, 4])
def test_the_nearest_sample_rule_is_one_nearest_neighbour(K: int) -> None:
    X, y = make(K=K)
    new, _ = make(500, K=K, seed=1)
    ours = UncorrelatedLDA(rule="1-nn").fit(X, y)
    theirs = KNeighborsClassifier(1).fit(ours.transform(X), y)
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(ours.transform(new)))
    np.testing.assert_array_equal(
        ours.predict_proba(new), theirs.predict_proba(ours.transform(new))
    )
    assert ours.score(X, y) == 1.0
    distances = theirs.kneighbors(ours.transform(new))[0][:, 0]
    scores = ours.decision_function(new)
    if K > 2:
        np.testing.assert_allclose(scores.max(axis=1), -distances, atol=1e-12)


def test_the_rules_differ_where_they_should() -> None:
    X, y = make()
    new, _ = make(500, seed=1)
    labels = [UncorrelatedLDA(rule=rule).fit(X, y).predict(new) for rule in RULES]
    for i in range(3):
        assert np.mean(labels[i] != labels[i - 1]) > 0.02


def test_rules_agree_on_the_nearest_class_for_wide_data() -> None:
    X, y = make(24, 60)
    new, _ = make(300, 60, seed=1)
    centroid, nearest = (UncorrelatedLDA(rule=rule).fit(X, y) for rule in ("centroid", "1-nn"))
    np.testing.assert_array_equal(centroid.predict(new), nearest.predict(new))
    sure = UncorrelatedLDA(rule="lda", priors=[1, 1, 1, 1]).fit(X, y)
    np.testing.assert_array_equal(centroid.predict(new), sure.predict(new))
    assert np.isfinite(sure.decision_function(new)).all()
    # the covariance within the classes is taken to be 1e-6 of the total one, not zero
    Z, W = sure.transform(X), sure.transform(new)
    means = np.array([Z[y == k].mean(axis=0) for k in range(4)])
    expected = gaussian_posterior(W, means, 1e-6 * np.eye(3), np.full(4, 0.25))
    np.testing.assert_allclose(sure.predict_proba(new), expected, atol=1e-6)


# --- what a classifier has ---


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("K", [2, 4])
def test_probabilities_scores_and_labels_agree(rule: str, K: int) -> None:
    X, y = make(K=K)
    labels = np.array(["ash", "birch", "cedar", "dogwood"])[y]
    lda = UncorrelatedLDA(rule=rule).fit(X, labels)
    new, _ = make(100, K=K, seed=1)
    proba, scores = lda.predict_proba(new), lda.decision_function(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert proba.min() >= 0
    np.testing.assert_array_equal(lda.classes_[proba.argmax(axis=1)], lda.predict(new))
    assert scores.shape == ((100,) if K == 2 else (100, K))
    winners = (scores > 0).astype(int) if K == 2 else scores.argmax(axis=1)
    np.testing.assert_array_equal(lda.classes_[winners], lda.predict(new))
    assert lda.score(X, labels) == np.mean(lda.predict(X) == labels)


@pytest.mark.parametrize("rule", ["centroid", "lda"])
@pytest.mark.parametrize("K", [2, 4])
def test_coefficients_reproduce_the_scores(rule: str, K: int) -> None:
    X, y = make(K=K)
    lda = UncorrelatedLDA(rule=rule).fit(X, y)
    assert lda.coef_.shape == ((1, 8) if K == 2 else (K, 8))
    assert lda.intercept_.shape == ((1,) if K == 2 else (K,))
    new, _ = make(100, K=K, seed=1)
    linear = new @ lda.coef_.T + lda.intercept_
    np.testing.assert_allclose(lda.decision_function(new), np.squeeze(linear), atol=1e-9)


def test_the_nearest_sample_rule_has_no_coefficients_not_even_old_ones() -> None:
    X, y = make()
    lda = UncorrelatedLDA().fit(X, y)
    assert lda.coef_.shape == (4, 8)
    lda.set_params(rule="1-nn").fit(X, y)
    assert not hasattr(lda, "coef_")
    assert not hasattr(lda, "intercept_")
    assert hasattr(lda.set_params(rule="lda").fit(X, y), "coef_")


# --- the number of directions ---


@pytest.mark.parametrize("shape", [(240, 8), (20, 60)])
def test_fewer_directions(shape: tuple[int, int]) -> None:
    X, y = make(*shape)
    base = UncorrelatedLDA().fit(X, y)
    fewer = UncorrelatedLDA(2).fit(X, y)
    np.testing.assert_allclose(fewer.scalings_, base.scalings_[:, :2], atol=1e-12)
    for lda, size in ((fewer, 2), (base, 3)):
        Z = lda.transform(X)
        np.testing.assert_allclose(Z.T @ Z / len(X), np.eye(size), atol=1e-10)
        assert lda.canonical_correlations_.size == 3


def test_too_many_directions_are_clipped_with_a_warning() -> None:
    X, y = make(20, 60)
    with pytest.warns(
        UserWarning, match="n_components is 40, but these class means have at most 3"
    ):
        lda = UncorrelatedLDA(40).fit(X, y)
    assert lda.transform(X).shape == (20, 3)
    assert lda.n_components == 40


# --- odd data ---


def test_constant_columns_and_dependent_columns() -> None:
    X, y = make(K=3)
    wide = np.column_stack([X, np.full(len(X), 0.1), X[:, 0] + X[:, 1]])
    lda = UncorrelatedLDA(rule="lda").fit(wide, y)
    assert lda.rank_ == 8
    assert not lda.support_[8]
    assert lda.support_.sum() == 9
    assert lda.sparsity_ == pytest.approx(0.1)
    np.testing.assert_array_equal(
        lda.predict(wide), UncorrelatedLDA(rule="lda").fit(X, y).predict(X)
    )


def test_a_class_with_one_sample() -> None:
    X, y = make(K=3)
    y = np.append(np.where(y == 2, 1, y), 2)
    X = np.vstack([X, X.mean(axis=0) + 40.0])
    for rule in RULES:
        lda = UncorrelatedLDA(rule=rule).fit(X, y)
        assert lda.predict(X[-1:]).tolist() == [2]
        assert np.isfinite(lda.predict_proba(X)).all()


def test_float32_and_large_offsets() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.integers(-9, 10, size=(60, 6)).astype(np.float64)
    X[np.arange(60), y] += 8.0
    plain = UncorrelatedLDA(rule="lda").fit(X, y)
    single = (X + 1e6).astype(np.float32)
    np.testing.assert_array_equal(single - np.float32(1e6), X)  # nothing was lost
    shifted = UncorrelatedLDA(rule="lda").fit(single, y)
    assert shifted.scalings_.dtype == np.float64
    np.testing.assert_allclose(shifted.scalings_, plain.scalings_, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(shifted.transform(single), plain.transform(X), atol=1e-10)
    np.testing.assert_allclose(shifted.predict_proba(single), plain.predict_proba(X), atol=1e-8)


def test_the_data_are_never_changed() -> None:
    X, y = make(20, 60)
    for order in ("C", "F"):
        given = np.array(X, order=order)
        given.flags.writeable = False
        UncorrelatedLDA().fit(given, y).predict(given)
        np.testing.assert_array_equal(given, X)


# --- names, copies ---


def test_names_in_and_out() -> None:
    X, y = make(60, 5, 3)
    X[:, 2] = 1.0
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(5)], index=range(100, 160))
    lda = UncorrelatedLDA().set_output(transform="pandas").fit(frame, pd.Series(y))
    scores = lda.transform(frame)
    assert list(scores.columns) == ["uncorrelatedlda0", "uncorrelatedlda1"]
    assert scores.index.equals(frame.index)
    assert lda.selected_features_.tolist() == ["gene 0", "gene 1", "gene 3", "gene 4"]
    assert lda.get_support().tolist() == [True, True, False, True, True]
    assert lda.get_support(indices=True).tolist() == [0, 1, 3, 4]
    plain = UncorrelatedLDA().fit(X, y)
    assert plain.selected_features_.tolist() == [0, 1, 3, 4]
    with pytest.raises(InputError, match="occur more than once"):
        UncorrelatedLDA().fit(frame.set_axis(["a", "b", "c", "d", "a"], axis=1), y)


@pytest.mark.parametrize("rule", RULES)
def test_pickles_and_clones(rule: str) -> None:
    X, y = make()
    lda = UncorrelatedLDA(2, rule=rule).fit(X, y)
    again = pickle.loads(pickle.dumps(lda))
    np.testing.assert_allclose(again.decision_function(X), lda.decision_function(X), atol=1e-12)
    fresh = clone(lda)
    assert fresh.get_params() == lda.get_params()
    for method in (fresh.predict, fresh.transform):
        with pytest.raises(NotFittedError):
            method(X)
    with pytest.raises(NotFittedError):
        fresh.get_support()


# --- what is refused ---


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"rule": "nearest"}, "rule is 'nearest'; it must be one of centroid, 1-nn, lda"),
        ({"rule": None}, "rule is None"),
        ({"rule": "centroid", "priors": [0.2, 0.3, 0.5]}, "priors are for rule 'lda'"),
        ({"rule": "1-nn", "priors": [0.2, 0.3, 0.5]}, "priors are for rule 'lda'"),
        ({"rank_tol": -1.0}, "rank_tol is -1.0"),
        ({"rank_tol": "auto"}, "rank_tol is 'auto'"),
    ],
)
def test_wrong_options(options: dict, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        UncorrelatedLDA(**options).fit(*make(K=3))


@pytest.mark.parametrize("size", [0, -1, 1.5, "all", True])
def test_wrong_numbers_of_directions(size: object) -> None:
    with pytest.raises(InputError, match=r"n_components is .* whole number"):
        UncorrelatedLDA(size).fit(*make(K=3))


@pytest.mark.parametrize(
    "priors", [[0.5, 0.5], [0.0, 0.5, 0.5], [1, 1, -1], [np.inf, 1, 1], [np.nan, 1, 1], "abc", 1.0]
)
def test_wrong_priors(priors: object) -> None:
    with pytest.raises(InputError, match="priors must be 3 positive numbers"):
        UncorrelatedLDA(rule="lda", priors=priors).fit(*make(K=3))
