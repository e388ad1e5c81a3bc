"""Solvers on wide tables on disk: which of them work there, and how the exact ones do.

Greedy search and thresholding take a `StreamedPencil` as it is. An exact search works on the
features that the root relaxation does not rule out: no set with one of the others is better than
what greedy search has found, up to the gap that is asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import OptionError
from ..pencil.budget import Budget
from ..pencil.problem import Problem
from ..pencil.solution import Solution, Status
from ..tables.streamed_pencil import StreamedPencil
from .column_generation import among
from .exact.perspective.relaxation import ScaledPencil, relax_all
from .greedy.greedy import solve_greedy
from .greedy.start import resize
from .solver import Solver
from .spectral_bound import TraceBound
from .target import OUT, Outcome, Target, finish, start_state

DIRECT = ("greedy", "threshold")
EXACT = ("perspective", "levelset")
# So many entries of the features that are left are taken into memory (256 MB).
LOADED_ENTRIES = 2**25


def check_on_disk(solver: Solver, problem: Problem) -> None:
    """Raise unless the solver works on this table on disk."""
    if solver.name not in DIRECT + EXACT:
        raise OptionError(
            f"solver {solver.name!r} needs the whole table in memory; on a table on disk there are "
            f"{', '.join(DIRECT + EXACT)} and 'exact'"
        )
    pencil = problem.pencil
    assert isinstance(pencil, StreamedPencil)
    if problem.criterion != "lambda_max" and pencil.rows is pencil.H and solver.name != "greedy":
        raise OptionError(
            f"solver {solver.name!r} takes criterion 'lambda_max' on this table on disk, not "
            f"{problem.criterion!r}; use 'greedy'"
        )


def solve_on_disk(
    solver: Solver, problem: Problem, budget: Budget, options: dict[str, Any]
) -> Solution:
    """The solution of a solver that `check_on_disk` lets through."""
    assert solver.solve is not None
    if solver.name in DIRECT:
        return solver.solve(problem, budget, **options)
    start, options = options.get("start"), {o: v for o, v in options.items() if o != "start"}
    target = Target(problem, budget.gap_tol)
    work = target.problem
    support = _incumbent(work, budget, start, options.get("random_state"))
    value = work.score(support)
    cut = target.cut(value)
    screen = _screen_perspective if solver.name == "perspective" else _screen_levelset
    bound, left = screen(work, support, cut, budget)
    stopped = budget.stop() or Status.GAP_LIMIT
    pencil = problem.pencil
    assert isinstance(pencil, StreamedPencil)
    too_many = left.size * len(pencil.rows) > LOADED_ENTRIES
    if bound <= cut or too_many or stopped is not Status.GAP_LIMIT:
        outcome = Outcome(support, value, bound, 1, None if bound <= cut else stopped)
        return finish(outcome, target, budget, solver.name)
    part = among(work, left, pencil.load(left))
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


def _screen_perspective(
    problem: Problem, support: np.ndarray, cut: float, budget: Budget
) -> tuple[float, np.ndarray]:
    """A bound on all sets, and the features that one above the cut may hold."""
    weights = np.zeros(problem.pencil.size)
    weights[support] = 1.0
    state = start_state(problem)
    root = relax_all(problem, ScaledPencil(problem), state, weights, cut=cut, budget=budget)
    may_hold = root.fixed(cut, state, problem.k) != OUT
    may_hold[support] = True
    return root.bound, np.flatnonzero(may_hold)


def _screen_levelset(
    problem: Problem, support: np.ndarray, cut: float, budget: Budget
) -> tuple[float, np.ndarray]:
    traces = TraceBound(problem)
    if traces.least <= cut:
        return traces.least, support
    may_hold = traces.may_exceed(cut)
    may_hold[problem.include] = True
    may_hold[support] = True
    return traces.least, np.flatnonzero(may_hold)
