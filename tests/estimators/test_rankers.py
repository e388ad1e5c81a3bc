"""Rankers against numpy, scipy, scikit-learn and literal loops."""

from typing import Any

import numpy as np
import pytest
from scipy.stats import f_oneway
from sklearn.base import clone
from sklearn.feature_selection import RFE
from sklearn.svm import SVC, LinearSVC

import eigensieve as es
from eigensieve.estimators import _rankers
from eigensieve.estimators._rankers import (
    RANKERS,
    anova,
    l1,
    pearson,
    qalpha,
    signal_to_noise,
    svm_rfe,
)

NAMED = pytest.mark.parametrize("ranker", RANKERS.values(), ids=RANKERS.keys())


def make_data(n: int = 40, p: int = 30, n_classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Classes of unequal size; column k tells class k from the rest."""
    rng = np.random.default_rng(7)
    y = rng.permutation(np.arange(n) % (n_classes + 1) % n_classes)
    X = rng.normal(size=(n, p))
    for k in range(n_classes):
        X[y == k, k] += 4.0 - 0.5 * k
    return X, y


def standardized(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


def by_score(scores: list[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda j: -scores[j])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_pearson_is_the_largest_correlation(n_classes: int) -> None:
    X, y = make_data(n_classes=n_classes)
    scores = [max(abs(np.corrcoef(x, y == k)[0, 1]) for k in range(n_classes)) for x in X.T]
    assert pearson(X, y).tolist() == by_score(scores)


@pytest.mark.parametrize("n_classes", [2, 4])
def test_anova_is_the_f_value(n_classes: int) -> None:
    X, y = make_data(n_classes=n_classes)
    scores = [f_oneway(*(x[y == k] for k in range(n_classes))).statistic for x in X.T]
    assert anova(X, y).tolist() == by_score(scores)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_signal_to_noise_is_golubs(n_classes: int) -> None:
    X, y = make_data(n_classes=n_classes)
    scores = []
    for x in X.T:
        best = 0.0
        for k in range(n_classes):
            a, b = x[y == k], x[y != k]
            s = np.sqrt(np.mean((a - a.mean()) ** 2)) + np.sqrt(np.mean((b - b.mean()) ** 2))
            best = max(best, abs(a.mean() - b.mean()) / s)
        scores.append(best)
    assert signal_to_noise(X, y).tolist() == by_score(scores)


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("n", [16, 60])  # fewer rows than columns, and more
def test_svm_rfe_one_by_one_is_scikit_learns(n: int, n_classes: int) -> None:
    X, y = make_data(n, 24, n_classes)
    known = RFE(SVC(kernel="linear"), n_features_to_select=1, step=1).fit(standardized(X), y)
    assert svm_rfe(X, y).tolist() == np.argsort(known.ranking_).tolist()


def test_svm_rfe_drops_a_tenth_a_round_and_then_one_by_one() -> None:
    X, y = make_data(30, 200, 3)
    Z, alive, dropped = standardized(X), np.arange(200), []
    while alive.size > 1:
        weight = np.square(SVC(kernel="linear").fit(Z[:, alive], y).coef_).sum(axis=0)
        drop = 1 if alive.size <= 60 else max(1, min(alive.size // 10, alive.size - 60))
        out = np.argsort(weight)[:drop]
        dropped.extend(alive[out])
        alive = np.delete(alive, out)
    assert svm_rfe(X, y).tolist() == [*alive, *dropped[::-1]]


def test_svm_rfe_of_many_rows_is_liblinears(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rankers, "MAX_LIBSVM_ROWS", 50)
    X, y = make_data(60, 12, 3)
    svm = LinearSVC(dual=False)
    known = RFE(svm, n_features_to_select=1, step=1).fit(standardized(X), y)
    assert svm_rfe(X, y).tolist() == np.argsort(known.ranking_).tolist()


def whole_path(Z: np.ndarray, y: np.ndarray, n_steps: int) -> list[LinearSVC]:
    """The SVM at every penalty, with all features and a tight tolerance."""
    classes = np.unique(y)
    signs = [np.where(y == k, 1.0, -1.0) for k in (classes if classes.size > 2 else [1])]
    largest = max(2 * max(np.abs(Z.T @ sign).max(), abs(sign.sum())) for sign in signs)
    svm = LinearSVC(penalty="l1", dual=False, tol=1e-6, max_iter=10**6, random_state=0)
    steps = range(1, n_steps + 1)
    return [clone(svm).set_params(C=1.15**step / largest).fit(Z, y) for step in steps]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_l1_is_the_order_of_entering(n_classes: int) -> None:
    X, y = make_data(60, 40, n_classes)
    X += 2.0 * np.random.default_rng(1).normal(size=X.shape)
    path = [np.abs(svm.coef_).max(axis=0) for svm in whole_path(standardized(X), y, 20)]
    step = [next((s for s, w in enumerate(path) if w[j] > 0), 99) for j in range(40)]
    order = sorted(
        (j for j in range(40) if step[j] < 99), key=lambda j: (step[j], -path[step[j]][j])
    )
    assert 10 < len(order) < 40
    assert max(step.count(s) for s in range(20)) > 1  # weights decide, too
    assert l1(X, y)[: len(order)].tolist() == order


def test_l1_ranks_those_that_never_enter_by_gradient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_rankers, "L1_STEPS", 5)
    X, y = make_data(30, 100, 2)
    Z, sign = standardized(X), np.where(y == 1, 1.0, -1.0)
    last = whole_path(Z, y, 5)[-1]
    pull = np.abs(Z.T @ (sign * np.maximum(0, 1 - sign * last.decision_function(Z))))
    never = np.flatnonzero(last.coef_[0] == 0)
    assert 80 < never.size < 100
    assert l1(X, y)[-never.size :].tolist() == sorted(never, key=lambda j: -pull[j])


def test_l1_lets_in_what_the_strong_rule_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = make_data(40, 60, 3)
    order = l1(X, y)
    screened = _rankers._fit_l1

    def start_with_one(*arguments: Any) -> tuple[np.ndarray, np.ndarray]:
        first, last = arguments[:4], arguments[5:]
        return screened(*first, np.arange(60) == 59, *last)

    monkeypatch.setattr(_rankers, "_fit_l1", start_with_one)
    assert l1(X, y)[:10].tolist() == order[:10].tolist()


def test_l1_ends_with_as_many_features_as_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 300)), np.arange(20) % 5
    entered = []
    screened = _rankers._fit_l1

    def watch(*arguments: Any) -> tuple[np.ndarray, np.ndarray]:
        weights, pull = screened(*arguments)
        entered.append(np.flatnonzero(weights))
        return weights, pull

    monkeypatch.setattr(_rankers, "_fit_l1", watch)
    order = l1(X, y)
    ever = [np.unique(np.concatenate(entered[: s + 1])).size for s in range(len(entered))]
    assert ever[-2] < 20 <= ever[-1]
    assert set(order[: ever[-1]].tolist()) == set(np.concatenate(entered).tolist())


def test_qalpha_looks_for_as_many_clusters_as_classes() -> None:
    X, y = make_data(40, 50, 3)
    X[y == 1, :10] += 3.0
    alpha = es.QAlphaSelector(n_clusters=3, random_state=5).fit(standardized(X)).alpha_
    assert qalpha(X, y, random_state=5).tolist() == np.argsort(-alpha).tolist()


@pytest.mark.parametrize("name", sorted(set(RANKERS) - {"qalpha"}))  # it knows no classes
def test_informative_columns_come_first(name: str) -> None:
    X, y = make_data(60, 200, 3)
    assert set(RANKERS[name](X, y, random_state=0)[:3].tolist()) == {0, 1, 2}


@NAMED
def test_every_column_once_constants_last(ranker: _rankers.Ranker) -> None:
    X, y = make_data(30, 80, 2)
    X[:, [3, 40]], X[:, 50] = 7.5, 0.1
    order = ranker(X, y)
    assert sorted(order.tolist()) == list(range(80))
    assert order[-3:].tolist() == [3, 40, 50]
    assert ranker(np.ones((4, 5)), [0, 1, 0, 1]).tolist() == [0, 1, 2, 3, 4]


@NAMED
def test_scales_and_offsets_do_not_matter(ranker: _rankers.Ranker) -> None:
    X, y = make_data(30, 40, 3)
    scale = 2.0 ** np.arange(-20, 20)  # powers of two: not even round-off differs
    assert ranker(X * scale, y)[:20].tolist() == ranker(X, y)[:20].tolist()
    assert set(ranker(X + 1e6, y)[:3].tolist()) == set(ranker(X, y)[:3].tolist())


@pytest.mark.parametrize("ranker", [pearson, anova, signal_to_noise])
def test_ties_go_to_the_first(ranker: _rankers.Ranker) -> None:
    X, y = make_data(31, 301, 3)
    X[:, 300] = X[:, 5] = X[:, 0]
    X[:, 200] = -X[:, 0]
    order = ranker(X, y).tolist()
    assert order[order.index(0) : order.index(0) + 4] == [0, 5, 200, 300]


@pytest.mark.parametrize("ranker", [pearson, anova, signal_to_noise])
def test_perfect_columns_are_first_of_all(ranker: _rankers.Ranker) -> None:
    X, y = make_data(30, 20, 2)
    X[:, 9], X[:, 4], X[:, 13] = y * 0.1, 1e5 - y, 3.0 * y
    assert ranker(X, y)[:3].tolist() == [4, 9, 13]


def test_classes_of_one_sample_and_only_such() -> None:
    X = make_data(12, 20, 2)[0]
    for ranker in RANKERS.values():
        one = ranker(X, ["a"] * 6 + ["b"] * 5 + ["c"])
        assert sorted(one.tolist()) == list(range(20))
        assert sorted(ranker(X[:3], [0, 1, 2]).tolist()) == list(range(20))


def test_float32_is_ranked_as_float64() -> None:
    X, y = make_data(40, 50, 3)
    X = X.astype(np.float32)
    for ranker in RANKERS.values():
        assert ranker(X, y).tolist() == ranker(X.astype(np.float64), y).tolist()
