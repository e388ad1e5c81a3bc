"""A forward pass that visits only what limits on groups and costs let it complete."""

from __future__ import annotations

import numpy as np

from ...pencil.budget import Budget
from ...pencil.limits import FREE, IN, OUT
from ...pencil.problem import Problem
from ...tables.kinds.arrays import to_numpy
from ..moves import eigenvector_scores
from ..secular import first_max
from .forward import State, make_state

# Single features that score less than this, in units of the pencil, score nothing.
NOTHING = 1e-12


def grow(problem: Problem, state: np.ndarray, budget: Budget) -> np.ndarray:
    """What is IN, and the best FREE features one by one, each with all that follows from it.

    Fewer than k features come back where time or, in a dead end that no single rule foresees, the
    features ran out.
    """
    limits, k, scores = problem.all_limits, problem.k, make_state(problem)
    order: list[int] = []
    decided = limits.narrow(state, k)
    while decided is not None:
        for j in np.setdiff1d(np.flatnonzero(decided == IN), order).tolist():
            scores.add(j, len(order))
            order.append(j)
        free = np.flatnonzero(decided == FREE)
        if len(order) == k or free.size == 0 or budget.stop() is not None:
            break
        best = scores.best(free) if order else _first(problem, scores, free)
        before, decided = decided, None
        for decision in (IN, OUT):
            if decided is None:
                before[best] = decision
                decided = limits.narrow(before, k)
    return np.sort(np.array(order, dtype=np.intp))


def _first(problem: Problem, scores: State, free: np.ndarray) -> int:
    """The best single feature; where none scores alone (CCA), by the eigenvectors."""
    alone = to_numpy(scores.single_scores())[free]
    if float(alone.max()) <= NOTHING * problem.pencil.scale:
        alone = eigenvector_scores(problem)[free]
    return int(free[first_max(alone)])
