"""Errors of every fold against a plain loop, and the 1-SE rule sentence by sentence."""

from typing import Any

import numpy as np
import pytest
from scipy.special import log_softmax
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import RepeatedStratifiedKFold, ShuffleSplit, StratifiedKFold
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.studies.cv_path import CVPath
from eigensieve.studies.data import check_data
from eigensieve.studies.jobs import Job, run_job
from eigensieve.studies.plan import StudyPlan, make_plan
from tests.studies.seeds import seed_of

KS = (1, 2, 6)


def make_data(n_classes: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = np.array(["a", "b", "c"])[np.minimum(np.arange(48) % 4, n_classes - 1)]  # unequal
    X = 5 * rng.normal(size=(48, 15)) + 100
    for i, label in enumerate(np.unique(y)):
        X[y == label, i : i + 2] += 5
    return X, y


def area(model: Any, Z: np.ndarray, y: np.ndarray) -> float:
    """Two classes: by the score; more: the mean of one against the rest by log-probability."""
    if model.classes_.size == 2:
        return float(roc_auc_score(y == model.classes_[1], model.decision_function(Z)))
    scores = log_softmax(Z @ model.coef_.T + model.intercept_, axis=1)
    return float(np.mean([roc_auc_score(y == c, scores[:, i]) for i, c in enumerate("abc")]))


@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_fold_is_that_of_a_plain_loop(n_classes: int) -> None:
    X, y = make_data(n_classes)
    models = [es.SparseLDA(shrinkage=0.3), es.SparseLDA(class_weight="balanced")]
    study = es.study(X, y, models, ks=KS, cv=4, n_repeats=2, random_state=3)
    cv = study.cv
    assert cv is not None
    assert (cv.ks, cv.n_folds, cv.n_repeats) == (KS, 4, 2)
    assert cv.fold_errors.shape == (8, 2, 3)
    parts = [
        part
        for seed in (3, seed_of(3, 1))
        for part in StratifiedKFold(4, shuffle=True, random_state=seed).split(X, y)
    ]
    counts = np.zeros((2, 3, 15))
    for i, (train, test) in enumerate(parts):
        scaler = StandardScaler().fit(X[train])
        Z = scaler.transform(X[test])
        for a, k in np.ndindex(2, 3):
            model = models[a].set_params(n_features_to_select=KS[k])
            model.fit(scaler.transform(X[train]), y[train])
            predicted = model.predict(Z)
            here = i, a, k
            assert cv.fold_errors[here] == pytest.approx(np.mean(predicted != y[test]))
            size = np.array([np.sum(y == label) for label in y[test]])
            expected = np.mean((predicted != y[test]) * len(y) / (np.unique(y).size * size))
            assert cv.fold_balanced_errors[here] == pytest.approx(expected)
            assert cv.fold_aucs[here] == pytest.approx(area(model, Z, y[test]))
            assert cv.fold_sizes[here] == KS[k]
            counts[a, k, model.get_support(indices=True)] += 1
    best = cv.best_settings
    np.testing.assert_allclose(study.stability.to_numpy().T, counts[best, [0, 1, 2]] / 8)


def test_the_table_shows_the_best_setting_of_every_k() -> None:
    X, y = make_data(2)
    models = {"one": es.SparseLDA(shrinkage=0.01), "two": es.SparseLDA(shrinkage=0.9)}
    study = es.study(X, y, models, ks=KS, cv=4, n_repeats=2)
    assert study.cv is not None
    errors = study.cv.fold_errors
    for i, row in enumerate(study.rows):
        first, second = errors[:, 0, i].mean(), errors[:, 1, i].mean()
        assert row["setting"] == ("one" if first <= second else "two")
        best = errors[:, 0, i] if first <= second else errors[:, 1, i]
        assert row["error"] == pytest.approx(best.mean())
        assert row["se"] == pytest.approx(np.std(best, ddof=1) / 2)  # four folds a repeat


def plan_of(X: np.ndarray, y: np.ndarray, k: int) -> StudyPlan:
    data = check_data(X, y, None, None, "error")
    return make_plan(data, {"lda": es.SparseLDA()}, ks=(k,))


def test_ties_count_half_in_the_area() -> None:
    """A column of few values: many samples have the same score, as scikit-learn counts them."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, size=(60, 1)).astype(float), np.arange(60) % 2
    X[y == 1] += rng.integers(0, 2, size=(30, 1))
    job = Job(np.arange(30), np.arange(30, 60), y)
    outcome = run_job(job, X, plan_of(X, y, 1))
    assert outcome[0][0]["auc"] == pytest.approx(roc_auc_score(y[30:], X[30:, 0]))


def test_the_area_without_samples_of_two_classes() -> None:
    X, y = make_data(3)
    plan = plan_of(X, y, 2)
    a = np.flatnonzero(y == "a")
    rest = np.setdiff1d(np.arange(48), a[:4])
    assert run_job(Job(rest, a[:4], y), X, plan)[0][0]["auc"] is None
    # a class that the test part does not have is left out of the mean
    two = np.concatenate([a[:4], np.flatnonzero(y == "b")[:5]])
    train = np.setdiff1d(np.arange(48), two)
    scaler = StandardScaler().fit(X[train])
    model = es.SparseLDA(2).fit(scaler.transform(X[train]), y[train])
    scores = model.predict_log_proba(scaler.transform(X[two]))
    expected = np.mean([roc_auc_score(y[two] == c, scores[:, i]) for i, c in enumerate("ab")])
    assert run_job(Job(train, two, y), X, plan)[0][0]["auc"] == pytest.approx(expected)


# ---------------------------------------------------------------- the rule


def path_of(
    scores: np.ndarray,
    n_folds: int,
    n_repeats: int,
    score: str = "error",
    tested: np.ndarray | None = None,
) -> CVPath:
    other = np.full_like(scores, np.nan)
    pair = (scores, other) if score == "error" else (other, scores)
    ks = tuple(range(1, scores.shape[2] + 1))
    shares = np.ones(len(scores)) if tested is None else tested / tested.mean()
    return CVPath(ks, *pair, other, other, shares, n_folds, n_repeats, score)


def choose_by_the_book(scores: np.ndarray, n_folds: int, tested: np.ndarray) -> tuple[int, int]:
    """Of every k the setting of least mean error; of those the smallest k within one SE.

    Means are over samples, of which ``tested`` are in each part.
    """
    n_parts, n_settings, n_sizes = scores.shape
    path = []
    for k in range(n_sizes):
        sums = [sum(n * x for n, x in zip(tested, scores[:, s, k])) for s in range(n_settings)]
        means = [round(float(total / sum(tested)), 12) for total in sums]
        setting = means.index(min(means))
        off = [n * (x - means[setting]) for n, x in zip(tested, scores[:, setting, k])]
        spread = sum(x * x for x in off) * n_parts**2 / sum(tested) ** 2 / (n_parts - 1)
        path.append((means[setting], round(float(spread / n_folds) ** 0.5, 12), setting))
    least, its_se, _ = min(path, key=lambda entry: entry[0])  # the first of equal ones
    for k, (mean, _, setting) in enumerate(path):
        if mean <= least + its_se + 1e-11:
            return setting, k
    raise AssertionError("the least is within one SE of itself")


@pytest.mark.parametrize("score", ["error", "balanced_error"])
def test_one_se_rule_by_the_book(score: str) -> None:
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        n_folds, n_repeats = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        shape = n_folds * n_repeats, int(rng.integers(1, 4)), int(rng.integers(1, 7))
        scores = rng.integers(0, 5, size=shape) / 4  # few values: ties, spreads of zero
        tested = rng.integers(1, 9, len(scores)) if rng.random() < 0.5 else np.full(len(scores), 7)
        path = path_of(scores, n_folds, n_repeats, score, tested)
        expected = choose_by_the_book(scores, n_folds, tested)
        assert path.choose() == expected
        assert path.best_k == expected[1] + 1
        seen.add(expected)
    assert len(seen) > 8


def test_one_se_rule_on_known_errors() -> None:
    """Two folds a distance of 2 SE apart."""

    def best_k(se: float) -> int:
        errors = np.array([0.30, 0.12, 0.11, 0.10])
        return path_of((errors + se * np.array([[1.0], [-1.0]]))[:, None], 2, 1).best_k

    assert [best_k(se) for se in (0.03, 0.015, 0.0)] == [2, 3, 4]


def test_a_given_k_has_its_best_setting() -> None:
    scores = np.array([[[0.2, 0.1], [0.1, 0.4]]] * 3)  # (folds, settings, sizes)
    path = path_of(scores, 3, 1)
    assert [path.choose(1), path.choose(2)] == [(1, 0), (0, 1)]


def test_repeats_inside_a_splitter_are_no_new_samples() -> None:
    """Twelve parts that use every sample three times are four folds."""
    X, y = make_data(2)
    splitter = RepeatedStratifiedKFold(n_splits=4, n_repeats=3, random_state=0)
    cv = es.study(X, y, ks=(1, 3), cv=splitter).cv
    assert cv is not None
    assert len(cv.fold_errors) == 12
    expected = cv.fold_errors[:, 0].std(axis=0, ddof=1) / np.sqrt(4)
    np.testing.assert_allclose(cv.standard_error[0], expected)


def test_one_part_has_no_standard_error() -> None:
    """Nothing is known of the spread: the k of least error is taken."""
    X, y = make_data(2)
    cv = es.study(X, y, ks=KS, cv=ShuffleSplit(1, test_size=0.4, random_state=1)).cv
    assert cv is not None
    assert np.isnan(cv.standard_error).all()
    assert cv.best_k == KS[int(np.argmin(cv.fold_errors[0, 0]))]
