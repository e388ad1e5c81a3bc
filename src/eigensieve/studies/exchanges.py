"""What a set of features loses when one of them is exchanged for another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..pencil.problem import Problem
from ..search.greedy.swap import LogdetScan
from ..tables.kinds.arrays import to_numpy

# For every feature so many rivals are scored from scratch; the order among all comes from a
# formula that is exact for the log-det criterion (and for any, if A has rank one).
RESCORED = 10
DEPENDENT = 1e-10  # a share of variance this small, given the others, is round-off


@dataclass(frozen=True, eq=False)
class Exchange:
    """One feature of a set, those that could stand in for it, and what the set scores then.

    Attributes
    ----------
    leaving : the feature
    entering : array of features, the best first
    scores : array, the criterion with each of them in its place
    """

    leaving: int
    entering: np.ndarray
    scores: np.ndarray


def best_exchanges(problem: Problem, support: np.ndarray, n_best: int = 3) -> list[Exchange]:
    """For every feature of the set that may go: the best to come in its place.

    Indices are those of the problem's pencil. A feature that the problem includes stays.
    """
    S = np.sort(np.asarray(support, dtype=np.intp))
    slots = np.flatnonzero(~np.isin(S, problem.include))
    if S.size == problem.pencil.size or slots.size == 0:
        return []
    scan = LogdetScan(problem.with_k(S.size))
    scan.load(S)
    return [_best(problem, S, slot, _gains(scan, slot), n_best) for slot in slots.tolist()]


def _gains(scan: LogdetScan, slot: int) -> np.ndarray:
    """(p,): the gain in log-det of a feature over the set in that slot; -inf if it may not come."""
    pencil, own = scan.pencil, scan.sweep
    left = to_numpy(own.room(slot)) / (own.P[slot, slot] * pencil.diag_B)
    with np.errstate(all="ignore"):  # dependent features
        gains = to_numpy(scan.differences(slot))
    usable = np.isfinite(gains) & scan.may_take(slot) & (left >= DEPENDENT)
    return np.where(usable, gains, -np.inf)


def _best(problem: Problem, S: np.ndarray, slot: int, gains: np.ndarray, n_best: int) -> Exchange:
    rivals = np.argsort(-gains, kind="stable")[: max(RESCORED, n_best)]
    rivals = rivals[np.isfinite(gains[rivals])]
    scores = np.array([problem.score(_exchanged(S, slot, i)) for i in rivals.tolist()])
    order = np.argsort(-scores, kind="stable")[:n_best]
    return Exchange(int(S[slot]), rivals[order], scores[order])


def _exchanged(S: np.ndarray, slot: int, feature: int) -> np.ndarray:
    other = S.copy()
    other[slot] = feature
    return np.sort(other)
