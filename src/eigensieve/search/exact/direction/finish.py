"""The end of a branch: few enough undecided features for a search without directions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....pencil.criteria import surely_below
from ..levelset.levelset import WORK_CUBED, WORK_SQUARED, LevelsetProblem
from ..levelset.search_kernel import search_below
from .part import Ground

# Nodes that it visits before others have their turn.
CHUNK = 100


class Audit(NamedTuple):
    """Where closed subproblems are counted, see search/exact/coverage.py."""

    counts: np.ndarray
    strides: np.ndarray


class Finish(NamedTuple):
    """What came of it: nodes visited, states left open, a better set or none, the cut."""

    n_nodes: int
    open: np.ndarray
    members: np.ndarray
    cut: float


def finish(ground: Ground, state: np.ndarray, cut: float, step: float, audit: Audit) -> Finish:
    """Look below a state for sets above the cut; a better set raises it to its value + step."""
    A = ground.H.T @ ground.H
    unit = float(np.diag(A).max()) or 1.0
    block, need = np.zeros(state.size, dtype=np.int64), np.array([ground.k], dtype=np.int64)
    doubt = np.array([-np.inf])
    reach = np.full(state.size, 1.0 / max(surely_below(ground.B), float(ground.D.min())))
    problem = LevelsetProblem(A / unit, ground.B, reach, doubt, block, need, *audit)
    n_nodes, states, best, level = search_below(problem, cut / unit, step / unit, state, CHUNK)
    ground.work[0] += n_nodes * state.size**2 * (WORK_CUBED * state.size + WORK_SQUARED)
    cut = max(cut, float(doubt[0]) * unit)
    return Finish(n_nodes, states, best, max(cut, level * unit) if best.size else cut)
