"""Coordinate descent for the weighted lasso: min 1/2 u'Bu - g'u + sum t_i |u_i|.

Each visit of a coordinate minimises over it exactly; u and what is kept beside it are changed in
place. Steps are measured in units where diag(B) = 1.
"""

from __future__ import annotations

import math

import numpy as np

from ...pencil.compile import jit


@jit
def shrink(value: float, threshold: float) -> float:
    """Soft thresholding."""
    if value > threshold:
        return value - threshold
    if value < -threshold:
        return value + threshold
    return 0.0


@jit
def descend_dense(
    B: np.ndarray, t: np.ndarray, u: np.ndarray, r: np.ndarray, sweeps: int, enough: float
) -> None:
    """A sweep over all coordinates, then some over those that are not zero.

    r = g - Bu is kept. It ends early when no step is larger than ``enough``.
    """
    order = np.arange(u.size)
    for _ in range(sweeps):
        largest = 0.0
        for i in order:
            b = B[i, i]
            new = shrink(r[i] + b * u[i], t[i]) / b
            step = new - u[i]
            if step != 0.0:
                u[i] = new
                row = B[i]
                for j in range(r.size):
                    r[j] -= step * row[j]
                largest = max(largest, abs(step) * math.sqrt(b))
        if largest <= enough:
            break
        if order.size == u.size:
            order = np.flatnonzero(u)


@jit
def descend_factor(
    W: np.ndarray,
    d: np.ndarray,
    b: np.ndarray,
    g: np.ndarray,
    t: np.ndarray,
    u: np.ndarray,
    z: np.ndarray,
    sweeps: int,
    enough: float,
) -> None:
    """The same for B = WW' + diag(d) with W (p, m): only z = W'u is kept, B is never formed."""
    order = np.arange(u.size)
    for _ in range(sweeps):
        largest = 0.0
        for i in order:
            row = W[i]
            gradient = g[i] - d[i] * u[i]
            for j in range(z.size):
                gradient -= row[j] * z[j]
            new = shrink(gradient + b[i] * u[i], t[i]) / b[i]
            step = new - u[i]
            if step != 0.0:
                u[i] = new
                for j in range(z.size):
                    z[j] += step * row[j]
                largest = max(largest, abs(step) * math.sqrt(b[i]))
        if largest <= enough:
            break
        if order.size == u.size:
            order = np.flatnonzero(u)
