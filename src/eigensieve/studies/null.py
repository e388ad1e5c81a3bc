"""What the whole recipe would find if the labels meant nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .cv_path import make_path
from .jobs import Findings, Job
from .plan import StudyPlan

SAME = 1e-12  # errors that differ by less are equal: they are sums of fractions


@dataclass(frozen=True, eq=False)
class PermutationNull:
    """The cross-validated error of the recipe, for the labels and for permuted ones.

    Attributes
    ----------
    observed : float
        The error at the k that the recipe chooses, in one cross-validation. The choice makes it
        a little kind, for the permuted labels as well: that is why the comparison is fair.
    errors : array (n_permutations,)
    p_value : float
        (1 + number of permutations that are as good) / (1 + number of permutations); so 20
        permutations give .0476 at best.
    """

    observed: float
    errors: np.ndarray

    @property
    def n_permutations(self) -> int:
        """How many times the labels were permuted."""
        return int(self.errors.size)

    @property
    def n_as_good(self) -> int:
        """How many of them were predicted as well as the labels."""
        return int(np.sum(self.errors <= self.observed + SAME))

    @property
    def p_value(self) -> float:
        """Small if permuted labels are hardly ever predicted as well."""
        return (1 + self.n_as_good) / (1 + self.n_permutations)


def permutation_null(
    observed: Sequence[Job],
    permuted: Sequence[Sequence[Job]],
    found: Mapping[str, Findings],
    plan: StudyPlan,
) -> PermutationNull:
    """The same cross-validation and the same choice, for the labels and for every permutation."""

    def error(jobs: Sequence[Job]) -> float:
        path = make_path([[(job, found[job.key]) for job in jobs]], plan)
        return float(path.mean[path.choose(plan.k)])

    return PermutationNull(error(observed), np.array([error(jobs) for jobs in permuted]))
