"""Branch and bound: the open nodes, the incumbent, threads and limits; a `Tree` brings the rest.

Work is done in rounds. A round takes the open nodes with the largest bounds, lets a compiled
depth-first search visit a fixed number of nodes below each of them, and puts what is left open
back. All of a round start from the same incumbent, and what a round does never depends on how
many threads share it: so neither do the answer and the node count of a finished search.
"""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..errors import VerificationError
from .budget import Budget
from .problem import Problem
from .solution import Solution, Status, relative_gap
from .swap import swap_refine

FREE, IN, OUT = 0, 1, -1
# Nodes that one round expands. Part of the result: it must not depend on the number of threads.
ROUND = 16
# With more open nodes than this the search goes deep rather than wide, to save memory.
CROWD = 20_000
# Below this relative gap double precision proves nothing.
FLOOR = 1e-9
# No log-det is larger: sizes are limited, see core/stats.py; only a wide tolerance gets there.
LARGEST_EXPONENT = 700.0
# What is left of gap_tol for the rounding of incumbents.
SHARE = 0.95


class Node(NamedTuple):
    """An open subproblem: no set in it scores above ``bound``.

    ``state`` says FREE, IN or OUT of every feature of the tree; ``warm`` is what the
    algorithm wants to remember of the parent.
    """

    bound: float
    state: np.ndarray
    warm: Any = None


@dataclass
class Expansion:
    """What came of the nodes below one node.

    Attributes
    ----------
    n_nodes : nodes visited
    open : the nodes left open
    support : a set (indices of the problem's features) that the search takes for better than the
        incumbent, or None
    cut : the largest bound with which a node was closed
    """

    n_nodes: int
    open: list[Node]
    support: np.ndarray | None
    cut: float


class Tree(Protocol):
    """An algorithm: a root and a way to search below a node."""

    name: str
    features: np.ndarray  # which of the problem's features its states are about
    horizon: float  # the largest bound of the nodes that wait: what falls below is not urgent

    def roots(self, ledger: Ledger) -> list[Node]:
        """The whole problem, or what is left of it; what was fixed goes to the ledger."""
        ...

    def expand(self, node: Node, cut: float, step: float, counts: np.ndarray) -> Expansion:
        """Search below a node, depth first, for sets above ``cut``: some hundredths of a second.

        How many nodes it visits depends on the problem alone, never on the clock. A better set
        of value v raises the cut of this call to v + step. ``counts`` takes the audit, see
        kernels/ledger.py; it is empty where none is wanted.
        """
        ...


class Target:
    """What is searched for, and when a bound is good enough.

    With a rank-one A all criteria order the sets alike and the search works with the trace;
    ``problem`` is what the tree sees, `outward` takes a bound back to the user's criterion.
    """

    def __init__(self, problem: Problem, gap_tol: float) -> None:
        self.asked = problem
        same_order = problem.criterion != "trace" and problem.pencil.is_rank_one
        self.problem = replace(problem, criterion="trace") if same_order else problem
        self._is_log = same_order and problem.criterion == "logdet"
        self.tol = max(SHARE * gap_tol, FLOOR)

    def outward(self, value: float) -> float:
        """A value or bound of the search, in the criterion that was asked for."""
        return math.log1p(value) if self._is_log else value

    def inward(self, value: float) -> float:
        """A value or bound of the criterion that was asked for, in that of the search."""
        if not self._is_log:
            return value
        return math.expm1(min(value, LARGEST_EXPONENT))

    def cut(self, value: float) -> float:
        """The largest bound that closes a node when the incumbent has this value."""
        own = self.outward(value)
        return self.inward(own + self.tol * max(abs(own), self.asked.unit))


@dataclass
class Outcome:
    """The incumbent, what is proved, and why the search ended (None: nothing is open)."""

    support: np.ndarray
    value: float
    bound: float
    n_nodes: int
    stopped: Status | None


class Ledger:
    """The coverage audit: closed leaves and fixings must add up to all the sets there are."""

    def __init__(self, problem: Problem, wanted: bool) -> None:
        self.blocks, needs = blocks_and_needs(problem)
        free = np.ones(problem.pencil.size, dtype=bool)
        free[problem.include] = False
        self.needs = needs - np.bincount(self.blocks[problem.include], minlength=needs.size)
        self.sizes = np.bincount(self.blocks[free], minlength=needs.size)
        self.strides = ledger_strides(self.sizes, self.needs)
        length = int(np.prod((self.sizes + 1) * (self.needs + 1)))
        self.counts = np.zeros(length if wanted else 0, dtype=np.int64)

    def blank(self) -> np.ndarray:
        """Counts for one expansion."""
        return np.zeros_like(self.counts)

    def close(self, sizes: np.ndarray, needs: np.ndarray, amount: int = 1) -> None:
        """Count a subproblem as closed (or, -1, as what is left of a larger one)."""
        if self.counts.size:
            self.counts[int(self.strides[:, 0] @ sizes + self.strides[:, 1] @ needs)] += amount

    def check(self, open_nodes: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Raise unless the closed and the open subproblems cover every set exactly once."""
        if not self.counts.size:
            return
        total = sum(_count_sets(u, need) for u, need in open_nodes)
        shape = [n for pair in zip(self.sizes + 1, self.needs + 1) for n in pair]
        for code in np.flatnonzero(self.counts):
            place = np.array(np.unravel_index(code, shape))
            total += int(self.counts[code]) * _count_sets(place[::2], place[1::2])
        everything = _count_sets(self.sizes, self.needs)
        if total != everything:
            raise VerificationError(f"the search covered {total} sets of {everything}")


def blocks_and_needs(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """The block of every feature, and how many each block gives; one block without quotas."""
    if problem.quota is None:
        return np.zeros(problem.pencil.size, dtype=np.int64), np.array([problem.k])
    assert problem.pencil.blocks is not None
    needs = np.zeros(int(problem.pencil.blocks.max()) + 1, dtype=np.int64)
    for block, most in problem.quota.items():
        needs[block] = most
    return problem.pencil.blocks.astype(np.int64), needs


def ledger_strides(sizes: np.ndarray, needs: np.ndarray) -> np.ndarray:
    """Row-major strides of the audit's table: one pair of axes (size, need) per block."""
    strides = np.ones((sizes.size, 2), dtype=np.int64)
    step = 1
    for b in reversed(range(sizes.size)):
        strides[b] = step * (needs[b] + 1), step
        step *= int((sizes[b] + 1) * (needs[b] + 1))
    return strides


def _count_sets(sizes: np.ndarray, needs: np.ndarray) -> int:
    return math.prod(math.comb(int(u), int(need)) for u, need in zip(sizes, needs))


@dataclass
class Search:
    """One branch and bound; `run` may be called again with a finer target."""

    tree: Tree
    target: Target
    budget: Budget
    n_jobs: int = 1
    max_nodes: int | None = None
    audit: bool = False
    n_nodes: int = 0
    _heap: list[tuple[float, int, Node]] = field(default_factory=list)
    _pushed: int = 0

    def run(self, support: np.ndarray, bound: float) -> Outcome:
        """Search from an incumbent; ``bound`` is what is known of the optimum."""
        self._support, self._value = support, self.target.problem.score(support)
        self._cut = self.target.cut(self._value)
        self.ledger = Ledger(self.target.problem, self.audit)
        self._heap.clear()
        for root in self.tree.roots(self.ledger):
            self._push(root._replace(bound=min(root.bound, bound)))
        with _workers(self.n_jobs) as each:
            stopped = self._rounds(each)
        self.ledger.check([self._sizes(node) for _, _, node in self._heap])
        closed = max(self._cut, self.target.cut(self._value))
        proved = max(closed, -self._heap[0][0]) if self._heap else closed
        return Outcome(self._support, self._value, min(proved, bound), self.n_nodes, stopped)

    def _rounds(self, each: Callable[..., Iterator]) -> Status | None:
        while self._heap and -self._heap[0][0] > self.target.cut(self._value):
            stopped = self.budget.stop()
            if stopped is None and self.max_nodes is not None and self.n_nodes >= self.max_nodes:
                stopped = Status.ITERATION_LIMIT
            if stopped is not None:
                return stopped
            batch = [heapq.heappop(self._heap)[2] for _ in range(min(ROUND, len(self._heap)))]
            crowded = not self._heap or len(self._heap) > CROWD
            self.tree.horizon = -np.inf if crowded else -self._heap[0][0]
            expand = partial(self._expand, cut=self.target.cut(self._value))
            found = []
            for node, result in zip(batch, each(expand, batch)):
                if result is None:  # the time was up before its turn
                    self._push(node)
                else:
                    found.append(result)
            self._merge(found)
            self._report()
        for _, _, node in self._heap:
            self.ledger.close(*self._sizes(node))
        self._heap.clear()
        return None

    def _expand(self, node: Node, cut: float) -> tuple[Expansion, np.ndarray] | None:
        if self.budget.stop() is not None:
            return None
        counts = self.ledger.blank()
        return self.tree.expand(node, cut, cut - self._value, counts), counts

    def _merge(self, found: list[tuple[Expansion, np.ndarray]]) -> None:
        """Take over what a round found, in the order of its nodes."""
        for expansion, counts in found:
            self.n_nodes += expansion.n_nodes
            self.ledger.counts += counts
            self._cut = max(self._cut, expansion.cut)
            for node in expansion.open:
                self._push(node)
        sets = [e.support for e, _ in found if e.support is not None]
        for support in sorted(sets, key=lambda S: tuple(sorted(S))):
            self._offer(support)

    def _offer(self, support: np.ndarray) -> None:
        """Make a set the incumbent if it is better, from scratch; improve it by swaps."""
        problem = self.target.problem
        if problem.score(support) <= self._value:
            return
        polished, _, _ = swap_refine(problem, support, self.budget)
        self._support, self._value = polished, problem.score(polished)

    def _push(self, node: Node) -> None:
        heapq.heappush(self._heap, (-node.bound, self._pushed, node))
        self._pushed += 1

    def _sizes(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        features, n_blocks = self.tree.features, self.ledger.needs.size
        blocks = self.ledger.blocks[features]
        chosen = (node.state == IN) & ~np.isin(features, self.target.problem.include)
        free = np.bincount(blocks[node.state == FREE], minlength=n_blocks)
        return free, self.ledger.needs - np.bincount(blocks[chosen], minlength=n_blocks)

    def _report(self) -> None:
        closed = max(self._cut, self.target.cut(self._value))
        bound = max(closed, -self._heap[0][0]) if self._heap else closed
        self.budget.report(
            self.tree.name,
            "search",
            self.n_nodes,
            objective=self.target.outward(self._value),
            bound=self.target.outward(bound),
            n_nodes=self.n_nodes,
        )


def announce_compiling(budget: Budget, solver: str, kernel: object) -> None:
    """Say so where a first use has to compile: that takes the better part of a minute."""
    from ..kernels.compile import is_cached

    if not is_cached(kernel):
        budget.report(solver, "compiling, this once", 0)


def finish(outcome: Outcome, target: Target, budget: Budget, solver: str) -> Solution:
    """The `Solution` of a search: OPTIMAL only if the gap that was asked for is closed."""
    problem = target.asked
    value = problem.score(outcome.support)
    bound = max(target.outward(outcome.bound), problem.ceiling(outcome.support))
    status = outcome.stopped or Status.GAP_LIMIT
    if relative_gap(value, bound, problem.unit) <= budget.gap_tol:
        status = Status.OPTIMAL
    return problem.solution(
        outcome.support,
        status=status,
        solver=solver,
        bound=bound,
        gap_tol=budget.gap_tol,
        n_nodes=outcome.n_nodes,
        seconds=budget.seconds,
    )


@contextmanager
def _workers(n_jobs: int) -> Iterator[Callable[..., Iterator]]:
    """A `map` over that many threads; the kernels release the GIL."""
    if n_jobs == 1:
        yield map
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield pool.map


def count_threads(n_jobs: int | None) -> int:
    """n_jobs as scikit-learn reads it: None is 1, -1 all cores."""
    if n_jobs is None:
        return 1
    return n_jobs if n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + n_jobs)
