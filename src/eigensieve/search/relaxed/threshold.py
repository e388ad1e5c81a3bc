"""Simple thresholding (ST): keep the k largest entries of the full eigenvector.

The paper thresholds an eigenvector y of B^-1/2 A B^-1/2; the eigenvector x = B^-1/2 y of
the pencil has another pattern. Both readings are offered. The weights on the chosen
features are always recomputed (variational renormalization).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...errors import OptionError
from ...pencil.budget import Budget
from ...pencil.problem import Problem
from ...pencil.solution import Solution, Status
from ..moves import eigenvector_scores, top_k
from ..solver import OnDisk, Solver

# B^1/2 is formed for the reading "y"
MAX_ROOT = 5000


def solve_threshold(problem: Problem, budget: Budget, *, vector: str = "x") -> Solution:
    """Threshold the leading generalized eigenvector.

    ``vector`` is "x" (of the pencil), "y" (of B^-1/2 A B^-1/2, the paper's) or "best"
    (whichever gives the better set).
    """
    readings = {"x": ["x"], "y": ["y"], "best": ["x", "y"]}
    if vector not in readings:
        raise OptionError(f"vector is {vector!r}; it must be 'x', 'y' or 'best'")
    supports = [top_k(problem, _scores(problem, reading)) for reading in readings[vector]]
    support = max(supports, key=problem.score) if len(supports) > 1 else supports[0]
    return problem.solution(support, budget, status=Status.FEASIBLE, solver="threshold", n_iter=1)


def _scores(problem: Problem, reading: str) -> np.ndarray:
    pencil = problem.pencil
    if reading == "x" or pencil.has_identity_B:
        return eigenvector_scores(problem)
    if pencil.size > MAX_ROOT:
        raise OptionError(
            f"vector='y' needs the square root of B and takes at most {MAX_ROOT} features, "
            f"not {pencil.size}; use vector='x'"
        )
    # symmetric square root by the eigenvectors of B, then the eigenvectors of the whitened A
    b, U = linalg.eigh(pencil.B)
    inverse_root = (U / np.sqrt(b)) @ U.T
    values, Y = linalg.eigh(inverse_root @ pencil.A @ inverse_root)
    if problem.criterion == "lambda_max":
        return np.abs(Y[:, -1])
    return np.sqrt(np.square(Y) @ np.maximum(values, 0.0))


SOLVER = Solver(
    name="threshold",
    summary="the k largest entries of the full eigenvector (ST), renormalized",
    solve=solve_threshold,
    on_disk=OnDisk(),
)
