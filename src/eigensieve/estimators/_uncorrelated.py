"""What dense and sparse uncorrelated LDA share."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..pursuit.uncorrelated import UncorrelatedFamily
from ._projected import ProjectedClassifier
from ._rules import check_rule, make_rule

LOST_DIGITS = 1e-6  # orthogonality error


class UncorrelatedClassifier(ProjectedClassifier, ABC):
    """A projection on uncorrelated directions, and a classifier in the space they span."""

    rule: str
    rank_tol: float
    _takes_tables = True
    # whether the factors are those of standardised columns, so that units do not matter
    _standardizes = False
    # what costs the scores their digits
    _loss = "the scales of the columns differ too much; standardise them"

    @abstractmethod
    def _find_directions(self, family: UncorrelatedFamily) -> np.ndarray:
        """G (p, l), and whatever else is known of it as attributes."""

    def _fit(self, X: Any, y: ArrayLike | None) -> None:
        check_rule(self.rule, self.priors)
        data, code = self._take_data(X, y)
        family = UncorrelatedFamily.from_data(
            data, code, rank_tol=self.rank_tol, standardize=self._standardizes
        )
        self.rank_ = family.rank
        self.canonical_correlations_ = family.correlations
        G = self._find_directions(family)
        self._set_directions(G, family.mean, family.means)
        m = G.shape[1]
        self.explained_variance_ratio_ = self._separation(family.correlations, m)
        Z = self._project(data)
        self.orthogonality_error_ = float(np.linalg.norm(Z.T @ Z / len(Z) - np.eye(m)) / np.sqrt(m))
        self._set_rule(make_rule(self.rule, Z, code, self.priors_))

    def _separation(self, correlations: np.ndarray, m: int) -> np.ndarray:
        """The share of each of the m directions in trace(G'S_b G)."""
        squares = np.square(correlations)
        return np.append(squares, np.zeros(m))[:m] / squares.sum()

    def _tell_if_inexact(self) -> None:
        """Scores that should be uncorrelated and are not."""
        if self.orthogonality_error_ > LOST_DIGITS:
            warnings.warn(
                f"the scores are uncorrelated only up to {self.orthogonality_error_:.0e}: "
                f"{self._loss}",
                UserWarning,
                stacklevel=3,
            )
