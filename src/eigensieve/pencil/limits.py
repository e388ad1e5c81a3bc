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
        sizes = np.abs(self.most) + np.asarray(abs(self.rows).sum(axis=1)).ravel()
        return np.asarray(SLACK * sizes)

    @cached_property
    def columns(self) -> sparse.csc_array:
        """The same matrix by columns."""
        return self.rows.tocsc()

    @cached_property
    def largest(self) -> np.ndarray:
        """The largest weight of every row by size; 1 where there is none."""
        sizes = np.asarray(abs(self.rows).max(axis=1).toarray()).ravel()
        return np.where(sizes > 0.0, sizes, 1.0)

    def row(self, c: int) -> tuple[np.ndarray, np.ndarray]:
        """The features of a row, and their weights."""
        own = slice(self.rows.indptr[c], self.rows.indptr[c + 1])
        return self.rows.indices[own].astype(np.intp), self.rows.data[own]

    def sums(self, support: Sequence[int] | np.ndarray) -> np.ndarray:
        """The weight of a set in every row."""
        columns, m = self.columns, self.most.size
        parts = [slice(*columns.indptr[j : j + 2]) for j in np.asarray(support, np.intp).tolist()]
        if not parts:
            return np.zeros(m)
        rows = np.concatenate([columns.indices[own] for own in parts])
        return np.bincount(rows, np.concatenate([columns.data[own] for own in parts]), m)

    def allows(self, support: Sequence[int] | np.ndarray) -> bool:
        """Whether a set keeps all limits."""
        return self.broken(support) is None

    def allows_each(self, sets: np.ndarray) -> np.ndarray:
        """The same for many sets of equal size, the rows of an array."""
        marks = np.zeros((len(sets), self.size))
        np.put_along_axis(marks, sets, 1.0, axis=1)
        over = np.asarray(self.rows @ marks.T).T - self.most
        mask = ~(over > self.slack).any(axis=1)
        near = (np.abs(over) <= self.slack) & ~self.is_integral
        doubtful = np.flatnonzero(mask & near.any(axis=1))
        mask[doubtful] = [self.allows(S) for S in sets[doubtful]]
        return mask

    @cached_property
    def is_integral(self) -> np.ndarray:
        """The rows of which sums are exact, as all numbers in them are integers."""
        odd = np.zeros(self.most.size, dtype=bool)
        odd[self._row_of_entry[self.rows.data % 1.0 != 0.0]] = True
        return ~odd & (self.most % 1.0 == 0.0)

    def broken(self, support: Sequence[int] | np.ndarray) -> str | None:
        """The first limit that a set does not keep, in words; None if it keeps all."""
        chosen = np.asarray(support, dtype=np.intp)
        rounding = np.where(self.is_integral, 0.0, self.slack)
        suspects = np.flatnonzero(self.sums(chosen) - self.most > -rounding)
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
        """The state after all that single rules decide of a set of k; None if one leaves no set."""
        state, before = state.copy(), b""
        while state.tobytes() != before:
            before = state.tobytes()
            need, free = k - int(np.count_nonzero(state == IN)), np.flatnonzero(state == FREE)
            if not 0 <= need <= free.size:
                return None
            if need in (0, free.size):
                state[free] = IN if need else OUT
            if not all(self._narrow_by_whole(g, state, k) for g in self._busy_wholes(state, k)):
                return None
            if not all(self.narrow_by(c, state, k) for c in self._busy_rows(state, k)):
                return None
        return state

    def _busy_wholes(self, state: np.ndarray, k: int) -> list[int]:
        """The groups taken whole of which a state may decide something."""
        free, inside = (self._members @ (state == s).astype(float) for s in (FREE, IN))
        n_free, need = np.count_nonzero(state == FREE), k - np.count_nonzero(state == IN)
        sizes = self._members.sum(axis=1)
        is_settled = (free == 0) & ((inside == 0) | (inside == sizes))
        is_idle = (free == sizes) & (free <= need) & (n_free - free >= need)
        return np.flatnonzero(~is_settled & ~is_idle).tolist()

    def _busy_rows(self, state: np.ndarray, k: int) -> np.ndarray:
        """The rows that may decide something, beside those that say that a group is whole.

        The others have room for any of their features, beside the lightest set.
        """
        is_free, is_in = (np.flatnonzero(state[self.rows.indices] == s) for s in (FREE, IN))
        n_free, need = np.count_nonzero(state == FREE), k - np.count_nonzero(state == IN)
        own, weights = self._row_of_entry[is_free], self.rows.data[is_free]
        m = self.most.size
        load = np.bincount(self._row_of_entry[is_in], self.rows.data[is_in], m)
        load = load + np.bincount(own, weights.clip(max=0.0), m)
        n_own, n_negative = np.bincount(own, minlength=m), np.bincount(own, weights < 0.0, m)
        is_idle = (n_negative < need) & (n_free - n_own > need)
        is_idle &= load + self.largest <= self.most
        return self._single_rows[~is_idle[self._single_rows]]

    @cached_property
    def _members(self) -> sparse.csr_array:
        """The groups taken whole, as rows of ones."""
        sizes = np.array([group.size for group in self.wholes], dtype=np.intp)
        index = np.concatenate([np.empty(0, dtype=np.intp), *self.wholes])
        starts = np.concatenate([[0], np.cumsum(sizes)])
        return sparse.csr_array((np.ones(index.size), index, starts), (sizes.size, self.size))

    @cached_property
    def _single_rows(self) -> np.ndarray:
        """The rows that do not merely say, two features each, that a group is whole."""
        group = np.full(self.size, -1)
        for number, members in enumerate(self.wholes):
            group[members] = number
        pairs = np.flatnonzero((np.diff(self.rows.indptr) == 2) & (self.most == 0.0))
        first = self.rows.indptr[pairs]
        left, right = (group[self.rows.indices[first + i]] for i in (0, 1))
        is_whole = (left == right) & (left >= 0)
        is_whole &= self.rows.data[first] + self.rows.data[first + 1] == 0.0
        return np.setdiff1d(np.arange(self.most.size), pairs[is_whole])

    def _narrow_by_whole(self, number: int, state: np.ndarray, k: int) -> bool:
        """Decide a group that is taken whole or not at all, in place; whether that leaves a set."""
        group = self.wholes[number]
        own, n_free = state[group], int(np.count_nonzero(state == FREE))
        need = k - int(np.count_nonzero(state == IN))
        size = int(np.count_nonzero(own == FREE))
        must = bool((own == IN).any()) or (size > 0 and n_free - size < need)
        cannot = bool((own == OUT).any()) or size > need
        if size:
            state[group[own == FREE]] = IN if must else OUT if cannot else FREE
        return not (must and cannot)

    def narrow_by(self, c: int, state: np.ndarray, k: int) -> bool:
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
        room = self.most + self.slack - self.sums(np.delete(support, slot))
        mask = np.ones(self.size, dtype=bool)
        mask[self.rows.indices[self.rows.data > room.clip(0.0)[self._row_of_entry]]] = False
        for c in np.flatnonzero(room < 0.0).tolist():  # it takes a negative weight to keep this one
            features, weights = self.row(c)
            lighter = features[weights <= room[c]]
            others, mask = mask, np.zeros_like(mask)
            mask[lighter] = others[lighter]
        return mask

    @cached_property
    def _row_of_entry(self) -> np.ndarray:
        """The row of every entry of the matrix."""
        return np.repeat(np.arange(self.most.size), np.diff(self.rows.indptr))

    def charge(self, prices: np.ndarray, k: int) -> np.ndarray:
        """What every feature of a set of k pays if row c costs prices_c >= 0 for its weight.

        A set that keeps the limits gets back at least what it pays: the sum over it is never
        positive. So no allowed set scores less than its criterion, less its charges.
        """
        return np.asarray(self.rows.T @ prices).ravel() - float(prices @ self.most) / k
