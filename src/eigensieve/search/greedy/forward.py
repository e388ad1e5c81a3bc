"""Forward pass: add, one by one, the feature that raises the criterion most."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ...pencil.budget import Budget
from ...pencil.factor_pencil import dense_rows
from ...pencil.problem import Problem
from ...tables.kinds.arrays import like, namespace, to_numpy
from ..moves import long_columns, ranked
from ..secular import TIE, best_addition, first_max
from .cholesky_rows import CholeskyRows, sum_of_squares
from .swap import BLOCK, SetPencil
from .sweep import DEPENDENT, Sweep, total_sweep


def forward_pass(problem: Problem, budget: Budget, solver: str) -> dict[int, np.ndarray]:
    """Sets of size |include| (at least 1) up to k, each the last one plus one feature.

    If the budget ends first, the set of size k is completed by the features that
    scored best at that moment, so that there is always an answer.
    """
    state = make_state(problem)
    order: list[int] = []
    sets: dict[int, np.ndarray] = {}
    for j in problem.include:
        _take(state, order, int(j))
    if order:
        sets[len(order)] = np.array(order)
    while len(order) < problem.k:
        if budget.stop() is not None:
            _complete(problem, state, order, sets)
            break
        if order:
            new = [state.best(_candidates(problem, order))]
        else:
            new = _first_features(problem, state, budget)
        for j in new:
            _take(state, order, j)
            sets[len(order)] = np.array(order)
        budget.report(solver, "forward", len(order), total=problem.k)
    return sets


def _take(state: State, order: list[int], j: int) -> None:
    state.add(j, len(order))
    order.append(j)


def _candidates(problem: Problem, order: list[int]) -> np.ndarray | None:
    """Features that may be added; None: all that are outside."""
    if problem.quota is None:
        return None
    free = problem.open_blocks(order)
    free[order] = False
    return np.flatnonzero(free)


def _first_features(problem: Problem, state: State, budget: Budget) -> list[int]:
    """The best single feature; where none scores alone (CCA), the best two."""
    pencil, ratio = problem.pencil, state.single_scores()
    first = first_max(ratio)
    if problem.k == 1 or float(ratio[first]) > 1e-12 * pencil.scale:
        return [first]
    best, pair = -np.inf, [0, 1]
    for part, rows in long_columns(problem):
        if best > 0 and budget.stop() is not None:
            break
        sizes = np.abs(rows)
        for row, j in zip(sizes, part):
            row[j] = -np.inf
            row[~problem.open_blocks([j])] = -np.inf
        place = first_max(sizes.ravel())
        if sizes.flat[place] > best:
            best, pair = sizes.flat[place], [int(part[place // pencil.size]), place % pencil.size]
    return pair


def _complete(
    problem: Problem, state: State, order: list[int], sets: dict[int, np.ndarray]
) -> None:
    taken = ranked(problem, to_numpy(state.quick_scores()), np.array(order, dtype=np.intp))
    for k in range(len(order) + 1, problem.k + 1):
        sets[k] = np.sort(taken[:k])


def make_state(problem: Problem) -> State:
    """The state that scores additions under the problem's criterion."""
    kinds: dict[str, Callable[[Problem], State]] = {
        "trace": TraceState,
        "logdet": LogdetState,
        "lambda_max": LambdaState,
    }
    return kinds[problem.working_criterion](problem)


class State(ABC):
    """The set so far, and what every feature would add to it.

    Vectors over all features lie where the arithmetic is done: on the device of a
    `DevicePencil`, else in numpy.
    """

    def __init__(self, problem: Problem) -> None:
        self.pencil = pencil = problem.pencil
        self.slots = problem.k
        self.here = pencil.working
        self.diag_A, self.diag_B = self.here.diag_A, self.here.diag_B
        self.xp = namespace(self.diag_B)
        self._outside = self.diag_B > 0

    def add(self, j: int, slot: int) -> None:
        """Take feature j into the set, as the slot-th."""
        self._outside[j] = False

    def single_scores(self) -> Any:
        """What every feature is worth alone."""
        return self.diag_A / self.diag_B

    @abstractmethod
    def quick_scores(self) -> Any:
        """A score for every feature, exact or nearly so, without a search."""

    def best(self, candidates: np.ndarray | None = None) -> int:
        """The candidate whose addition gives the largest criterion."""
        return self.best_scored(candidates)[0]

    def best_scored(self, candidates: np.ndarray | None = None) -> tuple[int, float]:
        """The same with its score: what it adds; for the largest eigenvalue, the new one.

        ``candidates`` are indices of features outside the set; None: all of them.
        """
        scores = self.xp.where(self._mask(candidates), self.quick_scores(), -np.inf)
        j = first_max(scores)
        return j, float(scores[j])

    def _mask(self, candidates: np.ndarray | None) -> Any:
        if candidates is None:
            return self._outside
        mask = np.zeros(self.pencil.size, dtype=bool)
        mask[candidates] = True
        return like(mask, self.diag_B)

    def _left(self, v: Any) -> Any:
        """Partial variances, inf for features that depend on the set: they add nothing."""
        return self.xp.where(v > DEPENDENT * self.diag_B, v, np.inf)

    def _rows_of_B(self) -> Sweep | CholeskyRows:
        if not self.pencil.factors:
            return Sweep(self.pencil.columns_B, self.diag_B, self.slots)
        return CholeskyRows([self.here.W], self.here.d, self.diag_B, self.slots)


class TraceState(State):
    """Gain of j: |R_j|^2 / v_j with R (c, p) the part of H that the set does not explain."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.rows = self._rows_of_B()
        self.R: Any = None  # a diagonal B explains nothing: then R = H
        if not (self.pencil.factors and self.pencil.has_diagonal_B):
            self.R = dense_rows(self.here.factor_A, "a search by the trace of so large an A") * 1.0

    def add(self, j: int, slot: int) -> None:
        super().add(j, slot)
        g = self.rows.add(j, slot)
        if self.R is not None:
            own = self.R[:, j] * 1.0
            self.R -= own[:, None] * g[None, :]

    def quick_scores(self) -> Any:
        squares = self.diag_A if self.R is None else sum_of_squares(self.R)
        return squares / self._left(self.rows.v)


class LogdetState(State):
    """Gain of j: log of the ratio of its partial variances under T = A + B and under B."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.rows, self.total = self._rows_of_B(), self._rows_of_T()

    def _rows_of_T(self) -> Sweep | CholeskyRows:
        if not self.pencil.factors:
            return total_sweep(self.pencil, self.slots)
        diagonal = self.diag_A + self.diag_B
        return CholeskyRows([self.here.factor_A, self.here.W], self.here.d, diagonal, self.slots)

    def add(self, j: int, slot: int) -> None:
        super().add(j, slot)
        self.rows.add(j, slot)
        self.total.add(j, slot)

    def quick_scores(self) -> Any:
        ratio = self.total.v / self._left(self.rows.v)
        return self.xp.log(self.xp.where(ratio > 1.0, ratio, 1.0))


class LambdaState(State):
    """The largest eigenvalue: the pencil of the set, bordered by every feature.

    On the host, whatever the pencil.
    """

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.problem = problem
        self.unit = problem.pencil.scale
        self.sweep = Sweep(self.pencil.columns_B, self.pencil.diag_B, problem.k)
        self.columns = np.empty((self.pencil.size, problem.k), order="F")

    def add(self, j: int, slot: int) -> None:
        super().add(j, slot)
        self.sweep.add(j, slot)
        self.columns[:, slot] = self.pencil.columns_A(j)

    def quick_scores(self) -> Any:
        return self.single_scores()

    def best(self, candidates: np.ndarray | None = None) -> int:
        if candidates is None:
            candidates = np.flatnonzero(to_numpy(self._outside))
        S = self.sweep.support
        ok = candidates[self.sweep.v[candidates] > DEPENDENT * self.pencil.diag_B[candidates]]
        if ok.size == 0:
            return int(candidates[0])
        small = SetPencil.of(self.pencil, S)
        best, winner = -np.inf, int(ok[0])
        for start in range(0, ok.size, BLOCK):  # p x k arrays only in blocks
            part = ok[start : start + BLOCK]
            C, cross = self.sweep.C[part, : S.size], self.columns[part, : S.size]
            Z, corner = small.borders(self.pencil.diag_A[part], cross, C, self.sweep.v[part])
            j, found = best_addition(small.values, Z, corner, self.unit, best)
            if j >= 0:
                best, winner = found + TIE * max(abs(found), self.unit), int(part[j])
        return winner

    def best_scored(self, candidates: np.ndarray | None = None) -> tuple[int, float]:
        j = self.best(candidates)  # its value is only as sharp as it takes to tell the winner
        return j, self.problem.score(np.append(self.sweep.support, j))
