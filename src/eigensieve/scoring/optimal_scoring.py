"""Sparse optimal scoring with a lasso for each direction (Clemmensen et al. 2011: "SLDA", "sda").

With orthonormal class contrasts T (n, K - 1), for one direction after the other, in turn

    b = argmin 1/2 |Ta - Xb|^2 + 1/2 b'Rb + lambda |b|_1     for the scores a,
    a = the unit vector along T'Xb, less what the scores of earlier directions have of it,

until a stays: the criterion falls in every step. It is not convex in both, and the answer depends
on the start: at the largest lambda that leaves a feature the scores of that feature, which are then
optimal; from there on those of the lambda before, on the way to the lambda that is wanted, or has
the number of features wanted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import linalg

from ..pencil.budget import Budget
from ..pencil.criteria import fix_signs
from .group_lasso import GroupLassoSearch
from .penalty_search import PenaltySearch, solve_at, solve_for
from .scoring import ScoringProblem, row_lengths
from .solution import GroupLassoSolution

LASSO_TOL = 1e-10
NOTHING = 1e-12  # of the separation: no scores are left
NEAR = 0.1  # scores may move so far in one step and still be stretched


@dataclass(frozen=True, eq=False)
class ScoredDirection:
    """A direction, its class scores, and how it was found.

    Attributes
    ----------
    scores : array (K - 1,), a, of length 1, in terms of the contrasts
    solution : GroupLassoSolution, the lasso b for these scores
    alpha : float, its penalty as a share of the largest that any scores allow
    n_iter : int, lassos that were solved for this penalty
    converged : bool
    """

    scores: np.ndarray
    solution: GroupLassoSolution
    alpha: float
    n_iter: int
    converged: bool


def find_scored_directions(
    problem: ScoringProblem,
    sizes: Sequence[int | None],
    budget: Budget,
    *,
    alpha: float | None,
    tol: float,
    max_iter: int,
) -> list[ScoredDirection]:
    """One direction after the other, each with its number of features.

    Where the size is None the penalty is alpha times the largest useful one. There are fewer
    directions if no score is left, or if the penalty leaves no feature.
    """
    found: list[ScoredDirection] = []
    for k in sizes:
        earlier = [direction.scores for direction in found]
        free = linalg.null_space(np.array(earlier)) if earlier else np.eye(problem.target.shape[1])
        if free.shape[1] == 0 or problem.combine(free).lambda_max <= NOTHING * problem.lambda_max:
            break
        search = _DirectionSearch(problem.combine(free), budget, tol, max_iter)
        if k is not None:
            solution = solve_for(search, k)
        else:
            assert alpha is not None
            solution = solve_at(search, alpha)
        if solution.support.size == 0:
            break
        found.append(search.describe(solution, free))
        if budget.stop() is not None:
            break
    return found


class _DirectionSearch(PenaltySearch):
    """One direction at one penalty after the other, each from the scores before."""

    def __init__(self, problem: ScoringProblem, budget: Budget, tol: float, max_iter: int) -> None:
        super().__init__(problem, budget)
        self.tol, self.max_iter = tol, max_iter
        first = problem.correlations[np.argmax(row_lengths(problem.correlations) / problem.weights)]
        self.a = first / np.linalg.norm(first)
        self.lasso = GroupLassoSearch(problem.combine(self.a[:, None]), budget, LASSO_TOL)
        self.known: dict[float, tuple[np.ndarray, int, bool]] = {}

    def solve(self, penalty: float) -> GroupLassoSolution:
        """Lassos and scores in turn, until the scores stay.

        Where the lasso nearly interpolates, the scores move little at a time: their steps are
        stretched, twice as far every time, as long as the criterion falls.
        """
        best, stretch, n_iter = np.inf, 1.0, 0
        while n_iter < self.max_iter:
            solution, n_iter = self.lasso.solve(penalty), n_iter + 1
            lower = solution.objective <= best
            if lower or stretch == 1.0:  # a plain step falls for sure, but for round-off
                best, kept, a = solution.objective, solution, self.a
                target = self._best_scores(solution)
                stretch = 2.0 * stretch if lower else 1.0
            else:
                stretch = 1.0
            converged = float(np.linalg.norm(target - a)) <= self.tol
            if converged or self.budget.stop() is not None:
                break
            if float(np.linalg.norm(target - a)) > NEAR:
                stretch = 1.0  # a long way from convergence stretched steps may miss the optimum
            moved = a + stretch * (target - a)
            self._score_by(moved / np.linalg.norm(moved))
        self._score_by(a)
        self.penalty = penalty
        self.known[penalty] = a, n_iter, converged
        return kept

    def _best_scores(self, solution: GroupLassoSolution) -> np.ndarray:
        """The unit vector along T'Xb; the scores as they are if b is zero."""
        reach = self.problem.correlations[solution.support].T @ solution.rows[:, 0]
        return reach / np.linalg.norm(reach) if solution.support.size else self.a

    def _score_by(self, a: np.ndarray) -> None:
        self.a = a
        self.lasso.turn_to(self.problem.combine(a[:, None]))

    def describe(self, solution: GroupLassoSolution, free: np.ndarray) -> ScoredDirection:
        """A solution that was found, with its scores in terms of all contrasts.

        Both with the sign that makes the largest weight positive.
        """
        a, n_iter, converged = self.known[solution.penalty]
        rows = fix_signs(solution.rows)
        if (rows != solution.rows).any():
            a = -a
        alpha = solution.penalty / self.problem.lambda_max
        return ScoredDirection(free @ a, replace(solution, rows=rows), alpha, n_iter, converged)
