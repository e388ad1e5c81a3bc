"""The estimators inside scikit-learn's pipelines, searches and selections, checked by hand."""

from __future__ import annotations

from itertools import product

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFE, SelectFromModel
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    learning_curve,
)
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es

from .wine import CLASSIFIERS, WINE, Y, lda


def standardized(train: pd.DataFrame, new: pd.DataFrame) -> np.ndarray:
    """By hand, what a StandardScaler does."""
    return ((new - train.mean()) / train.std(ddof=0)).to_numpy()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_pipeline_is_its_steps_one_after_the_other(name: str) -> None:
    train, new = WINE[::2], WINE[1::2]
    model = make_pipeline(StandardScaler(), clone(CLASSIFIERS[name])).fit(train, Y[::2])
    alone = clone(CLASSIFIERS[name]).fit(standardized(train, train), Y[::2])
    Z = standardized(train, new)
    assert model.predict(new).tolist() == alone.predict(Z).tolist()
    np.testing.assert_allclose(model.predict_proba(new), alone.predict_proba(Z), atol=1e-8)
    np.testing.assert_allclose(model.transform(new), alone.transform(Z), atol=1e-8)
    np.testing.assert_allclose(model.decision_function(new), alone.decision_function(Z), atol=1e-6)
    assert model.score(new, Y[1::2]) == pytest.approx(np.mean(alone.predict(Z) == Y[1::2]))
    assert model.classes_.tolist() == ["barbera", "barolo", "grignolino"]
    assert model.feature_names_in_.tolist() == list(WINE.columns)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_cross_validated_predictions_are_those_of_the_folds(name: str) -> None:
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    model = make_pipeline(StandardScaler(), clone(CLASSIFIERS[name]))
    chances = cross_val_predict(model, WINE, Y, cv=folds, method="predict_proba")
    for train, test in folds.split(WINE, Y):
        fold = clone(CLASSIFIERS[name])
        fold.fit(standardized(WINE.iloc[train], WINE.iloc[train]), Y.iloc[train])
        own = fold.predict_proba(standardized(WINE.iloc[train], WINE.iloc[test]))
        np.testing.assert_allclose(chances[test], own, atol=1e-8)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_set_output_goes_through_a_pipeline(name: str, library: str) -> None:
    model = make_pipeline(StandardScaler(), clone(CLASSIFIERS[name]))
    plain = clone(model).fit_transform(WINE, Y)
    frame = model.set_output(transform=library).fit_transform(WINE, Y)
    assert type(frame).__module__.startswith(library)
    np.testing.assert_allclose(frame.to_numpy(), plain, atol=1e-12)
    inner = type(getattr(model[-1], "estimator_", model[-1])).__name__.lower()
    assert list(frame.columns) == [f"{inner}{j}" for j in range(plain.shape[1])]
    assert model.get_feature_names_out().tolist() == list(frame.columns)
    if library == "pandas":
        assert frame.index.equals(WINE.index)


def test_the_selected_features_have_their_names_behind_a_scaler() -> None:
    model = make_pipeline(StandardScaler().set_output(transform="pandas"), lda()).fit(WINE, Y)
    assert set(model[-1].selected_features_) <= set(WINE.columns)
    assert model[:-1].get_feature_names_out()[model[-1].get_support()].tolist() == list(
        model[-1].selected_features_
    )


# -- as selectors --------------------------------------------------------------------------


@pytest.mark.parametrize("weight", [False, True])
def test_qalpha_before_another_classifier(weight: bool) -> None:
    selector = es.QAlphaSelector(4, n_clusters=3, weight=weight)
    model = make_pipeline(StandardScaler(), selector, LogisticRegression(max_iter=1000))
    model.fit(WINE, Y)
    Z = standardized(WINE, WINE)
    alpha = es.QAlphaSelector(4, n_clusters=3).fit(Z).alpha_
    best = np.sort(np.argsort(-alpha)[:4])
    columns = Z * alpha if weight else Z[:, best]
    alone = LogisticRegression(max_iter=1000).fit(columns, Y)
    np.testing.assert_allclose(model.predict_proba(WINE), alone.predict_proba(columns), atol=1e-6)
    names = model[:-1].get_feature_names_out()
    assert names.tolist() == list(WINE.columns if weight else WINE.columns[best])


def test_select_from_model_keeps_the_support() -> None:
    selector = SelectFromModel(lda(5), threshold=1e-12)  # the default, the mean, takes fewer
    model = make_pipeline(StandardScaler(), selector, LogisticRegression(max_iter=1000))
    model.fit(WINE, Y)
    alone = lda(5).fit(standardized(WINE, WINE), Y)
    assert selector.get_support().tolist() == alone.get_support().tolist()
    assert model[-1].n_features_in_ == 5


def test_a_prepared_classifier_in_select_from_model() -> None:
    inside = es.PreparedClassifier(lda(3))
    found = SelectFromModel(inside, threshold=1e-12, importance_getter="estimator_.coef_")
    found.fit(WINE, Y)
    assert found.get_feature_names_out().tolist() == list(found.estimator_.selected_features_)


def test_recursive_elimination_reads_the_coefficients() -> None:
    Z = standardized(WINE, WINE)
    found = RFE(es.UncorrelatedLDA(), n_features_to_select=11).fit(Z, Y)
    left = np.arange(13)
    while left.size > 11:
        coef = es.UncorrelatedLDA().fit(Z[:, left], Y).coef_
        left = np.delete(left, np.square(coef).sum(axis=0).argmin())
    assert np.flatnonzero(found.support_).tolist() == left.tolist()


def test_sparse_components_before_a_classifier() -> None:
    pca = es.SparsePCA(3, n_features_to_select=4, certificate="none")
    model = make_pipeline(StandardScaler(), pca, LogisticRegression()).fit(WINE, Y)
    Z = standardized(WINE, WINE)
    scores = clone(pca).fit_transform(Z)
    alone = LogisticRegression().fit(scores, Y)
    np.testing.assert_allclose(model.predict_proba(WINE), alone.predict_proba(scores), atol=1e-6)


def test_columns_go_different_ways() -> None:
    first, second, rest = list(WINE.columns[:6]), list(WINE.columns[6:11]), list(WINE.columns[11:])
    ways = ColumnTransformer(
        [
            ("lda", make_pipeline(StandardScaler(), lda(2)), first),
            ("qalpha", es.QAlphaSelector(2, n_clusters=2), second),
            ("rest", "passthrough", rest),
        ]
    ).set_output(transform="pandas")
    out = ways.fit_transform(WINE, Y)
    scores = lda(2).fit(standardized(WINE[first], WINE[first]), Y)
    chosen = es.QAlphaSelector(2, n_clusters=2).fit(WINE[second]).selected_features_
    names = ["lda__sparselda0", "lda__sparselda1", *(f"qalpha__{n}" for n in chosen)]
    assert list(out.columns) == [*names, *(f"rest__{n}" for n in rest)]
    expected = scores.transform(standardized(WINE[first], WINE[first]))
    np.testing.assert_allclose(out.iloc[:, :2].to_numpy(), expected, atol=1e-10)
    final = make_pipeline(ways, StandardScaler(), lda(3)).fit(WINE, Y)
    assert final.score(WINE, Y) > 0.9


def test_a_union_puts_projections_side_by_side() -> None:
    union = FeatureUnion([("lda", lda(2)), ("pca", es.SparsePCA(1, certificate="none"))])
    Z = standardized(WINE, WINE)
    out = union.fit_transform(Z, Y)
    parts = [lda(2).fit(Z, Y), es.SparsePCA(1, certificate="none").fit(Z)]
    np.testing.assert_allclose(out, np.hstack([part.transform(Z) for part in parts]), atol=1e-10)
    assert union.get_feature_names_out().tolist() == [
        "lda__sparselda0", "lda__sparselda1", "pca__sparsepca0",
    ]  # fmt: skip


def test_gaps_are_filled_before_the_search() -> None:
    gaps = WINE.mask(np.random.default_rng(0).random(WINE.shape) < 0.05)
    model = make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), lda()).fit(gaps, Y)
    filled = gaps.fillna(gaps.median())
    alone = lda().fit(standardized(filled, filled), Y)
    assert model[-1].get_support().tolist() == alone.get_support().tolist()
    prepared = es.PreparedClassifier(lda(), missing="median").fit(gaps, Y)
    np.testing.assert_allclose(prepared.predict_proba(gaps), model.predict_proba(gaps), atol=1e-8)


# -- searches ------------------------------------------------------------------------------

GRID = {"sparselda__n_features_to_select": [1, 3, 6], "sparselda__shrinkage": [0.0, "auto"]}


def test_a_grid_search_finds_what_loops_find() -> None:
    model = Pipeline([("scaler", StandardScaler()), ("sparselda", lda())])
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    grid = GridSearchCV(model, GRID, cv=folds, n_jobs=1).fit(WINE, Y)
    for i, (k, shrinkage) in enumerate(product(*GRID.values())):
        scores = []
        for train, test in folds.split(WINE, Y):
            fold = lda(k, shrinkage=shrinkage)
            fold.fit(standardized(WINE.iloc[train], WINE.iloc[train]), Y.iloc[train])
            Z = standardized(WINE.iloc[train], WINE.iloc[test])
            scores.append(np.mean(fold.predict(Z) == Y.iloc[test]))
        assert grid.cv_results_["mean_test_score"][i] == pytest.approx(np.mean(scores))
    assert (
        grid.best_estimator_[-1].get_support().sum()
        == (grid.best_params_["sparselda__n_features_to_select"])
    )
    assert grid.score(WINE, Y) > 0.9


def test_a_halving_search_ends_with_one_of_the_grid() -> None:
    model = Pipeline([("scaler", StandardScaler()), ("sparselda", lda())])
    search = HalvingGridSearchCV(model, GRID, cv=3, random_state=0, n_jobs=1).fit(WINE, Y)
    assert search.best_params_["sparselda__n_features_to_select"] in (1, 3, 6)
    assert (
        search.best_estimator_[-1].get_support().sum()
        == (search.best_params_["sparselda__n_features_to_select"])
    )


def test_options_of_a_classifier_inside_a_prepared_one_can_be_searched() -> None:
    grid = {"estimator__n_features_to_select": [1, 4], "missing": ["error", "median"]}
    search = GridSearchCV(es.PreparedClassifier(lda()), grid, cv=3).fit(WINE, Y)
    assert search.best_params_["estimator__n_features_to_select"] == 4
    scores = cross_val_score(es.PreparedClassifier(lda(4)), WINE, Y, cv=3)
    assert search.best_score_ == pytest.approx(scores.mean())


def test_a_learning_curve_fits_the_first_rows() -> None:
    order = np.random.default_rng(0).permutation(len(WINE))
    X, y = WINE.iloc[order], Y.iloc[order]
    model = make_pipeline(StandardScaler(), lda(2))
    sizes, _, scores = learning_curve(model, X, y, cv=3, train_sizes=[0.5, 1.0])
    for fold, (train, test) in enumerate(StratifiedKFold(3).split(X, y)):
        own = clone(model).fit(X.iloc[train[: sizes[0]]], y.iloc[train[: sizes[0]]])
        assert scores[0, fold] == pytest.approx(own.score(X.iloc[test], y.iloc[test]))
