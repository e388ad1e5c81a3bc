"""The paper's own branch and bound (ESLDA), kept plain: the reference for the fast solvers.

A node has forced features F and undecided ones U. Every set below it lies inside M = F + U, so
by the inclusion principle (search/exact/inclusion.py) no set below it scores more than M does: one
eigenvalue problem per node, and nothing else is known of it.

Below a node, with U = (u_1, u_2, ...), child i deletes u_i and forces u_1 .. u_{i-1}. The
features are sorted once, those whose deletion costs most first: then the children with many
undecided features have the low bounds.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import linalg

from ...pencil.budget import Budget
from ...pencil.checks import check_choice, check_flag, check_k
from ...pencil.criteria import EPS, NOISE
from ...pencil.grading import graded_eigh, graded_rounding, is_graded
from ...pencil.problem import Problem
from ...pencil.solution import Solution, Status
from ..greedy.start import find_start
from ..hadamard import hadamard_gains
from ..solver import Solver
from ..target import Outcome, Target, finish
from .coverage import CoverageCount
from .inclusion import InclusionBounds, criterion_bounds
from .tree import SearchOptions

SEARCHES = ("best", "depth")
ORDERS = ("sorted", "natural")
# Below this smallest eigenvalue of B the rounding of a bound is estimated node by node.
WELL_CONDITIONED = 1e-4


def solve_interlacing(
    problem: Problem,
    budget: Budget,
    *,
    search: str = "best",
    order: str = "sorted",
    start: Sequence[int] | None = None,
    n_starts: int | None = None,
    max_nodes: int | None = None,
    audit: bool = False,
    random_state: int | None = None,
) -> Solution:
    """Branch and bound with the bound of the remaining superset.

    Parameters
    ----------
    search : "best" (the node with the largest bound next) or "depth" (little memory)
    order : "sorted" (features whose deletion costs most come first) or "natural"
    start : a set of any size to begin with, beside the greedy ones
    n_starts : further starts of the local search
    max_nodes : nodes (eigenvalue problems) after which the search ends
    audit : check, in exact integers, that closed and open subproblems cover every set once
    """
    for name, value, known in (("search", search, SEARCHES), ("order", order, ORDERS)):
        check_choice(value, name, known)
    check_flag(audit, "audit")
    most = None if max_nodes is None else check_k(max_nodes, "max_nodes")
    target = Target(problem, budget.gap_tol)
    options = SearchOptions(start, n_starts, most, audit, random_state=random_state)
    outcome = search_interlacing(
        target, budget, options, is_best_first=search == "best", order=order
    )
    return finish(outcome, target, budget, "interlacing")


def search_interlacing(
    target: Target,
    budget: Budget,
    options: SearchOptions,
    *,
    is_best_first: bool = True,
    order: str = "sorted",
) -> Outcome:
    """The search itself: see `solve_interlacing`."""
    known = options.known
    support = known.support if known else find_start(
        target.problem, budget, "interlacing", given=options.start, n_starts=options.n_starts,
        random_state=options.random_state,
    )  # fmt: skip
    bounds = _Bounds(target.problem)
    every = target.problem.features
    features = _by_deletion_cost(bounds, budget) if order == "sorted" else every
    run = _Run(target, budget, bounds, options.max_nodes, is_best_first, support)
    run.coverage = CoverageCount(target.problem, wanted=options.audit)
    return run.search(features)


class _Bounds:
    """What the sets inside a superset can score, rounding included."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        d = 1.0 / np.sqrt(problem.pencil.diag_B)
        self.A, self.B = (M * np.outer(d, d) for M in (problem.pencil.A, problem.pencil.B))
        self._least = float(linalg.eigvalsh(self.B)[0])

    def inside(self, M: np.ndarray) -> InclusionBounds:
        """Theorem 1 for the sets of k features inside M."""
        place = np.ix_(M, M)
        if self.problem.criterion == "logdet" and is_graded(np.diag(self.A)[M], np.ones(M.size)):
            return self._graded_inside(M)
        values = linalg.eigh(self.A[place], self.B[place], eigvals_only=True)
        k, criterion = self.problem.k, self.problem.criterion
        lower, _ = criterion_bounds(values, k, criterion)
        _, upper = criterion_bounds(values + self._rounding(M, values), k, criterion)
        return InclusionBounds(lower, upper)

    @cached_property
    def _gains(self) -> np.ndarray:
        return hadamard_gains(self.problem.pencil)

    def _graded_inside(self, M: np.ndarray) -> InclusionBounds:
        """The same where the small eigenvalues need care, and the sizes alone say much."""
        k, place = self.problem.k, np.ix_(M, M)
        A, B = self.A[place], self.B[place]
        values = np.zeros(M.size)
        found = graded_eigh(A, B)[0]
        values[M.size - found.size :] = found[::-1]
        lower, upper = criterion_bounds(values, k, "logdet")
        by_size = float(np.sort(self._gains[M])[-k:].sum())
        return InclusionBounds(lower, min(upper + graded_rounding(A, B), by_size))

    def _rounding(self, M: np.ndarray, values: np.ndarray) -> float:
        """How far the eigenvalues may be off: eps (|A| + |lambda| |B|) / lambda_min(B)."""
        least = self._least
        if least < WELL_CONDITIONED:  # M may be far better than the whole, never worse
            least = max(least, float(linalg.eigvalsh(self.B[np.ix_(M, M)])[0]))
        size = float(np.abs(values).max()) + self.problem.pencil.scale
        return size * (NOISE + 4 * M.size * EPS / max(least, EPS))


def _by_deletion_cost(bounds: _Bounds, budget: Budget) -> np.ndarray:
    """The features, the one first without which the inclusion bound of all others is lowest."""
    everything = bounds.problem.features
    left = np.full(everything.size, np.inf)
    for j in everything if everything.size > bounds.problem.k else ():
        left[j] = bounds.inside(np.delete(everything, j)).upper
        if budget.stop() is not None:
            break
    return np.argsort(left, kind="stable")


@dataclass(order=True)
class _OpenSuperset:
    """An open subproblem; nodes compare by bound, then by the lower bound of theorem 1."""

    rank: tuple[float, float, int]
    bound: float = field(compare=False)
    forced: np.ndarray = field(compare=False)
    undecided: np.ndarray = field(compare=False)


class _Run:
    """One search: the open nodes, the incumbent, and what the closed nodes leave open."""

    def __init__(
        self,
        target: Target,
        budget: Budget,
        bounds: _Bounds,
        max_nodes: int | None,
        best_first: bool,
        support: np.ndarray,
    ) -> None:
        self.target, self.budget, self.bounds = target, budget, bounds
        self.max_nodes, self.best_first = max_nodes, best_first
        self.support, self.value = support, target.problem.score(support)
        self.blocks, self.needs = target.problem.blocks_and_needs()
        self.coverage = CoverageCount(target.problem, wanted=False)
        self.open: list[_OpenSuperset] = []
        self.n_nodes = 0
        # the incumbent's own rounding stays, whatever is proved of the other sets
        self.closed = target.problem.ceiling(support)

    def search(self, features: np.ndarray) -> Outcome:
        include = self.target.problem.include
        stopped = None
        self._visit(include, features[~np.isin(features, include)])
        while self.open and stopped is None:
            stopped = self._limit()
            if stopped is None:
                node = self._pop()
                if node.bound <= self._cut():
                    self._close(node.bound, node.forced, node.undecided)
                else:
                    self._expand(node)
                self._report()
        self.coverage.check([self._sizes(node.forced, node.undecided) for node in self.open])
        return Outcome(self.support, self.value, self._proved(), self.n_nodes, stopped)

    def _expand(self, node: _OpenSuperset) -> None:
        """Visit the children; if a limit comes in between, the others stay open unseen."""
        stopped = None
        for forced, undecided in self._children(node):
            if stopped is None:
                self._visit(forced, undecided)
                stopped = self._limit()
            else:
                self._push(_OpenSuperset(node.rank, node.bound, forced, undecided))

    def _children(self, node: _OpenSuperset) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Those that hold a set at all."""
        for i in range(node.undecided.size):
            child = np.append(node.forced, node.undecided[:i]), node.undecided[i + 1 :]
            there, need = self._sizes(*child)
            if np.any(need < 0):
                return
            if np.all(there >= need):
                yield child

    def _sizes(self, forced: np.ndarray, undecided: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many features of every block are undecided, and how many it still needs."""
        there, taken = (
            np.bincount(self.blocks[some], minlength=self.needs.size)
            for some in (undecided, forced)
        )
        return there, self.needs - taken

    def _visit(self, forced: np.ndarray, undecided: np.ndarray) -> None:
        """Bound a subproblem: it is a single set, too low, or left open."""
        _, need = self._sizes(forced, undecided)
        undecided = undecided[need[self.blocks[undecided]] > 0]  # a full block takes no more
        self.n_nodes += 1
        M = np.sort(np.append(forced, undecided))
        if M.size == self.target.problem.k:
            self._offer(M)
            self._close(self.target.problem.ceiling(M), forced, undecided)
            return
        lower, upper = self.bounds.inside(M)
        if upper <= self._cut():
            self._close(upper, forced, undecided)
        else:
            self._push(_OpenSuperset((-upper, -lower, self.n_nodes), upper, forced, undecided))

    def _offer(self, S: np.ndarray) -> None:
        value = self.target.problem.score(S)
        if value > self.value:
            self.support, self.value = S, value

    def _close(self, bound: float, forced: np.ndarray, undecided: np.ndarray) -> None:
        self.closed = max(self.closed, bound)
        self.coverage.close(*self._sizes(forced, undecided))

    def _push(self, node: _OpenSuperset) -> None:
        if self.best_first:
            heapq.heappush(self.open, node)
        else:
            self.open.append(node)

    def _pop(self) -> _OpenSuperset:
        return heapq.heappop(self.open) if self.best_first else self.open.pop()

    def _cut(self) -> float:
        return self.target.cut(self.value)

    def _proved(self) -> float:
        """No set scores more than this."""
        first = self.open[:1] if self.best_first else self.open  # the heap's first has the largest
        return max(self._cut(), self.closed, *(node.bound for node in first))

    def _limit(self) -> Status | None:
        if self.max_nodes is not None and self.n_nodes >= self.max_nodes:
            return Status.ITERATION_LIMIT
        return self.budget.stop()

    def _report(self) -> None:
        if self.budget.callback is not None:
            self.target.report(self.budget, "interlacing", self.value, self._proved(), self.n_nodes)


SOLVER = Solver(
    name="interlacing",
    search=search_interlacing,
    summary="the paper's branch and bound (ESLDA), plain: the reference for exact",
    solve=solve_interlacing,
    certifies=True,
    max_features=200,
    warm_start=True,
)
