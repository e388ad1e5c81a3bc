"""Tables, and ONNX models computed by onnxruntime, for the tests."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import onnxruntime

CLOSE = 1e-6


def make_table(
    kind: str, n_classes: int, labels: str, n: int = 60
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, their labels and new rows; "wide" has p > n, "scaled" odd units."""
    rng = np.random.default_rng(n_classes)
    p = 150 if kind == "wide" else 12
    code = np.arange(n) % n_classes
    X, new = rng.normal(size=(n, p)), rng.normal(size=(40, p))
    for k in range(1, n_classes):
        X[code == k, 2 * k : 2 * k + 3] += 2.0
        new[k::n_classes, 2 * k : 2 * k + 3] += 2.0
    if kind == "scaled":
        units = np.logspace(-3, 3, p)
        X, new = X * units + 50 * units, new * units + 50 * units
    names = np.array(["zeta", "β", "m", "b"]) if labels == "text" else np.array([7, -2, 40, 0])
    return X, names[code], new


def run(model: Any, X: np.ndarray, **others: np.ndarray) -> dict[str, np.ndarray]:
    """All outputs of an ONNX model, by name."""
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X, **others})))


def metadata(model: Any) -> dict[str, Any]:
    return {prop.key: json.loads(prop.value) for prop in model.metadata_props}


def agrees(found: dict[str, np.ndarray], estimator: Any, X: Any, tol: float = CLOSE) -> None:
    """Labels away from ties, probabilities and projection are those of the estimator."""
    chances = estimator.predict_proba(X)
    assert found["probabilities"].shape == chances.shape
    np.testing.assert_allclose(found["probabilities"], chances, rtol=0, atol=tol)
    top = np.sort(chances, axis=1)
    clear = top[:, -1] - top[:, -2] > 2 * tol
    assert clear.sum() > 0.9 * clear.size
    assert found["label"][clear].tolist() == estimator.predict(X)[clear].tolist()
    projection = estimator.transform(X)
    scale = max(1.0, float(np.abs(projection).max()))
    np.testing.assert_allclose(found["projection"], projection, rtol=0, atol=tol * scale)
