"""Models out, as ONNX: a graph that any runtime can compute, without Python or this package."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from .. import __version__
from ..errors import InputError
from .model import load_model
from .onnx_graph import GraphBuilder
from .onnx_plan import LinearScores, OnnxPlan, feature_names, read_plan, read_views


def to_onnx(
    estimator: Any,
    path: str | os.PathLike[str] | None = None,
    *,
    dtype: str = "float64",
    selected_only: bool = False,
) -> Any:
    """A fitted estimator as an ONNX model, opset 13; needs the extra ``onnx``.

    The graph takes one table ``X`` [N, p] and gives ``label`` [N], ``probabilities`` [N, K] and
    ``projection`` [N, m], what `predict`, `predict_proba` and `transform` give. See docs/onnx.md.

    Parameters
    ----------
    estimator : a fitted classifier of the package, or what contains one
        Every classifier of the package, with every rule; a `PreparedClassifier` or a `Study` (its
        final estimator); a Pipeline of StandardScaler, SimpleImputer or selectors of columns and
        one of ours; a fitted search over them (GridSearchCV); a `LinearModel`, or the path of a
        model file. `SparsePCA` and `SparseCCA` (inputs ``X`` and ``Y``) have a projection only, a
        `QAlphaSelector` the columns that it selects.
    path : path-like, optional
        Where to write the model.
    dtype : "float64" or "float32"
        Of the table, of the results and of all arithmetic between them.
    selected_only : bool, default False
        The table has the k columns that the model uses, in this order, instead of all p. Their
        names are in the metadata, ``selected_features``. A model file has no other columns.

    Returns
    -------
    onnx.ModelProto
        Its metadata are JSON: ``features`` (the columns of the input), ``selected_features``,
        ``k``, ``classes``, ``estimator``, ``eigensieve_version`` and, where there was a search,
        ``objective``, ``bound``, ``gap`` and ``status``; ``temperature`` if it is not 1.

    Raises
    ------
    InputError
        If the estimator is not fitted, or is none that can be exported.
    MissingExtraError
        If onnx is not installed.

    Examples
    --------
    >>> import onnxruntime
    >>> from sklearn.datasets import load_wine
    >>> import eigensieve as es
    >>> X, y = load_wine(return_X_y=True)
    >>> model = es.to_onnx(es.SparseLDA(n_features_to_select=4).fit(X, y))
    >>> session = onnxruntime.InferenceSession(model.SerializeToString())
    >>> label, probabilities = session.run(["label", "probabilities"], {"X": X[:2]})
    >>> label.tolist(), probabilities.round(3).tolist()
    ([0, 0], [[1.0, 0.0, 0.0], [0.997, 0.003, 0.0]])
    """
    builder = GraphBuilder(dtype)
    plans = _read(estimator)
    for table, plan in plans.items():
        _check_not_empty(plan)
        suffix = "" if table == "X" else f"_{table.lower()}"
        builder.add_plan(plan, table, suffix, selected_only=selected_only)
    facts = _metadata(plans, selected_only)
    texts = {name: json.dumps(value) for name, value in facts.items()}
    model = builder.build(str(facts["estimator"]), texts, __version__)
    if path is not None:
        Path(path).write_bytes(model.SerializeToString())
    return model


def _read(estimator: Any) -> dict[str, OnnxPlan]:
    """The plan of every input of the graph."""
    if isinstance(estimator, str | os.PathLike):
        estimator = load_model(estimator)
    if any(kind.__name__ == "SparseCCA" for kind in type(estimator).__mro__):
        return read_views(estimator)
    return {"X": read_plan(estimator)}


def _check_not_empty(plan: OnnxPlan) -> None:
    if plan.columns.size == 0:
        raise InputError("no feature is selected: there is nothing to export")


def _metadata(plans: dict[str, OnnxPlan], selected_only: bool) -> dict[str, Any]:
    """What a user of the file may want to know; the names of a second table end in _y."""
    facts: dict[str, Any] = {"eigensieve_version": __version__}
    for table, plan in plans.items():
        suffix = "" if table == "X" else f"_{table.lower()}"
        selected = feature_names(plan, plan.columns)
        everything = feature_names(plan, range(plan.n_features))
        facts[f"features{suffix}"] = selected if selected_only else everything
        facts[f"selected_features{suffix}"] = selected
        facts[f"k{suffix}"] = len(selected)
        if plan.classes is not None:
            facts["classes"] = plan.classes.tolist()
        if isinstance(plan.rule, LinearScores) and plan.rule.temperature != 1:
            facts["temperature"] = plan.rule.temperature
        facts |= plan.facts
    return facts
