"""Classifiers in a space of few directions: data in, projection, rule, predictions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)

from ..errors import InputError
from ..tables.kinds.arrays import is_device_array, like, to_numpy
from ..tables.kinds.big_table import BigTable, count_per_block, equal_blocks
from ..tables.operators.device_rows import take_columns
from ._callbacks import WatchedFit
from ._partial import check_fitted
from ._rules import LinearRule, Rule, check_priors
from ._shared import clip_components
from ._validation import (
    labels_on_host,
    read_columns,
    require_in_memory,
    take_labels,
    validate_table,
)


class ProjectedClassifier(
    WatchedFit, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator
):
    """A projection on a few directions, and a classifier in the space they span.

    To fit, call ``_take_data``, ``_set_directions`` and ``_set_rule`` in this order, within
    ``_watched``.
    """

    priors: ArrayLike | None
    n_components: int | None = None
    # whether it is fitted to sparse matrices and to tables that are read in blocks
    _takes_tables = False
    # whether blocks will do for the fit: else what is not sparse must lie in memory then
    _fits_blocks = True

    def _take_data(self, X: Any, y: ArrayLike | None) -> tuple[Any, np.ndarray]:
        """The table (n, p) and the class 0..K-1 of every row."""
        data = self._open(X)
        labels = take_labels(y, data.shape[0], data)
        self.classes_, code = np.unique(labels, return_inverse=True)
        if self.classes_.size < 2:
            raise InputError(f"y has one class only ({str(self.classes_[0])!r}); two are needed")
        counts = np.bincount(code)
        self.priors_ = check_priors(self.priors, counts / counts.sum())
        return data, code

    def _open(self, X: Any) -> Any:
        if self._takes_tables and (self._fits_blocks or sparse.issparse(X)):
            device = getattr(self, "device", None)
            return validate_table(self, X, reset=True, device=device, min_samples=2)
        data = require_in_memory(X, type(self).__name__)
        return validate_table(self, data, reset=True, accept_sparse=False, min_samples=2)

    def _count_directions(self, stacklevel: int = 4) -> int:
        """As many as n_components says, or all that so many classes have."""
        K = self.classes_.size
        return clip_components(self.n_components, K - 1, f"{K} classes", stacklevel)

    def _tell_of_fewer(self, wanted: int, stacklevel: int = 3) -> None:
        """A warning if n_components asks for more directions than were found."""
        if self.n_components is not None and self.n_components_ < wanted:
            found = "1 direction was" if self.n_components_ == 1 else f"{self.n_components_} were"
            warnings.warn(
                f"n_components is {self.n_components}, but only {found} found",
                UserWarning,
                stacklevel=stacklevel,
            )

    def _set_directions(
        self, scalings: np.ndarray, xbar: np.ndarray, means: np.ndarray, support: Any = None
    ) -> None:
        """Project rows less ``xbar`` (p,) on ``scalings`` (p, m); ``means`` (K, p) of classes.

        ``support`` are the features that were selected, if others than those with a weight.
        """
        self.scalings_, self.xbar_, self.means_ = scalings, xbar, means
        S = np.flatnonzero(scalings.any(axis=1)) if support is None else support
        self.support_ = np.zeros(len(scalings), dtype=bool)
        self.support_[S] = True
        names = getattr(self, "feature_names_in_", None)
        self.selected_features_ = S if names is None else names[S]
        self.sparsity_ = float(np.mean(scalings == 0))
        self.n_components_ = self._n_features_out = scalings.shape[1]
        self.temperature_ = 1.0  # a study fits another to predictions of samples left out

    def _set_rule(self, rule: Rule) -> None:
        """Classify projected rows by this rule."""
        self._rule = rule
        for name in ("coef_", "intercept_"):
            self.__dict__.pop(name, None)  # of an earlier fit, with another rule
        if isinstance(rule, LinearRule):
            coef = rule.weights @ self.scalings_.T
            self._set_coef(coef, rule.offsets - coef @ self.xbar_)

    def _set_coef(self, coef: np.ndarray, intercept: np.ndarray) -> None:
        """From those of every class; two classes have one row, for the second."""
        if self.classes_.size == 2:
            coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
        self.coef_, self.intercept_ = coef, intercept

    def _project(self, table: Any) -> np.ndarray:
        S = np.flatnonzero(self.support_)
        return project_rows(table, S, self.xbar_[S], self.scalings_[S])

    def _scores(self, X: Any) -> np.ndarray:
        Z = self._project(self._check(X))
        return self._rule.scores(Z)

    def _check(self, X: Any) -> Any:
        check_fitted(self, "scalings_")
        return validate_table(self, X, reset=False, accept_sparse=self._takes_tables)

    def transform(self, X: Any) -> np.ndarray:
        """Project on the directions, (n, n_components)."""
        return self._project(self._check(X))

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores: (n,) for two classes, positive for the second, (n, n_classes) otherwise."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The class of every row."""
        winners: np.ndarray = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[winners])

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, (n, n_classes).

        The softmax of the scores divided by ``temperature_``, which is 1 after a fit. With rule
        "1-nn" they are 0 or 1. After a fit they are too sure of themselves: the class means and
        the covariance count as known, and the features were selected on the same samples. A study
        fits the temperature to its predictions of samples left out.
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the class probabilities."""
        scores = self._scores(X)
        return self._rule.log_proba(scores / self.temperature_)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """The share of rows whose class is predicted right."""
        return float(super().score(X, labels_on_host(y), sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._takes_tables
        return tags

    def get_support(self, indices: bool = False) -> np.ndarray:
        """Mask, or indices, of the features that any direction uses."""
        check_fitted(self, "scalings_")
        return np.flatnonzero(self.support_) if indices else self.support_


def project_rows(table: Any, S: np.ndarray, centre: np.ndarray, V: np.ndarray) -> np.ndarray:
    """(X_S - centre) V (n, m) of the columns S, which ascend, for V (|S|, m)."""
    n = table.shape[0]
    if isinstance(table, BigTable) and table.is_tall:
        return table.map_rows(lambda block: (block[:, S] - centre) @ V)
    if isinstance(table, BigTable) and n > count_per_block(S.size):
        return _project_in_pass(table, S, centre, V)
    if sparse.issparse(table):
        few = table[:, S].tocsr()
        blocks = equal_blocks(n, count_per_block(S.size))
        return np.concatenate([(few[rows].toarray() - centre) @ V for rows in blocks])
    if is_device_array(table):
        columns = take_columns(table, S)
        return to_numpy((columns - like(centre, table)) @ like(V, table))
    return (read_columns(table, S) - centre) @ V


def _project_in_pass(
    table: BigTable, S: np.ndarray, centre: np.ndarray, V: np.ndarray
) -> np.ndarray:
    Z = np.zeros((table.shape[0], V.shape[1]))
    for where, block in table.column_blocks():
        own = slice(*np.searchsorted(S, [where.start, where.stop]))
        Z += (block[:, S[own] - where.start] - centre[own]) @ V[own]
    return Z
