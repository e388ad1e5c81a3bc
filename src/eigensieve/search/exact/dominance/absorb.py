"""A better matrix for the test by rows: what is semidefinite in M may be left out of it.

With D = diag(M) let C = I - D^-1/2 M D^-1/2. For every symmetric Y, and l no smaller than the
largest eigenvalue of C - Y,

    D^-1/2 M D^-1/2  =  [l I - (C - Y)]  +  Q,      Q = (1 - l) I - Y,

and the first part is semidefinite: where Q_T is positive definite, M_T is. The multiplier of the
semidefinite relaxation of C (sparse_pca_relaxation.py) makes Q small outside its diagonal.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ...sparse_pca_relaxation import Relaxation, State

# Backward error of an eigen-decomposition, per row, in units of the largest eigenvalue.
BACKWARD = 1e-14


class Absorbed(NamedTuple):
    """Q, how likely a feature is to be chosen, and where the relaxation stands."""

    Q: np.ndarray
    shares: np.ndarray
    state: State


def absorb(
    M: np.ndarray, m: int, state: State | None, n_steps: int, stop: np.ndarray | None = None
) -> Absorbed:
    """Q for a matrix of unit diagonal and sets of m features, after some steps, or at a stop."""
    C = np.eye(len(M)) - M
    relaxation = Relaxation(C, m, state)
    for _ in range(n_steps):
        relaxation.step()
        if stop is not None and stop[0]:
            break
    Y = relaxation.multiplier
    Y = (Y + Y.T) / 2
    return Absorbed(remainder(C, Y), np.diag(relaxation.X), relaxation.state)


def remainder(C: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """Q = (1 - l) I - Y."""
    values = linalg.eigvalsh(C - Y)
    most = values[-1] + BACKWARD * len(C) * float(np.abs(values).max(initial=1.0))
    Q = -Y
    Q.flat[:: len(Q) + 1] += 1.0 - most
    return Q
