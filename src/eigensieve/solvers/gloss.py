"""Group-lasso optimal scoring (GLOSS): the door to its algorithms, its path, exactly k features.

Sanchez Merchante, Grandvalet and Govaert (2012). None of the algorithms is a solver of pencils, so
none declares a ``SOLVER``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..core.budget import Budget, Callback
from ..core.checks import check_k, check_number
from ..core.group_lasso import GroupLassoSolution
from ..core.scoring import ScoringProblem, row_lengths
from ..errors import OptionError
from .dual_group_lasso import DualGroupLassoSearch, suits
from .group_lasso import TOL, GroupLassoSearch
from .variational_group_lasso import VariationalSearch

SOLVERS = ("auto", "working-set", "dual", "variational")
ALPHAS = 0.5 ** (np.arange(15) / 2)  # 1 to 1/128
SMALLEST = 1e-9  # alpha that can be asked for
# The search for k features.
FINER = 0.5**0.25  # ratio of penalties
LEAST_ALPHA = 1e-6
UNDECIDED = 1e-6  # (F_j'F_j + R_jj) |beta_j| / (lambda w_j) up to which a feature just enters
FURTHER = 24  # penalties that are looked at after one at which k was skipped
SAME = 1e-9  # relative distance of penalties between which nothing more is looked for
SHARP = 0.01  # how well the least penalty with k features is known


class Search(Protocol):
    """Solves one problem at one penalty after the other, each from the answer before."""

    problem: ScoringProblem
    budget: Budget

    def solve(self, penalty: float) -> GroupLassoSolution:
        """The minimiser at this penalty."""


def check_method(solver: Any, tol: Any) -> float:
    """The tolerance, if it and the solver are ones that can be asked for."""
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise OptionError(f"solver is {solver!r}; it must be one of {', '.join(SOLVERS)}")
    return check_number(tol, "tol", 1e-15, 0.1, "a number from 1e-15 to 0.1")


def check_alpha(alpha: Any) -> float:
    """A penalty as a share of lambda_max that leaves something."""
    below = float(np.nextafter(1.0, 0.0))
    return check_number(alpha, "alpha", SMALLEST, below, f"at least {SMALLEST:g} and below 1")


def make_search(problem: ScoringProblem, solver: str, tol: float, budget: Budget) -> Search:
    """The algorithm of that name; "auto": the dual where it is small and smooth."""
    check_method(solver, tol)
    if solver == "dual" and not suits(problem):
        raise OptionError(
            "solver 'dual' is for within='diagonal', not too many classes, and columns that vary "
            "within the classes; use 'working-set'"
        )
    if solver == "variational":
        return VariationalSearch(problem, budget, tol)
    if solver == "dual" or (solver == "auto" and suits(problem)):
        return DualGroupLassoSearch(problem, budget, tol)
    return GroupLassoSearch(problem, budget, tol)


def solve_at(search: Search, alpha: float) -> GroupLassoSolution:
    """The minimiser at alpha lambda_max, by way of larger penalties."""
    steps = int(np.ceil(np.log2(1.0 / alpha)))
    for share in alpha ** (np.arange(1, steps) / steps):
        if search.budget.stop() is None:
            search.solve(search.problem.lambda_max * float(share))
    return search.solve(search.problem.lambda_max * alpha)


def solve_for(search: Search, k: int) -> GroupLassoSolution:
    """The minimiser with k features, at the least penalty of an interval where there are k.

    The path is followed from lambda_max on; where it passes k the penalty is bisected. If k is
    skipped (two features enter at one penalty) the path is followed a little further; if k does not
    come, the answer is the one with the nearest number of features, the fewer of two.
    """
    top, past = search.problem.lambda_max, 0
    last = search.solve(top)
    seen: list[GroupLassoSolution] = []
    for exponent in range(1, int(np.log(LEAST_ALPHA) / np.log(FINER)) + 1):
        if past > FURTHER or (seen and search.budget.stop() is not None):
            break
        found = search.solve(top * FINER**exponent)
        seen += [found, *_between(search, last, found, k)]
        if any(_is_clear(search, s) and s.support.size == k for s in seen):
            break
        past += past > 0 or _count(search, found) > k
        last = found
    used = [s for s in seen if s.support.size > 0]
    clear = [s for s in used if _is_clear(search, s)] or used
    size = min((s.support.size for s in clear), key=lambda size: (abs(size - k), size))
    best = min((s for s in clear if s.support.size == size), key=lambda s: s.penalty)
    lower = [s.penalty for s in seen if s.penalty < best.penalty]
    return _least_penalty(search, best, max(lower, default=0.0))


def _count(search: Search, solution: GroupLassoSolution) -> int:
    """Features in use, without those that are so near to where they enter that round-off decides.

    (Of copies that share a weight, and enter at one penalty, some may be missing just below it.)
    """
    problem, S = search.problem, solution.support
    pull = problem.curvatures[S] * row_lengths(solution.rows)
    return int(np.count_nonzero(pull > UNDECIDED * solution.penalty * problem.weights[S]))


def _is_clear(search: Search, solution: GroupLassoSolution) -> bool:
    return _count(search, solution) == solution.support.size


def _between(
    search: Search, high: GroupLassoSolution, low: GroupLassoSolution, k: int
) -> Iterator[GroupLassoSolution]:
    """Answers at penalties between two that have k between their numbers of features."""
    above, below = _count(search, high) - k, _count(search, low) - k
    while above * below < 0:
        if high.penalty <= low.penalty * (1 + SAME) or search.budget.stop() is not None:
            break
        found = search.solve(float(np.sqrt(high.penalty * low.penalty)))
        yield found
        # k and one that just enters: k are a little above
        here = (_count(search, found) - k) or (found.support.size - k)
        if here * above > 0:
            high, above = found, here
        else:
            low, below = found, here


def _least_penalty(search: Search, found: GroupLassoSolution, end: float) -> GroupLassoSolution:
    """From ``found`` towards the penalty ``end``, as long as the number of features stays."""
    least = LEAST_ALPHA * search.problem.lambda_max
    while found.penalty > max(end * (1 + SHARP), least) and search.budget.stop() is None:
        middle = float(np.sqrt(found.penalty * end))
        next_one = search.solve(max(middle, FINER * found.penalty))
        if next_one.support.size == found.support.size:
            found = next_one
        else:
            end = next_one.penalty
    return found


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
        return np.stack([s.coefficients for s in self.solutions])

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
    X: ArrayLike,
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
    X : array (n, p)
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
    search = make_search(problem, solver, tolerance, budget)
    solutions: list[GroupLassoSolution] = []
    with budget.interruptible():
        for i, alpha in enumerate(shares):
            solution = search.solve(problem.lambda_max * float(alpha))
            too_many = most is not None and solution.support.size > most
            if too_many or (budget.stop() is not None and solutions):
                break
            solutions.append(solution)
            budget.report("gloss", "path", i + 1, total=shares.size)
    return GlossPath(problem, tuple(solutions))


def check_alphas(alphas: ArrayLike | None) -> np.ndarray:
    """Shares of lambda_max, descending."""
    if alphas is None:
        return ALPHAS.copy()
    wrong = OptionError(
        f"alphas is {alphas!r}; it must list numbers from {SMALLEST:g} to 1, such as [0.5, 0.1]"
    )
    try:
        shares = np.array(alphas, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise wrong from None
    if shares.ndim != 1 or shares.size == 0 or not np.all((shares >= SMALLEST) & (shares <= 1)):
        raise wrong
    return np.sort(shares)[::-1].copy()
