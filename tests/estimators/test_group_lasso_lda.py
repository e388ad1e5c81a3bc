"""GroupLassoLDA: optimality from the samples, the rule by plain numpy, options, limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import linalg, sparse
from scipy.special import softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from eigensieve import GroupLassoLDA, GroupLassoLDACV, ScoringProblem
from eigensieve.errors import OptionError
from tests.oracles.instances import shifted_classes as make

WITHIN = ["full", "diagonal"]
# samples, columns, classes
SHAPES = [(16, 40, 2), (21, 80, 3), (30, 31, 5), (200, 12, 4)]


def class_means(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return np.array([X[y == label].mean(axis=0) for label in np.unique(y)])


def covariances(X: np.ndarray, y: np.ndarray, within: str) -> tuple[np.ndarray, np.ndarray]:
    """Between the classes, and within them."""
    _, code = np.unique(y, return_inverse=True)
    means = class_means(X, y)[code]
    A, W = means - X.mean(axis=0), X - means
    S_w = W.T @ W / len(X)
    return A.T @ A / len(X), np.diag(np.diag(S_w)) if within == "diagonal" else S_w


def coefficients(lda: GroupLassoLDA, n: int) -> np.ndarray:
    """B of the regression, up to a rotation of its columns, from the directions alone.

    V = sqrt(n) B (s (1 - s))^-1/2 and the eigenvalues are s / (1 - s).
    """
    s = lda.eigenvalues_ / (1 + lda.eigenvalues_)
    return lda.scalings_ * np.sqrt(s * (1 - s) / n)


# --- optimality ---


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_the_regression_is_optimal_by_its_conditions(n: int, p: int, K: int, within: str) -> None:
    """From the samples, the directions, the eigenvalues and lambda: nothing else."""
    X, y = make(n, p, K)
    lda = GroupLassoLDA(alpha=0.2, within=within).fit(X, y)
    assert lda.scalings_.shape == (p, K - 1)
    Xc, B = X - X.mean(axis=0), coefficients(lda, n)
    means = (class_means(X, y) - X.mean(axis=0))[y]
    scores = means @ B * (1 + lda.eigenvalues_) / lda.eigenvalues_
    np.testing.assert_allclose(scores.T @ scores, np.eye(K - 1), atol=1e-9)
    if within == "full":
        slope = Xc.T @ (scores - Xc @ B)
    else:
        inner = np.square(X - class_means(X, y)[y]).sum(axis=0)
        slope = Xc.T @ scores - means.T @ (means @ B) - inner[:, None] * B
    lengths = np.linalg.norm(B, axis=1)
    used = lengths > 0
    assert 0 < used.sum() < p
    assert np.linalg.norm(slope, axis=1).max() <= lda.lambda_ * (1 + 1e-8)
    pull = lda.lambda_ * B[used] / lengths[used, None]
    np.testing.assert_allclose(slope[used], pull, atol=1e-8 * lda.lambda_)
    strengths = np.linalg.norm(Xc.T @ scores, axis=1)  # whatever the rotation of the scores
    assert lda.lambda_max_ == pytest.approx(strengths.max(), rel=1e-9)
    assert lda.lambda_ == pytest.approx(0.2 * strengths.max(), rel=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize(("n", "p", "K"), SHAPES)
def test_directions_solve_the_penalised_lda(
    n: int, p: int, K: int, within: str, ridge: float
) -> None:
    X, y = make(n, p, K)
    lda = GroupLassoLDA(alpha=0.2, within=within, ridge=ridge).fit(X, y)
    used, V = lda.support_, lda.scalings_[lda.support_]
    S_b, S_w = covariances(X[:, used], y, within)
    lengths = np.linalg.norm(coefficients(lda, n)[used], axis=1)
    S = S_w + ridge * np.eye(used.sum()) + lda.lambda_ / n * np.diag(1 / lengths)
    np.testing.assert_allclose(V.T @ S @ V, np.eye(K - 1), atol=1e-9)
    theirs = linalg.eigh(S_b, S, eigvals_only=True)[::-1][: K - 1]
    np.testing.assert_allclose(lda.eigenvalues_, theirs, rtol=1e-8)
    np.testing.assert_allclose(V.T @ S_b @ V, np.diag(theirs), atol=1e-8 * theirs[0])
    np.testing.assert_allclose(lda.explained_variance_ratio_, theirs / theirs.sum(), rtol=1e-8)


@pytest.mark.parametrize(
    "options", [{}, {"weights": "std"}, {"ridge": 0.1}, {"weights": np.linspace(1, 2, 40)}]
)
@pytest.mark.parametrize("within", WITHIN)
def test_the_solution_is_verified(within: str, options: dict) -> None:
    X, y = make(30, 40, 3)
    lda = GroupLassoLDA(6, within=within, **options).fit(X, y)
    problem = ScoringProblem.from_data(X, y, within=within, **options)
    lda.solution_.verify(problem)
    assert lda.solution_.is_certified
    assert lda.kkt_ == lda.solution_.kkt <= 1e-10
    assert lda.lambda_ == lda.solution_.penalty
    assert lda.alpha_ == pytest.approx(lda.lambda_ / lda.lambda_max_, rel=1e-14)
    assert np.flatnonzero(lda.support_).tolist() == lda.solution_.support.tolist()


def test_weights_are_the_prices_of_features() -> None:
    """A feature twice as dear is one of half the size: x_j beta_j and w_j |beta_j| stay."""
    X, y = make(30, 40, 3)
    w = np.random.default_rng(0).uniform(0.5, 2, size=40)
    dear = GroupLassoLDA(alpha=0.2, weights=w).fit(X, y)
    small = GroupLassoLDA(alpha=0.2).fit(X / w, y)
    np.testing.assert_array_equal(dear.support_, small.support_)
    assert not np.array_equal(dear.support_, GroupLassoLDA(alpha=0.2).fit(X, y).support_)
    np.testing.assert_allclose(
        np.abs(dear.scalings_), np.abs(small.scalings_) / w[:, None], atol=1e-9
    )
    np.testing.assert_allclose(dear.predict_proba(X), small.predict_proba(X / w), atol=1e-9)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("K", [2, 3, 5])
def test_weights_std_is_standardising_first(K: int, within: str) -> None:
    X, y = make(40, 60, K)
    X = 5 + X * np.geomspace(0.01, 100, 60)
    Z = StandardScaler().fit_transform(X)
    weighted = GroupLassoLDA(7, within=within, weights="std").fit(X, y)
    scaled = GroupLassoLDA(7, within=within).fit(Z, y)
    np.testing.assert_array_equal(weighted.support_, scaled.support_)
    assert weighted.alpha_ == pytest.approx(scaled.alpha_, rel=1e-9)
    np.testing.assert_array_equal(weighted.predict(X), scaled.predict(Z))
    np.testing.assert_allclose(weighted.predict_proba(X), scaled.predict_proba(Z), atol=1e-9)


# --- the rule ---


@pytest.mark.parametrize("n_components", [None, 1])
@pytest.mark.parametrize("priors", [None, (5, 1, 2, 1, 1)])
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_nearest_class_mean_wins(
    K: int, within: str, priors: tuple[int, ...] | None, n_components: int | None
) -> None:
    X, y = make(40, 100, K)
    X, y = X[:-3], y[:-3]  # the frequencies differ
    new, _ = make(300, 100, K, seed=1, shift=1.0)
    given = None if priors is None else priors[:K]
    lda = GroupLassoLDA(
        8, within=within, priors=given, n_components=n_components, rule="penalized"
    ).fit(X, y)
    assert lda.scalings_.shape == (100, n_components or K - 1)
    share = np.bincount(y) / len(y) if given is None else np.array(given) / sum(given)
    np.testing.assert_allclose(lda.priors_, share, rtol=1e-12)
    distances = np.square((new[:, None] - class_means(X, y)) @ lda.scalings_).sum(axis=2)
    costs = distances - 2 * np.log(share)
    np.testing.assert_array_equal(lda.predict(new), costs.argmin(axis=1))
    probabilities = softmax(-costs / 2, axis=1)
    np.testing.assert_allclose(lda.predict_proba(new), probabilities, atol=1e-10)
    np.testing.assert_allclose(
        lda.predict_log_proba(new), np.log(probabilities), rtol=1e-8, atol=1e-10
    )
    scores = lda.decision_function(new)
    if K == 2:
        np.testing.assert_allclose(scores, (costs[:, 0] - costs[:, 1]) / 2, atol=1e-9)
        assert lda.coef_.shape == (1, 100)
    else:
        np.testing.assert_allclose(scores - scores[:, :1], (costs[:, :1] - costs) / 2, atol=1e-9)
        assert lda.coef_.shape == (K, 100)
    np.testing.assert_allclose(
        scores, np.squeeze(new @ lda.coef_.T + lda.intercept_), rtol=1e-9, atol=1e-9
    )


@pytest.mark.parametrize("K", [2, 3, 5])
def test_without_a_penalty_it_is_the_lda_of_scikit_learn(K: int) -> None:
    X, y = make(800, 7, K, shift=1.0)
    X = X @ np.random.default_rng(1).normal(size=(7, 7))
    new, _ = make(500, 7, K, seed=2, shift=1.0)
    ours = GroupLassoLDA(alpha=1e-6, tol=1e-6).fit(X, y)
    theirs = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert ours.support_.all()
    np.testing.assert_array_equal(ours.predict(new), theirs.predict(new))
    np.testing.assert_allclose(ours.predict_proba(new), theirs.predict_proba(new), atol=1e-4)


@pytest.mark.parametrize("alpha", [1e-4, 1e-6])
def test_a_small_alpha_is_no_reason_for_alarm(alpha: float) -> None:
    """With the default tol: what round-off leaves must not be called an early end."""
    rng = np.random.default_rng(3)
    y = np.arange(600) % 3
    X = rng.normal(size=(600, 8)) @ rng.normal(size=(8, 8)) + rng.normal(size=(3, 8))[y] * 0.7
    lda = GroupLassoLDA(alpha=alpha).fit(X, y)
    assert lda.solution_.is_certified


@pytest.mark.parametrize("within", WITHIN)
def test_the_sign_of_a_direction_is_that_of_its_largest_entry(within: str) -> None:
    for K in (2, 3, 5):
        X, y = make(40, 50, K)
        for data in (X, -X):
            V = GroupLassoLDA(8, within=within).fit(data, y).scalings_
            assert np.all(V.max(axis=0) > -V.min(axis=0))


def test_for_two_classes_positive_scores_are_of_the_second() -> None:
    X, y = make(40, 50, 2)
    names = np.array(["well", "sick"])[y]  # sorted: the labels change places
    lda = GroupLassoLDA(4).fit(X, names)
    assert lda.classes_.tolist() == ["sick", "well"]
    assert lda.scalings_.shape == (50, 1)
    scores = lda.decision_function(X)
    assert scores.shape == (40,)
    np.testing.assert_array_equal(lda.predict(X), np.where(scores > 0, "well", "sick"))
    assert lda.score(X, names) > 0.9


def test_transform_projects_centred_rows() -> None:
    X, y = make(30, 60, 4)
    new, _ = make(10, 60, 4, seed=1)
    lda = GroupLassoLDA(9).fit(X + 3, y)
    np.testing.assert_allclose(lda.xbar_, X.mean(axis=0) + 3, rtol=1e-12)
    np.testing.assert_allclose(lda.means_, class_means(X, y) + 3, rtol=1e-12)
    Z = lda.transform(new)
    np.testing.assert_allclose(Z, (new - X.mean(axis=0) - 3) @ lda.scalings_, atol=1e-10)
    assert Z.shape == (10, 3)
    assert GroupLassoLDA(9, n_components=2).fit(X, y).transform(new).shape == (10, 2)


def test_leading_directions_are_those_of_all() -> None:
    X, y = make(40, 60, 5)
    whole = GroupLassoLDA(9).fit(X, y)
    for m in (1, 2, 3, 4):
        part = GroupLassoLDA(9, n_components=m).fit(X, y)
        np.testing.assert_allclose(part.scalings_, whole.scalings_[:, :m], rtol=1e-12)
        np.testing.assert_allclose(part.eigenvalues_, whole.eigenvalues_[:m], rtol=1e-12)
        assert part.explained_variance_ratio_.shape == (m,)
        assert part.support_.sum() == 9
    with pytest.warns(UserWarning, match="n_components is 9, but 5 classes have at most 4"):
        more = GroupLassoLDA(9, n_components=9).fit(X, y)
    np.testing.assert_allclose(more.scalings_, whole.scalings_, rtol=1e-12)


# --- the number of features ---


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize(("n", "p", "K"), [(30, 60, 2), (30, 40, 3), (40, 300, 5)])
def test_so_many_features_as_are_asked_for(n: int, p: int, K: int, within: str, seed: int) -> None:
    X, y = make(n, p, K, seed)
    last = 1.0
    for k in range(1, 21):
        lda = GroupLassoLDA(k, within=within).fit(X, y)
        assert lda.support_.sum() == np.count_nonzero(lda.scalings_.any(axis=1)) == k
        assert lda.solution_.is_certified
        assert 0 < lda.alpha_ < last
        last = lda.alpha_


@pytest.mark.parametrize(("k", "found"), [(1, 2), (3, 2), (5, 4)])
def test_of_pairs_that_enter_together_the_nearest_number_is_taken(k: int, found: int) -> None:
    """Columns and their copies share a weight: every number is even; of two the fewer is taken."""
    X, y = make(30, 40, 3)
    with pytest.warns(UserWarning, match=rf"exactly {k} features; the nearest number is {found} "):
        lda = GroupLassoLDA(k, within="diagonal").fit(np.hstack([X, X]), y)
    np.testing.assert_array_equal(lda.support_[:40], lda.support_[40:])
    assert lda.support_.sum() == found


def test_two_classes_have_no_more_features_than_samples_less_one() -> None:
    X, y = make(12, 60, 2)
    with pytest.warns(UserWarning, match="exactly 30 features; the nearest number is 11 "):
        lda = GroupLassoLDA(30).fit(X, y)
    assert lda.support_.sum() == 11
    assert GroupLassoLDA(30, within="diagonal").fit(X, y).support_.sum() == 30


@pytest.mark.parametrize("within", WITHIN)
def test_more_features_than_there_are(within: str) -> None:
    X, y = make(60, 5, 3)
    with pytest.warns(UserWarning, match="n_features_to_select is 9, but only 5"):
        lda = GroupLassoLDA(9, within=within).fit(X, y)
    assert lda.support_.all()


def test_alpha_overrides_the_number() -> None:
    X, y = make(30, 40, 3)
    ask = GroupLassoLDA(alpha=0.3).fit(X, y)
    other = GroupLassoLDA(3000, alpha=0.3).fit(X, y)
    assert ask.alpha_ == pytest.approx(0.3, rel=1e-14)
    np.testing.assert_array_equal(ask.scalings_, other.scalings_)
    again = GroupLassoLDA(alpha=GroupLassoLDA(7).fit(X, y).alpha_).fit(X, y)
    assert again.support_.sum() == 7


# --- solvers, ridge ---


@pytest.mark.parametrize("K", [2, 3, 5])
@pytest.mark.parametrize("within", WITHIN)
def test_all_solvers_find_the_same_rule(within: str, K: int) -> None:
    X, y = make(30, 50, K)
    new, _ = make(200, 50, K, seed=1)
    names = ["working-set", "variational"] + (["dual"] if within == "diagonal" else [])
    fits = [
        GroupLassoLDA(alpha=0.25, within=within, solver=name, tol=1e-7).fit(X, y) for name in names
    ]
    assert [lda.solution_.solver for lda in fits] == names
    for lda in fits[1:]:
        np.testing.assert_array_equal(lda.support_, fits[0].support_)
        np.testing.assert_array_equal(lda.predict(new), fits[0].predict(new))
        np.testing.assert_allclose(lda.scalings_, fits[0].scalings_, atol=1e-4)
    chosen = GroupLassoLDA(alpha=0.25, within=within).fit(X, y)
    np.testing.assert_array_equal(chosen.support_, fits[0].support_)
    assert chosen.solution_.solver == ("dual" if within == "diagonal" else "working-set")


def spectra(n: int = 40, p: int = 80) -> tuple[np.ndarray, np.ndarray]:
    """Three classes, each with a bump of its own, and noise."""
    rng, y, place = np.random.default_rng(0), np.arange(n) % 3, np.linspace(0, 1, p)
    bumps = np.exp(-np.square(np.subtract.outer([0.3, 0.5, 0.7], place)) / 0.01)
    return bumps[y] + 0.3 * rng.normal(size=(n, p)), y


@pytest.mark.parametrize("within", WITHIN)
def test_a_ridge_on_second_differences_smooths(within: str) -> None:
    X, y = spectra()
    D = np.diff(np.eye(80), 2, axis=0)

    def bends(ridge: float) -> np.ndarray:
        V = GroupLassoLDA(alpha=0.05, within=within, ridge=ridge * D.T @ D).fit(X, y).scalings_
        return np.square(D @ V).sum(axis=0) / np.square(V).sum(axis=0)

    assert np.all(bends(1.0) < bends(0.0) / 20)
    assert np.all(bends(100.0) < bends(1.0) / 3)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("make_sparse", [sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_a_sparse_ridge_is_a_dense_one(make_sparse: Callable, within: str) -> None:
    X, y = spectra()
    D = np.diff(np.eye(80), 2, axis=0)
    dense = GroupLassoLDA(12, within=within, ridge=D.T @ D).fit(X, y)
    thin = GroupLassoLDA(12, within=within, ridge=make_sparse(D.T @ D)).fit(X, y)
    np.testing.assert_array_equal(thin.support_, dense.support_)
    assert dense.support_.sum() == 12
    np.testing.assert_allclose(thin.scalings_, dense.scalings_, rtol=1e-7, atol=1e-10)
    dense.solution_.verify(ScoringProblem.from_data(X, y, within=within, ridge=D.T @ D))


@pytest.mark.parametrize("within", WITHIN)
def test_a_number_is_that_multiple_of_the_identity(within: str) -> None:
    X, y = make(24, 40, 3)
    number = GroupLassoLDA(8, within=within, ridge=0.7).fit(X, y)
    matrix = GroupLassoLDA(8, within=within, ridge=0.7 * np.eye(40)).fit(X, y)
    np.testing.assert_array_equal(number.support_, matrix.support_)
    np.testing.assert_allclose(number.scalings_, matrix.scalings_, rtol=1e-7, atol=1e-10)
    none = GroupLassoLDA(alpha=number.alpha_, within=within).fit(X, y)
    assert not np.allclose(number.scalings_, none.scalings_, rtol=1e-2)


# --- the other rules ---


@pytest.mark.parametrize("within", WITHIN)
def test_rule_lda_is_that_of_scikit_learn_in_the_projected_space(within: str) -> None:
    X, y = make(60, 40, 4)
    X_new, _ = make(60, 40, 4, 5)
    lda = GroupLassoLDA(6, within=within, rule="lda").fit(X, y)
    plain = LinearDiscriminantAnalysis().fit(lda.transform(X), y)
    np.testing.assert_array_equal(lda.predict(X_new), plain.predict(lda.transform(X_new)))
    np.testing.assert_allclose(
        lda.decision_function(X_new), X_new @ lda.coef_.T + lda.intercept_, atol=1e-9
    )


def test_rules_without_priors() -> None:
    X, y = make(60, 40, 3)
    lda = GroupLassoLDA(6, rule="centroid").fit(X, y)
    Z, classes = lda.transform(X), lda.classes_
    means = np.array([Z[y == k].mean(axis=0) for k in classes])
    near = np.square(Z[:, None] - means).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(lda.predict(X), classes[near])
    lda.set_params(rule="1-nn").fit(X, y)
    assert lda.score(X, y) == 1.0
    assert not hasattr(lda, "coef_")
    with pytest.raises(OptionError, match="priors are for rule"):
        lda.set_params(priors=[0.2, 0.3, 0.5]).fit(X, y)
    with pytest.raises(OptionError, match="must be one of centroid, 1-nn, lda, penalized"):
        GroupLassoLDA(rule="bayes").fit(X, y)


def test_few_features_of_unequal_classes_need_the_covariance_of_the_rows() -> None:
    """The penalty makes S large: by it the rare class is never predicted."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [80, 20])
    X = rng.normal(size=(100, 200))
    X[y == 1, 0] += 3
    own, rows = (GroupLassoLDA(alpha=0.9, rule=rule).fit(X, y) for rule in ("penalized", "lda"))
    assert own.get_support(indices=True).tolist() == rows.get_support(indices=True).tolist() == [0]
    assert np.mean(own.predict(X)[y == 1]) == 0
    assert np.mean(rows.predict(X)[y == 1]) > 0.5
    default = GroupLassoLDA(alpha=0.9).fit(X, y)  # the rule that works
    np.testing.assert_array_equal(default.predict_proba(X), rows.predict_proba(X))
    chosen = GroupLassoLDACV([0.9, 0.8], cv=5).fit(X, y)
    assert np.mean(chosen.predict(X)[y == 1]) > 0.5
