"""Exact: level-set branch and bound for the largest eigenvalue, any symmetric A."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ....pencil.budget import Budget
from ....pencil.problem import Problem
from ....pencil.solution import Status, relative_gap
from ...solver import Solver, seeks_one_direction
from ...spectral_bound import spectral_upper_bound
from ...target import Outcome, Target
from ..level import LevelTree
from ..level_start import find_level_start
from ..tree import Expansion, Node, Order, Search, SearchOptions, solve_by_tree
from .search_kernel import search_below

# One node of so many takes a tenth of a second; "dominance" takes more.
MAX_FEATURES = 500
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


class LevelsetTree(LevelTree):
    """The search below a node: see search_kernel.pyx."""

    name = "levelset"

    def __init__(self, problem: Problem, features: np.ndarray) -> None:
        super().__init__(problem, features)
        # hundredths of a second: an eigen-decomposition takes about 6e-9 n^3 seconds
        self._chunk = int(np.clip(4e6 / features.size**3, 1, 64))

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        doubt = np.array([-np.inf])
        work = LevelsetProblem(
            self.A, self.B, self.reach, doubt, self.blocks, self.need, counts, self.strides
        )
        level, step = order.cut / self.unit, order.step / self.unit
        n_nodes, states, best, level = search_below(work, level, step, node.state, self._chunk)
        left = [Node(node.bound, state) for state in states]
        cut = max(order.cut, float(doubt[0]) * self.unit)
        work = (
            n_nodes
            * float(self.features.size) ** 2
            * (WORK_CUBED * self.features.size + WORK_SQUARED)
        )
        if best.size == 0:
            return Expansion(n_nodes, left, None, cut, work)
        better = self.features[best]
        return Expansion(n_nodes, left, better, max(cut, level * self.unit), work)


def search_levelset(target: Target, budget: Budget, options: SearchOptions) -> Outcome:
    """The set with the largest leading eigenvalue, proved.

    By default there are 15 starts, from eigenvectors, sets of similar features and random sets; 4
    above 200 features.
    """
    work, known = target.problem, options.known
    tree = LevelsetTree(work, work.features)
    support = known.support if known else find_level_start(work, budget, tree, options)
    value = work.score(support)
    bound = known.bound if known else spectral_upper_bound(work, value)
    outcome = Outcome(support, value, bound, 0, budget.stop())
    if bound > target.cut(value) and outcome.stopped is None:
        outcome = _search_in_rungs(Search(tree, target, budget, options), outcome)
    return outcome


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
    summary="exact for the largest eigenvalue of some 50 features: level-set branch and bound",
    solve=partial(solve_by_tree, "levelset", search_levelset),
    certifies=True,
    max_features=MAX_FEATURES,
    refuses=seeks_one_direction,
    warm_start=True,
)
