"""What the functions of the perspective relaxation hand to each other, compiled or not.

Without a compiler: the NumPy half (ascent.py) must not wait for one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

# Weights below this are zero.
WEIGHTLESS = 1e-9
# A mark that nobody sets.
NEVER = np.zeros(1, dtype=np.int8)


class WeightProblem(NamedTuple):
    """Maximise over the weights of ``free`` that sum to ``need``, with ``forced`` at weight one.

    A = H'H with H (c, p), B has a unit diagonal, and B - diag(D) is positive semidefinite. The
    criterion is the log-determinant or the trace. Once ``stop[0]`` is set (see `Budget.alarm`)
    iterations end after the step that they are in; what they have is then a valid bound, too.
    """

    B: np.ndarray
    H: np.ndarray
    D: np.ndarray
    forced: np.ndarray
    free: np.ndarray
    need: int
    logdet: bool
    stop: np.ndarray = NEVER


class Scratch(NamedTuple):
    """What an evaluation leaves behind.

    T lists the features with weight (the forced first, then those of free), U is the Cholesky
    factor on them, X (c, t) = (B + ...)_T^-1 H_T, and Y (c, u) with G (c, c) gives the gradient
    g_j = y_j' G y_j.
    """

    T: np.ndarray
    U: np.ndarray
    X: np.ndarray
    Y: np.ndarray
    G: np.ndarray
