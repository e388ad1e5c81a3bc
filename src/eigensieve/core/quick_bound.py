"""An upper bound without a search: what a fitted model can say of its own optimality at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .factor_pencil import FactorPencil
from .perspective import ScaledPencil, relax_all, start_state
from .problem import Problem
from .search import Target
from .spectral_bound import spectral_upper_bound

# A dense pencil needs eigenvalues of B, and the spectral bound those of A: not above this.
DENSE_LIMIT = 1500
# A step of the relaxation costs about c^2 p for an A of rank c.
MOST_WORK = 2e7


def root_bound(problem: Problem, support: np.ndarray) -> float:
    """No set of k features has a larger criterion; inf where finding out is not cheap.

    The perspective bound for the trace and log-det criteria, the spectral bound for the largest
    eigenvalue (and the trace, which is never smaller). ``support`` is where the relaxation starts
    from: any set of k features will do, a good one saves time.
    """
    pencil = problem.pencil
    if not isinstance(pencil, FactorPencil) and pencil.size > DENSE_LIMIT:
        return np.inf
    target = Target(problem, 0.0)
    # sets within the quotas are sets: a bound on all holds for them
    work = replace(target.problem, quota=None)
    c = min(len(pencil.spectral_factor[0]), pencil.size)
    is_cheap = c * c * pencil.size <= MOST_WORK
    if work.criterion != "lambda_max":
        return target.outward(_perspective_bound(work, support)) if is_cheap else np.inf
    bound = spectral_upper_bound(problem)
    if pencil.is_psd and is_cheap and c < pencil.size // 2:
        trace = replace(work, criterion="trace")
        bound = min(bound, _perspective_bound(trace, support))
    return bound


def _perspective_bound(problem: Problem, support: np.ndarray) -> float:
    weights = np.zeros(problem.pencil.size)
    weights[support] = 1.0
    return relax_all(problem, ScaledPencil(problem), start_state(problem), weights).bound
