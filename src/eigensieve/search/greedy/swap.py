"""1-swap local search: exchange one chosen feature for one outside while that helps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...pencil.budget import Budget
from ...pencil.criteria import TINY
from ...pencil.factor_pencil import dense_rows
from ...pencil.pencil import Pencil
from ...pencil.problem import Problem
from ...pencil.solution import Status
from ...tables.kinds.arrays import like, namespace
from ..secular import best_addition, first_max
from .cholesky_rows import sum_of_squares
from .sweep import BLOCK, DEPENDENT, Sweep, own_sweep, total_sweep

# An exchange must gain at least this much, relatively: round-off must not cycle.
MIN_GAIN = 1e-9
# Rank-one updates drift; start afresh after this many.
REFRESH = 16
MAX_SWAPS = 1000
# Gains lose about twice as many digits as features have in common with the set: 1e-6 leaves four.
SHARP = 1e-6
# Of an entry of the sweep, in units of `Budget.spend`.
WORK_OF_ENTRY = 3.0
# Called with each set that was scanned, in the order of its slots, and the best exchange.
Watch = Callable[[np.ndarray, tuple[int, int] | None], None]


def swap_refine(
    problem: Problem,
    support: Sequence[int] | np.ndarray,
    budget: Budget,
    watch: Watch | None = None,
) -> tuple[np.ndarray, int, Status]:
    """Best-improvement swaps from a set; returns (set, number of swaps, status).

    CONVERGED means that no single exchange improves the set; FEASIBLE that none was found, but
    that B is too nearly singular on these features to be sure. Every exchange is confirmed
    from scratch, so the result is never worse than the start.
    """
    S = np.asarray(support, dtype=np.intp)
    removable = np.flatnonzero(~np.isin(S, problem.include))
    if problem.pencil.size == S.size or removable.size == 0:
        return np.sort(S), 0, Status.CONVERGED
    stopped = budget.stop()
    if stopped is not None:
        return np.sort(S), 0, stopped
    with np.errstate(all="ignore"):  # a near-singular B overflows; such moves are not confirmed
        return _climb(problem, S, removable, budget, watch)


def _climb(
    problem: Problem, S: np.ndarray, removable: np.ndarray, budget: Budget, watch: Watch | None
) -> tuple[np.ndarray, int, Status]:
    scan = make_scan(problem, S)
    value, is_fresh, swaps = problem.score(S), True, 0
    most = MAX_SWAPS if budget.max_iter is None else budget.max_iter
    work = work_of_scan(problem)
    budget.spend(S.size * work)  # the sweep begins with as many columns
    while swaps < most:
        move = scan.best(removable, budget)
        budget.spend(work)
        status = budget.stop()
        if status is not None:
            return np.sort(S), swaps, status
        if watch is not None:
            watch(S, move)
        if move is None:
            return np.sort(S), swaps, Status.CONVERGED if scan.is_sharp else Status.FEASIBLE
        T = S.copy()
        T[move[0]] = move[1]
        new = problem.score(T)
        if new > value:
            S, value, swaps = T, new, swaps + 1
            is_fresh = swaps % REFRESH == 0
            if is_fresh:
                scan.load(S)
            else:
                scan.exchange(*move)
        elif is_fresh:
            return np.sort(S), swaps, Status.FEASIBLE
        else:
            scan.load(S)
            is_fresh = True
    return np.sort(S), swaps, Status.ITERATION_LIMIT


def work_of_scan(problem: Problem) -> float:
    """What looking at all exchanges takes about, see `Budget.spend`."""
    rows = problem.pencil.max_rank if problem.pencil.factors else 0
    return WORK_OF_ENTRY * problem.pencil.size * (problem.k + rows)


def make_scan(problem: Problem, support: np.ndarray) -> Scan:
    """The swap scan of a set for the problem's criterion."""
    kinds: dict[str, Callable[[Problem], Scan]] = {
        "trace": TraceScan,
        "logdet": LogdetScan,
        "lambda_max": LambdaScan,
    }
    scan = kinds[problem.working_criterion](problem)
    scan.load(support)
    return scan


class Scan(ABC):
    """The best of all exchanges (slot out, feature in) of the current set."""

    def __init__(self, problem: Problem, sweep: Sweep) -> None:
        self.problem, self.pencil, self.sweep = problem, problem.pencil, sweep

    @property
    def support(self) -> np.ndarray:
        return self.sweep.support

    def load(self, support: np.ndarray) -> None:
        """Start from a set."""
        self.sweep.load(support)

    def exchange(self, slot: int, feature: int) -> None:
        """Carry out a swap."""
        self.sweep.exchange(slot, feature)

    def may_take(self, slot: int) -> np.ndarray:
        """A mask of the features that may take the slot."""
        return self.problem.may_replace(self.support, slot)

    @property
    def is_sharp(self) -> bool:
        """Whether the gains are accurate enough to say that no exchange helps."""
        return self.sweep.independence() >= SHARP

    @abstractmethod
    def best(self, removable: np.ndarray, budget: Budget) -> tuple[int, int] | None:
        """The best exchange, or None if none is worth it."""


class GainScan(Scan):
    """A scan that is, per slot, a vector of gains over all features in closed form.

    k such vectors, O(p k) on top of the O(p (n + k)) that keeps the sweep up to date. They lie
    where the pencil does: only the best exchange leaves a device.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem, own_sweep(problem.pencil, problem.k))
        self.here = problem.pencil.working
        self.xp = namespace(self.here.diag_B)

    @abstractmethod
    def prepare(self) -> None:
        """Quantities that all slots share."""

    @abstractmethod
    def gains(self, slot: int) -> Any:
        """Relative gain of every feature in that slot; that of the set's own means nothing."""

    def best(self, removable: np.ndarray, budget: Budget) -> tuple[int, int] | None:
        self.prepare()
        best, move = MIN_GAIN, None
        shared = self._mask(0) if self.problem.is_free else None
        for slot in map(int, removable):
            gains, floor = self.gains(slot), best * (1 + 1e-9)
            if not float(self.xp.max(gains)) <= floor:  # most slots end here: the rest takes longer
                mask = self._mask(slot) if shared is None else shared
                # no gain where a near-singular B overflowed
                gains = self.xp.where(self.xp.isfinite(gains) & mask, gains, -np.inf)
                j = first_max(gains)
                if float(gains[j]) > floor:
                    best, move = float(gains[j]), (slot, j)
            if budget.stop() is not None:
                break
        return move

    def _mask(self, slot: int) -> Any:
        return like(self.may_take(slot), self.here.diag_B)

    def _room(self, slot: int) -> Any:
        """P_ii v_j + C_ji^2, inf where j depends on the rest of the set."""
        room, pivot = self.sweep.room(slot), float(self.sweep.P[slot, slot])
        return self.xp.where(room > DEPENDENT * pivot * self.here.diag_B, room, np.inf)


class LogdetScan(GainScan):
    """f(S - i + j) - f(S) = log of the ratio of partial variances under T = A + B and B."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.total = total_sweep(self.pencil, problem.k)

    def load(self, support: np.ndarray) -> None:
        super().load(support)
        self.total.load(support)

    def exchange(self, slot: int, feature: int) -> None:
        super().exchange(slot, feature)
        self.total.exchange(slot, feature)

    @property
    def is_sharp(self) -> bool:
        return min(self.sweep.independence(), self.total.independence()) >= SHARP

    def prepare(self) -> None:
        self.value = self.problem.score(self.support)

    def gains(self, slot: int) -> Any:
        return self.differences(slot) / max(self.value, TINY)

    def differences(self, slot: int) -> Any:
        """What every feature adds to the log-det in that slot."""
        return self.xp.log(self.total.room(slot) / self._room(slot))


class TraceScan(GainScan):
    """f(S - i + j) - f(S), relative to f(S), for f = trace(B_S^-1 A_S)."""

    def prepare(self) -> None:
        H = dense_rows(self.here.factor_A, "a search by the trace of so large an A")
        own = self.pencil.factor_A[:, self.support].T
        self.beta = self.sweep.P @ own
        self.residual = H.T - self.sweep.C @ like(own, self.here.diag_B)
        self.norm2 = sum_of_squares(self.residual.T)
        self.value = float(np.einsum("ij,ij->", self.beta, own))

    def gains(self, slot: int) -> Any:
        pivot, c = float(self.sweep.P[slot, slot]), self.sweep.C[:, slot]
        beta = self.beta[slot]
        lost = float(beta @ beta) / pivot
        won = pivot * self.norm2 + 2.0 * c * self._along(beta)
        won = (won + c * c * lost) / self._room(slot)
        return (won - lost) / max(self.value, TINY)

    def _along(self, beta: np.ndarray) -> Any:
        """What every residual has along beta; of a single number BLAS makes too much."""
        if beta.size == 1:
            return self.residual[:, 0] * float(beta[0])
        return self.residual @ like(beta, self.here.diag_B)


@dataclass(frozen=True, eq=False)
class SetPencil:
    """The pencil of a set in its eigenbasis: eigenvalues (descending), vectors, and A_S."""

    values: np.ndarray
    X: np.ndarray
    A: np.ndarray

    @classmethod
    def of(cls, pencil: Pencil, support: np.ndarray) -> SetPencil:
        """From the restriction of a pencil; the empty set is allowed."""
        if support.size == 0:
            return cls(np.empty(0), np.empty((0, 0)), np.empty((0, 0)))
        small = pencil.restrict(support)
        values, X = small.eigh()
        return cls(values, X, small.A)

    def borders(
        self, diagonal: np.ndarray, cross: np.ndarray, C: np.ndarray, v: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Squared borders (m, t) and corners (m,) for m features: input of `best_addition`.

        ``diagonal`` and ``cross`` are A_jj and A_jS, C and v the sweep of the features.
        """
        left = cross - C @ self.A
        Z = np.square(left @ self.X) / v[:, None]
        return Z, (diagonal - np.einsum("ij,ij->i", C, cross + left)) / v


class LambdaScan(Scan):
    """Largest eigenvalue: per slot the pencil of the rest is bordered by every feature.

    A first look keeps, for every slot, the features that may beat the present value: the
    secular equation with all but the leading pole moved to the second one, from rank-one
    corrections of quantities of the whole set. Only those are bordered in full.
    """

    def __init__(self, problem: Problem) -> None:
        pencil = problem.pencil
        super().__init__(problem, Sweep(pencil.columns_B, pencil.diag_B, problem.k))
        self.columns = np.empty((self.pencil.size, problem.k), order="F")

    def load(self, support: np.ndarray) -> None:
        super().load(support)
        self.columns[:] = self.pencil.columns_A(support)

    def exchange(self, slot: int, feature: int) -> None:
        super().exchange(slot, feature)
        self.columns[:, slot] = self.pencil.columns_A(feature)

    def best(self, removable: np.ndarray, budget: Budget) -> tuple[int, int] | None:
        value = self.problem.score(self.support)
        unit = self.pencil.scale
        floor = value + MIN_GAIN * max(abs(value), unit)
        rests = {}
        for slot in removable:
            rests[int(slot)] = SetPencil.of(self.pencil, np.delete(self.support, slot))
            if budget.stop() is not None:
                return None
        move = None
        for slot, hopeful in self._screen(rests, floor, budget).items():
            C, v = self._without(slot, hopeful)
            ok = v > DEPENDENT * self.pencil.diag_B[hopeful]
            hopeful, C, v = hopeful[ok], C[ok], v[ok]
            cross = np.delete(self.columns[hopeful], slot, axis=1)
            rest = rests[slot]
            Z, corner = rest.borders(self.pencil.diag_A[hopeful], cross, C, v)
            j, found = best_addition(rest.values, Z, corner, unit, floor)
            if j >= 0:
                floor, move = found + 1e-12 * abs(found), (int(slot), int(hopeful[j]))
        return move

    def _screen(
        self, rests: dict[int, SetPencil], floor: float, budget: Budget
    ) -> dict[int, np.ndarray]:
        """For every slot the features that may lift the eigenvalue above the floor."""
        P, A = self.sweep.P, self.pencil.restrict(self.support).A
        lead = np.zeros_like(P)  # the leading eigenvector of every rest, 0 in its slot
        for slot, rest in rests.items():
            if rest.values.size:
                lead[np.arange(len(P)) != slot, slot] = rest.X[:, 0]
        hopeful: dict[int, list[np.ndarray]] = {slot: [] for slot in rests}
        is_free = self.problem.is_free
        every = np.flatnonzero(self.may_take(0)) if is_free else self.problem.features
        for start in range(0, every.size, BLOCK):
            j = every[start : start + BLOCK]
            look = _Look.at(self, j, P, A, lead)
            for slot, rest in rests.items():
                hopeful[slot].append(j[look.may_exceed(slot, rest.values, floor)])
            if budget.stop() is not None:
                return {}
        found = {slot: np.concatenate(parts) for slot, parts in hopeful.items() if parts}
        if not is_free:
            found = {s: f[self.may_take(s)[f]] for s, f in found.items()}
        return found

    def _without(self, slot: int, candidates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """C and v of the set without the slot, at the candidates."""
        pivot = self.sweep.P[slot, slot]
        c = self.sweep.C[candidates, slot]
        v = self.sweep.v[candidates] + c * c / pivot
        C = self.sweep.C[candidates] - np.outer(c, self.sweep.P[slot] / pivot)
        return np.delete(C, slot, axis=1), v


@dataclass(frozen=True, eq=False)
class _Look:
    """What `LambdaScan._screen` knows of a block of m features, for all k slots at once.

    With u_j = e_j - C_j the part of feature j that the set does not explain,
    L = u'A on the set (m, k), G = L P, and a_i = P_i A_S; taking feature i out of the set
    adds g P_i to u_j, g = C_ji / P_ii.
    """

    C: np.ndarray
    v: np.ndarray
    G: np.ndarray
    LPL: np.ndarray
    GA: np.ndarray
    L_lead: np.ndarray
    corner: np.ndarray
    P: np.ndarray
    PA: np.ndarray
    lead: np.ndarray

    @classmethod
    def at(
        cls, scan: LambdaScan, j: np.ndarray, P: np.ndarray, A: np.ndarray, lead: np.ndarray
    ) -> _Look:
        C, cross = scan.sweep.C[j], scan.columns[j]
        L = cross - C @ A
        G, PA = L @ P, P @ A
        corner = scan.pencil.diag_A[j] - np.einsum("ij,ij->i", C, cross + L)
        LPL = np.einsum("ij,ij->i", L, G)
        return cls(C, scan.sweep.v[j], G, LPL, G @ PA.T, L @ lead, corner, P, PA, lead)

    def may_exceed(self, i: int, w: np.ndarray, floor: float) -> np.ndarray:
        """Mask of the features that may lift slot i's eigenvalue above the floor."""
        P, a, pivot = self.P, self.PA[i], self.P[i, i]
        g = self.C[:, i] / pivot
        v = self.v + g * self.C[:, i]
        corner = (self.corner + 2 * g * self.G[:, i] + g * g * (a @ P[i])) / v
        if w.size == 0:
            return ~(corner <= floor)
        border = self.LPL + 2 * g * self.GA[:, i] + g * g * (a @ P @ a)
        border = (border - np.square(self.G[:, i] + g * (a @ P[i])) / pivot) / v
        first = np.square(self.L_lead[:, i] + g * (a @ self.lead[:, i])) / v
        rest = np.maximum(border - first, 0.0) / (floor - w[min(1, w.size - 1)])
        excess = corner - floor + first / (floor - w[0]) + rest
        # a little slack for round-off; NaN counts as hope
        return ~(excess <= -1e-7 * abs(floor))
