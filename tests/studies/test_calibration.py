"""Temperatures: least log-loss, never below 1, and kept wherever the final model goes."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit, log_softmax, softmax
from sklearn.base import clone

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.plots import ReliabilityDisplay
from eigensieve.studies.calibration import ProbabilityQuality, fit_temperature
from eigensieve.studies.result import Study


def overconfident(n: int, factor: float, n_classes: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Log-probabilities whose scores are ``factor`` times those the labels were drawn by."""
    rng = np.random.default_rng(0)
    scores = 2 * rng.normal(size=(n, n_classes))
    code = np.array([rng.choice(n_classes, p=softmax(row)) for row in scores])
    return log_softmax(factor * scores, axis=1), code


@pytest.mark.parametrize("n_classes", [2, 5])
def test_the_factor_is_found_again(n_classes: int) -> None:
    log_proba, code = overconfident(20_000, 4.0, n_classes)
    assert fit_temperature(log_proba, code) == pytest.approx(4.0, rel=0.05)


def test_never_surer_than_the_scores() -> None:
    assert fit_temperature(*overconfident(20_000, 0.3)) == 1.0
    right = np.log([[0.9, 0.1], [0.2, 0.8]] * 20)
    assert fit_temperature(right, np.array([0, 1] * 20)) == 1.0


@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("score", [20.0, 500.0])
def test_no_mistake_among_few_is_half_a_mistake(n_classes: int, score: float) -> None:
    """Where all samples have the same scores, it is known what probability is best."""
    code = np.arange(40) % n_classes
    scores = np.full((40, n_classes), -1e6)
    scores[np.arange(40), code], scores[np.arange(40), (code + 1) % n_classes] = score, 0.0
    T = fit_temperature(log_softmax(scores, axis=1), code)
    sure = expit(score / T)
    # least of 40 log(1 / sure) + log(1 / (1 - sure)) / 2 + log(T)^2 / 2, by its derivative
    slope = -(40 * (1 - sure) - sure / 2) * score / T**2
    assert slope == pytest.approx(np.log(T) / T, rel=1e-3)
    assert 0.95 < sure < 0.9999  # the scores alone: 1 - 2e-9, or 1


def test_finite_where_the_scores_say_nothing() -> None:
    wrong = np.log([[0.9, 0.1], [0.2, 0.8]] * 20)
    assert 2 < fit_temperature(wrong, np.array([1, 0] * 20)) < 1e4
    # far beyond what exp can hold: features that do not vary within the classes
    huge = log_softmax(np.array([[1e6, 0.0], [0.0, 1e6]] * 20), axis=1)
    code = np.array([0, 1] * 19 + [1, 0])
    assert 1e4 < fit_temperature(huge, code) < 1e8


@pytest.fixture(scope="module")
def study() -> Study:
    labels = np.array(["no", "yes"])[np.arange(60) % 2]
    X = np.random.default_rng(0).normal(size=(60, 300))
    X[labels == "yes", :5] += 1
    return es.study(X, labels, ks=(2, 10), n_repeats=2)


def new_rows() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(40, 300)) * 2


def test_the_final_model_has_it_and_the_rest_of_the_path_has_not(study: Study) -> None:
    assert study.calibration is not None
    T = study.calibration.temperature
    assert T > 1.2
    for k, model in study.path.items():
        own = T if k == study.best_k else 1.0
        assert model.estimator_.temperature_ == own
        expected = expit(model.decision_function(new_rows()) / own)
        np.testing.assert_allclose(model.predict_proba(new_rows())[:, 1], expected)
        np.testing.assert_array_equal(
            model.predict(new_rows()), np.where(expected > 0.5, "yes", "no")
        )


def test_model_file_and_onnx_keep_it(study: Study, tmp_path: Path) -> None:
    rows, final = new_rows(), study.final_estimator
    expected = final.predict_proba(rows)
    study.save_model(tmp_path / "model.json")
    model = es.load_model(tmp_path / "model.json")
    assert model.temperature == final.estimator_.temperature_
    few = rows[:, final.get_support(indices=True)]
    np.testing.assert_allclose(model.predict_proba(few), expected, rtol=1e-9)
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    for source, table in ((study, rows), (final, rows), (model, few)):
        graph = es.to_onnx(source)
        session = runtime.InferenceSession(graph.SerializeToString())
        label, proba = session.run(["label", "probabilities"], {"X": table})
        np.testing.assert_allclose(proba, expected, atol=1e-9)
        assert label.tolist() == final.predict(rows).tolist()
        facts = {p.key: json.loads(p.value) for p in graph.metadata_props}
        assert facts["temperature"] == model.temperature
    plain = es.to_onnx(clone(final).fit(rows, np.arange(40) % 2))
    assert "temperature" not in {p.key for p in plain.metadata_props}


@pytest.mark.parametrize(
    "model",
    [es.SparseLDA(2), es.RankedLDA("anova", 2), es.GroupLassoLDA(2), es.PenalizedLDA(0.1),
     es.SparseOptimalScoring(2), es.UncorrelatedLDA(), es.SparseUncorrelatedLDA(rule="lda")],
    ids=lambda model: type(model).__name__,
)  # fmt: skip
def test_every_classifier_divides_its_scores(model: es.SparseLDA) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 6)) + np.eye(3, 6)[y]
    model = clone(model).fit(X, y)
    assert model.temperature_ == 1.0
    scores, labels = model.decision_function(X), model.predict(X)
    model.temperature_ = 2.5
    np.testing.assert_allclose(model.predict_proba(X), softmax(scores / 2.5, axis=1), rtol=1e-8)
    np.testing.assert_allclose(model.decision_function(X), scores)
    np.testing.assert_array_equal(model.predict(X), labels)
    assert model.fit(X, y).temperature_ == 1.0


def test_the_nearest_sample_keeps_its_certainty() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(45) % 3
    X = rng.normal(size=(45, 5)) + np.eye(3, 5)[y]
    study = es.study(X, y, es.UncorrelatedLDA(rule="1-nn"), n_repeats=1)
    assert study.calibration is None
    assert set(np.unique(study.final_estimator.predict_proba(X))) == {0.0, 1.0}
    with pytest.raises(InputError, match="no calibration to draw"):
        ReliabilityDisplay.from_study(study)


def test_a_resumed_study_has_the_same_temperature(study: Study, tmp_path: Path) -> None:
    X, y = new_rows(), np.arange(40) % 2
    path = tmp_path / "kept.jsonl"
    first = es.study(X, y, ks=(1, 2), n_repeats=1, checkpoint=path)
    again = es.study(X, y, ks=(1, 2), n_repeats=1, checkpoint=path)
    assert first.calibration is not None
    assert again.calibration is not None
    assert again.calibration.temperature == first.calibration.temperature
    np.testing.assert_array_equal(
        again.calibration.after.log_proba, first.calibration.after.log_proba
    )


def test_a_class_that_a_training_part_lacks_is_left_out() -> None:
    """Leave-one-out with a class of one sample: nobody can predict it."""
    rng = np.random.default_rng(0)
    y = np.array([0, 1] * 12 + [2])
    X = rng.normal(size=(25, 4)) + y[:, None]
    study = es.study(X, y, k=2, ks=(2,), cv="loo")
    assert study.calibration is not None
    assert study.calibration.n_samples == 24
    assert np.isfinite(study.calibration.after.log_loss)


def test_bins_hold_every_sample_once_and_in_order() -> None:
    log_proba, code = overconfident(100, 2.0)
    quality = ProbabilityQuality(log_proba, code)
    bins = quality.bins()
    assert [one.n_samples for one in bins] == [17, 17, 17, 17, 16, 16]
    assert all(one.high <= other.low for one, other in pairwise(bins))
    wrong = sum(one.wrong.error * one.n_samples for one in bins)
    assert wrong == pytest.approx(np.sum(log_proba.argmax(axis=1) != code))
    assert len(ProbabilityQuality(log_proba[:9], code[:9]).bins()) == 1


def test_the_figure_shows_the_bins(study: Study) -> None:
    assert study.calibration is not None
    display = ReliabilityDisplay.from_study(study).plot()
    line = display.errorbar_.lines[0]
    bins = study.calibration.after.bins()
    np.testing.assert_allclose(
        np.asarray(line.get_xdata(), float), [one.confidence for one in bins]
    )
    np.testing.assert_allclose(np.asarray(line.get_ydata(), float), [one.right[0] for one in bins])
    alone = ReliabilityDisplay(bins).plot()
    assert len(alone.ax_.get_legend().get_texts()) == 2
