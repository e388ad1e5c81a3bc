"""What the kernels of the leaps search take from Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class LeapsProblem(NamedTuple):
    """What is maximised: A = H H' with H (p, c), and B with a diagonal near 1.

    ``kind`` is RANK_ONE (trace with c = 1), TRACE or LOGDET. Features of a block stand together;
    ``quota`` is what each block gives. ``unit`` is the size of A, for rounding errors.
    """

    kind: int
    B: np.ndarray
    H: np.ndarray
    blocks: np.ndarray
    quota: np.ndarray
    unit: float


class Log(NamedTuple):
    """What a search finds: the best set as a mask, and for the audit the closed subproblems.

    ``record`` holds the cut, what a better set adds to its value to make the next cut, and the
    largest bound with which a single set was closed.
    """

    best: np.ndarray
    record: np.ndarray
    counts: np.ndarray
    strides: np.ndarray
