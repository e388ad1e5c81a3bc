"""Where a search for the largest eigenvalue starts from."""

from __future__ import annotations

from itertools import chain

import numpy as np

from ...pencil.budget import Budget
from ...pencil.problem import Problem
from ..greedy.start import best_of, find_start, resize
from ..moves import starting_supports
from .level import LevelTree
from .start_kernel import climb
from .tree import SearchOptions

# Up to this many features all starts are tried with the compiled local search.
CLIMB_LIMIT = 200
N_STARTS = 15
# With more, so many are.
WIDE_STARTS = 4


def find_level_start(
    problem: Problem, budget: Budget, tree: LevelTree | None, options: SearchOptions
) -> np.ndarray:
    """The best set that local search finds; ``tree`` is that of all features, if there is one."""
    given, n_starts, random_state = options.start, options.n_starts, options.random_state
    # its exchanges know blocks, but no other limits
    if tree is not None and problem.limits is None and problem.pencil.size <= CLIMB_LIMIT:
        n_starts = N_STARTS if n_starts is None else n_starts
        rng = np.random.default_rng(random_state)
        first = resize(problem, np.asarray(() if given is None else given, dtype=np.intp))
        others = starting_supports(problem, n_starts, rng, budget)
        return best_of(problem, budget, (climb_in(tree, S) for S in chain([first], others)))
    return find_start(
        problem,
        budget,
        tree.name if tree else "exact",
        given=given,
        n_starts=WIDE_STARTS if n_starts is None else n_starts,
        random_state=random_state,
    )


def climb_in(tree: LevelTree, support: np.ndarray) -> np.ndarray:
    """The set that exchanges lead to."""
    movable = ~np.isin(tree.features, tree.problem.include)
    places = np.searchsorted(tree.features, support)
    return tree.features[climb(tree.A, tree.B, tree.blocks, places, movable)[0]]
