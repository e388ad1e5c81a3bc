"""What searches at a level have in common: N = level * B - A, scaled, and their root.

No set exceeds the level exactly if N is positive semidefinite on every set.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...pencil.budget import Budget
from ...pencil.criteria import EPS, spd_inverse, surely_below
from ...pencil.limits import Limits
from ...pencil.pencil import Pencil
from ...pencil.problem import Problem
from ..target import FREE, start_state
from .coverage import CoverageCount
from .tree import Node


class LevelTree:
    """The pencil of some features with diag(B) = 1 and max |A| = 1; a subclass has `expand`.

    ``least_B`` is the smallest eigenvalue of B, ``reach`` the diagonal of B^-1: x_j^2 is at most
    reach[j] x'Bx.
    """

    name: str
    # raised when the search is to end, for nodes that take long
    stop = np.zeros(1, dtype=np.int8)
    # whether all sets above the level are wanted; what sets must keep
    lists = False
    limits: Limits | None = None

    def __init__(self, problem: Problem, features: np.ndarray) -> None:
        self.features = features
        self.problem = problem
        blocks, self.need = problem.blocks_and_needs()
        self.blocks = blocks[features]
        small = problem.pencil.restrict(features)
        d = 1.0 / np.sqrt(small.diag_B)
        self.unit = problem.pencil.scale or 1.0
        self.A = small.A * np.outer(d, d) / self.unit
        self.B = small.B * np.outer(d, d)
        self.least_B = _least(problem.pencil, self.B)
        self.reach = _reach(problem.pencil, self.B, self.least_B)

    @property
    def goes_through(self) -> bool:
        """Whether a part of a set that exceeds the level is not enough: all sets are to be met, or
        not every completion is allowed.
        """
        return self.lists or self.limits is not None

    def roots(self, coverage: CoverageCount) -> list[Node]:
        state = start_state(self.problem)[self.features]
        self.strides = coverage.strides
        left = np.bincount(self.blocks[state == FREE], minlength=self.need.size)
        coverage.close(coverage.sizes, coverage.needs)
        coverage.close(left, coverage.needs, -1)
        return [Node(np.inf, state)]

    def prepare(self, nodes: Sequence[Node], budget: Budget) -> None:
        """Nothing: every node brings what it needs."""

    def __getstate__(self) -> dict[str, Any]:
        """What `expand` needs, without the problem, which may be much larger."""
        return {name: value for name, value in vars(self).items() if name != "problem"}


def _least(pencil: Pencil, B: np.ndarray) -> float:
    """No eigenvalue of B, which has a unit diagonal, is smaller."""
    return 1.0 if pencil.has_diagonal_B else max(surely_below(B), pencil.least_B)


def _reach(pencil: Pencil, B: np.ndarray, least: float) -> np.ndarray:
    """No diagonal entry of B^-1 is larger; B has a unit diagonal. With A = 0 none counts."""
    if pencil.scale == 0 or pencil.has_diagonal_B:
        return np.full(len(B), float(pencil.scale != 0))
    error = 8 * len(B) * EPS / least
    if error > 0.5:
        return np.full(len(B), 1.0 / least)
    return np.asarray(np.diag(spd_inverse(B)) / (1.0 - error))
