"""Exact: branch and bound on features and directions, for the largest eigenvalue of few classes.

With A = H'H of rank c (c + 1 classes) the largest eigenvalue of a set is the maximum over unit
vectors v of v' H_S B_S^-1 H_S' v. A direction v fixed is the problem of two classes, for which the
perspective relaxation is tight where the diagonal carries a good share of B.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import linalg

from ....pencil.budget import Budget
from ....pencil.problem import Problem
from ....pencil.solution import Status
from ...greedy.start import find_start
from ...greedy.swap import swap_refine
from ...moves import top_k
from ...solver import Solver, seeks_one_direction
from ...spectral_bound import spectral_upper_bound
from ...target import FREE, IN, OUT, Outcome, Target, start_state
from ..perspective.perspective import MAX_FEATURES, matrix_of
from ..perspective.relaxation import ScaledPencil, relax_all
from ..tree import Search, SearchOptions, solve_by_tree
from .cones import Cones, Corner, all_directions
from .tree import DirectionTree, margin_of

# Of more rows of H there would be too many directions.
MAX_RANK = 5
# The share of B that a diagonal must carry.
MIN_SHARE = 1e-6
N_STARTS = 4
# Sets of the largest weights, of so many directions, that are improved by swaps.
ROUNDINGS = 8


class Root:
    """The problem before there is a tree, over all features: p x p is never formed."""

    def __init__(self, problem: Problem, scaled: ScaledPencil, budget: Budget) -> None:
        self.problem, self._scaled, self._budget = problem, scaled, budget
        self.state = start_state(problem)
        self.free = np.flatnonzero(self.state == FREE)
        self.members = np.concatenate([problem.include, self.free])
        self.n_forced, self.need = problem.include.size, problem.k - problem.include.size
        self.margin = margin_of(problem.k, scaled.D)

    def cones(self, support: np.ndarray) -> Cones:
        """Cones that cover all directions, around that of a set."""
        weights = np.zeros(self.problem.pencil.size)
        weights[support] = 1.0
        return all_directions(self._axes(support), self, weights)

    def relax(self, direction: np.ndarray, weights: np.ndarray) -> Corner:
        """The relaxation over all features in a direction."""
        scaled = self._scaled.along(direction)
        found = relax_all(self.problem, scaled, self.state, weights, budget=self._budget)
        y, x = scaled.residuals(found.used, found.used_weights)
        rest = scaled.H[0] - np.sqrt(scaled.D) * y
        m = self.members
        return Corner(direction, found.weights, y[m], x[m], rest[m])

    def _axes(self, support: np.ndarray) -> np.ndarray:
        """An orthogonal basis of all directions, that of the set first."""
        L = np.linalg.cholesky(self._scaled.block(support))
        Z = linalg.solve_triangular(L, self._scaled.factor(support).T, lower=True)
        return np.linalg.eigh(Z.T @ Z)[1].T[::-1]

    def fix(self, cones: Cones, cut: float) -> np.ndarray:
        """The state of all features: which of them a set above the cut has, and has not."""
        must, cannot = cones.fix(cut)
        state = self.state.copy()
        state[self.free[must]], state[self.free[cannot]] = IN, OUT
        return state

    def best_rounding(self, cones: Cones, support: np.ndarray) -> np.ndarray:
        """The best of the sets of the largest weights in some directions, improved by swaps."""
        problem = self.problem
        for corner in cones.used()[0][:ROUNDINGS]:
            if self._budget.stop() is not None:
                break
            refined, _, _ = swap_refine(problem, top_k(problem, corner.weights), self._budget)
            if problem.score(refined) > problem.score(support):
                support = refined
        return support


def search_direction(target: Target, budget: Budget, options: SearchOptions) -> Outcome:
    """The root over all features, then the tree over those that a better set may hold."""
    work, known = target.problem, options.known
    support = known.support if known else find_start(
        work, budget, "direction", given=options.start,
        n_starts=N_STARTS if options.n_starts is None else options.n_starts,
        random_state=options.random_state,
    )  # fmt: skip
    value = work.score(support)
    scaled = ScaledPencil(work)
    bound = known.bound if known else _first_bound(work, scaled, support, budget)
    need = work.k - work.include.size
    if bound <= target.cut(value) or not 0 < need < work.pencil.size - work.include.size:
        return Outcome(support, value, bound, 1, None)
    if budget.stop() is not None:
        return Outcome(support, value, bound, 0, budget.stop())
    root = Root(work, scaled, budget)
    cones = root.cones(support)
    cones.refine(target.cut(value))
    support = root.best_rounding(cones, support)
    value = work.score(support)
    cut = target.cut(value)
    cones.refine(cut)
    bound = min(bound, max(cones.bound, cut))
    if bound <= cut:
        return Outcome(support, value, bound, 1, None)
    state = root.fix(cones, cut)
    features = np.flatnonzero(state != OUT)
    B = matrix_of(scaled, features, budget) if features.size <= MAX_FEATURES else None
    if B is None:
        return Outcome(support, value, bound, 1, budget.stop() or Status.GAP_LIMIT)
    with budget.alarm() as stop:
        tree = DirectionTree(work, scaled, state, cones, B, stop)
        outcome = Search(tree, target, budget, options).run(support, bound)
    outcome.bound += scaled.left_out
    return outcome


def _first_bound(
    problem: Problem, scaled: ScaledPencil, support: np.ndarray, budget: Budget
) -> float:
    """Of all directions at once: the largest eigenvalue is at most the trace."""
    weights = np.zeros(problem.pencil.size)
    weights[support] = 1.0
    trace = relax_all(problem, scaled, start_state(problem), weights, budget=budget).bound
    return min(trace, spectral_upper_bound(problem, problem.score(support)))


def _refuses(problem: Problem) -> str | None:
    pencil = problem.pencil
    if (reason := seeks_one_direction(problem)) is not None:
        return reason
    if problem.quota is not None:
        return "takes one k for all blocks; use 'levelset'"
    if not pencil.is_psd or len(pencil.spectral_factor[0]) > MAX_RANK:
        return f"needs a semidefinite A of rank {MAX_RANK} at most; use 'levelset'"
    if pencil.least_B < MIN_SHARE:
        return "needs shrinkage, or a ridge: B is nearly singular; use 'levelset'"
    return None


SOLVER = Solver(
    name="direction",
    search=search_direction,
    summary="branch and bound for thousands of features with shrinkage (lambda_max, few classes)",
    solve=partial(solve_by_tree, "direction", search_direction),
    certifies=True,
    refuses=_refuses,
    warm_start=True,
)
