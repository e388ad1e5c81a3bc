"""Column generation: a search among a few columns of a wide table, and a pass that confirms it.

The search runs in memory, on a working set of columns, and leaves a `Trail` of its decisions:
which feature was added to which set, which exchange was the best. One pass over the table takes
every decision again, with each block of columns among the candidates. Where a column from outside
would have won it joins the working set, and the search is run again. When no decision changes,
the search has done what it would have done with all columns at hand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ...pencil.budget import Budget
from ...pencil.factor_pencil import FactorPencil
from ...pencil.problem import Problem
from ..secular import first_max
from .forward import make_state
from .swap import make_scan

# Columns that the search starts with.
WORKING_SET = 2000
# Columns whose decisions are taken again at a time: what is kept of them stays in the cache.
PART = 8192
# Of one part of the columns, and of all, so many join for a decision.
MAX_COLUMNS_OF_PART = 4
MAX_COLUMNS_JOINING = 50


class Generated(NamedTuple):
    """What the search found, whether there was time to confirm it, and what is in doubt.

    ``doubtful`` has the sets (sorted, indices of the problem) of which no better exchange was
    found, but too near to round-off to be sure: see `Scan.is_sharp`.
    """

    found: Any
    is_confirmed: bool
    doubtful: set[tuple[int, ...]]


@dataclass
class Trail:
    """The decisions of a search, in indices of its problem.

    Attributes
    ----------
    orders : features in the order in which a forward pass added them, and how many of them were
        not its choice
    scans : a set in the order of its slots, and the feature that the best exchange took in, or -1
    """

    orders: list[tuple[np.ndarray, int]] = field(default_factory=list)
    scans: list[tuple[np.ndarray, int]] = field(default_factory=list)

    def watch(self, support: np.ndarray, move: tuple[int, int] | None) -> None:
        """Note a scan of exchanges: see `swap_refine`."""
        self.scans.append((support.copy(), -1 if move is None else move[1]))

    def at(self, columns: np.ndarray) -> Trail:
        """The same decisions in indices of a larger problem."""
        orders = [(columns[order], given) for order, given in self.orders]
        scans = [(columns[S], int(columns[j]) if j >= 0 else -1) for S, j in self.scans]
        return Trail(orders, scans)

    @property
    def members(self) -> np.ndarray:
        """All features that a decision is about."""
        sets = [order for order, _ in self.orders] + [S for S, _ in self.scans]
        winners = [j for _, j in self.scans if j >= 0]
        return np.unique(np.concatenate([np.array(winners, dtype=np.intp), *sets]))


def generate(
    problem: Problem,
    wanted: np.ndarray,
    search: Callable[[Problem, Trail], Any],
    budget: Budget,
) -> Generated:
    """What the search finds among all columns.

    Parameters
    ----------
    problem : its pencil is on disk
    wanted : features that the search needs in any case
    search : called with the problem of the working set, and the trail that it is to leave; the
        features of that problem are some of the problem's, in the same order
    """
    pencil = problem.pencil.factors
    columns = np.union1d(wanted, _first_columns(problem))
    here = pencil.load(columns)
    while True:
        trail = Trail()
        found = search(problem.among(columns, here), trail)
        stopped = budget.stop() is not None
        if stopped or not (trail.orders or trail.scans):
            return Generated(found, not stopped, set())
        look = _Confirmation(problem, trail.at(columns), columns, here)
        is_done = look.run(budget)
        joining = look.outsiders
        if not is_done or joining.size == 0:
            return Generated(found, is_done, look.doubtful)
        columns, here = _join(columns, here, joining, pencil.load(joining))


def _first_columns(problem: Problem) -> np.ndarray:
    """The features that score most alone."""
    pencil = problem.pencil
    ratio = pencil.diag_A / pencil.diag_B
    most = min(max(WORKING_SET, 2 * problem.k), ratio.size)
    best = np.argpartition(-ratio, most - 1)[:most]
    anchor = int(np.argmax(pencil.scales))  # the unit of near-ties
    return np.union1d(np.append(best, [first_max(ratio), anchor]), problem.include)


def _join(
    columns: np.ndarray, pencil: FactorPencil, more: np.ndarray, others: FactorPencil
) -> tuple[np.ndarray, FactorPencil]:
    """Two pencils of different features as one, in the order of the features."""
    both = np.concatenate([columns, more])
    order = np.argsort(both, kind="stable")
    H, W = (np.hstack(pair)[:, order] for pair in ((pencil.H, others.H), (pencil.W, others.W)))
    d = np.concatenate([pencil.d, others.d])[order]
    return both[order], FactorPencil(H, W, d, core=pencil.core)


class _Confirmation:
    """One pass over the table that takes the decisions of a trail again."""

    def __init__(
        self, problem: Problem, trail: Trail, columns: np.ndarray, here: FactorPencil
    ) -> None:
        self.problem, self.pencil = problem, problem.pencil.factors
        self.trail, self.columns = trail, columns
        self.members = np.union1d(trail.members, [np.argmax(self.pencil.scales)])
        self.own = here.take(np.searchsorted(columns, self.members))
        # decisions know the members' rows only: what W is outside their span is a diagonal
        span = linalg.orth(self.own.W) if len(self.own.W) else self.own.W
        self.span = span if span.shape[1] < span.shape[0] else None
        self.offers: dict[tuple[int, ...], list[tuple[float, int]]] = {}
        self.doubtful: set[tuple[int, ...]] = set()

    @property
    def outsiders(self) -> np.ndarray:
        """Features outside the working set that would have won."""
        winners = [j for offers in self.offers.values() for _, j in offers]
        return np.unique(np.array(winners, dtype=np.intp))

    def run(self, budget: Budget) -> bool:
        """Look at all features; False if the time was up before."""
        for step, (where, block) in enumerate(self.pencil.parts()):
            for start in range(0, block.size, PART):
                part = slice(start, min(start + PART, block.size))
                self._look_at(where.start + part.start, block, part)
            if budget.stop() is not None:
                return False
            budget.report("greedy", "pass over the table", step + 1)
        return True

    def _look_at(self, first: int, block: FactorPencil, part: slice) -> None:
        """Take the decisions with some more features, from the first on, among the candidates."""
        problem, features = self._with_members(first, block, part)
        with np.errstate(all="ignore"):  # as in `swap_refine`
            for number, (order, given) in enumerate(self.trail.orders):
                places = np.searchsorted(features, order)
                for slot, rival, score in _rivals_of_order(problem, places, given):
                    self._offer((number, slot), score, int(features[rival]))
            for number, (support, winner) in enumerate(self.trail.scans):
                places = np.searchsorted(features, support)
                scan = make_scan(problem.with_k(places.size), places)
                move = scan.best(np.flatnonzero(~np.isin(places, problem.include)), Budget())
                if move is not None and features[move[1]] != winner:
                    places[move[0]] = move[1]
                    self._offer((number,), problem.score(places), int(features[move[1]]))
                elif winner < 0 and not scan.is_sharp:
                    self.doubtful.add(tuple(sorted(support.tolist())))

    def _offer(self, decision: tuple[int, ...], score: float, feature: int) -> None:
        """Note a winner from outside; of many the best."""
        place = np.searchsorted(self.columns, feature)
        if place < self.columns.size and self.columns[place] == feature:
            return  # the search knew it, and round-off decides
        offers = self.offers.setdefault(decision, [])
        offers.append((score, feature))
        offers.sort(key=lambda offer: (-offer[0], offer[1]))
        del offers[MAX_COLUMNS_JOINING:]

    def _with_members(
        self, first: int, block: FactorPencil, part: slice
    ) -> tuple[Problem, np.ndarray]:
        """The problem of some features and the members, in the order of the features."""
        pencil = self.pencil
        last = first + part.stop - part.start
        before, after = np.searchsorted(self.members, [first, last])
        pieces = [(self.own, slice(before)), (block, part), (self.own, slice(after, None))]
        every = np.concatenate(
            [self.members[:before], np.arange(first, last), self.members[after:]]
        )
        H = np.hstack([source.H[:, index] for source, index in pieces])
        d = pencil.d[every]
        if self.span is None:
            W = np.hstack([source.W[:, index] for source, index in pieces])
        else:
            W = np.hstack([self.span.T @ source.W[:, index] for source, index in pieces])
            rest = pencil.diag_B[every] - np.einsum("ij,ij->j", W, W)
            d = np.maximum(d, rest)
        small = FactorPencil(H, W, d, core=pencil.core)
        for name in ("diag_A", "diag_B", "scales"):
            small.__dict__[name] = getattr(pencil, name)[every]
        return self.problem.among(every, small), every


def _rivals_of_order(
    problem: Problem, order: np.ndarray, given: int
) -> Iterator[tuple[int, int, float]]:
    """Features that would have been added instead: the step, the feature, its score."""
    state = make_state(problem.with_k(order.size))
    outside = np.ones(problem.pencil.size, dtype=bool)
    for slot, winner in enumerate(order):
        candidates = np.flatnonzero(outside)
        for _ in range(MAX_COLUMNS_OF_PART if slot >= max(given, 1) else 0):
            if state.best(candidates) == winner:
                break
            rival, score = state.best_scored(candidates)
            yield slot, rival, score
            candidates = candidates[candidates != rival]
        state.add(int(winner), slot)
        outside[winner] = False
