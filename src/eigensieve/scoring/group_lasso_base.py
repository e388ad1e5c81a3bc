"""What the algorithms for the group lasso have in common: a start, and an answer that is judged."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from ..pencil.budget import Budget
from ..pencil.solution import Status
from .penalty_search import PenaltySearch
from .scoring import ScoringProblem
from .solution import TOL, GroupLassoSolution, evaluate, excuses


class GroupLassoMethod(PenaltySearch):
    """One problem at one penalty after the other, each from the answer before.

    Attributes
    ----------
    S, rows : the features in use and their rows of B, of the answer before
    t : array (p,), lambda w_j
    slope : array (p, q), of all features; None where it is not known
    """

    name: str
    slope: np.ndarray | None = None
    n_screened = 0

    def __init__(self, problem: ScoringProblem, budget: Budget, tol: float = TOL) -> None:
        super().__init__(problem, budget)
        self.tol = tol
        self.S = np.empty(0, dtype=np.intp)
        self.rows = np.empty((0, problem.target.shape[1]))

    @abstractmethod
    def _minimise(self, penalty: float) -> None:
        """Find S and rows; count the steps in n_iter."""

    def solve(self, penalty: float) -> GroupLassoSolution:
        """The minimiser at this penalty, with what it is worth."""
        start = self.budget.seconds
        self.t = penalty * self.problem.weights
        self.n_iter = 0
        self._minimise(penalty)
        self.penalty = penalty
        figures = evaluate(self.problem, self.S, self.rows, penalty, self.slope, tol=self.tol)
        stopped = self.budget.stop() or Status.ITERATION_LIMIT
        return GroupLassoSolution(
            support=self.S,
            rows=self.rows,
            n_features=self.t.size,
            penalty=penalty,
            lambda_max=self.problem.lambda_max,
            objective=figures.objective,
            bound=figures.bound,
            kkt=figures.kkt,
            tol=self.tol,
            status=Status.OPTIMAL if figures.is_proved else stopped,
            n_iter=self.n_iter,
            n_screened=self.n_screened,
            seconds=self.budget.seconds - start,
            solver=self.name,
        )

    def _allowed(self, penalty: float) -> np.ndarray:
        """The violation of each feature that is allowed, or that round-off alone leaves."""
        return np.maximum(self.tol, excuses(self.problem, self.S, self.rows, penalty))
