"""SCoTLASS: maximise x'Ax - rho |x|_1 subject to x'Bx <= 1, by D.C. programming.

The penalised form of Jolliffe, Trendafilov and Uddin's method, as eq. 14 of Sriperumbudur et al.
solves it: the loop of dca.py with the same threshold for every feature. Kept for comparison: for
generalized problems the logarithm of solver "dc" finds better sets on average.
"""

from __future__ import annotations

from typing import Any

from ...pencil.budget import Budget
from ...pencil.problem import Problem
from ...pencil.solution import Solution
from ..solver import Solver, seeks_one_direction
from .dca_search import DcaOptions, DcaSearch


def solve_scotlass(
    problem: Problem,
    budget: Budget,
    *,
    rho: float | None = None,
    start: Any = "eigenvector",
    n_starts: int | None = None,
    swap: bool = False,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int | None = None,
) -> Solution:
    """k features, or as many as rho leaves; the options are those of solver "dc"."""
    options = DcaOptions(None, start, n_starts, swap, tol, max_iter, random_state)
    return DcaSearch(problem, budget, "scotlass", options).find(rho)


SOLVER = Solver(
    name="scotlass",
    summary="the l1 penalty instead of the logarithm (SCoTLASS), by D.C. programming",
    solve=solve_scotlass,
    refuses=seeks_one_direction,
)
