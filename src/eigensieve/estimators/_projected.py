"""Classifiers in a space of few directions: data in, projection, rule, predictions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.checks import check_labels
from ..errors import InputError
from ._rules import LinearRule, Rule, check_priors
from ._shared import check_unique_names


class ProjectedClassifier(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """A projection on a few directions, and a classifier in the space they span.

    To fit, call ``_take_data``, ``_set_directions`` and ``_set_rule`` in this order.
    """

    priors: ArrayLike | None

    def _take_data(self, X: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        """The data (n, p) and the class 0..K-1 of every row."""
        check_unique_names(X)
        check_labels(np.asarray(y))  # before scikit-learn, which stumbles over pandas' NA
        data, labels = validate_data(
            self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        check_classification_targets(labels)
        self.classes_, code = np.unique(labels, return_inverse=True)
        if self.classes_.size < 2:
            raise InputError(f"y has one class only ({str(self.classes_[0])!r}); two are needed")
        counts = np.bincount(code)
        self.priors_ = check_priors(self.priors, counts / counts.sum())
        return data, code

    def _set_directions(self, scalings: np.ndarray, xbar: np.ndarray, means: np.ndarray) -> None:
        """Project rows less ``xbar`` (p,) on ``scalings`` (p, m); ``means`` (K, p) of classes."""
        self.scalings_, self.xbar_, self.means_ = scalings, xbar, means
        self.support_ = np.asarray(scalings.any(axis=1))
        S = np.flatnonzero(self.support_)
        names = getattr(self, "feature_names_in_", None)
        self.selected_features_ = S if names is None else names[S]
        self.sparsity_ = float(np.mean(scalings == 0))
        self.n_components_ = self._n_features_out = scalings.shape[1]

    def _set_rule(self, rule: Rule) -> None:
        """Classify projected rows by this rule."""
        self._rule = rule
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)  # of an earlier fit, with another rule
        if isinstance(rule, LinearRule):
            coef = rule.weights @ self.scalings_.T
            intercept = rule.offsets - coef @ self.xbar_
            if self.classes_.size == 2:
                coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
            self.coef_, self.intercept_ = coef, intercept

    def _project(self, data: np.ndarray) -> np.ndarray:
        S = np.flatnonzero(self.support_)
        return (np.asarray(data[:, S], dtype=np.float64) - self.xbar_[S]) @ self.scalings_[S]

    def _scores(self, X: ArrayLike) -> np.ndarray:
        Z = self._project(self._check(X))
        return self._rule.scores(Z)

    def _check(self, X: ArrayLike) -> np.ndarray:
        check_is_fitted(self)
        return validate_data(self, X, dtype=[np.float64, np.float32], reset=False)

    def transform(self, X: ArrayLike) -> np.ndarray:
        """Project on the directions, (n, n_components)."""
        return self._project(self._check(X))

    def decision_function(self, X: ArrayLike) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second, (n, n_classes) otherwise."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: ArrayLike) -> np.ndarray:
        """The class of every row."""
        winners: np.ndarray = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: ArrayLike) -> np.ndarray:
        """Class probabilities; see the notes of the class on what they are worth."""
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: ArrayLike) -> np.ndarray:
        """Logarithms of the class probabilities."""
        Z = self._project(self._check(X))
        return self._rule.log_proba(Z)

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Mask, or indices, of the features that any direction uses."""
        check_is_fitted(self)
        return np.flatnonzero(self.support_) if indices else self.support_
