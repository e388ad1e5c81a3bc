"""Every estimator on tables and options of every kind: fitted and consistent, or refused."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

import eigensieve as es
from tests.fuzz.harness import Refused, attempt, cases
from tests.fuzz.strategies import (
    MILD,
    SAME,
    SHRINKAGES,
    SPARSE,
    WILD,
    Labelled,
    arrays,
    containers,
    labelled,
    labels,
    tiny_arrays,
)

DATA = st.data()
SIZES = st.one_of(
    st.integers(1, 12), st.integers(1, 12), st.sampled_from(["auto", 2.5, None, 0, -1, "2", True])
)
PRIORS = st.sampled_from([None] * 9 + [[0.5, 0.5], [1.0], [-1, 2], "uniform", [np.nan, 1]])
RULES = st.sampled_from(["lda", "centroid", "lda", "centroid", "1-nn", "penalized", "other"])
LIMITS = st.sampled_from([None, None, None, 0, 60.0, -1, "x"])
RIDGES = st.sampled_from([0.0, 0.0, 1e-3, 1.0, -1.0, np.nan])
STATES = st.sampled_from([None, 0, 3])
COMPONENTS = st.sampled_from([None, None, 1, 2, 5, 0, "all"])

# By class, what its options may be; each is left out more often than not.
CHOICES: dict[Any, dict[str, st.SearchStrategy]] = {
    es.SparseLDA: {
        "n_features_to_select": SIZES,
        "solver": st.sampled_from([*es.available_solvers(), "other"]),
        "criterion": st.sampled_from(["auto", "lambda_max", "trace", "logdet", "other"]),
        "shrinkage": SHRINKAGES,
        "ridge": RIDGES,
        "priors": PRIORS,
        "n_components": COMPONENTS,
        "include": st.sampled_from([(), [0], [1, 0], ["a"], [99], "a", None]),
        "exclude": st.sampled_from([(), [0], [1], ["a"], [99], 3]),
        "certificate": st.sampled_from(["root", "none", "exact"]),
        "time_limit": LIMITS,
        "solver_options": st.sampled_from([None, {}, {"max_nodes": 1}, {"x": 1}, {"swap": False}]),
        "random_state": STATES,
        "class_weight": st.sampled_from([None, "balanced", {0: 2.0}, {"a": 1.0}, "other"]),
    },
    es.RankedLDA: {
        "ranker": st.sampled_from(["anova", "pearson", "snr", "svm-rfe", "l1", "other"]),
        "n_features_to_select": SIZES,
        "priors": PRIORS,
        "class_weight": st.sampled_from([None, "balanced", {0: 2.0}]),
        "random_state": STATES,
    },
    es.UncorrelatedLDA: {
        "n_components": COMPONENTS,
        "rule": RULES,
        "priors": PRIORS,
        "rank_tol": st.sampled_from([1e-6, 1e-12, 0.0, 0.5, -1.0, np.nan]),
    },
    es.SparseUncorrelatedLDA: {
        "rotation": st.sampled_from(["fixed", "best", "other"]),
        "penalty": st.sampled_from(["l1", "l21", "l2"]),
        "solver": st.sampled_from(["simplex", "bregman", "other"]),
        "rule": RULES,
        "priors": PRIORS,
        "rank_tol": st.sampled_from([1e-6, 1e-12, 0.0, 0.5]),
        "time_limit": LIMITS,
    },
    es.GroupLassoLDA: {
        "n_features_to_select": SIZES,
        "alpha": st.sampled_from([None, 0.5, 0.01, 0.0, 1.0, -1, np.nan]),
        "within": st.sampled_from(["full", "diagonal", "other"]),
        "weights": st.sampled_from([None, "std", "other", [1.0]]),
        "ridge": RIDGES,
        "n_components": COMPONENTS,
        "rule": RULES,
        "priors": PRIORS,
        "solver": st.sampled_from(["auto", "working-set", "dual", "variational", "other"]),
        "tol": st.sampled_from([1e-10, 1e-4, 0.0]),
        "time_limit": LIMITS,
    },
    es.PenalizedLDA: {
        "alpha": st.sampled_from(["auto", 0.0, 0.1, 1.0, 10.0, -1.0, np.nan, "x"]),
        "fusion": st.sampled_from([0.0, 0.1, -1.0]),
        "n_components": COMPONENTS,
        "rule": RULES,
        "priors": PRIORS,
        "ridge": RIDGES,
        "max_iter": st.sampled_from([10_000, 1, 0]),
    },
    es.SparseOptimalScoring: {
        "n_features_to_select": SIZES,
        "alpha": st.sampled_from([None, 0.5, 0.0, -1.0]),
        "ridge": RIDGES,
        "n_components": COMPONENTS,
        "rule": RULES,
        "priors": PRIORS,
        "max_iter": st.sampled_from([500, 1, 0]),
        "time_limit": LIMITS,
    },
    es.PreparedClassifier: {"missing": st.sampled_from(["error", "median", "other"])},
    es.GroupLassoLDACV: {
        "alphas": st.sampled_from([None, [0.5, 0.1], [], [2.0], "x"]),
        "cv": st.sampled_from([2, 3, 1, "x"]),
        "within": st.sampled_from(["full", "diagonal"]),
        "selection": st.sampled_from(["best", "1se", "other"]),
        "rule": RULES,
    },
}
UNSUPERVISED: dict[Any, dict[str, st.SearchStrategy]] = {
    es.SparsePCA: {
        "n_components": st.sampled_from([1, 2, 5, 0, None, "x"]),
        "n_features_to_select": st.one_of(SIZES, st.sampled_from([[1, 2], [], [2, 1, 1]])),
        "solver": st.sampled_from([*es.available_solvers(), "other"]),
        "deflation": st.sampled_from(["projection", "schur", "orthogonal", "other", "none"]),
        "certificate": st.sampled_from(["root", "none", "exact"]),
        "time_limit": LIMITS,
        "random_state": STATES,
    },
    es.QAlphaSelector: {
        "n_features_to_select": SIZES,
        "n_clusters": st.sampled_from([1, 2, 3, 50, 0, "x"]),
        "variant": st.sampled_from(
            ["standard", "basic", "ritz", "laplacian", "gap", "supervised", "other"]
        ),
        "kernel": st.sampled_from([None, "rbf", "linear", "poly", "precomputed", "other"]),
        "n_init": st.sampled_from(["auto", 1, 3, 0]),
        "gamma": st.sampled_from([0.5, 0.0, -1.0]),
        "cut": st.sampled_from(["otsu", "gap", "energy", "other"]),
        "energy": st.sampled_from([0.9, 1.0, 0.0, 2.0]),
        "n_permutations": st.sampled_from([0, 2, -1]),
        "weight": st.booleans(),
        "center": st.sampled_from(["auto", True, False, "x"]),
        "scale": st.booleans(),
        "max_iter": st.sampled_from([100, 1, 0]),
        "random_state": STATES,
    },
}
# Classifiers whose fit is a smooth function of the table: small round-off stays small.
PLAIN = [
    es.SparseLDA(2),
    es.SparseLDA(2, solver="exact", shrinkage=0.3),
    es.RankedLDA("anova", 2),
    es.UncorrelatedLDA(),
    es.GroupLassoLDA(2),
    es.PenalizedLDA(0.1),
    es.SparseOptimalScoring(2),
]


@st.composite
def estimators(draw: Any, choices: dict[Any, dict[str, st.SearchStrategy]]) -> Any:
    kind = draw(st.sampled_from(sorted(choices, key=lambda c: c.__name__)))
    known = choices[kind]
    names = draw(st.lists(st.sampled_from(sorted(known)), max_size=3, unique=True))
    return kind(**{name: draw(known[name]) for name in names})


def check_fitted(model: Any, X: Any, n_features: int) -> None:
    """Finite, consistent attributes; rows of one's own; nothing that depends on the company."""
    support = model.get_support()
    assert support.shape == (n_features,)
    assert model.get_support(indices=True).tolist() == np.flatnonzero(support).tolist()
    scores = attempt(model.transform, X, at_door=True)
    assert not isinstance(scores, Refused), scores.error
    scores = scores.toarray() if hasattr(scores, "toarray") else np.asarray(scores)
    assert np.isfinite(scores.astype(float)).all()
    assert len(model.get_feature_names_out()) == scores.shape[1]
    assert repr(model)


def check_classifier(model: Any, X: Any) -> None:
    found = attempt(model.predict, X, at_door=True)
    assert not isinstance(found, Refused), found.error
    assert set(np.asarray(found).tolist()) <= set(model.classes_.tolist())
    if hasattr(model, "predict_proba"):
        P = attempt(model.predict_proba, X, at_door=True)
        assert np.isfinite(P).all()
        assert P.shape == (len(found), len(model.classes_))
        np.testing.assert_allclose(P.sum(axis=1), 1, atol=1e-8)
        assert (P >= 0).all()


@cases(72, 700)
@given(estimators(CHOICES), st.one_of(arrays(WILD), tiny_arrays()), DATA)
def test_any_classifier_on_any_table(model: Any, X: np.ndarray, data: st.DataObject) -> None:
    y = data.draw(labels(len(X)))
    table = data.draw(containers(X))
    before = clone(model).get_params()
    fitted = attempt(model.fit, table, y, at_door=True)
    assert str(model.get_params()) == str(before)
    if isinstance(fitted, Refused):
        return
    check_fitted(model, table, X.shape[1])
    check_classifier(model, table)


@cases(44, 500)
@given(estimators(CHOICES), labelled(MILD, columns=(1, 8)))
def test_any_options_on_a_good_table(model: Any, case: Labelled) -> None:
    if isinstance(attempt(model.fit, case.X, case.y, at_door=True), Refused):
        return
    check_fitted(model, case.X, case.X.shape[1])
    check_classifier(model, case.X)


@cases(44, 400)
@given(estimators(UNSUPERVISED), st.one_of(arrays(WILD, (2, 20), (1, 12)), tiny_arrays()), DATA)
def test_any_transformer_on_any_table(model: Any, X: np.ndarray, data: st.DataObject) -> None:
    table = data.draw(containers(X))
    y = data.draw(labels(len(X))) if data.draw(st.booleans()) else None
    if not isinstance(attempt(model.fit, table, y, at_door=True), Refused):
        check_fitted(model, table, X.shape[1])


@cases(16, 250)
@given(arrays(WILD, (2, 20), (1, 8)), arrays(WILD, (2, 20), (1, 8)), DATA)
def test_cca_on_any_views(X: np.ndarray, Y: np.ndarray, data: st.DataObject) -> None:
    n = min(len(X), len(Y))
    sizes = st.sampled_from([(10, 10), 2, (1, 2), [1], None, (0, 1), "2", {"x": 1}])
    model = es.SparseCCA(
        data.draw(st.sampled_from([1, 2, 5, 0])),
        n_features_to_select=data.draw(sizes),
        together=data.draw(st.booleans()),
        solver=data.draw(st.sampled_from(["greedy", "exact", "dc", "leaps", "other"])),
        shrinkage=data.draw(st.one_of(SHRINKAGES, st.just((0.1, 0.5)))),
    )
    views = [data.draw(containers(V[:n])) for V in (X, Y)]
    if isinstance(attempt(model.fit, *views, at_door=True), Refused):
        return
    scores = attempt(model.transform, views[0], at_door=True)
    assert not isinstance(scores, Refused), scores.error
    assert np.isfinite(np.asarray(scores)).all()
    assert model.get_support()[0].size == X.shape[1]


@cases(16, 150)
@given(st.sampled_from(PLAIN), labelled(), st.sampled_from(sorted({**SAME, **SPARSE})))
def test_the_container_does_not_matter(model: Any, case: Labelled, kind: str) -> None:
    table = {**SAME, **SPARSE}[kind](case.X)
    plain = attempt(clone(model).fit, case.X, case.y, at_door=True)
    other = attempt(clone(model).fit, table, case.y, at_door=True)
    assert isinstance(plain, Refused) == isinstance(other, Refused)
    if isinstance(plain, Refused):
        return
    assert plain.get_support().tolist() == other.get_support().tolist()
    unit = max(1.0, np.abs(plain.coef_).max())
    np.testing.assert_allclose(other.coef_, plain.coef_, atol=1e-5 * unit)


@cases(16, 150)
@given(st.sampled_from(PLAIN), labelled(), DATA)
def test_rows_are_judged_one_by_one(model: Any, case: Labelled, data: st.DataObject) -> None:
    """The scores of a row do not depend on the rows beside it; pickles say the same."""
    model = attempt(clone(model).fit, case.X, case.y)
    if isinstance(model, Refused):
        return
    rows = data.draw(st.lists(st.integers(0, len(case.X) - 1), min_size=1, max_size=5))
    whole, part = model.transform(case.X), model.transform(case.X[rows])
    unit = max(1.0, np.abs(whole).max())
    np.testing.assert_allclose(part, whole[rows], atol=1e-9 * unit)
    assert model.predict(case.X[rows]).tolist() == model.predict(case.X)[rows].tolist()
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(case.X), model.predict_proba(case.X))


PARTIAL = [es.SparseLDA(2), es.SparseLDA(2, shrinkage=0.3), es.GroupLassoLDA(2)]


@cases(16, 150)
@given(st.sampled_from(PARTIAL), labelled(rows=(10, 30)), st.lists(st.integers(1, 29), max_size=4))
def test_parts_make_the_whole(model: Any, case: Labelled, cuts: list[int]) -> None:
    X, y = case.X, case.y
    whole = attempt(clone(model).fit, X, y)
    parts = clone(model)
    for rows in np.split(np.arange(len(X)), sorted({c for c in cuts if c < len(X)})):
        attempt(parts.partial_fit, X[rows], y[rows], classes=np.unique(y))
    if isinstance(whole, Refused):
        return
    assert parts.get_support().tolist() == whole.get_support().tolist()
    unit = max(1.0, np.abs(whole.coef_).max())
    np.testing.assert_allclose(parts.coef_, whole.coef_, atol=1e-5 * unit)


@cases(16, 150)
@given(st.sampled_from(PLAIN), labelled(MILD), DATA)
def test_the_same_call_gives_the_same_answer(
    model: Any, case: Labelled, data: st.DataObject
) -> None:
    """Twice the same fit, and one with its labels renamed in the same order."""
    first, second = (attempt(clone(model).fit, case.X, case.y) for _ in "ab")
    assert isinstance(first, Refused) == isinstance(second, Refused)
    if isinstance(first, Refused):
        return
    np.testing.assert_array_equal(first.coef_, second.coef_)
    names = np.array(data.draw(st.sampled_from([list("abcd"), ["", " ", "1", "β"]])))
    renamed = attempt(clone(model).fit, case.X, names[case.y])
    np.testing.assert_array_equal(renamed.coef_, first.coef_)
    assert renamed.predict(case.X).tolist() == names[first.predict(case.X)].tolist()
