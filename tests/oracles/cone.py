"""Convex problems by a general interior-point cone solver (clarabel): slow, and independent."""

from __future__ import annotations

import clarabel
import numpy as np
from scipy import sparse


def inner_problem(B: np.ndarray, g: np.ndarray, t: np.ndarray) -> tuple[float, np.ndarray]:
    """max g'x - sum t_i |x_i| subject to x'Bx <= 1: the value and x.

    With y >= |x|: min -g'x + t'y subject to -y <= x <= y and |Rx| <= 1, B = R'R.
    """
    p = g.size
    one, none = np.eye(p), np.zeros((p, p))
    R = np.linalg.cholesky(B).T
    A = np.block([[one, -one], [-one, -one], [np.zeros((1, 2 * p))], [-R, none]])
    b = np.concatenate([np.zeros(2 * p), [1.0], np.zeros(p)])
    cones = [clarabel.NonnegativeConeT(2 * p), clarabel.SecondOrderConeT(p + 1)]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix((2 * p, 2 * p)),
        np.concatenate([-g, t]),
        sparse.csc_matrix(A),
        b,
        cones,
        settings,
    ).solve()
    return -solution.obj_val, np.array(solution.x[:p])


def least_l21(A: np.ndarray, B: np.ndarray) -> float:
    """min sum_j |x_j| (lengths of the rows of x) subject to Ax = B, to 1e-8 or better.

    By the dual, max <B, Y> subject to |a_j'Y| <= 1 for every column a_j of A, whose multipliers are
    x. Y is scaled and x corrected until they satisfy their constraints: the minimum lies between
    the two values, whatever clarabel says about itself.
    """
    (m, p), q = A.shape, B.shape[1]
    unit = np.abs(B).max()
    cones = np.zeros((p, 1 + q, m, q))
    for column in range(q):
        cones[:, 1 + column, :, column] = -A.T
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    lowest, highest = -np.inf, np.inf
    for tol in (1e-10, 1e-9, 1e-8):
        settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tol
        solution = clarabel.DefaultSolver(
            sparse.csc_matrix((m * q, m * q)),
            -B.ravel() / unit,
            sparse.csc_matrix(cones.reshape(p * (1 + q), m * q)),
            np.tile(np.eye(1 + q)[0], p),
            [clarabel.SecondOrderConeT(1 + q)] * p,
            settings,
        ).solve()
        Y = np.array(solution.x).reshape(m, q)
        x = -unit * np.array(solution.z).reshape(p, 1 + q)[:, 1:]
        x += np.linalg.lstsq(A, B - A @ x, rcond=None)[0]
        lowest = max(lowest, float((B * Y).sum() / np.linalg.norm(A.T @ Y, axis=1).max()))
        highest = min(highest, float(np.linalg.norm(x, axis=1).sum()))
        if highest - lowest <= 1e-8 * highest:
            return 0.5 * (lowest + highest)
    raise ArithmeticError(f"clarabel: between {lowest} and {highest}")
