"""Linear limits on a set: what "at most 2 of this group" is to a search, a bound and a proof.

Every row c says that the weights a_c of the features of a set sum to no more than b_c. At most m
of a group: its members weigh 1, b = m. At least m: they weigh -1, b = -m. Whole or not at all: a
member weighs 1 and the next one -1, b = 0, round the group. Costs weigh themselves.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

# What is known of a feature.
FREE, IN, OUT = 0, 1, -1
# Sums of weights are taken for equal to a limit within this share of their size.
SLACK = 1e-12


@dataclass(frozen=True, eq=False)
class Limits:
    """Rows a_c'x <= b_c on the indicator x of a set, as a sparse matrix.

    Attributes
    ----------
    rows : csr_array of shape (m, p), float64
    most : array (m,)
    names : what every row says, in words
    wholes : groups that are taken whole or not at all, as arrays of features
    """

    rows: sparse.csr_array
    most: np.ndarray
    names: tuple[str, ...]
    wholes: tuple[np.ndarray, ...] = ()

    @property
    def size(self) -> int:
        """How many features there are."""
        return int(self.rows.shape[1])

    @cached_property
    def slack(self) -> np.ndarray:
        """What rounding may make of the sum of every row."""
        return SLACK * (np.abs(self.most) + np.asarray(abs(self.rows).sum(axis=1)).ravel())

    @cached_property
    def columns(self) -> sparse.csc_array:
        """The same matrix by columns."""
        return self.rows.tocsc()

    def row(self, c: int) -> tuple[np.ndarray, np.ndarray]:
        """The features of a row, and their weights."""
        own = slice(self.rows.indptr[c], self.rows.indptr[c + 1])
        return self.rows.indices[own].astype(np.intp), self.rows.data[own]

    def sums(self, support: Sequence[int] | np.ndarray) -> np.ndarray:
        """The weight of a set in every row."""
        part = self.columns[:, np.asarray(support, dtype=np.intp)]
        return np.asarray(part.sum(axis=1)).ravel()

    def allows(self, support: Sequence[int] | np.ndarray) -> bool:
        """Whether a set keeps all limits."""
        return self.broken(support) is None

    def broken(self, support: Sequence[int] | np.ndarray) -> str | None:
        """The first limit that a set does not keep, in words; None if it keeps all."""
        chosen = np.asarray(support, dtype=np.intp)
        suspects = np.flatnonzero(self.sums(chosen) > self.most - self.slack)
        for c in suspects.tolist():
            features, weights = self.row(c)
            if math.fsum(weights[np.isin(features, chosen)]) > self.most[c]:
                return self.names[c]
        return None

    @classmethod
    def none(cls, p: int) -> Limits:
        """No limits on p features."""
        return cls(sparse.csr_array((0, p)), np.empty(0), ())

    def exactly(self, features: np.ndarray, number: int, name: str) -> Limits:
        """With two more rows: a set has so many of these features."""
        one = np.zeros((1, self.size))
        one[0, features] = 1.0
        rows = sparse.vstack([self.rows, sparse.csr_array(np.vstack([one, -one]))], format="csr")
        most = np.append(self.most, [number, -number])
        return Limits(rows, most, (*self.names, name, name), self.wholes)

    def spread(self, places: np.ndarray, size: int) -> Limits:
        """The same for features that lie at these places among more."""
        rows = sparse.csr_array(
            (self.rows.data, places[self.rows.indices], self.rows.indptr),
            shape=(self.most.size, size),
        )
        wholes = tuple(places[group] for group in self.wholes)
        return Limits(rows, self.most, self.names, wholes)

    def take(self, index: np.ndarray) -> Limits:
        """Of some features only: no set has any of the others."""
        index = np.asarray(index, dtype=np.intp)
        place = np.full(self.size, -1)
        place[index] = np.arange(index.size)
        wholes = [place[group] for group in self.wholes]
        whole = tuple(group for group in wholes if (group >= 0).all())
        return Limits(self.columns[:, index].tocsr(), self.most, self.names, whole)

    def narrow(self, state: np.ndarray, k: int) -> np.ndarray | None:
        """The state after all that single rows decide of a set of k; None if one leaves no set."""
        state, before = state.copy(), b""
        while state.tobytes() != before:
            before = state.tobytes()
            if not all(self._narrow_by(c, state, k) for c in self._telling(state, k)):
                return None
        return state

    def _telling(self, state: np.ndarray, k: int) -> list[int]:
        """The rows that may decide something: where the sum can come near to what is allowed."""
        free, inside = (state == FREE).astype(float), (state == IN).astype(float)
        need, u = k - inside.sum(), free.sum()
        sums = self.rows @ inside + self._negative @ free
        n_negative, n_members = (self._negative != 0) @ free, (self.rows != 0) @ free
        largest = np.maximum(self._heaviest, -self._lightest)
        is_quiet = sums + largest <= self.most + self.slack
        is_quiet &= (need > n_negative) & (u - n_members > need - n_negative)
        return np.flatnonzero(~is_quiet).tolist()

    @cached_property
    def _negative(self) -> sparse.csr_array:
        return self.rows.minimum(0.0).tocsr()

    def _narrow_by(self, c: int, state: np.ndarray, k: int) -> bool:
        """Decide by one row, in place; whether it leaves a set."""
        features, weights = self.row(c)
        load = np.zeros(state.size)
        load[features] = weights
        limit = self.most[c] + self.slack[c] - float(load[state == IN].sum())
        free = np.flatnonzero(state == FREE)
        need, load = k - int(np.count_nonzero(state == IN)), load[free]
        if not 0 <= need <= free.size:
            return False
        if need in (0, free.size):
            return bool(load[:need].sum() <= limit)
        ordered = np.sort(load)
        least, last, following = float(ordered[:need].sum()), ordered[need - 1], ordered[need]
        if least > limit:
            return False
        is_light = load <= last
        state[free[~is_light & (least - last + load > limit)]] = OUT
        state[free[is_light & (least - load + following > limit)]] = IN
        return True

    def may_replace(self, support: np.ndarray, slot: int) -> np.ndarray:
        """A mask of the features that may take the slot of a set which keeps the limits."""
        leaving = self.columns[:, [int(support[slot])]].toarray().ravel()
        room = self.most + self.slack - self.sums(support) + leaving
        mask = np.ones(self.size, dtype=bool)
        for c in np.flatnonzero(room < self._heaviest).tolist():
            features, weights = self.row(c)
            if room[c] < 0.0:  # it takes a negative weight to keep this limit
                lighter = features[weights <= room[c]]
                others, mask = mask, np.zeros_like(mask)
                mask[lighter] = others[lighter]
            else:
                mask[features[weights > room[c]]] = False
        return mask

    @cached_property
    def _heaviest(self) -> np.ndarray:
        """The largest weight of every row; 0 at least, that of features outside it."""
        return np.asarray(self.rows.max(axis=1).toarray()).ravel().clip(0.0)

    @cached_property
    def _lightest(self) -> np.ndarray:
        """The least weight of every row; 0 at most."""
        return np.asarray(self.rows.min(axis=1).toarray()).ravel().clip(max=0.0)

    def charge(self, prices: np.ndarray, k: int) -> np.ndarray:
        """What every feature of a set of k pays if row c costs prices_c >= 0 for its weight.

        A set that keeps the limits gets back at least what it pays: the sum over it is never
        positive. So no allowed set scores less than its criterion, less its charges.
        """
        return np.asarray(self.rows.T @ prices).ravel() - float(prices @ self.most) / k
