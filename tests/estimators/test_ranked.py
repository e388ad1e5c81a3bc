"""RankedLDA: one ranking, and the LDA of the columns it takes."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import linalg
from scipy.stats import f_oneway
from sklearn.base import clone
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import GridSearchCV

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.estimators._rankers import RANKERS


def make_data(
    n: int = 60, p: int = 40, n_classes: int = 3, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % (n_classes + 1) % n_classes)
    X = rng.normal(size=(n, p)) + 10.0
    for k in range(n_classes):
        X[y == k, 3 * k : 3 * k + 2] += 2.0
    X[:, 1] += 0.7 * X[:, 0]
    return X, y


def best_by_f(X: np.ndarray, y: np.ndarray) -> list[int]:
    scores = [f_oneway(*(x[y == k] for k in np.unique(y))).statistic for x in X.T]
    return sorted(range(X.shape[1]), key=lambda j: -scores[j])


@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("n_classes", [2, 3, 4])
def test_it_is_the_lda_of_these_columns(n_classes: int, k: int) -> None:
    X, y = make_data(n_classes=n_classes)
    labels = np.array(["d", "b", "a", "c"])[y]
    lda = es.RankedLDA("anova", k).fit(X, labels)
    S = np.array(sorted(best_by_f(X, y)[:k]))
    assert lda.get_support(indices=True).tolist() == S.tolist()
    small = es.SparseLDA(k, certificate="none").fit(X[:, S], labels)
    X_new = make_data(30, seed=1, n_classes=n_classes)[0]
    np.testing.assert_array_equal(lda.predict(X_new), small.predict(X_new[:, S]))
    for name in ("decision_function", "predict_proba", "predict_log_proba", "transform"):
        mine, its = getattr(lda, name)(X_new), getattr(small, name)(X_new[:, S])
        np.testing.assert_allclose(mine, its, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(lda.coef_[:, S], small.coef_, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        lda.explained_variance_ratio_, small.explained_variance_ratio_, rtol=1e-8
    )
    assert lda.shrinkage_ == pytest.approx(small.shrinkage_)
    assert not np.delete(lda.coef_, S, axis=1).any()
    assert not np.delete(lda.scalings_, S, axis=0).any()


def test_against_the_formulas_of_lda() -> None:
    X, y = make_data(n_classes=3)
    lda = es.RankedLDA("anova", 4).fit(X, y)
    S, s = lda.get_support(indices=True), lda.shrinkage_
    pi = np.bincount(y) / len(y)
    means = np.array([X[y == c].mean(axis=0) for c in range(3)])
    W = sum(pi[c] * np.cov(X[y == c][:, S].T, bias=True) for c in range(3))
    B = (1 - s) * W + s * np.diag(np.diag(W))
    scores = np.array(
        [X[:, S] @ linalg.solve(B, m) - m @ linalg.solve(B, m) / 2 for m in means[:, S]]
    ).T + np.log(pi)
    np.testing.assert_array_equal(lda.predict(X), scores.argmax(axis=1))
    differences = lda.decision_function(X) - scores  # scores matter up to a common term
    np.testing.assert_allclose(differences, differences[:, :1] + np.zeros(3), atol=1e-6)
    np.testing.assert_allclose(lda.means_, means)
    np.testing.assert_allclose(lda.xbar_, X.mean(axis=0))
    np.testing.assert_allclose(lda.priors_, pi)
    V = lda.scalings_[S]
    np.testing.assert_allclose(V.T @ B @ V, np.eye(2), atol=1e-9)
    np.testing.assert_allclose(lda.transform(X), (X - X.mean(axis=0))[:, S] @ V, atol=1e-9)


def test_a_path_has_one_ranking_and_the_models_of_fit() -> None:
    X, y = make_data()
    calls = []

    def rank(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        calls.append(len(y))
        return np.arange(X.shape[1])[::-1]

    base = es.RankedLDA(rank)
    models = base.fit_path(X, y, [5, 2, 2, 41])
    assert calls == [60]
    assert list(models) == [2, 5]  # of 40 columns
    assert not hasattr(base, "ranking_")
    for k, model in models.items():
        alone = es.RankedLDA(rank, k).fit(X, y)
        assert model.n_features_to_select == k
        assert model.get_support(indices=True).tolist() == list(range(40 - k, 40))
        np.testing.assert_allclose(model.decision_function(X), alone.decision_function(X))
    with pytest.raises(InputError, match=r"no k of ks lies in 1\.\.40"):
        base.fit_path(X, y, [41])


@pytest.mark.parametrize("name", RANKERS)
def test_every_ranker_by_name(name: str) -> None:
    X, y = make_data(n_classes=2)
    X[y == 0, :2] += 3.0
    lda = es.RankedLDA(name, 2, random_state=0).fit(X, y)
    assert set(lda.selected_features_.tolist()) <= {0, 1, 3, 4}
    X_new, y_new = make_data(200, n_classes=2, seed=3)
    X_new[y_new == 0, :2] += 3.0
    assert lda.score(X_new, y_new) > 0.9
    again = clone(lda).fit(X, y)
    np.testing.assert_array_equal(again.ranking_, lda.ranking_)


def test_a_selector_ranks_by_its_weights() -> None:
    X, y = make_data(n_classes=2)
    X[:, 11] = 4.0
    selector = es.QAlphaSelector(n_clusters=2, random_state=0)
    lda = es.RankedLDA(selector, 3).fit(X, y)
    alpha = es.QAlphaSelector(n_clusters=2, random_state=0).fit(X).alpha_
    rest = [j for j in range(40) if j != 11]
    assert lda.ranking_.tolist() == [*sorted(rest, key=lambda j: -alpha[j]), 11]
    assert not hasattr(selector, "alpha_")
    assert lda.get_params()["ranker__n_clusters"] == 2


def test_class_weight_is_that_of_sparse_lda() -> None:
    X, y = make_data(n_classes=3)
    labels = np.array(["x", "y", "z"])[y]
    for weight in ("balanced", {"x": 5.0, "z": 0.5}):
        lda = es.RankedLDA("anova", 5, class_weight=weight).fit(X, labels)
        S = lda.get_support(indices=True)
        small = es.SparseLDA(5, certificate="none", class_weight=weight).fit(X[:, S], labels)
        np.testing.assert_allclose(lda.priors_, small.priors_)
        np.testing.assert_allclose(
            lda.predict_proba(X), small.predict_proba(X[:, S]), rtol=1e-7, atol=1e-12
        )
        np.testing.assert_allclose(lda.xbar_[S], small.xbar_)
    with pytest.raises(InputError, match="class_weight names the class 'q'"):
        es.RankedLDA(class_weight={"q": 1.0}).fit(X, labels)


def test_priors_and_weights_help_the_small_class() -> None:
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], [90, 10])
    X = rng.normal(size=(100, 20)) + 1.2 * y[:, None] * (np.arange(20) < 2)
    y_new = np.repeat([0, 1], [500, 500])
    X_new = rng.normal(size=(1000, 20)) + 1.2 * y_new[:, None] * (np.arange(20) < 2)
    scores = {
        name: balanced_accuracy_score(
            y_new, es.RankedLDA("anova", 2, **options).fit(X, y).predict(X_new)
        )
        for name, options in {
            "plain": {}, "weights": {"class_weight": "balanced"}, "priors": {"priors": [1, 1]},
        }.items()
    }  # fmt: skip
    assert min(scores["weights"], scores["priors"]) > scores["plain"] + 0.05


def test_names_and_a_grid() -> None:
    X, y = make_data(n_classes=2)
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(40)])
    lda = es.RankedLDA("snr", 3).fit(frame, y)
    expected = [f"gene {j}" for j in lda.get_support(indices=True)]
    assert lda.selected_features_.tolist() == expected
    assert lda.get_feature_names_out().tolist() == ["rankedlda0"]
    assert lda.fit_path(frame, y, [3])[3].selected_features_.tolist() == expected
    grid = {"ranker": ["anova", "snr"], "n_features_to_select": [2, 4]}
    assert GridSearchCV(es.RankedLDA(), grid, cv=3).fit(frame, y).best_score_ > 0.8
    loaded = pickle.loads(pickle.dumps(lda))
    np.testing.assert_array_equal(loaded.predict(frame), lda.predict(frame))


def test_constant_columns_are_selected_last_and_do_no_harm() -> None:
    X, y = make_data(p=8)
    X[:, [0, 4]] = 3.0
    with pytest.warns(UserWarning, match="only 8 features may be chosen"):
        whole = es.RankedLDA("anova", 9).fit(X, y)
    assert whole.support_.sum() == 8
    assert whole.ranking_[-2:].tolist() == [0, 4]
    rest = es.RankedLDA("anova", 6).fit(X, y)
    assert not rest.support_[[0, 4]].any()
    np.testing.assert_allclose(whole.predict_proba(X).sum(axis=1), 1.0)


@pytest.mark.parametrize(
    ("ranker", "error", "said"),
    [
        ("anoav", OptionError, "did you mean 'anova'"),
        (7, OptionError, "ranker is 7; it must be one of pearson, anova"),
        (es.QAlphaSelector, OptionError, "a selector such as QAlphaSelector"),
        (es.SparsePCA(n_features_to_select=2), OptionError, "no weight alpha_ for each feature"),
        (lambda X, y: [0, 1], InputError, r"shape \(2,\)"),
        (lambda X, y: np.zeros(40, dtype=int), InputError, "each once"),
        (lambda X, y: np.arange(40.0), InputError, "type float64"),
    ],
)
def test_rankers_that_are_refused(ranker: object, error: type[Exception], said: str) -> None:
    X, y = make_data()
    with pytest.raises(error, match=said):
        es.RankedLDA(ranker).fit(X, y)


@pytest.mark.parametrize("k", [0, 2.5, None])
def test_sizes_that_are_refused(k: object) -> None:
    X, y = make_data()
    with pytest.raises(InputError, match="n_features_to_select is"):
        es.RankedLDA("anova", k).fit(X, y)
