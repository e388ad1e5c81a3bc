"""The weighted lasso: min 1/2 u'Bu - g'u + sum t_i |u_i|, for the B of a pencil.

It is the inner problem of D.C. programming. With B diagonal it has a closed form. Otherwise
sweeps of coordinate descent find out which coordinates are not zero, and with which sign; then one
linear system gives them to the last digit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy import linalg

from ...pencil.budget import Budget
from ...pencil.criteria import EPS
from ...pencil.factor_pencil import FactorPencil, dense_rows
from ...pencil.pencil import Pencil
from .lasso_kernel import descend_dense, descend_factor

# The optimality conditions hold to this share of the largest |g_i| / sqrt(B_ii).
TOL = 1e-12
# Where more sweeps and systems do not get there (B nearly singular), what there is must do: so
# many rounds in which the function does not fall by this share are the last.
PATIENCE = 10
PROGRESS = 1e-13
SWEEPS = 10
# Points that are looked at on the way of a Newton step that changes signs.
STOPS = 8
# A system with more unknowns than this takes seconds; then sweeps alone must do, and not too many.
DIRECT_LIMIT = 5000
MAX_ROUNDS = 200


class WeightedLasso(ABC):
    """The lasso of one B, for many g and t."""

    def __init__(self, diagonal: np.ndarray) -> None:
        self.diagonal = diagonal
        self.root = np.sqrt(diagonal)

    def solve(
        self,
        g: np.ndarray,
        t: np.ndarray,
        start: np.ndarray | None = None,
        tol: float = TOL,
        budget: Budget | None = None,
    ) -> np.ndarray:
        """The minimiser; ``start`` saves time if it is near, and is never left for a worse u."""
        self._load(g, t, np.zeros(g.size) if start is None else start.astype(float))
        return self._minimise(tol, budget)

    def _load(self, g: np.ndarray, t: np.ndarray, u: np.ndarray) -> None:
        """Take over a problem and a vector."""
        self.g = np.ascontiguousarray(g, dtype=np.float64)
        self.t = np.ascontiguousarray(t, dtype=np.float64)
        self.u = u

    @abstractmethod
    def _minimise(self, tol: float, budget: Budget | None) -> np.ndarray:
        """The minimiser, from the vector that is loaded."""

    def violation(self, u: np.ndarray, gradient: np.ndarray, t: np.ndarray) -> float:
        """How far the optimality conditions are off: gradient = g - Bu lies in t times sign(u).

        In units where diag(B) = 1.
        """
        off = np.where(
            u != 0, np.abs(gradient - t * np.sign(u)), np.maximum(np.abs(gradient) - t, 0.0)
        )
        return float((off / self.root).max(initial=0.0))


class DiagonalLasso(WeightedLasso):
    """B diagonal: soft thresholding."""

    def _minimise(self, tol: float, budget: Budget | None) -> np.ndarray:
        return soft_threshold(self.g, self.t) / self.diagonal


class GeneralLasso(WeightedLasso):
    """Sweeps and linear systems in turn; how, depends on the form of B."""

    def _minimise(self, tol: float, budget: Budget | None) -> np.ndarray:
        g, t = self.g, self.t
        unit = float((np.abs(g) / self.root).max(initial=0.0))
        least, idle = np.inf, 0
        for _ in range(MAX_ROUNDS):
            if idle >= PATIENCE or (budget is not None and budget.stop() is not None):
                break
            # round-off alone leaves this much of the gradient: |B_ij| <= root_i root_j
            noise = 4 * EPS * (unit + float(self.root @ np.abs(self.u)))
            enough = max(tol * unit, noise)
            self._descend(enough)
            gradient = self._gradient()
            if self.violation(self.u, gradient, t) <= enough:
                break
            self._solve_active(budget)
            gradient = self._gradient()
            if self.violation(self.u, gradient, t) <= enough:
                break
            value = float(t @ np.abs(self.u)) - 0.5 * float(self.u @ (g + gradient))
            idle = 0 if value < least - PROGRESS * abs(least) or np.isinf(least) else idle + 1
            least = min(value, least)
        return self.u

    def _solve_active(self, budget: Budget | None) -> None:
        """Newton steps on the coordinates that are not zero, or cost nothing, until signs stay.

        Every step but the last drops a coordinate at least.
        """
        while budget is None or budget.stop() is None:
            S = np.flatnonzero((self.u != 0) | (self.t == 0))
            if S.size == 0 or not self._has_direct(S.size):
                break
            signs = np.sign(self.u[S])
            goal = self._solve_system(S, self.g[S] - self.t[S] * signs)
            if not np.isfinite(goal).all():
                break
            wrong = (goal * signs <= 0) & (self.t[S] > 0)
            if wrong.any():
                goal = self._without_wrong(S, goal, wrong)
            self.u[S] = goal
            if not wrong.any():
                break
        self._load(self.g, self.t, self.u)

    def _without_wrong(self, S: np.ndarray, goal: np.ndarray, wrong: np.ndarray) -> np.ndarray:
        """The best of some points on the way to the goal; what would change its sign is zero there.

        Up to the first such coordinate the function is the parabola that the step was made for, so
        that it falls for sure; further on it may fall more, and drop more of them at once.
        """
        old = self.u[S]
        shares = np.full(S.size, np.inf)
        shares[wrong] = old[wrong] / (old[wrong] - goal[wrong])
        ends = np.sort(shares[wrong])
        places = np.unique(np.linspace(0, ends.size - 1, STOPS).astype(int))
        points = [
            np.where(shares <= share, 0.0, old + share * (goal - old))
            for share in (*ends[places], 1.0)
        ]
        return min(points, key=lambda v: self._value(S, v))

    def _value(self, S: np.ndarray, v: np.ndarray) -> float:
        return self._half_square(S, v) - float(self.g[S] @ v) + float(self.t[S] @ np.abs(v))

    @abstractmethod
    def _descend(self, enough: float) -> None:
        """Sweeps of coordinate descent, until no step is larger than ``enough``."""

    @abstractmethod
    def _gradient(self) -> np.ndarray:
        """g - Bu, from scratch."""

    @abstractmethod
    def _half_square(self, S: np.ndarray, v: np.ndarray) -> float:
        """1/2 v'B_S v."""

    @abstractmethod
    def _has_direct(self, size: int) -> bool: ...

    @abstractmethod
    def _solve_system(self, S: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        """B_S^-1 rhs."""


class DenseLasso(GeneralLasso):
    """B as a matrix."""

    def __init__(self, B: np.ndarray) -> None:
        super().__init__(np.diag(B).copy())
        self.B = np.ascontiguousarray(B, dtype=np.float64)

    def _load(self, g: np.ndarray, t: np.ndarray, u: np.ndarray) -> None:
        super()._load(g, t, u)
        self.r = self._gradient()

    def _descend(self, enough: float) -> None:
        descend_dense(self.B, self.t, self.u, self.r, SWEEPS, enough)

    def _gradient(self) -> np.ndarray:
        S = np.flatnonzero(self.u)
        return self.g - self.B[:, S] @ self.u[S]

    def _half_square(self, S: np.ndarray, v: np.ndarray) -> float:
        return 0.5 * float(v @ self.B[np.ix_(S, S)] @ v)

    def _has_direct(self, size: int) -> bool:
        return size <= DIRECT_LIMIT

    def _solve_system(self, S: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        return solve_scaled(self.B[np.ix_(S, S)], rhs)


class FactorLasso(GeneralLasso):
    """B = W'W + diag(d), never formed."""

    def __init__(self, pencil: FactorPencil) -> None:
        super().__init__(pencil.diag_B)
        W = dense_rows(pencil.W, "coordinate descent (dc, scotlass, spca)")
        self.W = np.ascontiguousarray(W.T, dtype=np.float64)  # a coordinate's row in one piece
        self.d = np.ascontiguousarray(pencil.d)

    def _load(self, g: np.ndarray, t: np.ndarray, u: np.ndarray) -> None:
        super()._load(g, t, u)
        S = np.flatnonzero(u)
        self.z = u[S] @ self.W[S]

    def _descend(self, enough: float) -> None:
        known = self.W, self.d, self.diagonal, self.g, self.t
        descend_factor(*known, self.u, self.z, SWEEPS, enough)

    def _gradient(self) -> np.ndarray:
        S = np.flatnonzero(self.u)
        return self.g - self.W @ (self.u[S] @ self.W[S]) - self.d * self.u

    def _half_square(self, S: np.ndarray, v: np.ndarray) -> float:
        z = v @ self.W[S]
        return 0.5 * float(z @ z + self.d[S] @ np.square(v))

    def _has_direct(self, size: int) -> bool:
        return min(size, self.W.shape[1]) <= DIRECT_LIMIT

    def _solve_system(self, S: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        W, d = self.W[S], self.d[S]
        if S.size <= W.shape[1]:
            return solve_scaled(W @ W.T + np.diag(d), rhs)
        scaled = W / d[:, None]  # Woodbury: a system of m unknowns, not of |S|
        return rhs / d - scaled @ solve_scaled(np.eye(W.shape[1]) + W.T @ scaled, scaled.T @ rhs)


def make_lasso(pencil: Pencil) -> WeightedLasso:
    """The lasso for the B of a pencil."""
    if pencil.has_diagonal_B:
        return DiagonalLasso(pencil.diag_B)
    return FactorLasso(pencil.factors) if pencil.factors else DenseLasso(pencil.B)


def soft_threshold(g: np.ndarray, t: np.ndarray) -> np.ndarray:
    """sign(g) max(|g| - t, 0)."""
    return np.sign(g) * np.maximum(np.abs(g) - t, 0.0)


def solve_scaled(M: np.ndarray, rhs: np.ndarray) -> np.ndarray:
    """M^-1 rhs by Cholesky in units where diag(M) = 1; nan if M is singular."""
    scale = 1.0 / np.sqrt(np.diag(M))
    _, x, failed = linalg.lapack.dposv(M * np.outer(scale, scale), rhs * scale, lower=True)
    return np.full_like(rhs, np.nan) if failed else scale * x
