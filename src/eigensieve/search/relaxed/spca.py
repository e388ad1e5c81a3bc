"""SPCA (Zou, Hastie & Tibshirani 2006): an elastic net on the components.

A rival, for comparison: all components at once, none taken out before the next. The criterion is
that of a regression, not the variance, and nothing is proved. Its own loadings are shrunk; a
`Solution` has the best ones on the same features.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...errors import OptionError
from ...pencil.budget import Budget
from ...pencil.checks import check_number
from ...pencil.criteria import TINY, fix_signs
from ...pencil.problem import Problem
from ...pencil.solution import Solution
from ..moves import top_k
from ..solver import Solver
from .elastic_components import find_elastic_components

MAX_STEPS = 2000


def solve_spca(
    problem: Problem,
    budget: Budget,
    *,
    rho: float | None = None,
    ridge: float | None = None,
    tol: float = 1e-8,
    max_iter: int | None = None,
) -> Solution:
    """One component; see `spca_components` for the options."""
    _, solutions = spca_components(
        problem, [problem.k], budget, rho=rho, ridge=ridge, tol=tol, max_iter=max_iter
    )
    return solutions[0]


def spca_components(
    problem: Problem,
    ks: Sequence[int | None],
    budget: Budget,
    *,
    rho: float | Sequence[float] | None = None,
    ridge: float | None = None,
    tol: float = 1e-8,
    max_iter: int | None = None,
) -> tuple[np.ndarray, list[Solution]]:
    """All components at once: SPCA's own loadings (n_features, m), and a Solution of each support.

    Parameters
    ----------
    ks : the features of each component; with rho the most of them, None for as many as it leaves
    rho : penalty on sum |b_i|, one or one per component; None for exactly k features
    ridge : penalty on |b|^2; None for a thousandth of the mean variance, inf for thresholding
    tol : the relative change of the loadings at which they have converged
    max_iter : the most alternations, 2,000 by default
    """
    rhos = _penalties(rho, len(ks))
    if ridge is not None:
        check_number(ridge, "ridge", 0.0, np.inf, "a number >= 0, inf or None")
    check_number(tol, "tol", 0.0, 1.0, "a number from 0 to 1")
    root = problem.pencil.diagonal_root()
    assert root is not None  # see _refuses
    found = find_elastic_components(
        problem.pencil.with_identity_B(root),
        ks,
        rhos,
        budget,
        free=np.isin(problem.features, problem.include),
        ridge=ridge,
        tol=tol,
        max_iter=MAX_STEPS if max_iter is None else max_iter,
    )
    loadings, solutions = np.zeros((problem.n_features, len(ks))), []
    for j, k in enumerate(ks):
        b, slope = found.b[:, j], found.slopes[:, j]
        _check_something_left(problem, rhos[j], b, slope)
        support = _support(problem, b, slope, k, exactly=rhos[j] is None)
        loadings[problem.to_original[support], j] = (
            _unit(b[support], slope[support]) / root[support]
        )
        part = problem.with_k(support.size)
        solutions.append(
            part.solution(support, budget, status=found.status, solver="spca", n_iter=found.n_iter)
        )
    return fix_signs(loadings), solutions


def _penalties(rho: Any, m: int) -> list[float | None]:
    """The penalty of every component, None where its cardinality is given."""
    if rho is None:
        return [None] * m
    given = [rho] * m if np.ndim(rho) == 0 else list(rho)
    if len(given) != m:
        raise OptionError(f"rho is {rho!r}; give one number, or one for each of {m} components")
    return [check_number(r, "rho", 0.0, np.finfo(float).max, "a number >= 0") for r in given]


def _check_something_left(
    problem: Problem, rho: float | None, b: np.ndarray, slope: np.ndarray
) -> None:
    most = 2 * float(np.abs(slope).max())
    if rho is not None and most > 0 and not b.any() and not problem.include.size:
        raise OptionError(f"rho is {rho:.6g} and leaves no feature; it must be below {most:.6g}")


def _support(
    problem: Problem, b: np.ndarray, slope: np.ndarray, k: int | None, exactly: bool
) -> np.ndarray:
    """The features of b: k of them, or as many as are not zero (at least one, at most k)."""
    most = problem.k if k is None else k
    here = np.union1d(np.flatnonzero(b), problem.include).size
    n = most if exactly else int(np.clip(here, 1, most))
    # first what is not zero, then what the next smaller penalty might let in
    scores = np.abs(slope) / max(np.abs(slope).max(), TINY)
    scores = np.where(b != 0, 2 + np.abs(b) / (np.abs(b).max() or 1.0), scores)
    return top_k(problem.with_k(n), scores)


def _unit(b: np.ndarray, slope: np.ndarray) -> np.ndarray:
    """b with unit norm; where nothing is left of it, what it was before the penalty."""
    for vector in (b, slope, np.ones(b.size)):
        size = np.abs(vector).max()
        if size > 0:
            vector = vector / size  # squares of tiny entries would vanish
            return vector / np.linalg.norm(vector)
    raise AssertionError("a component has at least one feature")


def _refuses(problem: Problem) -> str | None:
    if problem.criterion != "lambda_max":
        return "is for PCA: criterion 'lambda_max' only"
    if problem.pencil.diagonal_root() is None:
        return "is for PCA: it needs a diagonal B; use 'dc' or 'greedy'"
    if not problem.pencil.is_psd:
        return "needs a positive semidefinite A, and this A has negative eigenvalues; use 'dspca'"
    return None


SOLVER = Solver(
    name="spca",
    summary="elastic net on components (SPCA of Zou et al.), for PCA: a rival, for comparison",
    solve=solve_spca,
    components=spca_components,
    criteria=("lambda_max",),
    refuses=_refuses,
)
