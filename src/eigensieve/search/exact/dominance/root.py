"""The first look at thousands of features, B diagonal: which may be in a set above the level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ....pencil.budget import Budget
from ....pencil.problem import Problem
from .rows import Rows, decide, tune
from .start import may_join

# More features than this have no matrix in memory: its rows are made anew for every round.
HELD = 8000
# Rows that are made at a time.
STRIP = 512
# Rounds between two looks at what can be left out, and in all.
TUNING, FIXING, MOST = 10, 5, 60
# It is worth going on when this share could be left out, or the rows still get better.
WORTH = 0.05
WORK_OF_ROUND = 2.0


class RootScreen:
    """The rows of A, where B = I, for some of the features.

    Attributes
    ----------
    features : those that a set above the level may hold
    bound : no set exceeds it
    """

    def __init__(self, problem: Problem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        self.scales = 1.0 / np.sqrt(problem.pencil.diag_B)
        self.blocks, self.needs = problem.blocks_and_needs()
        mask = may_join(problem)
        mask[problem.include] = True
        # block by block, as the test by rows wants them
        order = np.argsort(self.blocks, kind="stable")
        self.features = order[mask[order]]
        self.bound = np.inf
        self._held: np.ndarray | None = None

    def run(self, level: float) -> None:
        """Leave out what no set above the level holds; all of it, if there is no such set."""
        weights, n_rounds = np.ones(self.features.size), 0
        while self.features.size and n_rounds < MOST and self.budget.stop() is None:
            rows = self._rows(level)
            tuned = tune(rows, weights, TUNING)
            n_rounds += tuned.n_rounds
            self.bound = min(self.bound, level + max(tuned.excess, 0.0))
            decision = decide(rows, tuned.weights, FIXING)
            work = float(rows.size) ** 2 * (tuned.n_rounds + FIXING + 2)
            self.budget.spend(WORK_OF_ROUND * work)
            keep = np.isin(self.features, self.problem.include) | ~decision.cannot
            if tuned.passes or decision.n_failing == 0:
                keep[:] = False
            weights = tuned.weights[keep]
            self._keep(keep)
            if keep.mean() > 1 - WORTH and tuned.n_rounds < TUNING:
                break
        self.features = np.sort(self.features)

    def _rows(self, level: float) -> Rows:
        scores = (self.problem.pencil.diag_A * np.square(self.scales))[self.features]
        starts = np.searchsorted(self.blocks[self.features], np.arange(self.needs.size + 1))
        return Rows(self._strips, level - scores, np.ones(scores.size), starts, self.needs.copy())

    def _strips(self) -> Iterator[tuple[int, np.ndarray]]:
        if self._held is not None:
            yield 0, self._held
            return
        if self.features.size <= HELD:
            self._held = np.concatenate([rows for _, rows in self._make()])
            yield 0, self._held
        else:
            yield from self._make()

    def _make(self) -> Iterator[tuple[int, np.ndarray]]:
        pencil, here = self.problem.pencil, self.features
        for first in range(0, here.size, STRIP):
            strip = here[first : first + STRIP]
            columns = pencil.columns_A(strip)[here] * self.scales[here, None]
            yield first, np.ascontiguousarray((columns * self.scales[strip]).T)

    def _keep(self, keep: np.ndarray) -> None:
        self.features = self.features[keep]
        if self._held is not None:
            self._held = np.ascontiguousarray(self._held[np.ix_(keep, keep)])
