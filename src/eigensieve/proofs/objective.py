"""The second claim: the set of the header scores what it is said to score."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .balls import Ball
from .cases import Case
from .definite import Shown, show_semidefinite
from .exact_pencils import ExactPencil
from .rational import (
    Matrix,
    determinant,
    fraction_rows,
    is_definite,
    logarithm,
    round_down,
    sum_with_log_at_most,
)
from .records import refuse, refute

TOLERANCE = 1e-9  # of the objective, or of the scale where that is larger
_GRID = 120
_ROUNDING = 1e-12  # what the gap may exceed its tolerance by: the header's numbers are rounded


def scale_of(case: Case) -> float:
    """At most the scale of the pencil, the unit of gaps where the objective is smaller."""
    scale = case.pencil.scale()
    if case.header.criterion == "logdet":
        return math.log1p(scale) * (1.0 - 2.0**-45)
    return scale


def check_objective(case: Case, unit: float) -> float:
    """A proved lower bound of the support's score, or a refusal."""
    header = case.header
    support = np.array(header.support, dtype=np.intp)
    limit = Fraction(header.objective) - Fraction(TOLERANCE) * Fraction(unit)
    A, B = case.pencil.a_block(support, support), case.pencil.b_block(support, support)
    shown = _score_floor(header.criterion, A, B)
    if math.isfinite(shown) and Fraction(shown) >= limit:
        return shown
    if not _reaches(header.criterion, case.exactly(support), limit):
        refute(f"the support does not score the {header.objective:.10g} that is claimed")
    return round_down(limit)


def check_status(case: Case, unit: float) -> None:
    """ "optimal" is a claim as well: the gap is within its tolerance."""
    header = case.header
    if header.status != "optimal":
        return
    room = (Fraction(header.gap_tol) + Fraction(_ROUNDING)) * Fraction(unit)
    if Fraction(header.bound) - Fraction(header.objective) > room:
        refuse('the status is "optimal", and the gap is above gap_tol')


def _score_floor(criterion: str, A: Ball, B: Ball) -> float:
    """A lower bound of the score by enclosures; -inf where they show nothing."""
    if not (np.isfinite(A.mid).all() and np.isfinite(B.mid).all()):
        return -math.inf
    try:
        if criterion == "lambda_max":
            return _rayleigh_floor(A, B)
        if criterion == "trace":
            return _trace_floor(A, B)
        return _logdet_floor(A, B)
    except np.linalg.LinAlgError:
        return -math.inf


def _rayleigh_floor(A: Ball, B: Ball) -> float:
    """x'Ax / x'Bx of one vector x; B is positive definite."""
    L = np.linalg.cholesky(B.mid)
    half = np.linalg.solve(L, A.mid)
    _, vectors = np.linalg.eigh(np.linalg.solve(L, half.T))
    x = Ball.exact(np.linalg.solve(L.T, vectors[:, -1:]))
    return float(((x.T @ A @ x) / (x.T @ B @ x)).lower[0, 0])


def _trace_floor(A: Ball, B: Ball) -> float:
    """tr(X) of X = B^-1 A, less what the residual of X allows: |tr(B^-1 E)| <= sqrt(k) |E| / mu."""
    k = len(A.mid)
    X = Ball.exact(np.linalg.solve(B.mid, A.mid))
    mu = 0.5 * float(np.linalg.eigvalsh(B.mid)[0])
    if mu <= 0.0 or show_semidefinite(B - Ball.exact(mu * np.eye(k))) is not Shown.TRUE:
        return -math.inf
    residual = (A - B @ X).magnitude
    norm = float(np.sqrt(k * np.square(residual).sum())) * (1.0 + 2.0**-40) + 2.0**-500
    trace = Ball(X.mid.diagonal(), X.rad.diagonal()).sum()
    return float((trace - Ball.exact(norm) / Ball.exact(mu)).lower)


def _logdet_floor(A: Ball, B: Ball) -> float:
    """log det(A + B) - log det(B), of the least and of the largest matrix of the enclosures."""
    low, high = _moved(A + B, -1.0), _moved(B, 1.0)
    if not is_definite(low):
        return -math.inf
    ratio = determinant(low) / determinant(high)
    return round_down(logarithm(ratio)[0])


def _moved(matrix: Ball, sign: float) -> Matrix:
    """Below (-1) or above (+1) all symmetric matrices of an enclosure, in the Loewner order.

    Entries are rounded to multiples of 2**-120 first, so that exact numbers stay short.
    """
    grid = np.ldexp(np.rint(np.ldexp(np.tril(matrix.mid), _GRID)), -_GRID)
    mid = grid + np.tril(grid, -1).T
    rad = np.tril(matrix.rad) + np.tril(matrix.rad, -1).T + 2.0**-_GRID
    rows = fraction_rows(mid.tolist())
    for i, room in enumerate(rad.sum(axis=1) * (1.0 + 2.0**-30)):
        rows[i][i] = Fraction(math.nextafter(mid[i, i] + sign * room, sign * math.inf))
    return rows


def _reaches(criterion: str, pencil: ExactPencil, limit: Fraction) -> bool:
    """Whether the score is at least a limit, exactly."""
    A, B = pencil.A, pencil.B
    if criterion == "lambda_max":
        return not is_definite([[limit * b - a for a, b in zip(*rows)] for rows in zip(A, B)])
    if criterion == "trace":
        return _exact_trace(A, B) >= limit
    both = [[a + b for a, b in zip(*rows)] for rows in zip(A, B)]
    if not is_definite(both):
        return False
    # log(x) >= limit, asked the other way round
    return sum_with_log_at_most(limit, determinant(B) / determinant(both), Fraction(0))


def _exact_trace(A: Matrix, B: Matrix) -> Fraction:
    """tr(B^-1 A) by elimination; B is positive definite."""
    k = len(B)
    rows = [[*b, *a] for a, b in zip(A, B)]
    for i in range(k):
        pivot = rows[i][i]
        rows[i] = [value / pivot for value in rows[i]]
        for j in range(k):
            if j != i and rows[j][i]:
                factor = rows[j][i]
                rows[j] = [x - factor * y for x, y in zip(rows[j], rows[i])]
    return sum((rows[i][k + i] for i in range(k)), Fraction(0))
