"""What a solver file declares about itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from ..pencil.budget import Budget
from ..pencil.criteria import CRITERIA
from ..pencil.problem import Problem
from ..pencil.solution import Solution
from .target import Outcome

SolveFunction = Callable[..., Solution]
PathFunction = Callable[..., dict[int, Solution]]
SearchFunction = Callable[..., Outcome]
ComponentsFunction = Callable[..., tuple[np.ndarray, list[Solution]]]
# (problem, support, cut, budget) -> a bound on all sets, and what one above the cut may hold
ScreenFunction = Callable[[Problem, np.ndarray, float, Budget], tuple[float, np.ndarray]]


@dataclass(frozen=True)
class OnDisk:
    """How a solver works on a wide table on disk.

    Attributes
    ----------
    criteria : those that it understands where A is on disk
    """

    criteria: Sequence[str] = ("lambda_max",)


@dataclass(frozen=True)
class Solver:
    """A solver: its functions and what it can do.

    Attributes
    ----------
    name : str, also the name of its file
    summary : one line for tables and help texts
    solve : function (problem, budget, *, options) -> Solution
    search : function (target, budget, options) -> Outcome, optional
        Of an exact solver that can go on from what is known: see `SearchOptions`.
    path : function (problem, ks, budget, *, options) -> {k: Solution}, optional
        Only if a whole path is cheaper than one solve per k.
    screen : says which features are worth searching among, optional
        Of an exact solver: on disk, which features are worth reading into memory; without it the
        solver takes a table on disk as it is.
    screens_first : function (problem) -> whether its screen is a better first look than the bound
        of quick_bound.py
    components : function (problem, ks, budget, *, options) -> loadings, [Solution], optional
        All components of a PCA at once, for a method without deflation: its own loadings
        (n_features, m), of unit norm, and the Solution of each component's support. ks has
        one entry per component: k, or None where a penalty decides.
    criteria : the criteria it understands
    certifies : whether it can prove optimality
    max_features : the largest pencil it accepts, None for any
    refuses : function (problem) -> why the solver is not made for this problem, or None
    choose : function (problem) -> name of the solver to take, instead of ``solve``
    on_disk : how it works on a table on disk; None if it needs all of it in memory
    takes_limits : whether it keeps limits on groups and costs, see `Problem.limits`
    warm_start : whether its option ``start`` is a set of features, of any size; then it is
        started along a path from the set before
    """

    name: str
    summary: str
    solve: SolveFunction | None = None
    search: SearchFunction | None = None
    screen: ScreenFunction | None = None
    screens_first: Callable[[Problem], bool] | None = None
    path: PathFunction | None = None
    components: ComponentsFunction | None = None
    criteria: Sequence[str] = CRITERIA
    certifies: bool = False
    max_features: int | None = None
    refuses: Callable[[Problem], str | None] | None = None
    choose: Callable[[Problem], str] | None = None
    takes_limits: bool = False
    warm_start: bool = False
    on_disk: OnDisk | None = None


def one_of_path(path: PathFunction) -> SolveFunction:
    """A solve function with the options of a path function: one cardinality of it."""

    @wraps(path)  # its signature, too: that is where the options are read from
    def solve(problem: Problem, budget: Budget, **options: Any) -> Solution:
        return path(problem, [problem.k], budget, **options)[problem.k]

    return solve


def seeks_one_direction(problem: Problem) -> str | None:
    """For ``refuses``: only the largest eigenvalue, or a rank-one A, where all criteria agree."""
    if problem.criterion == "lambda_max" or problem.pencil.is_rank_one:
        return None
    return (
        f"seeks one direction and needs a rank-one A for criterion {problem.criterion!r}; "
        "use 'greedy', 'perspective' or 'leaps'"
    )
