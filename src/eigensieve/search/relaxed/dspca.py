"""DSPCA (d'Aspremont et al. 2005): the semidefinite relaxation of sparse PCA, rounded.

A rival with a certificate: the relaxation's value is an upper bound for every set of k features.
The set itself holds the k largest entries of the leading eigenvector of X, renormalized.
"""

from __future__ import annotations

import numpy as np

from ...pencil.budget import Budget
from ...pencil.checks import check_flag, check_number
from ...pencil.problem import Problem
from ...pencil.solution import Solution, Status, relative_gap
from ..greedy.swap import swap_refine
from ..moves import top_k
from ..solver import Solver
from ..sparse_pca_relaxation import Relaxation

# Bounds and the set are looked at after so many steps: a look costs half a step.
LOOK = 10
MAX_STEPS = 5000


def solve_dspca(
    problem: Problem,
    budget: Budget,
    *,
    max_iter: int | None = None,
    tol: float = 1e-6,
    swap: bool = False,
) -> Solution:
    """Solve the relaxation and round it.

    Parameters
    ----------
    max_iter : the most steps of the splitting method, 5,000 by default
    tol : the relative distance of primal and dual at which the relaxation counts as solved
    swap : polish the set by 1-swaps, which is not part of DSPCA

    Notes
    -----
    Forced features are in the set, but the relaxation does not know of them: its bound is still
    valid, only less tight. The same holds for quotas.
    """
    check_number(tol, "tol", 0.0, 1.0, "a number from 0 to 1")
    check_flag(swap, "swap")
    root = problem.pencil.diagonal_root()
    assert root is not None  # see _refuses
    relaxation = Relaxation(problem.pencil.with_identity_B(root).A, problem.k)
    most = MAX_STEPS if max_iter is None else max_iter
    support, status = _iterate(problem, relaxation, budget, most, tol)
    if swap and not status.is_early and status is not Status.OPTIMAL:
        support, _, _ = swap_refine(problem, support, budget)
        status = budget.stop() or status
    return problem.solution(
        support,
        budget,
        status=Status.GAP_LIMIT if status is Status.OPTIMAL else status,
        solver="dspca",
        bound=relaxation.upper,
        n_iter=relaxation.n_iter,
    )


def _iterate(
    problem: Problem, relaxation: Relaxation, budget: Budget, max_iter: int, tol: float
) -> tuple[np.ndarray, Status]:
    """Step until the set is proved, the relaxation is solved, or a limit comes."""
    while True:
        for _ in range(min(LOOK, max_iter - relaxation.n_iter)):
            relaxation.step()
        relaxation.look()
        support = top_k(problem, np.abs(relaxation.vector))
        value = problem.score(support)
        if relative_gap(value, relaxation.upper, problem.unit) <= budget.gap_tol:
            return support, Status.OPTIMAL
        if relaxation.is_solved(tol):
            return support, Status.GAP_LIMIT
        stopped = budget.stop()
        if stopped is None and relaxation.n_iter >= max_iter:
            stopped = Status.ITERATION_LIMIT
        if stopped is not None:
            return support, stopped
        budget.report(
            "dspca",
            "relax",
            relaxation.n_iter,
            total=max_iter,
            objective=value,
            bound=relaxation.upper,
        )


def _refuses(problem: Problem) -> str | None:
    if problem.criterion != "lambda_max":
        return "is for PCA: criterion 'lambda_max' only"
    if problem.pencil.diagonal_root() is None:
        return "is for PCA: it needs a diagonal B; use 'greedy' or 'exact'"
    return None


SOLVER = Solver(
    name="dspca",
    summary="semidefinite relaxation (DSPCA), for PCA: a rival with an upper bound",
    solve=solve_dspca,
    criteria=("lambda_max",),
    max_features=200,
    refuses=_refuses,
)
