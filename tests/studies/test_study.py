"""What a study gives back, held against models and counts made by hand."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import balanced_accuracy_score, confusion_matrix
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.errors import InputError
from tests.studies.seeds import seed_of
from tests.studies.whole import as_bytes, make_table

X, y = make_table(60, 12, gaps=False)
FRAME = pd.DataFrame(X, columns=[f"gene {j}" for j in range(12)])
KS = (1, 2, 4)


@pytest.fixture(scope="module")
def study() -> es.Study:
    return es.study(FRAME, y, ks=KS, cv=4, n_repeats=2, n_permutations=3, target="kind")


def folds(repeat: int = 0) -> list[tuple[np.ndarray, np.ndarray]]:
    return list(StratifiedKFold(4, shuffle=True, random_state=seed_of(0, repeat)).split(X, y))


@pytest.fixture(scope="module")
def models() -> dict[tuple[int, int, int], Any]:
    """By repeat, fold and k: standardised and fitted by hand."""
    return {
        (r, i, k): make_pipeline(StandardScaler(), es.SparseLDA(k, random_state=0)).fit(
            X[train], y[train]
        )
        for r in range(2)
        for i, (train, _) in enumerate(folds(r))
        for k in KS
    }


# ---------------------------------------------------------------- the answer


def test_table(study, models) -> None:
    assert list(study.table) == ["k", "error", "se", "balanced_error", "auc", "n_features"]
    assert study.table["k"].tolist() == list(KS)
    for row, k in zip(study.rows, KS):
        pairs = [(y[test], models[r, i, k].predict(X[test]))
                 for r in range(2) for i, (_, test) in enumerate(folds(r))]  # fmt: skip
        errors = np.array([np.mean(truth != found) for truth, found in pairs])
        balanced = [1 - balanced_accuracy_score(truth, found) for truth, found in pairs]
        assert row["error"] == pytest.approx(errors.mean())
        assert row["se"] == pytest.approx(errors.std(ddof=1) / np.sqrt(4))
        assert row["balanced_error"] == pytest.approx(np.mean(balanced))
        assert row["n_features"] == k


def test_best_k_is_by_the_rule(study) -> None:
    error, se = study.table["error"].to_numpy(), study.table["se"].to_numpy()
    best = np.argmin(error)
    assert study.best_k == KS[int(np.flatnonzero(error <= error[best] + se[best])[0])]
    assert study.k_rule == (
        "smallest k whose cross-validated error is within one standard error of the smallest"
    )


def test_stability(study, models) -> None:
    assert study.stability.shape == (12, 3)
    assert study.stability.index.tolist() == list(FRAME)
    for k in KS:
        supports = [m[-1].get_support() for (_, _, size), m in models.items() if size == k]
        np.testing.assert_allclose(study.stability[k], np.mean(supports, axis=0))
    assert list(study.stability_index) == ["k", "index", "low", "high"]
    assert study.stability_index["k"].tolist() == list(KS)


def test_honest_error(study) -> None:
    found = study.honest_error
    assert found is not None
    assert len(found.chosen) == 4
    predicted = np.empty(60, dtype=y.dtype)
    for (train, test), (_, size) in zip(folds(), found.chosen):
        model = make_pipeline(StandardScaler(), es.SparseLDA(KS[size], random_state=0))
        predicted[test] = model.fit(X[train], y[train]).predict(X[test])
    np.testing.assert_array_equal(found.wrong, predicted != y)
    assert found.error == np.mean(predicted != y) == float(found)
    assert found.balanced_error == pytest.approx(1 - balanced_accuracy_score(y, predicted))
    assert study.balanced_error == found.balanced_error
    np.testing.assert_allclose(found.confusion, confusion_matrix(y, predicted))
    assert found.low < found.error < found.high


def test_a_given_k_has_the_error_of_plain_cross_validation(models) -> None:
    given = es.study(X, y, ks=(1, 4), cv=4, n_repeats=2, k=2)
    assert given.ks == (1, 2, 4)
    assert given.best_k == 2
    assert given.k_rule == "given by the user"
    wrong = np.zeros(60)
    for r in range(2):
        for i, (_, test) in enumerate(folds(r)):
            wrong[test] += models[r, i, 2].predict(X[test]) != y[test]
    assert given.honest_error is not None
    np.testing.assert_allclose(given.honest_error.wrong, wrong / 2)
    assert given.honest_error.error == pytest.approx(wrong.mean() / 2)
    assert given.honest_error.how == "2 times 4-fold cross-validation, k fixed"
    assert given.honest_error.chosen == []


# ---------------------------------------------------------------- models on all rows


def test_final_estimator_takes_raw_rows(study) -> None:
    pipeline = make_pipeline(StandardScaler(), es.SparseLDA(study.best_k, random_state=0))
    pipeline.fit(X, y)
    model = study.final_estimator
    assert isinstance(model, es.PreparedClassifier)
    new = FRAME + np.random.default_rng(5).normal(size=FRAME.shape)
    np.testing.assert_array_equal(model.predict(new), pipeline.predict(new.to_numpy()))
    np.testing.assert_allclose(
        model.decision_function(new), pipeline.decision_function(new.to_numpy()), rtol=1e-6
    )
    pipeline[-1].temperature_ = study.calibration.temperature
    np.testing.assert_allclose(model.predict_proba(new), pipeline.predict_proba(new.to_numpy()))
    np.testing.assert_allclose(study.scores, pipeline.transform(X), atol=1e-12)
    np.testing.assert_array_equal(model.get_support(), pipeline[-1].get_support())
    assert list(model.feature_names_in_) == list(FRAME)
    assert model.get_params()["estimator__n_features_to_select"] == study.best_k


def test_path(study) -> None:
    Z = StandardScaler().fit_transform(X)
    assert tuple(study.path) == KS
    for k, model in study.path.items():
        alone = es.SparseLDA(k, random_state=0).fit(Z, y)
        assert model.get_support(indices=True).tolist() == alone.get_support(indices=True).tolist()
        np.testing.assert_array_equal(model.predict(FRAME), alone.predict(Z))
        names = {FRAME.columns[j] for j in np.flatnonzero(alone.get_support())}
        assert {feature.name for feature in study.features_at(k)} == names
    with pytest.raises(InputError, match="k is 3; the study has 1, 2, 4"):
        study.features_at(3)


def test_selected_features(study) -> None:
    model = study.final_estimator.estimator_
    assert [f.rank for f in study.selected] == list(range(1, study.best_k + 1))
    weights = [f.weight for f in study.selected]
    assert weights == sorted(weights, reverse=True)
    for feature, row in zip(study.selected, study.correlations):
        assert study.names[feature.index] == feature.name
        np.testing.assert_array_equal(feature.loadings, model.scalings_[feature.index])
        expected = [np.corrcoef(X[:, feature.index], s)[0, 1] for s in study.scores.T]
        np.testing.assert_allclose(row, expected, atol=1e-10)


def test_bounds(study) -> None:
    assert [solution.k for solution in study.optimality] == list(KS)
    for solution, model in zip(study.optimality, study.path.values()):
        assert solution.support.tolist() == model.get_support(indices=True).tolist()
        assert solution.objective <= solution.bound * (1 + 1e-9) < np.inf
    assert study.solution is study.optimality[KS.index(study.best_k)]
    assert {price.index for price in study.prices} == {f.index for f in study.selected}


@pytest.mark.parametrize("rows", [X, X.astype(np.float32), pd.DataFrame(X), X.tolist()])
def test_rows_without_names_are_predicted_without_a_warning(rows) -> None:
    found = es.study(rows, y, es.RankedLDA("anova"), ks=(2,), cv=2, n_repeats=1)
    assert not hasattr(found.final_estimator, "feature_names_in_")
    assert found.final_estimator.predict(rows).shape == (60,)
    assert {f.name for f in found.selected} <= set(found.names)


# ---------------------------------------------------------------- source, words, copies


def test_source(study) -> None:
    assert study.source.target == "kind"
    assert study.source.seed == 0
    assert study.source.groups is None
    assert study.names == list(FRAME)
    assert study.labels.tolist() == y.tolist()
    assert study.n_samples == 60
    assert study.splitting == "4-fold"
    assert not study.interrupted
    assert es.study(X, y, es.RankedLDA(), ks=(2,), cv=2).source.target == "target"


def test_repr(study) -> None:
    found = study.honest_error
    assert found is not None
    assert repr(study) == (
        f"Study(SparseLDA, best_k={study.best_k}, "
        f"error={found.error:.3g} ({found.low:.3g}..{found.high:.3g}), n=60)"
    )


def test_permutations(study) -> None:
    assert study.null is not None
    assert study.null.n_permutations == 3
    assert study.null.p_value == 0.25  # signal: none of three is as good


def test_pickles(study) -> None:
    again = pickle.loads(pickle.dumps(study))
    assert as_bytes(again) == as_bytes(study)
    model = pickle.loads(pickle.dumps(study.final_estimator))
    np.testing.assert_array_equal(model.predict(FRAME), study.final_estimator.predict(FRAME))


def test_the_callers_estimator_and_table_stay_as_they_are() -> None:
    mine, rows = es.SparseLDA(include=[2], solver_options={}), X.copy()
    found = es.study(rows, y, mine, ks=(2,), cv=2, n_repeats=1, search_progress=lambda event: None)
    assert not hasattr(mine, "classes_")
    assert mine.get_params() == es.SparseLDA(include=[2], solver_options={}).get_params()
    np.testing.assert_array_equal(rows, X)
    assert found.final_estimator.estimator_.solver_options == {}  # no callback stays behind


def test_balanced_score_chooses_by_it() -> None:
    rare = np.where(np.arange(60) % 5 == 0, "rare", "usual")
    found = es.study(X, rare, es.RankedLDA("anova"), ks=KS, cv=3, score="balanced_error")
    assert found.cv is not None
    np.testing.assert_allclose(found.table["balanced_error"], found.cv.along_best(found.cv.mean))
    assert found.score == "balanced_error"


def test_report(study, tmp_path) -> None:
    pytest.importorskip("jinja2")
    study.report(tmp_path / "report.html", title="A title")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "A title" in page
    assert all(feature.name in page for feature in study.selected)
