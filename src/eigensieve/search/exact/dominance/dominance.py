"""Exact: dominance branch and bound for the largest eigenvalue, any symmetric A.

Sparse PCA of thousands of features: sums of rows decide nearly all of them (rows.py). Where that
is not enough, or B is correlated, a semidefinite part is taken out first (absorb.py).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from ....pencil.budget import Budget
from ....pencil.problem import Problem
from ....pencil.solution import Status
from ... import spectral_bound
from ...greedy.start import best_of, find_start, resize
from ...linear_kernel import ratio_of_set
from ...solver import OnDisk, Solver, seeks_one_direction
from ...spectral_bound import TraceBound, spectral_upper_bound
from ...target import IN, OUT, Outcome, Target, start_state
from ..level import LevelTree
from ..level_start import find_level_start
from ..perspective.relaxation import relax_all
from ..perspective.scaled_pencil import ScaledPencil
from ..tree import Expansion, Node, Order, Search, SearchOptions, solve_by_tree
from .node import MAX_ABSORBED, Examination
from .root import screen_by_rows
from .start import above_all_features, may_join, power_start

# Up to this many features a search needs no look at the root beforehand.
SMALL = 200
# More than this are not searched, by rows: a matrix of them would take more than 200 MB.
MAX_FEATURES = 5000
# The work of searching without a relaxation, before one is tried: as much as at its root.
PLAIN_WORK, WORK_OF_RELAXATION = 4e9, 30.0
WORK_OF_NODE = 60.0  # per entry of the matrix
PLAIN_NODES = 30  # at least


class DominanceTree(LevelTree):
    """Nodes are looked at one by one: see node.py."""

    name = "dominance"

    def __init__(
        self,
        target: Target,
        features: np.ndarray,
        stop: np.ndarray,
        relaxes: bool = False,
    ) -> None:
        problem = target.problem
        super().__init__(problem, features)
        self.stop, self.lists = stop, target.lists
        self.limits = None if problem.limits is None else problem.limits.take(features)
        self.absorbs = relaxes or not problem.pencil.has_diagonal_B

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        level, step = order.cut / self.unit, order.step / self.unit
        work, better, doubt, state = 0.0, None, -np.inf, node.state
        listed: list[np.ndarray] = []
        while True:
            look = Examination(self, level, state, counts, self.absorbs)
            found = look.run(node.warm)
            work, doubt = work + found.work, max(doubt, found.doubt)
            listed += found.listed
            if found.better is None:
                break
            better, state = self.features[found.better], found.state
            level = ratio_of_set(self.A, self.B, found.better) + step
        cut = max(order.cut, level * self.unit, doubt * self.unit)
        left, bound = [], min(node.bound, found.bound * self.unit)
        if found.branch < 0 and not found.is_closed:
            left.append(Node(bound, found.state, found.warm or node.warm))
        elif not found.is_closed:
            for choice in (OUT, IN):
                state = found.state.copy()
                state[found.branch] = choice
                left.append(Node(bound, state, found.warm or node.warm))
        sets = self.features[np.array(listed)] if listed else None
        return Expansion(1, left, better, cut, work, sets)


def search_dominance(target: Target, budget: Budget, options: SearchOptions) -> Outcome:
    """The set with the largest leading eigenvalue, proved.

    Notes
    -----
    With more than 200 features those that the sums of rows, or for a general B the traces at the
    root, show to be in no better set are taken out first. Where more than 5,000 are left (700
    with a general B) there is no search, and the status is "gap limit" with the bound at the root.
    """
    with budget.alarm() as stop:  # a node with a relaxation may take seconds
        return _search(target, budget, options, stop)


def _search(target: Target, budget: Budget, options: SearchOptions, stop: np.ndarray) -> Outcome:
    work, known = target.problem, options.known
    if work.k == work.pencil.size or not may_join(work).any():
        support = resize(work, work.include)
        return Outcome(support, work.score(support), work.score(support), 0, None)
    tree = DominanceTree(target, work.features, stop) if work.pencil.size <= SMALL else None
    if known:
        support, bound = known.support, known.bound
    else:
        support = _find_start(work, budget, tree, options)
        bound = _root_bound(work, support)
    if work.limits is None:
        support = above_all_features(work, support, budget)
    outcome = Outcome(support, work.score(support), bound, 0, budget.stop())
    if bound <= target.cut(outcome.value) or outcome.stopped is not None:
        return outcome
    if tree is None:
        features = work.features
        if not (known and known.is_screened):
            features, outcome.bound = _screen(target, outcome, budget)
        outcome.stopped = budget.stop()
        if features.size <= (MAX_FEATURES if work.pencil.has_diagonal_B else MAX_ABSORBED):
            tree = DominanceTree(target, features, stop)
    if tree is None or outcome.stopped is not None or outcome.bound <= target.cut(outcome.value):
        return outcome
    return _search_in_turn(tree, target, budget, options, outcome)


def _find_start(
    problem: Problem, budget: Budget, tree: DominanceTree | None, options: SearchOptions
) -> np.ndarray:
    if problem.limits is not None:
        return find_start(
            problem, budget, "dominance", given=options.start, random_state=options.random_state
        )
    supports = [find_level_start(problem, budget, tree, options)]
    if tree is None and problem.pencil.has_diagonal_B:
        supports.append(power_start(problem, budget, options))
    return best_of(problem, budget, supports)


def _root_bound(problem: Problem, support: np.ndarray) -> float:
    """No set exceeds it: by traces, and with two classes by the perspective relaxation."""
    bound = spectral_upper_bound(problem, problem.score(support))
    if problem.criterion == "trace":
        weights = np.zeros(problem.pencil.size)
        weights[support] = 1.0
        scaled, plain = ScaledPencil(problem), replace(problem, quota=None)
        bound = min(bound, relax_all(plain, scaled, start_state(problem), weights).bound)
    return bound


def _goes_by_rows(problem: Problem) -> bool:
    return problem.pencil.has_diagonal_B and problem.pencil.in_memory


def screen(
    problem: Problem, support: np.ndarray, cut: float, budget: Budget
) -> tuple[float, np.ndarray]:
    """A bound on all sets, and the features that one above the cut, or the support, may hold."""
    by = screen_by_rows if _goes_by_rows(problem) else spectral_bound.screen
    return by(problem, support, cut, budget)


def _screen(target: Target, outcome: Outcome, budget: Budget) -> tuple[np.ndarray, float]:
    """The same for the search, with what is known of the bound."""
    problem, cut = target.problem, target.cut(outcome.value)
    if not problem.pencil.has_diagonal_B:
        return _screen_by_traces(problem, cut, outcome.bound)
    bound, features = screen_by_rows(problem, outcome.support, cut, budget)
    return features, min(outcome.bound, bound)


def _screen_by_traces(problem: Problem, cut: float, bound: float) -> tuple[np.ndarray, float]:
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
        part = problem.among(features, problem.pencil.take(features))
        bound = min(bound, max(cut, spectral_upper_bound(part)))
        if bound <= cut:
            return features, cut


def _search_in_turn(
    tree: DominanceTree, target: Target, budget: Budget, options: SearchOptions, outcome: Outcome
) -> Outcome:
    """Search without the relaxation, which costs a hundred times as much, and if need be with."""
    search, most = Search(tree, target, budget, options), options.max_nodes
    if not tree.absorbs:
        size = float(tree.features.size)
        work = min(PLAIN_WORK, WORK_OF_RELAXATION * size**3)
        few = max(int(work / (WORK_OF_NODE * size**2)), PLAIN_NODES)
        search.max_nodes = few if most is None else min(few, most)
        outcome = search.run(outcome.support, outcome.bound)
        is_spent = most is not None and outcome.n_nodes >= most
        if outcome.stopped is not Status.ITERATION_LIMIT or is_spent:
            return outcome
        # another tree, as that of a search may have been sent to other processes
        relaxing = DominanceTree(target, tree.features, tree.stop, relaxes=True)
        search = Search(relaxing, target, budget, options, outcome.n_nodes)
    return search.run(outcome.support, outcome.bound)


SOLVER = Solver(
    name="dominance",
    search=search_dominance,
    summary="exact for the largest eigenvalue (PCA of thousands, CCA): dominance branch and bound",
    solve=partial(solve_by_tree, "dominance", search_dominance),
    certifies=True,
    refuses=seeks_one_direction,
    takes_limits=True,
    warm_start=True,
    screen=screen,
    screens_first=_goes_by_rows,
    on_disk=OnDisk(),
)
