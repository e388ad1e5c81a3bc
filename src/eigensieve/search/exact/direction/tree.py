"""The search below a node: a relaxation for some directions, cones between them.

For a direction v the problem is one of two classes: no set T has a larger v' H_T B_T^-1 H_T' v than
R(v), the perspective relaxation of the pencil with the one row v'H. sqrt(R) is a norm, so between
a few directions it is at most what is interpolated, see cones.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ....pencil.criteria import EPS
from ....pencil.problem import Problem
from ...target import FREE, IN, OUT
from ..coverage import CoverageCount
from ..perspective.relax_kernel import relax
from ..perspective.relaxation import MARGIN, ScaledPencil
from ..perspective.tree_kernel import refill
from ..perspective.weights import WeightProblem
from ..tree import Expansion, Node, Order
from .cones import Cones, Corner, maxima, peak, refine

CHUNK = 8
NEWTON_STEPS = 60
# A relaxation is solved when its bound is this close to its value, relatively, or when it is
# this share of what the value is above the cut.
SOLVED = 1e-6
HOPELESS = 0.02
# In units of `Budget.spend`: what a corner takes beside its relaxation, and a cone for a feature.
WORK_OF_CORNER, WORK_OF_CONE = 1e5, 100.0


class Warm(NamedTuple):
    """What a node remembers of its parent: cones, and the weights that are not zero."""

    directions: np.ndarray
    cells: np.ndarray
    places: list[np.ndarray]
    weights: list[np.ndarray]


class DirectionTree:
    """The features that a better set may hold, with their matrix."""

    name = "direction"

    def __init__(
        self,
        problem: Problem,
        scaled: ScaledPencil,
        state: np.ndarray,
        cones: Cones,
        B: np.ndarray,
        stop: np.ndarray,
    ) -> None:
        self.k, self.stop, self.B = problem.k, stop, B
        self.features = np.flatnonzero(state != OUT)
        self.H = np.ascontiguousarray(scaled.H[:, self.features])
        self.D = scaled.D[self.features]
        self._state, self._warm = state[self.features], _pack(cones, self.features)
        self._margin = MARGIN + 8 * self.k * EPS / float(self.D.min())

    def roots(self, coverage: CoverageCount) -> list[Node]:
        coverage.close(coverage.sizes, coverage.needs)
        left, need = _count(self._state, self.k)
        coverage.close(np.array([left]), np.array([need]), -1)
        self._strides = coverage.strides
        return [Node(np.inf, self._state, self._warm)]

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        visit = Visit(self, order, counts)
        stack, visited = [node], 0
        while stack and visited < CHUNK:
            stack += visit.children(stack.pop())
            visited += 1
        return Expansion(visited, stack, visit.support, visit.cut, visit.work)

    def score(self, members: np.ndarray) -> tuple[float, float]:
        """The largest eigenvalue of a set, and that with what round-off may hide of it."""
        L, failed = linalg.lapack.dpotrf(self.B[np.ix_(members, members)], lower=True)
        if failed:
            return -np.inf, np.inf
        Z = linalg.solve_triangular(L, self.H[:, members].T, lower=True)
        value = float(np.linalg.svd(Z, compute_uv=False)[0]) ** 2
        return value, value * (1 + 8 * members.size * EPS / float(np.diag(L).min()) ** 2)

    def close(self, state: np.ndarray, counts: np.ndarray, amount: int = 1) -> None:
        """Count a subproblem for the audit."""
        if counts.size:
            left, need = _count(state, self.k)
            counts[int(self._strides[0] @ (left, need))] += amount


class Visit:
    """One expansion: what it found, and the nodes it goes through."""

    def __init__(self, tree: DirectionTree, order: Order, counts: np.ndarray) -> None:
        self.tree, self.counts = tree, counts
        self.cut, self._step = order.cut, order.step
        self.support: np.ndarray | None = None
        self._spent = np.zeros(1)
        self.work = 0.0

    def children(self, node: Node) -> list[Node]:
        """The nodes below one, the one to go to first at the end."""
        tree, state = self.tree, node.state.copy()
        cones, bound = _unpack(node.warm, tree.features.size), node.bound
        while bound > self.cut:
            free, need = np.flatnonzero(state == FREE), _count(state, tree.k)[1]
            if not 0 < need < free.size:
                self._look_at_leaf(state, free, need)
                break
            part = Part(tree, state, self.cut, self._spent)
            cones, reach = refine(cones.again(part.relax), part.relax, self.cut)
            self.work += WORK_OF_CONE * cones.cells.size * free.size
            bound = min(bound, reach)
            if bound <= self.cut:
                break
            if self._round(part, cones):
                continue
            must, cannot = decide(cones, need, self.cut)
            if must.any() or cannot.any():
                tree.close(state, self.counts)
                state[free[must]], state[free[cannot]] = IN, OUT
                tree.close(state, self.counts, -1)
                continue
            return self._branch(node, bound, state, free, cones)
        tree.close(state, self.counts)
        self.work += float(self._spent[0])
        self._spent[0] = 0.0
        return []

    def _branch(
        self, node: Node, bound: float, state: np.ndarray, free: np.ndarray, cones: Cones
    ) -> list[Node]:
        self.work += float(self._spent[0])
        self._spent[0] = 0.0
        j = free[branch_position(cones, free)]
        warm, nodes = _pack(cones), []
        for choice in (OUT, IN):
            child = state.copy()
            child[j] = choice
            nodes.append(Node(bound, child, warm))
        return nodes

    def _look_at_leaf(self, state: np.ndarray, free: np.ndarray, need: int) -> None:
        """There is one set left, or none."""
        if need not in (0, free.size):
            return
        self._offer(np.flatnonzero(state == IN) if need == 0 else np.flatnonzero(state != OUT))

    def _round(self, part: Part, cones: Cones) -> bool:
        """Whether the set of the largest weights, at the best corner, is above the cut."""
        best = max(cones.corners, key=lambda corner: corner.bound)
        top = part.free[np.argsort(-best.weights[part.free], kind="stable")[: part.need]]
        return self._offer(np.concatenate([part.forced, top]), sure=True)

    def _offer(self, members: np.ndarray, sure: bool = False) -> bool:
        """Take a set for the best one if it is above the cut (if only by round-off: not sure)."""
        value, ceiling = self.tree.score(members)
        value = value if sure else ceiling
        if value <= self.cut:
            return False
        self.support = np.sort(self.tree.features[members])
        self.cut = value + self._step
        return True


class Part:
    """What is left of the problem at a node."""

    def __init__(self, tree: DirectionTree, state: np.ndarray, cut: float, spent: np.ndarray):
        self._tree, self._cut, self._spent = tree, cut, spent
        self.forced, self.free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
        self.need = tree.k - self.forced.size

    def relax(self, direction: np.ndarray, weights: np.ndarray) -> Corner:
        """The relaxation in a direction, from weights of another node or direction."""
        tree, free = self._tree, self.free
        h = direction @ tree.H
        w = weights[free]
        refill(w, np.square(h[free]) / tree.D[free], self.need)
        problem = WeightProblem(
            tree.B, h[None], tree.D, self.forced, free, self.need, False, self._spent, tree.stop
        )
        bound, _, gains, _ = relax(problem, w, 0.0, NEWTON_STEPS, SOLVED, HOPELESS)
        self._spent[0] += WORK_OF_CORNER
        new = np.zeros(weights.size)
        new[free] = w
        return Corner(direction, new, max(bound, 0.0) * (1 + tree._margin), gains)


def decide(cones: Cones, need: int, cut: float) -> tuple[np.ndarray, np.ndarray]:
    """Masks: what a set above the cut must have of the free features, and what it cannot have."""
    gains = np.array([corner.gains for corner in cones.corners])
    bounds = np.array([corner.bound for corner in cones.corners])[:, None]
    if not np.isfinite(bounds).all():
        return np.zeros(gains.shape[1], dtype=bool), np.zeros(gains.shape[1], dtype=bool)
    ordered = np.partition(gains, (-need - 1, -need), axis=1)
    kth, after = ordered[:, [-need]], ordered[:, [-need - 1]]
    with_it = np.sqrt(np.maximum(bounds - np.maximum(kth - gains, 0.0), 0.0))
    without = np.sqrt(np.maximum(bounds - np.maximum(gains - after, 0.0), 0.0))
    return ~_may_reach(cones, without, cut), ~_may_reach(cones, with_it, cut)


def _may_reach(cones: Cones, norms: np.ndarray, cut: float) -> np.ndarray:
    """Whether something gets above the cut in some cone, from its norms at the corners (n, m)."""
    frames, open_still = cones.frames(), np.arange(norms.shape[1])
    for i in np.argsort(-cones.reach(), kind="stable"):
        r = norms[np.ix_(cones.cells[i], open_still)]
        open_still = open_still[maxima(frames[[i]], r[None])[0] <= cut]
        if not open_still.size:
            break
    reaches = np.ones(norms.shape[1], dtype=bool)
    reaches[open_still] = False
    return reaches


def branch_position(cones: Cones, free: np.ndarray) -> int:
    """The free feature whose weight says least, where the bound is largest."""
    cell = cones.cells[int(np.argmax(cones.reach()))]
    corners = [cones.corners[i] for i in cell]
    norms = np.sqrt([corner.bound for corner in corners])
    at = peak(np.array([corner.direction for corner in corners]), norms)
    w = at @ np.array([corner.weights[free] for corner in corners]) / max(at.sum(), 1e-300)
    return int(np.argmax(w * (1 - w) + 1e-9 * w))


def _count(state: np.ndarray, k: int) -> tuple[int, int]:
    """How many features are free, and how many of them are needed."""
    return int(np.count_nonzero(state == FREE)), k - int(np.count_nonzero(state == IN))


def _pack(cones: Cones, features: np.ndarray | slice = slice(None)) -> Warm:
    every = [corner.weights[features] for corner in cones.corners]
    places = [np.flatnonzero(w) for w in every]
    directions = np.array([corner.direction for corner in cones.corners])
    return Warm(directions, cones.cells, places, [w[i] for w, i in zip(every, places)])


def _unpack(warm: Warm, size: int) -> Cones:
    corners = []
    for direction, places, some in zip(warm.directions, warm.places, warm.weights):
        weights = np.zeros(size)
        weights[places] = some
        corners.append(Corner(direction, weights, np.inf, np.empty(0)))
    return Cones(corners, warm.cells)
