"""From D.C. programming to a set of features: starts, penalty, cut, polish."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from ...errors import OptionError
from ...pencil.budget import Budget
from ...pencil.checks import check_number
from ...pencil.criteria import TINY
from ...pencil.problem import Problem
from ...pencil.solution import Solution, Status
from ..greedy.small import best_of_many, default_starts, is_small
from ..greedy.swap import swap_refine
from ..moves import can_refine_many, renormalize, starting_supports, top_k
from .dca import Ascent, Climb, Penalty, semidefinite_shift

STARTS = ("eigenvector", "ones")
N_STARTS = 2  # further ones, where there is time
LARGEST_START = 100  # features of a set to start from, where a penalty decides how many there are
LARGEST_SET = 5000  # that a dense eigen-decomposition judges in some seconds
# A run of a bisection shows in so many steps whether it keeps enough features.
SHORT = 100
# The length of the part outside of a start from a set; the part inside has length one.
OUTSIDE = 0.1
# Penalties are sought between this share of the largest and the largest.
SMALLEST = 1e-8
# Steps down from the largest by this factor find a penalty that is small enough ...
FACTOR = 4.0
# ... and so many halvings of its logarithm the right one.
HALVINGS = 20
Run = Callable[[float], np.ndarray]


@dataclass(frozen=True, eq=False)
class DcaOptions:
    """What a user may say of a D.C. search; see dc.py. ``eps`` None is the l1 norm."""

    eps: float | None = 0.0
    start: Any = "eigenvector"
    n_starts: int | None = None
    swap: bool | None = None
    tol: float = 1e-6
    max_iter: int = 1000
    random_state: int | None = None

    def __post_init__(self) -> None:
        if self.eps is not None:
            check_number(self.eps, "eps", 0.0, 1.0, "a number 0..1")
        check_number(self.tol, "tol", 0.0, 1.0, "a number 0..1")
        if not isinstance(self.swap, bool | np.bool_ | None):
            raise OptionError(f"swap is {self.swap!r}; it must be True, False or None")


@dataclass(frozen=True, eq=False)
class _Found:
    """A set that a start led to, and how that search ended."""

    support: np.ndarray
    status: Status


class DcaSearch:
    """Sets of features from one or several starts.

    Parameters
    ----------
    name : of the solver, for solutions and progress
    """

    def __init__(self, problem: Problem, budget: Budget, name: str, options: DcaOptions) -> None:
        self.problem, self.budget, self.name, self.options = problem, budget, name, options
        self.climbs: list[Climb] = []
        self.runs: list[dict[float, Ascent]] = []
        self.n_iter = 0

    def find(self, rho: float | None) -> Solution:
        """As many features as rho leaves, or k of them."""
        if rho is not None:
            return self.find_penalised(rho)
        return self.find_sizes([self.problem.k])[self.problem.k]

    def find_sizes(self, ks: Sequence[int]) -> dict[int, Solution]:
        """Exactly k features for every k; starts and runs are shared."""
        self._start(N_STARTS if self._polishes(True) and can_refine_many(self.problem) else 0)
        solutions: dict[int, Solution] = {}
        for k in ks:
            if solutions and self.budget.stop() is not None:
                break
            part = self.problem.with_k(k)
            found: Iterator[_Found] = (
                self._find_size(part, place, min(ks)) for place in range(len(self.climbs))
            )
            if self._polishes(True) and self.options.n_starts is None and is_small(part):
                found = iter([self._widened(part, found)])
            solutions[k] = self._best(part, found, self._polishes(True))
        return solutions

    def _widened(self, problem: Problem, candidates: Iterator[_Found]) -> _Found:
        """The best of many local searches, where they are cheap: from these sets and others."""
        sets = (found.support for found in candidates)
        count, seed = default_starts(problem), self.options.random_state
        best = best_of_many(problem, self.budget, sets, n_starts=count, seed=seed)
        return _Found(best, Status.FEASIBLE)

    def find_penalised(self, rho: float) -> Solution:
        """As many features as rho leaves, at most k; of several starts the best objective's."""
        rho = check_number(rho, "rho", 0.0, np.finfo(float).max, "a number >= 0")
        self._start(0)
        ascents = []
        for place in range(len(self.climbs)):
            ascents.append(self._run(place, rho, self.options.max_iter))
            if self.budget.stop() is not None:
                break
        best = max(self._useful(ascents, rho), key=lambda a: self._merit(a, rho))
        part = _limited(self.problem, best.support)
        status = Status.CONVERGED if best.converged else Status.ITERATION_LIMIT
        found = _Found(cut(part, best.vector(part.pencil.size)), status)
        return self._best(part, iter([found]), self._polishes(False))

    def _start(self, default: int) -> None:
        n_starts = default if self.options.n_starts is None else self.options.n_starts
        self.climbs = list(make_climbs(self.problem, self.options, n_starts, self.budget))
        self.runs = [{} for _ in self.climbs]

    def _polishes(self, default: bool) -> bool:
        return default if self.options.swap is None else bool(self.options.swap)

    def _merit(self, ascent: Ascent, rho: float) -> float:
        """The objective; at eps = 0 that of the fixed point, as logarithms have units."""
        if self.options.eps == 0:
            return ascent.value - rho * ascent.support.size / 2
        return ascent.history[-1]

    def _useful(self, ascents: list[Ascent], rho: float) -> list[Ascent]:
        """Those that leave something, of every view; an error that says what to do if none does."""
        some = [a for a in ascents if a.support.size]
        if not some:
            most = max(climb.rho_max for climb in self.climbs)
            what = f"it must be below {most:.6g} here" if most > 0 else "A is zero there"
            raise OptionError(f"rho is {rho:.6g} and leaves no feature; {what}")
        blocks = self.problem.pencil.blocks
        if blocks is not None:  # features of one view alone are worth nothing
            n_blocks = np.unique(blocks).size
            some = [a for a in some if np.unique(blocks[a.support]).size == n_blocks]
        if not some:
            raise OptionError(f"rho is {rho:.6g} and leaves no feature of one view; try a smaller")
        return some

    def _find_size(self, problem: Problem, place: int, least: int) -> _Found:
        climb = self.climbs[place]
        if problem.k in (problem.pencil.size, problem.include.size):  # there is no choice
            return _Found(cut(problem, climb.start), Status.CONVERGED)
        steps = min(SHORT, self.options.max_iter)

        def run(rho: float) -> np.ndarray:
            return self._run(place, rho, steps, least).vector(problem.pencil.size)

        x, rho = find_penalty(problem, run, climb.rho_max, self.budget)
        if x is None:
            return _Found(cut(problem, climb.start), Status.FEASIBLE)
        is_whole = np.count_nonzero(x) == problem.k and self.runs[place][rho].converged
        return _Found(cut(problem, x), Status.CONVERGED if is_whole else Status.FEASIBLE)

    def _run(self, place: int, rho: float, steps: int, least: int = 0) -> Ascent:
        runs = self.runs[place]
        if rho not in runs:
            runs[rho] = self.climbs[place].run(rho, self.budget, steps, least)
            self.n_iter += runs[rho].n_iter
            self.budget.report(self.name, "ascent", len(runs))
        return runs[rho]

    def _best(self, problem: Problem, candidates: Iterator[_Found], swap: bool) -> Solution:
        """The best set, each polished if asked for; the status is that of its own search."""
        ends: list[_Found] = []
        for found in candidates:
            if swap and self.budget.stop() is None:
                support, steps, status = swap_refine(problem, found.support, self.budget)
                found, self.n_iter = _Found(support, status), self.n_iter + steps
            ends.append(found)
            if self.budget.stop() is not None:
                break
        best = ends[0]
        if len(ends) > 1:  # a score costs as much as a solution
            best = max(ends, key=lambda end: problem.score(end.support))
        status = self.budget.stop() or best.status
        return problem.solution(
            best.support, self.budget, status=status, solver=self.name, n_iter=self.n_iter
        )


def _limited(problem: Problem, support: np.ndarray) -> Problem:
    """The problem with as many features as there are, at most as many as it allows."""
    support = np.union1d(support, problem.include)
    if support.size > LARGEST_SET and problem.k > LARGEST_SET:
        raise OptionError(
            f"rho leaves {support.size} features, and more than {LARGEST_SET} are too many to be "
            "judged as a set; take a larger rho, or give k"
        )
    if problem.quota is None:
        return problem.with_k(min(support.size, problem.k))
    lacks = np.maximum(problem.lacks(support), 0)
    return problem.with_k([most - int(lacks[b]) for b, most in problem.quota.items()])


def make_climbs(
    problem: Problem, options: DcaOptions, n_starts: int, budget: Budget
) -> Iterator[Climb]:
    """The iteration from every start; from the first alone if time is short."""
    pencil = problem.pencil
    free = np.zeros(pencil.size, dtype=bool)
    free[problem.include] = True
    first = None
    tau = semidefinite_shift(pencil)
    starts = chain(
        _given_vectors(problem, options.start),
        _set_vectors(problem, n_starts, tau, options.random_state, budget),
    )
    for x in starts:
        if first is None:
            first = Climb(pencil, x, Penalty(options.eps, free), tau, options.tol)
            yield first
        else:
            yield first.restart(x)
        if budget.stop() is not None:
            break


def _set_vectors(
    problem: Problem, n_starts: int, tau: float, seed: int | None, budget: Budget
) -> Iterator[np.ndarray]:
    """Starts from sets of features."""
    pencil = problem.pencil
    if problem.quota is None:
        problem = problem.with_k(max(min(problem.k, LARGEST_START), problem.include.size))
    rng = np.random.default_rng(seed)
    for support in starting_supports(problem, n_starts, rng, budget):
        x = np.zeros(pencil.size)
        x[support] = 1.0
        x = renormalize(pencil, x)
        # the features outside must not be zero, but an equal part in it would lead them all to
        # the leading eigenvector
        step = pencil.apply_A(x) + tau * pencil.apply_B(x)
        outside = np.where(step >= 0, 1.0, -1.0) / np.sqrt(pencil.size * pencil.diag_B)
        yield x + OUTSIDE * outside


def _given_vectors(problem: Problem, start: Any) -> list[np.ndarray]:
    pencil = problem.pencil
    if isinstance(start, str):
        if start not in STARTS:
            raise OptionError(
                f"start is {start!r}; it must be one of {', '.join(STARTS)}, or a vector"
            )
        return [pencil.leading()[:, 0] if start == "eigenvector" else pencil.diag_B**-0.5]
    try:
        vectors = np.array(start, dtype=np.float64, ndmin=2)
    except (TypeError, ValueError):
        raise OptionError(f"start is {start!r}; it must be a name or numbers") from None
    if np.ndim(start) == 2:
        vectors = vectors.T
    if vectors.ndim != 2 or vectors.shape[1] != problem.n_features or len(vectors) == 0:
        raise OptionError(
            f"start has shape {np.shape(start)}; it must be a vector of {problem.n_features} "
            "entries, or several as columns"
        )
    vectors = vectors[:, problem.to_original]
    if not np.isfinite(vectors).all() or not vectors.any(axis=1).all():
        raise OptionError("start must be finite and not zero")
    return list(vectors / np.abs(vectors).max(axis=1, keepdims=True))


def find_penalty(
    problem: Problem, run: Run, largest: float, budget: Budget
) -> tuple[np.ndarray | None, float]:
    """The sparsest vector with enough non-zeros, and the penalty that gave it.

    Parameters
    ----------
    run : function penalty -> x (p,); a larger penalty gives fewer non-zeros, as a rule
    largest : the penalty that leaves nothing

    Returns
    -------
    x or None (no penalty left enough), rho. Enough means k, in every block its quota; a vector
    with just as many ends the search.
    """
    best: np.ndarray | None = None
    best_rho, fewest = 0.0, problem.pencil.size + 1
    low, high, halvings = 0.0, largest, 0
    while halvings < HALVINGS and high > SMALLEST * largest and budget.stop() is None:
        if best is None:
            rho = high / FACTOR
        else:
            rho, halvings = float(np.sqrt(low * high)), halvings + 1
        x = run(rho)
        count = int(np.count_nonzero(x))
        if not is_enough(problem, x):
            high = rho
            continue
        low = rho
        if count < fewest:
            best, best_rho, fewest = x, rho, count
        if count == problem.k:
            break
    return best, best_rho


def is_enough(problem: Problem, x: np.ndarray) -> bool:
    """Whether a set of k features, with the quotas, can be cut out of the non-zeros."""
    support = np.flatnonzero(x)
    if problem.quota is None:
        return support.size >= problem.k
    return bool(np.all(problem.lacks(support) <= 0))


def cut(problem: Problem, x: np.ndarray) -> np.ndarray:
    """The k features with the largest entries; where x has too few, the best alone fill up."""
    pencil = problem.pencil
    size = np.abs(x) * np.sqrt(pencil.diag_B)
    alone = pencil.diag_A / pencil.diag_B
    alone = alone / max(float(np.abs(alone).max(initial=0.0)), TINY)
    return top_k(problem, np.where(x != 0, size, alone - 2.0))
