"""Greedy search (GSLDA): forward, backward, the better of both at each k, then swaps.

Forward adds the feature that raises the criterion most, backward deletes the one that
lowers it least; one run of each gives the whole path of k. A 1-swap local search
polishes every set that is asked for. p x p is never formed for a factor pencil.

Costs (p features, n rows in the factor): forward O(p (n + k)) a step, for the largest
eigenvalue O(p (n + k^2)); backward O(p n) a step, dense O(p^2); one scan of all p k swaps
O(p (n + k)), for the largest eigenvalue O(p (n + k^2)).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from ..core.backward import backward_is_cheap, backward_pass
from ..core.budget import Budget
from ..core.checks import check_k
from ..core.forward import forward_pass
from ..core.moves import can_refine_many, starting_supports
from ..core.problem import Problem
from ..core.secular import first_max
from ..core.solution import Solution, Status, relative_gap
from ..core.start import best_of
from ..core.swap import swap_refine, working_criterion
from ..errors import OptionError
from .base import Solver

DIRECTIONS = ("auto", "forward", "backward", "both")
BOTH_LIMIT = 2000
N_STARTS = 2


@dataclass
class _Candidates:
    """The sets found for each k, and the reason if a pass was cut short."""

    sets: dict[int, list[np.ndarray]] = field(default_factory=dict)
    n_steps: int = 0
    stopped: Status | None = None

    def take(self, found: dict[int, np.ndarray], ks: Sequence[int]) -> None:
        self.n_steps += len(found)
        for k in ks:
            if k in found:
                self.sets.setdefault(k, []).append(found[k])


def solve_greedy(
    problem: Problem,
    budget: Budget,
    *,
    direction: str = "auto",
    swap: bool = True,
    n_starts: int | None = None,
    max_iter: int | None = None,
    random_state: int | None = None,
) -> Solution:
    """One cardinality; see `greedy_path` for the options."""
    path = greedy_path(
        problem,
        [problem.k],
        budget,
        direction=direction,
        swap=swap,
        n_starts=n_starts,
        max_iter=max_iter,
        random_state=random_state,
    )
    return path[problem.k]


def greedy_path(
    problem: Problem,
    ks: Sequence[int],
    budget: Budget,
    *,
    direction: str = "auto",
    swap: bool = True,
    n_starts: int | None = None,
    max_iter: int | None = None,
    random_state: int | None = None,
) -> dict[int, Solution]:
    """All cardinalities in one forward and one backward run.

    Parameters
    ----------
    direction : "auto", "forward", "backward" or "both"
        "auto" runs both up to 2,000 features (and where a backward pass of the largest
        eigenvalue is affordable), forward otherwise.
    swap : polish every set by 1-swaps
    n_starts : further starts of the local search
        Leading eigenvectors (up to 3), sets of similar features (as many), then random sets. By
        default 2 where only the largest eigenvalue counts (PCA, CCA), and none else. Where
        p k^2 is above 2e6 only the best of all starts is polished.
    max_iter : the most swaps of one local search, 1,000 by default
    """
    _check_options(direction, swap)
    if n_starts is None:
        n_starts = N_STARTS if swap and working_criterion(problem) == "lambda_max" else 0
    if max_iter is not None:
        budget.max_iter = check_k(max_iter, "max_iter")
    candidates = _run_passes(problem, ks, budget, direction)
    rng = np.random.default_rng(random_state)
    solutions: dict[int, Solution] = {}
    for step, k in enumerate(sorted(candidates.sets)):
        if solutions and budget.stop() is not None:
            break
        part = problem.with_k(k)
        starts = starting_supports(part, n_starts, rng, budget)
        solutions[k] = _finish(part, candidates, starts, budget, swap)
        budget.report("greedy", "swap", step + 1, total=len(ks), objective=solutions[k].objective)
    return solutions


def _check_options(direction: str, swap: bool) -> None:
    if not isinstance(swap, bool | np.bool_):
        raise OptionError(f"swap is {swap!r}; it must be True or False")
    if direction not in DIRECTIONS:
        raise OptionError(f"direction is {direction!r}; it must be one of {', '.join(DIRECTIONS)}")


def _run_passes(problem: Problem, ks: Sequence[int], budget: Budget, direction: str) -> _Candidates:
    if direction == "auto":
        small = problem.pencil.size <= BOTH_LIMIT and backward_is_cheap(problem)
        direction = "both" if small else "forward"
    found = _Candidates()
    # no search where there is no choice
    trivial = {problem.pencil.size: problem.features, problem.include.size: problem.include}
    found.take(trivial, ks)
    ks = [k for k in ks if k not in trivial]
    if ks and direction != "backward":
        found.take(forward_pass(problem.with_k(max(ks)), budget, "greedy"), ks)
    if ks and direction != "forward":
        found.take(backward_pass(problem, ks, budget, "greedy"), ks)
    found.stopped = budget.stop()
    if direction == "backward" and found.stopped is not None:
        # a backward pass that was cut short has no small sets yet: forward gives some at once
        missing = [k for k in ks if k not in found.sets]
        if missing:
            found.take(forward_pass(problem.with_k(max(missing)), budget, "greedy"), missing)
    return found


def _finish(
    problem: Problem,
    candidates: _Candidates,
    starts: Iterable[np.ndarray],
    budget: Budget,
    swap: bool,
) -> Solution:
    """The best candidate for one k, polished; the status is that of the winner's own search."""
    plain = _distinct(candidates.sets[problem.k])
    if swap and candidates.stopped is None and not can_refine_many(problem):
        # so many features: only the best start is polished
        plain, starts = [best_of(problem, budget, chain(plain, starts))], ()
    found: list[tuple[np.ndarray, Status]] = []
    n_iter, stopped = candidates.n_steps, candidates.stopped
    for support in chain(plain, starts):
        if stopped is not None:
            break
        end = Status.FEASIBLE
        if swap:
            support, steps, end = swap_refine(problem, support, budget)
            n_iter += steps
        found.append((support, end))
        stopped = budget.stop()
    found += [(support, Status.FEASIBLE) for support in plain]
    winner = first_max(np.array([problem.score(support) for support, _ in found]))
    support, status = found[winner]
    status, bound = stopped or status, np.inf
    if problem.k == 1:
        support, bound = _best_single(problem)
        status = Status.CONVERGED
        if relative_gap(problem.score(support), bound, problem.unit) <= budget.gap_tol:
            status = Status.OPTIMAL
    return problem.solution(
        support,
        status=status,
        solver="greedy",
        bound=bound,
        gap_tol=budget.gap_tol,
        n_iter=n_iter,
        seconds=budget.seconds,
    )


def _distinct(sets: list[np.ndarray]) -> list[np.ndarray]:
    return list({tuple(np.sort(support)): support for support in sets}.values())


def _best_single(problem: Problem) -> tuple[np.ndarray, float]:
    """k = 1 is enumeration, hence a proof."""
    choice = problem.include if problem.include.size else problem.features
    ratio = (problem.pencil.diag_A / problem.pencil.diag_B)[choice]
    bound = problem.score([choice[np.argmax(ratio)]])
    return choice[[first_max(ratio)]], bound


SOLVER = Solver(
    name="greedy",
    summary="forward and backward greedy search with 1-swap refinement (GSLDA)",
    solve=solve_greedy,
    path=greedy_path,
)
