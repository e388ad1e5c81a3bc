"""D.C. programming (Sriperumbudur, Torres and Lanckriet 2007): DC-PCA, DC-GEV.

The cardinality is approximated by a logarithm, and the difference of convex functions that
remains is climbed by a sequence of weighted lassos (dca.py). Exactly k features: the penalty
rho is bisected, the set is cut to k, its weights are recomputed, and exchanges polish it.

Costs (p features, n rows in the factor, s the features still in play): a step is O(n s), dense
O(s^2); for a B that is not diagonal times the sweeps of the lasso. A bisection takes 20 to 40 runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ...errors import OptionError
from ...pencil.budget import Budget
from ...pencil.checks import check_k, check_number
from ...pencil.pencil import Pencil
from ...pencil.problem import Problem, make_problem
from ...pencil.solution import Solution
from ..solver import Solver, seeks_one_direction
from .dca import NOTHING, Ascent
from .dca_search import DcaOptions, DcaSearch, make_climbs

N_RHOS = 30
SMALLEST = 1e-6


def solve_dc(
    problem: Problem,
    budget: Budget,
    *,
    rho: float | None = None,
    eps: float = 0.0,
    start: Any = "eigenvector",
    n_starts: int | None = None,
    swap: bool | None = None,
    tol: float = 1e-6,
    max_iter: int = 1000,
    random_state: int | None = None,
) -> Solution:
    """One cardinality, or one penalty.

    Parameters
    ----------
    rho : the penalty of a non-zero; then k is only the most there may be
    eps : of ``log(eps + |x_i|)``; with 0 a feature that is dropped does not come back
    start : "eigenvector", "ones", a vector, or several as columns
        Zeros of a vector stay zero.
    n_starts : further starts: sets as those of greedy search
        By default 2 if sets are polished and p k^2 is at most 2e6, else none; where there are few
        features, many local searches from other sets follow, as in greedy search. Along a path
        the 2 are those of the largest k.
    swap : polish the set by exchanges; by default unless rho is given
        False is the algorithm of the paper, renormalized.
    tol : the relative change of x at which a run has converged
    max_iter : the most steps of a run
    """
    options = DcaOptions(eps, start, n_starts, swap, tol, max_iter, random_state)
    return DcaSearch(problem, budget, "dc", options).find(rho)


def dc_sizes(
    problem: Problem,
    ks: Sequence[int],
    budget: Budget,
    *,
    rho: float | None = None,
    **options: Any,
) -> dict[int, Solution]:
    """Several cardinalities: the runs of the bisections are shared."""
    if rho is not None:
        raise OptionError("a path over k has no rho; see dc_path for a path over rho")
    return DcaSearch(problem, budget, "dc", DcaOptions(**options)).find_sizes(ks)


@dataclass(frozen=True, eq=False, repr=False)
class DcPath:
    """D.C. programming for several penalties; everything in the order of ``rhos``.

    Attributes
    ----------
    rhos : array (m,)
    vectors : array (p, m), x'Bx = 1; zero where rho leaves nothing
    cardinalities : array (m,), the numbers of non-zeros
    values : array (m,), x'Ax
    objectives : array (m,)
        ``x'Ax - rho sum log(eps + |x_i|)``, the sum over the non-zeros if eps = 0 (there it
        is minus infinity otherwise); zero where rho leaves nothing.
    nus : array (m,)
        Optimal values of the last inner problems. Where eps = 0 and the iteration has converged,
        nu = x'Ax - rho k / 2.
    histories : the objective after every step, one array per rho
    converged : mask (m,)
    rho_max : from here on a cold start leaves nothing
    """

    rhos: np.ndarray
    vectors: np.ndarray
    cardinalities: np.ndarray
    values: np.ndarray
    objectives: np.ndarray
    nus: np.ndarray
    histories: tuple[np.ndarray, ...]
    converged: np.ndarray
    rho_max: float

    @property
    def n_iters(self) -> np.ndarray:
        """Steps per rho."""
        return np.array([h.size for h in self.histories])

    @property
    def supports(self) -> list[np.ndarray]:
        """Where each vector is not zero."""
        return [np.flatnonzero(x) for x in self.vectors.T]

    def __len__(self) -> int:
        return self.rhos.size

    def __repr__(self) -> str:
        return f"DcPath({len(self)} penalties, cardinalities {self.cardinalities.tolist()})"


def dc_path(
    pencil: Pencil,
    rhos: ArrayLike | None = None,
    *,
    warm: bool = False,
    eps: float = 0.0,
    start: Any = "eigenvector",
    tol: float = 1e-6,
    max_iter: int = 1000,
    time_limit: float | None = None,
) -> DcPath:
    """The vectors that D.C. programming finds for a range of penalties.

    Parameters
    ----------
    pencil : Pencil
    rhos : penalties >= 0; by default 30 from a millionth of rho_max to rho_max
    warm : start each from the vector of the next smaller penalty, not from ``start``
        Cold starts (the default) find better vectors; with eps = 0 warm ones have nested supports.
    eps, start, tol, max_iter : as in solver "dc"
    time_limit : seconds; penalties that were not reached have a zero vector and are not converged

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> X = np.random.default_rng(0).normal(size=(40, 6)) * [1, 3, 1, 3, 1, 1]
    >>> es.dc_path(es.pca_pencil(X), [0.001, 0.01, 0.1, 100.0]).cardinalities.tolist()
    [4, 3, 1, 0]
    """
    problem = make_problem(pencil, 1)
    if not isinstance(start, str) and np.ndim(start) != 1:
        raise OptionError("start of a path is one vector, or a name")
    options = DcaOptions(eps, start, tol=tol, max_iter=check_k(max_iter, "max_iter"))
    budget = Budget(time_limit)
    first = climb = next(make_climbs(problem, options, 0, budget))
    penalties = _check_rhos(rhos, first.rho_max)
    ascents: list[Ascent] = [NOTHING] * penalties.size
    late = replace(NOTHING, converged=False)
    with budget.interruptible():
        for place in np.argsort(penalties, kind="stable"):
            if budget.stop() is not None:
                ascents[place] = late
                continue
            ascent = climb.run(penalties[place], budget, options.max_iter)
            ascents[place] = ascent
            if warm and ascent.support.size:
                climb = climb.restart(ascent.vector(pencil.size))
    return DcPath(
        rhos=penalties,
        vectors=np.column_stack([a.vector(pencil.size) for a in ascents]),
        cardinalities=np.array([a.support.size for a in ascents]),
        values=np.array([a.value for a in ascents]),
        objectives=np.array([a.history[-1] if a.history else 0.0 for a in ascents]),
        nus=np.array([a.nu for a in ascents]),
        histories=tuple(np.array(a.history) for a in ascents),
        converged=np.array([a.converged for a in ascents]),
        rho_max=first.rho_max,
    )


def _check_rhos(rhos: ArrayLike | None, rho_max: float) -> np.ndarray:
    if rhos is None:
        return np.geomspace(SMALLEST, 1.0, N_RHOS) * rho_max
    try:
        penalties = np.array(rhos, dtype=np.float64, ndmin=1)
    except (TypeError, ValueError):
        raise OptionError(f"rhos is {rhos!r}; it must list numbers >= 0") from None
    if penalties.ndim != 1 or penalties.size == 0:
        raise OptionError(f"rhos is {rhos!r}; it must list penalties, such as [0.1, 0.2]")
    for rho in penalties.tolist():
        check_number(rho, "rhos", 0.0, np.finfo(float).max, "numbers >= 0")
    return penalties


SOLVER = Solver(
    name="dc",
    summary="D.C. programming (DC-PCA, DC-GEV): bisected log penalty, then 1-swap refinement",
    solve=solve_dc,
    path=dc_sizes,
    refuses=seeks_one_direction,
)
