"""What a fitted estimator does to a row, as plain arrays: the half of the ONNX export that reads.

Estimators are known by the names of their classes, so that neither scikit-learn nor the package's
own estimators are imported to look at one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ..errors import InputError
from ._fitted import FACTS, describe_search

EXPORTABLE = (
    "SparseLDA, GroupLassoLDA(CV), SparseUncorrelatedLDA, UncorrelatedLDA, PenalizedLDA, "
    "SparseOptimalScoring, RankedLDA, SparsePCA, SparseCCA, QAlphaSelector, a PreparedClassifier, "
    "a study, a model file, or a Pipeline that ends in one of these"
)


@dataclass(frozen=True, eq=False)
class ColumnStep:
    """One thing done to every column for itself; ``values`` has a number per column.

    ``kind``: "fill" (what a NaN becomes), "subtract", "divide", "multiply", "log2" (raised to the
    value before the logarithm).
    """

    kind: str
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class LinearScores:
    """Scores (n, K): rows times ``weights`` (K, d)' plus ``offsets``; the largest wins.

    Of the projected rows, or else of the columns themselves. Probabilities are the softmax of the
    scores divided by the temperature.
    """

    weights: np.ndarray
    offsets: np.ndarray
    of_projection: bool
    temperature: float = 1.0


@dataclass(frozen=True, eq=False)
class NearestRows:
    """The class of the nearest projected training row: (n_k, m) arrays, one per class."""

    samples: tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class OnnxPlan:
    """Columns of the table, what is done to each, and what is made of them together.

    ``scalings`` (d, m) project the columns, ``shift`` (m,) is subtracted then. Without classes
    there is a projection only, and without scalings the columns themselves are what comes out.
    """

    columns: np.ndarray
    n_features: int
    names: tuple[str, ...] | None = None
    steps: tuple[ColumnStep, ...] = ()
    scalings: np.ndarray | None = None
    shift: np.ndarray | None = None
    rule: LinearScores | NearestRows | None = None
    classes: np.ndarray | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_table(cls, estimator: Any) -> OnnxPlan:
        """All columns of the table that the estimator was fitted on, as they are."""
        n_features = int(estimator.n_features_in_)
        names = getattr(estimator, "feature_names_in_", None)
        texts = None if names is None else tuple(str(name) for name in names)
        return cls(np.arange(n_features), n_features, texts)

    def take(self, index: np.ndarray) -> OnnxPlan:
        """Some of the columns."""
        steps = tuple(replace(step, values=step.values[index]) for step in self.steps)
        return replace(self, columns=self.columns[index], steps=steps)

    def then(self, kind: str, values: Any) -> OnnxPlan:
        """One more thing done to the columns; ``values`` may be one number for all."""
        numbers = np.asarray(values, dtype=np.float64)
        filled = np.array(np.broadcast_to(numbers, self.columns.shape))
        return replace(self, steps=(*self.steps, ColumnStep(kind, filled)))

    @property
    def is_open(self) -> bool:
        """Whether columns are still columns: neither projected nor classified."""
        return self.scalings is None and self.rule is None


def read_plan(estimator: Any) -> OnnxPlan:
    """The plan of a fitted estimator of the package, of a pipeline, or of a model.

    `SparseCCA`, which has two tables, has `read_views`.

    Raises
    ------
    InputError
        If it is not fitted, or nothing that can be exported.
    """
    reader = _find(estimator, WHOLE)
    if reader is not None:
        return reader(estimator)
    finish = _find(estimator, LAST)
    if finish is None:
        raise InputError(
            f"{type(estimator).__name__} cannot be exported to ONNX; it must be one of {EXPORTABLE}"
        )
    _check_fitted(estimator)
    return finish(OnnxPlan.of_table(estimator), estimator)


def _find(estimator: Any, readers: dict[str, Callable[..., OnnxPlan]]) -> Any:
    """What reads objects of this class, or of one that it is made from."""
    return next((readers[name] for name in _kinds(estimator) if name in readers), None)


def _kinds(estimator: Any) -> list[str]:
    return [kind.__name__ for kind in type(estimator).__mro__]


def _check_fitted(estimator: Any) -> None:
    if not any(name.endswith("_") and not name.startswith("_") for name in vars(estimator)):
        raise InputError(f"{type(estimator).__name__} is not fitted; call fit first")


# -- estimators at the end, which see columns ---------------------------------------------


def _sparse_lda(plan: OnnxPlan, lda: Any) -> OnnxPlan:
    """Scores straight from the columns; two classes have one row of coefficients."""
    _require(lda, "coef_")
    S = np.flatnonzero(lda.support_)
    centre, coef = lda.xbar_[S], np.atleast_2d(lda.coef_)[:, S]
    offsets = np.atleast_1d(lda.intercept_) + coef @ centre
    if len(coef) == 1:
        coef, offsets = np.vstack([np.zeros_like(coef), coef]), np.append(0.0, offsets)
    return _discriminant(plan, lda, LinearScores(coef, offsets, False, lda.temperature_))


def _projected(plan: OnnxPlan, lda: Any) -> OnnxPlan:
    """A projection, and a rule in the space it leads to."""
    _require(lda, "scalings_")
    rule = lda._rule
    if hasattr(rule, "trees"):
        own: LinearScores | NearestRows = NearestRows(tuple(np.array(t.data) for t in rule.trees))
    else:
        own = LinearScores(rule.weights, rule.offsets, True, lda.temperature_)
    return _discriminant(plan, lda, own)


def _discriminant(plan: OnnxPlan, lda: Any, rule: LinearScores | NearestRows) -> OnnxPlan:
    S = np.flatnonzero(lda.support_)
    return replace(
        plan.take(S).then("subtract", lda.xbar_[S]),
        scalings=lda.scalings_[S],
        rule=rule,
        classes=lda.classes_,
        facts=_describe(lda),
    )


def _prepared(plan: OnnxPlan, model: Any) -> OnnxPlan:
    """Gaps filled, columns standardised, then the classifier."""
    _require(model, "estimator_")
    finish = _find(model.estimator_, LAST)
    if finish is None:
        raise InputError(
            f"{type(model.estimator_).__name__} inside a PreparedClassifier cannot be exported to "
            f"ONNX; it must be one of {EXPORTABLE}"
        )
    scaler = model.standardizer_
    if scaler.fill is not None:
        plan = plan.then("fill", scaler.fill)
    plan = plan.then("subtract", scaler.center).then("divide", scaler.scale)
    read: OnnxPlan = finish(plan, model.estimator_)
    return read


def _sparse_pca(plan: OnnxPlan, pca: Any) -> OnnxPlan:
    _require(pca, "components_")
    S = np.flatnonzero(pca.support_)
    return replace(
        plan.take(S).then("subtract", pca.mean_[S]),
        scalings=np.ascontiguousarray(pca.components_[:, S].T),
        facts=_describe(pca),
    )


def _qalpha(plan: OnnxPlan, selector: Any) -> OnnxPlan:
    _require(selector, "alpha_")
    weighted = plan.then("multiply", selector.alpha_) if selector.weight else None
    chosen = plan.take(np.flatnonzero(selector.support_)) if weighted is None else weighted
    return replace(chosen, facts=_describe(selector))


def read_views(cca: Any) -> dict[str, OnnxPlan]:
    """The two projections of a fitted `SparseCCA`, by the name of the input."""
    _require(cca, "x_weights_")
    views = {}
    for place, (name, prefix) in enumerate((("X", ""), ("Y", "y_"))):
        weights, mean = (cca.x_weights_, cca.y_weights_)[place], (cca.x_mean_, cca.y_mean_)[place]
        S = np.flatnonzero(cca.support_[place])
        names = getattr(cca, f"{prefix}feature_names_in_", None)
        texts = None if names is None else tuple(str(each) for each in names)
        plan = OnnxPlan(np.arange(mean.size), mean.size, texts).take(S).then("subtract", mean[S])
        views[name] = replace(plan, scalings=weights[S], facts=_describe(cca))
    return views


# -- what stands before them in a pipeline ------------------------------------------------


def _standard_scaler(plan: OnnxPlan, scaler: Any) -> OnnxPlan:
    _require(scaler, "n_features_in_")
    if scaler.with_mean:
        plan = plan.then("subtract", scaler.mean_)
    return plan.then("divide", scaler.scale_) if scaler.with_std else plan


def _selector(plan: OnnxPlan, selector: Any) -> OnnxPlan:
    _require(selector, "n_features_in_")
    return plan.take(np.asarray(selector.get_support(indices=True), dtype=np.intp))


def _imputer(plan: OnnxPlan, imputer: Any) -> OnnxPlan:
    _require(imputer, "statistics_")
    values = np.asarray(imputer.statistics_, dtype=np.float64)
    missing = imputer.missing_values
    is_nan = isinstance(missing, float) and np.isnan(missing)
    if not is_nan or imputer.add_indicator or np.isnan(values).any():
        raise InputError(
            "a SimpleImputer is exported if it fills NaN, adds no indicator, and has a value for "
            "every column"
        )
    return plan.then("fill", values)


# -- whole things -------------------------------------------------------------------------


def _pipeline(pipeline: Any) -> OnnxPlan:
    steps = list(_flatten(pipeline))
    if not steps:
        raise InputError("the pipeline has no step: there is nothing to export")
    for step in steps:
        if _find(step, BEFORE | LAST) is None:
            raise InputError(
                f"the step {type(step).__name__} cannot be exported to ONNX; a pipeline may have "
                "StandardScaler, SimpleImputer and selectors of columns before one of the "
                "package's estimators"
            )
        _check_fitted(step)
    plan = OnnxPlan.of_table(steps[0])
    for step in steps:
        if not plan.is_open:
            raise InputError(
                f"{type(step).__name__} comes after a step that projects: only a pipeline that "
                "selects and scales columns, then projects or classifies, can be exported to ONNX"
            )
        plan = _find(step, BEFORE | LAST)(plan, step)
    return plan


def _flatten(pipeline: Any) -> Iterator[Any]:
    """The steps that do something, those of pipelines inside among them."""
    for _, step in pipeline.steps:
        while "FrozenEstimator" in _kinds(step):
            step = step.estimator
        if "Pipeline" in _kinds(step):
            yield from _flatten(step)
        elif step is not None and step != "passthrough":
            yield step


def _linear_model(model: Any) -> OnnxPlan:
    """A model file: it has its own k columns only."""
    k = len(model.features)
    plan = OnnxPlan(np.arange(k), k, model.features)
    if model.log2_floor is not None:
        plan = plan.then("log2", model.log2_floor)
    if model.fill is not None:
        plan = plan.then("fill", model.fill)
    return replace(
        plan.then("subtract", model.center).then("divide", model.scale),
        scalings=model.scalings,
        shift=model.offset,
        rule=LinearScores(model.coef, model.intercept, False, model.temperature),
        classes=np.array(model.classes),
        facts={"estimator": model.info.get("method", "model file"), "model_digest": model.digest}
        | {name: model.info[name] for name in FACTS if model.info.get(name) is not None},
    )


def _inner(attribute: str) -> Callable[[Any], OnnxPlan]:
    def read(estimator: Any) -> OnnxPlan:
        _require(estimator, attribute)
        return read_plan(getattr(estimator, attribute))

    return read


def _require(estimator: Any, attribute: str) -> None:
    if not hasattr(estimator, attribute):
        raise InputError(f"{type(estimator).__name__} is not fitted; call fit first")


def _describe(estimator: Any) -> dict[str, Any]:
    """What is known of the search, for the metadata."""
    return {"estimator": type(estimator).__name__, **describe_search(estimator)}


Readers = dict[str, Callable[..., OnnxPlan]]
LAST: Readers = {
    "SparseLDA": _sparse_lda,
    "ProjectedClassifier": _projected,
    "PreparedClassifier": _prepared,
    "SparsePCA": _sparse_pca,
    "QAlphaSelector": _qalpha,
}
BEFORE: Readers = {
    "StandardScaler": _standard_scaler,
    "SimpleImputer": _imputer,
    "QAlphaSelector": _qalpha,
    "SelectorMixin": _selector,
}
WHOLE: Readers = {
    "Pipeline": _pipeline,
    "LinearModel": _linear_model,
    "Study": _inner("final_estimator"),
    "FrozenEstimator": _inner("estimator"),
    "BaseSearchCV": _inner("best_estimator_"),
}


def feature_names(plan: OnnxPlan, columns: Sequence[int] | np.ndarray) -> list[str]:
    """The names of these columns of the table; x0, x1, ... where it had none."""
    if plan.names is None:
        return [f"x{int(j)}" for j in columns]
    return [plan.names[int(j)] for j in columns]
