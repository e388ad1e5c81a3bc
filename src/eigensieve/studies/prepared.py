"""A classifier of the package with what it needs before it: gaps filled, columns standardised."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    MetaEstimatorMixin,
    TransformerMixin,
    clone,
)
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ..errors import InputError
from ..estimators._validation import check_unique_names, require_in_memory, take_labels
from ..estimators.sparse_lda import SparseLDA
from ..pencil.checks import check_k
from ..tables.kinds.frames import plain_frame
from .standardize import Standardizer, check_missing

SIZE = "n_features_to_select"


def has_size(estimator: Any) -> bool:
    """Whether the number of features can be asked for."""
    return hasattr(estimator, "fit_path") or SIZE in estimator.get_params(deep=False)


def fit_sizes(estimator: Any, Z: np.ndarray, y: np.ndarray, ks: Iterable[int]) -> dict[int, Any]:
    """One fitted estimator per k, by a single search where the estimator has one."""
    if hasattr(estimator, "fit_path"):
        models: dict[int, Any] = estimator.fit_path(Z, y, ks)
        return models
    return {k: clone(estimator).set_params(**{SIZE: k}).fit(Z, y) for k in ks}


def _inner_has(name: str) -> Any:
    """Before the fit the classifier to be tells; a NotFittedError follows."""
    return available_if(
        lambda self: hasattr(getattr(self, "estimator_", self.estimator or SparseLDA), name)
    )


class PreparedClassifier(MetaEstimatorMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Standardise the columns, fill missing values if wanted, then fit a classifier.

    What `study` fits in every training part, and returns: a classifier of raw rows.

    Parameters
    ----------
    estimator : classifier of the package, default SparseLDA()
    missing : "error" or "median"
        "median": a missing value (NaN) becomes the median of its column in the training rows.

    Attributes
    ----------
    estimator_ : the fitted classifier, of standardised columns
    standardizer_ : its ``center``, ``scale`` and ``fill`` (None without filling) of every column
        The columns of a sparse table are scaled, not centred: the center is then 0.
    classes_, support_, selected_features_, n_features_in_, feature_names_in_
        As for the classifier itself.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from eigensieve import GroupLassoLDA, PreparedClassifier
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = PreparedClassifier(GroupLassoLDA(4, rule="lda")).fit(X, y)
    >>> list(model.selected_features_)
    ['flavanoids', 'color_intensity', 'od280/od315_of_diluted_wines', 'proline']
    >>> round(model.score(X, y), 2)
    0.94
    """

    def __init__(self, estimator: Any = None, *, missing: str = "error") -> None:
        self.estimator = estimator
        self.missing = missing

    def fit(self, X: Any, y: ArrayLike) -> PreparedClassifier:
        """Standardise, then fit the classifier."""
        scaler, Z, labels = self._prepare(X, y)
        inner = self._template()
        self._take(inner, scaler)  # before the fit: Ctrl-C keeps what the classifier has by then
        inner.fit(Z, labels)
        return self._describe()

    def fit_path(self, X: Any, y: ArrayLike, ks: Iterable[int]) -> dict[int, PreparedClassifier]:
        """One fitted classifier per k; the estimator itself is not changed."""
        worker = clone(self)
        scaler, Z, labels = worker._prepare(X, y)
        sizes = sorted({check_k(k) for k in ks})
        models = {}
        for k, inner in fit_sizes(self._template(), Z, labels, sizes).items():
            model = clone(self)
            for name in ("n_features_in_", "feature_names_in_"):
                if hasattr(worker, name):
                    setattr(model, name, getattr(worker, name))
            models[k] = model._take(inner, scaler)._describe()
        return models

    def _template(self) -> Any:
        return SparseLDA() if self.estimator is None else clone(self.estimator)

    def _prepare(self, X: Any, y: ArrayLike) -> tuple[Standardizer, Any, np.ndarray]:
        table = plain_frame(require_in_memory(X, "PreparedClassifier"))
        check_unique_names(table)
        missing = check_missing(self.missing)
        data = validate_data(
            self, table, dtype=[np.float64, np.float32], ensure_all_finite=self._finite,
            accept_sparse="csr", ensure_min_samples=2,
        )  # fmt: skip
        labels = take_labels(y, data.shape[0])
        scaler = Standardizer.fit(data, missing)
        return scaler, scaler.apply(data), labels

    @property
    def _finite(self) -> bool | str:
        return "allow-nan" if self.missing == "median" else True

    def _take(self, inner: Any, scaler: Standardizer) -> PreparedClassifier:
        self.estimator_, self.standardizer_ = inner, scaler
        return self

    def _describe(self) -> PreparedClassifier:
        inner = self.estimator_
        self.classes_, self.support_ = inner.classes_, inner.get_support()
        names = getattr(self, "feature_names_in_", None)
        S = np.flatnonzero(self.support_)
        self.selected_features_ = S if names is None else names[S]
        return self

    def adopt(
        self, inner: Any, scaler: Standardizer, names: Sequence[str] | None = None
    ) -> PreparedClassifier:
        """Take over a classifier that was fitted on columns that the scaler had standardised."""
        self.n_features_in_ = scaler.center.size
        if names is not None:
            self.feature_names_in_ = np.array(names, dtype=object)
        return self._take(inner, scaler)._describe()

    def _standardized(self, X: Any) -> Any:
        check_is_fitted(self)
        table = plain_frame(require_in_memory(X, "PreparedClassifier"))
        data = validate_data(
            self, table, dtype=[np.float64, np.float32], reset=False,
            ensure_all_finite=self._finite, accept_sparse="csr",
        )  # fmt: skip
        return self.standardizer_.apply(data)

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of every row."""
        Z = self._standardized(X)
        return np.asarray(self.estimator_.predict(Z))

    @_inner_has("predict_proba")
    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class probabilities, as the classifier gives them; see ``estimator_.temperature_``."""
        Z = self._standardized(X)
        return np.asarray(self.estimator_.predict_proba(Z))

    @_inner_has("predict_log_proba")
    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Logarithms of the class probabilities."""
        Z = self._standardized(X)
        return np.asarray(self.estimator_.predict_log_proba(Z))

    @_inner_has("decision_function")
    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second, (n, n_classes) otherwise."""
        Z = self._standardized(X)
        return np.asarray(self.estimator_.decision_function(Z))

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Project on the directions of the classifier, (n, n_components)."""
        Z = self._standardized(X)
        return np.asarray(self.estimator_.transform(Z))

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Mask, or indices, of the selected features."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.get_support(indices=indices))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the columns that `transform` gives."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.get_feature_names_out())

    @property
    def solution_(self) -> Any:
        """What the search of the classifier says of itself, if it has one."""
        check_is_fitted(self)
        if not hasattr(self.estimator_, "solution_"):
            raise AttributeError(f"{type(self.estimator_).__name__} has no solution_")
        return self.estimator_.solution_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing == "median"
        tags.input_tags.sparse = True
        return tags


def check_classifier(estimator: Any) -> None:
    """Raise unless a study can work with it: it classifies, and says what it selected."""
    needed = ("fit", "predict", "get_support", "get_params")
    missing = [name for name in needed if not hasattr(estimator, name)]
    if missing or isinstance(estimator, type):
        raise InputError(
            f"{estimator!r} is no classifier that selects features (it lacks "
            f"{', '.join(missing) or 'an instance'}); give SparseLDA(), GroupLassoLDA(), "
            "RankedLDA(...) or the like"
        )
