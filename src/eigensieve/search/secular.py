"""Largest eigenvalues of many matrices that differ from one known matrix by one feature.

Adding a feature borders diag(w) by a row; deleting one imposes x_j = 0. Either way
the new largest eigenvalue is a root of a secular equation in O(k) per feature, and only
the best feature is wanted: brackets are refined together, and a feature is dropped
as soon as its upper end falls below another's lower end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..tables.kinds.arrays import namespace

MAX_ROUNDS = 120
RELATIVE = 1e-14
TIE = 1e-11
NO_GAP = 1e-200  # stands for zero in a denominator


def first_max(scores: Any, unit: float = 0.0) -> int:
    """Index of the maximum; near-ties (round-off) go to the lowest index.

    ``unit`` is the size of the numbers the scores came from, if they may cancel to zero. The
    scores may lie on a device: only the index leaves it.
    """
    xp = namespace(scores)
    best = float(xp.max(scores))
    if not np.isfinite(best):
        return int(xp.argmax(scores))
    near = scores >= best - TIE * max(abs(best), unit)
    return int(np.argmax(near)) if xp is np else int(xp.nonzero(near)[0][0])


def bordered_upper(top: float, border2: np.ndarray, corner: np.ndarray) -> np.ndarray:
    """Upper bounds of the bordered eigenvalues: all of diag(w) raised to its top."""
    half = (top - corner) / 2
    return (top + corner) / 2 + np.sqrt(half * half + border2)


def best_addition(
    w: np.ndarray, Z: np.ndarray, corner: np.ndarray, unit: float, floor: float = -np.inf
) -> tuple[int, float]:
    """Feature j with the largest lambda_max of [diag(w), z_j; z_j', corner_j].

    Parameters
    ----------
    w : array (t,), descending
    Z : array (m, t), the borders squared
    corner : array (m,)
    unit : the size of the entries of the pencil, for ties near zero
    floor : only values above it are of interest

    Returns
    -------
    index, value; index is -1 if nothing exceeds the floor. Without a floor the value is
    only as sharp as it takes to tell the winner.
    """
    if corner.size == 0:
        return -1, floor
    if w.size == 0:
        j = first_max(corner, unit)
        return (j, float(corner[j])) if corner[j] > floor else (-1, floor)
    high = bordered_upper(w[0], Z.sum(axis=1), corner)
    low = bordered_upper(w[0], Z[:, 0], corner)  # one pole alone: never above the root

    def excess(keep: np.ndarray, x: np.ndarray) -> np.ndarray:
        gaps = np.maximum(x[:, None] - w, NO_GAP)
        with np.errstate(over="ignore"):  # beside a pole the excess is infinite, and positive
            return corner[keep] - x + (Z[keep] / gaps).sum(axis=1)

    return _race(low, high, excess, unit, floor)


def best_deletion(
    w: np.ndarray, X2: np.ndarray, mass: np.ndarray, deletable: np.ndarray, unit: float
) -> int:
    """Feature j whose deletion leaves the largest lambda_max.

    Parameters
    ----------
    w : array (t,), all distinct eigenvalues, descending
    X2 : array (m, t), squared eigenvector coordinates (B-orthonormal)
    mass : array (m,), their row sums (the diagonal of B^-1)
    deletable : mask (m,)
    unit : as in `best_addition`
    """
    shares = X2 / mass[:, None]
    share = np.clip(shares[:, 0], 0.0, 1.0)
    second = w[1] if w.size > 1 else w[0]
    high = np.where(deletable, w[0] - (w[0] - second) * share, -np.inf)
    low = np.where(deletable, w[0] - (w[0] - w[-1]) * share, -np.inf)

    def excess(keep: np.ndarray, x: np.ndarray) -> np.ndarray:
        # positive left of the root, as in best_addition
        gaps = w - x[:, None]
        gaps[:, 0] = np.maximum(gaps[:, 0], NO_GAP)
        gaps[:, 1:] = np.minimum(gaps[:, 1:], -NO_GAP)
        return -(shares[keep] / gaps).sum(axis=1)

    return _race(low, high, excess, unit, -np.inf)[0]


def _race(
    low: np.ndarray,
    high: np.ndarray,
    excess: Callable[[np.ndarray, np.ndarray], np.ndarray],
    unit: float,
    floor: float,
) -> tuple[int, float]:
    """The index with the largest root, by bisection of all brackets at once.

    Without a floor only the winner is of interest: the race ends when one is left.
    """
    best = max(float(low.max()), floor)
    keep = np.flatnonzero(high >= best - TIE * max(abs(best), unit))
    if keep.size == 0:
        return -1, floor
    lo, hi = low[keep], high[keep]
    for _ in range(MAX_ROUNDS):
        middle = (lo + hi) / 2
        below = excess(keep, middle) > 0
        lo, hi = np.where(below, middle, lo), np.where(below, hi, middle)
        best = max(float(lo.max()), floor)
        alive = hi >= best - TIE * max(abs(best), unit)
        keep, lo, hi = keep[alive], lo[alive], hi[alive]
        if keep.size == 0:
            return -1, floor
        if keep.size == 1 and floor == -np.inf:
            break
        if np.all(hi - lo <= RELATIVE * np.maximum(np.abs(lo), np.abs(hi))):
            break
    values = (lo + hi) / 2
    j = first_max(values, unit)
    if values[j] <= floor:
        return -1, floor
    return int(keep[j]), float(values[j])
