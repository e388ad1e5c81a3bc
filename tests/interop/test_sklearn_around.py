"""What scikit-learn does around a fitted estimator: calibration, ensembles, routing, inspection."""

from __future__ import annotations

import io
import pickle
from collections.abc import Iterator
from typing import Any

import joblib
import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier, VotingClassifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import (
    DecisionBoundaryDisplay,
    PartialDependenceDisplay,
    partial_dependence,
    permutation_importance,
)
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
)
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import estimator_html_repr

import eigensieve as es

from .wine import CLASSIFIERS, WINE, Y, lda

OTHERS = {
    "SparsePCA": es.SparsePCA(2, n_features_to_select=3, certificate="none"),
    "SparseCCA": es.SparseCCA(1, n_features_to_select=(2, 1), certificate="none"),
    "QAlphaSelector": es.QAlphaSelector(3, n_clusters=2),
}
TRAIN, NEW = WINE[::2], WINE[1::2]
Z = StandardScaler().fit_transform(WINE)


@pytest.fixture
def routing() -> Iterator[None]:
    with sklearn.config_context(enable_metadata_routing=True):
        yield


# -- calibration and frozen estimators -----------------------------------------------------


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_calibration_of_a_frozen_pipeline_leaves_it_alone(name: str) -> None:
    model = make_pipeline(StandardScaler(), clone(CLASSIFIERS[name])).fit(TRAIN, Y[::2])
    before = model.predict_proba(NEW)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model), cv=3).fit(NEW, Y[1::2])
    np.testing.assert_array_equal(model.predict_proba(NEW), before)
    chances = calibrated.predict_proba(NEW)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    # a sigmoid per class of its score, normalised
    (inner,) = calibrated.calibrated_classifiers_
    scores = model.decision_function(NEW)
    raw = [1 / (1 + np.exp(c.a_ * s + c.b_)) for c, s in zip(inner.calibrators, scores.T)]
    np.testing.assert_allclose(chances, (np.array(raw) / np.sum(raw, axis=0)).T, atol=1e-9)


@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_by_folds(ensemble: bool) -> None:
    model = make_pipeline(StandardScaler(), lda())
    calibrated = CalibratedClassifierCV(model, cv=3, ensemble=ensemble).fit(WINE, Y)
    assert len(calibrated.calibrated_classifiers_) == (3 if ensemble else 1)
    assert calibrated.score(WINE, Y) > 0.9
    if not ensemble:
        (inner,) = calibrated.calibrated_classifiers_
        np.testing.assert_allclose(
            inner.estimator.decision_function(WINE), model.fit(WINE, Y).decision_function(WINE)
        )


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_a_frozen_estimator_is_not_fitted_again(name: str) -> None:
    model = clone(CLASSIFIERS[name]).fit(Z[::2], Y[::2])
    frozen = FrozenEstimator(model)
    assert clone(frozen).fit(Z[:4], ["u", "u", "v", "v"]).estimator is model
    assert frozen.predict(Z).tolist() == model.predict(Z).tolist()
    np.testing.assert_array_equal(frozen.transform(Z), model.transform(Z))


# -- ensembles -----------------------------------------------------------------------------


def test_soft_votes_are_means_of_probabilities() -> None:
    members = [(name, clone(model)) for name, model in CLASSIFIERS.items()]
    vote = VotingClassifier(members, voting="soft").fit(Z, Y)
    chances = [clone(model).fit(Z, Y).predict_proba(Z) for model in CLASSIFIERS.values()]
    np.testing.assert_allclose(vote.predict_proba(Z), np.mean(chances, axis=0), atol=1e-10)


def test_a_stack_learns_from_held_out_probabilities() -> None:
    folds = StratifiedKFold(3)
    members = [("lda", lda(3)), ("gloss", es.GroupLassoLDA(alpha=0.4))]
    stack = StackingClassifier(members, LogisticRegression(max_iter=1000), cv=folds).fit(Z, Y)
    inside = [cross_val_predict(m, Z, Y, cv=folds, method="predict_proba") for _, m in members]
    outer = LogisticRegression(max_iter=1000).fit(np.hstack(inside), Y)
    whole = [clone(model).fit(Z, Y).predict_proba(Z) for _, model in members]
    expected = outer.predict_proba(np.hstack(whole))
    np.testing.assert_allclose(stack.predict_proba(Z), expected, atol=1e-8)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_one_class_against_the_rest(name: str) -> None:
    many = OneVsRestClassifier(clone(CLASSIFIERS[name])).fit(Z, Y)
    scores = [
        clone(CLASSIFIERS[name]).fit(Z, (c == Y).astype(int)).decision_function(Z)
        for c in many.classes_
    ]
    assert many.predict(Z).tolist() == many.classes_[np.argmax(scores, axis=0)].tolist()


# -- metadata routing ----------------------------------------------------------------------


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.usefixtures("routing")
def test_sample_weights_are_refused_as_scikit_learn_refuses_them(name: str) -> None:
    weights = np.ones(len(Z))
    model = clone(CLASSIFIERS[name])
    assert "sample_weight" not in model.get_metadata_routing().fit.requests
    with pytest.raises(TypeError, match="unexpected keyword argument 'sample_weight'"):
        model.fit(Z, Y, sample_weight=weights)
    with pytest.raises(TypeError, match="sample_weight"):
        make_pipeline(model).fit(Z, Y, sample_weight=weights)
    with pytest.raises(UnsetMetadataPassedError, match=r"sample_weight.*score"):
        cross_validate(model, Z, Y, params={"sample_weight": weights}, cv=3, error_score="raise")


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.usefixtures("routing")
def test_weights_of_the_score_are_routed(name: str) -> None:
    weights = np.where(Y == "barolo", 5.0, 1.0)
    folds = StratifiedKFold(3)
    model = clone(CLASSIFIERS[name]).set_score_request(sample_weight=True)
    search = GridSearchCV(model, {}, cv=folds).fit(Z, Y, sample_weight=weights)
    right = cross_val_predict(clone(CLASSIFIERS[name]), Z, Y, cv=folds) == Y
    by_fold = [np.average(right[test], weights=weights[test]) for _, test in folds.split(Z, Y)]
    assert search.best_score_ == pytest.approx(np.mean(by_fold))


@pytest.mark.usefixtures("routing")
def test_groups_are_routed_to_the_inner_folds() -> None:
    groups = np.arange(len(Z)) % 9
    inner = es.GroupLassoLDACV(alphas=[0.5, 0.3], cv=GroupKFold(3))
    with pytest.raises(UnsetMetadataPassedError, match="groups"):
        make_pipeline(StandardScaler(), clone(inner)).fit(WINE, Y, groups=groups)
    asked = clone(inner).set_fit_request(groups=True)
    model = make_pipeline(StandardScaler(), asked).fit(WINE, Y, groups=groups)
    alone = clone(inner).fit(Z, Y, groups=groups)
    np.testing.assert_array_equal(model[-1].errors_, alone.errors_)
    outer = cross_validate(asked, Z, Y, params={"groups": groups}, cv=GroupKFold(3))
    assert len(outer["test_score"]) == 3


@pytest.mark.usefixtures("routing")
def test_classes_of_a_part_can_be_requested() -> None:
    model = lda().set_partial_fit_request(classes=True)
    assert model.get_metadata_routing().partial_fit.requests == {"classes": True}


# -- inspection ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_only_selected_features_matter_to_permutations(name: str) -> None:
    model = clone(CLASSIFIERS[name]).fit(Z, Y)
    found = permutation_importance(model, Z, Y, n_repeats=2, random_state=0)
    assert not found.importances[~model.get_support()].any()
    assert found.importances_mean.max() > 0


def test_partial_dependence_is_the_mean_over_the_rows() -> None:
    model = lda().fit(Z, Y)
    j = int(model.get_support(indices=True)[0])
    found = partial_dependence(model, Z, [j], grid_resolution=3, kind="average")
    for value, average in zip(found["grid_values"][0], found["average"].T):
        moved = Z.copy()
        moved[:, j] = value
        np.testing.assert_allclose(average, model.predict_proba(moved).mean(axis=0))


def test_displays_are_drawn() -> None:
    from matplotlib import pyplot as plt

    model = lda().fit(WINE, Y)
    name = model.selected_features_[0]
    shown = PartialDependenceDisplay.from_estimator(
        model, WINE, [name], target="barolo", grid_resolution=3
    )
    assert shown.lines_.size == 1
    plane = lda(2).fit(Z[:, [6, 12]], Y)
    surface = DecisionBoundaryDisplay.from_estimator(
        plane, Z[:, [6, 12]], grid_resolution=5, response_method="predict"
    )
    assert surface.response.shape == (5, 5)
    plt.close("all")


# -- copies and pictures -------------------------------------------------------------------

ALL = CLASSIFIERS | OTHERS


def fitted(name: str) -> Any:
    model = clone(ALL[name])
    return model.fit(Z, Z[:, :3]) if name == "SparseCCA" else model.fit(Z, Y)


@pytest.mark.parametrize("name", ALL)
def test_copies_through_pickle_and_joblib(name: str) -> None:
    model, file = fitted(name), io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for copy in (pickle.loads(pickle.dumps(model)), joblib.load(file)):
        np.testing.assert_array_equal(copy.transform(Z), model.transform(Z))
        if hasattr(model, "predict_proba"):
            np.testing.assert_array_equal(copy.predict_proba(Z), model.predict_proba(Z))


@pytest.mark.parametrize("name", ALL)
def test_clones_have_the_parameters_and_nothing_else(name: str) -> None:
    model = fitted(name)
    copy = clone(model)
    assert repr(copy) == repr(clone(ALL[name]))
    assert not [attribute for attribute in vars(copy) if attribute.endswith("_")]
    again = type(model)(**model.get_params(deep=False))
    assert repr(again.set_params(**model.get_params())) == repr(model)
    with pytest.raises(ValueError, match="Invalid parameter 'n_feature'"):
        copy.set_params(n_feature=3)


@pytest.mark.parametrize("name", ALL)
def test_notebooks_show_the_estimator(name: str) -> None:
    for model in (clone(ALL[name]), fitted(name)):
        page = estimator_html_repr(make_pipeline(StandardScaler(), model))
        assert type(model).__name__ in page
        assert "StandardScaler" in page
