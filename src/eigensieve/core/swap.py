"""1-swap local search: exchange one chosen feature for one outside while that helps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from .budget import Budget
from .criteria import generalized_eigh
from .pencil import Pencil
from .problem import Problem
from .secular import best_addition, first_max
from .solution import Status
from .sweep import DEPENDENT, Sweep

# An exchange must gain at least this much, relatively: round-off must not cycle.
LEAST_GAIN = 1e-9
# Rank-one updates drift; start afresh after this many.
REFRESH = 16


def swap_refine(
    problem: Problem, support: Sequence[int] | np.ndarray, budget: Budget, max_iter: int = 1000
) -> tuple[np.ndarray, int, Status]:
    """Best-improvement swaps from a set; returns (set, number of swaps, status).

    CONVERGED means that no single exchange improves the set.
    """
    S = np.asarray(support, dtype=np.intp)
    free = problem.allowed.size - S.size
    removable = np.flatnonzero(~np.isin(S, problem.include))
    if free == 0 or removable.size == 0:
        return np.sort(S), 0, Status.CONVERGED
    scan = make_scan(problem)
    scan.load(S)
    for step in range(max_iter):
        status = budget.stop()
        if status is not None:
            return np.sort(scan.support), step, status
        move = scan.best(removable)
        if move is None:
            return np.sort(scan.support), step, Status.CONVERGED
        scan.exchange(*move)
        if (step + 1) % REFRESH == 0:
            scan.load(scan.support)
    return np.sort(scan.support), max_iter, Status.ITERATION_LIMIT


def working_criterion(problem: Problem) -> str:
    """The cheapest criterion that orders the sets alike: with a rank-one A, the trace."""
    return "trace" if problem.pencil.is_rank_one else problem.criterion


def make_scan(problem: Problem) -> Scan:
    """The swap scan for the problem's criterion."""
    kinds = {"trace": TraceScan, "logdet": LogdetScan, "lambda_max": LambdaScan}
    return kinds[working_criterion(problem)](problem)


class Scan:
    """Scores of all exchanges (slot out, feature in) of the current set.

    Subclasses give, per slot, a vector of gains over all features; one scan is k such
    vectors, O(p k) on top of the O(p (n + k)) that keeps the sweep up to date.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.pencil: Pencil = problem.pencil
        self.sweep = Sweep(self.pencil.columns_B, self.pencil.diag_B, problem.k)

    @property
    def support(self) -> np.ndarray:
        return self.sweep.support

    def load(self, support: np.ndarray) -> None:
        """Start from a set."""
        self.sweep.load(support)

    def exchange(self, slot: int, feature: int) -> None:
        """Carry out a swap."""
        self.sweep.free(slot)
        self.sweep.add(feature, slot)

    def candidates(self, slot: int) -> np.ndarray:
        """Features that may take the slot."""
        outside = np.zeros(self.pencil.size, dtype=bool)
        outside[self.problem.allowed] = True
        outside[self.support] = False
        if self.problem.quota is not None:
            outside &= self.problem.open_blocks(np.delete(self.support, slot))
        return np.flatnonzero(outside)

    def prepare(self) -> None:
        """Quantities that all slots share."""

    def gains(self, slot: int, candidates: np.ndarray) -> np.ndarray:
        """Relative gain of each candidate in that slot."""
        raise NotImplementedError

    def best(self, removable: np.ndarray) -> tuple[int, int] | None:
        """The best exchange, or None if none is worth it."""
        self.prepare()
        best, move = LEAST_GAIN, None
        shared = self.candidates(0) if self.problem.quota is None else None
        for slot in removable:
            candidates = self.candidates(slot) if shared is None else shared
            if candidates.size == 0:
                continue
            gains = self.gains(slot, candidates)
            j = first_max(gains)
            if gains[j] > best * (1 + 1e-9):
                best, move = float(gains[j]), (int(slot), int(candidates[j]))
        return move

    def _room(self, slot: int, j: np.ndarray) -> np.ndarray:
        """P_ii v_j + C_ji^2, inf where j depends on the rest of the set."""
        pivot = self.sweep.P[slot, slot]
        room = pivot * self.sweep.v[j] + np.square(self.sweep.C[j, slot])
        return np.where(room > DEPENDENT * pivot * self.pencil.diag_B[j], room, np.inf)


class LogdetScan(Scan):
    """f(S - i + j) - f(S) = log of the ratio of partial variances under T = A + B and B."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        pencil = self.pencil
        self.total = Sweep(
            lambda index: pencil.columns_A(index) + pencil.columns_B(index),
            pencil.diag_A + pencil.diag_B,
            problem.k,
        )

    def load(self, support: np.ndarray) -> None:
        super().load(support)
        self.total.load(support)

    def exchange(self, slot: int, feature: int) -> None:
        super().exchange(slot, feature)
        self.total.free(slot)
        self.total.add(feature, slot)

    def gains(self, slot: int, candidates: np.ndarray) -> np.ndarray:
        total = self.total.P[slot, slot] * self.total.v[candidates]
        total += np.square(self.total.C[candidates, slot])
        ratio = total / self._room(slot, candidates)
        return np.log(np.maximum(ratio, np.finfo(float).tiny))


class TraceScan(Scan):
    """f(S - i + j) - f(S), relative to f(S), for f = trace(B_S^-1 A_S)."""

    def prepare(self) -> None:
        H, _ = self.pencil.spectral_factor
        S = self.support
        self.beta = self.sweep.P @ H[:, S].T
        self.residual = H.T - self.sweep.C @ H[:, S].T
        self.norm2 = np.einsum("ij,ij->i", self.residual, self.residual)
        self.value = float(np.einsum("ij,ij->", self.beta, H[:, S].T))

    def gains(self, slot: int, candidates: np.ndarray) -> np.ndarray:
        pivot = self.sweep.P[slot, slot]
        c = self.sweep.C[candidates, slot]
        beta = self.beta[slot]
        lost = float(beta @ beta) / pivot
        won = pivot * self.norm2[candidates] + 2 * c * (self.residual[candidates] @ beta)
        won = (won + c * c * lost) / self._room(slot, candidates)
        return (won - lost) / max(self.value, np.finfo(float).tiny)


class LambdaScan(Scan):
    """Largest eigenvalue: per slot the pencil of the rest is bordered by every feature."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.columns = np.empty((self.pencil.size, problem.k), order="F")

    def load(self, support: np.ndarray) -> None:
        super().load(support)
        self.columns[:] = self.pencil.columns_A(support)

    def exchange(self, slot: int, feature: int) -> None:
        super().exchange(slot, feature)
        self.columns[:, slot] = self.pencil.columns_A(feature)

    def best(self, removable: np.ndarray) -> tuple[int, int] | None:
        value = self.problem.score(self.support)
        floor = value + LEAST_GAIN * max(abs(value), self.pencil.scale)
        move = None
        for slot in removable:
            candidates = self.candidates(slot)
            rest = np.delete(np.arange(self.problem.k), slot)
            C, v = self._without(slot, candidates)
            ok = v > DEPENDENT * self.pencil.diag_B[candidates]
            candidates = candidates[ok]
            w, Z, corner = bordered(
                self.pencil, self.support[rest], self.columns[:, rest], C[ok], v[ok], candidates
            )
            j, found = best_addition(w, Z, corner, self.pencil.scale, floor)
            if j >= 0:
                floor, move = found + 1e-12 * abs(found), (int(slot), int(candidates[j]))
        return move

    def _without(self, slot: int, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """C and v of the set without the slot, at the candidates."""
        pivot = self.sweep.P[slot, slot]
        c = self.sweep.C[candidates, slot]
        v = self.sweep.v[candidates] + c * c / pivot
        C = self.sweep.C[candidates] - np.outer(c, self.sweep.P[slot] / pivot)
        return np.delete(C, slot, axis=1), v


def bordered(
    pencil: Pencil,
    support: np.ndarray,
    columns: np.ndarray,
    C: np.ndarray,
    v: np.ndarray,
    candidates: ArrayLike,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The pencil of a set in its eigenbasis, bordered by each candidate.

    Returns the eigenvalues (descending), the squared borders (m, t) and the corners (m,):
    input of `best_addition`.
    """
    j = np.asarray(candidates, dtype=np.intp)
    diagonal = pencil.diag_A[j]
    if support.size == 0:
        return np.empty(0), np.empty((j.size, 0)), diagonal / v
    small = pencil.restrict(support)
    w, X = generalized_eigh(small.A, None if small.has_identity_B else small.B)
    cross = columns[j]
    left = cross - C @ small.A
    Z = np.square(left @ X) / v[:, None]
    corner = (diagonal - np.einsum("ij,ij->i", C, cross + left)) / v
    return w, Z, corner
