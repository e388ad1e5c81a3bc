"""Perspective branch and bound: provably the best k of thousands of features.

For the trace and log-det criteria (and every criterion with two classes). The relaxation is
tight where the diagonal carries a good share of B, that is with shrinkage; it never forms p x p.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ....pencil.budget import Budget
from ....pencil.criteria import EPS
from ....pencil.problem import Problem
from ....pencil.solution import Status
from ...greedy.start import find_start
from ...greedy.swap import swap_refine
from ...hadamard import hadamard_bound
from ...moves import top_k
from ...solver import OnDisk, Solver
from ...target import FREE, IN, OUT, Outcome, Target, start_state
from ..coverage import CoverageCount
from ..tree import (
    Expansion,
    Node,
    Order,
    Search,
    SearchOptions,
    solve_by_tree,
)
from .diagonal import tune_root
from .kept_rows import KeptRows, keep_rows
from .prices import relax_with_limits, without_quota
from .relaxation import Relaxation, one_blas_thread
from .scaled_pencil import ScaledPencil
from .tree_kernel import refill, search_perspective
from .weights import NOTHING, WEIGHTLESS, Ground, LimitRows, WeightProblem

CHUNK = 16
# Features with the largest gradients that a node remembers.
HOT = 150
# Sets drawn from the weights of the relaxation, and improved by swaps.
ROUNDINGS = 8
# Up to this many features a better diagonal is looked for, with this share of a limited effort.
MAX_TUNED, SHARE = 4000, 0.5


class Warm(NamedTuple):
    """What a node remembers of its parent.

    The weights that are not zero, a diagonal that was tuned, features with a large gradient; and
    how many rows of B it needs, see `KeptRows.needed`.
    """

    where: np.ndarray
    weights: np.ndarray
    tuned: np.ndarray
    diagonal: np.ndarray
    hot: np.ndarray
    rows: int


class Part(NamedTuple):
    """The problem before there is a tree: state, relaxation and charges over all features."""

    state: np.ndarray
    relaxation: Relaxation
    charge: np.ndarray


class PerspectiveTree:
    """The features that may matter, with their matrix; those that matter most come first."""

    name = "perspective"

    def __init__(
        self,
        problem: Problem,
        scaled: ScaledPencil,
        part: Part,
        matrix: KeptRows,
        stop: np.ndarray,
        lists: bool = False,
    ) -> None:
        self.k, self.logdet = problem.k, problem.criterion == "logdet"
        self.part, self.matrix, self.stop, self.lists = part, matrix, stop, lists
        self.features = matrix.features
        self.charge, self.limits = part.charge, None
        if problem.limits is not None:
            self.charge = part.charge[self.features]
            self.limits = problem.limits.take(self.features)
        self.H = np.ascontiguousarray(scaled.H[:, self.features])
        self.D = scaled.D[self.features]
        self.tunable = min(2 * scaled.rank_above_D, MAX_TUNED)
        c = len(self.H)  # a node costs about u c^2
        self.chunk = int(np.clip(3e7 / (self.features.size * max(c, 1) ** 2), 1, CHUNK))

    def tune(self, cut: float, budget: Budget) -> None:
        """Find a better diagonal, where B may have room for one."""
        state, relaxation, charge = self.part
        forced, free = (np.flatnonzero(state[self.features] == s) for s in (IN, FREE))
        free = free[np.argsort(self.features[free])]
        need, own, work = self.k - forced.size, self.features[free], np.zeros(1)
        u = self.features.size
        is_cheap = self.matrix.work_to_keep(u) <= SHARE * budget.work_left
        if not (0 < need < free.size and u <= self.tunable and is_cheap):
            return
        self.matrix.grow(u, budget)
        problem = WeightProblem(
            self.matrix.B, self.H, self.D, forced, free, need, self.logdet, work, self.stop,
            self.charge,
        )  # fmt: skip
        weights = _refill(self.k, state, relaxation)
        with one_blas_thread():
            found = tune_root(problem, weights[own], cut, SHARE * budget.work_left)
        budget.spend(float(work[0]))
        if found.bound >= relaxation.bound:
            return
        self.D = found.D
        weights[own] = found.weights
        prices = np.where(state == IN, np.inf, 0.0)
        prices[own] = found.gradient
        used = np.flatnonzero(weights > WEIGHTLESS)
        better = Relaxation(found.bound, used, weights[used], prices, relaxation.kth)
        self.part = Part(better.fixed(cut, state, self.k), better, charge)

    def roots(self, coverage: CoverageCount) -> list[Node]:
        state, relaxation, _ = self.part
        coverage.close(coverage.sizes, coverage.needs)
        left = np.array([np.count_nonzero(state == FREE)])
        coverage.close(left, np.array([self.k - np.count_nonzero(state == IN)]), -1)
        self._strides = coverage.strides
        own, every = state[self.features], np.arange(self.features.size)
        weights = np.where(own == FREE, relaxation.weights[self.features], 0.0)
        gradient = relaxation.gradient[self.features]
        return [Node(relaxation.bound, own, self._pack(own, weights, self.D, gradient, every))]

    def __getstate__(self) -> dict[str, Any]:
        """What `expand` needs, without the part, which is about all features."""
        return {name: value for name, value in vars(self).items() if name != "part"}

    def prepare(self, nodes: Sequence[Node], budget: Budget) -> None:
        """Get the rows that the nodes need."""
        self.matrix.grow(max(node.warm.rows for node in nodes), budget)

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        warm = node.warm
        first = np.concatenate([warm.where, warm.hot])
        here, B, spent = self.matrix.of(node.state, self.k, first, warm.rows)
        weights, diagonal, hot = self._unpack(warm)
        H = self.H if here is None else np.ascontiguousarray(self.H[:, here])
        charge, limits = self.charge, self.limits
        if here is None:
            here = np.arange(node.state.size)
        elif limits is not None:
            charge, limits = charge[here], limits.take(here)
        work, rows = np.full(1, spent), LimitRows.of(limits)
        visited, members, listed, cut, left = search_perspective(
            Ground(
                B,
                H,
                self.k,
                self.logdet,
                counts,
                self._strides,
                self.stop,
                work,
                charge,
                rows,
                self.lists,
            ),
            node.state[here],
            weights[here],
            diagonal[here],
            hot[here],
            node.bound,
            *order,
            self.chunk,
        )
        open_nodes = []
        for bound, part, w, D, g in zip(*left):
            state = np.full(self.features.size, OUT, dtype=np.int8)
            state[here] = part
            open_nodes.append(Node(float(bound), state, self._pack(state, w, D, g, here)))
        support = np.sort(self.features[here[members]]) if members.size else None
        sets = np.sort(self.features[here[listed]].reshape(-1, self.k), axis=1)
        return Expansion(visited, open_nodes, support, cut, float(work[0]), sets)

    def _pack(
        self, whole: np.ndarray, w: np.ndarray, D: np.ndarray, g: np.ndarray, here: np.ndarray
    ) -> Warm:
        """For a node with the state ``whole`` of all features; the rest is that of those here."""
        state = whole[here]
        is_free, is_in = state == FREE, state == IN
        g = np.where(is_free, g, 0.0)
        used, tuned = np.flatnonzero(is_free & (w > 0.0)), np.flatnonzero(self.D[here] != D)
        ordered, need = np.sort(g), self.k - int(np.count_nonzero(is_in))
        hot = np.flatnonzero(g >= (ordered[-HOT] if g.size > HOT else 0.0))
        kth = ordered[-need] if 0 < need <= g.size else np.inf
        weighty = here[is_in | (is_free & ((w > 0.0) | (g >= kth)))]
        rows = self.matrix.needed(whole, self.k, weighty)
        return Warm(here[used], w[used], here[tuned], D[tuned], here[hot], rows)

    def _unpack(self, warm: Warm) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = self.features.size
        weights, diagonal, hot = np.zeros(n), self.D.copy(), np.zeros(n)
        weights[warm.where] = warm.weights
        diagonal[warm.tuned] = warm.diagonal
        hot[warm.hot] = 1.0
        return weights, diagonal, hot


def search_relaxed(target: Target, budget: Budget, options: SearchOptions) -> Outcome:
    """The root relaxation, and the tree search among the features that survive it."""
    if target.problem.quota is not None:  # it comes with other limits, and is kept as they are
        target = copy(target)
        target.problem = without_quota(target.problem)
    work = target.problem
    known, n_starts = options.known, options.n_starts or 0
    support = known.support if known else find_start(
        work, budget, "perspective", given=options.start, n_starts=n_starts,
        random_state=options.random_state,
    )  # fmt: skip
    scaled = ScaledPencil(work)
    if scaled.is_blurred:
        return Outcome(support, work.score(support), hadamard_bound(work), 0, None)
    weights, state = _indicator(work, support), _start(work)
    root, prices = relax_with_limits(work, scaled, state, weights, budget=budget)
    if root.bound > target.cut(work.score(support)):
        support = _best_rounding(work, root, support, budget, options.random_state)
    value = work.score(support)
    cut = target.cut(value)
    if root.bound <= cut and not options.audit:
        return Outcome(support, value, root.bound, 1, None)
    charge = NOTHING if work.limits is None else work.limits.charge(prices, work.k)
    part = Part(root.fixed(cut, state, work.k), root, charge)
    matrix = keep_rows(scaled, root, part.state, work.k, budget)
    if matrix is None:
        stopped = budget.stop() or Status.GAP_LIMIT
        return Outcome(support, value, root.bound, 1, stopped)
    with budget.alarm() as stop:  # a node may take seconds, where the diagonal is small
        tree = PerspectiveTree(work, scaled, part, matrix, stop, target.lists)
        tree.tune(cut, budget)
        outcome = Search(tree, target, budget, options).run(support, root.bound)
    rounding = 8 * EPS * scaled.cancellation / float(tree.D.min())
    outcome.bound += work.k * (rounding + scaled.left_out)
    return outcome


def _start(problem: Problem) -> np.ndarray:
    """The state of all features, after what the limits decide at once."""
    state = start_state(problem)
    if problem.limits is None:
        return state
    narrowed = problem.limits.narrow(state, problem.k)
    assert narrowed is not None  # there is an allowed set
    return narrowed


def _indicator(problem: Problem, support: np.ndarray) -> np.ndarray:
    weights = np.zeros(problem.pencil.size)
    weights[support] = 1.0
    return weights


def _best_rounding(
    problem: Problem,
    root: Relaxation,
    support: np.ndarray,
    budget: Budget,
    random_state: int | None,
) -> np.ndarray:
    """The best of some sets drawn by the weights of the relaxation, improved by swaps."""
    rng = np.random.default_rng(random_state)
    odds = np.log(np.maximum(root.weights, 1e-12)) - np.log(np.maximum(1 - root.weights, 1e-12))
    noise = np.zeros(odds.size)  # the first is the set of the largest weights
    for _ in range(ROUNDINGS if problem.limits is None else 0):
        if budget.stop() is not None:
            break
        drawn = top_k(problem, odds + noise)
        refined, _, _ = swap_refine(problem, drawn, budget)
        if problem.score(refined) > problem.score(support):
            support = refined
        noise = rng.gumbel(size=odds.size)
    return support


def _count_in(state: np.ndarray) -> int:
    return int(np.count_nonzero(state == IN))


def _refill(k: int, state: np.ndarray, parent: Relaxation) -> np.ndarray:
    """The parent's weights, shared out anew among the features that are still FREE."""
    free = np.flatnonzero(state == FREE)
    part = parent.weights[free]
    refill(part, parent.gradient[free], k - _count_in(state))
    weights = np.where(state == IN, 1.0, 0.0)
    weights[free] = part
    return weights


def _screen(
    problem: Problem, support: np.ndarray, cut: float, budget: Budget
) -> tuple[float, np.ndarray]:
    """A bound on all sets, and the features that one above the cut, or the support, may hold."""
    problem = without_quota(problem)
    weights = np.zeros(problem.pencil.size)
    weights[support] = 1.0
    state = _start(problem)
    root, _ = relax_with_limits(
        problem, ScaledPencil(problem), state, weights, cut=cut, budget=budget
    )
    may_hold = root.fixed(cut, state, problem.k) != OUT
    may_hold[support] = True
    return root.bound, np.flatnonzero(may_hold)


def _refuses(problem: Problem) -> str | None:
    if problem.criterion == "lambda_max" and not problem.pencil.is_rank_one:
        return "is for the trace and log-det criteria; use 'dominance' for the largest eigenvalue"
    if problem.quota is not None and problem.limits is None:
        return "takes one k for all blocks; use 'leaps'"
    return None


SOLVER = Solver(
    name="perspective",
    search=search_relaxed,
    summary="branch and bound for thousands of features with shrinkage (trace, log-det)",
    solve=partial(solve_by_tree, "perspective", search_relaxed),
    certifies=True,
    refuses=_refuses,
    takes_limits=True,
    warm_start=True,
    screen=_screen,
    on_disk=OnDisk(),
)
