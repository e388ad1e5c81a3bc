"""The audit of a branch and bound: how many sets there are below what was closed."""

from __future__ import annotations

import math

import numpy as np

from ...errors import VerificationError
from ...pencil.problem import Problem


class CoverageCount:
    """The coverage audit: closed leaves and fixings must add up to all the sets there are."""

    def __init__(self, problem: Problem, wanted: bool) -> None:
        self.blocks, needs = problem.blocks_and_needs()
        free = np.ones(problem.pencil.size, dtype=bool)
        free[problem.include] = False
        self.needs = needs - np.bincount(self.blocks[problem.include], minlength=needs.size)
        self.sizes = np.bincount(self.blocks[free], minlength=needs.size)
        self.strides = coverage_strides(self.sizes, self.needs)
        length = int(np.prod((self.sizes + 1) * (self.needs + 1)))
        self.counts = np.zeros(length if wanted else 0, dtype=np.int64)

    def blank(self) -> np.ndarray:
        """Counts for one expansion."""
        return np.zeros_like(self.counts)

    def close(self, sizes: np.ndarray, needs: np.ndarray, amount: int = 1) -> None:
        """Count a subproblem as closed (or, -1, as what is left of a larger one)."""
        record_closed(self.counts, self.strides, sizes, needs, amount)

    def check(self, open_nodes: list[tuple[np.ndarray, np.ndarray]]) -> None:
        """Raise unless the closed and the open subproblems cover every set exactly once."""
        if not self.counts.size:
            return
        total = sum(_count_sets(u, need) for u, need in open_nodes)
        shape = [n for pair in zip(self.sizes + 1, self.needs + 1) for n in pair]
        for code in np.flatnonzero(self.counts):
            place = np.array(np.unravel_index(code, shape))
            total += int(self.counts[code]) * _count_sets(place[::2], place[1::2])
        everything = _count_sets(self.sizes, self.needs)
        if total != everything:
            raise VerificationError(f"the search covered {total} sets of {everything}")


def record_closed(
    counts: np.ndarray, strides: np.ndarray, sizes: np.ndarray, needs: np.ndarray, amount: int
) -> None:
    """As in coverage_kernel.pxd."""
    if counts.size:
        counts[int(strides[:, 0] @ sizes + strides[:, 1] @ needs)] += amount


def coverage_strides(sizes: np.ndarray, needs: np.ndarray) -> np.ndarray:
    """Row-major strides of the audit's table: one pair of axes (size, need) per block."""
    strides = np.ones((sizes.size, 2), dtype=np.int64)
    step = 1
    for b in reversed(range(sizes.size)):
        strides[b] = step * (needs[b] + 1), step
        step *= int((sizes[b] + 1) * (needs[b] + 1))
    return strides


def _count_sets(sizes: np.ndarray, needs: np.ndarray) -> int:
    return math.prod(math.comb(int(u), int(need)) for u, need in zip(sizes, needs))
