"""From a group-lasso solution to a classifier; what optimal-scoring estimators check and tell."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..errors import InputError
from ..pencil.criteria import fix_signs
from ..scoring.scoring import ScoringProblem
from ..scoring.solution import GroupLassoSolution
from ..tables.statistics import ClassStats
from ._projected import ProjectedClassifier
from ._rules import RULES, Rule, make_linear_rule, make_rule

ENDED = 1e-5  # alpha at which a path without a ridge has no more to give
GLOSS_RULES = (*RULES, "penalized")


class GlossClassifier(ProjectedClassifier):
    """The discriminant directions of a group lasso, and a rule in their space."""

    within: str
    weights: Any
    ridge: Any
    rule: str
    _takes_tables = True

    def _problem_options(self) -> dict[str, Any]:
        return {"within": self.within, "weights": self.weights, "ridge": self.ridge}

    def _take_solution(
        self,
        problem: ScoringProblem,
        solution: GroupLassoSolution,
        m: int,
        training: ClassStats | tuple[Any, np.ndarray],
    ) -> None:
        """Everything that is fitted, from the minimiser, with m directions at most.

        ``training`` is a table and the class 0..K-1 of every row, or their statistics.
        """
        if solution.support.size == 0:
            raise InputError(
                f"no feature is used at alpha = {solution.alpha:.4g}; take a smaller alpha"
            )
        S = solution.support
        V, values = problem.discriminate(S, solution.rows, solution.penalty)
        m = min(m, values.size)
        scalings = np.zeros((solution.n_features, m))
        scalings[S] = fix_signs(V[:, :m])
        self._set_directions(scalings, problem.mean, problem.means)
        self.solution_ = solution
        self.lambda_, self.lambda_max_ = solution.penalty, solution.lambda_max
        self.alpha_, self.kkt_ = solution.alpha, solution.kkt
        self.eigenvalues_ = values[:m]
        self.explained_variance_ratio_ = values[:m] / values.sum()
        if isinstance(training, ClassStats):
            rule = self._rule_of_stats(training)
        else:
            data, code = training
            rule = make_rule(self.rule, self._project(data), code, self.priors_)
        self._set_rule(rule)

    def _rule_of_stats(self, stats: ClassStats) -> Rule:
        """Means and covariance of the projected rows follow from those of the rows."""
        S = np.flatnonzero(self.support_)
        V = self.scalings_[S]
        means = (stats.means[:, S] - self.xbar_[S]) @ V
        within = V.T @ stats.within_scatter()[np.ix_(S, S)] @ V
        return make_linear_rule(self.rule, means, within, self.priors_)


def tell_if_not(k: int, found: int, alpha: float, of: str = "", stacklevel: int = 3) -> None:
    """A warning if k features were asked for and the path skips that number."""
    if found != k:
        warnings.warn(
            f"{of}no penalty was found that uses exactly {k} features; the nearest number is "
            f"{found} (alpha = {alpha:.4g})"
            + ("; more need a ridge, or within='diagonal'" if found < k and alpha < ENDED else ""),
            UserWarning,
            stacklevel=stacklevel,
        )
