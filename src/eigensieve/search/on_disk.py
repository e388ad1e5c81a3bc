"""Solvers on wide tables on disk: which of them work there, and how the exact ones do.

Greedy search and thresholding take a `StreamedPencil` as it is. An exact search works on the
features that the root relaxation does not rule out: no set with one of the others is better than
what greedy search has found, up to the gap that is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import OptionError
from ..pencil.budget import Budget
from ..pencil.problem import Problem
from ..pencil.solution import Solution, Status
from .greedy.greedy import solve_greedy
from .greedy.start import resize
from .solver import Solver
from .target import Outcome, Target, finish


def check_on_disk(solver: Solver, problem: Problem, solvers: Mapping[str, Solver]) -> None:
    """Raise unless the solver, one of these, works on this table on disk."""
    if problem.limits is not None:
        raise OptionError(
            "limits on groups or costs need the table in memory: give np.asarray(X) if memory "
            "allows, or a table of the columns that matter"
        )
    if solver.on_disk is None:
        others = [one for one in solvers.values() if one.on_disk is not None]
        others.sort(key=lambda one: one.certifies)
        raise OptionError(
            f"solver {solver.name!r} needs the whole table in memory; on a table on disk there are "
            f"{', '.join(one.name for one in others)} and 'exact'"
        )
    if problem.pencil.has_A_on_disk and problem.criterion not in solver.on_disk.criteria:
        raise OptionError(
            f"solver {solver.name!r} takes criterion 'lambda_max' on this table on disk, not "
            f"{problem.criterion!r}; use 'greedy'"
        )


def solve_on_disk(
    solver: Solver, problem: Problem, budget: Budget, options: dict[str, Any]
) -> Solution:
    """The solution of a solver that `check_on_disk` lets through."""
    assert solver.solve is not None
    if solver.screen is None:
        return solver.solve(problem, budget, **options)
    start, options = options.get("start"), {o: v for o, v in options.items() if o != "start"}
    target = Target(problem, budget.gap_tol)
    work = target.problem
    support = _incumbent(work, budget, start, options.get("random_state"))
    value = work.score(support)
    cut = target.cut(value)
    bound, left = solver.screen(work, support, cut, budget)
    stopped = budget.stop() or Status.GAP_LIMIT
    pencil = problem.pencil.factors
    if bound <= cut or not pencil.can_load(left.size) or stopped is not Status.GAP_LIMIT:
        outcome = Outcome(support, value, bound, 1, None if bound <= cut else stopped)
        return finish(outcome, target, budget, solver.name)
    part = work.among(left, pencil.load(left))
    found = solver.solve(part, budget, start=np.searchsorted(left, support), **options)
    # what was ruled out is no better than the cut
    bound = min(bound, max(found.bound, cut))
    places = np.searchsorted(problem.to_original, found.support)
    ended = None if found.status is Status.OPTIMAL else found.status
    outcome = Outcome(places, work.score(places), bound, found.n_nodes, ended)
    return finish(outcome, target, budget, solver.name)


def _incumbent(
    problem: Problem, budget: Budget, start: Any, random_state: int | None
) -> np.ndarray:
    """What greedy search finds, or the set that was given, whichever is better."""
    found = solve_greedy(problem, budget, random_state=random_state)
    support = np.searchsorted(problem.to_original, found.support)
    if start is not None:
        given = resize(problem, np.asarray(start, dtype=np.intp))
        support = max(support, given, key=problem.score)
    return support
