"""Every estimator passes scikit-learn's checks, and says what it needs."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

import eigensieve as es

# Each class once, through all checks ...
CLASSES = [
    es.SparseLDA(),
    es.RankedLDA(),
    es.SparsePCA(),
    es.SparseCCA(),
    es.UncorrelatedLDA(),
    es.SparseUncorrelatedLDA(),
    es.GroupLassoLDA(),
    es.GroupLassoLDACV(cv=3),
    es.PenalizedLDA(),
    es.SparseOptimalScoring(2, ridge=0.1, rule="centroid"),
    es.QAlphaSelector(),
    es.PreparedClassifier(),
]
# ... and with other options through those below, which see how a fit is done.
CONFIGURATIONS = [
    es.SparseLDA(2, solver="threshold"),
    es.RankedLDA("l1", 2),
    es.SparseCCA(2, n_features_to_select=2, together=True, shrinkage=(0.1, "auto")),
    es.UncorrelatedLDA(rule="centroid"),
    es.SparseUncorrelatedLDA("l21", rule="1-nn"),
    es.SparseUncorrelatedLDA(solver="bregman", rule="lda"),
    es.GroupLassoLDA(2, within="diagonal", rule="lda"),
    es.PenalizedLDA(alpha=0.0),
    es.PenalizedLDA(alpha=0.05, fusion=0.02, ridge=0.1, rule="lda"),
    es.SparseOptimalScoring(),
    es.QAlphaSelector(2, variant="supervised", n_init=1),
    es.QAlphaSelector(variant="laplacian", weight=True),
    es.QAlphaSelector(kernel="precomputed"),
    es.PreparedClassifier(missing="median"),
]
CHECKS = {
    "check_classifiers_train",
    "check_dict_unchanged",
    "check_estimators_dtypes",
    "check_estimators_nan_inf",
    "check_estimators_pickle",
    "check_fit2d_1feature",
    "check_fit2d_1sample",
    "check_fit_idempotent",
    "check_methods_sample_order_invariance",
    "check_methods_subset_invariance",
    "check_pipeline_consistency",
    "check_transformer_general",
}


def name_of(check: Any) -> str:
    return getattr(check, "func", check).__name__


def some_checks() -> Iterator[Any]:
    for estimator in CONFIGURATIONS:
        options = "".join(repr(estimator).split())
        for model, check in estimator_checks_generator(estimator):
            if name_of(check) in CHECKS and not check.keywords:
                yield pytest.param(model, check, id=f"{options}-{name_of(check)}")


@pytest.mark.filterwarnings("ignore")  # the checks fit on three columns, with k = 10 by default
@parametrize_with_checks(CLASSES)
def test_scikit_learn(estimator, check) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("estimator", "check"), list(some_checks()))
def test_other_options(estimator, check) -> None:
    check(estimator)


def test_no_class_is_forgotten_and_no_check_has_vanished() -> None:
    public = {getattr(es, name) for name in es.__all__ if name[0].isupper()}
    estimators = {kind for kind in public if issubclass(kind, BaseEstimator)}
    assert {type(model) for model in CLASSES} == estimators
    assert len(CLASSES) == len(estimators)
    classifier = es.SparseLDA()
    assert {name_of(check) for _, check in estimator_checks_generator(classifier)} >= CHECKS


def test_supervision_is_declared() -> None:
    # check_estimator does not notice a supervised transformer without this tag
    assert get_tags(es.SparseLDA()).target_tags.required
    assert get_tags(es.RankedLDA()).target_tags.required
    assert get_tags(es.SparseCCA()).target_tags.required
    assert get_tags(es.UncorrelatedLDA()).target_tags.required
    assert get_tags(es.SparseUncorrelatedLDA()).target_tags.required
    assert get_tags(es.GroupLassoLDA()).target_tags.required
    assert get_tags(es.GroupLassoLDACV()).target_tags.required
    assert get_tags(es.PenalizedLDA()).target_tags.required
    assert get_tags(es.SparseOptimalScoring()).target_tags.required
    assert get_tags(es.PreparedClassifier()).target_tags.required
    assert not get_tags(es.SparsePCA()).target_tags.required
    assert not get_tags(es.QAlphaSelector()).target_tags.required
    assert get_tags(es.QAlphaSelector(variant="supervised")).target_tags.required
    assert get_tags(es.QAlphaSelector(kernel="precomputed")).input_tags.pairwise
    assert not get_tags(es.QAlphaSelector(kernel="rbf")).input_tags.pairwise


@pytest.fixture(scope="module")
def frame() -> tuple[pd.DataFrame, pd.Series]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 12)), columns=[f"gene {i}" for i in range(12)])
    y = pd.Series(np.where(X["gene 3"] + X["gene 7"] > 0, "sick", "well"))
    return X, y


@pytest.mark.parametrize("estimator", [es.SparseLDA(2), es.SparsePCA(n_features_to_select=2)])
def test_names_pipelines_and_output(frame, estimator) -> None:
    X, y = frame
    pipeline = make_pipeline(StandardScaler(), clone(estimator)).set_output(transform="pandas")
    scores = pipeline.fit_transform(X, y)
    assert isinstance(scores, pd.DataFrame)
    prefix = type(estimator).__name__.lower()
    assert list(scores.columns) == [f"{prefix}{i}" for i in range(scores.shape[1])]
    assert list(pipeline[-1].feature_names_in_) == list(X.columns)
    assert pipeline[-1].get_support().sum() == pipeline[-1].get_support(indices=True).size
    assert pipeline[-1].solution_.status is not None


def test_two_views_in_a_pipeline(frame) -> None:
    X, _ = frame
    Y = X[["gene 3", "gene 7"]].rename(columns=str.upper) + 0.1 * X[["gene 1"]].to_numpy()
    cca = es.SparseCCA(2, n_features_to_select=2)
    pipeline = make_pipeline(StandardScaler(), cca).set_output(transform="pandas")
    scores = pipeline.fit_transform(X, Y)
    assert list(scores.columns) == ["sparsecca0", "sparsecca1"]
    assert scores.index.equals(X.index)
    assert set(cca.selected_features_[0]) >= {"gene 3", "gene 7"}
    assert pipeline.score(X, Y) > 0.95
    after = make_pipeline(es.SparseCCA(2, n_features_to_select=2), StandardScaler())
    np.testing.assert_allclose(after.fit_transform(X, Y).std(axis=0), 1)


def test_cross_validation_and_search(frame) -> None:
    X, y = frame
    assert cross_val_score(es.SparseLDA(2), X, y, cv=5).mean() > 0.8
    search = GridSearchCV(es.SparseLDA(), {"n_features_to_select": [1, 2]}, cv=4).fit(X, y)
    assert search.best_params_ == {"n_features_to_select": 2}
    assert set(search.best_estimator_.selected_features_) == {"gene 3", "gene 7"}
