"""The proximal map of total variation: min 1/2 |x - y|^2 + weight sum_i |x_i - x_(i-1)|, exactly.

Dynamic programming (Johnson 2013), time and memory linear in the length. Let f_k(x) be the least
cost of the first k entries with the k-th at x, plus that of the step to a free next entry. Its
derivative is piecewise linear, and the step clips it to [-weight, weight]: at ``lower`` and
``upper``, between which the next entry is followed. Only the pieces between them are kept, as knots
with the jumps of slope and offset there; every knot is made once and dropped at most once.
"""

from __future__ import annotations

import numpy as np

from ..pencil.compile import jit


@jit
def merge_neighbours(y: np.ndarray, weight: float) -> np.ndarray:
    """The minimiser x (n,); entries that the penalty merges are exactly equal."""
    if y.size < 2 or weight <= 0.0:
        return y.copy()
    if weight >= widest_sum(y):
        return np.full(y.size, y.mean())  # also keeps a huge weight out of the sums below
    lower, upper, last = follow(y, weight)
    x = np.empty(y.size)
    x[-1] = last
    for k in range(y.size - 2, -1, -1):
        x[k] = min(max(x[k + 1], lower[k]), upper[k])
    return x


@jit
def widest_sum(y: np.ndarray) -> float:
    """max |sum of the first entries less their mean|: from this weight on, x is constant."""
    mean, total, widest = y.mean(), 0.0, 0.0
    for value in y:
        total += value - mean
        widest = max(widest, abs(total))
    return widest


@jit
def follow(y: np.ndarray, weight: float) -> tuple[np.ndarray, np.ndarray, float]:
    """``lower`` and ``upper`` of every entry, and the minimiser's last entry."""
    n = y.size
    lower, upper = np.empty(n), np.empty(n)
    knots, slopes, offsets = np.empty(2 * n), np.empty(2 * n), np.empty(2 * n)
    left, right = n, n - 1  # no knots at first; each step adds one at either end
    edge = 0.0  # the clipped derivative is -edge far to the left and edge far to the right
    for k in range(n):
        slope, offset = 1.0, -y[k] - edge
        target = 0.0 if k == n - 1 else -weight
        while left <= right and slope * knots[left] + offset <= target:
            slope += slopes[left]
            offset += offsets[left]
            left += 1
        lower[k] = (target - offset) / slope
        if k == n - 1:
            break
        left -= 1
        low_slope, low_offset = slope, offset
        slope, offset = 1.0, -y[k] + edge
        while right > left and slope * knots[right] + offset >= weight:
            slope -= slopes[right]
            offset -= offsets[right]
            right -= 1
        upper[k] = (weight - offset) / slope
        right += 1
        knots[left], slopes[left], offsets[left] = lower[k], low_slope, low_offset + weight
        knots[right], slopes[right], offsets[right] = upper[k], -slope, weight - offset
        edge = weight
    return lower, upper, lower[n - 1]
