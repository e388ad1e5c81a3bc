"""Exact: level-set branch and bound for the largest eigenvalue, any symmetric A."""

from __future__ import annotations

from functools import partial
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ....pencil.budget import Budget
from ....pencil.criteria import EPS, spd_inverse, surely_below
from ....pencil.pencil import Pencil
from ....pencil.problem import Problem
from ....pencil.solution import Status, relative_gap
from ...column_generation import among
from ...greedy.start import best_of, find_start, resize
from ...moves import starting_supports
from ...solver import OnDisk, Solver, seeks_one_direction
from ...spectral_bound import TraceBound, screen, spectral_upper_bound
from ...target import FREE, Outcome, Target, start_state
from ..coverage import CoverageCount
from ..tree import Expansion, Node, Order, Search, SearchOptions, solve_by_tree
from .search_kernel import search_below
from .start_kernel import climb

# The most features a search takes: one node of so many takes a tenth of a second.
SEARCH_LIMIT = 500
# Up to this many features all starts are tried with the compiled local search.
CLIMB_LIMIT = 200
N_STARTS = 15
# With more, so many are.
WIDE_STARTS = 4
# A node takes about so long, per feature cubed and squared, in units of `Budget.spend`.
WORK_CUBED, WORK_SQUARED = 0.22, 30.0
# A search that takes more nodes than this is done in rungs, see `_search_in_rungs`.
SHORT = 3000
RUNGS = (0.5, 0.15, 0.0)  # shares of the gap at the root


class LevelsetProblem(NamedTuple):
    """B with a unit diagonal, max |A| = 1, and need[b] features of block b; the audit's table.

    ``reach`` is the diagonal of B^-1: x_j^2 is at most reach[j] x'Bx. ``doubt`` gets the largest
    ratio that a set may have where N was lifted because double precision could not tell.
    """

    A: np.ndarray
    B: np.ndarray
    reach: np.ndarray
    doubt: np.ndarray
    block: np.ndarray
    need: np.ndarray
    counts: np.ndarray
    strides: np.ndarray


class LevelsetTree:
    """The search below a node: see search_kernel.pyx."""

    name = "levelset"

    def __init__(self, problem: Problem, features: np.ndarray) -> None:
        self.features = features
        self.problem = problem
        blocks, self._need = problem.blocks_and_needs()
        self._blocks = blocks[features]
        small = problem.pencil.restrict(features)
        d = 1.0 / np.sqrt(small.diag_B)
        self._unit = problem.pencil.scale or 1.0
        self._A = small.A * np.outer(d, d) / self._unit
        self._B = small.B * np.outer(d, d)
        self._reach = _reach(problem.pencil, self._B)
        # hundredths of a second: an eigen-decomposition takes about 6e-9 n^3 seconds
        self._chunk = int(np.clip(4e6 / features.size**3, 1, 64))

    def roots(self, coverage: CoverageCount) -> list[Node]:
        state = start_state(self.problem)[self.features]
        self._strides = coverage.strides
        left = np.bincount(self._blocks[state == FREE], minlength=self._need.size)
        coverage.close(coverage.sizes, coverage.needs)
        coverage.close(left, coverage.needs, -1)
        return [Node(np.inf, state)]

    def __getstate__(self) -> dict[str, Any]:
        """What `expand` needs, without the problem, which may be much larger."""
        return {name: value for name, value in vars(self).items() if name != "problem"}

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        doubt = np.array([-np.inf])
        work = LevelsetProblem(
            self._A, self._B, self._reach, doubt, self._blocks, self._need, counts, self._strides
        )
        level, step = order.cut / self._unit, order.step / self._unit
        n_nodes, states, best, level = search_below(work, level, step, node.state, self._chunk)
        left = [Node(node.bound, state) for state in states]
        cut = max(order.cut, float(doubt[0]) * self._unit)
        work = (
            n_nodes
            * float(self.features.size) ** 2
            * (WORK_CUBED * self.features.size + WORK_SQUARED)
        )
        if best.size == 0:
            return Expansion(n_nodes, left, None, cut, work)
        better = self.features[best]
        return Expansion(n_nodes, left, better, max(cut, level * self._unit), work)

    def climb(self, support: np.ndarray) -> np.ndarray:
        """The set that exchanges lead to."""
        movable = ~np.isin(self.features, self.problem.include)
        places = np.searchsorted(self.features, support)
        return self.features[climb(self._A, self._B, self._blocks, places, movable)[0]]


def _reach(pencil: Pencil, B: np.ndarray) -> np.ndarray:
    """No diagonal entry of B^-1 is larger; B has a unit diagonal. With A = 0 none counts."""
    if pencil.scale == 0:
        return np.zeros(len(B))
    least = max(surely_below(B), pencil.least_B)
    error = 8 * len(B) * EPS / least
    if error > 0.5:
        return np.full(len(B), 1.0 / least)
    return np.diag(spd_inverse(B)) / (1.0 - error)


def search_levelset(target: Target, budget: Budget, options: SearchOptions) -> Outcome:
    """The set with the largest leading eigenvalue, proved.

    By default there are 15 starts, from eigenvectors, sets of similar features and random sets; 4
    above 200 features.

    Notes
    -----
    With more than 500 features those that the root bound shows to be in no better set are taken
    out first. That needs variances that differ, or a few strong components; where more than 500
    features are left there is no search, and the status is "gap limit" with the root bound.
    """
    work = target.problem
    is_small = work.pencil.size <= SEARCH_LIMIT
    tree = LevelsetTree(work, work.features) if is_small else None
    known = options.known
    support = known.support if known else _find_start(work, budget, tree, options)
    value = work.score(support)
    bound = known.bound if known else spectral_upper_bound(work, value)
    outcome = Outcome(support, value, bound, 0, budget.stop())
    cut = target.cut(value)
    if bound > cut and outcome.stopped is None:
        if tree is None:
            features, outcome.bound = _screen(work, cut, bound)
            if features.size <= SEARCH_LIMIT:
                tree = LevelsetTree(work, features)
        if tree is not None and outcome.bound > cut:
            outcome = _search_in_rungs(Search(tree, target, budget, options), outcome)
    return outcome


def _find_start(
    problem: Problem, budget: Budget, tree: LevelsetTree | None, options: SearchOptions
) -> np.ndarray:
    given, n_starts, random_state = options.start, options.n_starts, options.random_state
    if tree is not None and problem.pencil.size <= CLIMB_LIMIT:
        n_starts = N_STARTS if n_starts is None else n_starts
        rng = np.random.default_rng(random_state)
        first = resize(problem, np.asarray(() if given is None else given, dtype=np.intp))
        others = starting_supports(problem, n_starts, rng, budget)
        return best_of(problem, budget, (tree.climb(S) for S in chain([first], others)))
    return find_start(
        problem,
        budget,
        "levelset",
        given=given,
        n_starts=WIDE_STARTS if n_starts is None else n_starts,
        random_state=random_state,
    )


def _screen(problem: Problem, cut: float, bound: float) -> tuple[np.ndarray, float]:
    """The features that a set above the cut may hold, and the bound that they leave."""
    features, part = problem.features, problem
    blocks, needs = problem.blocks_and_needs()
    while True:
        keep = TraceBound(part).may_exceed(cut)
        features = features[keep]
        if np.any(np.bincount(blocks[features], minlength=needs.size) < needs):
            return features, cut
        if keep.all():
            return features, bound
        part = among(problem, features, problem.pencil.take(features))
        bound = min(bound, max(cut, spectral_upper_bound(part)))
        if bound <= cut:
            return features, cut


def _search_in_rungs(search: Search, outcome: Outcome) -> Outcome:
    """Search for the gap asked for; if that takes long, close coarser gaps first.

    A search at one level knows nothing of the optimum before it is done. With some coarser ones
    before it a limit leaves a bound that is better than that of the root.
    """
    target, most, fine = search.target, search.max_nodes, search.target.tol
    search.max_nodes = SHORT if most is None else min(most, SHORT)
    outcome = search.run(outcome.support, outcome.bound)
    search.max_nodes = most
    is_spent = most is not None and outcome.n_nodes >= most
    if outcome.stopped is not Status.ITERATION_LIMIT or is_spent:
        return outcome
    value, bound = target.outward(outcome.value), target.outward(outcome.bound)
    gap = relative_gap(value, bound, target.asked.unit)
    for share in RUNGS:
        target.tol = max(share * gap, fine)
        outcome = search.run(outcome.support, outcome.bound)
        if outcome.stopped is not None:
            break
    target.tol = fine
    return outcome


SOLVER = Solver(
    name="levelset",
    search=search_levelset,
    summary="exact for the largest eigenvalue (PCA, many classes, CCA): level-set branch and bound",
    solve=partial(solve_by_tree, "levelset", search_levelset),
    certifies=True,
    refuses=seeks_one_direction,
    warm_start=True,
    screen=screen,
    on_disk=OnDisk(),
)
