"""SparseOptimalScoring: scikit-learn's lasso and LDA, the scores by hand, options, odd data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import linalg
from scipy.special import softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import ElasticNet, Lasso
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid

from eigensieve import GroupLassoLDA, SparseOptimalScoring
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
    with pytest.warns(UserWarning, match="n_components is 9, but 5 classes have at most 4"):
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
