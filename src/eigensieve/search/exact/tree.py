"""Branch and bound: the open nodes, the incumbent, workers and limits; a `Tree` brings the rest.

Work is done in rounds. A round takes the open nodes with the largest bounds, lets a compiled
depth-first search visit a fixed number of nodes below each of them, and puts what is left open
back. All of a round start from the same incumbent, and what a round does never depends on how
many threads, or workers of a cluster, share it: so neither do the answer and the node count of a
finished search.
"""

from __future__ import annotations

import heapq
import math
import os
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...pencil.budget import Budget
from ...pencil.problem import Problem
from ...pencil.solution import Solution, Status
from ...tables.cluster import WorkerPool
from ..greedy.swap import swap_refine
from ..target import FREE, IN, Outcome, Target, finish
from .coverage import CoverageCount

# Nodes that one round expands. Part of the result: it must not depend on the number of threads.
ROUND = 16
# A search of more rounds than this expands more at once, so that many workers have something to do.
MAX_SMALL_ROUNDS = 30
WIDE_ROUND = 64
# A round that would take fewer seconds than this here is not worth sending to a cluster.
WORTH_SENDING = 0.05
# Into how many parts a round is cut for each thread of a cluster.
PARTS = 2
# With more open nodes than this the search goes deep rather than wide, to save memory: it takes
# those with the lowest bounds, which have least below them.
CROWD = 20_000


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
    work : about the arithmetic it took, see `Budget.spend`
    sets : array (m, k), all sets above the cut that were met, where they are to be listed
    """

    n_nodes: int
    open: list[Node]
    support: np.ndarray | None
    cut: float
    work: float
    sets: np.ndarray | None = None


Expanded = tuple[Expansion, np.ndarray]  # with the counts of the audit


class Order(NamedTuple):
    """What all expansions of a round have in common.

    Attributes
    ----------
    cut : sets above it are searched for
    step : a better set of value v raises the cut of the expansion to v + step
    horizon : the largest bound of the nodes that wait: what falls below is not urgent
    """

    cut: float
    step: float
    horizon: float


class Tree(Protocol):
    """An algorithm: a root and a way to search below a node.

    Once it has its roots it may be sent to another process, to expand nodes there.
    """

    name: str
    features: np.ndarray  # which of the problem's features its states are about

    def roots(self, coverage: CoverageCount) -> list[Node]:
        """The whole problem, or what is left of it; what was fixed goes to the coverage count."""
        ...

    def prepare(self, nodes: Sequence[Node], budget: Budget) -> None:
        """What the nodes of a round have in common, by one thread, before they are expanded."""
        ...

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        """Search below a node, depth first: some hundredths of a second.

        How many nodes it visits depends on the problem alone, never on the clock. ``counts`` takes
        the audit, see search/exact/coverage_kernel.pxd; it is empty where none is wanted.
        """
        ...


class Known(NamedTuple):
    """What others found out: a set to start from as it is, and a bound on all sets.

    ``is_screened``: the features are those that a better set may hold, for all that the solver's
    screen can say.
    """

    support: np.ndarray
    bound: float
    is_screened: bool = False


@dataclass(frozen=True)
class SearchOptions:
    """What every tree search lets its user choose: see `solve_by_tree`.

    With ``known`` it does not look for a start of its own.
    """

    start: Sequence[int] | None = None
    n_starts: int | None = None
    max_nodes: int | None = None
    audit: bool = False
    n_jobs: int | None = None
    client: Any = None
    random_state: int | None = None
    known: Known | None = None

    @property
    def n_threads(self) -> int:
        """n_jobs as scikit-learn reads it: None is 1, -1 all cores."""
        if self.n_jobs is None:
            return 1
        return self.n_jobs if self.n_jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + self.n_jobs)


@dataclass
class Search:
    """One branch and bound; `run` may be called again with a finer target."""

    tree: Tree
    target: Target
    budget: Budget
    options: SearchOptions
    n_nodes: int = 0
    _heap: list[tuple[float, int, Node]] = field(default_factory=list)
    _pushed: int = 0
    _takes_long: bool = False
    _n_expanded: int = 0
    _work: float = 0.0

    def __post_init__(self) -> None:
        self.max_nodes, client = self.options.max_nodes, self.options.client
        # all runs have the same tree: it is sent once
        self._pool = None if client is None else WorkerPool(client, _NodeBatch(self.tree))

    def run(self, support: np.ndarray, bound: float) -> Outcome:
        """Search from an incumbent; ``bound`` is what is known of the optimum."""
        self._support, self._value = support, self.target.problem.score(support)
        self._cut = self.target.cut(self._value)
        self.coverage = CoverageCount(self.target.problem, self.options.audit)
        self._heap.clear()
        for root in self.tree.roots(self.coverage):
            self._push(root._replace(bound=min(root.bound, bound)))
        with _threads(self.options.n_threads) as each:
            stopped = self._rounds(each)
        nodes = [node for _, _, node in self._heap]
        self.coverage.check([self._sizes(node) for node in nodes])
        self.target.end(self.tree.features, [node.state for node in nodes])
        closed = max(self._cut, self.target.cut(self._value))
        proved = max(closed, -self._heap[0][0]) if self._heap else closed
        return Outcome(self._support, self._value, min(proved, bound), self.n_nodes, stopped)

    def _rounds(self, each: Callable[..., Iterator]) -> Status | None:
        n_rounds = 0
        while self._heap and -self._heap[0][0] > self.target.cut(self._value):
            stopped = self.budget.stop()
            if stopped is None and self.max_nodes is not None and self.n_nodes >= self.max_nodes:
                stopped = Status.ITERATION_LIMIT
            if stopped is not None:
                return stopped
            size = self._affordable(ROUND if n_rounds < MAX_SMALL_ROUNDS else WIDE_ROUND)
            batch = self._take(min(size, len(self._heap)))
            self.tree.prepare(batch, self.budget)
            found = []
            for node, result in zip(batch, self._expand_all(batch, each)):
                if result is None:  # the time was up before its turn
                    self._push(node)
                else:
                    found.append(result)
            self._merge(found)
            self._report()
            n_rounds += 1
        for _, _, node in self._heap:
            self.coverage.close(*self._sizes(node))
        self._heap.clear()
        return None

    def _take(self, size: int) -> list[Node]:
        """The nodes of a round, out of those that are open."""
        if len(self._heap) <= CROWD:
            return [heapq.heappop(self._heap)[2] for _ in range(size)]
        self._heap.sort()  # which is a heap, too
        taken, self._heap[-size:] = self._heap[-size:], []
        return [node for _, _, node in taken]

    def _affordable(self, size: int) -> int:
        """As many nodes as the work that is left is likely to be enough for."""
        left = self.budget.work_left
        if not math.isfinite(left):
            return size
        if self._n_expanded == 0:
            return 1
        each = max(self._work / self._n_expanded, 1.0)
        return int(min(size, max(1.0, left / each)))

    def _expand_all(
        self, batch: list[Node], each: Callable[..., Iterator]
    ) -> Sequence[Expanded | None]:
        """What came of the nodes of a round; None for those that no time was left for."""
        crowded = not self._heap or len(self._heap) > CROWD
        cut = self.target.cut(self._value)
        order = Order(cut, cut - self._value, -np.inf if crowded else -self._heap[0][0])
        if self._pool is not None and self._takes_long:
            return self._send_all(self._pool, batch, order)
        start = time.perf_counter()
        found = list(each(partial(self._expand, order=order), batch))
        self._takes_long = time.perf_counter() - start > WORTH_SENDING
        return found

    def _expand(self, node: Node, order: Order) -> Expanded | None:
        if self.budget.stop() is not None:
            return None
        counts = self.coverage.blank()
        return self.tree.expand(node, order, counts), counts

    def _send_all(
        self, pool: WorkerPool, batch: list[Node], order: Order
    ) -> Sequence[Expanded | None]:
        """The same on a cluster; several nodes travel together, as every journey takes time."""
        size = max(1, len(batch) // (PARTS * max(1, pool.n_threads)))
        parts = [batch[i : i + size] for i in range(0, len(batch), size)]
        work = partial(_expand_part, order=order, blank=self.coverage.blank())
        answers = dict(pool.run(work, parts, lambda: self.budget.stop() is not None))
        self._takes_long = sum(seconds for _, seconds in answers.values()) > WORTH_SENDING
        found: list[Expanded | None] = []
        for i, part in enumerate(parts):
            found += answers[i][0] if i in answers else [None] * len(part)
        return found

    def _merge(self, found: list[Expanded]) -> None:
        """Take over what a round found, in the order of its nodes."""
        for expansion, counts in found:
            self.n_nodes += expansion.n_nodes
            self._n_expanded += 1
            self._work += expansion.work
            self.budget.spend(expansion.work)
            self.coverage.counts += counts
            self._cut = max(self._cut, expansion.cut)
            for node in expansion.open:
                self._push(node)
            if expansion.sets is not None:
                self.target.collect(expansion.sets)
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
        features, n_blocks = self.tree.features, self.coverage.needs.size
        blocks = self.coverage.blocks[features]
        chosen = (node.state == IN) & ~np.isin(features, self.target.problem.include)
        free = np.bincount(blocks[node.state == FREE], minlength=n_blocks)
        return free, self.coverage.needs - np.bincount(blocks[chosen], minlength=n_blocks)

    def _report(self) -> None:
        closed = max(self._cut, self.target.cut(self._value))
        bound = max(closed, -self._heap[0][0]) if self._heap else closed
        self.target.report(self.budget, self.tree.name, self._value, bound, self.n_nodes)


SearchFunction = Callable[[Target, Budget, SearchOptions], Outcome]


def solve_by_tree(
    name: str,
    search: SearchFunction,
    problem: Problem,
    budget: Budget,
    *,
    start: Sequence[int] | None = None,
    n_starts: int | None = None,
    max_nodes: int | None = None,
    audit: bool = False,
    n_jobs: int | None = None,
    client: Any = None,
    random_state: int | None = None,
) -> Solution:
    """The best set of k features, with a proof or the gap that is left.

    Parameters
    ----------
    name, search : the solver, and what it does
    problem, budget : see `eigensieve.solve`
    start : a set to start from, of any size
    n_starts : local searches besides those from the greedy sets; by default what the solver takes
        for worth its time
    max_nodes : the search ends with status "iteration limit" after about so many nodes
    audit : check, in exact integers, that closed and open subproblems cover every set once
    n_jobs : threads; the result does not depend on them
    client : of a dask cluster, whose workers then share the search; neither does it on these
    random_state : seed of the random starts
    """
    options = SearchOptions(start, n_starts, max_nodes, audit, n_jobs, client, random_state)
    target = Target(problem, budget.gap_tol)
    return finish(search(target, budget, options), target, budget, name)


@contextmanager
def _threads(n_jobs: int) -> Iterator[Callable[..., Iterator]]:
    """A `map` over that many threads; the kernels release the GIL."""
    if n_jobs == 1:
        yield map
        return
    with ThreadPoolExecutor(n_jobs) as pool:
        yield pool.map


@dataclass(frozen=True)
class _NodeBatch:
    """A tree that travels.

    Its arrays get memory of their own where it arrives. dask would leave them where they lie in
    the message, not always aligned: kernels would refuse those.
    """

    tree: Tree

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpack, (pickle.dumps(self.tree),)


def _unpack(tree: bytes) -> _NodeBatch:
    return _NodeBatch(pickle.loads(tree))


def _expand_part(
    batch: _NodeBatch, nodes: Sequence[Node], order: Order, blank: np.ndarray
) -> tuple[list[Expanded], float]:
    """Expand nodes on a worker of a cluster, and say how many seconds it took."""
    start = time.perf_counter()
    found = []
    for node in nodes:
        counts = blank.copy()
        found.append((batch.tree.expand(node, order, counts), counts))
    return found, time.perf_counter() - start
