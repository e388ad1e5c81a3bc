"""GroupLassoLDACV: errors by a naive loop, the choice from the errors, folds of all kinds."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    cross_val_score,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigensieve import GroupLassoLDA, GroupLassoLDACV, ScoringProblem
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.solution import Status
from eigensieve.scoring.options import ALPHAS as DEFAULT_ALPHAS
from tests.oracles.instances import shifted_classes

Data = tuple[np.ndarray, np.ndarray]
Splits = Iterable[tuple[np.ndarray, np.ndarray]]
ALPHAS = [0.7, 0.4, 0.2, 0.1]


def make(K: int = 3, seed: int = 0, shift: float = 1.5) -> Data:
    """Classes that overlap: errors differ from one penalty to the next."""
    return shifted_classes(33, 30, K, seed, shift)


def naive_errors(
    X: np.ndarray, y: np.ndarray, splits: Splits, most: int, alphas: Any = ALPHAS, **options: Any
) -> np.ndarray:
    """(alphas, directions, folds), a model for each."""
    splits, alphas = list(splits), sorted(alphas, reverse=True)
    priors = options.pop("priors", None)
    errors = np.empty((len(alphas), most, len(splits)))
    for f, (train, test) in enumerate(splits):
        here = np.unique(y[train])
        shares = None if priors is None else [priors[c] for c in here]
        for i, alpha in enumerate(alphas):
            for m in range(1, most + 1):
                lda = GroupLassoLDA(alpha=alpha, n_components=m, priors=shares, **options)
                with warnings.catch_warnings():  # a fold may lack a class, hence a direction
                    warnings.filterwarnings("ignore", message="n_components is")
                    lda.fit(X[train], y[train])
                errors[i, m - 1, f] = np.mean(lda.predict(X[test]) != y[test])
    return errors


def exact(errors: np.ndarray, n: int) -> dict[tuple[int, int], Fraction]:
    """Sums over the folds without round-off, by (index of alpha, directions)."""
    return {
        (i, m + 1): sum(Fraction(float(e)).limit_denominator(n) for e in errors[i, m])
        for i in range(errors.shape[0])
        for m in range(errors.shape[1])
    }


def choice(lda: GroupLassoLDACV) -> tuple[int, int]:
    i = int(np.argmin(np.abs(lda.alphas_ - lda.alpha_)))
    assert lda.alpha_ == pytest.approx(lda.alphas_[i], rel=1e-12)
    return i, lda.n_components_


# --- errors ---


@pytest.mark.parametrize(
    "options",
    [{}, {"within": "diagonal"}, {"weights": "std"}, {"ridge": 0.5}, {"priors": (1, 5, 1, 2, 1)}],
    ids=["plain", "diagonal", "std", "ridge", "priors"],
)
@pytest.mark.parametrize("K", [2, 3, 5])
def test_errors_are_those_of_a_naive_loop(K: int, options: dict) -> None:
    X, y = make(K)
    options = {**options, **({"priors": options["priors"][:K]} if "priors" in options else {})}
    lda = GroupLassoLDACV(ALPHAS, cv=4, **options).fit(X, y)
    expected = naive_errors(X, y, StratifiedKFold(4).split(X, y), K - 1, **options)
    np.testing.assert_array_equal(lda.errors_, expected)
    assert np.unique(expected.mean(axis=2)).size > 1
    assert lda.errors_.shape == (4, K - 1, 4)


def test_the_default_penalties_and_folds() -> None:
    X, y = make()
    lda = GroupLassoLDACV().fit(X, y)
    np.testing.assert_allclose(lda.alphas_, [2 ** (-i / 2) for i in range(1, 15)], rtol=1e-14)
    assert lda.errors_.shape == (14, 2, 10)
    rough = [lda.alphas_[3]]
    expected = naive_errors(X, y, StratifiedKFold(10).split(X, y), 2, rough)
    np.testing.assert_array_equal(lda.errors_[3], expected[0])


def test_the_default_penalties_cannot_be_changed_through_a_model() -> None:
    before = DEFAULT_ALPHAS.copy()
    try:
        GroupLassoLDACV(cv=3).fit(*make()).alphas_[0] = 0.9
        np.testing.assert_array_equal(DEFAULT_ALPHAS, before)
    except ValueError:
        pass  # it is read-only
    finally:
        if DEFAULT_ALPHAS.flags.writeable:
            DEFAULT_ALPHAS[:] = before


@pytest.mark.parametrize(
    "cv",
    [
        KFold(3, shuffle=True, random_state=0),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
    ],
    ids=["kfold", "repeated"],
)
def test_splitters_and_iterables_of_splits(cv: Any) -> None:
    X, y = make()
    splits = list(cv.split(X, y))
    expected = naive_errors(X, y, splits, 2)
    for given in (splits, (s for s in splits)):
        np.testing.assert_array_equal(GroupLassoLDACV(ALPHAS, cv=given).fit(X, y).errors_, expected)
    if isinstance(cv, KFold):
        np.testing.assert_array_equal(GroupLassoLDACV(ALPHAS, cv=cv).fit(X, y).errors_, expected)


@pytest.mark.parametrize("kind", ["lists", "masks"])
def test_splits_in_the_other_forms_that_scikit_learn_takes(kind: str) -> None:
    X, y = make()
    splits = list(StratifiedKFold(3).split(X, y))

    def form(rows: np.ndarray) -> Any:
        return rows.tolist() if kind == "lists" else np.isin(np.arange(33), rows)

    given = [(form(train), form(test)) for train, test in splits]
    assert cross_val_score(GroupLassoLDA(3), X, y, cv=given).shape == (3,)
    lda = GroupLassoLDACV(ALPHAS, cv=given).fit(X, y)
    np.testing.assert_array_equal(lda.errors_, naive_errors(X, y, splits, 2))


def test_groups_stay_together() -> None:
    X, y = make()
    groups = np.arange(33) // 3
    cv = GroupKFold(4)
    lda = GroupLassoLDACV(ALPHAS, cv=cv).fit(X, y, groups=groups)
    np.testing.assert_array_equal(lda.errors_, naive_errors(X, y, cv.split(X, y, groups), 2))
    assert not np.array_equal(lda.errors_, GroupLassoLDACV(ALPHAS, cv=4).fit(X, y).errors_)
    with pytest.raises(ValueError, match="groups"):
        GroupLassoLDACV(ALPHAS, cv=cv).fit(X, y)
    with pytest.raises(ValueError, match="inconsistent numbers"):
        GroupLassoLDACV(ALPHAS, cv=cv).fit(X, y, groups=groups[:-1])


@pytest.mark.parametrize("priors", [None, (1.0, 3.0, 9.0)])
def test_a_fold_may_lack_a_class(priors: tuple[float, ...] | None) -> None:
    """Its rows are then all wrong; the other classes keep their priors."""
    X, y = make()
    order = np.argsort(y, kind="stable")
    X, y = X[order], y[order]
    splits = [(np.arange(11, 33), np.arange(11)), *StratifiedKFold(3).split(X, y)]
    assert 0 not in y[splits[0][0]]
    lda = GroupLassoLDACV(ALPHAS, cv=splits, priors=priors).fit(X, y)
    np.testing.assert_array_equal(lda.errors_, naive_errors(X, y, splits, 2, priors=priors))
    np.testing.assert_array_equal(lda.errors_[:, :, 0], 1.0)
    assert lda.classes_.tolist() == [0, 1, 2]
    assert lda.predict_proba(X).shape == (33, 3)


def test_a_fold_with_one_class_is_told_of() -> None:
    X, y = make(2)
    order = np.argsort(y, kind="stable")
    with pytest.raises(InputError, match="one class only"):
        GroupLassoLDACV(ALPHAS, cv=KFold(2)).fit(X[order[1:]], y[order[1:]])


def test_the_result_does_not_depend_on_the_number_of_jobs() -> None:
    X, y = make()
    one, two = (GroupLassoLDACV(ALPHAS, cv=4, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    np.testing.assert_array_equal(one.errors_, two.errors_)
    np.testing.assert_array_equal(one.scalings_, two.scalings_)
    assert one.alpha_ == two.alpha_


# --- the choice ---


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_smallest_error_is_chosen(K: int, seed: int) -> None:
    X, y = make(K, seed)
    lda = GroupLassoLDACV(cv=3).fit(X, y)
    sums = exact(lda.errors_, 33)
    best = min(sums, key=lambda o: (sums[o], o))  # the larger alpha, then fewer directions
    assert choice(lda) == best
    assert lda.cv_error_ == pytest.approx(float(sums[best]) / 3, abs=1e-15)
    chosen = lda.errors_[best[0], best[1] - 1]
    assert lda.cv_error_se_ == pytest.approx(np.std(chosen, ddof=1) / np.sqrt(3), abs=1e-15)


def test_round_off_does_not_break_a_tie() -> None:
    """Seven folds with errors of the same sum, in another order."""
    X, y = shifted_classes(33, 30, 3, seed=13, shift=1.2)
    lda = GroupLassoLDACV(cv=7).fit(X, y)
    sums = exact(lda.errors_, 33)
    assert choice(lda) == min(sums, key=lambda o: (sums[o], o))


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("K", [2, 4])
def test_one_standard_error(K: int, seed: int) -> None:
    X, y = make(K, seed)
    lda = GroupLassoLDACV(cv=5, selection="one-se").fit(X, y)
    mean = lda.errors_.mean(axis=2)
    se = lda.errors_.std(axis=2, ddof=1) / np.sqrt(5)
    i, m = min(np.ndindex(mean.shape), key=lambda o: (round(mean[o], 12), o))
    allowed = [o for o in np.ndindex(mean.shape) if mean[o] <= mean[i, m] + se[i, m] + 1e-12]
    assert choice(lda) == (min(allowed)[0], min(allowed)[1] + 1)
    best = GroupLassoLDACV(cv=5).fit(X, y)
    assert lda.alpha_ >= best.alpha_
    assert lda.cv_error_ >= best.cv_error_
    at = choice(lda)
    assert lda.cv_error_ == pytest.approx(mean[at[0], at[1] - 1], abs=1e-15)


def test_one_standard_error_is_worth_having() -> None:
    """Over the seeds above it does choose other penalties."""
    pairs = [
        [GroupLassoLDACV(cv=5, selection=s).fit(*make(2, seed)).alpha_ for s in ("best", "one-se")]
        for seed in range(6)
    ]
    assert any(best < one_se for best, one_se in pairs)


def test_a_single_split_has_no_standard_error() -> None:
    X, y = make()
    split = [next(StratifiedKFold(3).split(X, y))]
    one_se, best = (
        GroupLassoLDACV(ALPHAS, cv=split, selection=s).fit(X, y) for s in ("one-se", "best")
    )
    assert choice(one_se) == choice(best)
    assert one_se.cv_error_se_ == 0.0


@pytest.mark.parametrize("m", [1, 2, 3, 4])
def test_a_number_of_directions_that_is_given_stays(m: int) -> None:
    X, y = make(5)
    lda = GroupLassoLDACV(ALPHAS, cv=3, n_components=m).fit(X, y)
    assert lda.errors_.shape == (4, m, 3)
    sums = exact(lda.errors_, 33)
    i = min(range(4), key=lambda i: (sums[i, m], i))
    assert choice(lda) == (i, m)
    assert lda.scalings_.shape[1] <= m
    assert lda.cv_error_ == pytest.approx(float(sums[i, m]) / 3, abs=1e-15)


def test_more_directions_than_there_are_get_the_same_warning() -> None:
    X, y = make(3)
    with pytest.warns(UserWarning, match="n_components is 5, but 3 classes have at most 2"):
        GroupLassoLDA(alpha=0.2, n_components=5).fit(X, y)
    with pytest.warns(UserWarning, match="n_components is 5, but 3 classes have at most 2"):
        GroupLassoLDACV(ALPHAS, cv=3, n_components=5).fit(X, y)


@pytest.mark.parametrize("within", ["full", "diagonal"])
@pytest.mark.parametrize("K", [2, 3, 5])
def test_the_model_is_that_of_the_choice(K: int, within: str) -> None:
    X, y = make(K)
    lda = GroupLassoLDACV(cv=3, within=within, priors=range(1, K + 1)).fit(X, y)
    plain = GroupLassoLDA(
        alpha=lda.alpha_,
        n_components=lda.n_components_,
        within=within,
        priors=range(1, K + 1),
    ).fit(X, y)
    np.testing.assert_array_equal(lda.support_, plain.support_)
    np.testing.assert_allclose(lda.scalings_, plain.scalings_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(lda.predict_proba(X), plain.predict_proba(X), atol=1e-8)
    np.testing.assert_allclose(lda.eigenvalues_, plain.eigenvalues_, rtol=1e-8)
    lda.solution_.verify(ScoringProblem.from_data(X, y, within=within))
    assert lda.solution_.is_certified
    missing = set(vars(plain)) - set(vars(lda)) - set(plain.get_params())
    assert not missing


# --- options ---


def test_penalties_in_any_order() -> None:
    X, y = make()
    lda = GroupLassoLDACV(ALPHAS, cv=3).fit(X, y)
    for given in (ALPHAS[::-1], (0.2, 0.7, 0.1, 0.4), np.array([0.4, 0.7, 0.1, 0.2])):
        other = GroupLassoLDACV(given, cv=3).fit(X, y)
        np.testing.assert_array_equal(other.alphas_, ALPHAS)
        np.testing.assert_array_equal(other.errors_, lda.errors_)
        assert other.alpha_ == lda.alpha_


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"alphas": [1.0, 0.5]}, "alphas is 1.0; it must be at least 1e-09 and below 1"),
        ({"alphas": [0.0, 0.5]}, r"alphas is \[0.0, 0.5\]"),
        ({"alphas": [0.5, 1.5]}, "alphas is"),
        ({"alphas": [0.5, np.nan]}, "alphas is"),
        ({"alphas": []}, r"alphas is \[\]"),
        ({"alphas": "many"}, "alphas is 'many'"),
        ({"alphas": [[0.5]]}, "alphas is"),
        ({"selection": "1se"}, "selection is '1se'; it must be one of best, one-se"),
        ({"selection": None}, "selection is None"),
        ({"within": "none"}, "within is 'none'"),
        ({"solver": "newton"}, "solver is 'newton'"),
        ({"solver": "dual"}, "'dual' is for within='diagonal'"),
        ({"tol": 2}, "tol is 2"),
        ({"weights": [1, 2]}, "30 positive numbers"),
        ({"ridge": -1}, "ridge is -1"),
    ],
)
def test_wrong_options(options: dict, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        GroupLassoLDACV(**{"cv": 3, **options}).fit(*make())


def test_penalties_that_the_model_would_refuse_are_refused() -> None:
    X, y = make()
    for alpha in (1e-300, 1e-12):
        with pytest.raises(OptionError, match="alpha is"):
            GroupLassoLDA(alpha=alpha).fit(X, y)
        with pytest.raises(OptionError, match="alphas"):
            GroupLassoLDACV([0.5, alpha], cv=3).fit(X, y)


def test_other_wrong_values() -> None:
    X, y = make()
    for options in ({"n_components": 0}, {"n_components": 1.5}, {"priors": [1, 1]}):
        with pytest.raises(InputError, match=next(iter(options))):
            GroupLassoLDACV(cv=3, **options).fit(X, y)
    for cv in (0, 1, 100, "three"):
        with pytest.raises(ValueError, match=r"n_splits|cv"):
            GroupLassoLDACV(cv=cv).fit(X, y)


def test_ctrl_c_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Budget, "stop", lambda self: Status.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        GroupLassoLDACV([0.3], cv=3).fit(*shifted_classes(30, 60, 3))


# --- as an estimator ---


def test_names_pipelines_and_search() -> None:
    X, y = shifted_classes(60, 30, 3)
    frame = pd.DataFrame(X, columns=[f"gene {i}" for i in range(30)])
    pipeline = make_pipeline(StandardScaler(), GroupLassoLDACV(ALPHAS, cv=3))
    scores = pipeline.set_output(transform="pandas").fit_transform(frame, y)
    lda = pipeline[-1]
    names = [f"grouplassoldacv{i}" for i in range(lda.n_components_)]
    assert list(scores.columns) == list(lda.get_feature_names_out()) == names
    chosen = [f"gene {i}" for i in lda.get_support(indices=True)]
    assert list(lda.selected_features_) == chosen
    assert {"gene 0", "gene 1", "gene 2"} <= set(chosen)
    assert cross_val_score(GroupLassoLDACV(ALPHAS, cv=3), X, y, cv=3).mean() > 0.8
    search = GridSearchCV(GroupLassoLDACV([0.9], cv=3), {"alphas": [[0.9], [0.9, 0.2]]}, cv=3)
    assert search.fit(X, y).best_params_ == {"alphas": [0.9, 0.2]}


def test_pickles_and_clones() -> None:
    X, y = make()
    lda = GroupLassoLDACV(ALPHAS, cv=3, selection="one-se").fit(X, y)
    again = pickle.loads(pickle.dumps(lda))
    np.testing.assert_array_equal(again.predict_proba(X), lda.predict_proba(X))
    np.testing.assert_array_equal(again.errors_, lda.errors_)
    fresh = clone(lda)
    assert fresh.get_params() == lda.get_params()
    assert fresh.fit(X, y).alpha_ == lda.alpha_


def test_a_second_fit_forgets_the_first() -> None:
    X, y = make(2)
    lda = GroupLassoLDACV(ALPHAS, cv=4, within="diagonal").fit(*make(5))
    lda.set_params(alphas=[0.5], cv=3, within="full").fit(X, y)
    fresh = GroupLassoLDACV([0.5], cv=3).fit(X, y)
    assert set(vars(lda)) == set(vars(fresh))
    assert lda.errors_.shape == (1, 1, 3)
    np.testing.assert_array_equal(lda.errors_, fresh.errors_)
    np.testing.assert_array_equal(lda.coef_, fresh.coef_)


def test_labels_are_names() -> None:
    X, y = make()
    names = np.array(["c", "b", "a"])[y]
    lda = GroupLassoLDACV(ALPHAS, cv=3).fit(X, names)
    assert lda.classes_.tolist() == ["a", "b", "c"]
    expected = naive_errors(X, names, StratifiedKFold(3).split(X, names), 2)
    np.testing.assert_array_equal(lda.errors_, expected)
    assert set(lda.predict(X)) <= {"a", "b", "c"}
