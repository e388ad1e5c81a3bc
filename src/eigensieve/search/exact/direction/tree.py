"""The search below a node: cones of directions, then features, then few of them are left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....pencil.budget import Budget
from ....pencil.problem import Problem
from ...target import FREE, IN, OUT
from ..coverage import CoverageCount
from ..perspective.scaled_pencil import ScaledPencil
from ..perspective.weights import WEIGHTLESS
from ..tree import Expansion, Node, Order
from .cones import Cones, Corner
from .finish import Audit, finish
from .part import Ground, SmallPart, margin_of

CHUNK = 8
# Up to this many a subproblem gets a matrix of its own, which stays in the cache.
COMPACT = 250
# What a node takes beside its relaxations, in units of `Budget.spend`.
WORK_OF_NODE = 5e5
# With so few undecided features another search goes on, see finish.py.
FEW = 40


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
        self.features = np.flatnonzero(state != OUT)
        H, D = np.ascontiguousarray(scaled.H[:, self.features]), scaled.D[self.features]
        margin = margin_of(problem.k, D)
        self._ground = Ground(B, H, D, problem.k, margin, stop, np.zeros(1))
        self._state, self._warm = state[self.features], _pack(cones, self.features)

    def roots(self, coverage: CoverageCount) -> list[Node]:
        coverage.close(coverage.sizes, coverage.needs)
        left, need = _count(self._state, self._ground.k)
        coverage.close(np.array([left]), np.array([need]), -1)
        self._strides = coverage.strides
        return [Node(np.inf, self._state, self._warm)]

    def prepare(self, nodes: Sequence[Node], budget: Budget) -> None:
        """Nothing: every node brings what it needs."""

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        ground = self._ground._replace(work=np.zeros(1))
        here = np.flatnonzero(node.state != OUT)
        if here.size <= COMPACT:
            ground = ground.take(here)
        else:
            here = np.arange(node.state.size)
        visit = Visit(ground, order, Audit(counts, self._strides))
        stack = [_on(node, here)]
        while stack and visit.n_nodes < CHUNK and not (visit.n_nodes and ground.stop[0]):
            stack += visit.children(stack.pop())
        left = [_of(node, here, self.features.size) for node in stack]
        support = None if visit.best is None else np.sort(self.features[here[visit.best]])
        return Expansion(visit.n_nodes, left, support, visit.cut, float(ground.work[0]))


class Visit:
    """One expansion: what it found in the nodes that it went through."""

    def __init__(self, ground: Ground, order: Order, audit: Audit) -> None:
        self.ground, self.audit = ground, audit
        self.cut, self._step = order.cut, order.step
        self.best: np.ndarray | None = None
        self.n_nodes = 0

    def children(self, node: Node) -> list[Node]:
        """The nodes below one, the one to go to first at the end."""
        self.n_nodes += 1
        self.ground.work[0] += WORK_OF_NODE
        state, bound = node.state.copy(), node.bound
        warm = _unpack(node.warm, state.size)
        while bound > self.cut:
            part = SmallPart(self.ground, state, self.cut)
            if not 0 < part.need < part.free.size:
                self._look_at_leaf(part)
                break
            if part.free.size <= FEW:
                return self._finish(bound, state, part, node.warm)
            cones = part.cones(*warm)
            cones.refine(self.cut)
            bound, warm = min(bound, max(cones.bound, self.cut)), cones.used()
            if bound <= self.cut:
                break
            top = cones.top()
            if self._offer(part.heaviest(top.weights), sure=True):
                continue
            if self._fix(state, part, cones):
                continue
            return self._branch(bound, state, top, cones)
        self._close(state)
        return []

    def _fix(self, state: np.ndarray, part: SmallPart, cones: Cones) -> bool:
        """Decide what can be decided; whether that makes the relaxations others."""
        must, cannot = cones.fix(self.cut)
        if not (must.any() or cannot.any()):
            return False
        self._close(state)
        state[part.free[must]], state[part.free[cannot]] = IN, OUT
        self._close(state, -1)
        weights = np.array([corner.weights[part.free] for corner in cones.used()[0]])
        left, need = _count(state, self.ground.k)
        is_small = not 0 < need < left or left <= FEW
        lighter = (weights[:, must] < 1 - WEIGHTLESS).any()
        return bool(is_small or lighter or (weights[:, cannot] > WEIGHTLESS).any())

    def _branch(self, bound: float, state: np.ndarray, top: Corner, cones: Cones) -> list[Node]:
        feature = SmallPart(self.ground, state, self.cut).branch_feature(top.weights)
        warm, nodes = _pack(cones), []
        for choice in (OUT, IN):
            child = state.copy()
            child[feature] = choice
            nodes.append(Node(bound, child, warm))
        return nodes

    def _finish(self, bound: float, state: np.ndarray, part: SmallPart, warm: Warm) -> list[Node]:
        """Few features are undecided: go on without directions."""
        here = np.sort(part.members)
        found = finish(self.ground.take(here), state[here], self.cut, self._step, self.audit)
        self.n_nodes += found.n_nodes - 1
        self.cut = max(self.cut, found.cut)
        if found.members.size:
            self.best = here[found.members]
        return [_of(Node(bound, left, warm), here, state.size, warm) for left in found.open]

    def _look_at_leaf(self, part: SmallPart) -> None:
        """There is one set left, or none."""
        if part.need == 0:
            self._offer(part.forced)
        elif part.need == part.free.size:
            self._offer(part.members)

    def _offer(self, members: np.ndarray, sure: bool = False) -> bool:
        """Take a set for the best one if it is above the cut (if only by round-off: not sure)."""
        value, ceiling = self.ground.score(members)
        value = value if sure else ceiling
        if value <= self.cut:
            return False
        self.best, self.cut = members, value + self._step
        return True

    def _close(self, state: np.ndarray, amount: int = 1) -> None:
        """Count a subproblem for the audit."""
        if self.audit.counts.size:
            left, need = _count(state, self.ground.k)
            self.audit.counts[int(self.audit.strides[0] @ (left, need))] += amount


def _count(state: np.ndarray, k: int) -> tuple[int, int]:
    """How many features are free, and how many of them are needed."""
    return int(np.count_nonzero(state == FREE)), k - int(np.count_nonzero(state == IN))


def _pack(cones: Cones, features: np.ndarray | slice = slice(None)) -> Warm:
    corners, cells = cones.used()
    every = [corner.weights[features] for corner in corners]
    places = [np.flatnonzero(w) for w in every]
    directions = np.array([corner.direction for corner in corners])
    return Warm(directions, cells, places, [w[i] for w, i in zip(every, places)])


def _unpack(warm: Warm, size: int) -> tuple[list[Corner], np.ndarray]:
    corners, none = [], np.empty(0)
    for direction, places, some in zip(warm.directions, warm.places, warm.weights):
        weights = np.zeros(size)
        weights[places] = some
        corners.append(Corner(direction, weights, none, none, none))
    return corners, warm.cells


def _on(node: Node, here: np.ndarray) -> Node:
    """A node in terms of some features, which hold all that are not OUT."""
    warm = node.warm
    kept = [np.isin(places, here) for places in warm.places]
    places = [np.searchsorted(here, p[keep]) for p, keep in zip(warm.places, kept)]
    weights = [w[keep] for w, keep in zip(warm.weights, kept)]
    return Node(node.bound, node.state[here], warm._replace(places=places, weights=weights))


def _of(node: Node, here: np.ndarray, size: int, warm: Warm | None = None) -> Node:
    """The same node in terms of all ``size`` features, of which ``warm`` is if it is given."""
    state = np.full(size, OUT, dtype=np.int8)
    state[here] = node.state
    own = node.warm._replace(places=[here[p] for p in node.warm.places]) if warm is None else warm
    return Node(node.bound, state, own)
