"""The swap scan of a `DevicePencil`, for the trace and log-det criteria.

The same gains as in swap.py, from whole matrices (p x k) that the device forms anew for every
set: there that costs less than keeping them up to date.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from ...pencil.budget import Budget
from ...pencil.criteria import unit_cholesky
from ...pencil.problem import Problem
from ...tables.device_pencil import DevicePencil, working_arrays
from ...tables.kinds.arrays import like, namespace
from ..secular import first_max
from .swap import MIN_GAIN, SHARP, Scan, working_criterion
from .sweep import DEPENDENT

FLOOR = np.finfo(float).tiny


class Regression:
    """Every feature regressed on a set, under M = F'F + diag(d): a `Sweep` that was just loaded.

    Attributes
    ----------
    C, v : device arrays (p, k) and (p,); see `Sweep`. Rows of the set itself mean nothing.
    P : array (k, k), on the host
    white : device array (p, k), the Cholesky rows
    """

    def __init__(self, factors: list[Any], S: np.ndarray, M: np.ndarray, diagonal: Any) -> None:
        L, scale = unit_cholesky(M)
        self.root = linalg.solve_triangular(L, np.diag(scale), lower=True)  # root M root' = I
        self.P = self.root.T @ self.root
        xp, index = namespace(diagonal), like(S.astype(np.int64), diagonal)
        rotate = like(np.ascontiguousarray(self.root.T), diagonal)
        self.white = sum(F.T @ (xp.take(F, index, axis=1) @ rotate) for F in factors)
        self.v = diagonal - xp.sum(self.white * self.white, axis=1)
        self.C = self.white @ like(self.root, diagonal)

    def room(self, slot: int) -> Any:
        """P_ii v_j + C_ji^2: what the others of the set leave of j, times P_ii."""
        c = self.C[:, slot]
        return float(self.P[slot, slot]) * self.v + c * c


class DeviceScan(Scan):
    """The best of all exchanges by their gains, slot by slot, on the device."""

    pencil: DevicePencil

    def __init__(self, problem: Problem) -> None:
        assert isinstance(problem.pencil, DevicePencil)
        self.problem, self.pencil = problem, problem.pencil
        self.is_trace = working_criterion(problem) == "trace"
        self.here = working_arrays(self.pencil)
        self.xp = namespace(self.here.W)
        self._support = np.empty(0, dtype=np.intp)
        self._outside: Any = None

    @property
    def support(self) -> np.ndarray:
        return self._support

    def load(self, support: np.ndarray) -> None:
        here, small = self.here, self.pencil.restrict(support)
        self._support, self._outside = np.array(support), None
        self.own = Regression([here.W], self._support, small.B, here.diag_B)
        if not self.is_trace:
            M, diagonal = small.A + small.B, here.diag_A + here.diag_B
            self.total = Regression([here.H, here.W], self._support, M, diagonal)

    def exchange(self, slot: int, feature: int) -> None:
        S = self._support.copy()
        S[slot] = feature
        self.load(S)

    @property
    def is_sharp(self) -> bool:
        least = self._independence(self.own, self.here.diag_B)
        if not self.is_trace:
            least = min(least, self._independence(self.total, self.here.diag_A + self.here.diag_B))
        return least >= SHARP

    def _independence(self, part: Regression, diagonal: Any) -> float:
        inside = 1.0 / (np.diag(part.P) * [float(diagonal[int(j)]) for j in self._support])
        shares = self.xp.where(self._mask(0), part.v / diagonal, 1.0)
        return min(float(inside.min()), float(self.xp.min(shares)))

    def best(self, removable: np.ndarray, budget: Budget) -> tuple[int, int] | None:
        self._prepare()
        best, move = MIN_GAIN, None
        for slot in map(int, removable):
            gains = self._gains(slot)
            # no gain where a near-singular B overflowed
            gains = self.xp.where(self.xp.isfinite(gains) & self._mask(slot), gains, -np.inf)
            j = first_max(gains)
            if float(gains[j]) > best * (1 + 1e-9):
                best, move = float(gains[j]), (slot, j)
            if budget.stop() is not None:
                break
        return move

    def _mask(self, slot: int) -> Any:
        """Features that may take the slot; without quotas it is the same for all slots."""
        if self.problem.quota is not None:
            return like(self.may_take(slot), self.here.W)
        if self._outside is None:
            self._outside = like(self.may_take(slot), self.here.W)
        return self._outside

    def _prepare(self) -> None:
        S, root = self._support, self.own.root
        self.value = self.problem.score(S)
        if self.is_trace:
            H = self.pencil.H[:, S]
            self.value = float(np.square(H @ root.T).sum())
            self.beta = self.own.P @ H.T
            self.residual = self.here.H - like(H @ root.T, self.here.W) @ self.own.white.T
            self.norm2 = self.xp.sum(self.residual * self.residual, axis=0)

    def _gains(self, slot: int) -> Any:
        room, pivot = self.own.room(slot), float(self.own.P[slot, slot])
        room = self.xp.where(room > DEPENDENT * pivot * self.here.diag_B, room, np.inf)
        if not self.is_trace:
            return self.xp.log(self.total.room(slot) / room) / max(self.value, FLOOR)
        c, beta = self.own.C[:, slot], self.beta[slot]
        lost = float(beta @ beta) / pivot
        along = like(beta, self.here.W) @ self.residual
        won = (pivot * self.norm2 + 2.0 * c * along + c * c * lost) / room
        return (won - lost) / max(self.value, FLOOR)
