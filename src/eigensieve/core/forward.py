"""Forward pass: add, one by one, the feature that raises the criterion most."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np

from .budget import Budget
from .moves import long_columns, ranked
from .problem import Problem
from .secular import TIE, best_addition, first_max
from .swap import BLOCK, SetPencil, working_criterion
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
            new = _first_features(problem, budget)
        for j in new:
            _take(state, order, j)
            sets[len(order)] = np.array(order)
        budget.report(solver, "forward", len(order), total=problem.k)
    return sets


def _take(state: State, order: list[int], j: int) -> None:
    state.add(j, len(order))
    order.append(j)


def _candidates(problem: Problem, order: list[int]) -> np.ndarray:
    free = np.ones(problem.pencil.size, dtype=bool)
    free[order] = False
    return np.flatnonzero(free & problem.open_blocks(order))


def _first_features(problem: Problem, budget: Budget) -> list[int]:
    """The best single feature; where none scores alone (CCA), the best two."""
    pencil = problem.pencil
    ratio = pencil.diag_A / pencil.diag_B
    if problem.k == 1 or ratio.max() > 1e-12 * pencil.scale:
        return [first_max(ratio)]
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
    taken = ranked(problem, state.quick_scores(), np.array(order, dtype=np.intp))
    for k in range(len(order) + 1, problem.k + 1):
        sets[k] = np.sort(taken[:k])


def make_state(problem: Problem) -> State:
    """The state that scores additions under the problem's criterion."""
    kinds: dict[str, Callable[[Problem], State]] = {
        "trace": TraceState,
        "logdet": LogdetState,
        "lambda_max": LambdaState,
    }
    return kinds[working_criterion(problem)](problem)


class State(ABC):
    """The set so far, and what every feature would add to it."""

    def __init__(self, problem: Problem) -> None:
        self.pencil = problem.pencil
        self.unit = problem.pencil.scale
        self.sweep = Sweep(self.pencil.columns_B, self.pencil.diag_B, problem.k)

    def add(self, j: int, slot: int) -> None:
        """Take feature j into the set."""
        self.sweep.add(j, slot)

    @abstractmethod
    def quick_scores(self) -> np.ndarray:
        """A score for every feature, exact or nearly so, without a search."""

    def best(self, candidates: np.ndarray) -> int:
        """The candidate whose addition gives the largest criterion."""
        scores = self.quick_scores()[candidates]
        return int(candidates[first_max(scores)])

    def _left(self) -> np.ndarray:
        """Partial variances, inf for features that depend on the set: they add nothing."""
        v = self.sweep.v
        return np.where(v > DEPENDENT * self.pencil.diag_B, v, np.inf)


class TraceState(State):
    """Gain of j: |R_j|^2 / v_j with R the part of H that the set does not explain."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.R = np.array(self.pencil.spectral_factor[0].T, order="F")

    def add(self, j: int, slot: int) -> None:
        g = self.sweep.add(j, slot)
        self.R -= np.outer(g, self.R[j].copy())

    def quick_scores(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.R, self.R) / self._left()


class LogdetState(State):
    """Gain of j: log of the ratio of its partial variances under T = A + B and under B."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.total = total_sweep(self.pencil, problem.k)

    def add(self, j: int, slot: int) -> None:
        super().add(j, slot)
        self.total.add(j, slot)

    def quick_scores(self) -> np.ndarray:
        return np.log(np.maximum(self.total.v / self._left(), 1.0))


class LambdaState(State):
    """The largest eigenvalue: the pencil of the set, bordered by every feature."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.columns = np.empty((self.pencil.size, problem.k), order="F")

    def add(self, j: int, slot: int) -> None:
        super().add(j, slot)
        self.columns[:, slot] = self.pencil.columns_A(j)

    def quick_scores(self) -> np.ndarray:
        return self.pencil.diag_A / self.pencil.diag_B

    def best(self, candidates: np.ndarray) -> int:
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
