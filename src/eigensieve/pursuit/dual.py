"""The norms of basis pursuit, and what a dual proves of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..pencil.criteria import EPS

SLACK = 1e-12  # |A'y| may exceed 1 by this: round-off
LONG_EPS = float(np.finfo(np.longdouble).eps)  # EPS again on some machines


def penalty_terms(x: np.ndarray, penalty: str) -> np.ndarray:
    """What the penalty adds up, and the dual norm takes the largest of."""
    if penalty == "l1" or x.ndim == 1:
        return np.abs(x)
    return np.sqrt(np.einsum("ij,ij->i", x, x))


def dual_figures(A: Any, b: np.ndarray, y: np.ndarray, penalty: str) -> tuple[float, float]:
    """|A'y|*, rounded up, and b'y, rounded down, where their round-off matters.

    A large y, as of an ill-conditioned A, may lose the digits that a certificate needs: the sums
    are then formed anew in extended precision, if A is an array. If not, its rows are orthonormal,
    so that no column is longer than 1: it need not be read for the largest sum of |a_ij y_i|.
    """
    in_memory = isinstance(A, np.ndarray)
    if in_memory:
        largest = float(penalty_terms(np.abs(A).T @ np.abs(y), penalty).max(initial=0.0))
    else:
        largest = float(np.linalg.norm(y))
    terms = largest, float(np.abs(b * y).sum())
    eps = 0.0
    if EPS * max(terms) > SLACK:
        eps = LONG_EPS if in_memory else EPS
        if in_memory:
            A, b, y = (values.astype(np.longdouble) for values in (A, b, y))
    unsure = 2.0 * eps * float(np.sqrt(len(A)))
    steepest = float(penalty_terms(A.T @ y, penalty).max(initial=0.0)) + unsure * terms[0]
    return steepest, float((b * y).sum()) - unsure * terms[1]
