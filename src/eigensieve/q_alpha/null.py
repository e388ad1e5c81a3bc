"""Which weights of Q-alpha are more than chance: features beside permuted copies of them all.

A pure-noise table gives as sparse a profile of weights as a structured one, so that the profile is
no evidence. In every run each feature is joined by a copy of itself with its samples permuted: the
same values, but nothing in common with any other feature. A feature that is noise is exchangeable
with its copy, whatever the others are, since all compete in one run. (Permuting the whole table
instead would not do: weights have unit norm, so those of a hundred relevant features are small
beside those of the two that chance favours in pure noise.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..pencil.budget import Budget
from ..tables.operators.table_rows import TableRows
from .ascent import ascend
from .options import QAlphaOptions
from .problem import make_family

BAND = (0.025, 0.5, 0.975)
LEVEL = 0.05  # the rate of false discoveries at which a feature stands out


@dataclass(frozen=True, eq=False)
class QAlphaNull:
    """The weights of permuted features.

    Attributes
    ----------
    p_values : array (n,)
        Share of the permuted features that got at least the weight of this one beside it, all runs
        together; at least 1 / (1 + n_permutations n). 1 for constant features.
    lower, median, upper : arrays (n,)
        2.5 %, 50 % and 97.5 % point, over the runs, of the largest, second largest, ... weight of a
        permuted feature; in units in which the true features have unit norm, as alpha has.
    n_permutations : how many runs were made; fewer than asked for after Ctrl-C or a time limit
    n_unfinished : in how many of them alpha was not at rest after max_iter cycles
    """

    p_values: np.ndarray
    lower: np.ndarray
    median: np.ndarray
    upper: np.ndarray
    n_permutations: int
    n_unfinished: int

    def passing(self) -> np.ndarray:
        """Mask of the features that stand out at a false discovery rate of 5 %."""
        from scipy.stats import false_discovery_control  # slow to import

        return np.asarray(false_discovery_control(self.p_values) <= LEVEL)


def compare_with_permuted(
    rows: TableRows,
    code: np.ndarray | None,
    options: QAlphaOptions,
    n_permutations: int,
    budget: Budget,
    rng: np.random.Generator,
) -> QAlphaNull | None:
    """The null of so many runs; None if time ran out within the first."""
    n = rows.n_features
    if options.eigensolver == "auto" and "single-step" in options.eigensolvers:
        options = replace(options, eigensolver="single-step")  # the same end, ten times sooner
    reached, curves, n_unfinished = np.zeros(n), [], 0
    for _ in range(n_permutations):
        both = rows.beside(rows.permuted(int(rng.integers(2**62))))
        family = make_family(both, options, code, rng)
        found = ascend(family, options, budget, rng)
        if budget.stop() is not None:
            break  # this run is not at its end, and would not be comparable
        n_unfinished += not found.converged
        real, noise = found.alpha[:n], np.sort(found.alpha[n:])
        # a constant feature has weight 0, and no copy of it could have less
        reached += np.where(real == 0.0, n, n - np.searchsorted(noise, real, side="left"))
        curves.append(noise[::-1] / max(float(np.linalg.norm(real)), 1e-300))
        budget.report("qalpha", "permutations", len(curves), total=n_permutations)
    if not curves:
        return None
    p_values = (1.0 + reached) / (1.0 + n * len(curves))
    lower, median, upper = np.quantile(curves, BAND, axis=0)
    return QAlphaNull(p_values, lower, median, upper, len(curves), n_unfinished)
