"""`GroupLassoLDA` as an estimator: names, pipelines, refits, time limits, Ctrl-C, wrong options."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigensieve import GroupLassoLDA, ScoringProblem
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.solution import Status
from tests.clock import stop_after
from tests.oracles.instances import shifted_classes as make

WITHIN = ["full", "diagonal"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"alpha": 0}, "alpha is 0;"),
        ({"alpha": 1}, "alpha is 1;"),
        ({"alpha": -0.5}, "alpha is -0.5;"),
        ({"alpha": 1.5}, "alpha is 1.5;"),
        ({"alpha": True}, "alpha is True;"),
        ({"alpha": "0.5"}, "alpha is '0.5';"),
        ({"alpha": np.nan}, "alpha is nan;"),
        ({"alpha": [0.5]}, r"alpha is \[0.5\];"),
        ({"within": "diag"}, "within is 'diag'; it must be one of full, diagonal"),
        ({"within": None}, "within is None"),
        ({"solver": "newton"}, "solver is 'newton'; it must be one of auto, working-set"),
        ({"solver": "dual"}, "'dual' is for within='diagonal'"),
        ({"tol": 0}, "tol is 0;"),
        ({"tol": None}, "tol is None;"),
        ({"time_limit": -1}, "time_limit is -1"),
        ({"weights": "sd"}, "it must be None, 'std' or 40 positive numbers"),
        ({"weights": [1, 2]}, "40 positive numbers"),
        ({"weights": np.zeros(40)}, "40 positive numbers"),
        ({"weights": np.full(40, np.nan)}, "40 positive numbers"),
        ({"ridge": -1}, "ridge is -1"),
        ({"ridge": True}, "ridge is True"),
        ({"ridge": np.eye(3)}, r"ridge has shape \(3, 3\)"),
        ({"ridge": np.triu(np.ones((40, 40)))}, "not symmetric"),
        ({"ridge": -np.eye(40)}, "negative eigenvalues"),
        ({"ridge": sparse.csr_array(-np.eye(40))}, "negative eigenvalues"),
    ],
)
def test_wrong_options(options: dict, says: str) -> None:
    with pytest.raises(OptionError, match=says):
        GroupLassoLDA(**options).fit(*make(24, 40, 3))


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"n_features_to_select": 0}, "n_features_to_select is 0;"),
        ({"n_features_to_select": 2.5}, "n_features_to_select is 2.5;"),
        ({"n_features_to_select": "3"}, "n_features_to_select is '3';"),
        ({"n_features_to_select": None}, "n_features_to_select is None;"),
        ({"n_features_to_select": True}, "n_features_to_select is True;"),
        ({"n_components": 0}, "n_components is 0;"),
        ({"n_components": 1.5}, "n_components is 1.5;"),
        ({"priors": [1, 1]}, "priors must be 3 positive numbers"),
        ({"priors": [1, 1, 0]}, "priors must be 3 positive numbers"),
    ],
)
def test_wrong_numbers(options: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        GroupLassoLDA(**options).fit(*make(24, 40, 3))


@pytest.fixture(scope="module")
def frame() -> tuple[pd.DataFrame, pd.Series]:
    X, y = make(60, 30, 3)
    names = [f"gene {i}" for i in range(30)]
    index = [f"patient {i}" for i in range(60)]
    return pd.DataFrame(X, columns=names, index=index), pd.Series(y, index=index)


Frame = tuple[pd.DataFrame, pd.Series]


def test_names_and_support(frame: Frame) -> None:
    X, y = frame
    lda = GroupLassoLDA(5).fit(X, y)
    indices = lda.get_support(indices=True)
    assert lda.get_support().dtype == bool
    assert lda.get_support().shape == (30,)
    assert np.flatnonzero(lda.get_support()).tolist() == indices.tolist()
    assert indices.size == 5
    assert list(lda.selected_features_) == [f"gene {i}" for i in indices]
    assert list(lda.feature_names_in_) == list(X.columns)
    assert list(lda.get_feature_names_out()) == ["grouplassolda0", "grouplassolda1"]
    scores = lda.set_output(transform="pandas").transform(X)
    assert list(scores.columns) == ["grouplassolda0", "grouplassolda1"]
    assert scores.index.equals(X.index)
    with pytest.raises(ValueError, match="feature names should match"):
        lda.predict(X.rename(columns={"gene 3": "gene x"}))
    plain = GroupLassoLDA(5).fit(X.to_numpy(), y)
    assert not hasattr(plain, "feature_names_in_")
    np.testing.assert_array_equal(plain.selected_features_, indices)


def test_in_a_pipeline_with_cross_validation_and_search(frame: Frame) -> None:
    X, y = frame
    pipeline = make_pipeline(StandardScaler(), GroupLassoLDA(3))
    assert cross_val_score(pipeline, X, y, cv=5).mean() > 0.8
    assert set(pipeline.fit(X, y)[-1].get_support(indices=True)) == {0, 1, 2}
    search = GridSearchCV(GroupLassoLDA(), {"alpha": [0.9, 0.2], "within": WITHIN}, cv=3)
    search.fit(X, y)
    assert search.best_params_["alpha"] == 0.2
    assert search.best_score_ > 0.8
    assert search.best_estimator_.alpha_ == pytest.approx(0.2)


@pytest.mark.parametrize("within", WITHIN)
def test_pickles_and_clones(within: str) -> None:
    X, y = make()
    lda = GroupLassoLDA(6, within=within, priors=[1, 1, 2], n_components=1).fit(X, y)
    again = pickle.loads(pickle.dumps(lda))
    np.testing.assert_array_equal(again.predict_proba(X), lda.predict_proba(X))
    again.solution_.verify(ScoringProblem.from_data(X, y, within=within))
    fresh = clone(lda)
    assert fresh.get_params() == lda.get_params()
    with pytest.raises(NotFittedError):
        fresh.predict(X)
    np.testing.assert_allclose(fresh.fit(X, y).scalings_, lda.scalings_, rtol=1e-12)


def test_a_second_fit_forgets_the_first(frame: Frame) -> None:
    X, y = make(20, 25, 2, seed=3)
    lda = GroupLassoLDA(5, priors=[1, 2, 3], n_components=2).fit(*frame)
    lda.set_params(
        n_features_to_select=3, alpha=0.4, within="diagonal", priors=None, n_components=None
    )
    lda.fit(X, y)
    fresh = GroupLassoLDA(3, alpha=0.4, within="diagonal").fit(X, y)
    assert set(vars(lda)) == set(vars(fresh))
    for name in ("scalings_", "eigenvalues_", "priors_", "classes_", "means_", "coef_", "xbar_"):
        np.testing.assert_array_equal(getattr(lda, name), getattr(fresh, name))
    assert lda.solution_.rows.shape == fresh.solution_.rows.shape
    np.testing.assert_array_equal(lda.predict(X), fresh.predict(X))


@pytest.mark.parametrize("looks", [0, 1, 4, 10])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"within": "diagonal"},
        {"solver": "variational"},
        {"alpha": 0.2},
        {"alpha": 0.2, "within": "diagonal"},
        {"alpha": 0.2, "solver": "variational"},
    ],
)
def test_when_the_time_is_up_that_is_what_is_said(
    monkeypatch: pytest.MonkeyPatch, options: dict, looks: int
) -> None:
    """A model with a warning that speaks of the limit; no other message."""
    X, y = make(30, 60, 3)
    stop_after(monkeypatch, looks, Status.TIME_LIMIT)
    lda = GroupLassoLDA(**options)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lda.fit(X, y)
    assert lda.predict(X).shape == (30,)
    if lda.solution_.is_certified and "alpha" in options:  # it was done before
        assert not told
    else:
        assert [w.category for w in told] == [ConvergenceWarning]
        assert "time limit" in str(told[0].message)
    lda.solution_.verify(ScoringProblem.from_data(X, y, within=lda.within))


def test_what_is_kept_after_a_time_limit_is_better_than_no_feature_at_all() -> None:
    """B = 0 costs (n_classes - 1) / 2: an answer above that is not worth keeping."""
    X, y = make(24, 120, 3)
    with pytest.warns(ConvergenceWarning, match="time limit"):
        lda = GroupLassoLDA(alpha=0.3, time_limit=0).fit(X, y)
    assert lda.solution_.objective < 1.0
    with pytest.warns(ConvergenceWarning, match="time limit"):
        lda = GroupLassoLDA(alpha=0.3, within="diagonal", time_limit=0).fit(X, y)
    assert lda.solution_.objective < 1.0


def test_an_optimum_is_no_early_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time is up, but what was asked for is there and proved: nothing to warn of."""
    X, y = make(30, 60, 3)
    stop_after(monkeypatch, 0, Status.TIME_LIMIT)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lda = GroupLassoLDA(alpha=0.3).fit(X, y)
    assert bool(told) != lda.solution_.is_certified


@pytest.mark.parametrize("looks", [0, 1, 4, 10])
@pytest.mark.parametrize("options", [{}, {"within": "diagonal"}, {"solver": "variational"}])
def test_ctrl_c_goes_on(monkeypatch: pytest.MonkeyPatch, options: dict, looks: int) -> None:
    """A grid search around it must end too: no other error may take its place."""
    stop_after(monkeypatch, looks, Status.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        GroupLassoLDA(**options).fit(*make(30, 60, 3))


def test_a_generous_time_limit_changes_nothing() -> None:
    X, y = make()
    limited = GroupLassoLDA(8, time_limit=600).fit(X, y)
    np.testing.assert_array_equal(limited.scalings_, GroupLassoLDA(8).fit(X, y).scalings_)
