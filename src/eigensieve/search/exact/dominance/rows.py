"""The test by rows: which sets keep a symmetric matrix positive definite, from its rows alone.

For any weights w > 0 let t_i be the largest sum of |M_ij| w_j over the other features of a set
with i. If t_i < M_ii w_i for every i, then M_T is strictly dominant in its rows for every set T,
and stays so when its other entries are scaled by any number between 0 and 1: on the way from its
positive diagonal it never becomes singular, so it is positive definite.

A set T whose M_T is not so contains a row that fails, and fails within T. That decides features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from .rows_kernel import largest_sums, ranked_sums

# Sums of a row are claimed to be below its diagonal with this much room for rounding.
ROOM = 1e-9
# Of the rows that fail so many are looked at together.
STRIP = 256
# How far weights move towards what makes all rows equally bad.
STEP = 0.6
# A round of tuning must bring this share of what is missing.
LEAST_GAIN = 0.02
# A row needs no less of the largest weight.
LEAST_WEIGHT = 1e-12
# Weights that bound have all rows equally bad, so that nothing is decided; with these powers of
# them, made smaller wherever a row passes, all pass but a core.
POWER, SLIGHTLY = 0.9, 1.001

Strips = Callable[[], Iterator[tuple[int, np.ndarray]]]


@dataclass(frozen=True, eq=False)
class Rows:
    """A symmetric matrix on features that stand block by block.

    Attributes
    ----------
    strips : gives the rows, some at a time: the number of the first, and the rows
    diagonal : of the matrix, positive
    lift : by how much more the diagonal grows, at least, than the level
    starts, needs : where every block begins (and the last one ends), how many a set has of it
    """

    strips: Strips
    diagonal: np.ndarray
    lift: np.ndarray
    starts: np.ndarray
    needs: np.ndarray

    @classmethod
    def of(cls, M: np.ndarray, lift: np.ndarray, starts: np.ndarray, needs: np.ndarray) -> Rows:
        """Of a matrix in memory."""
        return cls(lambda: iter([(0, M)]), np.diag(M).copy(), lift, starts, needs)

    @property
    def size(self) -> int:
        return self.diagonal.size

    def sums(self, weights: np.ndarray) -> np.ndarray:
        """The largest sum of every row."""
        sums = np.empty(self.size)
        for first, rows in self.strips():
            largest_sums(
                rows, first, weights, self.starts, self.needs, sums[first : first + len(rows)]
            )
        return sums

    def ranked(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The sums; for every row and block, the least entry in them and the next one."""
        sums = np.empty(self.size)
        least, after = np.empty((2, self.size, self.needs.size))
        for first, rows in self.strips():
            own = slice(first, first + len(rows))
            ranked_sums(
                rows, first, weights, self.starts, self.needs, sums[own], least[own], after[own]
            )
        return sums, least, after


@dataclass(frozen=True, eq=False)
class Tuned:
    """Weights that bring all rows near to passing.

    Attributes
    ----------
    worst : the largest ratio of a sum to its diagonal; below 1 every set is definite
    excess : raising the level by so much makes every set definite
    n_rounds : how many sums of all rows it took
    """

    weights: np.ndarray
    worst: float
    excess: float
    n_rounds: int

    @property
    def passes(self) -> bool:
        return self.worst < 1.0 - ROOM


def tune(rows: Rows, weights: np.ndarray, n_rounds: int) -> Tuned:
    """Make the worst row better, as long as that goes well."""
    best, worst, least, done = weights, np.inf, np.inf, 0
    while done < n_rounds:
        done += 1
        sums = rows.sums(weights)
        ratios = sums / (rows.diagonal * weights)
        now = float(ratios.max())
        least = min(least, _excess(rows, weights, sums))
        gain = worst - now
        if gain > 0.0:
            best, worst = weights, now
        if worst < 1.0 - ROOM or gain < LEAST_GAIN * (worst - 1.0):
            break
        weights = weights * np.maximum(ratios / now, 1e-4) ** STEP
        weights = np.maximum(weights / weights.max(), LEAST_WEIGHT)
    return Tuned(best, worst, least, done)


def excess(rows: Rows, weights: np.ndarray) -> float:
    """By how much the level is to be raised so that every set is definite, by these weights."""
    return _excess(rows, weights, rows.sums(weights))


def _excess(rows: Rows, weights: np.ndarray, sums: np.ndarray) -> float:
    missing = (sums / weights * (1.0 + ROOM) - rows.diagonal) / rows.lift
    return float(missing.max())


@dataclass(frozen=True, eq=False)
class Decision:
    """What a set that is not definite must have, and what it cannot have.

    Attributes
    ----------
    weights : with which the rows say so
    ratios : of every row, its largest sum to its diagonal
    n_failing : rows that do not pass; with none of them every set is definite
    must, cannot : masks
    """

    weights: np.ndarray
    ratios: np.ndarray
    n_failing: int
    must: np.ndarray
    cannot: np.ndarray


def decide(rows: Rows, weights: np.ndarray, n_rounds: int) -> Decision:
    """Let all rows pass but a core, and see what the core needs."""
    most = weights**POWER
    x = most
    for _ in range(n_rounds):
        x = np.minimum(most, np.maximum(SLIGHTLY * rows.sums(x) / rows.diagonal, LEAST_WEIGHT))
    return decide_with(rows, x)


def decide_with(rows: Rows, x: np.ndarray) -> Decision:
    """What the rows say with these weights."""
    sums, least, after = rows.ranked(x)
    wanted = rows.diagonal * x * (1.0 - ROOM)
    failing = sums >= wanted
    must, cannot = np.ones(rows.size, dtype=bool), ~failing
    block = np.repeat(np.arange(rows.needs.size), np.diff(rows.starts))
    for i, some in _chosen(rows, failing):
        own = np.abs(some) * x
        own[np.arange(i.size), i] = 0.0
        low, high = least[i][:, block], after[i][:, block]
        inside = own >= low
        with np.errstate(invalid="ignore"):  # where a set has no other feature of the block
            without = sums[i, None] - np.where(inside, own, low) + np.where(inside, high, own)
        spared = (without < wanted[i, None]) | np.isinf(low)
        is_needed, is_useless = inside & spared, ~inside & spared
        is_needed[np.arange(i.size), i] = True
        is_useless[np.arange(i.size), i] = False
        must &= is_needed.all(axis=0)
        cannot &= is_useless.all(axis=0)
        if not (must.any() or cannot.any()):
            break
    return Decision(x, sums / (rows.diagonal * x), int(failing.sum()), must, cannot)


def _chosen(rows: Rows, mask: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Some of the rows, with their numbers, a strip at a time."""
    for first, some in rows.strips():
        own = np.flatnonzero(mask[first : first + len(some)])
        for start in range(0, own.size, STRIP):
            local = own[start : start + STRIP]
            yield first + local, some[local]
