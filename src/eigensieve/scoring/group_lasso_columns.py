"""Group lasso on a table that does not lie in memory: a working set of columns, and passes.

All penalties that are asked for are solved on the working set, in memory. One pass over all columns
then looks at the optimality conditions of all those answers at once: |slope_j| <= lambda w_j for
the columns left out. Those that violate one join, and it is solved anew, until there are none: the
answers are then optimal for all columns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..pencil.budget import Budget
from ..pencil.solution import Status
from ..tables.operators.column_passes import column_parts, largest
from .penalty_search import Ask, PenaltySearch
from .scoring import ScoringProblem, row_lengths
from .solution import GroupLassoSolution, evaluate

SET_ENTRIES = 2**22  # of the first working set (32 MB), and of what joins it at once
MIN_COLUMNS = 256
# Columns this near to their limit join, too: copies of a used one are among them, and the first
# of copies must be there to be taken.
NEAR = 1e-9


class ColumnSearch(PenaltySearch):
    """One problem at one penalty after the other, on the columns in ``working`` only.

    ``start`` makes the search on them. What comes out of `settle` is optimal for all columns.
    """

    def __init__(
        self,
        problem: ScoringProblem,
        budget: Budget,
        tol: float,
        start: Callable[[ScoringProblem], PenaltySearch],
    ) -> None:
        super().__init__(problem, budget)
        self.tol, self.start = tol, start
        self.most = max(MIN_COLUMNS, SET_ENTRIES // len(problem.factor))
        self._begin(largest(row_lengths(problem.correlations) / problem.weights, self.most))

    def _begin(self, working: np.ndarray) -> None:
        self.working = working
        self.part = self.problem.restrict(working)
        self.search = self.start(self.part)
        self.penalty = self.problem.lambda_max
        self.visited: dict[float, GroupLassoSolution] = {}

    def solve(self, penalty: float) -> GroupLassoSolution:
        """The minimiser at this penalty, as far as the working set goes."""
        found = self.visited[penalty] = self.search.solve(penalty)
        self.penalty = penalty
        return self._placed(found)

    def _placed(self, found: GroupLassoSolution) -> GroupLassoSolution:
        return replace(
            found,
            support=self.working[found.support],
            n_features=self.problem.weights.size,
            lambda_max=self.problem.lambda_max,
        )

    def settle(self, ask: Ask) -> list[GroupLassoSolution]:
        """What ``ask`` gets from this search, on a working set that is large enough for it."""
        while True:
            found = ask(self)
            joining, outside = self._look_outside()
            if joining.size == 0 or self.budget.stop() is not None:
                break
            self._begin(np.union1d(self.working, joining))
        return [self._judged(self.visited[one.penalty], outside[one.penalty]) for one in found]

    def _look_outside(self) -> tuple[np.ndarray, dict[float, float]]:
        """The columns that join, and for every penalty the largest |slope_j| / (lambda w_j).

        Those come first that violate a condition at a large penalty: they will be needed whatever
        the answers at smaller ones become.
        """
        answers = sorted(self.visited.values(), key=lambda one: -one.penalty)
        penalties = np.array([one.penalty for one in answers])
        rest = np.hstack([self.part.residual(one.support, one.rows) for one in answers])
        steepest = np.zeros(penalties.size)
        found: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []
        for where, columns in column_parts(self.problem.factor):
            slopes = (columns.T @ rest).reshape(-1, penalties.size, rest.shape[1] // len(answers))
            if not self.problem.is_separable:
                for i, one in enumerate(map(self._placed, answers)):
                    slopes[:, i] -= self.problem.quadratic_product(one.support, one.rows, where)
            ratio = np.sqrt(np.einsum("jiq,jiq->ji", slopes, slopes)) / penalties
            ratio /= self.problem.weights[where, None]
            own = slice(*np.searchsorted(self.working, [where.start, where.stop]))
            ratio[self.working[own] - where.start] = 0.0
            steepest = np.maximum(steepest, ratio.max(axis=0))
            over = ratio >= 1.0 - NEAR
            join = np.flatnonzero(over.any(axis=1))
            first = over[join].argmax(axis=1)
            found.append((where.start + join, first, ratio[join, first]))
        index, first, size = (np.concatenate(part) for part in zip(*found))
        order = np.lexsort((index, -size, first))
        return index[order[: self.most]], dict(zip(penalties.tolist(), steepest.tolist()))

    def _judged(self, found: GroupLassoSolution, outside: float) -> GroupLassoSolution:
        """The answer with the figures that it has among all columns."""
        figures = evaluate(
            self.part, found.support, found.rows, found.penalty, tol=self.tol, outside=outside
        )
        status = found.status
        if status is Status.OPTIMAL and not figures.is_proved:
            status = self.budget.stop() or Status.ITERATION_LIMIT
        judged = replace(found, bound=figures.bound, kkt=figures.kkt, status=status)
        return self._placed(judged)
