"""A linear model on disk: versioned JSON with the selected features only.

Loading runs no code (unlike pickle or joblib), every float64 survives bit for
bit, and a digest tells a damaged file from a good one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from eigensieve.errors import InputError, ModelFileError

from ..tables.kinds.frames import pick_columns
from ._fitted import check_linear, describe, plain_labels
from ._model_checks import (
    check_numbers,
    checked_array,
    checked_classes,
    checked_info,
    checked_names,
    shapes_of,
)
from ._model_file import FORMAT_VERSION, digest_of, read_payload, write_payload

# what a file may lack: the version that brought it, and what it then is
OPTIONAL = {"fill": (2, None), "temperature": (3, 1.0)}

__all__ = ["FORMAT_VERSION", "LinearModel", "load_model", "save_model"]


@dataclass(frozen=True, eq=False)
class LinearModel:
    """A discriminant on k named features; all it needs to work on new rows.

    A table of new rows is a data frame (pandas, polars, pyarrow), whose columns are found by their
    names, whatever else it has; or an array of the k columns in the order of ``features``.

    Parameters
    ----------
    features : tuple of str
        The k feature names, in the order of the columns of ``X``.
    classes : tuple of str, int, float or bool
        The K labels, all of one kind.
    coef : ndarray of shape (K, k)
        Coefficients on the standardised features.
    intercept : ndarray of shape (K,)
    center, scale : ndarray of shape (k,)
        Standardisation ``z = (x - center) / scale``; scale is positive.
    scalings : ndarray of shape (k, m)
        Projection of the standardised features.
    offset : ndarray of shape (m,)
        Subtracted from the projection, so that the training mean lies at 0.
    log2_floor : float or None
        If set, ``x`` becomes ``log2(max(x, log2_floor))`` before all else.
    info : dict
        Free metadata; JSON values only.
    fill : ndarray of shape (k,), or None
        What stands in for a missing value (NaN) of each feature, on the scale of
        ``center``: put in after log2, before the standardisation. None if the model
        was fitted on complete data; a missing value is an error then.
    temperature : float
        The scores are divided by it before they become probabilities; 1 if none was fitted.
    """

    features: tuple[str, ...]
    classes: tuple[Any, ...]
    coef: np.ndarray
    intercept: np.ndarray
    center: np.ndarray
    scale: np.ndarray
    scalings: np.ndarray
    offset: np.ndarray
    log2_floor: float | None
    info: dict[str, Any]
    fill: np.ndarray | None = None
    temperature: float = 1.0

    def __post_init__(self) -> None:
        self._set("features", checked_names("features", self.features, 1))
        self._set("classes", checked_classes(self.classes))
        for name, shape in shapes_of(self.features, self.classes, np.size(self.offset)).items():
            self._set(name, checked_array(name, getattr(self, name), shape))
        if not np.all(self.scale > 0):
            raise InputError("scale must be positive in every entry; drop constant features first")
        if self.log2_floor is not None:
            self._set("log2_floor", float(checked_array("log2_floor", self.log2_floor, ())))
            if not self.log2_floor > 0:
                raise InputError(f"log2_floor is {self.log2_floor}; it must be positive, or None")
        if self.fill is not None:
            self._set("fill", checked_array("fill", self.fill, (len(self.features),)))
        self._set("temperature", float(checked_array("temperature", self.temperature, ())))
        if not self.temperature > 0:
            raise InputError(f"temperature is {self.temperature}; it must be positive")
        self._set("info", checked_info(self.info))

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        names: Sequence[str] | None = None,
        *,
        log2_floor: float | None = None,
        info: dict[str, Any] | None = None,
    ) -> LinearModel:
        """Cut a fitted classifier down to the features it selected.

        Parameters
        ----------
        estimator : a classifier of the package with a linear rule
            Or a `PreparedClassifier` of one: filling and standardisation go along. Of a fitted
            GridSearchCV or the like, the best.
        names : sequence of length p, optional
            Names of all columns; by default those that it was fitted with, or x0, x1, ...
        log2_floor : float, optional
            If the columns were log2(max(x, floor)) of what new rows will be.
        info : dict, optional
            Free metadata; by default what the estimator says of its search.

        Returns
        -------
        LinearModel
        """
        estimator = getattr(estimator, "best_estimator_", estimator)  # of a search
        scaler = getattr(estimator, "standardizer_", None)
        inner = estimator if scaler is None else estimator.estimator_
        check_linear(inner)
        p = int(estimator.n_features_in_)
        if names is None:
            names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(p)])
        return cls.from_discriminant(
            inner,
            names,
            np.zeros(p) if scaler is None else scaler.center,
            np.ones(p) if scaler is None else scaler.scale,
            log2_floor,
            describe(inner) if info is None else info,
            fill=None if scaler is None else scaler.fill,
        )

    @classmethod
    def from_discriminant(
        cls,
        estimator: Any,
        names: Sequence[str],
        center: np.ndarray,
        scale: np.ndarray,
        log2_floor: float | None,
        info: dict[str, Any],
        fill: np.ndarray | None = None,
    ) -> LinearModel:
        """Cut a fitted discriminant down to the features it selected.

        Parameters
        ----------
        estimator : object
            Fitted on standardised features; read by its attributes
            ``get_support``, ``classes_``, ``coef_``, ``intercept_``,
            ``scalings_`` and ``xbar_`` (scikit-learn's LDA conventions), and by
            ``temperature_``, if it has one.
        names, center, scale : sequences of length p
            Names and standardisation of all features.
        log2_floor : float or None
        info : dict
        fill : sequence of length p, optional
            What stands in for missing values of each feature, after log2; only the
            entries of the selected features need be finite.

        Returns
        -------
        LinearModel

        :meta private:
        """
        check_linear(estimator)
        support = np.asarray(estimator.get_support(indices=True), dtype=np.intp)
        coef, intercept = np.atleast_2d(estimator.coef_), np.atleast_1d(estimator.intercept_)
        if np.any(np.delete(coef, support, axis=1)):
            raise InputError(
                "the estimator has non-zero coefficients outside get_support(); "
                "a model file can only hold the selected features"
            )
        if len(estimator.classes_) == 2 and len(coef) == 1:
            # Half the score to each side: softmax then equals the sigmoid of the score.
            coef, intercept = np.vstack([-coef, coef]) / 2, np.append(-intercept, intercept) / 2
        scalings = np.asarray(estimator.scalings_)[support]
        return cls(
            features=tuple(str(names[j]) for j in support),
            classes=plain_labels(estimator.classes_),
            coef=coef[:, support],
            intercept=intercept,
            center=np.asarray(center)[support],
            scale=np.asarray(scale)[support],
            scalings=scalings,
            offset=np.asarray(estimator.xbar_)[support] @ scalings,
            log2_floor=log2_floor,
            info=info,
            fill=None if fill is None else np.asarray(fill)[support],
            temperature=getattr(estimator, "temperature_", 1.0),
        )

    @property
    def digest(self) -> str:
        """SHA-256 of the content, as written in the file."""
        return digest_of(_payload(self))

    def standardize(self, X: Any) -> np.ndarray:
        """Raw values (n, k) to the scale the coefficients live on; NaN is filled if it can be."""
        X = pick_columns(X, self.features)
        X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
        k = len(self.features)
        if X.ndim != 2 or X.shape[1] != k:
            raise InputError(
                f"X has shape {X.shape}; this model needs (n, {k}): "
                f"the columns {', '.join(self.features[:5])}{' ...' if k > 5 else ''}, in order; "
                "of a data frame it takes them by name"
            )
        if self.fill is None and not np.isfinite(X).all():
            raise InputError("X has missing or infinite values; fill them or drop these rows first")
        if np.isinf(X).any():
            raise InputError("X has infinite values; correct them or drop these rows first")
        if self.log2_floor is not None:
            X = np.log2(np.maximum(X, self.log2_floor))  # NaN stays NaN
        if self.fill is not None:
            X = np.where(np.isnan(X), self.fill, X)
        return (X - self.center) / self.scale

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores of shape (n, K); the largest one wins."""
        return self.standardize(X) @ self.coef.T + self.intercept

    def predict(self, X: Any) -> np.ndarray:
        """Labels of shape (n,)."""
        return np.array(self.classes)[self.decision_function(X).argmax(axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of shape (n, K): the softmax of the scores over the temperature."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities, finite where these would be 0."""
        scores = self.decision_function(X) / self.temperature
        # The largest exponent becomes 0, so that exp cannot overflow.
        scores = scores - scores.max(axis=1, keepdims=True)
        return scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))

    def transform(self, X: Any) -> np.ndarray:
        """Discriminant coordinates of shape (n, m)."""
        return self.standardize(X) @ self.scalings - self.offset


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a model file: the selected features by name, and the rule; `load_model` reads it.

    A crash leaves the old file or the new one, never half of one.

    Parameters
    ----------
    model : a fitted classifier of the package with a linear rule
        Or a `PreparedClassifier` of one, which standardises raw rows; a fitted GridSearchCV over
        either; a `Study`, as `Study.save_model` does; a model that `load_model` gave.
    path : path-like
        An existing file is replaced.

    Raises
    ------
    InputError
        If the model is not fitted, or has no linear rule.
    ModelFileError
        If the file cannot be written, or would be too large to load again.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import eigensieve as es
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> lda = es.PreparedClassifier(es.SparseLDA(3)).fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> es.save_model(lda, path)
    >>> es.load_model(path).predict(X[:2]).tolist()
    [0, 0]
    """
    if hasattr(model, "save_model"):  # a study, which knows more of its model
        model.save_model(path)
        return
    if not isinstance(model, LinearModel):
        model = LinearModel.from_estimator(model)
    write_payload(_payload(model), Path(path))


def load_model(path: str | os.PathLike[str]) -> LinearModel:
    """Read a model file, and check it to the last digit; no code from it is run.

    Parameters
    ----------
    path : path-like
        What `save_model`, `Study.save_model` or ``eigensieve fit`` wrote, in this version or an
        older one.

    Returns
    -------
    LinearModel
        Its ``predict``, ``predict_proba`` and ``transform`` take a data frame, whose columns are
        found by name, or an array of the model's columns in the order of ``features``.

    Raises
    ------
    ModelFileError
        For any file that ``save_model`` did not write as it stands.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> import eigensieve as es
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> study = es.study(X, y, k=3, n_repeats=1)
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "model.json"
    >>> study.save_model(path)
    >>> model = es.load_model(path)
    >>> model.features
    ('worst radius', 'worst texture', 'worst concave points')
    >>> few = X[["worst concave points", "worst radius", "worst texture"]]  # in any order
    >>> bool((model.predict(few) == study.predict(X)).all())
    True
    """
    try:
        return _from_payload(*read_payload(path))
    except InputError as error:
        raise ModelFileError(f"{os.fspath(path)}: {error}") from error


def _payload(model: LinearModel) -> dict[str, Any]:
    payload = {field.name: _to_json(getattr(model, field.name)) for field in fields(model)}
    # As in version 1, so that a model has one digest, whichever version it is kept in.
    for name, (_, absent) in OPTIONAL.items():
        if payload[name] == absent:
            del payload[name]
    return payload


def _to_json(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _from_payload(version: int, payload: dict[str, Any]) -> LinearModel:
    optional = {name for name, (since, _) in OPTIONAL.items() if version >= since}
    needed = {field.name for field in fields(LinearModel)} - set(OPTIONAL)
    if not needed <= set(payload) <= needed | optional:
        odd = sorted((needed - set(payload)) | (set(payload) - needed - optional))
        raise InputError(f"fields missing or unknown: {', '.join(odd)[:200]}")
    for name in ("features", "classes", "offset"):
        if not isinstance(payload[name], list):
            raise InputError(f"{name} must be a list")
    if version < 4 and not all(isinstance(label, str) for label in payload["classes"]):
        raise InputError("classes must be a list of strings")
    shapes = shapes_of(payload["features"], payload["classes"], len(payload["offset"]))
    if payload["log2_floor"] is not None:
        shapes["log2_floor"] = ()
    if "fill" in payload:
        shapes["fill"] = (len(payload["features"]),)
    if "temperature" in payload:
        shapes["temperature"] = ()
        if payload["temperature"] == 1:
            raise InputError("temperature is 1, which a model file leaves out")
    for name, shape in shapes.items():
        check_numbers(name, payload[name], shape)
    return LinearModel(**payload)
