"""The search below a node: relaxations for some directions, cones between them.

For a direction v the problem is one of two classes, with the one row v'H in the place of H; see
cones.py for what lies between directions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ....pencil.criteria import EPS
from ....pencil.problem import Problem
from ...target import FREE, IN, OUT
from ..coverage import CoverageCount
from ..perspective.relaxation import MARGIN, ScaledPencil
from ..perspective.tree_kernel import refill
from ..perspective.weights import WEIGHTLESS, WeightProblem
from ..tree import Expansion, Node, Order
from .cones import Cones, Corner
from .cones_kernel import relax_direction
from .finish import finish

CHUNK = 8
# Up to this many a subproblem gets a matrix of its own, which stays in the cache.
COMPACT = 250
# With so few undecided features another search goes on, see finish.py.
FEW = 40
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


class Ground(NamedTuple):
    """The scaled problem on some features; B - diag(D) is semidefinite."""

    B: np.ndarray
    H: np.ndarray
    D: np.ndarray
    k: int
    stop: np.ndarray

    def take(self, index: np.ndarray) -> Ground:
        """The same on some of them."""
        B, H = self.B[np.ix_(index, index)], np.ascontiguousarray(self.H[:, index])
        return Ground(B, H, self.D[index], self.k, self.stop)

    def score(self, members: np.ndarray) -> tuple[float, float]:
        """The largest eigenvalue of a set, and that with what round-off may hide of it."""
        L, failed = linalg.lapack.dpotrf(self.B[np.ix_(members, members)], lower=True)
        if failed:
            return -np.inf, np.inf
        Z = linalg.solve_triangular(L, self.H[:, members].T, lower=True)
        value = float(np.linalg.svd(Z, compute_uv=False)[0]) ** 2
        return value, value * (1 + 8 * members.size * EPS / float(np.diag(L).min()) ** 2)


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
        self.ground = Ground(B, H, D, problem.k, stop)
        self._state, self._warm = state[self.features], _pack(cones, self.features)
        self._margin = margin_of(problem.k, D)

    def roots(self, coverage: CoverageCount) -> list[Node]:
        coverage.close(coverage.sizes, coverage.needs)
        left, need = _count(self._state, self.ground.k)
        coverage.close(np.array([left]), np.array([need]), -1)
        self.strides = coverage.strides
        return [Node(np.inf, self._state, self._warm)]

    def expand(self, node: Node, order: Order, counts: np.ndarray) -> Expansion:
        here = np.flatnonzero(node.state != OUT)
        if here.size > COMPACT:
            here = np.arange(node.state.size)
        ground = self.ground.take(here) if here.size < node.state.size else self.ground
        visit = Visit(ground, order, self._margin, counts, self.strides)
        stack, visited = [_on(node, here)], 0
        while stack and visited < CHUNK:
            stack += visit.children(stack.pop())
            visited += 1
        found, left = visit.support, [_of(node, here, self.features.size) for node in stack]
        support = None if found is None else np.sort(self.features[here[found]])
        return Expansion(visited + visit.n_nodes, left, support, visit.cut, float(visit.work[0]))


class Visit:
    """One expansion: what it found, and the nodes it goes through."""

    def __init__(
        self, ground: Ground, order: Order, margin: float, counts: np.ndarray, strides: np.ndarray
    ) -> None:
        self.ground, self.counts, self._strides = ground, counts, strides
        self.cut, self._step, self._margin = order.cut, order.step, margin
        self.support: np.ndarray | None = None
        self.work = np.zeros(1)
        self.n_nodes = 0

    def children(self, node: Node) -> list[Node]:
        """The nodes below one, the one to go to first at the end."""
        state, bound = node.state.copy(), node.bound
        warm = _unpack(node.warm, state.size)
        while bound > self.cut:
            part = SmallPart(self.ground, state, self._margin, self.cut, self.work)
            if not 0 < part.need < part.free.size:
                self._look_at_leaf(part)
                break
            if part.free.size <= FEW:
                return self._finish(node, bound, state, part)
            cones = part.cones(*warm)
            cones.refine(self.cut)
            bound, warm = min(bound, max(cones.bound, self.cut)), cones.used()
            self.work += WORK_OF_CONE * cones.cells.size * part.free.size
            if bound <= self.cut:
                break
            best = cones.top()
            if self._offer(part.heaviest(best.weights), sure=True):
                continue
            must, cannot = cones.fix(self.cut)
            if not (must.any() or cannot.any()):
                return self._branch(bound, state, part.branch_feature(best.weights), cones)
            self._close(state)
            state[part.free[must]], state[part.free[cannot]] = IN, OUT
            self._close(state, -1)
            weights = np.array([corner.weights[part.free] for corner in warm[0]])
            matters = (weights[:, must] < 1 - WEIGHTLESS).any() or weights[:, cannot].any()
            left, need = _count(state, self.ground.k)
            if not matters and 1 < need < left:
                j = SmallPart(self.ground, state, self._margin, self.cut, self.work)
                return self._branch(bound, state, j.branch_feature(best.weights), cones)
        self._close(state)
        return []

    def _branch(self, bound: float, state: np.ndarray, feature: int, cones: Cones) -> list[Node]:
        warm, nodes = _pack(cones), []
        for choice in (OUT, IN):
            child = state.copy()
            child[feature] = choice
            nodes.append(Node(bound, child, warm))
        return nodes

    def _finish(
        self, node: Node, bound: float, state: np.ndarray, part: SmallPart
    ) -> list[Node]:
        """Few features are undecided: directions are of no more use."""
        here = np.sort(part.members)
        few = self.ground.take(here)
        found = finish(
            few.H.T @ few.H, few.B, state[here], few.k, (self.cut, self._step),
            self.counts, self._strides,
        )  # fmt: skip
        self.cut = max(self.cut, found.cut)
        self.work += found.work
        self.n_nodes += found.n_nodes
        if found.members.size:
            self.support = here[found.members]
        nodes = []
        for part_state in found.open:
            child = state.copy()
            child[here] = part_state
            nodes.append(Node(bound, child, node.warm))
        return nodes

    def _look_at_leaf(self, part: SmallPart) -> None:
        """There is one set left, or none."""
        if part.need == 0:
            self._offer(part.forced)
        elif part.need == part.free.size:
            self._offer(np.concatenate([part.forced, part.free]))

    def _offer(self, members: np.ndarray, sure: bool = False) -> bool:
        """Take a set for the best one if it is above the cut (if only by round-off: not sure)."""
        value, ceiling = self.ground.score(members)
        value = value if sure else ceiling
        if value <= self.cut:
            return False
        self.support, self.cut = members, value + self._step
        return True

    def _close(self, state: np.ndarray, amount: int = 1) -> None:
        """Count a subproblem for the audit."""
        if self.counts.size:
            left, need = _count(state, self.ground.k)
            self.counts[int(self._strides[0] @ (left, need))] += amount


class SmallPart:
    """What is left of the problem at a node."""

    def __init__(
        self, ground: Ground, state: np.ndarray, margin: float, cut: float, work: np.ndarray
    ) -> None:
        self._ground, self.margin, self._cut, self._work = ground, margin, cut, work
        self.forced, self.free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
        self.members = np.concatenate([self.forced, self.free])
        self.n_forced, self.need = self.forced.size, ground.k - self.forced.size

    def cones(self, corners: list[Corner], cells: np.ndarray) -> Cones:
        """The cones of another part, for this one."""
        own = [self.relax(corner.direction, corner.weights) for corner in corners]
        return Cones(self, own, cells)

    def relax(self, direction: np.ndarray, weights: np.ndarray) -> Corner:
        """The relaxation in a direction, from weights of another node or direction."""
        ground, free = self._ground, self.free
        h = direction @ ground.H
        guess = np.square(h[free]) / ground.D[free]
        w = weights[free]
        refill(w, guess, self.need)
        problem = WeightProblem(
            ground.B, h[None], ground.D, self.forced, free, self.need, False, self._work,
            ground.stop,
        )  # fmt: skip
        y, x = relax_direction(problem, w, guess, NEWTON_STEPS, SOLVED, HOPELESS, self._cut)
        self._work += WORK_OF_CORNER
        new = np.zeros(weights.size)
        new[free] = w
        rest = h[self.members] - np.sqrt(ground.D[self.members]) * y
        return Corner(direction, new, y, x, rest)

    def heaviest(self, weights: np.ndarray) -> np.ndarray:
        """A set of the features with the largest weights."""
        top = np.argsort(-weights[self.free], kind="stable")[: self.need]
        return np.concatenate([self.forced, self.free[top]])

    def branch_feature(self, weights: np.ndarray) -> int:
        """The free feature whose weight says least."""
        w = weights[self.free]
        return int(self.free[np.argmax(w * (1 - w) + 1e-9 * w)])


def margin_of(k: int, D: np.ndarray) -> float:
    """1 + the relative rounding of a bound."""
    return 1 + MARGIN + 8 * k * EPS / float(D.min())


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


def _of(node: Node, here: np.ndarray, size: int) -> Node:
    """The same node in terms of all ``size`` features."""
    state = np.full(size, OUT, dtype=np.int8)
    state[here] = node.state
    warm = node.warm._replace(places=[here[p] for p in node.warm.places])
    return Node(node.bound, state, warm)
