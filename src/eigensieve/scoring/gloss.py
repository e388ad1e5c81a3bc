"""Group-lasso optimal scoring (GLOSS): the door to its algorithms, and its path.

Sanchez Merchante, Grandvalet and Govaert (2012). None of the algorithms is a solver of pencils, so
none declares a ``SOLVER``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..errors import OptionError
from ..pencil.budget import Budget, Callback
from ..pencil.checks import check_k
from ..pencil.row_factor import RowFactor
from .group_lasso import GroupLassoSearch
from .group_lasso_columns import ColumnSearch
from .group_lasso_dual import DualGroupLassoSearch, can_solve, suits
from .group_lasso_variational import VariationalSearch
from .options import check_alphas, check_method
from .penalty_search import PenaltySearch, solve_path
from .scoring import ScoringProblem
from .solution import TOL, GroupLassoSolution


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


def gloss_path(
    X: Any,
    y: ArrayLike,
    alphas: ArrayLike | None = None,
    *,
    within: str = "full",
    weights: ArrayLike | str | None = None,
    ridge: Any = 0.0,
    max_features: int | None = None,
    solver: str = "auto",
    tol: float = TOL,
    time_limit: float | None = None,
    callback: Callback | None = None,
) -> GlossPath:
    """Group-lasso optimal scoring (GLOSS) at a range of penalties, each from the one before.

    Parameters
    ----------
    X : array (n, p), scipy.sparse matrix, or a table that is read in blocks (dask, zarr, ...)
    y : array (n,), class labels
    alphas : penalties as shares of lambda_max, 1e-9 to 1; solved in descending order
        By default 15, from 1 to 1/128, each 1 / sqrt(2) of the one before.
    within, weights, ridge, solver, tol : as in `GroupLassoLDA`
    max_features : end the path before the first penalty at which more features are used
    time_limit : seconds; the path then ends where it is
    callback : called with progress events

    Returns
    -------
    GlossPath

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 200)), np.arange(60) % 3
    >>> X[y == 1, :3] += 2
    >>> path = es.gloss_path(X, y, [0.8, 0.5, 0.2])
    >>> path.n_selected.tolist(), path[1].support.tolist()
    ([2, 3, 13], [0, 1, 2])
    >>> V, values = path.directions(1)
    >>> V.shape
    (200, 2)
    """
    budget = Budget(time_limit, callback=callback)
    most = None if max_features is None else check_k(max_features, "max_features")
    shares = check_alphas(alphas)
    tolerance = check_method(solver, tol)
    problem = ScoringProblem.from_data(X, y, within=within, weights=weights, ridge=ridge)
    with budget.interruptible():
        found = solve_path(make_search(problem, solver, tolerance, budget), shares, most)
    return GlossPath(problem, tuple(found))
