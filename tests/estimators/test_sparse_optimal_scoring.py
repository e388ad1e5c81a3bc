"""SparseOptimalScoring: scikit-learn's lasso and LDA, the scores by hand, options, odd data."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import linalg
from scipy.special import softmax
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigensieve import GroupLassoLDA, SparseOptimalScoring
from eigensieve.core.budget import Budget
from eigensieve.core.solution import Status
from eigensieve.errors import EigensieveError, InputError, OptionError
from tests.oracles.instances import shifted_classes as make


def indicators(y: np.ndarray) -> np.ndarray:
    return np.equal.outer(y, np.unique(y)).astype(float)


def centred(X: np.ndarray) -> np.ndarray:
    return X - X.mean(axis=0)


def uneven(n: int, p: int, K: int, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Classes of different sizes."""
    X, y = make(n + n // 4, p, K, **options)
    kept = np.union1d(np.arange(n - n // 4), np.flatnonzero(y == 0))
    return X[kept], y[kept]


def elastic_net(X: np.ndarray, t: np.ndarray, penalty: float, ridge: Any) -> np.ndarray:
    """min 1/2 |t - Xb|^2 + n/2 b'(ridge)b + penalty |b|_1, by scikit-learn."""
    n, p = X.shape
    exact = {"fit_intercept": False, "tol": 1e-14, "max_iter": 100_000}
    if np.ndim(ridge) == 2:
        root = linalg.sqrtm(n * ridge).real
        X, t = np.vstack([X, root]), np.concatenate([t, np.zeros(p)])
        return Lasso(alpha=penalty / (n + p), **exact).fit(X, t).coef_
    if ridge == 0:
        return Lasso(alpha=penalty / n, **exact).fit(X, t).coef_
    size = penalty / n + ridge
    return ElasticNet(alpha=size, l1_ratio=penalty / n / size, **exact).fit(X, t).coef_


def objective(X: np.ndarray, t: np.ndarray, b: np.ndarray, penalty: float, ridge: Any) -> float:
    R = ridge if np.ndim(ridge) == 2 else ridge * np.eye(b.size)
    return float(np.square(t - X @ b).sum() + len(X) * b @ R @ b) / 2 + penalty * np.abs(b).sum()


def smooth(p: int) -> np.ndarray:
    """A ridge on second differences, and a little on everything."""
    D = np.diff(np.eye(p), 2, axis=0)
    return 0.1 * D.T @ D + 0.01 * np.eye(p)


# --- two classes ---


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize(("n", "p"), [(16, 40), (60, 12), (30, 200)])
def test_two_classes_are_a_group_lasso(n: int, p: int, ridge: float) -> None:
    X, y = uneven(n, p, 2, shift=1.5)
    for options in ({"n_features_to_select": 5}, {"alpha": 0.2}):
        ours = SparseOptimalScoring(**options, ridge=ridge).fit(X, y)
        theirs = GroupLassoLDA(**options, ridge=ridge).fit(X, y)
        np.testing.assert_array_equal(ours.support_, theirs.support_)
        assert ours.alphas_ == pytest.approx([theirs.alpha_], rel=1e-9)
        ratios = ours.scalings_[ours.support_] / theirs.scalings_[ours.support_]
        np.testing.assert_allclose(ratios, ratios[0, 0], rtol=1e-7)


@pytest.mark.parametrize("ridge", [0.0, 0.3, smooth(40)], ids=["none", "number", "matrix"])
@pytest.mark.parametrize("alpha", [0.6, 0.2, 0.05])
def test_two_classes_are_one_elastic_net(alpha: float, ridge: Any) -> None:
    """The class score has mean 0 and variance 1: there is one, but for its sign."""
    X, y = uneven(30, 40, 2)
    share = y.mean()
    t = (y - share) / np.sqrt(share * (1 - share) * len(y))
    penalty = alpha * np.abs(centred(X).T @ t).max()
    b = elastic_net(centred(X), t, penalty, ridge)
    lda = SparseOptimalScoring(alpha=alpha, ridge=ridge).fit(X, y)
    ours = lda.solutions_[0].coefficients[:, 0]
    ours = ours * np.sign(ours @ b)
    np.testing.assert_allclose(ours, b, atol=1e-8)
    values = [objective(centred(X), t, w, penalty, ridge) for w in (ours, b)]
    assert values[0] == pytest.approx(values[1], rel=1e-8)
    assert lda.solutions_[0].objective == pytest.approx(values[1], rel=1e-8)
    size = np.std(X @ b)
    np.testing.assert_allclose(np.abs(lda.scalings_[:, 0]), np.abs(b) / size, atol=1e-8 / size)


# --- more classes: each half of the alternation is solved ---


@pytest.mark.parametrize("ridge", [0.0, 0.3, smooth(60)], ids=["none", "number", "matrix"])
@pytest.mark.parametrize("options", [{"n_features_to_select": 6}, {"alpha": 0.2}])
@pytest.mark.parametrize("K", [3, 4, 5])
def test_neither_weights_nor_scores_can_be_improved(K: int, options: dict, ridge: Any) -> None:
    X, y = uneven(50, 60, K, shift=2.0)
    n, Xc, Y = len(X), centred(X), indicators(y)
    D = Y.T @ Y / n
    lda = SparseOptimalScoring(**options, ridge=ridge).fit(X, y)
    assert lda.theta_.shape == (K, K - 1)
    every = np.column_stack([np.ones(K), lda.theta_])
    np.testing.assert_allclose(every.T @ D @ every, np.eye(K), atol=1e-10)
    for k, theta in enumerate(lda.theta_.T):
        t, penalty = Y @ theta / np.sqrt(n), lda.solutions_[k].penalty
        b = elastic_net(Xc, t, penalty, ridge)
        ours = lda.solutions_[k].coefficients[:, 0]
        np.testing.assert_allclose(ours, b, atol=1e-6 * np.abs(b).max())
        size = np.std(Xc @ ours)
        np.testing.assert_allclose(lda.scalings_[:, k], ours / size, rtol=1e-10)
        best = np.linalg.solve(D, Y.T @ Xc @ b)
        best -= every[:, : k + 1] @ (every[:, : k + 1].T @ D @ best)
        best /= np.sqrt(best @ D @ best)
        assert np.sqrt((theta - best) @ D @ (theta - best)) <= 1.01e-6


@pytest.mark.parametrize("K", [2, 3, 5])
def test_without_a_penalty_it_is_the_lda_of_scikit_learn(K: int) -> None:
    X, y = uneven(800, 7, K, shift=1.0)
    X = X @ np.random.default_rng(1).normal(size=(7, 7))
    new, _ = make(500, 7, K, seed=2, shift=1.0)
    ours = SparseOptimalScoring(alpha=1e-7, tol=1e-8).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert ours.support_.all()
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-4)
    for k in range(K - 1):
        both = np.corrcoef(ours.transform(X)[:, k], theirs.transform(X)[:, k])
        assert abs(both[0, 1]) > 1 - 1e-6


# --- what is fitted ---


def test_projected_rows_have_mean_zero_and_variance_one() -> None:
    X, y = uneven(40, 60, 4)
    lda = SparseOptimalScoring(5).fit(X + 100, y)
    Z = lda.transform(X + 100)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(Z.std(axis=0), 1, rtol=1e-9)
    np.testing.assert_allclose(Z, centred(X) @ lda.scalings_, atol=1e-9)
    np.testing.assert_allclose(lda.xbar_, X.mean(axis=0) + 100, rtol=1e-12)
    means = np.array([X[y == k].mean(axis=0) for k in range(4)]) + 100
    np.testing.assert_allclose(lda.means_, means, rtol=1e-12)


def test_figures_of_the_fit() -> None:
    X, y = uneven(40, 60, 4)
    lda = SparseOptimalScoring([3, 5, 4]).fit(X, y)
    assert lda.scalings_.shape == (60, 3)
    assert lda.theta_.shape == (4, 3)
    assert lda.alphas_.shape == lda.n_iter_.shape == lda.explained_variance_ratio_.shape == (3,)
    assert len(lda.supports_) == len(lda.solutions_) == 3
    for k, support in enumerate(lda.supports_):
        np.testing.assert_array_equal(support, np.flatnonzero(lda.scalings_[:, k]))
    np.testing.assert_array_equal(lda.get_support(), lda.scalings_.any(axis=1))
    np.testing.assert_array_equal(lda.get_support(indices=True), lda.selected_features_)
    assert lda.n_iter_.min() >= 1
    assert np.all((lda.alphas_ > 0) & (lda.alphas_ < 1))
    Z, share = lda.transform(X), np.bincount(y) / len(y)
    means = np.array([Z[y == k].mean(axis=0) for k in range(4)])
    between = share @ np.square(means)
    np.testing.assert_allclose(lda.explained_variance_ratio_, between / between.sum(), rtol=1e-9)


def test_alphas_are_shares_of_the_largest_penalty_that_leaves_a_direction() -> None:
    """The largest over all scores orthogonal to those before: the longest row of X'T."""
    X, y = uneven(40, 60, 4)
    lda = SparseOptimalScoring(5).fit(X, y)
    root = np.sqrt(np.bincount(y))
    M = centred(X).T @ indicators(y) / root  # in orthonormal terms
    for k in range(3):
        before = root[:, None] * np.column_stack([np.ones(4), lda.theta_[:, :k]])
        left = M @ linalg.null_space(before.T)
        largest = np.linalg.norm(left, axis=1).max()
        assert lda.alphas_[k] * largest == pytest.approx(lda.solutions_[k].penalty, rel=1e-9)


def test_the_order_of_rows_and_classes_does_not_matter() -> None:
    X, y = uneven(40, 60, 4)
    lda = SparseOptimalScoring(5).fit(X, y)
    rng = np.random.default_rng(0)
    order, name = rng.permutation(len(y)), np.array([2, 0, 3, 1])
    other = SparseOptimalScoring(5).fit(X[order], name[y[order]])
    np.testing.assert_allclose(np.abs(other.scalings_), np.abs(lda.scalings_), atol=1e-6)
    np.testing.assert_array_equal(other.predict(X), name[lda.predict(X)])


# --- the rules ---


@pytest.mark.parametrize("n_components", [None, 1])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_rule_lda_is_that_of_scikit_learn_on_the_projection(
    K: int, n_components: int | None
) -> None:
    X, y = uneven(50, 80, K)
    new, _ = make(300, 80, K, seed=1, shift=1.0)
    lda = SparseOptimalScoring(6, n_components=n_components).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(lda.transform(X), y)
    Z = lda.transform(new)
    assert Z.shape == (300, n_components or K - 1)
    np.testing.assert_array_equal(lda.predict(new), theirs.predict(Z))
    np.testing.assert_allclose(lda.predict_proba(new), theirs.predict_proba(Z), atol=1e-9)
    scores = lda.decision_function(new)
    linear = np.squeeze(new @ lda.coef_.T + lda.intercept_)
    np.testing.assert_allclose(scores, linear, rtol=1e-9, atol=1e-9)
    assert lda.coef_.shape == (1 if K == 2 else K, 80)


def test_priors_take_the_place_of_the_frequencies() -> None:
    X, y = uneven(50, 80, 3)
    new, _ = make(300, 80, 3, seed=1, shift=1.0)
    lda = SparseOptimalScoring(6, priors=[6, 1, 1]).fit(X, y)
    np.testing.assert_allclose(lda.priors_, [0.75, 0.125, 0.125], rtol=1e-12)
    Z, N = lda.transform(X), lda.transform(new)
    means = np.array([Z[y == k].mean(axis=0) for k in range(3)])
    inverse = np.linalg.inv((Z - means[y]).T @ (Z - means[y]) / len(y))
    gaps = N[:, None] - means
    costs = np.einsum("nki,ij,nkj->nk", gaps, inverse, gaps) / 2 - np.log(lda.priors_)
    np.testing.assert_allclose(lda.predict_proba(new), softmax(-costs, axis=1), atol=1e-9)
    usual = SparseOptimalScoring(6).fit(X, y)
    np.testing.assert_allclose(usual.priors_, np.bincount(y) / len(y), rtol=1e-12)
    assert np.mean(lda.predict(new) == 0) > np.mean(usual.predict(new) == 0)


@pytest.mark.parametrize(
    ("rule", "theirs"), [("centroid", NearestCentroid()), ("1-nn", KNeighborsClassifier(1))]
)
def test_the_other_rules_are_those_of_scikit_learn_too(rule: str, theirs: Any) -> None:
    X, y = uneven(50, 80, 4)
    new, _ = make(300, 80, 4, seed=1, shift=1.0)
    lda = SparseOptimalScoring(6, rule=rule).fit(X, y)
    theirs.fit(lda.transform(X), y)
    np.testing.assert_array_equal(lda.predict(new), theirs.predict(lda.transform(new)))
    assert hasattr(lda, "coef_") == (rule == "centroid")
    assert not np.array_equal(lda.predict(new), SparseOptimalScoring(6).fit(X, y).predict(new))


def test_for_two_classes_positive_scores_are_of_the_second() -> None:
    X, y = make(40, 50, 2)
    names = np.array(["well", "sick"])[y]
    lda = SparseOptimalScoring(4).fit(X, names)
    assert lda.classes_.tolist() == ["sick", "well"]
    scores = lda.decision_function(X)
    np.testing.assert_array_equal(lda.predict(X), np.where(scores > 0, "well", "sick"))
    assert lda.score(X, names) > 0.9


# --- the number of features and of directions ---


@pytest.mark.parametrize(("n", "p", "K"), [(30, 60, 2), (30, 40, 3), (40, 300, 5)])
def test_so_many_features_as_are_asked_for(n: int, p: int, K: int) -> None:
    X, y = make(n, p, K)
    for k in (1, 2, 5, 9, 15):
        lda = SparseOptimalScoring(k).fit(X, y)
        assert (lda.scalings_ != 0).sum(axis=0).tolist() == [k] * (K - 1)


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_a_number_for_each_direction(kind: Any) -> None:
    X, y = make(40, 100, 4)
    lda = SparseOptimalScoring(kind([7, 2, 4])).fit(X, y)
    assert (lda.scalings_ != 0).sum(axis=0).tolist() == [7, 2, 4]
    part = SparseOptimalScoring(kind([7, 2]), n_components=2).fit(X, y)
    np.testing.assert_allclose(part.scalings_, lda.scalings_[:, :2], rtol=1e-12)


def test_leading_directions_are_those_of_all() -> None:
    X, y = make(40, 60, 5)
    whole = SparseOptimalScoring(6).fit(X, y)
    for m in (1, 2, 3, 4):
        part = SparseOptimalScoring(6, n_components=m).fit(X, y)
        np.testing.assert_allclose(part.scalings_, whole.scalings_[:, :m], rtol=1e-12)
        assert part.explained_variance_ratio_.sum() == pytest.approx(1.0)
    with pytest.warns(UserWarning, match="n_components is 9, but there are 4"):
        more = SparseOptimalScoring(6, n_components=9).fit(X, y)
    np.testing.assert_array_equal(more.scalings_, whole.scalings_)


def test_more_features_than_there_are() -> None:
    X, y = make(60, 5, 3)
    with pytest.warns(UserWarning, match="n_features_to_select is 9, but only 5") as told:
        lda = SparseOptimalScoring(9).fit(X, y)
    assert len(told) == 1
    assert (lda.scalings_ != 0).all()
    with pytest.warns(UserWarning, match="n_features_to_select is 9, but only 5"):
        lda = SparseOptimalScoring([2, 9]).fit(X, y)
    assert (lda.scalings_ != 0).sum(axis=0).tolist() == [2, 5]


def test_no_more_features_than_samples_less_one() -> None:
    X, y = make(12, 60, 2)
    with pytest.warns(UserWarning, match="direction 0: .*exactly 30 features; .* is 11 "):
        lda = SparseOptimalScoring(30).fit(X, y)
    assert lda.support_.sum() == 11


def test_of_pairs_that_enter_together_the_nearest_number_is_taken() -> None:
    """With a ridge copies share a weight: every number is even; of two the fewer is taken."""
    X, y = make(30, 40, 3)
    with pytest.warns(UserWarning, match="exactly") as told:
        lda = SparseOptimalScoring([4, 3], ridge=0.1).fit(np.hstack([X, X]), y)
    assert len(told) == 1
    assert "direction 1: " in str(told[0].message)
    assert "exactly 3 features; the nearest number is 2 " in str(told[0].message)
    assert (lda.scalings_ != 0).sum(axis=0).tolist() == [4, 2]
    np.testing.assert_allclose(lda.scalings_[:40], lda.scalings_[40:], rtol=1e-6)


def test_the_alpha_that_a_warning_names_is_that_of_the_direction() -> None:
    X, y = make(30, 40, 4, seed=10, shift=1.0)
    with pytest.warns(UserWarning, match="exactly 3 features") as told:
        lda = SparseOptimalScoring(3, ridge=0.1).fit(np.hstack([X, X]), y)
    named = [float(str(w.message).split("alpha = ")[1].rstrip(")")) for w in told]
    assert named == pytest.approx(lda.alphas_.tolist(), rel=1e-3)


@pytest.mark.parametrize(
    ("options", "copies"),
    [
        ({"n_features_to_select": 99}, 1),
        ({"n_features_to_select": [99, 3]}, 1),
        ({"n_features_to_select": 2, "n_components": 7}, 1),
        ({"n_features_to_select": 3, "ridge": 0.1}, 2),
        ({"n_features_to_select": 3, "max_iter": 1}, 1),
        ({"n_features_to_select": 3, "time_limit": 0}, 1),
    ],
    ids=["clipped", "one clipped", "components", "skipped", "not converged", "time"],
)
def test_a_warning_points_at_the_line_that_fits(options: dict, copies: int) -> None:
    X, y = make(60, 5, 3)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        SparseOptimalScoring(**options).fit(np.hstack([X] * copies), y)
    assert told
    assert {w.filename for w in told} == {__file__}


def test_alpha_overrides_the_number() -> None:
    X, y = make(30, 40, 3)
    ask = SparseOptimalScoring(alpha=0.3).fit(X, y)
    for number in (3000, [1, 2, 3, 4]):
        other = SparseOptimalScoring(number, alpha=0.3).fit(X, y)
        np.testing.assert_array_equal(ask.scalings_, other.scalings_)
    np.testing.assert_allclose(ask.alphas_, 0.3, rtol=1e-12)
    assert SparseOptimalScoring(alpha=0.03).fit(X, y).support_.sum() > ask.support_.sum()


def test_any_alpha_below_one_leaves_a_direction() -> None:
    X, y = make(30, 200, 5)
    for alpha in (0.999, 0.9, 0.8):
        lda = SparseOptimalScoring(alpha=alpha).fit(X, y)
        assert lda.scalings_.shape == (200, 4)
        assert lda.n_components_ == 4
        assert all(support.size > 0 for support in lda.supports_)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_features_to_select": [3]}, "one number, or one for each of 2"),
        ({"n_features_to_select": [3, 4, 5]}, "one number, or one for each of 2"),
        ({"n_features_to_select": []}, "one number, or one for each of 2"),
        ({"n_features_to_select": [3, 4], "n_components": 1}, "one number, or one for each of 1"),
        ({"alpha": 0}, "alpha is 0;"),
        ({"alpha": 1}, "alpha is 1;"),
        ({"alpha": "0.5"}, "alpha is '0.5';"),
        ({"alpha": np.nan}, "alpha is nan;"),
        ({"alpha": [0.5]}, r"alpha is \[0.5\];"),
        ({"rule": "2-nn"}, "rule is '2-nn'"),
        ({"rule": "centroid", "priors": [1, 1, 1]}, "priors are for rule 'lda'"),
        ({"tol": 0}, "tol is 0;"),
        ({"tol": None}, "tol is None;"),
        ({"tol": 0.5}, "tol is 0.5;"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"ridge": -1}, "ridge is -1"),
        ({"ridge": np.eye(3)}, r"ridge has shape \(3, 3\)"),
        ({"ridge": -np.eye(40)}, "negative eigenvalues"),
    ],
)
def test_wrong_options(options: dict, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        SparseOptimalScoring(**options).fit(*make(24, 40, 3))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select is 0;"),
        ({"n_features_to_select": [3, 0]}, "n_features_to_select is 0;"),
        ({"n_features_to_select": [2.5, 3]}, "n_features_to_select is 2.5;"),
        ({"n_features_to_select": "3"}, "n_features_to_select is '3';"),
        ({"n_features_to_select": None}, "n_features_to_select is None;"),
        ({"n_features_to_select": True}, "n_features_to_select is True;"),
        ({"n_features_to_select": [[1, 2], [3, 4]]}, r"n_features_to_select is \[1, 2\];"),
        ({"n_components": 0}, "n_components is 0;"),
        ({"n_components": 1.5}, "n_components is 1.5;"),
        ({"max_iter": 0}, "max_iter is 0;"),
        ({"max_iter": None}, "max_iter is None;"),
        ({"priors": [1, 1]}, "priors must be 3 positive numbers"),
        ({"priors": [1, 1, 0]}, "priors must be 3 positive numbers"),
    ],
)
def test_wrong_numbers(options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        SparseOptimalScoring(**options).fit(*make(24, 40, 3))


def test_a_ragged_list_is_an_error_of_ours() -> None:
    with pytest.raises(EigensieveError, match="n_features_to_select"):
        SparseOptimalScoring([[1], [2, 3]]).fit(*make(24, 40, 3))


# --- as an estimator ---


@pytest.fixture(scope="module")
def frame() -> tuple[pd.DataFrame, pd.Series]:
    X, y = make(60, 30, 3)
    index = [f"patient {i}" for i in range(60)]
    return pd.DataFrame(X, index=index).add_prefix("gene "), pd.Series(y, index=index)


Frame = tuple[pd.DataFrame, pd.Series]


def test_names_and_output(frame: Frame) -> None:
    X, y = frame
    lda = SparseOptimalScoring(4).fit(X, y)
    assert list(lda.selected_features_) == [f"gene {i}" for i in lda.get_support(indices=True)]
    assert list(lda.feature_names_in_) == list(X.columns)
    names = ["sparseoptimalscoring0", "sparseoptimalscoring1"]
    assert list(lda.get_feature_names_out()) == names
    scores = lda.set_output(transform="pandas").transform(X)
    assert list(scores.columns) == names
    assert scores.index.equals(X.index)
    with pytest.raises(ValueError, match="feature names should match"):
        lda.predict(X.rename(columns={"gene 3": "gene x"}))


def test_in_a_pipeline_with_cross_validation_and_search(frame: Frame) -> None:
    X, y = frame
    pipeline = make_pipeline(StandardScaler(), SparseOptimalScoring(3))
    assert cross_val_score(pipeline, X, y, cv=5).mean() > 0.8
    assert {0, 1, 2} <= set(pipeline.fit(X, y)[-1].get_support(indices=True))
    grid = {"n_features_to_select": [1, [2, 3]], "rule": ["lda", "centroid"]}
    search = GridSearchCV(SparseOptimalScoring(), grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.8
    assert search.best_params_["n_features_to_select"] == [2, 3]


def test_pickles_and_clones() -> None:
    X, y = make()
    lda = SparseOptimalScoring([6, 3], priors=[1, 1, 2], ridge=0.1).fit(X, y)
    again = pickle.loads(pickle.dumps(lda))
    np.testing.assert_array_equal(again.predict_proba(X), lda.predict_proba(X))
    fresh = clone(lda)
    assert fresh.get_params() == lda.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    np.testing.assert_array_equal(fresh.fit(X, y).scalings_, lda.scalings_)


def test_a_second_fit_forgets_the_first(frame: Frame) -> None:
    X, y = make(20, 25, 2, seed=3)
    lda = SparseOptimalScoring([5, 4], priors=[1, 2, 3]).fit(*frame)
    lda.set_params(n_features_to_select=3, priors=None, rule="1-nn").fit(X, y)
    fresh = SparseOptimalScoring(3, rule="1-nn").fit(X, y)
    assert set(vars(lda)) == set(vars(fresh))
    assert not hasattr(lda, "coef_")
    for name in ("scalings_", "theta_", "alphas_", "n_iter_", "priors_", "means_", "supports_"):
        np.testing.assert_array_equal(getattr(lda, name), getattr(fresh, name))
    np.testing.assert_array_equal(lda.predict_proba(X), fresh.predict_proba(X))


# --- odd data ---


def test_constant_columns_are_never_used() -> None:
    X, y = make(45, 40, 3)
    wide = np.insert(X, [0, 10, 40], 0.1, axis=1)  # 0, 11 and 42
    lda, plain = SparseOptimalScoring(5).fit(wide, y), SparseOptimalScoring(5).fit(X, y)
    assert not lda.support_[[0, 11, 42]].any()
    kept = np.delete(lda.scalings_, [0, 11, 42], axis=0)
    np.testing.assert_allclose(np.abs(kept), np.abs(plain.scalings_), atol=1e-6)
    with pytest.raises(InputError, match="class means are all equal"):
        SparseOptimalScoring().fit(np.full((45, 4), 0.1), y)


def test_of_identical_columns_the_first_is_used() -> None:
    X, y = make(30, 40, 3)
    lda, plain = (
        SparseOptimalScoring(5).fit(np.hstack([X, X]), y),
        SparseOptimalScoring(5).fit(X, y),
    )
    assert not lda.support_[40:].any()
    np.testing.assert_allclose(np.abs(lda.scalings_[:40]), np.abs(plain.scalings_), atol=1e-6)


def test_small_classes() -> None:
    X, y = make(24, 60, 3)
    y[0] = 7
    lda = SparseOptimalScoring(4).fit(X, y)
    assert lda.scalings_.shape == (60, 3)
    assert lda.theta_[3] @ lda.theta_[3] == pytest.approx(24 - 1, rel=1e-9)  # as orthonormal rows
    assert set(lda.predict(X)) <= {0, 1, 2, 7}
    each = SparseOptimalScoring(alpha=0.3, rule="1-nn").fit(X[:5], np.arange(5))
    assert each.score(X[:5], np.arange(5)) == 1


def test_one_column() -> None:
    X, y = make(40, 40, 3)
    for labels in (y, y > 0):
        lda = SparseOptimalScoring(1).fit(X[:, :1], labels)
        assert lda.scalings_.shape == (1, 1)
        assert abs(lda.scalings_[0, 0]) == pytest.approx(1 / X[:, 0].std())
        theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X[:, :1], labels)
        np.testing.assert_array_equal(lda.predict(X[:, :1]), theirs.predict(X[:, :1]))


def test_the_number_of_directions_does_not_depend_on_tol() -> None:
    """Class 0 is far away; the second direction tells classes 1 and 2 apart, whatever tol is."""
    X, y = make(60, 30, 3)
    X[y == 0, 0] += 1e4
    for tol in (1e-6, 1e-3):
        lda = SparseOptimalScoring(alpha=0.2, tol=tol).fit(X, y)
        assert lda.scalings_.shape == (30, 2)
        assert lda.score(X, y) > 0.9


@pytest.mark.parametrize("scale", [1e60, 1e-60, 1e6])
def test_units_common_to_all_columns_do_not_matter(scale: float) -> None:
    X, y = make(45, 40, 3)
    lda, plain = SparseOptimalScoring(5).fit(X * scale, y), SparseOptimalScoring(5).fit(X, y)
    for ours, theirs in zip(lda.supports_, plain.supports_):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_allclose(lda.alphas_, plain.alphas_, rtol=1e-6)
    np.testing.assert_allclose(
        np.abs(lda.transform(X * scale)), np.abs(plain.transform(X)), atol=1e-5
    )
    np.testing.assert_array_equal(lda.predict(X * scale), plain.predict(X))


def test_scales_beyond_reason_are_an_error() -> None:
    X, y = make(45, 40, 3)
    with pytest.raises(InputError, match=r"column 2 has values of size .* rescale it"):
        SparseOptimalScoring().fit(X * np.where(np.arange(40) == 2, 1e100, 1.0), y)


def test_single_precision_is_computed_in_double() -> None:
    X, y = make(45, 40, 3)
    small = (X + 1000).astype(np.float32)
    single = SparseOptimalScoring(5).fit(small, y)
    double = SparseOptimalScoring(5).fit(small.astype(float), y)
    np.testing.assert_array_equal(single.scalings_, double.scalings_)
    np.testing.assert_array_equal(single.predict_proba(small), double.predict_proba(small))


@pytest.mark.parametrize(
    "names",
    [
        ["b", "a", "c"],
        [-1, 5, 0],
        [0.0, 2.0, 1.0],
        np.array(["x", "yy", "z"], dtype=object),
        pd.Categorical(["u", "v", "w"]),
        np.array([3, 200, 7], dtype=np.uint8),
    ],
    ids=["str", "int", "float", "object", "categorical", "uint8"],
)
def test_labels_of_all_kinds(names: Any) -> None:
    X, y = make(45, 40, 3)
    labels = names[y] if isinstance(names, np.ndarray | pd.Categorical) else np.array(names)[y]
    lda, plain = SparseOptimalScoring(5).fit(X, labels), SparseOptimalScoring(5).fit(X, y)
    np.testing.assert_array_equal(lda.predict(X), np.asarray(names)[plain.predict(X)])
    assert lda.classes_.tolist() == sorted(np.asarray(names).tolist())


def test_wrong_data() -> None:
    X, y = make(45, 40, 3)
    for bad, says in ((np.nan, "NaN"), (np.inf, "infinity")):
        spoilt = X.copy()
        spoilt[2, 3] = bad
        with pytest.raises(ValueError, match=says):
            SparseOptimalScoring().fit(spoilt, y)
    with pytest.raises(InputError, match=r"one class only.*'all'"):
        SparseOptimalScoring().fit(X, np.full(45, "all"))
    with pytest.raises(InputError, match="class means are all equal"):
        SparseOptimalScoring().fit(np.vstack([X, X]), np.repeat(["a", "b"], 45))
    with pytest.raises(InputError, match="missing labels"):
        SparseOptimalScoring().fit(X, np.where(y == 0, np.nan, y))


# --- limits ---


def test_convergence_is_told_of_only_if_it_fails() -> None:
    """One lasso is enough for the last direction: no other scores are left."""
    X, y = make(45, 40, 3, shift=1.0)
    with pytest.warns(ConvergenceWarning, match="direction 0 still moves") as told:
        lda = SparseOptimalScoring(max_iter=1).fit(X, y)
    assert len(told) == 1
    assert lda.n_iter_.tolist() == [1, 1]
    assert lda.score(X, y) > 0.5


@pytest.mark.parametrize("K", [3, 5])
def test_a_small_alpha_is_no_reason_for_alarm(K: int) -> None:
    lda = SparseOptimalScoring(alpha=1 / 128).fit(*make(30, 1000, K, shift=0.5))
    assert lda.scalings_.shape == (1000, K - 1)
    assert min(support.size for support in lda.supports_) > 20


def stop_after(monkeypatch: pytest.MonkeyPatch, looks: int, status: Status) -> None:
    """Every search is told to stop when it has asked so many times."""
    asked = iter(range(looks))

    def stop(self: Budget) -> Status | None:
        return status if next(asked, None) is None else None

    monkeypatch.setattr(Budget, "stop", stop)


# The scores of the start have no feature at the first penalties in the second data set.
CASES = [(30, 60, 3, 0, 3.0), (40, 100, 5, 8, 1.0)]
LOOKS = [0, 1, 4, 10]


@pytest.mark.parametrize("looks", LOOKS)
@pytest.mark.parametrize("options", [{}, {"alpha": 0.2}])
@pytest.mark.parametrize(("n", "p", "K", "seed", "shift"), CASES)
def test_when_the_time_is_up_that_is_what_is_said(
    monkeypatch: pytest.MonkeyPatch,
    n: int,
    p: int,
    K: int,
    seed: int,
    shift: float,
    options: dict,
    looks: int,
) -> None:
    """A model with a warning, or an error that speaks of the limit; no other message."""
    X, y = make(n, p, K, seed, shift)
    stop_after(monkeypatch, looks, Status.TIME_LIMIT)
    lda = SparseOptimalScoring(**options)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            lda.fit(X, y)
        except EigensieveError as error:
            assert "time" in str(error)  # noqa: PT017
            return
    assert [w.category for w in told] == [ConvergenceWarning]
    assert "time limit" in str(told[0].message)
    assert lda.predict(X).shape == (n,)
    np.testing.assert_allclose(lda.transform(X).std(axis=0), 1, rtol=1e-9)


@pytest.mark.parametrize("looks", LOOKS)
@pytest.mark.parametrize("options", [{}, {"alpha": 0.2}])
@pytest.mark.parametrize(("n", "p", "K", "seed", "shift"), CASES)
def test_ctrl_c_goes_on(
    monkeypatch: pytest.MonkeyPatch,
    n: int,
    p: int,
    K: int,
    seed: int,
    shift: float,
    options: dict,
    looks: int,
) -> None:
    """A grid search around it must end too: no other error may take its place."""
    stop_after(monkeypatch, looks, Status.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        SparseOptimalScoring(**options).fit(*make(n, p, K, seed, shift))


def test_a_generous_time_limit_changes_nothing() -> None:
    X, y = make()
    limited = SparseOptimalScoring(8, time_limit=600).fit(X, y)
    np.testing.assert_array_equal(limited.scalings_, SparseOptimalScoring(8).fit(X, y).scalings_)
