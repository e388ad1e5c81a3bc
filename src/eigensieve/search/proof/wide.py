"""The root of a proof about thousands of features, B diagonal: rows leave nearly all out."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...pencil.budget import Budget
from ...pencil.problem import Problem
from ..exact.dominance.node import TUNING
from ..exact.dominance.rows import Rows, excess, tune
from ..target import FREE, IN, OUT
from .file import ProofFile
from .rows import find_rows, shorten

# Rows that are made at a time.
STRIP = 512
# What a look at the rows takes, per entry of the matrix, in units of `Budget.spend`.
WORK = 80.0
# A tree goes on with so few.
FEW = 500
# A proof without a tree: the level is raised by so much more than its rows miss, by at least a
# share of the scale and more every time, until it can be shown; then it is lowered by halves.
OUTWARD, LEAST_STEP, GROWTH, HALVINGS = 1.000001, 1e-3, 1.5, 5


class WideRoot:
    """Leaves features out of the root, until the matrix of the others is small.

    Attributes
    ----------
    state : says what is IN, OUT and FREE
    is_closed : whether nothing is left to show
    """

    def __init__(
        self, problem: Problem, state: np.ndarray, unit: float, file: ProofFile, budget: Budget
    ) -> None:
        self.problem, self.unit, self.file, self.budget = problem, unit, file, budget
        self._root, self.state, self.is_closed = state, state.copy(), False
        self._d = 1.0 / np.sqrt(problem.pencil.diag_B)
        self._blocks, self._needs = problem.blocks_and_needs()

    @property
    def n_free(self) -> int:
        return int(np.count_nonzero(self.state == FREE))

    def narrow(self, level: float) -> None:
        """Write what leaves features out, until the root is closed or few are left."""
        weights = np.ones(self.state.size)
        while self.n_free > FEW and self.budget.stop() is None:
            here, needs = self._open()
            rows = self._rows(here, needs, level)
            if rows is None:
                return
            found, weights[here] = find_rows(rows, here, self._d[here], weights[here], True)
            if found.closes:
                self.file.leaf(found.kind, found.witness)
                self.is_closed = True
                return
            before, must = self.n_free, here[found.must]
            self.state[np.setdiff1d(np.flatnonzero(self.state == FREE), here[~found.cannot])] = OUT
            self.state[must] = IN
            if self.n_free == before:
                return
            keep = np.flatnonzero(self.state == FREE)
            self.file.fix(must, keep, found.kind, found.witness)

    def write_root(self, low: float) -> float:
        """Write a proof without a tree, and return the level, ``low`` or more, that it shows."""
        self.state = self._root
        here, needs = self._open()
        weights, step, high, halvings = np.ones(here.size), 0.0, np.inf, HALVINGS
        while halvings:
            halvings -= high < np.inf
            level = (low + high) / 2 if high < np.inf else low + step
            rows, missing = self._rows(here, needs, level), LEAST_STEP * self.unit
            if rows is not None:
                weights = tune(rows, weights, TUNING[0]).weights
                plain = shorten(weights * self._d[here])
                missing = excess(rows, plain / self._d[here])
            if missing <= 0.0:
                high, shown = level, plain
            else:
                low, step = level, max(GROWTH * step, missing * OUTWARD)
        witness = {"weights": shown[np.argsort(here)].tolist(), "Q": None}
        self.file.leaf("rows", witness)
        return high

    def _open(self) -> tuple[np.ndarray, np.ndarray]:
        """FREE features of blocks that need some, block by block, and how many these need."""
        inside = np.bincount(self._blocks[self.state == IN], minlength=self._needs.size)
        needs = self._needs - inside
        here = np.flatnonzero((self.state == FREE) & (needs > 0)[self._blocks])
        return here[np.argsort(self._blocks[here], kind="stable")], needs

    def _rows(self, here: np.ndarray, needs: np.ndarray, level: float) -> Rows | None:
        """What is left of N after the elimination of what is IN; None if it is not positive."""
        self.budget.spend(WORK * float(here.size) ** 2)
        inside = np.flatnonzero(self.state == IN)
        M = self._minus_A(here, here)
        M.flat[:: here.size + 1] += level
        if inside.size:
            core = level * np.eye(inside.size) + self._minus_A(inside, inside)
            factor, failed = linalg.lapack.dpotrf(core, lower=True)
            if failed:
                return None
            C = linalg.solve_triangular(factor, self._minus_A(inside, here), lower=True)
            M -= C.T @ C
        if not np.all(np.diag(M) > 0.0):
            return None
        starts = np.searchsorted(self._blocks[here], np.arange(needs.size + 1))
        return Rows.of(M, np.ones(here.size), starts, needs)

    def _minus_A(self, some: np.ndarray, others: np.ndarray) -> np.ndarray:
        """-A between two lists of features, where diag(B) = 1."""
        A = np.empty((some.size, others.size))
        for first in range(0, some.size, STRIP):
            strip = some[first : first + STRIP]
            columns = self.problem.pencil.columns_A(strip)[others] * self._d[others, None]
            A[first : first + STRIP] = -(columns * self._d[strip]).T
        return A
