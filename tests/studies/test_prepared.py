"""PreparedClassifier: gaps filled and columns standardised as scikit-learn would do it."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.impute import SimpleImputer
from sklearn.model_selection import cross_val_predict
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.studies.whole import make_table

CLASSIFIERS = [
    es.SparseLDA(3), es.GroupLassoLDA(3, rule="lda"), es.RankedLDA("anova", 3), es.PenalizedLDA(),
    es.UncorrelatedLDA(), es.SparseUncorrelatedLDA(rule="lda"),
]  # fmt: skip


def by_hand(estimator: Any, missing: str = "median") -> Pipeline:
    steps = [SimpleImputer(strategy="median", keep_empty_features=True)]
    return make_pipeline(
        *(steps if missing == "median" else []), StandardScaler(), clone(estimator)
    )


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda e: type(e).__name__)
@pytest.mark.parametrize("missing", ["error", "median"])
def test_the_same_as_a_pipeline(estimator, missing) -> None:
    X, y = make_table(60, gaps=missing == "median")
    X = X * 10.0 ** np.arange(-3, 11) + 5.0
    model = es.PreparedClassifier(estimator, missing=missing).fit(X[::2], y[::2])
    pipeline = by_hand(estimator, missing).fit(X[::2], y[::2])
    inner = pipeline[-1]
    np.testing.assert_array_equal(model.get_support(), inner.get_support())
    np.testing.assert_array_equal(model.predict(X), pipeline.predict(X))
    np.testing.assert_allclose(model.transform(X), pipeline.transform(X), atol=1e-9)
    np.testing.assert_array_equal(model.support_, model.get_support())
    np.testing.assert_array_equal(model.selected_features_, np.flatnonzero(inner.get_support()))
    for name in ("predict_proba", "decision_function", "predict_log_proba"):
        assert hasattr(model, name) == hasattr(inner, name)
        if hasattr(inner, name):
            values = getattr(model, name)(X), getattr(pipeline, name)(X)
            np.testing.assert_allclose(*values, rtol=1e-7, atol=1e-9)


def test_the_same_inside_folds() -> None:
    X, y = make_table(60)
    model, pipeline = (
        es.PreparedClassifier(es.SparseLDA(2), missing="median"),
        by_hand(es.SparseLDA(2)),
    )
    np.testing.assert_array_equal(
        cross_val_predict(model, X, y, cv=4), cross_val_predict(pipeline, X, y, cv=4)
    )


def test_columns_of_gaps_and_constants() -> None:
    X, y = make_table(60)
    X[:, 1], X[:, 2] = np.nan, 7.0
    model = es.PreparedClassifier(es.SparseLDA(3), missing="median").fit(X, y)
    pipeline = by_hand(es.SparseLDA(3)).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), pipeline.predict(X))
    assert not set(model.get_support(indices=True)) & {1, 2}
    filled = X.copy()
    filled[:, 1] = 3.0  # what such a column has later is of no account
    np.testing.assert_array_equal(model.predict(filled), model.predict(X))


def test_a_path_is_the_fits_of_its_sizes() -> None:
    X, y = make_table(60)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    for estimator in (es.SparseLDA(), es.GroupLassoLDA()):
        template = es.PreparedClassifier(estimator, missing="median")
        path = template.fit_path(frame, y, [3, 1, 3])
        assert list(path) == [1, 3]
        assert not hasattr(template, "estimator_")
        for k, model in path.items():
            alone = clone(template).set_params(estimator__n_features_to_select=k).fit(frame, y)
            np.testing.assert_array_equal(model.predict(frame), alone.predict(frame))
            assert list(model.selected_features_) == list(alone.selected_features_)
            assert list(model.feature_names_in_) == list(frame.columns)


def test_names_and_output() -> None:
    X, y = make_table(60, gaps=False)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    model = es.PreparedClassifier(es.SparseLDA(2)).fit(frame, y)
    assert set(model.selected_features_) == {"g3", "g7"}
    assert list(model.get_feature_names_out()) == ["sparselda0", "sparselda1"]
    scores = model.set_output(transform="pandas").transform(frame)
    assert list(scores.columns) == ["sparselda0", "sparselda1"]
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    with pytest.raises(InputError, match="g0"):
        es.PreparedClassifier().fit(frame.rename(columns={"g1": "g0"}), y)


def test_names_of_features_to_include() -> None:
    X, y = make_table(60, gaps=False)
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(X.shape[1])])
    model = es.PreparedClassifier(es.SparseLDA(2, include=[5])).fit(frame, y)
    assert "g5" in model.selected_features_


def test_what_is_refused() -> None:
    X, y = make_table(60)
    with pytest.raises(ValueError, match="NaN"):
        es.PreparedClassifier().fit(X, y)
    with pytest.raises(OptionError, match=r"missing is 'mean'; it must be one of error, median"):
        es.PreparedClassifier(missing="mean").fit(X, y)
    model = es.PreparedClassifier(missing="median").fit(X, y)
    infinite = np.where(np.isnan(X), np.inf, X)
    with pytest.raises(ValueError, match="infinity"):
        model.predict(infinite)
    with pytest.raises(ValueError, match="infinity"):
        es.PreparedClassifier(missing="median").fit(infinite, y)
    whole = np.nan_to_num(X)
    strict = es.PreparedClassifier().fit(whole, y)
    with pytest.raises(ValueError, match="NaN"):
        strict.predict(X)
    for labels in (np.where(y == "a", None, y), pd.Series(y).mask(y == "a", pd.NA)):
        with pytest.raises(InputError, match="missing labels"):
            es.PreparedClassifier().fit(whole, labels)


@pytest.mark.parametrize(
    "method",
    ["predict", "predict_proba", "predict_log_proba", "decision_function", "transform"],
)
def test_not_fitted(method) -> None:
    with pytest.raises(NotFittedError):
        getattr(es.PreparedClassifier(), method)(make_table()[0])
    with pytest.raises(NotFittedError):
        es.PreparedClassifier().get_support()


def test_methods_and_attributes_that_the_classifier_lacks() -> None:
    class Silent(es.UncorrelatedLDA):
        predict_proba = property()

    X, y = make_table(60, gaps=False)
    model = es.PreparedClassifier(Silent())
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model.fit(X, y), "predict_proba")
    assert hasattr(model, "decision_function")
    with pytest.raises(AttributeError, match="Silent has no solution_"):
        _ = model.solution_


def test_solution_parameters_and_copies() -> None:
    X, y = make_table(60)
    model = es.PreparedClassifier(es.SparseLDA(2), missing="median")
    assert clone(model).get_params()["estimator__n_features_to_select"] == 2
    inner = model.estimator
    model.fit(X, y)
    assert model.estimator is inner
    assert not hasattr(inner, "classes_")
    assert model.solution_.support.tolist() == model.get_support(indices=True).tolist()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_single_precision_and_a_far_origin() -> None:
    X, y = make_table(60, gaps=False)
    wide = es.PreparedClassifier(es.SparseLDA(2)).fit(X, y)
    narrow = es.PreparedClassifier(es.SparseLDA(2)).fit(X.astype(np.float32), y)
    assert wide.get_support(indices=True).tolist() == narrow.get_support(indices=True).tolist()
    np.testing.assert_allclose(narrow.transform(X), wide.transform(X), atol=1e-4)
    moved = es.PreparedClassifier(es.SparseLDA(2)).fit(X + 1e6, y)
    np.testing.assert_array_equal(moved.predict(X + 1e6), wide.predict(X))


def test_numbers_that_are_too_large() -> None:
    """Found by fuzzing: a warning of overflow before the refusal; float32 has no 1e70."""
    X = np.array([[-6e299], [-1e299], [1e299], [2e299]])
    with pytest.raises(InputError, match="rescale"):
        es.PreparedClassifier().fit(X, [0, 1, 0, 1])
    es.PreparedClassifier(es.SparseLDA(1)).fit(np.float32([[1], [2], [1.5], [3]]), [0, 1, 0, 1])
