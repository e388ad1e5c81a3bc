"""An upper bound without a search: what a fitted model can say of its own optimality at once."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..pencil.pencil import Pencil
from ..pencil.problem import Problem
from ..pencil.solution import relative_gap
from .exact.dominance.root import row_bound
from .exact.perspective.relaxation import relax_all
from .exact.perspective.scaled_pencil import ScaledPencil
from .hadamard import hadamard_bound
from .sparse_pca_relaxation import Relaxation
from .spectral_bound import spectral_upper_bound
from .target import Target, start_state

# A dense pencil needs eigenvalues of B, and the spectral bound those of A: not above this.
DENSE_LIMIT = 1500
# A step of the relaxation costs about c^2 p for an A of rank c.
MAX_WORK = 2e7
# The spectral bound costs a few times this much, once: a second is not cheap any more.
SPECTRAL_WORK = 2e9
# The semidefinite relaxation: up to so many features, where the gap is above a hundredth; a tenth
# of a second of steps gives nearly all of it.
RELAXATION_LIMIT = 150
RELAXATION_STEPS = 50
WIDE_GAP = 0.01
SHARES = (0.25, 0.5, 0.75, 0.9)


def root_bound(problem: Problem, support: np.ndarray) -> float:
    """No set of k features has a larger criterion; inf where finding out is not cheap.

    The perspective bound for the trace and log-det criteria; for the largest eigenvalue sums of
    rows where B is diagonal, and the spectral bound (and the trace, which is never smaller; for
    PCA the semidefinite relaxation). ``support`` is where a bound starts from: any set of k
    features will do, a good one saves time.
    """
    pencil = problem.pencil
    if problem.k == 1:
        # all criteria order single features by the same ratio: the best one is the bound
        return problem.ceiling([int(np.argmax(pencil.diag_A / pencil.diag_B))])
    if _is_large(pencil) and not pencil.has_diagonal_B:
        return np.inf
    if pencil.has_A_on_disk:
        streamed, p = pencil.factors, pencil.size
        if not streamed.can_load(p) or pencil.max_rank**2 * p > SPECTRAL_WORK:
            return np.inf
        pencil = streamed.load_all()
        problem = replace(problem, pencil=pencil)
    target = Target(problem, 0.0)
    if target.problem.criterion == "lambda_max":
        return _eigenvalue_bound(problem, support)
    if _is_large(pencil) or not _is_cheap(pencil):
        return np.inf
    # sets within the quotas are sets: a bound on all holds for them
    return target.proved(_perspective_bound(replace(target.problem, quota=None), support))


def _eigenvalue_bound(problem: Problem, support: np.ndarray) -> float:
    pencil, value = problem.pencil, problem.score(support)
    bound = row_bound(problem, value)
    if _is_large(pencil) or (pencil.factors and _rank(pencil) ** 2 * pencil.size > SPECTRAL_WORK):
        return bound
    bound = min(bound, spectral_upper_bound(problem))
    if _is_cheap(pencil) and pencil.is_psd and _rank(pencil) < pencil.size // 2:
        trace = replace(problem, criterion="trace", quota=None)
        bound = min(bound, _perspective_bound(trace, support))
    if relative_gap(value, bound, problem.unit) > WIDE_GAP:
        bound = min(bound, _relaxed_bound(problem))
    return bound


def _is_large(pencil: Pencil) -> bool:
    """Whether eigenvalues of a dense pencil would take long."""
    return not pencil.factors and pencil.size > DENSE_LIMIT


def _is_cheap(pencil: Pencil) -> bool:
    """Whether the perspective relaxation is."""
    return _rank(pencil) ** 2 * pencil.size <= MAX_WORK * pencil.speed


def _rank(pencil: Pencil) -> int:
    """The rank of A, or an upper bound on it: its factor is not decomposed for this."""
    return min(pencil.max_rank if pencil.factors else len(pencil.factor_A), pencil.size)


def _relaxed_bound(problem: Problem) -> float:
    """For PCA of few features: the spectral bound helped by the semidefinite relaxation.

    For every symmetric Y the largest eigenvalue of A on k features is at most that of A - Y, which
    has a spectral bound, plus k max |Y_ij|. A share of the relaxation's Y often beats all of it.
    """
    pencil = problem.pencil
    if not 1 < problem.k < pencil.size <= RELAXATION_LIMIT:
        return np.inf
    root = pencil.diagonal_root()
    if root is None:
        return np.inf
    A = pencil.with_identity_B(root).A
    relaxation = Relaxation(A, problem.k)
    for _ in range(RELAXATION_STEPS):
        relaxation.step()
    relaxation.look()
    bounds = [relaxation.upper]
    for share in SHARES:
        Y = share * relaxation.multiplier
        rest = Pencil._trusted(A - Y, None, blocks=pencil.blocks)
        limit = spectral_upper_bound(replace(problem, pencil=rest))
        bounds.append(limit + problem.k * float(np.abs(Y).max()))
    return min(bounds)


def _perspective_bound(problem: Problem, support: np.ndarray) -> float:
    weights = np.zeros(problem.pencil.size)
    weights[support] = 1.0
    scaled = ScaledPencil(problem)
    if scaled.is_blurred:
        return hadamard_bound(problem)
    return relax_all(problem, scaled, start_state(problem), weights).bound
