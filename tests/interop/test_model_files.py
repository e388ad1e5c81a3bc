"""A fitted estimator as a model file, and the tables that such a model takes."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigensieve as es
from eigensieve.errors import InputError

from .frames import FRAMES, NAMES, NEW, X, Y
from .test_frames_in import ESTIMATORS

LINEAR = {name: one for name, one in ESTIMATORS.items() if hasattr(one, "predict")}


def reloaded(estimator: Any, folder: Path) -> Any:
    es.save_model(estimator, folder / "model.json")
    return es.load_model(folder / "model.json")


def columns_of(model: Any) -> np.ndarray:
    """The rows of NEW that a model sees."""
    return NEW[:, [NAMES.index(name) for name in model.features]]


@pytest.mark.parametrize(
    "y",
    [Y, np.unique(Y, return_inverse=True)[1], Y == "a"],
    ids=["text", "whole numbers", "truth values"],
)
@pytest.mark.parametrize("name", LINEAR)
def test_a_file_says_what_the_estimator_says(name: str, y: np.ndarray, tmp_path: Path) -> None:
    fitted = clone(LINEAR[name]).fit(FRAMES["pandas"](X), y)
    model = reloaded(fitted, tmp_path)
    new, few = FRAMES["pandas"](NEW), columns_of(model)
    assert list(model.features) == [NAMES[j] for j in fitted.get_support(indices=True)]
    assert model.predict(few).tolist() == fitted.predict(new).tolist()
    np.testing.assert_allclose(model.predict_proba(few), fitted.predict_proba(new), atol=1e-9)
    np.testing.assert_allclose(model.transform(few), fitted.transform(new), atol=1e-9)
    assert model.info["method"] == type(getattr(fitted, "estimator_", fitted)).__name__


@pytest.mark.parametrize("kind", FRAMES)
def test_columns_are_found_by_name(kind: str, tmp_path: Path) -> None:
    fitted = es.SparseLDA(3, certificate="none").fit(FRAMES["pandas"](X), Y)
    model, frame = reloaded(fitted, tmp_path), FRAMES[kind](NEW)
    order = NAMES[::-1]
    backwards = frame[order] if isinstance(frame, pd.DataFrame) else frame.select(order)
    proba = fitted.predict_proba(FRAMES["pandas"](NEW))
    np.testing.assert_allclose(model.predict_proba(frame), proba, rtol=1e-9)
    np.testing.assert_allclose(model.predict_proba(backwards), proba, rtol=1e-9)
    lacking = [name for name in order if name != model.features[1]]
    part = frame[lacking] if isinstance(frame, pd.DataFrame) else frame.select(lacking)
    with pytest.raises(InputError, match=f"X has no column '{model.features[1]}'; it needs the 3"):
        model.predict(part)


def test_other_columns_may_hold_anything(tmp_path: Path) -> None:
    model = reloaded(es.SparseLDA(2, certificate="none").fit(X, Y), tmp_path)
    assert set(model.features) <= {f"x{j}" for j in range(8)}
    frame = pd.DataFrame(NEW, columns=[f"x{j}" for j in range(8)]).assign(sample="a")
    frame.insert(0, "sample", "b", allow_duplicates=True)
    expected = model.predict(frame[list(model.features)].to_numpy()).tolist()
    assert model.predict(frame).tolist() == expected
    assert model.predict(sparse.csr_array(frame[list(model.features)].to_numpy())).tolist() == (
        expected
    )
    frame.insert(0, model.features[0], 1.0, allow_duplicates=True)
    with pytest.raises(InputError, match=f"more than one column '{model.features[0]}'"):
        model.predict(frame)
    with pytest.raises(InputError, match="column 'x1' is of type"):
        reloaded(es.SparseLDA(8, certificate="none").fit(X, Y), tmp_path).predict(
            pd.DataFrame(NEW, columns=[f"x{j}" for j in range(8)]).assign(x1="one")
        )


def test_a_search_and_a_model_are_taken_too(tmp_path: Path) -> None:
    search = GridSearchCV(es.SparseLDA(certificate="none"), {"n_features_to_select": [2, 3]}, cv=3)
    search.fit(X, Y)
    model = reloaded(search, tmp_path)
    few = NEW[:, search.best_estimator_.get_support()]
    assert model.predict(few).tolist() == search.predict(NEW).tolist()
    assert reloaded(model, tmp_path).digest == model.digest
    assert reloaded(pickle.loads(pickle.dumps(model)), tmp_path).digest == model.digest


def test_onnx_keeps_the_labels_of_a_file(tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    fitted = es.SparseLDA(3, certificate="none").fit(X, np.unique(Y, return_inverse=True)[1])
    reloaded(fitted, tmp_path)
    graph = es.to_onnx(tmp_path / "model.json").SerializeToString()
    (labels,) = runtime.InferenceSession(graph).run(["label"], {"X": NEW[:, fitted.get_support()]})
    assert labels.tolist() == fitted.predict(NEW).tolist()


REFUSED: dict[str, Any] = {
    "SparseLDA is not fitted": es.SparseLDA(),
    "PreparedClassifier is not fitted": es.PreparedClassifier(),
    "SparsePCA has no coef_": es.SparsePCA(1, n_features_to_select=2, certificate="none"),
    "QAlphaSelector has no coef_": es.QAlphaSelector(2, n_clusters=2),
    "UncorrelatedLDA has no coef_": es.UncorrelatedLDA(rule="1-nn"),
    "Pipeline has no get_support.*in a PreparedClassifier": make_pipeline(
        StandardScaler(), es.SparseLDA(2, certificate="none")
    ),
    "LinearDiscriminantAnalysis has no get_support": LinearDiscriminantAnalysis(),
    "dict has no get_support": {},
}


@pytest.mark.parametrize(("said", "model"), REFUSED.items(), ids=REFUSED)
def test_what_a_file_cannot_hold_is_refused(said: str, model: Any, tmp_path: Path) -> None:
    if hasattr(model, "fit") and "not fitted" not in said:
        model = clone(model).fit(X, Y)
    with pytest.raises(InputError, match=said):
        es.save_model(model, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []
