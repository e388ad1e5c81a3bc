"""Other sets as good as the selected one, and how stable each of them is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..pencil.solution import Solution, Status, relative_gap
from ..search.near_optimal.near_optimal import near_optimal
from ..search.near_optimal.sets import NearOptimalSets
from .optimality import Judge

WITHIN = 0.01
MAX_SETS = 200
MAX_FEATURES = 100  # of larger sets a list says little
EFFORT = 1.0  # about a second, counted in arithmetic


def list_near_optimal(
    judge: Judge,
    solution: Solution,
    names: Sequence[str],
    within: float = WITHIN,
    max_sets: int = MAX_SETS,
    n_jobs: int | None = None,
) -> NearOptimalSets | None:
    """The sets within a share of the best one, as far as a second goes.

    None where the method seeks something else, and where there is nothing to choose from.
    """
    n_free = judge.pencil.size - len(judge.exclude)
    if judge.settings is None or not 0 < solution.objective < np.inf:
        return None
    if solution.k in (n_free, len(judge.include)) or solution.k > MAX_FEATURES:
        return None
    found = near_optimal(
        judge.pencil, solution.k, within, max_sets, effort=EFFORT, n_jobs=n_jobs, names=names,
        **judge.asked,
    )  # fmt: skip
    return with_known_bound(found, solution)


def with_known_bound(found: NearOptimalSets, solution: Solution) -> NearOptimalSets:
    """The same list, with what a longer search has proved of the same problem.

    A list that is not complete may not have the proof that its first set is the best one.
    """
    if found.is_complete or not solution.is_certified:
        return found
    best = found.best
    if best.objective <= solution.objective:
        best = replace(best, bound=min(best.bound, solution.bound), status=solution.status)
    return replace(found, best=best, bound=min(found.bound, best.objective))


def with_bound_of(found: NearOptimalSets, solution: Solution) -> Solution:
    """A solution of the same problem, with what the list has proved of the best set."""
    bound = max(min(solution.bound, found.best.bound), solution.objective)
    gap = relative_gap(solution.objective, bound, solution.scale)
    status = Status.OPTIMAL if gap <= solution.gap_tol else solution.status
    return replace(solution, bound=bound, status=status)


def stability_of_sets(sets: np.ndarray, frequency: np.ndarray) -> np.ndarray:
    """Of every set (row): the mean, over its features, of how often they were selected.

    Parameters
    ----------
    sets : array (n_sets, k) of features
    frequency : array (n_features,)
        The share of the training parts in which a feature was selected at this k.
    """
    return np.asarray(frequency[sets].mean(axis=1))
