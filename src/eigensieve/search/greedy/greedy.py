"""Greedy search (GSLDA): forward, backward, the better of both at each k, then swaps.

Forward adds the feature that raises the criterion most, backward deletes the one that
lowers it least; one run of each gives the whole path of k. A 1-swap local search
polishes every set that is asked for. p x p is never formed for a factor pencil; a table on disk is
searched by column generation, which gives the same sets.

Costs (p features, n rows in the factor): forward O(p (n + k)) a step, for the largest
eigenvalue O(p (n + k^2)); backward O(p n) a step, dense O(p^2); one scan of all p k swaps
O(p (n + k)), for the largest eigenvalue O(p (n + k^2)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain

import numpy as np

from ...errors import OptionError
from ...pencil.budget import Budget
from ...pencil.checks import check_choice, check_flag, check_k
from ...pencil.criteria import CRITERIA
from ...pencil.problem import Problem
from ...pencil.row_factor import is_small as is_small_table
from ...pencil.solution import Solution, Status
from ..moves import best_single, can_refine_many, starting_supports
from ..secular import first_max
from ..solver import OnDisk, Solver, one_of_path
from .backward import backward_is_cheap, backward_pass
from .column_generation import Trail, generate
from .forward import forward_pass
from .limited import limited_path
from .small import MAX_FEATURES, best_of_many, default_starts, is_small
from .start import best_of
from .swap import swap_refine

DIRECTIONS = ("auto", "forward", "backward", "both")
N_STARTS = 2
# So many starts take the place of a backward pass, fewer if they would scan more columns than this
# together: they find about as much in less time (benchmarks/quality.py).
N_STARTS_INSTEAD = 8
STARTED_COLUMNS = 16_000
Gather = Callable[[Problem, Budget, Iterable[np.ndarray]], np.ndarray]


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
        "auto" runs both up to 500 features (by the largest eigenvalue only if that takes
        seconds at most), forward otherwise. A table on disk, and with limits on groups or costs
        any, is searched forward.
    swap : polish every set by 1-swaps
    n_starts : further starts of the local search
        Leading eigenvectors (up to 3), sets of similar features (as many), then random sets; up
        to 500 features, while k is not too large, the second half begins with the best set so far,
        a third of it exchanged at random. Each is polished. By default up to 60 there, as many as
        take a tenth of a second. Above: 2 where only the largest eigenvalue counts (PCA, CCA); else
        8 up to 2,000 features if the direction is "auto", then fewer, 16,000 / p, and none if a
        wide table has over 4 million entries. Where p k^2 is above 2e6 there are none, or of the 2
        only the best one is polished.
    max_iter : the most swaps of one local search, 1,000 by default
    """
    check_flag(swap, "swap")
    check_choice(direction, "direction", DIRECTIONS)
    if max_iter is not None:
        budget.max_iter = check_k(max_iter, "max_iter")
    if problem.limits is not None:
        if direction not in ("auto", "forward"):
            raise OptionError(
                f"direction is {direction!r}; with limits on groups or costs the search is forward"
            )
        return limited_path(
            problem, ks, budget, swap=swap, n_starts=n_starts, random_state=random_state
        )
    resolved = _resolve_direction(problem, direction)
    if not problem.pencil.in_memory and problem.pencil.size <= MAX_FEATURES:
        problem = replace(problem, pencil=problem.pencil.factors.load(problem.features))
    starts = _Starts(
        n_starts if swap else n_starts or 0,
        random_state or 0,
        budget,
        direction == "auto" and resolved == "forward",
    )
    plan = _Plan(resolved, swap, starts.supports, starts.gather)
    search = _search if problem.pencil.in_memory else _search_on_disk
    return search(problem, ks, budget, plan)


solve_greedy = one_of_path(greedy_path)


@dataclass(frozen=True)
class _Starts:
    """Where else to start from: so many further sets, or as many as are worth their time."""

    n_starts: int | None
    seed: int
    budget: Budget
    no_backward: bool  # because it would take too long, not because somebody wants none

    def count(self, problem: Problem) -> int:
        if self.n_starts is not None:
            return self.n_starts
        if is_small(problem):
            return default_starts(problem)
        if problem.working_criterion == "lambda_max":
            return N_STARTS
        if not (self.no_backward and can_refine_many(problem) and _is_read_whole(problem)):
            return 0
        return min(N_STARTS_INSTEAD, STARTED_COLUMNS // problem.pencil.size)

    def supports(self, problem: Problem) -> Iterable[np.ndarray]:
        """The further sets; where there are few features, `gather` finds them."""
        if self._searches_widely(problem):
            return ()
        # of its own for every k: a path finds what a search for one k finds
        rng = np.random.default_rng([self.seed, problem.k])
        return starting_supports(problem, self.count(problem), rng, self.budget)

    def gather(self, problem: Problem) -> Gather | None:
        """What makes one set of them all, to be polished; None if each of them is."""
        if self._searches_widely(problem):
            return partial(best_of_many, n_starts=self.count(problem), seed=self.seed)
        # so many features, and nobody asked for starts: only the best is polished
        return None if self.n_starts is not None or can_refine_many(problem) else best_of

    def _searches_widely(self, problem: Problem) -> bool:
        """Whether the starts are left to `best_of_many`, which knows no limit of swaps."""
        is_wanted = self.n_starts != 0 and self.budget.max_iter is None
        return is_wanted and is_small(problem)


def _is_read_whole(problem: Problem) -> bool:
    """Whether all columns are at hand wherever the table lies, so that the answer is the same."""
    pencil = problem.pencil.factors
    return pencil is None or is_small_table(max(len(pencil.H), len(pencil.W)), pencil.size)


@dataclass(frozen=True)
class _Plan:
    """How to search: what depends on the whole problem, also where a part of it is searched."""

    direction: str
    swap: bool
    starts: Callable[[Problem], Iterable[np.ndarray]]
    gather: Callable[[Problem], Gather | None]
    trail: Trail | None = None


def _search(
    problem: Problem, ks: Sequence[int], budget: Budget, plan: _Plan
) -> dict[int, Solution]:
    candidates = _run_passes(problem, ks, budget, plan)
    solutions: dict[int, Solution] = {}
    for step, k in enumerate(sorted(candidates.sets)):
        if solutions and budget.stop() is not None:
            break
        part = problem.with_k(k)
        solutions[k] = _finish(part, candidates, budget, plan)
        budget.report("greedy", "swap", step + 1, total=len(ks), objective=solutions[k].objective)
    return solutions


def _search_on_disk(
    problem: Problem, ks: Sequence[int], budget: Budget, plan: _Plan
) -> dict[int, Solution]:
    """The same search where the columns are on disk: see column_generation.py."""
    starts = {k: list(plan.starts(problem.with_k(k))) for k in sorted(ks)}

    def search(part: Problem, trail: Trail) -> dict[int, Solution]:
        inside = np.searchsorted(problem.to_original, part.to_original)
        own = replace(
            plan,
            starts=lambda each: [np.searchsorted(inside, S) for S in starts[each.k]],
            gather=lambda each: plan.gather(problem.with_k(each.k)),
            trail=trail,
        )
        return _search(part, ks, budget, own)

    wanted = [np.empty(0, dtype=np.intp), *(S for sets in starts.values() for S in sets)]
    outcome = generate(problem.with_k(max(ks)), np.concatenate(wanted), search, budget)
    solutions = {}
    for k, solution in outcome.found.items():
        status = solution.status
        if status is not Status.OPTIMAL and not outcome.is_confirmed:
            status = budget.stop() or status
        places = np.searchsorted(problem.to_original, solution.support)
        if status is Status.CONVERGED and tuple(places.tolist()) in outcome.doubtful:
            status = Status.FEASIBLE
        solutions[k] = replace(solution, status=status, scale=problem.unit, seconds=budget.seconds)
    return solutions


def _resolve_direction(problem: Problem, direction: str) -> str:
    if not problem.pencil.in_memory:
        if direction not in ("auto", "forward"):
            raise OptionError(
                f"direction is {direction!r}; a table on disk is searched forward only"
            )
        return "forward"
    if direction != "auto":
        return direction
    return "both" if backward_is_cheap(problem) else "forward"


def _run_passes(problem: Problem, ks: Sequence[int], budget: Budget, plan: _Plan) -> _Candidates:
    direction = plan.direction
    found = _Candidates()
    # no search where there is no choice
    trivial = {problem.pencil.size: problem.features, problem.include.size: problem.include}
    found.take(trivial, ks)
    ks = [k for k in ks if k not in trivial]
    if ks and direction != "backward":
        sets = forward_pass(problem.with_k(max(ks)), budget, "greedy")
        found.take(sets, ks)
        if plan.trail is not None:
            plan.trail.orders.append((sets[max(ks)], problem.include.size))
    if ks and direction != "forward":
        found.take(backward_pass(problem, ks, budget, "greedy"), ks)
    found.stopped = budget.stop()
    if direction == "backward" and found.stopped is not None:
        # a backward pass that was cut short has no small sets yet: forward gives some at once
        missing = [k for k in ks if k not in found.sets]
        if missing:
            found.take(forward_pass(problem.with_k(max(missing)), budget, "greedy"), missing)
    return found


def _finish(problem: Problem, candidates: _Candidates, budget: Budget, plan: _Plan) -> Solution:
    """The best candidate for one k, polished; the status is that of the winner's own search."""
    plain, starts = _distinct(candidates.sets[problem.k]), plan.starts(problem)
    gather = plan.gather(problem) if plan.swap and candidates.stopped is None else None
    if gather is not None:
        plain, starts = [gather(problem, budget, chain(plain, starts))], ()
    watch = None if plan.trail is None else plan.trail.watch
    found: list[tuple[np.ndarray, Status]] = []
    n_iter, stopped = candidates.n_steps, candidates.stopped
    for support in chain(plain, starts):
        if stopped is not None:
            break
        end = Status.FEASIBLE
        if plan.swap:
            support, steps, end = swap_refine(problem, support, budget, watch)
            n_iter += steps
        found.append((support, end))
        stopped = budget.stop()
    found += [(support, Status.FEASIBLE) for support in plain]
    winner = first_max(np.array([problem.score(support) for support, _ in found]))
    support, status = found[winner]
    status, bound = stopped or status, np.inf
    if problem.k == 1:
        choice = problem.include if problem.include.size else problem.features
        support, bound = best_single(problem, choice)
        status = Status.CONVERGED  # k = 1 is enumeration, hence a proof
    return problem.solution(
        support, budget, status=status, solver="greedy", bound=bound, n_iter=n_iter
    )


def _distinct(sets: list[np.ndarray]) -> list[np.ndarray]:
    return list({tuple(np.sort(support)): support for support in sets}.values())


SOLVER = Solver(
    name="greedy",
    summary="forward and backward greedy search with 1-swap refinement (GSLDA)",
    solve=solve_greedy,
    path=greedy_path,
    takes_limits=True,
    on_disk=OnDisk(criteria=CRITERIA),
)
