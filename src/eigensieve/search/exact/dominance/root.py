"""The first look at thousands of features, B diagonal: which may be in a set above the level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....pencil.budget import Budget
from ....pencil.problem import Problem
from .rows import ROOM, Rows, decide, tune
from .start import may_join

# More features than this have no matrix in memory: its rows are made anew for every round.
HELD = 8000
# Rows that are made at a time.
STRIP = 512
# Rounds before the first look at what can be left out, between two others, and in all.
FIRST, TUNING, FIXING, MOST = 3, 10, 5, 60
# It is worth going on when this share could be left out, or the rows still get better.
WORTH = 0.05
# Weights begin with the deviations, but none below this share of the largest.
LEAST_DEVIATION = 1e-3
# A level is above what every feature scores alone by this much, relatively.
ABOVE = 1e-9
# What a round takes, per entry of the matrix, for each of k features besides, and what making it
# takes, per row of a factor, too.
WORK_OF_ROUND, WORK_OF_FEATURE = 2.0, 0.08
WORK_OF_ENTRY, WORK_OF_FACTOR = 8.0, 0.1
# So much work, a second, is done without a look at what is left.
CHEAP = 2e9
# A bound without a search takes so many rounds.
BOUNDING = 8


def row_bound(problem: Problem, value: float) -> float:
    """No set exceeds it: the largest weighted sum of a row; inf where that is not cheap, or B
    has other entries than its diagonal.

    ``value`` is that of a known set. For a matrix of correlations it is no larger than k.
    """
    pencil = problem.pencil
    if not (pencil.has_diagonal_B and pencil.in_memory):
        return np.inf
    screen = RootScreen(problem, Budget())
    if screen.work_of(BOUNDING) > CHEAP:
        return np.inf
    level = max(value, screen.highest)
    least = level + tune(screen.rows(level), screen.deviations(), BOUNDING).excess
    return least + ROOM * pencil.scale


def screen_by_rows(
    problem: Problem, support: np.ndarray, cut: float, budget: Budget
) -> tuple[float, np.ndarray]:
    """A bound on all sets, and the features that one above the cut, or the support, may hold."""
    screen = RootScreen(problem, budget)
    if screen.highest > cut:  # any set with that feature is above the cut
        return np.inf, problem.features
    screen.run(cut)
    bound = screen.bound if screen.features.size else min(screen.bound, cut)
    return bound, np.union1d(screen.features, support)


class RootScreen:
    """The rows of A, where B = I, for some of the features.

    Attributes
    ----------
    features : those that a set above the level may hold
    bound : no set exceeds it
    highest : the least level that all of them may be tested at
    """

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        self.scales = 1.0 / np.sqrt(problem.pencil.diag_B)
        self.scores = problem.pencil.diag_A * np.square(self.scales)
        self.blocks, self.needs = problem.blocks_and_needs()
        mask = may_join(problem)
        mask[problem.include] = True
        # block by block, as the test by rows wants them
        order = np.argsort(self.blocks, kind="stable")
        self.features = order[mask[order]]
        self.highest = float(self.scores[self.features].max()) + ABOVE * (problem.unit or 1.0)
        self.bound = np.inf
        self._held: np.ndarray | None = None

    def run(self, level: float) -> None:
        """Leave out what no set above the level holds; all of it, if there is no such set.

        ``level`` is no lower than the highest.
        """
        weights, n_rounds, most = self.deviations(), 0, FIRST
        while n_rounds < MOST and self._may_go_on(most + FIXING + 2):
            rows = self.rows(level)
            tuned = tune(rows, weights, most)
            n_rounds += tuned.n_rounds
            self.bound = min(self.bound, level + max(tuned.excess, 0.0))
            decision = decide(rows, tuned.weights, FIXING)
            self.budget.spend(self._work_of_rounds(tuned.n_rounds + FIXING + 2))
            keep = np.isin(self.features, self.problem.include) | ~decision.cannot
            if tuned.passes or decision.n_failing == 0:
                keep[:] = False
            weights = tuned.weights[keep]
            self._keep(keep)
            if keep.mean() > 1 - WORTH and tuned.n_rounds < most:
                break
            most = TUNING
        self.features = np.sort(self.features)

    def deviations(self) -> np.ndarray:
        """The weights to begin with: of correlations all are the same."""
        scores = self.scores[self.features]
        top = float(scores.max())
        if top <= 0.0:
            return np.ones(scores.size)
        return np.sqrt(np.maximum(scores / top, LEAST_DEVIATION**2))

    def work_of(self, n_rounds: int) -> float:
        """What so many rounds take."""
        size = self.features.size
        times = 0 if self._held is not None else 1 if size <= HELD else n_rounds
        return times * self._work_of_making() + self._work_of_rounds(n_rounds)

    def _work_of_rounds(self, n_rounds: int) -> float:
        each = WORK_OF_ROUND + WORK_OF_FEATURE * self.problem.k
        return n_rounds * each * float(self.features.size) ** 2

    def _work_of_making(self) -> float:
        pencil = self.problem.pencil
        rank = pencil.max_rank if pencil.factors else 0
        return (WORK_OF_ENTRY + WORK_OF_FACTOR * rank) * float(self.features.size) ** 2

    def _may_go_on(self, n_rounds: int) -> bool:
        """Whether so many rounds are wanted and affordable."""
        if self.features.size == 0 or self.budget.stop() is not None:
            return False
        return self.work_of(n_rounds) <= max(self.budget.work_left, CHEAP)

    def rows(self, level: float) -> Rows:
        """Those of level I - A."""
        scores = self.scores[self.features]
        starts = np.searchsorted(self.blocks[self.features], np.arange(self.needs.size + 1))
        return Rows(self._strips, level - scores, np.ones(scores.size), starts, self.needs.copy())

    def _strips(self) -> Iterator[tuple[int, np.ndarray]]:
        size = self.features.size
        if self._held is None and size <= HELD:
            self._held = np.empty((size, size))
            for first, rows in self._make():
                self._held[first : first + len(rows)] = rows
        if self._held is not None:
            yield 0, self._held
            return
        for first, rows in self._make():
            yield first, np.ascontiguousarray(rows)

    def _make(self) -> Iterator[tuple[int, np.ndarray]]:
        pencil, here = self.problem.pencil, self.features
        self.budget.spend(self._work_of_making())
        is_all = np.array_equal(here, np.arange(pencil.size))
        for first in range(0, here.size, STRIP):
            strip = here[first : first + STRIP]
            rows = pencil.columns_A(strip).T  # A is symmetric
            if not is_all:
                rows = rows[:, here]
            if not pencil.has_identity_B:
                rows = rows * self.scales[strip, None] * self.scales[here]
            yield first, rows

    def _keep(self, keep: np.ndarray) -> None:
        self.features = self.features[keep]
        if self._held is not None:
            self._held = np.ascontiguousarray(self._held[np.ix_(keep, keep)])
