"""``export``: the ONNX model gives the predictions of the model file."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from eigensieve.io.model import load_model


def classify(path: Path, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    label, chances = session.run(["label", "probabilities"], {"X": X})
    return label, chances


@pytest.mark.parametrize(
    ("option", "dtype", "tol"), [([], "float64", 1e-12), (["--float32"], "float32", 1e-4)]
)
def test_the_exported_model_predicts_the_same(
    run, wine, wine_model: Path, tmp_path: Path, option: list[str], dtype: str, tol: float
) -> None:
    told = json.loads(run("export", wine_model, "m.onnx", "--json", *option).stdout)
    model = load_model(wine_model)
    assert told["features"] == list(model.features)
    assert told["classes"] == list(model.classes)
    X = wine[list(model.features)].to_numpy()
    label, chances = classify(tmp_path / "m.onnx", X.astype(dtype))
    np.testing.assert_allclose(chances, model.predict_proba(X), rtol=0, atol=tol)
    assert label.tolist() == model.predict(X).tolist()


def test_a_line_says_what_was_written(run, wine_model: Path, tmp_path: Path) -> None:
    result = run("export", wine_model.parent, "m.onnx")  # the folder of the model will do
    k = len(load_model(wine_model).features)
    assert result.stdout == f"m.onnx: {k} features, 3 classes, float64\n"
    props = {p.key: json.loads(p.value) for p in onnx.load("m.onnx").metadata_props}
    assert props["model_digest"] == load_model(wine_model).digest
    assert run("export", wine_model, "m.onnx").stderr == "note: replaced: m.onnx\n"


@pytest.mark.parametrize(
    ("model", "file", "said"),
    [
        ("model.json", "model.json", "choose another FILE"),
        (
            "model.json",
            "no/such/m.onnx",
            "its folder does not exist; make it, or choose another FILE",
        ),
        ("nothing.json", "m.onnx", "cannot be read"),
    ],
)
def test_refusals(run, wine_model: Path, tmp_path: Path, model: str, file: str, said: str) -> None:
    (tmp_path / "model.json").write_bytes(wine_model.read_bytes())
    result = run("export", model, file, code=2)
    assert said in result.stderr
    assert result.stdout == ""
    assert {path.name for path in tmp_path.iterdir()} == {"model.json"}


def test_without_onnx_the_pip_line_is_told(
    run, wine_model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnx", None)
    result = run("export", wine_model, "m.onnx", code=2)
    assert "pip install 'eigensieve[onnx]'" in result.stderr
    assert list(tmp_path.iterdir()) == []
