"""Block coordinate descent for the group lasso: min 1/2 tr B'GB - tr B'C + sum_j |beta_j|.

A group is a row beta_j of B (w, q). Each visit minimises over one row exactly. B and H = C - GB are
kept transposed, so that the update of H runs over neighbours in memory; both are changed in place.
"""

from __future__ import annotations

import math

import numpy as np

from ..pencil.compile import jit


@jit
def descend_rows(G: np.ndarray, B: np.ndarray, H: np.ndarray, sweeps: int, enough: float) -> None:
    """Sweeps over all rows, and in between over those that are not zero.

    B and H are (q, w). It ends early when no step of a sweep over all rows is larger than
    ``enough``, measured by the change of the gradient.
    """
    q, w = B.shape
    step = np.empty(q)
    everything = np.arange(w)
    order = everything
    for _ in range(sweeps):
        largest = 0.0
        for j in order:
            curvature = G[j, j]
            if curvature <= 0.0:
                continue
            square = 0.0
            for c in range(q):
                value = H[c, j] + curvature * B[c, j]
                step[c] = value
                square += value * value
            length = math.sqrt(square)
            keep = (length - 1.0) / (length * curvature) if length > 1.0 else 0.0
            moved = 0.0
            for c in range(q):
                step[c] = keep * step[c] - B[c, j]
                moved += step[c] * step[c]
            if moved == 0.0:
                continue
            for c in range(q):
                change = step[c]
                B[c, j] += change
                for i in range(w):
                    H[c, i] -= change * G[j, i]
            largest = max(largest, math.sqrt(moved) * curvature)
        if order.size == w:
            if largest <= enough:
                break
            order = np.flatnonzero(np.sum(B != 0.0, axis=0))
        elif largest <= enough:
            order = everything
