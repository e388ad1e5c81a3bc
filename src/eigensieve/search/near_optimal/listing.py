"""What a tree search is told when all sets near the best are wanted: another cut, and a list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...pencil.problem import Problem
from ..score_sets import score_sets
from ..target import IN, OUT, Target
from .sets import TIE

# The list may grow beyond what is wanted by this many and this share before it is cut.
MORE_SETS, MORE_SHARE = 500, 0.25
# Sets this far below the threshold, in units of ties, are met too: scores from scratch decide.
ROOM = 2.0


class ListTarget(Target):
    """Sets whose score is within a share of the best one's, the best ``max_sets`` of them.

    Attributes
    ----------
    best : the highest score that was seen
    level : sets that score less are not looked for: the threshold, or where the list is cut
    sets, scores : the list, by the problem's indices, not sorted
    may_hold, holds : masks of the features that a set above ``known`` may have, or has, for all
        that the search can say
    known : the level of the search that said so
    """

    def __init__(
        self, problem: Problem, gap_tol: float, within: float, max_sets: int, best: float
    ) -> None:
        super().__init__(problem, gap_tol)
        self.within, self.max_sets, self.best = within, max_sets, best
        self.dropped = -np.inf
        self.sets, self.scores = np.empty((0, problem.k), dtype=np.intp), np.empty(0)
        self._new: list[tuple[np.ndarray, np.ndarray]] = []
        self._n_new = 0
        p = problem.pencil.size
        self.may_hold, self.holds = np.ones(p, dtype=bool), np.zeros(p, dtype=bool)
        self.known = self.level

    def aim(self, within: float) -> None:
        """Look for the sets within another share of the best; those that are listed stay."""
        if not self.is_cut:  # the best rose above what was dropped; it is met again
            self.dropped = -np.inf
        self.within = within

    @property
    def is_cut(self) -> bool:
        """Whether the list had to be cut: sets that reach the threshold are not in it."""
        return self.dropped >= self.threshold - self.tie

    @property
    def lists(self) -> bool:
        return True

    @property
    def tie(self) -> float:
        """So near to each other scores are equal; any number where no set scores anything."""
        return TIE * (max(abs(self.best), self.asked.unit) or 1.0)

    @property
    def threshold(self) -> float:
        return self.best - self.within * abs(self.best)

    @property
    def level(self) -> float:
        return max(self.threshold, self.dropped)

    @property
    def least(self) -> float:
        """The least score that is listed: round-off below the level counts as a tie."""
        return self.level - self.tie

    def cut(self, value: float) -> float:
        self.best = max(self.best, self.outward(value))
        return self.inward(self.level - ROOM * self.tie)

    def collect(self, sets: np.ndarray) -> None:
        if len(sets) == 0:
            return
        scores = score_sets(self.asked, sets)
        self.best = max(self.best, float(scores.max()))
        keep = scores >= self.least
        self._new.append((sets[keep], scores[keep]))
        self._n_new += int(np.count_nonzero(keep))
        if self._n_new > max(MORE_SETS, MORE_SHARE * self.max_sets):
            self.trim()

    def trim(self) -> None:
        """Keep what reaches the level, and of that the best."""
        self.sets = np.concatenate([self.sets, *(sets for sets, _ in self._new)])
        self.scores = np.concatenate([self.scores, *(scores for _, scores in self._new)])
        self._new, self._n_new = [], 0
        _, first = np.unique(self.sets, axis=0, return_index=True)  # another run meets them again
        keep = first[self.scores[first] >= self.least]
        self.sets, self.scores = self.sets[keep], self.scores[keep]
        if self.scores.size > self.max_sets:
            order = self.order()
            rest, order = order[self.max_sets :], order[: self.max_sets]
            self.dropped = max(self.dropped, float(self.scores[rest].max()))
            self.sets, self.scores = self.sets[order], self.scores[order]

    def order(self) -> np.ndarray:
        """The places of the list, the best set first; of equals the first by its indices."""
        rounded = np.round(self.scores / self.tie)
        return np.lexsort((*self.sets.T[::-1], -rounded))

    def end(self, features: np.ndarray, states: Sequence[np.ndarray]) -> None:
        self.trim()
        counts = np.bincount(self.sets.ravel(), minlength=self.may_hold.size)
        self.may_hold, self.holds = counts > 0, counts == len(self.sets)
        for state in states:
            self.may_hold[features[state != OUT]] = True
            held = np.zeros_like(self.holds)
            held[features[state == IN]] = True
            self.holds &= held
        # sets that tie with those that were dropped are not known
        self.known = self.level + self.tie if self.is_cut else self.level
        if self.known > self.best:  # no set is above it
            self.may_hold[:], self.holds[:] = True, False
