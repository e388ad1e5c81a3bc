"""The sets of a list as a tree of a proof meets them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..target import FREE, IN, OUT


@dataclass(frozen=True, eq=False)
class Members:
    """Listed sets (rows, by the features of a tree), their numbers in the list, their scores."""

    sets: np.ndarray
    numbers: np.ndarray
    scores: np.ndarray

    @classmethod
    def none(cls) -> Members:
        return cls(np.empty((0, 0), dtype=np.intp), np.empty(0, dtype=np.intp), np.empty(0))

    @property
    def size(self) -> int:
        return int(self.numbers.size)

    def among(self, features: np.ndarray, size: int) -> Members:
        """Those that have only some of ``size`` features, by the places of these."""
        place = np.full(size, -1)
        place[features] = np.arange(features.size)
        sets = place[self.sets]
        here = (sets >= 0).all(axis=1)
        return Members(sets[here], self.numbers[here], self.scores[here])

    def inside(self, state: np.ndarray) -> Members:
        """Those of a node."""
        if not self.size:
            return self
        states = state[self.sets]
        n_in = np.count_nonzero(state == IN)
        here = (states != OUT).all(axis=1) & (np.count_nonzero(states == IN, axis=1) == n_in)
        return Members(self.sets[here], self.numbers[here], self.scores[here])

    def are_all(self, state: np.ndarray, need: int) -> bool:
        """Whether the node has no other set, if it needs so many more features."""
        n_free = int(np.count_nonzero(state == FREE))
        return self.size > 0 and self.size == math.comb(n_free, need)

    def counts(self, size: int) -> np.ndarray:
        """How many of the sets every one of so many features is in."""
        return np.bincount(self.sets.ravel(), minlength=size)
