"""The default solver: greedy search, then an exact one from its set, as far as the effort goes.

The effort is counted in arithmetic, see `Budget.spend`: where the search ends, and with it the set,
the bound and the status, depends on the problem alone, not on the machine or its load.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import OptionError
from ..pencil.budget import Budget
from ..pencil.checks import check_number
from ..pencil.criteria import CRITERIA
from ..pencil.pencil import Pencil
from ..pencil.problem import Problem
from ..pencil.solution import Solution, Status, relative_gap
from .exact.exact import choose_algorithm
from .exact.perspective.relaxation import one_blas_thread
from .exact.tree import Known, SearchOptions
from .greedy.greedy import greedy_path
from .greedy.start import resize
from .greedy.swap import swap_refine
from .quick_bound import root_bound
from .secular import TIE
from .solve import find_solvers
from .solver import OnDisk, Solver, one_of_path
from .target import Outcome, Target, finish

EFFORTS = {"quick": 0.3, "normal": 3.0, "high": 30.0}
# Of an effort of 1, in units of `Budget.spend`: about a second.
UNIT = 2e9
# Many k share what so many have at most.
SHARED = 4.0
# Up to this many are nearly always proved in less than a second; the effort is "high" at least.
SMALL = 40
# Sets of more features are not searched for: one node would be half the effort.
MAX_SEARCHED = 500
# Below this many there is nothing to be gained from leaving some out beforehand.
MIN_SCREENED = 300


def check_effort(effort: float | str) -> float:
    """The work that an effort stands for."""
    if isinstance(effort, str):
        if effort not in EFFORTS:
            raise OptionError(
                f"effort is {effort!r}; it must be one of {', '.join(EFFORTS)}, or a number >= 0"
            )
        return EFFORTS[effort] * UNIT
    names = ", ".join(map(repr, EFFORTS))
    check_number(effort, "effort", 0.0, np.inf, f"one of {names}, or a number >= 0")
    return float(effort) * UNIT


def auto_path(
    problem: Problem,
    ks: Sequence[int],
    budget: Budget,
    *,
    effort: float | str = "normal",
    n_starts: int | None = None,
    n_jobs: int | None = None,
    client: Any = None,
    random_state: int | None = None,
) -> dict[int, Solution]:
    """Greedy search for every k, and then what can be proved.

    Parameters
    ----------
    effort : "quick" (0.3), "normal" (3), "high" (30) or a number
        How much work the exact search may do: roughly a number of seconds, but counted in
        arithmetic, so that the result is the same on every machine. 0 is greedy search alone, and
        nothing is proved; with inf the search goes on until it is done. Up to 40 features have
        the effort "high" at least. Many k share the effort of four at most.
    n_starts : further starts of the greedy search, see solver "greedy"
    n_jobs : threads; the result does not depend on them
    client : of a dask cluster, whose workers then share the search; neither does it on these
    random_state : seed of the random starts
    """
    work = check_effort(effort)
    found = greedy_path(problem, ks, budget, n_starts=n_starts, random_state=random_state)
    if work == 0 or budget.stop() is not None:
        return found
    options = SearchOptions(n_jobs=n_jobs, client=client, random_state=random_state)
    return _prove(problem, found, work, budget, options)


solve_auto = one_of_path(auto_path)


def bounded(problem: Problem, given: Solution, effort: float | str = "normal") -> Solution:
    """The given set, whoever chose it, with what the exact search proves of all sets."""
    budget = Budget(gap_tol=given.gap_tol)
    found = _prove(problem, {given.k: given}, check_effort(effort), budget, SearchOptions())
    places = np.searchsorted(problem.to_original, given.support)
    bound = max(found[given.k].bound, problem.ceiling(places))
    closed = relative_gap(given.objective, bound, given.scale) <= given.gap_tol
    return replace(given, bound=bound, status=Status.OPTIMAL if closed else given.status)


@dataclass
class _Stage:
    """How far one k is: values and bounds are those of the target."""

    greedy: Solution
    target: Target
    support: np.ndarray
    bound: float = math.inf
    n_nodes: int = 0
    stopped: Status | None = None
    spent: float = 0.0
    is_screened: bool = False

    @classmethod
    def of(cls, problem: Problem, found: Solution, budget: Budget) -> _Stage:
        support = np.searchsorted(problem.to_original, found.support)
        return cls(found, Target(problem, budget.gap_tol), support, stopped=budget.stop())

    @property
    def problem(self) -> Problem:
        return self.target.problem

    @property
    def cut(self) -> float:
        return self.target.cut(self.problem.score(self.support))

    @property
    def is_open(self) -> bool:
        """Whether a search could say more; of what has no bound at all it would take too long."""
        return self.cut < self.bound < math.inf

    @property
    def lacks_proof(self) -> bool:
        return not self.greedy.is_certified and self.cut < self.bound

    def look(self, budget: Budget) -> None:
        """A bound on all sets, where that is cheap and wanted."""
        if self.lacks_proof and budget.stop() is None:
            found = self.target.inward(root_bound(self.problem, self.support))
            self.bound = min(self.bound, found)

    @contextmanager
    def working(self, budget: Budget, most: float) -> Iterator[None]:
        """What is done here is counted, and is not to be more than so much."""
        budget.allow(most)
        yield
        if math.isfinite(most):
            self.spent += most - budget.work_left
        budget.allow(math.inf)

    def take(self, support: np.ndarray) -> None:
        """Another set, if it is better; of those that are equal but for rounding the first."""
        own, value = (self.problem.score(each) for each in (self.support, support))
        if value > own + TIE * max(abs(own), self.problem.unit):
            self.support = support

    def finish(self, budget: Budget, solver: str) -> Solution:
        if self.greedy.is_certified:
            return self.greedy
        if math.isinf(self.bound):
            return replace(self.greedy, status=self.stopped or self.greedy.status)
        value = self.problem.score(self.support)
        outcome = Outcome(self.support, value, self.bound, self.n_nodes, self.stopped)
        found = finish(outcome, self.target, budget, solver)
        return replace(found, n_iter=self.greedy.n_iter)


def _prove(
    problem: Problem,
    found: dict[int, Solution],
    work: float,
    budget: Budget,
    options: SearchOptions,
) -> dict[int, Solution]:
    """The solutions with bounds, and with better sets where the search comes upon them.

    Sets of very many features get the bound at the root only.
    """
    exact = find_exact(problem)
    stages = {k: _Stage.of(problem.with_k(k), found[k], budget) for k in sorted(found)}
    searched = [stage for k, stage in stages.items() if k <= MAX_SEARCHED and stage.lacks_proof]
    first = exact is not None and _screens_first(exact, problem)
    for stage in stages.values():
        if not (first and stage in searched):
            stage.look(budget)
    still = searched if first else [stage for stage in searched if stage.is_open]
    if still and exact is not None:
        # what others screen with they were not charged for as a bound, either
        share = min(work, SHARED * work / len(still)) if first else math.inf
        part = _screened(problem, still, exact, share, budget)
        if part is not None:
            with one_blas_thread():  # the steps are small: threads would only wait for each other
                _search_all(still, part, exact, work, budget, options)
    if first:
        for stage in still:
            stage.look(budget)
    name = "greedy" if exact is None else exact.name
    return {k: stage.finish(budget, name) for k, stage in stages.items()}


def _screens_first(exact: Solver, problem: Problem) -> bool:
    """Whether the exact search is to say which features count before anything else is tried."""
    return (
        exact.screens_first is not None
        and problem.pencil.size > MIN_SCREENED
        and exact.screens_first(problem)
    )


def find_exact(problem: Problem) -> Solver | None:
    """The exact search that is made for the problem, if one is."""
    solvers = find_solvers()
    exact, pencil = solvers[choose_algorithm(problem)], problem.pencil
    if exact.max_features is not None and pencil.size > exact.max_features:
        return None
    if problem.limits is not None and not exact.takes_limits:
        return None
    if not pencil.in_memory:
        knows = exact.on_disk is not None and problem.criterion in exact.on_disk.criteria
        if exact.on_disk is None or (pencil.has_A_on_disk and not knows):
            return None
    return None if exact.refuses is not None and exact.refuses(problem) else exact


def _screened(
    problem: Problem, stages: Sequence[_Stage], exact: Solver, share: float, budget: Budget
) -> tuple[np.ndarray, Pencil] | None:
    """The features that are worth searching among for any k, and their pencil, in memory."""
    pencil, features = problem.pencil, problem.features
    if exact.screen is not None and pencil.size > MIN_SCREENED:
        keep = np.zeros(pencil.size, dtype=bool)
        for stage in stages:
            with stage.working(budget, share):
                bound, own = exact.screen(stage.problem, stage.support, stage.cut, budget)
            stage.is_screened = len(stages) == 1 and math.isfinite(bound)
            stage.bound = min(stage.bound, bound)
            keep[own] = True
            if math.isinf(stage.bound):
                stage.look(budget)
        features = np.flatnonzero(keep)
    if pencil.in_memory:
        return features, pencil if features.size == pencil.size else pencil.take(features)
    streamed = pencil.factors
    return (features, streamed.load(features)) if streamed.can_load(features.size) else None


def _search_all(
    stages: Sequence[_Stage],
    part: tuple[np.ndarray, Pencil],
    exact: Solver,
    work: float,
    budget: Budget,
    options: SearchOptions,
) -> None:
    """One k after the other; a better set that is found for one is grown for the next."""
    if part[1].size <= SMALL:
        work = max(work, EFFORTS["high"] * UNIT)
    grown = None
    for i, stage in enumerate(stages):
        problem, before = stage.problem, stage.support
        if grown is not None:
            larger, _, _ = swap_refine(problem, resize(problem, grown), budget)
            stage.take(larger)
        if stage.is_open and budget.stop() is None:
            left = SHARED * work - sum(each.spent for each in stages)
            most = min(work - stage.spent, left / (len(stages) - i))
            with stage.working(budget, most):
                _search(stage, part, exact, budget, options)
        stage.stopped = stage.stopped or budget.stop()
        grown = None if np.array_equal(stage.support, before) else stage.support


def _search(
    stage: _Stage,
    part: tuple[np.ndarray, Pencil],
    exact: Solver,
    budget: Budget,
    options: SearchOptions,
) -> None:
    """Search among the features of a part, which is in memory, for what is above the cut."""
    features, pencil = part
    assert exact.search is not None  # every exact solver has one
    target = Target(stage.problem.among(features, pencil), budget.gap_tol)
    known = Known(np.searchsorted(features, stage.support), stage.bound, stage.is_screened)
    outcome, cut = exact.search(target, budget, replace(options, known=known)), stage.cut
    stage.take(features[outcome.support])
    stage.bound = min(stage.bound, max(outcome.bound, cut))
    stage.n_nodes, stage.stopped = outcome.n_nodes, outcome.stopped


SOLVER = Solver(
    name="auto",
    summary="greedy search, then an exact one as far as a given effort goes: the default",
    solve=solve_auto,
    path=auto_path,
    certifies=True,
    takes_limits=True,
    on_disk=OnDisk(criteria=CRITERIA),
)
