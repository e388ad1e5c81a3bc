"""Exactly k features from a method that has a penalty instead: bisection and a cut."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .budget import Budget
from .moves import top_k
from .problem import Problem

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
    best, best_rho, fewest = None, 0.0, problem.pencil.size + 1
    low, high = SMALLEST * largest, largest
    rho, steps = largest / FACTOR, 0
    while steps < HALVINGS and rho >= SMALLEST * largest and budget.stop() is None:
        x = run(rho)
        count = np.count_nonzero(x)
        if is_enough(problem, x):
            low = rho
            if count < fewest:
                best, best_rho, fewest = x, rho, count
            if count == problem.k:
                break
        else:
            high = rho
        if best is None:
            rho = high / FACTOR
        else:
            rho, steps = float(np.sqrt(low * high)), steps + 1
    return best, best_rho


def is_enough(problem: Problem, x: np.ndarray) -> bool:
    """Whether a set of k features, with the quotas, can be cut out of the non-zeros."""
    support = np.flatnonzero(x)
    if problem.quota is None:
        return support.size >= problem.k
    assert problem.pencil.blocks is not None
    counts = np.bincount(problem.pencil.blocks[support], minlength=max(problem.quota) + 1)
    return all(counts[block] >= need for block, need in problem.quota.items())


def cut(problem: Problem, x: np.ndarray) -> np.ndarray:
    """The k features with the largest entries; where x has too few, the best alone fill up."""
    pencil = problem.pencil
    size = np.abs(x) * np.sqrt(pencil.diag_B)
    alone = pencil.diag_A / pencil.diag_B
    alone = alone / max(float(np.abs(alone).max(initial=0.0)), np.finfo(float).tiny)
    return top_k(problem, np.where(x != 0, size, alone - 2.0))
