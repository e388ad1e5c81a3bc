"""The least l1 norm by HiGHS, or by trying every basis: slow, and independent."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from scipy.optimize import linprog


def least_l1(A: np.ndarray, b: np.ndarray) -> float:
    """min |x|_1 subject to Ax = b, as min sum(u + v) subject to A(u - v) = b and u, v >= 0.

    A and b of moderate size, please: the tolerances of HiGHS are absolute.
    """
    found = linprog(
        np.ones(2 * A.shape[1]),
        A_eq=np.hstack([A, -A]),
        b_eq=b,
        bounds=(0, None),
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0:
        raise ArithmeticError(f"HiGHS: {found.message}")
    return float(found.fun)


def least_l1_of_bases(A: np.ndarray, b: np.ndarray) -> float:
    """The same for A with independent rows: a minimum lies at a basis, so the best of all."""
    m, p = A.shape
    best = np.inf
    for basis in combinations(range(p), m):
        square = A[:, basis]
        if abs(np.linalg.det(square)) > 1e-9:
            best = min(best, float(np.abs(np.linalg.solve(square, b)).sum()))
    return best
