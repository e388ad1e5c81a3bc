"""Hadamard's bound on a log-det: det(A + B) is at most the product of its diagonal.

It is the same whatever the sizes of the features, and round-off does it no harm.
"""

from __future__ import annotations

import numpy as np

from ..pencil.pencil import Pencil
from ..pencil.problem import Problem

# Of a sum of logarithms, relatively.
ROUNDING = 1e-12


def hadamard_bound(problem: Problem) -> float:
    """No set has a larger log-det; B is replaced by a diagonal below it."""
    gains = hadamard_gains(problem.pencil)
    forced = gains[problem.include]
    free = np.sort(np.delete(gains, problem.include))
    need = problem.k - forced.size
    return float(forced.sum() + free[free.size - need :].sum())


def hadamard_gains(pencil: Pencil) -> np.ndarray:
    """What every feature can add to a log-det; no set has more than the sum of its features."""
    gains: np.ndarray = np.log(pencil.diag_A + pencil.diag_B) - np.log(pencil.diagonal_below)
    return gains * (1 + ROUNDING)
