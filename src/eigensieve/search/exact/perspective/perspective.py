"""Perspective branch and bound: provably the best k of thousands of features.

For the trace and log-det criteria (and every criterion with two classes). The relaxation is
tight where the diagonal carries a good share of B, that is with shrinkage; it never forms p x p.
"""

from __future__ import annotations

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
from .diagonal import Relaxed, tuned_diagonal, work_of_tuning
from .relaxation import WORK_OF_ENTRY, Relaxation, ScaledPencil, relax_all
from .tree_kernel import refill, search_perspective
from .weights import Ground, WeightProblem

# Above this many features the first branching is done with columns on demand.
LARGE = 4000
# More are not searched: their matrix would take more than 800 MB.
MAX_FEATURES = 10_000
MAX_ROOT_NODES = 256
# The share of a limited effort that this may take: where a matrix could be had, and where not.
SPLITTING = (0.25, 0.5)
# Rows of that matrix between two looks at the clock.
STRIP = 500
# Up to this many a subproblem gets a matrix of its own, which stays in the cache.
COMPACT = 250
CHUNK = 16
# Features with the largest gradients that a node remembers.
HOT = 150
# Sets drawn from the weights of the relaxation, and improved by swaps.
ROUNDINGS = 8


class Warm(NamedTuple):
    """What a node remembers of its parent.

    The weights that are not zero, a diagonal that was tuned, features with a large gradient.
    """

    where: np.ndarray
    weights: np.ndarray
    tuned: np.ndarray
    diagonal: np.ndarray
    hot: np.ndarray


class Branch(NamedTuple):
    """A part of the problem before there is a tree: state and relaxation over all features.

    ``bound`` is that of the relaxation or of the parent's, whichever is smaller: a limit may have
    ended the relaxation early.
    """

    state: np.ndarray
    relaxation: Relaxation
    bound: float


class PerspectiveTree:
    """The features that may matter in any of the parts, with their matrix."""

    name = "perspective"

    def __init__(
        self,
        problem: Problem,
        scaled: ScaledPencil,
        parts: list[Branch],
        features: np.ndarray,
        B: np.ndarray,
        stop: np.ndarray,
    ) -> None:
        self.k, self.logdet = problem.k, problem.criterion == "logdet"
        self.parts = parts
        self.features, self.B, self.stop = features, B, stop
        self.H = np.ascontiguousarray(scaled.H[:, self.features])
        self.D = scaled.D[self.features]
        c = len(self.H)  # a node costs about u c^2
        self.chunk = int(np.clip(3e7 / (self.features.size * max(c, 1) ** 2), 1, CHUNK))

    def tune(self, part: Branch, cut: float, budget: Budget) -> None:
        """Take a diagonal that suits the relaxation of a part."""
        state, work = part.state[self.features], np.zeros(1)
        forced, free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
        places, relaxation = self.features[free], part.relaxation
        problem = WeightProblem(
            self.B, self.H, self.D, forced, free, self.k - forced.size, self.logdet, work, self.stop
        )
        maximum = Relaxed(part.bound, relaxation.weights[places], relaxation.gradient[places])
        self.D = tuned_diagonal(problem, maximum, cut, budget)
        budget.spend(float(work[0]) + work_of_tuning(self.features.size))

    def roots(self, coverage: CoverageCount) -> list[Node]:
        coverage.close(coverage.sizes, coverage.needs)
        nodes = []
        for state, relaxation, bound in self.parts:
            left = np.array([np.count_nonzero(state == FREE)])
            coverage.close(left, np.array([self.k - np.count_nonzero(state == IN)]), -1)
            weights = np.where(state == FREE, relaxation.weights, 0.0)[self.features]
            gradient = np.where(state == FREE, relaxation.gradient, 0.0)[self.features]
            warm = self._pack(weights, self.D, gradient)
            nodes.append(Node(bound, state[self.features], warm))
        self._strides = coverage.strides
        return nodes

    def __getstate__(self) -> dict[str, Any]:
        """What `expand` needs, without the parts, which are about all features."""
        return {name: value for name, value in vars(self).items() if name != "parts"}

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        weights, diagonal, hot = self._unpack(node.warm)
        here = np.flatnonzero(node.state != OUT)
        if here.size > COMPACT:
            here = np.arange(node.state.size)
            B, H = self.B, self.H
        else:
            B, H = self.B[np.ix_(here, here)], np.ascontiguousarray(self.H[:, here])
        work = np.full(1, WORK_OF_ENTRY * here.size**2 if here.size <= COMPACT else 0.0)
        visited, members, cut, left = search_perspective(
            Ground(B, H, self.k, self.logdet, counts, self._strides, self.stop, work),
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
            open_nodes.append(Node(float(bound), state, self._pack(w, D, g, here)))
        support = np.sort(self.features[here[members]]) if members.size else None
        return Expansion(visited, open_nodes, support, cut, float(work[0]))

    def _pack(
        self, w: np.ndarray, D: np.ndarray, g: np.ndarray, here: np.ndarray | None = None
    ) -> Warm:
        here = np.arange(w.size) if here is None else here
        used, tuned = np.flatnonzero(w), np.flatnonzero(self.D[here] != D)
        hot = np.flatnonzero(g >= (np.sort(g)[-HOT] if g.size > HOT else 0.0))
        return Warm(here[used], w[used], here[tuned], D[tuned], here[hot])

    def _unpack(self, warm: Warm) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = self.features.size
        weights, diagonal, hot = np.zeros(n), self.D.copy(), np.zeros(n)
        weights[warm.where] = warm.weights
        diagonal[warm.tuned] = warm.diagonal
        hot[warm.hot] = 1.0
        return weights, diagonal, hot


def search_relaxed(target: Target, budget: Budget, options: SearchOptions) -> Outcome:
    """The root relaxation, a few branches of it where features are many, and the tree search."""
    work = target.problem
    known, n_starts = options.known, options.n_starts or 0
    support = known.support if known else find_start(
        work, budget, "perspective", given=options.start, n_starts=n_starts,
        random_state=options.random_state,
    )  # fmt: skip
    scaled = ScaledPencil(work)
    if scaled.is_blurred:
        return Outcome(support, work.score(support), hadamard_bound(work), 0, None)
    weights = _indicator(work, support)
    root = relax_all(work, scaled, start_state(work), weights, budget=budget)
    if root.bound > target.cut(work.score(support)):
        support = _best_rounding(work, root, support, budget, options.random_state)
    value = work.score(support)
    cut = target.cut(value)
    if root.bound <= cut and not options.audit:
        return Outcome(support, value, root.bound, 1, None)
    parts = _split(work, scaled, root, cut, budget)
    features = features_of(parts)
    B = _matrix(scaled, features, budget) if features.size <= MAX_FEATURES else None
    if B is None:
        bound = max(part.bound for part in parts)
        stopped = budget.stop() or Status.GAP_LIMIT
        return Outcome(support, value, bound, len(parts), stopped)
    with budget.alarm() as stop:  # a node may take seconds, where the diagonal is small
        tree = PerspectiveTree(work, scaled, parts, features, B, stop)
        has_room = COMPACT < features.size <= min(LARGE, 2 * scaled.n_rows)
        is_cheap = work_of_tuning(features.size) <= SPLITTING[0] * budget.work_left
        if len(parts) == 1 and has_room and is_cheap:
            tree.tune(parts[0], cut, budget)
        outcome = Search(tree, target, budget, options).run(support, root.bound)
    rounding = 8 * EPS * scaled.cancellation / float(tree.D.min())
    outcome.bound += work.k * (rounding + scaled.left_out)
    return outcome


def _matrix(scaled: ScaledPencil, features: np.ndarray, budget: Budget) -> np.ndarray | None:
    """B of the features, or None if a limit comes first: thousands take their time."""
    B = np.empty((features.size, features.size))
    for first in range(0, features.size, STRIP):
        if budget.stop() is not None:
            return None
        strip = slice(first, first + STRIP)
        budget.spend(WORK_OF_ENTRY * B[strip].size)
        B[strip] = scaled.rows(features[strip], features)
    return B


def features_of(parts: list[Branch]) -> np.ndarray:
    """The features that are not OUT of every part."""
    return np.flatnonzero(np.any([part.state != OUT for part in parts], axis=0))


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
    for _ in range(ROUNDINGS):
        if budget.stop() is not None:
            break
        drawn = top_k(problem, odds + noise)
        refined, _, _ = swap_refine(problem, drawn, budget)
        if problem.score(refined) > problem.score(support):
            support = refined
        noise = rng.gumbel(size=odds.size)
    return support


def _split(
    problem: Problem, scaled: ScaledPencil, root: Relaxation, cut: float, budget: Budget
) -> list[Branch]:
    """Branch until the parts together need few enough features for a common matrix."""
    parts = [Branch(root.fixed(cut, start_state(problem), problem.k), root, root.bound)]
    work = budget.work_left
    while (size := features_of(parts).size) > LARGE and len(parts) < MAX_ROOT_NODES:
        share = SPLITTING[int(size > MAX_FEATURES)]
        if budget.stop() is not None or budget.work_left < (1.0 - share) * work < np.inf:
            break
        worst = max(range(len(parts)), key=lambda i: parts[i].bound)
        state, relaxation, bound = parts[worst]
        free = np.flatnonzero(state == FREE)
        if bound <= cut or not 0 < problem.k - _count_in(state) < free.size:
            break  # the worst is closed: so are all
        del parts[worst]
        w = relaxation.weights[free]
        j = int(free[np.argmax(w * (1 - w))])
        for choice in (IN, OUT):
            child = state.copy()
            child[j] = choice
            weights = _refill(problem, child, relaxation)
            below = relax_all(problem, scaled, child, weights, cut=cut, budget=budget)
            child = below.fixed(cut, child, problem.k)
            parts.append(Branch(child, below, min(bound, below.bound)))
        top = max(part.bound for part in parts)
        budget.report("perspective", "root", len(parts), bound=top)
    return parts


def _count_in(state: np.ndarray) -> int:
    return int(np.count_nonzero(state == IN))


def _refill(problem: Problem, state: np.ndarray, parent: Relaxation) -> np.ndarray:
    """The parent's weights, shared out anew among the features that are still FREE."""
    free = np.flatnonzero(state == FREE)
    part = parent.weights[free]
    refill(part, parent.gradient[free], problem.k - _count_in(state))
    weights = np.where(state == IN, 1.0, 0.0)
    weights[free] = part
    return weights


def _screen(
    problem: Problem, support: np.ndarray, cut: float, budget: Budget
) -> tuple[float, np.ndarray]:
    """A bound on all sets, and the features that one above the cut, or the support, may hold."""
    weights = np.zeros(problem.pencil.size)
    weights[support] = 1.0
    state = start_state(problem)
    root = relax_all(problem, ScaledPencil(problem), state, weights, cut=cut, budget=budget)
    may_hold = root.fixed(cut, state, problem.k) != OUT
    may_hold[support] = True
    return root.bound, np.flatnonzero(may_hold)


def _refuses(problem: Problem) -> str | None:
    if problem.criterion == "lambda_max" and not problem.pencil.is_rank_one:
        return "is for the trace and log-det criteria; use 'levelset' for the largest eigenvalue"
    if problem.quota is not None:
        return "takes one k for all blocks; use 'leaps'"
    return None


SOLVER = Solver(
    name="perspective",
    search=search_relaxed,
    summary="branch and bound for thousands of features with shrinkage (trace, log-det)",
    solve=partial(solve_by_tree, "perspective", search_relaxed),
    certifies=True,
    refuses=_refuses,
    warm_start=True,
    screen=_screen,
    on_disk=OnDisk(),
)
