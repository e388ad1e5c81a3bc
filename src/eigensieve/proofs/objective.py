"""The second claim: the set of the header scores what it is said to score."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .balls import Ball
from .cases import Case
from .definite import Shown, show_semidefinite
from .exact_pencils import ExactPencil
from .nodes import RecordedNode
from .rational import (
    Matrix,
    determinant,
    fraction_rows,
    is_definite,
    logarithm,
    round_down,
    sum_with_log_at_most,
    trace_of_quotient,
)
from .records import refuse, refute

TOLERANCE = 1e-9  # of the objective and of the scale
_GRID = 120
_ROUNDING = 1e-12  # what the gap may exceed its tolerance by: the header's numbers are rounded


def scale_of(case: Case, root: RecordedNode) -> float:
    """The unit of gaps where the objective is smaller: about what a set of the root can score.

    Only features that an admissible set can have count, and pairs that one can have together;
    where A is indefinite a pair counts for what it can score. It is never above the bound,
    which no score exceeds: what nobody can reach makes no gap look small.
    """
    can_be = np.concatenate([root.inside, root.free[np.array(root.need)[root.blocks] > 0]])
    index = np.sort(can_be)
    # of free features of a block that needs one, only one can be chosen: they get the same mark
    mark = len(root.need) + np.arange(case.header.n_features)
    alone = np.array(root.need)[root.blocks] == 1
    mark[root.free[alone]] = root.blocks[alone]
    pairs = case.header.criterion == "lambda_max"
    scale = case.pencil.scale(index, mark[index] if pairs else np.zeros(len(index)))
    if case.header.criterion == "logdet":
        scale = math.log1p(scale) * (1.0 - 2.0**-45)
    return min(scale, abs(case.header.bound))


def check_objective(case: Case, scale: float) -> float:
    """A proved lower bound of the support's score, or a refusal."""
    header = case.header
    support = np.array(header.support, dtype=np.intp)
    room = Fraction(TOLERANCE) * (abs(Fraction(header.objective)) + Fraction(scale))
    limit = Fraction(header.objective) - room
    A, B = case.pencil.a_block(support, support), case.pencil.b_block(support, support)
    shown = _score_floor(header.criterion, A, B)
    if math.isfinite(shown) and Fraction(shown) >= limit:
        return shown
    if not reaches(header.criterion, case.exactly(support), limit):
        refute(f"the support does not score the {header.objective:.10g} that is claimed")
    return round_down(limit)


def check_status(case: Case, scale: float) -> None:
    """ "optimal" is a claim as well: the gap is within its tolerance."""
    header = case.header
    if header.status != "optimal":
        return
    unit = max(abs(Fraction(header.objective)), Fraction(scale))
    room = (Fraction(header.gap_tol) + Fraction(_ROUNDING)) * unit
    if Fraction(header.bound) - Fraction(header.objective) > room:
        refuse('the status is "optimal", and the gap is above gap_tol')


def _score_floor(criterion: str, A: Ball, B: Ball) -> float:
    """A lower bound of the score by enclosures; -inf where they show nothing."""
    if not (np.isfinite(A.mid).all() and np.isfinite(B.mid).all()):
        return -math.inf
    try:
        if criterion == "lambda_max":
            return rayleigh_floor(A, B)
        if criterion == "trace":
            return trace_ends(A, B)[0]
        return _logdet_floor(A, B)
    except np.linalg.LinAlgError:
        return -math.inf


def rayleigh_floor(A: Ball, B: Ball) -> float:
    """x'Ax / x'Bx of one vector x; B is positive definite."""
    L = np.linalg.cholesky(B.mid)
    half = np.linalg.solve(L, A.mid)
    _, vectors = np.linalg.eigh(np.linalg.solve(L, half.T))
    x = Ball.exact(np.linalg.solve(L.T, vectors[:, -1:]))
    return float(((x.T @ A @ x) / (x.T @ B @ x)).lower[0, 0])


def trace_ends(A: Ball, B: Ball) -> tuple[float, float]:
    """tr(X) of X = B^-1 A, and what its residual E allows: |tr(B^-1 E)| <= sqrt(k) |E| / mu."""
    k = len(A.mid)
    X = Ball.exact(np.linalg.solve(B.mid, A.mid))
    mu = 0.5 * float(np.linalg.eigvalsh(B.mid)[0])
    if mu <= 0.0 or show_semidefinite(B - Ball.exact(mu * np.eye(k))) is not Shown.TRUE:
        return -math.inf, math.inf
    residual = (A - B @ X).magnitude
    norm = float(np.sqrt(k * np.square(residual).sum())) * (1.0 + 2.0**-40) + 2.0**-500
    trace = Ball(X.mid.diagonal(), X.rad.diagonal()).sum()
    missed = Ball.exact(norm) / Ball.exact(mu)
    return float((trace - missed).lower), float((trace + missed).upper)


def _logdet_floor(A: Ball, B: Ball) -> float:
    """log det(A + B) - log det(B), of the least and of the largest matrix of the enclosures."""
    low, high = _moved(A + B, -1.0), _moved(B, 1.0)
    if low is None or high is None or not is_definite(low):
        return -math.inf
    ratio = determinant(low) / determinant(high)
    return round_down(logarithm(ratio)[0])


def _moved(matrix: Ball, sign: float) -> Matrix | None:
    """Below (-1) or above (+1) all symmetric matrices of an enclosure, in the Loewner order.

    Entries are rounded to multiples of 2**-120 first, so that exact numbers stay short; those
    above one are such multiples. None where the enclosure is too large for doubles.
    """
    lower = np.tril(matrix.mid)
    grid = np.ldexp(np.rint(np.ldexp(np.clip(lower, -1.0, 1.0), _GRID)), -_GRID)
    grid = np.where(np.abs(lower) < 1.0, grid, lower)
    mid = grid + np.tril(grid, -1).T
    rad = np.tril(matrix.rad) + np.tril(matrix.rad, -1).T + 2.0**-_GRID
    ends = np.nextafter(mid.diagonal() + sign * (rad.sum(axis=1) * (1.0 + 2.0**-30)), sign * np.inf)
    if not (np.isfinite(mid).all() and np.isfinite(ends).all()):
        return None
    rows = fraction_rows(mid.tolist())
    for i, end in enumerate(ends.tolist()):
        rows[i][i] = Fraction(end)
    return rows


def reaches(criterion: str, pencil: ExactPencil, limit: Fraction) -> bool:
    """Whether the score is at least a limit, exactly."""
    A, B = pencil.A, pencil.B
    if criterion == "lambda_max":
        return not is_definite([[limit * b - a for a, b in zip(*rows)] for rows in zip(A, B)])
    if criterion == "trace":
        return trace_of_quotient(A, B) >= limit
    both = [[a + b for a, b in zip(*rows)] for rows in zip(A, B)]
    if not is_definite(both):
        return False
    # log(x) >= limit, asked the other way round
    return sum_with_log_at_most(limit, determinant(B) / determinant(both), Fraction(0))
