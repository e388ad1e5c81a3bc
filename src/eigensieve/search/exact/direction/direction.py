"""Exact: branch and bound on directions and features, for the largest eigenvalue of few classes.

With A = H'H of rank c (c + 1 classes) the largest eigenvalue of a set is the maximum over unit
vectors v of v' H_S B_S^-1 H_S' v. A direction v fixed is the problem of two classes, for which the
perspective relaxation is tight where the diagonal carries a good share of B.
"""

from __future__ import annotations

from functools import partial

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
from ..perspective.relaxation import WORK_OF_ENTRY, relax_all
from ..perspective.scaled_pencil import ScaledPencil
from ..tree import Search, SearchOptions, solve_by_tree
from .cones import Cones, Corner, all_directions
from .part import margin_of
from .tree import DirectionTree

# Of more rows of H there would be too many directions.
MAX_RANK = 4
# The share of B that a diagonal must carry.
MIN_SHARE = 1e-6
# More features are not searched: their matrix would take more than 800 MB.
MAX_FEATURES = 10_000
# Rows of that matrix between two looks at the clock.
STRIP = 500
N_STARTS = 4
# Sets of the largest weights, of so many directions, that are improved by swaps.
ROUNDINGS = 8


class Root:
    """The problem before there is a tree, over all features: p x p is never formed."""

    def __init__(self, problem: Problem, scaled: ScaledPencil, budget: Budget) -> None:
        self.problem, self._scaled, self._budget = problem, scaled, budget
        self._state = start_state(problem)
        self._free = np.flatnonzero(self._state == FREE)
        self._members = np.concatenate([problem.include, self._free])
        self.n_forced, self.need = problem.include.size, problem.k - problem.include.size
        self.margin, self.work = margin_of(problem.k, scaled.D), np.zeros(1)

    @property
    def stopped(self) -> bool:
        """Whether a limit is reached."""
        self._budget.spend(float(self.work[0]))
        self.work[0] = 0.0
        return self._budget.stop() is not None

    def bound_by_trace(self, support: np.ndarray) -> float:
        """Of all directions at once: the largest eigenvalue is at most the trace."""
        weights, problem = _indicator(self.problem, support), self.problem
        return relax_all(problem, self._scaled, self._state, weights, budget=self._budget).bound

    def cones(self, support: np.ndarray) -> Cones:
        """Cones that cover all directions, around that of a set."""
        L = linalg.cholesky(self._scaled.block(support), lower=True)
        Z = linalg.solve_triangular(L, self._scaled.factor(support).T, lower=True)
        axes = np.linalg.eigh(Z.T @ Z)[1].T[::-1]
        return all_directions(axes, self, _indicator(self.problem, support))

    def relax(self, direction: np.ndarray, weights: np.ndarray) -> Corner:
        """The relaxation over all features in a direction."""
        scaled, m = self._scaled.along(direction), self._members
        found = relax_all(self.problem, scaled, self._state, weights, budget=self._budget)
        y, x = scaled.residuals(found.used, found.used_weights)
        rest = scaled.H[0] - np.sqrt(scaled.D) * y
        self.work[0] += scaled.pass_work(found.used.size)
        return Corner(direction, found.weights, y[m], x[m], rest[m])

    def fix(self, cones: Cones, cut: float) -> np.ndarray:
        """The state of all features: which of them a set above the cut has, and has not."""
        must, cannot = cones.fix(cut)
        state = self._state.copy()
        state[self._free[must]], state[self._free[cannot]] = IN, OUT
        return state

    def best_rounding(self, cones: Cones, support: np.ndarray) -> np.ndarray:
        """The best of the sets of the largest weights in some directions, improved by swaps."""
        problem = self.problem
        for corner in cones.used()[0][:ROUNDINGS]:
            if self.stopped:
                break
            refined, _, _ = swap_refine(problem, top_k(problem, corner.weights), self._budget)
            if problem.score(refined) > problem.score(support):
                support = refined
        return support


def search_direction(target: Target, budget: Budget, options: SearchOptions) -> Outcome:
    """The root over all features, then the tree over those that a better set may hold.

    By default there are 4 starts beside the greedy sets.
    """
    work, known = target.problem, options.known
    support = known.support if known else find_start(
        work, budget, "direction", given=options.start,
        n_starts=N_STARTS if options.n_starts is None else options.n_starts,
        random_state=options.random_state,
    )  # fmt: skip
    value, scaled = work.score(support), ScaledPencil(work)
    root = Root(work, scaled, budget)
    if not 0 < root.need < work.pencil.size - root.n_forced:
        return Outcome(support, value, value, 0, None)  # there is no other set
    bound = known.bound if known else spectral_upper_bound(work, value)
    outcome = Outcome(support, value, min(bound, root.bound_by_trace(support)), 1, budget.stop())
    if outcome.bound <= target.cut(value) or outcome.stopped is not None:
        return outcome
    cones = _cover(root, target, outcome)
    if outcome.bound <= target.cut(outcome.value):
        return outcome
    state = root.fix(cones, target.cut(outcome.value))
    features = np.flatnonzero(state != OUT)
    if features.size < work.k:  # no set is above the cut
        outcome.bound = min(outcome.bound, target.cut(outcome.value) + scaled.left_out)
        return outcome
    B = _matrix(scaled, features, budget)
    if B is None:
        outcome.stopped = budget.stop() or Status.GAP_LIMIT
        return outcome
    with budget.alarm() as stop:
        tree = DirectionTree(work, scaled, state, cones, B, stop)
        outcome = Search(tree, target, budget, options).run(outcome.support, outcome.bound)
    outcome.bound += scaled.left_out
    return outcome


def _cover(root: Root, target: Target, outcome: Outcome) -> Cones:
    """The directions of better sets; set and bound of the outcome are improved."""
    cones = root.cones(outcome.support)
    cones.refine(target.cut(outcome.value))
    outcome.support = root.best_rounding(cones, outcome.support)
    outcome.value = root.problem.score(outcome.support)
    cut = target.cut(outcome.value)
    cones.refine(cut)
    outcome.bound = min(outcome.bound, max(cones.bound, cut))
    return cones


def _matrix(scaled: ScaledPencil, features: np.ndarray, budget: Budget) -> np.ndarray | None:
    """B of the features; None if they are too many, or if a limit comes first."""
    if features.size > MAX_FEATURES:
        return None
    B = np.empty((features.size, features.size))
    for first in range(0, features.size, STRIP):
        if budget.stop() is not None:
            return None
        strip = slice(first, first + STRIP)
        budget.spend(WORK_OF_ENTRY * B[strip].size)
        B[strip] = scaled.rows(features[strip], features)
    return B


def _indicator(problem: Problem, support: np.ndarray) -> np.ndarray:
    weights = np.zeros(problem.pencil.size)
    weights[support] = 1.0
    return weights


def _refuses(problem: Problem) -> str | None:
    pencil = problem.pencil
    reason = seeks_one_direction(problem)
    if reason is not None:
        return reason
    if problem.quota is not None:
        return "takes one k for all blocks; use 'dominance'"
    if not pencil.is_psd or len(pencil.spectral_factor[0]) > MAX_RANK:
        return f"needs a semidefinite A of rank {MAX_RANK} at most; use 'dominance'"
    if pencil.least_B < MIN_SHARE:
        return "needs shrinkage or a ridge: B is nearly singular; use 'dominance'"
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
