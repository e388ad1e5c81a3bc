"""A proof by levels: branch and bound for the largest eigenvalue that writes down its reasons.

No set exceeds the level l exactly if N = lB - A is semidefinite on every set. A leaf is closed by
N being so on all its features, or by the trace test (fixing_kernel.pyx), whose witness is a
diagonal E: with Y = (diag(E) - M)_+, M what is left of N after the features that are IN are
eliminated, no set whose Y_ii / E_i sum to at most 1 exceeds the level.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...pencil.budget import Budget
from ...pencil.problem import Problem
from ..exact.levelset.fixing_kernel import trace_sum
from ..target import FREE, IN, OUT, decide_by_gains
from .file import ProofFile

# N, with a unit diagonal of B and the scale of A as the unit, must be this far from singular.
MARGIN = 1e-10
# What the sum of a witness must stay below 1.
SUM_MARGIN = 1e-6
# The diagonal of features that no set needs, in units of what is left of N.
FREELY = 1e3
# Steps of the bisection for the level at the root.
STEPS = 20


class NotShown(Exception):
    """A set exceeds the level, or rounding cannot tell."""


class LevelProof:
    """Writes the tree that shows a level.

    ``state`` says what is IN or OUT from the start, ``unit`` how large A is on the others.
    """

    def __init__(
        self, problem: Problem, state: np.ndarray, unit: float, file: ProofFile, budget: Budget
    ) -> None:
        self.problem, self.file, self.budget = problem, file, budget
        pencil = problem.pencil
        self._root = state
        self._d = 1.0 / np.sqrt(pencil.diag_B)
        self.unit = unit
        self._A = pencil.A * np.outer(self._d, self._d) / self.unit
        self._B = pencil.B * np.outer(self._d, self._d)
        self._blocks, self._needs = problem.blocks_and_needs()

    def write(self, level: float) -> bool:
        """Whether the tree was finished; if not, nothing can be said of what was written."""
        self._set_level(level)
        stack, n_nodes = [self._root], 0
        while stack:
            if self.budget.stop() is not None:
                return False
            n_nodes += 1
            try:
                stack += self._visit(stack.pop().copy())
            except NotShown:
                return False
            self.budget.report("proof", "being written", n_nodes, n_nodes=n_nodes)
        return True

    def _set_level(self, level: float) -> None:
        self._N = level / self.unit * self._B - self._A
        self._margin = MARGIN * max(1.0, abs(level) / self.unit)

    def write_root(self, low: float) -> float:
        """Write a proof without branches, and return the level, ``low`` or more, that it shows."""
        U = np.flatnonzero(self._root != OUT)
        top = linalg.eigh(self._A[np.ix_(U, U)], self._B[np.ix_(U, U)], eigvals_only=True)[-1]
        high = (float(top) + 1e-9 * max(abs(float(top)), 1.0)) * self.unit
        witness: dict[str, list[float] | None] = {"E": None}
        for _ in range(STEPS):
            middle = (low + high) / 2
            self._set_level(middle)
            try:
                found = self._examine(self._root)
            except NotShown:
                found = None
            if found is None or found[1] > 1 - SUM_MARGIN:
                low = middle
            else:
                high, witness = middle, {"E": found[0]}
        self.file.leaf("level", witness)
        return high

    def _counts(self, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """How many features of every block are FREE, and how many of those a set needs."""
        n = self._needs.size
        inside = np.bincount(self._blocks[state == IN], minlength=n)
        return np.bincount(self._blocks[state == FREE], minlength=n), self._needs - inside

    def _visit(self, state: np.ndarray) -> list[np.ndarray]:
        """Close a node, or return its children, the one that is written first last."""
        while True:
            sizes, needs = self._counts(state)
            if np.any(needs < 0) or np.any(sizes < needs):
                self.file.empty()
                return []
            full = (sizes == needs) & (needs > 0)
            if full.any():  # all that is FREE there must be chosen
                j = int(np.flatnonzero((state == FREE) & full[self._blocks])[0])
                self.file.branch(j)
                self.file.empty()
                state[j] = IN
                continue
            found = self._examine(state)
            if found is None:
                self._split_sure(state)
                continue
            E, total, y, negative = found
            free = np.flatnonzero(state == FREE)
            if total <= 1 - SUM_MARGIN:
                self.file.leaf("level", {"E": E})
                return []
            must, cannot = self._decide(y, total, self._blocks[free], needs)
            if must.any() or cannot.any():
                state[free[must]], state[free[cannot]] = IN, OUT
                keep = np.flatnonzero(state == FREE)
                self.file.fix(free[must], keep, "level", {"E": E})
                continue
            j = int(free[np.argmax(y * (negative + 1e-10) * (needs > 0)[self._blocks[free]])])
            self.file.branch(j)
            children = state.copy(), state.copy()
            children[0][j], children[1][j] = IN, OUT
            return list(children)

    def _examine(
        self, state: np.ndarray
    ) -> tuple[list[float] | None, float, np.ndarray, np.ndarray] | None:
        """E (None: N is definite), the sum that is to be below 1, y, and what is negative in N.

        None if one feature decides whether N is definite: `_split_sure`.
        """
        inside, free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
        M = self._rest(inside, free)
        nothing = np.zeros(free.size)
        if not linalg.lapack.dpotrf(M - self._margin * np.eye(free.size))[1]:
            return None, 0.0, nothing, nothing
        _, needs = self._counts(state)
        blocks = self._blocks[free]
        self._sure = self._must_have(M, free)
        if self._sure is not None:
            return None
        D = np.maximum(np.sqrt(np.maximum(np.diag(M), 0.0)), self._margin)
        D[(needs == 0)[blocks]] = FREELY * max(float(np.abs(M).max()), 1.0)
        if np.any(np.diag(M)[(needs > 0)[blocks]] <= self._margin):
            raise NotShown
        root = 1.0 / np.sqrt(D)
        theta, V = linalg.eigh(M * np.outer(root, root))
        y = np.empty(free.size)
        total, tau = trace_sum(theta, np.ascontiguousarray(V.T), blocks, needs, y)
        negative = np.square(V) @ np.maximum(-theta, 0.0)
        # in the units of the pencil
        E = D / tau * self.unit / np.square(self._d[free])
        return E.tolist(), float(total), y, negative

    def _rest(self, inside: np.ndarray, free: np.ndarray) -> np.ndarray:
        """N on the FREE features after those that are IN are eliminated."""
        N = self._N
        if not inside.size:
            return N[np.ix_(free, free)]
        factor, failed = linalg.lapack.dpotrf(
            N[np.ix_(inside, inside)] - self._margin * np.eye(inside.size), lower=True
        )
        if failed:
            raise NotShown
        C = linalg.solve_triangular(factor, N[np.ix_(inside, free)], lower=True)
        return N[np.ix_(free, free)] - C.T @ C

    def _must_have(self, M: np.ndarray, free: np.ndarray) -> int | None:
        """A feature without which N is definite: every set above the level has it."""
        theta, V = linalg.eigh(M)
        if not (theta.size > 1 and theta[0] < -self._margin and theta[1] > self._margin):
            return None
        j = int(np.argmin(np.square(V) @ (1.0 / theta)))
        others = np.delete(np.arange(free.size), j)
        part = M[np.ix_(others, others)] - self._margin * np.eye(others.size)
        return None if linalg.lapack.dpotrf(part)[1] else int(free[j])

    def _split_sure(self, state: np.ndarray) -> None:
        """The half without a feature that every set above the level has is closed at once."""
        assert self._sure is not None
        self.file.branch(self._sure)
        self.file.leaf("level", {"E": None})
        state[self._sure] = IN

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
