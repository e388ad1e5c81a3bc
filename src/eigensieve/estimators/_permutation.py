"""What a permutation test finds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..pencil.solution import Solution


@dataclass(frozen=True, eq=False)
class PermutationTest:
    """Whether the components are more than chance, search included.

    `eigensieve.SparseCCA.permutation_test` returns it.

    Attributes
    ----------
    p_values : array (n_components,), never falling from one component to the next
        Never below 1 / (1 + n_permutations).
    statistics : array (n_components,)
        What the search maximises, for each component of the data as they are.
    null : array (n_permutations,)
        The same for the first component, found anew with the rows of Y permuted.
    """

    p_values: np.ndarray
    statistics: np.ndarray
    null: np.ndarray

    @classmethod
    def of(cls, found: Sequence[Solution], null: Sequence[Solution]) -> PermutationTest:
        """Every component against the first ones of permuted data."""
        statistics = np.array([s.objective for s in found])
        chance = np.array([s.objective for s in null])
        # equal up to round-off counts as reached: on the safe side
        reached = chance >= statistics[:, None] - 1e-9 * np.abs(statistics[:, None])
        p_values = (1 + reached.sum(axis=1)) / (1 + chance.size)
        return cls(np.maximum.accumulate(p_values), statistics, chance)
