"""B of the features that survive the root: the rows of the hottest are kept, p x p is never formed.

A row is needed of a feature that gets a weight, and few ever do: at first those with the largest
gradients at the root, more of them as nodes ask for more. All others are priced with the rows of
these; that they get no weight makes a bound no less valid. Where few features are left a node has a
matrix of its own.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....pencil.budget import Budget
from ...target import FREE, IN, OUT
from .relaxation import WORK_OF_ENTRY, Relaxation
from .scaled_pencil import ScaledPencil
from .tree_kernel import COMPACT

# Rows of so many features are kept at first, or of so many times k if that is more.
FIRST, FIRST_PER_K = 500, 10
# No array has more entries (800 MB).
MAX_ENTRIES = 10**8
# Rows between two looks at the clock.
STRIP = 250
# Threads of a worker that share one object: see `KeptRows.grow`.
GROWING = threading.Lock()


@dataclass
class KeptRows:
    """Features, the hottest first, and the rows of their B that are kept.

    What a node sees of them depends on the node alone, not on how many there are already.

    Attributes
    ----------
    features : their numbers among all
    first : how many rows every node sees
    B : array (m, u), of the first m of u features; those that are not known yet take no memory
    W : array (n, u), B is W'W but for its unit diagonal; None if B is whole
    n_known : how many rows of B are known
    """

    features: np.ndarray
    first: int
    B: np.ndarray
    W: np.ndarray | None
    n_known: int

    def __getstate__(self) -> dict[str, Any]:
        return {**vars(self), "B": self.B[: self.n_known]}

    def needed(self, state: np.ndarray, k: int, weighty: np.ndarray) -> int:
        """How many rows a node is to see if some features are to have a weight; 0: its own."""
        u = self.features.size
        if self.W is None:
            return u
        rows, last = self.first, int(weighty.max(initial=0))
        lacks = k - int(np.count_nonzero(state == IN))
        while rows < u and (last >= rows or np.count_nonzero(state[:rows] == FREE) <= 2 * lacks):
            rows = min(2 * rows, u)
        return rows if rows <= _room_for(u) else 0

    def grow(self, count: int, budget: Budget | None = None) -> None:
        """Keep so many rows at least."""
        with GROWING:
            m = self.n_known
            if count <= m:
                return
            assert self.W is not None
            if len(self.B) < count:  # it has come here from elsewhere
                B = np.empty((_room_for(self.features.size), self.features.size))
                B[:m], self.B = self.B, B
            new = self.B[m:count]
            _write_rows(self.W[:, m:count], self.W, new, m)
            self.n_known = count
        if budget is not None:
            budget.spend(_work_of(new.size, self.W))

    def work_to_keep(self, count: int) -> float:
        """About the arithmetic of keeping so many rows."""
        new = max(count - self.n_known, 0) * self.features.size
        return 0.0 if self.W is None else _work_of(new, self.W)

    def of(
        self, state: np.ndarray, k: int, hot: np.ndarray, rows: int
    ) -> tuple[np.ndarray | None, np.ndarray, float]:
        """The features that a node is searched among (None: all), rows of their B, and their cost.

        ``rows`` are as many as `needed` says; if these are too many it gets those of ``hot`` and
        some more.
        """
        here = np.flatnonzero(state != OUT)
        if here.size <= COMPACT:
            return here, *self._own(here, here.size)
        if rows:
            self.grow(rows)
            return None, self.B[:rows], 0.0
        is_first = state == IN
        is_first[hot] = state[hot] != OUT
        here = here[np.argsort(~is_first[here], kind="stable")]
        count = int(np.count_nonzero(is_first)) + self.first
        return here, *self._own(here, min(here.size, count))

    def _own(self, here: np.ndarray, count: int) -> tuple[np.ndarray, float]:
        """The first ``count`` rows of the features that are here."""
        if self.W is None:
            part = self.B[np.ix_(here[:count], here)]
            return part, WORK_OF_ENTRY * part.size
        W, part = self.W[:, here], np.empty((count, here.size))
        _write_rows(W[:, :count], W, part, 0)
        return part, _work_of(part.size, W)


def keep_rows(
    scaled: ScaledPencil, root: Relaxation, state: np.ndarray, k: int, budget: Budget
) -> KeptRows | None:
    """Those of the features that are not OUT; None if they are too many or a limit comes first."""
    promise = np.where(state == IN, np.inf, root.gradient)
    features = np.flatnonzero(state != OUT)
    features = features[np.argsort(-promise[features], kind="stable")]
    u, first = features.size, min(features.size, max(FIRST, FIRST_PER_K * k))
    if first < u and scaled.pencil.factors is not None and u * scaled.rank_above_D <= MAX_ENTRIES:
        W = scaled.columns(features)
        if first > _room_for(u) or budget.stop() is not None:
            return None
        kept = KeptRows(features, first, np.empty((_room_for(u), u)), W, 0)
        kept.grow(first, budget)
        return kept
    return _all_rows(scaled, features, budget) if u * u <= MAX_ENTRIES else None


def _all_rows(scaled: ScaledPencil, features: np.ndarray, budget: Budget) -> KeptRows | None:
    u = features.size
    B = np.empty((u, u))
    for first in range(0, u, STRIP):
        if budget.stop() is not None:
            return None
        strip = slice(first, first + STRIP)
        B[strip] = scaled.rows(features[strip], features)
        budget.spend(WORK_OF_ENTRY * B[strip].size)
    return KeptRows(features, u, B, None, u)


def _room_for(size: int) -> int:
    """How many rows of so many features may be kept."""
    return min(size, MAX_ENTRIES // size)


def _work_of(n_entries: int, W: np.ndarray) -> float:
    """About the arithmetic of so many entries of W'W."""
    return n_entries * (WORK_OF_ENTRY + 0.3 * len(W))


def _write_rows(some: np.ndarray, W: np.ndarray, rows: np.ndarray, first: int) -> None:
    """The rows of B for some columns of W, those from the first on."""
    np.matmul(some.T, W, out=rows)
    places = np.arange(len(rows))
    rows[places, first + places] = 1.0
