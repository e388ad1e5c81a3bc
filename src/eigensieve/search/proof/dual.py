"""A proof by dual witnesses: branch and bound that writes down why every node is closed.

The nodes are those of the perspective search (exact/perspective/tree_kernel.pyx), visited
depth first with the optimum known. For the trace and log-det criteria, and every criterion if A
has rank one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...pencil.budget import Budget
from ...pencil.problem import Problem
from ...pencil.solution import Status
from ..exact.perspective.moves_kernel import choose_branch, schur, tune_diagonal
from ..exact.perspective.prices import relax_with_limits
from ..exact.perspective.relax_kernel import relax_in_parts
from ..exact.perspective.tree_kernel import refill
from ..exact.perspective.weights import NOTHING, WEIGHTLESS, WeightProblem
from ..target import FREE, IN, OUT
from .file import ProofFile
from .limited import LimitRecords
from .members import Members
from .witness import Statement, Witness, find_witness, slope_at

# More features than this are not searched: their matrix would take more than 800 MB.
MAX_FEATURES = 10_000
# Below this many undecided features every node gets a diagonal of its own.
TUNE_LIMIT = 60
MAX_ITER, SOLVED, HOPELESS = 60, 1e-7, 0.05
# What is left of B for the features that are IN, whose exact elimination is worth more.
MIN_DIAGONAL_SHARE = 1e-10
# Of what is left of B after an elimination no digits are known below this.
ROUND_OFF = 1e-12
# How far a tuned diagonal stays inside B.
INSIDE = 1e-7


class WitnessNode(NamedTuple):
    """A subproblem: state, weights, diagonal and slopes of all features of the ground.

    ``members`` are listed sets, among them those of the node.
    """

    state: np.ndarray
    weights: np.ndarray
    D: np.ndarray
    slopes: np.ndarray
    is_base: bool
    members: Members


class DualProof:
    """Writes the tree for one problem; ``worst`` is what it shows in the end.

    ``state`` says which features are IN or OUT from the start; ``value`` is that of the best set
    known, of those that are not listed, and ``level`` what none of them exceeds, in the criterion
    of the search. ``members`` are listed sets: they exceed the level, and get leaves of their own.
    """

    def __init__(
        self, problem: Problem, state: np.ndarray, value: float, level: float,
        statement: Statement, file: ProofFile, budget: Budget, members: Members,
    ) -> None:  # fmt: skip
        self.problem, self.level = problem, level
        self.statement, self.scaled = statement, statement.scaled
        self.file, self.budget = file, budget
        self.logdet = self.problem.criterion == "logdet"
        self.is_tangent = not self.logdet and statement.criterion == "logdet"
        # claims are rounded up: the last digits are left to them
        self.cut = level - min(1e-9 * abs(level), 0.1 * (level - value))
        self.worst = level
        self.stopped: Status | None = None
        self._root, self._members = state, members
        self._prices: np.ndarray | None = None

    def write(self, support: np.ndarray) -> None:
        """Close the root, or else what is left of it by a tree."""
        pencil = self.problem.pencil
        weights = np.zeros(pencil.size)
        weights[support] = 1.0
        D, is_base = self.statement.diagonal()
        root = self._limited_root()
        relaxed, prices = relax_with_limits(
            self.problem, self.scaled, root, weights, cut=self.cut, budget=self.budget
        )
        self._prices = prices if prices.any() else None
        used = relaxed.used[relaxed.used_weights > WEIGHTLESS]
        U = np.flatnonzero(root != OUT)
        witness = self._charged(find_witness(
            self.scaled.rows(used, U), self.scaled.H[:, U], D[U], U, used,
            relaxed.weights[used], self.logdet, not is_base, slack=self.statement.slack[U],
        ))  # fmt: skip
        state = self._narrow(root, witness)
        if state is None:
            return
        features = np.flatnonzero(state != OUT)
        if features.size > MAX_FEATURES or self.budget.stop() is not None:
            self.file.clear()  # the witness is that of the root, not of what it has left
            self._give_up(self._limited_root(), witness)
            return
        self._search(state, features, relaxed.weights, D, witness, is_base)

    def _limited_root(self) -> np.ndarray:
        """The state of the root after what the limits decide, which is written."""
        state = self._root.copy()
        LimitRecords(self.problem, np.arange(state.size), self.file).narrow(state)
        return state

    def _charged(self, witness: Witness) -> Witness:
        """With the charges for the limits, where these have prices."""
        if self._prices is None or self.problem.limits is None:
            return witness
        return witness.charged(self.problem.limits, self._prices)

    def _narrow(self, state: np.ndarray, witness: Witness) -> np.ndarray | None:
        """None if the witness closes the node; else the state after all that it decides."""
        inside = state[witness.U] == IN
        need = self.problem.k - int(inside.sum())
        value = witness.value(inside, need)
        if value <= self.cut:
            self._leaf(witness, value)
            return None
        if not 0 < need < inside.size - inside.sum():
            return state
        must, cannot = witness.decide(inside, need, self.cut)
        if not (must.any() or cannot.any()):
            return state
        state = state.copy()
        state[witness.U[must]], state[witness.U[cannot]] = IN, OUT
        keep = np.flatnonzero(state == FREE)
        plain = self.statement.plain(witness, value, self._tangent(self.level))
        self.file.fix(witness.U[must], keep, "dual", plain)
        return state

    def _tangent(self, value: float) -> float | None:
        return value if self.is_tangent else None

    def _leaf(self, witness: Witness, value: float) -> None:
        at = self._tangent(max(value, self.level))
        self.file.leaf("dual", self.statement.plain(witness, value, at))

    def _give_up(self, state: np.ndarray, witness: Witness) -> None:
        """Leave a node as it is, with what its witness shows."""
        value = witness.value(state[witness.U] == IN, self.problem.k - _count(state, IN))
        self.stopped = self.budget.stop() or Status.GAP_LIMIT
        self.worst = max(self.worst, value * (1 + 1e-9))
        self._leaf(witness, value)

    def _search(
        self, state: np.ndarray, features: np.ndarray, weights: np.ndarray, D: np.ndarray,
        witness: Witness, is_base: bool,
    ) -> None:  # fmt: skip
        """Depth first below the root, on the matrix of the features that are left."""
        self.features = features
        self.B = self.scaled.block(features)
        self.H = np.ascontiguousarray(self.scaled.H[:, features])
        self.slack = self.statement.slack[features]
        self._limited = LimitRecords(self.problem, features, self.file)
        self._charge = NOTHING
        if self._prices is not None and self.problem.limits is not None:
            self._charge = self.problem.limits.charge(self._prices, self.problem.k)[features]
        slopes = witness.gains[np.searchsorted(witness.U, features)]
        members = self._members.among(features, state.size)
        stack = [
            WitnessNode(state[features], weights[features], D[features], slopes, is_base, members)
        ]
        n_nodes = 0
        while stack:
            node = stack.pop()
            n_nodes += 1
            if self.budget.stop() is not None:
                if not self._is_empty(node):
                    self._give_up_node(node)
                continue
            stack += self._visit(node)
            self.budget.report("proof", "being written", n_nodes, n_nodes=n_nodes)

    def _give_up_node(self, node: WitnessNode) -> None:
        full = np.full(self.problem.pencil.size, OUT, dtype=np.int8)
        full[self.features] = node.state
        self._give_up(full, self._witness(node, node.weights))

    def _is_empty(self, node: WitnessNode) -> bool:
        need = self.problem.k - _count(node.state, IN)
        is_empty = need < 0 or _count(node.state, FREE) < need
        if is_empty:
            self.file.empty()
        return is_empty

    def _visit(self, node: WitnessNode) -> list[WitnessNode]:
        """Close a node, or return its children, the one that is written first last."""
        is_tuned, work = False, np.zeros(1)
        while True:
            if not self._limited.narrow(node.state) or self._is_empty(node):
                return []
            node = node._replace(members=node.members.inside(node.state))
            state, D = node.state, node.D
            forced, free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
            need = self.problem.k - forced.size
            if need in (0, free.size) and self._is_settled(node):
                return []
            if need not in (0, free.size) and node.members.are_all(state, need):
                return self._branch(node, int(free[0]))
            weighing = WeightProblem(
                self.B, self.H, D, forced, free, need, self.logdet, work, charge=self._charge
            )
            w, pull = np.full(free.size, float(need > 0)), np.zeros(free.size)
            if 0 < need < free.size:
                w, slopes = node.weights[free], node.slopes[free]
                refill(w, slopes, need)
                _, _, g, pull = relax_in_parts(
                    weighing, w, slopes, self.cut, MAX_ITER, SOLVED, HOPELESS
                )
                node.weights[free], node.slopes[free] = w, g
            left = self._decide(node)
            if left is None:
                return []
            if left is not node:
                node = left
                continue
            if not is_tuned and 0 < need < free.size <= TUNE_LIMIT:
                is_tuned = True
                tuned = self._tune(node, weighing, pull)
                if tuned is not None:
                    node = tuned
                    continue
            if need == 0 or free.size == need:  # it scores more than the level: rounding, or a bug
                self._give_up_node(node)
                self.stopped = Status.GAP_LIMIT
                return []
            if need == 1 and node.members.size:
                counts = node.members.counts(state.size)
                return self._branch(node, int(np.argmax(np.where(state == FREE, counts, -1))))
            return self._branch(node, int(free[choose_branch(weighing, w)]))

    def _is_settled(self, node: WitnessNode) -> bool:
        """Whether the only set of a node is listed, or forbidden by a limit: then it is closed."""
        if not node.members.size:
            return self._limited.closes(node.state)
        witness = self._witness(node, node.weights)
        need = self.problem.k - _count(node.state, IN)
        value = witness.value(node.state[node.state != OUT] == IN, need)
        at = self._tangent(max(value, self.level))
        plain = self.statement.plain(witness, value, at)
        self.file.listed(int(node.members.numbers[0]), plain)
        return True

    def _branch(self, node: WitnessNode, j: int) -> list[WitnessNode]:
        """The children, the one that is written first last."""
        self.file.branch(self.features[j])
        return [self._child(node, j, IN), self._child(node, j, OUT)]

    def _decide(self, node: WitnessNode) -> WitnessNode | None:
        """None if a witness closes the node, what is left if one decides features, or the node."""
        for witness in self._witnesses(node):
            full = np.full(self.problem.pencil.size, OUT, dtype=np.int8)
            full[self.features] = node.state
            state = self._narrow(full, witness)
            if state is None:
                return None
            if state is not full:
                return node._replace(state=state[self.features])
        return node

    def _witnesses(self, node: WitnessNode) -> Iterator[Witness]:
        plain = self._witness(node, node.weights)
        if self._prices is not None:
            yield self._charged(plain)
        yield plain
        if self.problem.k - _count(node.state, IN) == 1 and _count(node.state, FREE) > 1:
            yield from self._last(node)

    def _witness(self, node: WitnessNode, weights: np.ndarray) -> Witness:
        """That of the weights, on the features that are not OUT."""
        U = np.flatnonzero(node.state != OUT)
        w = np.where(node.state == IN, 1.0, weights)
        need = self.problem.k - _count(node.state, IN)
        if need in (0, _count(node.state, FREE)):
            w[node.state == FREE] = float(need > 0)
        T = U[w[U] > WEIGHTLESS]
        found = find_witness(
            self.B[np.ix_(T, U)], self.H[:, U], node.D[U], U, T, w[T], self.logdet,
            not node.is_base, slack=self.slack[U],
        )  # fmt: skip
        return self._named(found)

    def _named(self, witness: Witness) -> Witness:
        """The same with the problem's indices for those of the ground."""
        return replace(witness, U=self.features[witness.U], T=self.features[witness.T])

    def _last(self, node: WitnessNode) -> list[Witness]:
        """If one feature is missing, B need only be definite on what is IN and that one."""
        forced, free = np.flatnonzero(node.state == IN), np.flatnonzero(node.state == FREE)
        D = np.full(node.state.size, MIN_DIAGONAL_SHARE)
        L, failed = linalg.lapack.dpotrf(
            self.B[np.ix_(forced, forced)] - 2 * MIN_DIAGONAL_SHARE * np.eye(forced.size),
            lower=True,
        )
        if failed:
            return []
        C = linalg.solve_triangular(L, self.B[np.ix_(forced, free)], lower=True)
        D[free] = (1.0 - np.einsum("ij,ij->j", C, C)) * (1 - 1e-8) - ROUND_OFF
        if D[free].min() <= 2 * MIN_DIAGONAL_SHARE:
            return []
        U = np.flatnonzero(node.state != OUT)
        witness = partial(
            find_witness, self.B[np.ix_(forced, U)], self.H[:, U], D[U], U, forced,
            np.ones(forced.size), self.logdet, True, slack=self.slack[U],
        )  # fmt: skip
        found = witness()
        if self.logdet:  # the log touches at the best of these sets, if possible one not listed
            rest = self.H[:, free] - found.X.T @ self.B[np.ix_(forced, free)]
            Q = self.H[:, forced] @ found.X
            values = np.square(found.L.T @ rest).sum(axis=0) / D[free]
            is_open = np.ones(node.state.size, dtype=bool)
            is_open[node.members.sets.ravel()] = False
            best = int(np.argmax(np.where(is_open[free], values, values - values.max() - 1.0)))
            h = rest[:, best]
            found = witness(slope_at(Q + np.outer(h, h) / D[free[best]]))
        return [self._named(found)]

    def _tune(
        self, node: WitnessNode, weighing: WeightProblem, pull: np.ndarray
    ) -> WitnessNode | None:
        """The node with a larger diagonal where that helps, or None."""
        free = np.flatnonzero(node.state == FREE)
        new = tune_diagonal(schur(weighing), node.D[free], pull)
        if not new.size:
            return None
        D = np.full(node.D.size, MIN_DIAGONAL_SHARE)
        D[free] = new * (1 - INSIDE)
        U = np.flatnonzero(node.state != OUT)
        R = self.B[np.ix_(U, U)] - np.diag(D[U] + MIN_DIAGONAL_SHARE / 10)
        if linalg.lapack.dpotrf(R)[1]:
            return None
        return node._replace(D=D, is_base=False)

    def _child(self, node: WitnessNode, j: int, choice: int) -> WitnessNode:
        state, weights = node.state.copy(), node.weights.copy()
        state[j], weights[j] = choice, 0.0
        slopes = node.slopes.copy()
        return node._replace(state=state, weights=weights, slopes=slopes)


def _count(state: np.ndarray, choice: int) -> int:
    return int(np.count_nonzero(state == choice))
