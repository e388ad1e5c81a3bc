"""Group-lasso optimal scoring (GLOSS): the door to its algorithms, and its path.

Sanchez Merchante, Grandvalet and Govaert (2012). None of the algorithms is a solver of pencils, so
none declares a ``SOLVER``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import OptionError
from ..pencil.budget import Budget
from ..pencil.row_factor import RowFactor
from .group_lasso import GroupLassoSearch
from .group_lasso_columns import ColumnSearch
from .group_lasso_dual import DualGroupLassoSearch, can_solve, suits
from .group_lasso_variational import VariationalSearch
from .penalty_search import PenaltySearch, solve_path
from .scoring import ScoringProblem
from .solution import GroupLassoSolution


def make_search(problem: ScoringProblem, solver: str, tol: float, budget: Budget) -> PenaltySearch:
    """The algorithm of that name; "auto": the dual where it is small and smooth."""
    if solver == "dual" and not can_solve(problem):
        raise OptionError(
            "solver 'dual' is for within='diagonal' (or a ridge that is a number), at most 21 "
            "classes, and columns that vary within the classes; use 'working-set'"
        )
    if isinstance(problem.factor, RowFactor):
        return ColumnSearch(
            problem, budget, tol, lambda part: make_search(part, solver, tol, budget)
        )
    if solver == "variational":
        return VariationalSearch(problem, budget, tol)
    if solver == "dual" or (solver == "auto" and suits(problem)):
        return DualGroupLassoSearch(problem, budget, tol)
    return GroupLassoSearch(problem, budget, tol)


@dataclass(frozen=True, eq=False, repr=False)
class GlossPath:
    """Group-lasso optimal scoring at several penalties; ``path[i]`` is the i-th solution.

    Attributes
    ----------
    problem : ScoringProblem, what the solutions belong to
    solutions : tuple of GroupLassoSolution
    """

    problem: ScoringProblem
    solutions: tuple[GroupLassoSolution, ...]

    @property
    def lambda_max(self) -> float:
        """The smallest penalty at which no feature is used."""
        return self.problem.lambda_max

    @property
    def lambdas(self) -> np.ndarray:
        """The penalties, (m,)."""
        return np.array([s.penalty for s in self.solutions])

    @property
    def alphas(self) -> np.ndarray:
        """The penalties as shares of lambda_max."""
        return np.array([s.alpha for s in self.solutions])

    @property
    def n_selected(self) -> np.ndarray:
        """The numbers of features in use."""
        return np.array([s.support.size for s in self.solutions])

    @property
    def supports(self) -> list[np.ndarray]:
        """The indices of the features in use."""
        return [s.support for s in self.solutions]

    @property
    def kkts(self) -> np.ndarray:
        """How far the optimality conditions are off, as shares of lambda w_j."""
        return np.array([s.kkt for s in self.solutions])

    @property
    def coefs(self) -> np.ndarray:
        """B at every penalty, (m, p, q)."""
        shape = (-1, self.problem.weights.size, self.problem.target.shape[1])
        return np.array([s.coefficients for s in self.solutions]).reshape(shape)

    def directions(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        """The discriminant directions (p, m) at the i-th penalty and their eigenvalues (m,)."""
        solution = self.solutions[i]
        V, values = self.problem.discriminate(solution.support, solution.rows, solution.penalty)
        full = np.zeros((solution.n_features, values.size))
        full[solution.support] = V
        return full, values

    def __len__(self) -> int:
        return len(self.solutions)

    def __getitem__(self, i: int) -> GroupLassoSolution:
        return self.solutions[i]

    def __repr__(self) -> str:
        return f"GlossPath({len(self)} penalties, {self.n_selected.tolist()} features)"


def follow_path(
    problem: ScoringProblem,
    shares: np.ndarray,
    solver: str,
    tol: float,
    max_features: int | None,
    budget: Budget,
) -> GlossPath:
    """The solutions at descending shares of lambda_max, as far as time and features allow."""
    with budget.interruptible():
        found = solve_path(make_search(problem, solver, tol, budget), shares, max_features)
    return GlossPath(problem, tuple(found))
