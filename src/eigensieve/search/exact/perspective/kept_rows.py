"""B of the features that survive the root: the rows of the hottest are kept, p x p is never formed.

A row is needed of a feature that gets a weight, and few ever do: those with the largest gradients
at the root. All others are priced with the rows of these. They get no weight themselves, which
makes a bound no less valid, before so few features are left that they have a matrix of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....pencil.budget import Budget
from ...target import FREE, IN, OUT
from .relaxation import WORK_OF_ENTRY, Relaxation, ScaledPencil
from .tree_kernel import COMPACT

# Rows are kept of so many features, or of so many times k if that is more.
KEPT, KEPT_PER_K = 2000, 10
# A node that needs others gets so many of its own, or so many times k.
OWN, OWN_PER_K = 500, 10
# No array has more entries (800 MB).
MAX_ENTRIES = 10**8
# Rows between two looks at the clock.
STRIP = 250


@dataclass
class KeptRows:
    """Features, the hottest first, and the rows of their B that are kept.

    Attributes
    ----------
    features : their numbers among all
    B : array (m, u), of the first m of u features
    W : array (n, u), B is W'W but for its unit diagonal; None if m = u
    """

    features: np.ndarray
    B: np.ndarray
    W: np.ndarray | None

    def of(
        self, state: np.ndarray, k: int, hot: np.ndarray, is_short: bool
    ) -> tuple[np.ndarray, np.ndarray, float]:
        """The features that a node is searched among, rows of their B, and what those cost.

        ``hot`` are features whose rows it needs at least, ``is_short`` says that some are not kept.
        """
        here = np.flatnonzero(state != OUT)
        if here.size <= COMPACT:
            return here, *self._own(here, here.size)
        at_hand = state[: len(self.B)]
        lacks = k - int(np.count_nonzero(state == IN))
        is_enough = np.count_nonzero(at_hand == FREE) > 2 * lacks
        if self.W is None or (is_enough and not is_short):
            return np.arange(state.size), self.B, 0.0
        is_first = state == IN
        is_first[hot] = state[hot] != OUT
        here = here[np.argsort(~is_first[here], kind="stable")]
        count = int(np.count_nonzero(is_first)) + max(OWN, OWN_PER_K * k)
        return here, *self._own(here, min(here.size, count))

    def _own(self, here: np.ndarray, count: int) -> tuple[np.ndarray, float]:
        """The first ``count`` rows of the features that are here."""
        work = WORK_OF_ENTRY * count * here.size
        if self.W is None:
            return self.B[np.ix_(here[:count], here)], work
        W = self.W[:, here]
        return _unit_rows(W[:, :count], W), work + work_of_products(W, count)

    def is_short(self, features: np.ndarray) -> bool:
        """Whether some of the features have no row here."""
        return bool(np.any(features >= len(self.B)))


def keep_rows(
    scaled: ScaledPencil, root: Relaxation, state: np.ndarray, k: int, budget: Budget
) -> KeptRows | None:
    """Those of the features that are not OUT; None if they are too many or a limit comes first."""
    promise = np.where(state == IN, np.inf, root.gradient)
    features = np.flatnonzero(state != OUT)
    features = features[np.argsort(-promise[features], kind="stable")]
    u, n = features.size, scaled.rank_above_D
    is_by_rows = u * n <= MAX_ENTRIES and scaled.pencil.factors is not None
    count = min(u, max(KEPT, KEPT_PER_K * k)) if is_by_rows else u
    if count * u > MAX_ENTRIES:
        return None
    W = scaled.columns(features) if is_by_rows else None
    B = np.empty((count, u))
    for first in range(0, count, STRIP):
        if budget.stop() is not None:
            return None
        strip = slice(first, min(first + STRIP, count))
        if W is None:
            B[strip] = scaled.rows(features[strip], features)
        else:
            B[strip] = _unit_rows(W[:, strip], W, first)
            budget.spend(work_of_products(W, len(B[strip])))
        budget.spend(WORK_OF_ENTRY * B[strip].size)
    return KeptRows(features, B, W if count < u else None)


def work_of_products(W: np.ndarray, count: int) -> float:
    """About the arithmetic of so many rows of W'W."""
    return 0.3 * W.size * count


def _unit_rows(some: np.ndarray, W: np.ndarray, first: int = 0) -> np.ndarray:
    """Rows of B for some columns of W, those from the first on."""
    rows = some.T @ W
    places = np.arange(some.shape[1])
    rows[places, first + places] = 1.0
    return rows
