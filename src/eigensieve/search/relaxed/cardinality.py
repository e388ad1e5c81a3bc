"""Exactly k features from a method that has a penalty instead: bisection and a cut."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...pencil.budget import Budget
from ...pencil.criteria import TINY
from ...pencil.problem import Problem
from ..moves import top_k

# Penalties are sought between this share of the largest and the largest.
SMALLEST = 1e-8
# Steps down from the largest by this factor find a penalty that is small enough ...
FACTOR = 4.0
# ... and so many halvings of its logarithm the right one.
HALVINGS = 20

Run = Callable[[float], np.ndarray]


def find_penalty(
    problem: Problem, run: Run, largest: float, budget: Budget
) -> tuple[np.ndarray | None, float]:
    """The sparsest vector with enough non-zeros, and the penalty that gave it.

    Parameters
    ----------
    run : function penalty -> x (p,); a larger penalty gives fewer non-zeros, as a rule
    largest : the penalty that leaves nothing

    Returns
    -------
    x or None (no penalty left enough), rho. Enough means k, in every block its quota; a vector
    with just as many ends the search.
    """
    best: np.ndarray | None = None
    best_rho, fewest = 0.0, problem.pencil.size + 1
    low, high, halvings = 0.0, largest, 0
    while halvings < HALVINGS and high > SMALLEST * largest and budget.stop() is None:
        if best is None:
            rho = high / FACTOR
        else:
            rho, halvings = float(np.sqrt(low * high)), halvings + 1
        x = run(rho)
        count = int(np.count_nonzero(x))
        if not is_enough(problem, x):
            high = rho
            continue
        low = rho
        if count < fewest:
            best, best_rho, fewest = x, rho, count
        if count == problem.k:
            break
    return best, best_rho


def is_enough(problem: Problem, x: np.ndarray) -> bool:
    """Whether a set of k features, with the quotas, can be cut out of the non-zeros."""
    support = np.flatnonzero(x)
    if problem.quota is None:
        return support.size >= problem.k
    return bool(np.all(problem.lacks(support) <= 0))


def cut(problem: Problem, x: np.ndarray) -> np.ndarray:
    """The k features with the largest entries; where x has too few, the best alone fill up."""
    pencil = problem.pencil
    size = np.abs(x) * np.sqrt(pencil.diag_B)
    alone = pencil.diag_A / pencil.diag_B
    alone = alone / max(float(np.abs(alone).max(initial=0.0)), TINY)
    return top_k(problem, np.where(x != 0, size, alone - 2.0))
