"""How many features a profile of weights speaks for.

========== =====================================================================================
otsu       the threshold that best splits the weights into two groups (least variance within)
ratio      the largest ratio of one weight to the next smaller one
energy     the fewest features with a given share of the sum of squares
========== =====================================================================================

Only positive weights count. None of these is a test: see `null` for that.
"""

from __future__ import annotations

import numpy as np

CUTS = ("otsu", "ratio", "energy", "null")
ROUND_OFF = 1e-12
FLOOR = 0.01  # of the largest: ratios among weights below are ratios of noise


def count_relevant(alpha: np.ndarray, cut: str, energy: float) -> int:
    """The number of features that the rule ``cut`` keeps: those with the largest weights."""
    weights = np.sort(np.maximum(alpha, 0.0).astype(np.float64))[::-1]
    if weights.size == 1:
        return 1
    if cut == "ratio":
        return cut_at_ratio(weights)
    return cut_by_energy(weights, energy) if cut == "energy" else cut_by_otsu(weights)


def cut_at_ratio(weights: np.ndarray) -> int:
    """From weights that fall."""
    floored = np.maximum(weights, FLOOR * weights[0])
    return int(np.argmax(floored[:-1] / floored[1:])) + 1


def cut_by_otsu(weights: np.ndarray) -> int:
    """From weights that fall."""
    n = weights.size
    if weights[0] - weights[-1] <= ROUND_OFF * weights[0]:
        return 1  # all equal: round-off must not choose
    count = np.arange(1, n)
    above = np.cumsum(weights)
    difference = above[:-1] / count - (above[-1] - above[:-1]) / (n - count)
    return int(np.argmax(count * (n - count) * np.square(difference))) + 1


def cut_by_energy(weights: np.ndarray, share: float) -> int:
    """From weights that fall."""
    squares = np.cumsum(np.square(weights))
    return min(
        int(np.searchsorted(squares, share * squares[-1] * (1.0 - ROUND_OFF))) + 1, weights.size
    )
