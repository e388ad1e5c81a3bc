"""What dense and sparse uncorrelated LDA share: data in, rule, projection."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod

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
from ..core.uncorrelated import UncorrelatedFamily
from ._rules import LinearRule, check_priors, check_rule, class_means, make_rule
from ._shared import check_unique_names

LOST_DIGITS = 1e-6  # orthogonality error


class ProjectedClassifier(
    ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator, ABC
):
    """A projection on uncorrelated directions, and a classifier in the space they span."""

    rule: str
    priors: ArrayLike | None
    rank_tol: float

    @abstractmethod
    def _find_directions(self, family: UncorrelatedFamily) -> np.ndarray:
        """G (p, l), and whatever else is known of it as attributes."""

    def _fit(self, X: ArrayLike, y: ArrayLike) -> None:
        check_unique_names(X)
        check_rule(self.rule, self.priors)
        check_labels(np.asarray(y))  # before scikit-learn, which stumbles over pandas' NA
        data, labels = validate_data(
            self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2
        )
        check_classification_targets(labels)
        self.classes_, code = np.unique(labels, return_inverse=True)
        counts = np.bincount(code)
        self.priors_ = check_priors(self.priors, counts / counts.sum())
        family = UncorrelatedFamily.from_data(data, labels, rank_tol=self.rank_tol)
        self.rank_ = family.rank
        self.canonical_correlations_ = family.correlations
        self.xbar_ = family.mean
        self.means_ = class_means(data, code)
        self.scalings_ = self._find_directions(family)
        m = self.scalings_.shape[1]
        separation = np.append(np.square(family.correlations), np.zeros(m))[:m]
        self.explained_variance_ratio_ = separation / np.square(family.correlations).sum()
        self._finish(data, code)

    def _finish(self, data: np.ndarray, code: np.ndarray) -> None:
        self.support_ = np.asarray(self.scalings_.any(axis=1))
        S = np.flatnonzero(self.support_)
        names = getattr(self, "feature_names_in_", None)
        self.selected_features_ = S if names is None else names[S]
        self.sparsity_ = float(np.mean(self.scalings_ == 0))
        self._n_features_out = self.scalings_.shape[1]
        Z = self._project(data)
        self.orthogonality_error_ = float(
            np.linalg.norm(Z.T @ Z / len(Z) - np.eye(Z.shape[1])) / np.sqrt(Z.shape[1])
        )
        self._rule = make_rule(self.rule, Z, code, self.priors_)
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)  # of an earlier fit, with another rule
        if isinstance(self._rule, LinearRule):
            self._set_coefficients(self._rule)

    def _tell_if_inexact(self) -> None:
        """Scores that should be uncorrelated and are not: the scales of columns differ too much."""
        if self.orthogonality_error_ > LOST_DIGITS:
            warnings.warn(
                f"the scores are uncorrelated only up to {self.orthogonality_error_:.0e}: the "
                "scales of the columns differ too much; standardise them",
                UserWarning,
                stacklevel=3,
            )

    def _set_coefficients(self, rule: LinearRule) -> None:
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
        """Project on the directions, (n, n_components): uncorrelated on the training rows."""
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
