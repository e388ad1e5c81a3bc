"""What a set of features loses when one of them is exchanged for another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..pencil.problem import Problem

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
    with np.errstate(all="ignore"):  # dependent features: taken out below
        gains = _gains(problem, S)
    gains[S] = -np.inf
    return [_best(problem, S, slot, gains[:, slot], n_best) for slot in slots.tolist()]


def _gains(problem: Problem, S: np.ndarray) -> np.ndarray:
    """(p, k): the gain in log-det of a feature over the set without its feature of that slot.

    It is the logarithm of the ratio of two partial variances, under A + B and under B.
    """
    pencil = problem.pencil
    d = 1.0 / np.sqrt(pencil.diag_B)
    scale = d[:, None] * d[S]
    within = pencil.columns_B(S) * scale
    total = within + pencil.columns_A(S) * scale
    left_w = _partial_variances(within, np.ones(pencil.size), S)
    left_t = _partial_variances(total, 1.0 + pencil.diag_A * d * d, S)
    gains = np.log(left_t / left_w)
    gains[~np.isfinite(gains) | (left_w < DEPENDENT)] = -np.inf
    return gains


def _partial_variances(columns: np.ndarray, diagonal: np.ndarray, S: np.ndarray) -> np.ndarray:
    """(p, k): the variance of a feature given the set without the feature of that slot."""
    inverse = np.linalg.pinv(columns[S], hermitian=True)
    weights = columns @ inverse
    given_all = diagonal - np.einsum("ij,ij->i", weights, columns)
    return given_all[:, None] + np.square(weights) / np.diag(inverse)


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
