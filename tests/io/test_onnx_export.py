"""Every classifier of the package, as ONNX: onnxruntime computes what the estimator does."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import onnx
import pytest
from scipy.special import softmax

import eigensieve as es
from eigensieve.errors import InputError

from .onnx_runs import agrees, make_table, metadata, run

CLASSIFIERS = {
    "sparse-lda": lambda: es.SparseLDA(4, certificate="none"),
    "threshold": lambda: es.SparseLDA(1, solver="threshold", certificate="none"),
    "ranked": lambda: es.RankedLDA("snr", 5),
    "gloss": lambda: es.GroupLassoLDA(4),
    "gloss-centroid": lambda: es.GroupLassoLDA(alpha=0.5, rule="centroid"),
    "gloss-nearest": lambda: es.GroupLassoLDA(alpha=0.5, rule="1-nn"),
    "gloss-cv": lambda: es.GroupLassoLDACV(alphas=[0.6, 0.4], cv=3, rule="lda"),
    "ulda": lambda: es.UncorrelatedLDA(),
    "ulda-nearest": lambda: es.UncorrelatedLDA(rule="1-nn"),
    "sulda": lambda: es.SparseUncorrelatedLDA(),
    "sulda-l21": lambda: es.SparseUncorrelatedLDA("l21", rule="lda"),
    "plda": lambda: es.PenalizedLDA(),
    "plda-priors": lambda: es.PenalizedLDA(rule="lda", priors="balanced"),
    "slda": lambda: es.SparseOptimalScoring(alpha=0.4),
}


def fit(name: str, X: np.ndarray, y: np.ndarray) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of a penalty that skips a number
        return CLASSIFIERS[name]().fit(X, y)


@pytest.mark.parametrize("labels", ["text", "numbers"])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["tall", "wide", "scaled"])
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_onnxruntime_agrees_with_the_estimator(
    name: str, kind: str, n_classes: int, labels: str
) -> None:
    X, y, new = make_table(kind, n_classes, labels)
    estimator = fit(name, X, y)
    model = es.to_onnx(estimator)
    onnx.checker.check_model(model, full_check=True)
    found = run(model, new)
    agrees(found, estimator, new)
    assert found["label"].dtype == (np.dtype(object) if labels == "text" else np.dtype(np.int64))
    assert found["probabilities"].dtype == np.dtype(np.float64)


def test_the_probabilities_are_those_of_lda_by_hand() -> None:
    X, y, new = make_table("tall", 4, "text")
    lda = es.SparseLDA(3, shrinkage=0.0, certificate="none").fit(X, y)
    S, classes = lda.get_support(indices=True), np.unique(y)
    means = np.array([X[y == c][:, S].mean(axis=0) for c in classes])
    rest = X[:, S] - means[np.searchsorted(classes, y)]
    inverse = np.linalg.inv(rest.T @ rest / len(X))
    apart = new[:, None, S] - means
    distances = np.einsum("nki,ij,nkj->nk", apart, inverse, apart)
    expected = softmax(-distances / 2, axis=1)  # the classes are of equal size
    found = run(es.to_onnx(lda), new)
    np.testing.assert_allclose(found["probabilities"], expected, rtol=0, atol=1e-9)
    assert found["label"].tolist() == classes[distances.argmin(axis=1)].tolist()


@pytest.mark.parametrize("name", ["sparse-lda", "gloss", "gloss-nearest", "ulda"])
def test_the_selected_columns_alone_give_the_same(name: str) -> None:
    X, y, new = make_table("wide", 3, "text")
    estimator = fit(name, X, y)
    S = estimator.get_support(indices=True)
    model = es.to_onnx(estimator, selected_only=True)
    agrees(run(model, np.ascontiguousarray(new[:, S])), estimator, new)
    facts = metadata(model)
    assert facts["features"] == facts["selected_features"] == [f"x{j}" for j in S]
    assert facts["k"] == S.size


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_float32_is_float32_throughout(name: str) -> None:
    X, y, new = make_table("scaled", 3, "text")
    estimator = fit(name, X, y)
    rows = new.astype(np.float32)
    model = es.to_onnx(estimator, dtype="float32")
    found = run(model, rows)
    assert found["probabilities"].dtype == found["projection"].dtype == np.dtype(np.float32)
    agrees(found, estimator, rows, tol=1e-4)
    types = {constant.data_type for constant in model.graph.initializer}
    assert onnx.TensorProto.DOUBLE not in types


def test_a_constant_too_large_for_float32_is_told() -> None:
    X, y, _ = make_table("tall", 2, "text")
    lda = es.SparseLDA(2, certificate="none").fit(X * 1e60, y)
    with pytest.raises(InputError, match="float32 cannot hold; use dtype='float64'"):
        es.to_onnx(lda, dtype="float32")


def test_metadata_tell_what_the_model_is() -> None:
    import pandas as pd

    X, y, _ = make_table("tall", 3, "numbers")
    frame = pd.DataFrame(X, columns=[f"gene {j}" for j in range(X.shape[1])])
    lda = es.SparseLDA(3).fit(frame, y)
    model = es.to_onnx(lda)
    facts = metadata(model)
    assert facts["features"] == list(frame.columns)
    assert facts["selected_features"] == list(lda.selected_features_)
    assert facts["classes"] == [-2, 7, 40]
    assert facts["k"] == 3
    assert facts["estimator"] == "SparseLDA"
    assert facts["objective"] == pytest.approx(lda.solution_.objective, abs=0)
    assert facts["gap"] == pytest.approx(lda.solution_.gap, abs=0)
    assert facts["eigensieve_version"] == es.__version__
    assert [(o.domain, o.version) for o in model.opset_import] == [("", 13)]
    assert model.producer_name == "eigensieve"


def test_a_bound_that_is_not_known_is_left_out() -> None:
    X, y, _ = make_table("tall", 3, "numbers")
    facts = metadata(es.to_onnx(es.SparseLDA(3, certificate="none").fit(X, y)))
    assert "bound" not in facts
    assert "gap" not in facts
    assert facts["objective"] > 0


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        (np.array([True, False]), np.dtype(bool)),
        (np.array([1.0, 2.0]), np.dtype(np.float64)),
        (np.array(["a", "b"], dtype=object), np.dtype(object)),
        (np.array([3, 4], dtype=np.uint8), np.dtype(np.int64)),
    ],
)
def test_labels_keep_their_type(labels: np.ndarray, dtype: np.dtype) -> None:
    X, y, new = make_table("tall", 2, "numbers")
    lda = es.SparseLDA(2, certificate="none").fit(X, labels[(y == 7).astype(int)])
    found = run(es.to_onnx(lda), new)["label"]
    assert found.dtype == dtype
    assert found.tolist() == lda.predict(new).tolist()


def test_the_file_is_the_model(tmp_path: Any) -> None:
    X, y, _ = make_table("tall", 2, "text")
    path = tmp_path / "model.onnx"
    model = es.to_onnx(es.SparseLDA(2, certificate="none").fit(X, y), path)
    assert onnx.load(path) == model


def test_no_rows_are_no_labels() -> None:
    X, y, new = make_table("tall", 3, "text")
    found = run(es.to_onnx(es.SparseLDA(2, certificate="none").fit(X, y)), new[:0])
    assert found["label"].shape == (0,)
    assert found["probabilities"].shape == (0, 3)


@pytest.mark.parametrize("name", ["sparse-lda", "gloss", "gloss-nearest", "plda"])
def test_another_runtime_agrees_too(name: str) -> None:
    from onnx.reference import ReferenceEvaluator

    X, y, new = make_table("wide", 3, "numbers")
    estimator = fit(name, X, y)
    evaluator = ReferenceEvaluator(es.to_onnx(estimator))
    found = dict(zip(evaluator.output_names, evaluator.run(None, {"X": new})))
    agrees(found, estimator, new)
