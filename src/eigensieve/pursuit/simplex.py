"""Basis pursuit by the simplex method on the dual: min |x|_1 subject to Ux = c, U with
orthonormal rows.

The dual, max c'y subject to |u_j'y| <= 1 for every column u_j of U, has one bounded row per column
and only g unknowns, g the rank. From y = 0 the first phase climbs along c, projected off the bounds
it has met, until g of them hold it: a vertex. The second goes from vertex to vertex along the
steepest edge. At the optimum the weights A^-T c of the g basic columns are x, and y is the
certificate. Another c only tilts the objective: the next column starts from the last vertex if few
of the weights there have the wrong sign; otherwise y = 0 is nearer.

Ties: where several bounds are met at once and steps of length zero follow one another, the bounds
are moved apart by about 1e-7, and put back at the end; what is then violated is repaired by primal
steps, with Bland's rule against cycling. Of identical columns the first is taken. Bounds may be
overstepped by a little for the sake of a better pivot; where the basis becomes singular all the
same (neighbouring columns of a smooth frame), the search starts anew and may overstep more.

Costs: a step is O(g p); there are a few g of them for the first column, fewer for the next.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..pencil.budget import Budget
from ..pencil.solution import Status
from .simplex_kernel import (
    DEGENERATE,
    OPTIMAL,
    UNBOUNDED,
    UNFINISHED,
    improve,
    reach_vertex,
    repair,
)
from .solution import Answer

REFACTOR = 40  # steps until the inverse, y and s are computed afresh
WRONG_SIGN = 1e-13  # of a weight, as a share of all
CLOSED = 1e-11  # relative gap
VIOLATION = 2e-13  # of |u_j'y| <= 1
NEAR = 0.25  # share of wrong signs up to which the last vertex is a good start
OVERSTEPS = (1e-10, 1e-8, 1e-6, 1e-4)
SINGULAR = 1e-5  # of the inverse of the basis: largest error of A A^-1
MOVE = 1e-7  # of the bounds, against ties
NEGLIGIBLE = 1e-10  # weights that may be zero
EXACT = 1e-13  # relative residual
MAX_STEPS = 200  # times the rank, in either phase: two or three are usual
ROUNDS = 20  # of putting bounds back and repairing, at most
GOLDEN = 0.6180339887498949


class _Singular(Exception):
    """The basis cannot be inverted, or leads nowhere."""


def solve_simplex(rows: np.ndarray, target: np.ndarray, budget: Budget) -> Answer:
    """x (p, q) of least l1 norm with rows x = target, column by column, and the dual y (g, q).

    Stopped early, x still satisfies the constraint, and y the dual: the gap says how far it came.
    """
    x, y = np.zeros((rows.shape[1], target.shape[1])), np.zeros(target.shape)
    vertex = Vertex(rows, budget)
    for column, c in enumerate(target.T):
        x[:, column], y[:, column] = vertex.solve(np.ascontiguousarray(c))
    return Answer(x, y, vertex.n_steps, vertex.stopped)


class Vertex:
    """A vertex of the dual polytope, moved about by the kernels."""

    def __init__(self, rows: np.ndarray, budget: Budget) -> None:
        g, p = rows.shape
        self.rows, self.budget = np.ascontiguousarray(rows, dtype=np.float64), budget
        self.basis = np.zeros(g, dtype=np.int64)
        self.signs = np.zeros(g)
        self.inverse: np.ndarray = np.empty((g, g))
        self.frame = np.empty((g, g))
        self.y, self.s = np.zeros(g), np.zeros(p)
        self.bounds = np.ones(p)
        self.n_active = 0
        self.overstep = OVERSTEPS[0]
        self.n_steps = 0
        self.stopped: Status | None = None

    def solve(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x and y that are optimal for c, or what there is when the budget ends."""
        shortest = c @ self.rows  # satisfies the constraint, and is not sparse
        if not c.any():
            return shortest, np.zeros(c.size)
        if self.n_active == c.size and not self._is_near(c):
            self._leave()
        best_x, best_y = shortest, c / np.abs(shortest).max()
        for self.overstep in OVERSTEPS:
            try:
                x, y = self._climb(c)
            except _Singular:
                self._leave()
                continue
            if 1.0 - float(c @ y) / float(np.abs(x).sum()) <= CLOSED:
                return x, y
            best_x = min(best_x, x, key=lambda z: float(np.abs(z).sum()))
            best_y = max(best_y, y, key=lambda z: float(c @ z))
            if self.stopped is not None:
                break
            self._leave()
        return best_x, best_y

    def _climb(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if not self._reach(c):
            return c @ self.rows, self.y.copy()
        for _ in range(ROUNDS):
            before = self.n_steps
            if not self._improve(c) or self._restore(c) or self.n_steps == before:
                break
        return self._read(c)

    def _is_near(self, c: np.ndarray) -> bool:
        """Whether few edges lead up from here: measured, each of them costs two or three steps."""
        wrong = (c @ self.inverse) * self.signs < 0.0
        return bool(wrong.mean() <= NEAR)

    def _leave(self) -> None:
        """Back to y = 0."""
        self.n_active = 0
        self.bounds = np.ones_like(self.bounds)
        self.y, self.s = np.zeros_like(self.y), np.zeros_like(self.s)

    def _may_go_on(self) -> bool:
        self.stopped = self.stopped or self.budget.stop()
        self.budget.report("simplex", "pivots", self.n_steps)
        return self.stopped is None

    def _reach(self, c: np.ndarray) -> bool:
        """The first phase; False if it was cut short."""
        while self.n_active < c.size:
            if not self._may_go_on():
                return False
            before = self.n_active
            self.n_active = reach_vertex(
                self.rows, c, self.basis, self.signs, self.frame, self.y, self.s, self.bounds,
                self.overstep, before, REFACTOR,
            )  # fmt: skip
            if self.n_active < 0:
                raise _Singular
            self.n_steps += self.n_active - before
        return True

    def _improve(self, c: np.ndarray) -> bool:
        """The second phase, up to a vertex that is optimal for the bounds as they are."""
        status, before = UNFINISHED, self.n_steps
        while status != OPTIMAL:
            self._refresh()
            if not self._may_go_on():
                return False
            status, steps = improve(
                self.rows, c, self.basis, self.signs, self.inverse, self.y, self.s, self.bounds,
                self.overstep, WRONG_SIGN, REFACTOR,
            )  # fmt: skip
            self.n_steps += steps
            if status == DEGENERATE:
                self._move_bounds()
            if status == UNBOUNDED or self.n_steps - before > MAX_STEPS * (c.size + 1):
                raise _Singular
        return True

    def _refresh(self) -> None:
        """Inverse, y and s from the basis alone."""
        A = self.rows[:, self.basis].T
        try:
            self.inverse = np.linalg.inv(A)
        except np.linalg.LinAlgError:
            raise _Singular from None
        if not np.abs(A @ self.inverse - np.eye(len(A))).max() <= SINGULAR:
            raise _Singular
        y = self.inverse @ (self.signs * self.bounds[self.basis])
        self.y = y + self.inverse @ (self.signs * self.bounds[self.basis] - A @ y)
        self.s = self.y @ self.rows

    def _move_bounds(self) -> None:
        """Bounds that no g columns meet together; those of the basis stay, and so does y."""
        spread = MOVE * (1.0 + (GOLDEN * np.arange(1, self.bounds.size + 1)) % 1.0)
        spread[self.basis] = self.bounds[self.basis] - 1.0
        self.bounds = 1.0 + np.maximum(spread, self.bounds - 1.0)

    def _restore(self, c: np.ndarray) -> bool:
        """Put the bounds back and repair what they then cut off; whether all is well."""
        self.bounds = np.ones_like(self.bounds)
        allowed, before = VIOLATION, self.n_steps
        while True:
            self._refresh()
            if np.abs(self.s).max() <= 1.0 + allowed or not self._may_go_on():
                break
            status, steps = repair(
                self.rows, c, self.basis, self.signs, self.inverse, self.y, self.s,
                allowed, REFACTOR,
            )  # fmt: skip
            self.n_steps += steps
            if status == UNBOUNDED or self.n_steps - before > MAX_STEPS * (c.size + 1):
                raise _Singular
            if status == OPTIMAL:
                allowed *= 2.0  # all was well before the refresh: this is a poor basis' round-off
        weights = self._weights(c) * self.signs
        return bool(weights.min() >= -WRONG_SIGN * np.abs(weights).sum())

    def _weights(self, c: np.ndarray) -> np.ndarray:
        """A^-T c, refined once."""
        A = self.rows[:, self.basis]
        factor = linalg.lu_factor(A)
        weights = linalg.lu_solve(factor, c)
        return weights + linalg.lu_solve(factor, c - A @ weights)

    def _read(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """x, and y; weights that the constraint can do without are round-off of zeros."""
        weights = self._weights(c)
        needed = np.abs(weights) > NEGLIGIBLE * np.abs(weights).max()
        if not needed.all():
            A = self.rows[:, self.basis[needed]]
            few = linalg.lstsq(A, c)[0]
            if np.linalg.norm(A @ few - c) <= EXACT * np.linalg.norm(c):
                weights = np.zeros_like(weights)
                weights[needed] = few
        x = np.zeros(self.s.size)
        x[self.basis] = weights
        return x, self.y / max(1.0, float(np.abs(self.s).max()))
