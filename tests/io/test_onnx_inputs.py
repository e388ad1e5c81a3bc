"""What else can be exported: pipelines, studies, model files, projections; and what cannot."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.feature_selection import SelectKBest, VarianceThreshold
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

import eigensieve as es
from eigensieve.errors import InputError, MissingExtraError, OptionError
from eigensieve.io.model import LinearModel, save_model

from .models import tame
from .onnx_runs import agrees, make_table, metadata, run


def lda(k: int = 3) -> es.SparseLDA:
    return es.SparseLDA(k, certificate="none")


PIPELINES: dict[str, Any] = {
    "scaler": lambda: make_pipeline(StandardScaler(), lda()),
    "scaler without mean": lambda: make_pipeline(StandardScaler(with_mean=False), lda()),
    "scaler without deviation": lambda: make_pipeline(StandardScaler(with_std=False), lda()),
    "nothing": lambda: make_pipeline("passthrough", es.UncorrelatedLDA()),
    "selectors": lambda: make_pipeline(
        VarianceThreshold(), StandardScaler(), SelectKBest(k=8), es.GroupLassoLDA(alpha=0.4)
    ),
    "qalpha": lambda: make_pipeline(es.QAlphaSelector(5, n_clusters=2), es.PenalizedLDA(0.0)),
    "qalpha weights": lambda: make_pipeline(
        StandardScaler(), es.QAlphaSelector(5, n_clusters=2, weight=True), lda()
    ),
    "nested": lambda: make_pipeline(Pipeline([("s", StandardScaler())]), lda()),
    "frozen": lambda: make_pipeline(StandardScaler(), FrozenEstimator(lda())),
    "prepared": lambda: es.PreparedClassifier(es.SparseOptimalScoring(alpha=0.3)),
}


@pytest.mark.parametrize("selected_only", [False, True])
@pytest.mark.parametrize("name", PIPELINES)
def test_pipelines(name: str, selected_only: bool) -> None:
    X, y, new = make_table("scaled", 3, "text")
    X, new = X.copy(), new.copy()
    X[:, 11] = new[:, 11] = 2.0  # constant
    model = PIPELINES[name]()
    if name == "frozen":
        model[-1].estimator.fit(model[0].fit_transform(X), y)
    model.fit(X, y)
    proto = es.to_onnx(model, selected_only=selected_only)
    features = metadata(proto)["features"]
    columns = [int(f.removeprefix("x")) for f in features]
    agrees(run(proto, np.ascontiguousarray(new[:, columns])), model, new)
    assert selected_only or columns == list(range(12))
    assert not selected_only or len(columns) < 12 or name in ("nothing", "qalpha weights")


def test_missing_values_are_filled_as_the_model_fills_them() -> None:
    X, y, new = make_table("tall", 2, "numbers")
    X[::7, 3] = new[::3, 2] = new[1::3, 3] = np.nan
    for model in (
        es.PreparedClassifier(lda(), missing="median"),
        make_pipeline(SimpleImputer(strategy="median"), StandardScaler(), lda()),
    ):
        model.fit(X, y)
        agrees(run(es.to_onnx(model), new), model, new)


def test_a_study_is_its_final_estimator() -> None:
    X, y, new = make_table("tall", 3, "text")
    names = [f"f{j}" for j in range(12)]
    frame = pd.DataFrame(X, columns=names)
    study = es.study(frame, y, ks=(2, 4), cv=3, n_repeats=1)
    proto = es.to_onnx(study)
    agrees(run(proto, new), study.final_estimator, pd.DataFrame(new, columns=names))
    facts = metadata(proto)
    assert facts["features"] == names
    assert facts["k"] == study.best_k
    assert proto == es.to_onnx(study.final_estimator)


def test_a_grid_search_is_its_best_estimator() -> None:
    X, y, new = make_table("tall", 2, "text")
    grid = GridSearchCV(
        make_pipeline(StandardScaler(), lda()), {"sparselda__n_features_to_select": [2, 3]}, cv=3
    )
    agrees(run(es.to_onnx(grid.fit(X, y)), new), grid.best_estimator_, new)


@pytest.mark.parametrize("floor", [None, 0.5])
@pytest.mark.parametrize("fill", [None, np.array([0.5, -1.0])])
def test_model_files(tmp_path: Path, floor: float | None, fill: np.ndarray | None) -> None:
    plain = tame(floor)
    model = LinearModel(**{**vars(plain), "fill": fill, "info": {"method": "gloss", "gap": 0.25}})
    path = tmp_path / "model.json"
    save_model(model, path)
    X = np.random.default_rng(0).lognormal(size=(50, 2))
    if fill is not None:
        X[::3, 0] = np.nan
    found = run(es.to_onnx(path), X)
    agrees(found, model, X)
    assert found["label"].tolist() == model.predict(X).tolist()
    facts = metadata(es.to_onnx(model))
    assert facts["features"] == ["a", "b"]
    assert facts["classes"] == ["u", "v", "w"]
    assert facts["estimator"] == "gloss"
    assert facts["gap"] == 0.25
    assert facts["model_digest"] == model.digest


# -- no classifiers ------------------------------------------------------------------------


def test_projections_of_sparse_pca() -> None:
    X, _, new = make_table("wide", 3, "text")
    pca = es.SparsePCA(3, n_features_to_select=4, certificate="none").fit(X)
    found = run(es.to_onnx(pca), new)
    assert list(found) == ["projection"]
    np.testing.assert_allclose(found["projection"], pca.transform(new), rtol=0, atol=1e-12)


def test_both_views_of_sparse_cca() -> None:
    X, _, new = make_table("tall", 3, "text")
    Y = X[:, :5] + np.random.default_rng(1).normal(size=(60, 5))
    cca = es.SparseCCA(2, n_features_to_select=(3, 2), certificate="none").fit(X, Y)
    proto = es.to_onnx(cca)
    found = run(proto, new, Y=Y[:40])
    first, second = cca.transform(new, Y[:40])
    np.testing.assert_allclose(found["projection"], first, rtol=0, atol=1e-12)
    np.testing.assert_allclose(found["projection_y"], second, rtol=0, atol=1e-12)
    facts = metadata(proto)
    chosen = cca.get_support(indices=True)
    assert facts["selected_features"] == [f"x{j}" for j in chosen[0]]
    assert facts["selected_features_y"] == [f"x{j}" for j in chosen[1]]


@pytest.mark.parametrize("weight", [False, True])
def test_columns_of_a_selector(weight: bool) -> None:
    X, _, new = make_table("tall", 3, "text")
    selector = es.QAlphaSelector(4, n_clusters=2, weight=weight).fit(X)
    found = run(es.to_onnx(selector), new)
    assert list(found) == ["selected"]
    np.testing.assert_allclose(found["selected"], selector.transform(new), rtol=0, atol=1e-15)


# -- refusals ------------------------------------------------------------------------------


def fitted(model: Any) -> Any:
    X, y, _ = make_table("tall", 3, "text")
    return model.fit(X, y)


@pytest.mark.parametrize(
    "model",
    [
        lda(),
        es.GroupLassoLDA(),
        es.SparsePCA(),
        es.SparseCCA(),
        es.QAlphaSelector(),
        es.PreparedClassifier(),
        make_pipeline(StandardScaler(), lda()),
        make_pipeline(lda()),
        FrozenEstimator(lda()),
        GridSearchCV(lda(), {}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_what_is_not_fitted(model: Any) -> None:
    with pytest.raises(InputError, match="is not fitted; call fit first"):
        es.to_onnx(model)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (lambda: fitted(LinearDiscriminantAnalysis()), "LinearDiscriminantAnalysis cannot be"),
        (lambda: fitted(CalibratedClassifierCV(lda())), "CalibratedClassifierCV cannot be"),
        (lambda: es.Pencil(np.eye(3)), "Pencil cannot be exported"),
        (lambda: es.SparseLDA, "cannot be exported"),
        (lambda: fitted(make_pipeline(MinMaxScaler(), lda())), "the step MinMaxScaler cannot"),
        (
            lambda: fitted(make_pipeline(es.SparsePCA(2), es.UncorrelatedLDA())),
            "UncorrelatedLDA comes after a step that projects",
        ),
        (
            lambda: fitted(make_pipeline(SimpleImputer(add_indicator=True), lda())),
            "a SimpleImputer is exported if",
        ),
        (lambda: Pipeline([]), "the pipeline has no step"),
    ],
)
def test_what_cannot_be_exported(model: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        es.to_onnx(model())


def test_labels_of_no_type_that_onnx_has() -> None:
    model = fitted(lda())
    model.classes_ = np.array([("a", 1), None, 3], dtype=object)
    with pytest.raises(InputError, match="fit with labels of one of these types"):
        es.to_onnx(model)


def test_another_dtype_is_refused() -> None:
    with pytest.raises(OptionError, match="dtype is 'float16'; it must be one of float64, float32"):
        es.to_onnx(fitted(lda()), dtype="float16")


def test_the_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'eigensieve\[onnx\]'"):
        es.to_onnx(fitted(lda()))
