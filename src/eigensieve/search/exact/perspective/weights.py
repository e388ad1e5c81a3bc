"""What the perspective search hands to its kernels, which see it as weights_kernel.pxd says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .newton_kernel import WEIGHTLESS as WEIGHTLESS

# A mark that nobody sets.
NEVER = np.zeros(1, dtype=np.int8)


class WeightProblem(NamedTuple):
    """Maximise over the weights of ``free`` that sum to ``need``, with ``forced`` at weight one.

    A = H'H with H (c, p), B has a unit diagonal, and B - diag(D) is positive semidefinite. The
    criterion is the log-determinant or the trace. Once ``stop[0]`` is set (see `Budget.alarm`)
    iterations end after the step that they are in; what they have is then a valid bound, too.
    The arithmetic done is added to ``work[0]``, roughly: see `Budget.spend`.
    """

    B: np.ndarray
    H: np.ndarray
    D: np.ndarray
    forced: np.ndarray
    free: np.ndarray
    need: int
    logdet: bool
    work: np.ndarray
    stop: np.ndarray = NEVER


class Ground(NamedTuple):
    """What all nodes share: the problem, the audit's table (see coverage.py), the time's end.

    B may have the rows of the first features only: others then get no weight and are not taken IN.
    ``work[0]`` counts the arithmetic.
    """

    B: np.ndarray
    H: np.ndarray
    k: int
    logdet: bool
    counts: np.ndarray
    strides: np.ndarray
    stop: np.ndarray
    work: np.ndarray


class OpenNodes(NamedTuple):
    """What is known of the nodes that a search leaves open, a row for each."""

    bounds: np.ndarray
    states: np.ndarray
    weights: np.ndarray
    diagonals: np.ndarray
    gradients: np.ndarray
