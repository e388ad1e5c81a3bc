"""What the functions of the perspective relaxation hand to each other."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....pencil.compile import jit


class Task(NamedTuple):
    """Maximise over the weights of ``free`` that sum to ``need``, with ``forced`` at weight one.

    A = H'H with H (c, p), B has a unit diagonal, and B - diag(D) is positive semidefinite. The
    criterion is the log-determinant or the trace.
    """

    B: np.ndarray
    H: np.ndarray
    D: np.ndarray
    forced: np.ndarray
    free: np.ndarray
    need: int
    logdet: bool


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


@jit
def with_free(task: Task, free: np.ndarray) -> Task:
    """The same with fewer weights to find; the others are zero."""
    return Task(task.B, task.H, task.D, task.forced, free, task.need, task.logdet)


@jit
def make_scratch(task: Task, most: int) -> Scratch:
    """Room for evaluations with up to ``most`` features of ``free`` that have weight."""
    c, t = task.H.shape[0], task.forced.size + most
    return Scratch(
        np.empty(t, dtype=np.int64),
        np.empty((t, t)),
        np.empty((c, t)),
        np.empty((c, task.free.size)),
        np.empty((c, c)),
    )
