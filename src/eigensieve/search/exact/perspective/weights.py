"""What the perspective search hands to its kernels, which see it as weights_kernel.pxd says."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....pencil.limits import Limits
from .newton_kernel import WEIGHTLESS as WEIGHTLESS

# A mark that nobody sets; charges that nobody pays.
NEVER = np.zeros(1, dtype=np.int8)
NOTHING = np.zeros(0)


class WeightProblem(NamedTuple):
    """Maximise over the weights of ``free`` that sum to ``need``, with ``forced`` at weight one.

    A = H'H with H (c, p), B has a unit diagonal, and B - diag(D) is positive semidefinite. The
    criterion is the log-determinant or the trace, less ``charge`` (one number per feature, or none)
    times the weights: see `Limits.charge`. Once ``stop[0]`` is set (see `Budget.alarm`)
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
    charge: np.ndarray = NOTHING


class LimitRows(NamedTuple):
    """Rows of limits on the features of a node: see limits_kernel.pxd."""

    starts: np.ndarray
    features: np.ndarray
    weights: np.ndarray
    most: np.ndarray

    @classmethod
    def of(cls, limits: Limits | None) -> LimitRows:
        """As the kernels want them; ``most`` with room for rounding."""
        if limits is None:
            none = np.zeros(0, dtype=np.int64)
            return cls(np.zeros(1, dtype=np.int64), none, NOTHING, NOTHING)
        rows = limits.rows
        return cls(
            rows.indptr.astype(np.int64),
            rows.indices.astype(np.int64),
            np.ascontiguousarray(rows.data),
            limits.most + limits.slack,
        )


class Ground(NamedTuple):
    """What all nodes share: the problem, the audit's table (see coverage.py), the time's end.

    B may have the rows of the first features only: others then get no weight and are not taken IN.
    ``work[0]`` counts the arithmetic. If it ``lists``, it is after all sets above the cut, not the
    best of them.
    """

    B: np.ndarray
    H: np.ndarray
    k: int
    logdet: bool
    counts: np.ndarray
    strides: np.ndarray
    stop: np.ndarray
    work: np.ndarray
    charge: np.ndarray
    limits: LimitRows
    lists: bool


class OpenNodes(NamedTuple):
    """What is known of the nodes that a search leaves open, a row for each."""

    bounds: np.ndarray
    states: np.ndarray
    weights: np.ndarray
    diagonals: np.ndarray
    gradients: np.ndarray
