"""Perspective branch and bound: provably the best k of thousands of features.

For the trace and log-det criteria (and every criterion with two classes). The relaxation is
tight where the diagonal carries a good share of B, that is with shrinkage; it never forms p x p.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ..core.budget import Budget
from ..core.moves import top_k
from ..core.perspective import Relaxation, ScaledPencil, relax_all
from ..core.problem import Problem
from ..core.search import (
    FREE,
    IN,
    OUT,
    Expansion,
    Ledger,
    Node,
    Outcome,
    Search,
    Target,
    count_threads,
    finish,
)
from ..core.solution import Solution, Status
from ..core.start import find_start
from ..core.swap import swap_refine
from .base import Solver

# More features than this are not searched: their matrix would not fit (800 MB).
MOST_SURVIVORS = 10_000
# Up to this many a subproblem gets a matrix of its own, which stays in the cache.
COMPACT = 700
CHUNK = 48


class Warm(NamedTuple):
    """What a node remembers of its parent: the weights that are not zero, a tuned diagonal."""

    where: np.ndarray
    weights: np.ndarray
    tuned: np.ndarray
    diagonal: np.ndarray


class PerspectiveTree:
    """The features that survived the root, with their matrix."""

    name = "perspective"

    def __init__(
        self, target: Target, scaled: ScaledPencil, root: Relaxation, cut: float
    ) -> None:
        self.problem = target.problem
        self.logdet = self.problem.criterion == "logdet"
        state = root.fixed(cut, self.problem.include, self.problem.k)
        self.features = np.flatnonzero(state != OUT)
        self.state = state[self.features]
        self.bound = root.bound
        self.weights = root.weights[self.features]
        self.B = scaled.block(self.features)
        self.H = np.ascontiguousarray(scaled.H[:, self.features])
        self.D = scaled.D[self.features]

    def root(self, ledger: Ledger) -> Node:
        left = np.array([np.count_nonzero(self.state == FREE)])
        ledger.close(ledger.sizes, ledger.needs)
        ledger.close(left, np.array([self.problem.k - np.count_nonzero(self.state == IN)]), -1)
        self._strides = ledger.strides
        return Node(self.bound, self.state, self._pack(self.weights, self.D))

    def expand(self, node: Node, cut: float, step: float, counts: np.ndarray) -> Expansion:
        from ..kernels.perspective_tree import search_perspective

        weights, diagonal = self._unpack(node.warm)
        here = np.flatnonzero(node.state != OUT)
        if here.size > COMPACT:
            here = np.arange(node.state.size)
            B, H = self.B, self.H
        else:
            B, H = self.B[np.ix_(here, here)], np.ascontiguousarray(self.H[:, here])
        visited, _, members, cut, bounds, states, all_w, all_D = search_perspective(
            B,
            H,
            node.state[here],
            weights[here],
            diagonal[here],
            node.bound,
            self.problem.k,
            cut,
            step,
            self.logdet,
            CHUNK,
            counts,
            self._strides,
        )
        open_nodes = []
        for bound, part, w, D in zip(bounds, states, all_w, all_D):
            state = np.full(self.features.size, OUT, dtype=np.int8)
            state[here] = part
            open_nodes.append(Node(float(bound), state, self._pack(w, D, here)))
        support = np.sort(self.features[here[members]]) if members.size else None
        return Expansion(visited, open_nodes, support, cut)

    def _pack(self, w: np.ndarray, D: np.ndarray, here: np.ndarray | None = None) -> Warm:
        here = np.arange(w.size) if here is None else here
        used, tuned = np.flatnonzero(w), np.flatnonzero(self.D[here] != D)
        return Warm(here[used], w[used], here[tuned], D[tuned])

    def _unpack(self, warm: Warm) -> tuple[np.ndarray, np.ndarray]:
        weights, diagonal = np.zeros(self.features.size), self.D.copy()
        weights[warm.where] = warm.weights
        diagonal[warm.tuned] = warm.diagonal
        return weights, diagonal


def solve_perspective(
    problem: Problem,
    budget: Budget,
    *,
    start: Sequence[int] | None = None,
    n_starts: int | None = None,
    max_nodes: int | None = None,
    audit: bool = False,
    n_jobs: int | None = None,
    random_state: int | None = None,
) -> Solution:
    """The best set of k features, with a proof or the gap that is left.

    Parameters
    ----------
    start : a set to start from, of any size
    n_starts : further starts of the local search before the tree search
    max_nodes : stop after about this many nodes
    audit : check that the closed parts of the tree add up to all sets
    n_jobs : threads
    """
    target = Target(problem, budget.gap_tol)
    work = target.problem
    support = find_start(
        work, budget, "perspective", given=start, n_starts=n_starts, random_state=random_state
    )
    scaled = ScaledPencil(work)
    root = relax_all(work, scaled, support)
    support = _round(work, root, support, budget)
    cut = target.cut(work.score(support))
    if np.count_nonzero(root.fixed(cut, work.include, work.k) != OUT) > MOST_SURVIVORS:
        outcome = Outcome(support, work.score(support), root.bound, 1, Status.GAP_LIMIT)
        return finish(outcome, target, budget, "perspective")
    tree = PerspectiveTree(target, scaled, root, cut)
    search = Search(tree, target, budget, count_threads(n_jobs), max_nodes, audit)
    return finish(search.run(support, root.bound), target, budget, "perspective")


def _round(
    problem: Problem, root: Relaxation, support: np.ndarray, budget: Budget
) -> np.ndarray:
    """The set of the largest weights, improved by swaps, if it is better."""
    score = root.weights + 1e-6 * root.gradient / max(root.gradient.max(), 1e-300)
    rounded, _, _ = swap_refine(problem, top_k(problem, score), budget)
    return rounded if problem.score(rounded) > problem.score(support) else support


def _refuses(problem: Problem) -> str | None:
    if problem.quota is not None:
        return "takes one k for all blocks; use 'leaps'"
    if problem.criterion == "lambda_max" and not problem.pencil.is_rank_one:
        return "is for the trace and log-det criteria; use 'levelset' for the largest eigenvalue"
    return None


SOLVER = Solver(
    name="perspective",
    summary="branch and bound for thousands of features with shrinkage (trace, log-det)",
    solve=solve_perspective,
    certifies=True,
    refuses=_refuses,
)
