"""The end of a branch: few enough features for a search that knows nothing of directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....pencil.criteria import EPS, spd_inverse, surely_below
from ..levelset.levelset import WORK_CUBED, WORK_SQUARED, LevelsetProblem
from ..levelset.search_kernel import search_below

# Nodes of it in one go.
CHUNK = 100


class Finish(NamedTuple):
    """What came of it: nodes, states left open, a set above the cut or nothing, cut and work."""

    n_nodes: int
    open: np.ndarray
    members: np.ndarray
    cut: float
    work: float


def finish(
    A: np.ndarray, B: np.ndarray, state: np.ndarray, need: int, level: tuple[float, float],
    counts: np.ndarray, strides: np.ndarray,
) -> Finish:  # fmt: skip
    """Look below a state for sets of which (A, B) has a larger eigenvalue than the level.

    B has a unit diagonal. ``level`` is the cut, and what is added to the value of a better set;
    ``need`` counts all features of a set, those that are IN among them.
    """
    unit = float(np.abs(A).max()) or 1.0
    least = surely_below(B)
    reach = np.full(len(B), np.inf)
    if 8 * len(B) * EPS < 0.5 * least:
        reach = np.diag(spd_inverse(B)) / (1.0 - 8 * len(B) * EPS / least)
    doubt = np.array([-np.inf])
    block, needs = np.zeros(len(B), dtype=np.int64), np.array([need], dtype=np.int64)
    problem = LevelsetProblem(A / unit, B, reach, doubt, block, needs, counts, strides)
    n_nodes, states, best, reached = search_below(
        problem, level[0] / unit, level[1] / unit, state, CHUNK
    )
    cut = max(level[0], float(doubt[0]) * unit)
    if best.size:
        cut = max(cut, reached * unit)
    work = n_nodes * float(len(B)) ** 2 * (WORK_CUBED * len(B) + WORK_SQUARED)
    return Finish(n_nodes, states, best, cut, work)
