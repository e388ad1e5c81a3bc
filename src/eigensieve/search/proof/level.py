"""A proof by levels: branch and bound for the largest eigenvalue that writes down its reasons.

No set exceeds the level l exactly if N = lB - A is semidefinite on every set. A leaf is closed by
N being so on all its features, by sums of rows (rows.py), or by the trace test
(fixing_kernel.pyx), whose witness is a diagonal E: with Y = (diag(E) - M)_+, M what is left of N
after the features that are IN are eliminated, no set whose Y_ii / E_i sum to at most 1 exceeds
the level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ...pencil.budget import Budget
from ...pencil.problem import Problem
from ..exact.levelset.fixing_kernel import trace_sum
from ..sparse_pca_relaxation import State
from ..target import FREE, IN, OUT, decide_by_gains
from .file import ProofFile
from .limited import LimitRecords
from .members import Members
from .rows import Found, NodeRows

# N, with a unit diagonal of B and the scale of A as the unit, must be this far from singular.
MARGIN = 1e-10
# What the sum of a witness must stay below 1.
SUM_MARGIN = 1e-6
# The diagonal of features that no set needs, in units of what is left of N.
FREELY = 1e3
# More features than this have no trace test: it decomposes their matrix.
MAX_TRACED = 500
# And so many no relaxation, which does so a hundred times.
MAX_ABSORBED = 400
# Steps of the bisection for the level at the root.
STEPS = 20


class NotShown(Exception):
    """A set exceeds the level, or rounding cannot tell."""


@dataclass(eq=False)
class LevelNode:
    """A subproblem: the state of every feature, and what is known for the tests.

    Attributes
    ----------
    weights : of the features, for the test by rows
    relaxation : features, and where the relaxation of them stands
    members : listed sets, among them those of the node
    """

    state: np.ndarray
    weights: np.ndarray
    relaxation: tuple[np.ndarray, State] | None
    members: Members

    def child(self, j: int, choice: int) -> LevelNode:
        """The node with a feature decided."""
        state = self.state.copy()
        state[j] = choice
        return replace(self, state=state, weights=self.weights.copy())

    def inherited(self, features: np.ndarray) -> State | None:
        """Where the relaxation stands for some of its features."""
        if self.relaxation is None:
            return None
        known, state = self.relaxation
        place = np.empty(self.state.size, dtype=np.intp)
        place[known] = np.arange(known.size)
        return state.restrict(place[features])


class Choice(NamedTuple):
    """The feature to branch on, or whether the node is closed; neither if features were decided."""

    feature: int | None
    is_closed: bool = False


class Rest(NamedTuple):
    """What is left of N on the FREE features; how many a set needs, and whether of their block."""

    M: np.ndarray
    free: np.ndarray
    needs: np.ndarray
    is_needed: np.ndarray


def _leaf(kind: str, witness: dict[str, Any], free: np.ndarray) -> Found:
    nothing = np.zeros(free.size, dtype=bool)
    return Found(kind, witness, free, True, nothing, nothing, nothing)


class LevelProof:
    """Writes the tree that shows a level.

    ``state`` says what is IN or OUT from the start, ``unit`` how large A is on the others.
    ``members`` are listed sets: they exceed the level, and get leaves of their own.
    """

    def __init__(
        self, problem: Problem, state: np.ndarray, unit: float, file: ProofFile, budget: Budget,
        members: Members,
    ) -> None:  # fmt: skip
        self.problem, self.file, self.budget = problem, file, budget
        pencil = problem.pencil
        self.features = here = np.flatnonzero(state != OUT)
        self._root = state[here]
        self._d = 1.0 / np.sqrt(pencil.diag_B[here])
        self.unit = unit
        both = np.outer(self._d, self._d)
        self._A = pencil.columns_A(here)[here] * both / self.unit
        self._B = pencil.columns_B(here)[here] * both
        blocks, self._needs = problem.blocks_and_needs()
        self._blocks = blocks[here]
        self._n_free = int(np.count_nonzero(self._root == FREE))
        self._limited = LimitRecords(problem, here, file)
        self._members = members.among(here, state.size)

    def write(self, level: float) -> bool:
        """Whether the tree was finished; if not, nothing can be said of what was written."""
        self._set_level(level)
        n = self._root.size
        stack, n_nodes = [LevelNode(self._root.copy(), np.ones(n), None, self._members)], 0
        while stack:
            if self.budget.stop() is not None:
                return False
            n_nodes += 1
            try:
                stack += self._visit(stack.pop())
            except NotShown:
                return False
            self.budget.report("proof", "being written", n_nodes, n_nodes=n_nodes)
        return True

    def _set_level(self, level: float) -> None:
        self._N = level / self.unit * self._B - self._A
        self._margin = MARGIN * max(1.0, abs(level) / self.unit)

    def write_root(self, low: float) -> float:
        """Write a proof without branches, and return the level, ``low`` or more, that it shows."""
        top = linalg.eigh(self._A, self._B, eigvals_only=True)[-1]
        high = (float(top) + 1e-9 * max(abs(float(top)), 1.0)) * self.unit
        witness: dict[str, list[float] | None] = {"E": None}
        for _ in range(STEPS):
            middle = (low + high) / 2
            self._set_level(middle)
            try:
                E, total = self._root_trace()
            except NotShown:
                E, total = None, np.inf
            if total > 1 - SUM_MARGIN:
                low = middle
            else:
                high, witness = middle, {"E": E}
        self.file.leaf("level", witness)
        return high

    def _root_trace(self) -> tuple[list[float] | None, float]:
        """E and the sum that is to be below 1; no E, and 0, where N is definite."""
        rest = self._rest(self._root)
        if self._is_definite(rest.M):
            return None, 0.0
        self._require_positive(rest)
        if self._must_have(rest) is not None:
            raise NotShown
        return self._trace(rest)[:2]

    def _counts(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many features of every block are FREE, and how many a set needs."""
        n = self._needs.size
        inside = np.bincount(self._blocks[state == IN], minlength=n)
        return np.bincount(self._blocks[state == FREE], minlength=n), self._needs - inside

    def _visit(self, node: LevelNode) -> list[LevelNode]:
        """Close a node, or return its children, the one that is written first last."""
        state = node.state
        while True:
            if not self._limited.narrow(state):
                return []
            sizes, needs = self._counts(state)
            if np.any(needs < 0) or np.any(sizes < needs):
                self.file.empty()
                return []
            full = (sizes == needs) & (needs > 0)
            if full.any():  # all that is FREE there must be chosen
                j = int(np.flatnonzero((state == FREE) & full[self._blocks])[0])
                self.file.branch(int(self.features[j]))
                self.file.empty()
                state[j] = IN
                continue
            node.members = node.members.inside(state)
            if not needs.any() and self._is_settled(node):
                return []
            try:
                chosen = self._decide_or_choose(node)
            except NotShown:  # sets that exceed the level must be listed, or forbidden by a limit
                is_open = (state == FREE) & (needs > 0)[self._blocks]
                if not (is_open.any() and (node.members.size or self._limited.number.any())):
                    raise
                number = (
                    node.members.counts(state.size) if node.members.size else self._limited.number
                )
                chosen = Choice(int(np.argmax(np.where(is_open, number, -1))))
            if chosen.feature is not None:
                j = chosen.feature
                self.file.branch(int(self.features[j]))
                return [node.child(j, IN), node.child(j, OUT)]
            if chosen.is_closed:
                return []

    def _is_settled(self, node: LevelNode) -> bool:
        """Whether the only set of a node is listed, or forbidden by a limit: then it is closed."""
        if not node.members.size:
            return self._limited.closes(node.state)
        self.file.listed(int(node.members.numbers[0]))
        return True

    def _decide_or_choose(self, node: LevelNode) -> Choice:
        """Close the node or decide features by a witness, or else choose one to branch on."""
        for found in self._witnesses(node, self._rest(node.state)):
            if found.closes:
                self.file.leaf(found.kind, found.witness)
                return Choice(None, True)
            if found.decides:
                self._fix(node.state, found)
                return Choice(None)
        return Choice(int(found.features[np.argmax(found.promise)]))

    def _fix(self, state: np.ndarray, found: Found) -> None:
        """Note what a witness decides."""
        must, cannot = found.features[found.must], found.features[found.cannot]
        state[must], state[cannot] = IN, OUT
        if found.kind == "sure":  # the half without the feature is closed at once
            self.file.branch(int(self.features[must[0]]))
            self.file.leaf("level", found.witness)
            return
        keep = self.features[state == FREE]
        self.file.fix(self.features[must], keep, found.kind, found.witness)

    def _witnesses(self, node: LevelNode, rest: Rest) -> Iterator[Found]:
        """Everything that may close the node or decide features, the cheapest first."""
        if self._is_definite(rest.M):
            yield _leaf("level", {"E": None}, rest.free)
        if not rest.is_needed.any():
            yield _leaf("rows", {"weights": [], "Q": None}, rest.free)
        self._require_positive(rest)
        rows = self._rows_of(rest)
        yield rows.find(node.weights, rest.free.size == self._n_free)
        if rest.free.size <= MAX_TRACED:
            yield self._by_trace(rest)
        if rows.features.size <= MAX_ABSORBED:
            found, state = rows.absorb(node.inherited(rows.features), self._margin)
            node.relaxation = rows.features, state
            yield found

    def _rows_of(self, rest: Rest) -> NodeRows:
        """The rows of what is left of N, on the features that a set can still have."""
        here = rest.free[rest.is_needed]
        M = rest.M[np.ix_(rest.is_needed, rest.is_needed)]
        units = np.sqrt(self.unit) / self._d[here]
        return NodeRows(M, here, self._blocks[here], rest.needs, units)

    def _by_trace(self, rest: Rest) -> Found:
        nothing = np.zeros(rest.free.size, dtype=bool)
        sure = self._must_have(rest)
        if sure is not None:
            is_sure = rest.free == sure
            return Found("sure", {"E": None}, rest.free, False, is_sure, nothing, is_sure)
        E, total, y, negative = self._trace(rest)
        must, cannot = self._decide(y, total, self._blocks[rest.free], rest.needs)
        promise = y * (negative + 1e-10) * rest.is_needed
        closes = total <= 1 - SUM_MARGIN
        return Found("level", {"E": E}, rest.free, closes, must, cannot, promise)

    def _trace(self, rest: Rest) -> tuple[list[float], float, np.ndarray, np.ndarray]:
        """E, the sum that is to be below 1, y, and what is negative in N."""
        M, free, needs, is_needed = rest
        D = np.maximum(np.sqrt(np.maximum(np.diag(M), 0.0)), self._margin)
        D[~is_needed] = FREELY * max(float(np.abs(M).max()), 1.0)
        root = 1.0 / np.sqrt(D)
        theta, V = linalg.eigh(M * np.outer(root, root))
        y = np.empty(free.size)
        total, tau = trace_sum(theta, np.ascontiguousarray(V.T), self._blocks[free], needs, y)
        negative = np.square(V) @ np.maximum(-theta, 0.0)
        # in the units of the pencil
        E = D / tau * self.unit / np.square(self._d[free])
        return E.tolist(), float(total), y, negative

    def _rest(self, state: np.ndarray) -> Rest:
        """N on the FREE features after those that are IN are eliminated."""
        inside, free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
        _, needs = self._counts(state)
        M, is_needed = self._N[np.ix_(free, free)], (needs > 0)[self._blocks[free]]
        if inside.size:
            factor, failed = linalg.lapack.dpotrf(
                self._N[np.ix_(inside, inside)] - self._margin * np.eye(inside.size), lower=True
            )
            if failed:
                raise NotShown
            C = linalg.solve_triangular(factor, self._N[np.ix_(inside, free)], lower=True)
            M = M - C.T @ C
        return Rest(M, free, needs, is_needed)

    def _require_positive(self, rest: Rest) -> None:
        if np.any(np.diag(rest.M)[rest.is_needed] <= self._margin):
            raise NotShown

    def _is_definite(self, M: np.ndarray) -> bool:
        return not linalg.lapack.dpotrf(M - self._margin * np.eye(len(M)))[1]

    def _must_have(self, rest: Rest) -> int | None:
        """A feature without which N is definite: every set above the level has it."""
        theta, V = linalg.eigh(rest.M)
        if not (theta.size > 1 and theta[0] < -self._margin and theta[1] > self._margin):
            return None
        j = int(np.argmin(np.square(V) @ (1.0 / theta)))
        others = np.delete(np.arange(theta.size), j)
        return int(rest.free[j]) if self._is_definite(rest.M[np.ix_(others, others)]) else None

    def _decide(
        self, y: np.ndarray, total: float, blocks: np.ndarray, needs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Masks: features that a set above the level must have, and those it cannot have."""
        must, cannot = np.zeros(y.size, dtype=bool), np.zeros(y.size, dtype=bool)
        for b, need in enumerate(needs):
            if need > 0:
                own = blocks == b
                must[own], cannot[own] = decide_by_gains(y[own], need, total, 1 - SUM_MARGIN)
        return must, cannot
