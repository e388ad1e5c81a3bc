"""A study as a model file: what ``fit`` writes, and what the final model says, to the last row."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.cli.main import cli
from eigensieve.errors import InputError
from eigensieve.studies.methods import find_method
from tests.studies.whole import make_table

X, y = make_table(60, 12)  # three classes, with gaps
NAMES = [f"gene {j}" for j in range(12)]
FRAME = pd.DataFrame(X, columns=NAMES)
CODES = np.unique(y, return_inverse=True)[1]
NEW = make_table(60, 12, seed=8)[0]
LABELS: dict[str, np.ndarray] = {
    "text": y,
    "two classes": np.where(y == "a", "yes", "no"),
    "whole numbers": CODES - 1,
    "numbers": CODES * 1.0,
    "truth values": CODES == 0,
}


def run(*args: object) -> str:
    result = CliRunner().invoke(cli, [str(arg) for arg in args])
    assert result.exit_code == 0, result.output
    return result.stdout


def by_hand(k: int, labels: np.ndarray, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Labels and probabilities of the new rows, by scikit-learn's steps and a plain softmax."""
    steps = SimpleImputer(strategy="median"), StandardScaler(), es.SparseLDA(k, random_state=0)
    pipeline = make_pipeline(*steps).fit(X, labels)
    scores = pipeline.decision_function(NEW)
    if scores.ndim == 1:
        scores = np.column_stack([np.zeros_like(scores), scores])
    weights = np.exp(scores / temperature)
    return pipeline.predict(NEW), weights / weights.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module", params=LABELS)
def case(request: pytest.FixtureRequest) -> tuple[np.ndarray, es.Study]:
    labels = LABELS[request.param]
    return labels, es.study(FRAME, labels, ks=(2, 4), cv=3, n_repeats=1, missing="median")


def test_study_and_file_say_what_a_pipeline_says(case: Any, tmp_path: Path) -> None:
    labels, study = case
    study.save_model(tmp_path / "m.json")
    model = es.load_model(tmp_path / "m.json")
    assert study.calibration is not None
    T = study.calibration.temperature
    assert T > 1
    predicted, proba = by_hand(study.best_k, labels, T)
    frame = pd.DataFrame(NEW, columns=NAMES)
    shuffled = frame[NAMES[::-1]].assign(sample="s")  # other columns do no harm
    few = frame[list(model.features)]
    for one, table in ((study, frame), (model, shuffled), (model, few), (model, few.to_numpy())):
        found = one.predict(table)
        assert found.tolist() == predicted.tolist()
        assert type(found.tolist()[0]) is type(labels.tolist()[0])
        np.testing.assert_allclose(one.predict_proba(table), proba, rtol=1e-9)


def test_the_command_line_predicts_with_it(case: Any, tmp_path: Path) -> None:
    labels, study = case
    es.save_model(study, tmp_path / "m.json")  # the same as study.save_model
    table = tmp_path / "new.csv"
    kind = pd.Series(labels).astype(str).str.replace(".0", "", regex=False)
    pd.DataFrame(NEW, columns=NAMES).assign(kind=kind).to_csv(table, index=False)
    rows = list(csv.DictReader(run("predict", tmp_path / "m.json", table).splitlines()))
    predicted, proba = by_hand(study.best_k, labels, study.final_estimator.estimator_.temperature_)
    texts = pd.Series(predicted).astype(str).str.replace(".0", "", regex=False).tolist()
    assert [row["predicted"] for row in rows] == texts
    names = [name for name in rows[0] if name.startswith("prob_")]
    found = np.array([[float(row[name]) for name in names] for row in rows])
    np.testing.assert_allclose(found, proba, rtol=1e-5, atol=1e-9)
    said = run("evaluate", tmp_path / "m.json", table, "--target", "kind")
    assert f"{100 * np.mean(predicted != labels):.1f} %" in said


def test_it_is_the_file_of_fit(tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    FRAME.assign(kind=y).to_csv(table, index=False)
    options = "--ks", "1,3", "--repeats", 1, "--missing", "median", "--seed", 4
    run("fit", table, "--target", "kind", *options, "--out", tmp_path / "out")
    method = find_method("sparse-lda")
    study = es.study(
        FRAME, y, {method.name: method.make(4)}, ks=(1, 3), n_repeats=1, missing="median",
        random_state=4, target="kind",
    )  # fmt: skip
    study.save_model(tmp_path / "m.json")
    written = (tmp_path / "out" / "model.json").read_bytes()
    assert (tmp_path / "m.json").read_bytes() == written


def test_a_file_that_is_there_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("old")
    study = es.study(X, y, k=np.int64(2), missing="median", n_repeats=1, random_state=np.int64(0))
    study.save_model(str(path))
    model = es.load_model(str(path))
    assert [model.features.index(f"x{j}") for j in study.final_estimator.selected_features_] == [
        0,
        1,
    ]
    assert [entry.name for entry in tmp_path.iterdir()] == ["m.json"]


def test_a_rule_that_is_not_linear_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text("old")
    nearest = es.UncorrelatedLDA(rule="1-nn")
    study = es.study(X, y, nearest, n_repeats=1, cv=3, missing="median")
    for save in (study.save_model, lambda path: es.save_model(study, path)):
        with pytest.raises(InputError, match="UncorrelatedLDA has no coef_: a model file holds"):
            save(path)
    assert path.read_text() == "old"
