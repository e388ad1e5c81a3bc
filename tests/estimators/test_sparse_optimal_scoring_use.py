"""`SparseOptimalScoring` as an estimator: names, odd data, wrong options, limits."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from eigensieve import SparseOptimalScoring
from eigensieve.errors import EigensieveError, InputError, OptionError
from eigensieve.pencil.solution import Status
from tests.clock import stop_after
from tests.estimators.refusals import assert_wrong_data_is_refused
from tests.oracles.instances import shifted_classes as make


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
    assert_wrong_data_is_refused(SparseOptimalScoring(), *make(45, 40, 3))


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


CASES = [(30, 60, 3, 0, 3.0), (40, 100, 5, 8, 1.0)]


LOOKS = [0, 1, 4, 10]


@pytest.mark.parametrize("looks", LOOKS)
@pytest.mark.parametrize("options", [{}, {"alpha": 0.2}])
@pytest.mark.parametrize("case", CASES)
def test_when_the_time_is_up_that_is_what_is_said(
    monkeypatch: pytest.MonkeyPatch, case: tuple, options: dict, looks: int
) -> None:
    """A model with a warning that speaks of the limit; no other message."""
    X, y = make(*case)
    stop_after(monkeypatch, looks, Status.TIME_LIMIT)
    lda = SparseOptimalScoring(**options)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        lda.fit(X, y)
    assert [w.category for w in told] == [ConvergenceWarning]
    assert "time limit" in str(told[0].message)
    assert lda.predict(X).shape == y.shape
    np.testing.assert_allclose(lda.transform(X).std(axis=0), 1, rtol=1e-9)


@pytest.mark.parametrize("looks", LOOKS)
@pytest.mark.parametrize("options", [{}, {"alpha": 0.2}])
@pytest.mark.parametrize("case", CASES)
def test_ctrl_c_goes_on(
    monkeypatch: pytest.MonkeyPatch, case: tuple, options: dict, looks: int
) -> None:
    """A grid search around it must end too: no other error may take its place."""
    stop_after(monkeypatch, looks, Status.INTERRUPTED)
    with pytest.raises(KeyboardInterrupt):
        SparseOptimalScoring(**options).fit(*make(*case))


def test_a_generous_time_limit_changes_nothing() -> None:
    X, y = make()
    limited = SparseOptimalScoring(8, time_limit=600).fit(X, y)
    np.testing.assert_array_equal(limited.scalings_, SparseOptimalScoring(8).fit(X, y).scalings_)
