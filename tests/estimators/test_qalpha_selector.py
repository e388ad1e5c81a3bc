"""`QAlphaSelector` finds planted features, and behaves as a selector of scikit-learn does."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve import QAlphaSelector
from tests.oracles import qalpha as oracle

ATTRIBUTES = {
    "alpha_", "support_", "Q_", "objective_", "n_iter_", "converged_", "null_", "cut_", "classes_",
    "n_samples_", "n_features_in_", "selected_features_", "n_clusters_", "eigensolver_", "n_init_",
    "solution_",
}  # fmt: skip
PLANTED = np.arange(50) % 5 == 1
UNSUPERVISED = ("standard", "basic", "ritz", "gap", "laplacian")


def groups(seed: int = 0, n: int = 48, p: int = 50) -> tuple[np.ndarray, np.ndarray]:
    """Three groups of samples that ten columns, 1, 6, 11, ..., tell apart."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = rng.normal(size=(n, p))
    X[:, 1:p:5] += 6.0 * (y[:, None] == np.arange(len(range(1, p, 5))) % 3)
    return X, y


def counts() -> tuple[np.ndarray, np.ndarray]:
    """Mostly zeros, and two classes that four columns tell apart."""
    rng = np.random.default_rng(0)
    X, y = rng.poisson(0.5, size=(30, 24)), rng.permutation(np.arange(30) % 2)
    X[:, 1:5] = rng.poisson(8.0, size=(30, 4)) * y[:, None]
    return X, y


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("variant", ["standard", "basic", "ritz", "gap", "supervised"])
def test_planted_features_are_found(variant: str, seed: int) -> None:
    X, y = groups(seed)
    if variant == "supervised":  # two classes, which all ten columns tell apart
        X[:, PLANTED] = np.random.default_rng(seed).normal(size=(48, 10)) + 3.0 * (y > 0)[:, None]
    selector = QAlphaSelector(variant=variant).fit(X, y > 0 if variant == "supervised" else None)
    np.testing.assert_array_equal(selector.support_, PLANTED)
    assert selector.alpha_[PLANTED].min() > 1.2 * np.abs(selector.alpha_[~PLANTED]).max()
    assert selector.converged_


@pytest.mark.parametrize("seed", range(2))
def test_the_laplacian_finds_features_that_are_on_or_off(seed: int) -> None:
    X = np.random.default_rng(seed).uniform(1.0, 2.0, size=(40, 50))
    X[:, PLANTED] *= 10.0 * (np.arange(40) < 20)[:, None]
    selector = QAlphaSelector(variant="laplacian", n_init=1, max_iter=500).fit(X)
    np.testing.assert_array_equal(selector.support_, PLANTED)


@pytest.mark.parametrize("cut", ["otsu", "ratio", "energy", "null"])
def test_every_rule_ends_behind_the_planted_features(cut: str) -> None:
    options = {"n_permutations": 3} if cut == "null" else {"energy": 0.99}
    selector = QAlphaSelector(cut=cut, n_init=1, **options).fit(groups()[0])
    np.testing.assert_array_equal(selector.support_, PLANTED)
    assert selector.cut_ == cut


@pytest.mark.parametrize("energy", [0.3, 0.8, 0.999])
def test_energy_is_a_share_of_the_squares(energy: float) -> None:
    selector = QAlphaSelector(cut="energy", energy=energy).fit(groups()[0])
    squares = np.sort(np.maximum(selector.alpha_, 0.0) ** 2)[::-1]
    k = int(selector.support_.sum())
    share = squares[:k].sum() / squares.sum()
    assert share >= energy * (1 - 1e-12) > share - squares[k - 1] / squares.sum()


@pytest.mark.parametrize("differ", ["means", "correlations", "spreads"])
def test_the_offset_is_for_means(differ: str) -> None:
    """Six of sixty features tell the classes apart."""
    hits = {0.0: 0, 0.5: 0}
    for seed in range(2):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(40, 60)), np.repeat(["a", "b"], 20)
        alike = rng.normal(size=(20, 1)) + 0.3 * rng.normal(size=(20, 6))
        shifted = X[20:, :6] + 2.5
        X[20:, :6] = {"means": shifted, "correlations": alike, "spreads": 5.0 * alike}[differ]
        for offset in hits:
            options = {"variant": "supervised", "offset": offset, "tol": 1e-3}
            hits[offset] += int(QAlphaSelector(6, **options).fit(X, y).support_[:6].sum())
    # as definition 6 is printed, classes that differ in their means are not told apart
    assert hits[0.0] <= 4 if differ == "means" else hits[0.0] >= 11
    assert hits[0.5] == 12 or differ != "means"


@pytest.mark.parametrize("k", [1, 4, 10, 37, 50, np.int64(3)])
def test_exactly_k(k: int) -> None:
    X, _ = groups()
    selector = QAlphaSelector(k).fit(X)
    top = np.sort(np.argsort(-selector.alpha_, kind="stable")[:k])
    np.testing.assert_array_equal(selector.get_support(indices=True), top)
    np.testing.assert_array_equal(selector.transform(X), X[:, top])
    np.testing.assert_array_equal(selector.selected_features_, top)


def test_of_equal_weights_the_first_are_taken() -> None:
    """Constant columns have a weight of zero, all others here one above."""
    X = np.full((10, 8), 7.0)
    X[:, [2, 4, 5]] += np.repeat([0.0, 1.0], 5)[:, None] + 0.1 * groups()[0][:10, [0, 2, 3]]
    selector = QAlphaSelector(5, n_clusters=1, eigensolver="single-step").fit(X)
    np.testing.assert_array_equal(selector.alpha_ == 0, [1, 1, 0, 1, 0, 0, 1, 1])
    np.testing.assert_array_equal(selector.get_support(indices=True), [0, 1, 2, 4, 5])


def test_more_than_there_are() -> None:
    with pytest.warns(UserWarning, match="only 50 features may be chosen; selecting 50") as told:
        assert QAlphaSelector(51).fit(groups()[0]).support_.all()
    assert [w.filename for w in told] == [__file__]


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_weights_multiply_all_columns(kind: Any, dtype: type) -> None:
    X = counts()[0].astype(dtype)
    selector = QAlphaSelector(weight=True).fit(kind(X))
    found = selector.transform(kind(X))
    assert sparse.issparse(found) == (kind is not np.asarray)
    assert found.dtype == (np.float32 if dtype is np.float32 else np.float64)
    dense = found.toarray() if sparse.issparse(found) else found
    np.testing.assert_allclose(dense, X * selector.alpha_, rtol=1e-6)
    assert selector.get_feature_names_out().tolist() == [f"x{i}" for i in range(24)]


@pytest.fixture(scope="module")
def frame() -> tuple[pd.DataFrame, pd.Series]:
    X, y = groups()
    index = [f"patient {i}" for i in range(len(X))]
    return pd.DataFrame(X, index).add_prefix("gene "), pd.Series(np.array(list("abc"))[y], index)


@pytest.mark.parametrize("weight", [False, True])
def test_names_and_output(frame: tuple, weight: bool) -> None:
    X, _ = frame
    selector = QAlphaSelector(weight=weight).set_output(transform="pandas")
    scores = selector.fit_transform(X)
    chosen = [f"gene {i}" for i in np.flatnonzero(PLANTED)]
    names = list(X.columns) if weight else chosen
    assert list(selector.selected_features_) == chosen
    assert list(selector.feature_names_in_) == list(X.columns)
    assert list(selector.get_feature_names_out()) == list(scores.columns) == names
    assert scores.index.equals(X.index)
    expected = X.to_numpy() * selector.alpha_ if weight else X[chosen]
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    with pytest.raises(ValueError, match="feature names should match"):
        selector.transform(X.rename(columns={"gene 3": "gene x"}))


def test_in_a_pipeline_and_a_search(frame: tuple) -> None:
    X, y = frame
    pipeline = make_pipeline(StandardScaler(), QAlphaSelector(n_init=1), LogisticRegression())
    grid = {"qalphaselector__n_clusters": [1, 2], "qalphaselector__n_features_to_select": [1, 10]}
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_params_["qalphaselector__n_features_to_select"] == 10
    assert search.best_score_ > 0.95
    assert len(set(search.cv_results_["mean_test_score"])) > 1
    supervised = make_pipeline(QAlphaSelector(3, variant="supervised"), LogisticRegression())
    assert supervised.fit(X, y)[0].classes_.tolist() == ["a", "b", "c"]
    assert supervised[0].support_[~PLANTED].sum() == 0


@pytest.mark.parametrize("options", [{"variant": "supervised"}, {"kernel": "rbf"}])
def test_pickles_and_clones(options: dict) -> None:
    X, y = groups()
    selector = QAlphaSelector(7, n_init=2, random_state=3, **options).fit(X, y)
    again = pickle.loads(pickle.dumps(selector))
    np.testing.assert_array_equal(again.transform(X), selector.transform(X))
    fresh = clone(selector)
    assert fresh.get_params() == selector.get_params()
    with pytest.raises(NotFittedError):
        fresh.transform(X)
    np.testing.assert_array_equal(fresh.fit(X, y).alpha_, selector.alpha_)


@pytest.mark.parametrize("then", [{"variant": "standard"}, {"kernel": "rbf", "variant": "ritz"}])
def test_a_second_fit_forgets_the_first(frame: tuple, then: dict) -> None:
    X, _ = groups(1, n=30, p=25)
    options = {"n_features_to_select": 4, "n_permutations": 0} | then
    selector = QAlphaSelector(variant="supervised", n_permutations=1, n_init=1).fit(*frame)
    assert selector.null_.n_permutations == 1
    selector.set_params(**options).fit(X)
    fresh = QAlphaSelector(n_init=1, **options).fit(X)
    assert set(vars(selector)) == set(vars(fresh)) == ATTRIBUTES | set(fresh.get_params())
    assert selector.classes_ is None
    assert selector.null_ is None
    assert not hasattr(selector, "feature_names_in_")
    assert (selector.Q_ is None) == ("kernel" in then)
    for name in ("alpha_", "Q_", "support_", "selected_features_", "n_clusters_", "n_iter_"):
        np.testing.assert_array_equal(getattr(selector, name), getattr(fresh, name))


def fit_on(X: Any, y: np.ndarray, variant: str) -> QAlphaSelector:
    return QAlphaSelector(4, variant=variant, tol=1e-6, max_iter=1000, n_init=1).fit(X, y)


@pytest.mark.parametrize("variant", [*UNSUPERVISED, "supervised"])
def test_tables_of_all_kinds_give_the_same(variant: str) -> None:
    X, y = counts()
    plain = fit_on(X.astype(float), y, variant)
    for table in (X.astype(np.uint8), sparse.csr_array(X), pd.DataFrame(X)):
        np.testing.assert_allclose(fit_on(table, y, variant).alpha_, plain.alpha_, atol=1e-9)
    flags = X > 0
    yes = fit_on(flags, y, variant)
    np.testing.assert_array_equal(yes.alpha_, fit_on(flags * 1.0, y, variant).alpha_)
    assert yes.transform(flags).dtype == bool


@pytest.mark.parametrize("variant", [*UNSUPERVISED, "supervised"])
def test_single_precision_is_kept(variant: str) -> None:
    X, y = counts()
    options = {"variant": variant, "tol": 1e-3, "max_iter": 500, "n_init": 1}
    double = QAlphaSelector(4, **options).fit(X, y)
    for kind in (np.asarray, sparse.csr_array):
        small = kind(X.astype(np.float32))
        selector = QAlphaSelector(4, **options).fit(small, y)
        bases = selector.Q_.values() if variant == "supervised" else [selector.Q_]
        assert {Q.dtype for Q in bases} == {np.dtype(np.float32)}
        assert selector.alpha_.dtype == np.float32
        assert selector.transform(small).dtype == np.float32
        np.testing.assert_allclose(selector.alpha_, double.alpha_, atol=1e-4)


@pytest.mark.parametrize("variant", UNSUPERVISED)
def test_the_basis_and_the_objective_are_those_of_alpha(variant: str) -> None:
    X, _ = counts() if variant == "laplacian" else groups(n=60 if variant == "gap" else 40)
    selector = QAlphaSelector(variant=variant, n_clusters=3).fit(X)
    Q, alpha = selector.Q_, selector.alpha_
    assert Q.shape == (len(X), 3)
    np.testing.assert_allclose(Q.T @ Q, np.eye(3), atol=1e-12)
    M = oracle.normalize_rows(X.T, center=variant != "laplacian")
    A = M.T @ np.diag(alpha) @ M
    if variant == "laplacian":
        A += np.diag(A.sum(axis=1).max() - A.sum(axis=1))
    value = np.square(A @ Q).sum()
    if variant == "gap":
        value = 2 * value - np.square(A).sum()
    assert selector.objective_ == pytest.approx(value, rel=1e-9)
    assert selector.n_clusters_ == 3


def test_the_bases_of_classes_go_by_their_names() -> None:
    X, y = groups()
    names = np.array(["x", "yy", "z"])[y]
    selector = QAlphaSelector(variant="supervised", k_within=3, k_between=2, n_init=1).fit(X, names)
    assert set(selector.Q_) == {(g, h) for g in ("x", "yy", "z") for h in ("x", "yy", "z")}
    assert selector.classes_.tolist() == ["x", "yy", "z"]
    assert selector.n_clusters_ is None
    M = oracle.normalize_rows(X.T, offset=0.5)
    value = 0.0
    for (g, h), Q in selector.Q_.items():
        assert Q.shape == (16, 3 if g == h else 2)
        A = M[:, names == g].T @ np.diag(selector.alpha_) @ M[:, names == h]
        value += (1.0 if g == h else -0.5) * np.square(A @ Q).sum()
    assert selector.objective_ == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("landmarks", [None, 20])
@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "block", np.inner])
def test_kernels_have_no_basis(kernel: Any, landmarks: int | None) -> None:
    X, _ = groups(n=12)
    params = {"landmarks": landmarks} if landmarks else None
    selector = QAlphaSelector(6, kernel=kernel, kernel_params=params, n_init=1).fit(X)
    assert np.linalg.norm(selector.alpha_) == pytest.approx(1)
    assert selector.transform(X).shape[1] == 6
    assert selector.Q_ is None


@pytest.mark.parametrize("variant", [*UNSUPERVISED, "supervised"])
def test_the_function_gives_the_same(variant: str) -> None:
    X, y = groups(n=30, p=80)
    options: dict[str, Any] = {"variant": variant, "n_clusters": 3, "n_init": 2, "max_iter": 300}
    selector, again = (QAlphaSelector(**options).fit(X, y) for _ in range(2))
    found = es.qalpha(X, y=y, **options)
    found.verify(X, y)
    np.testing.assert_array_equal(found.alpha, selector.alpha_)
    np.testing.assert_array_equal(again.alpha_, selector.alpha_)
    np.testing.assert_array_equal(found.history, selector.solution_.history)
