"""The third claim: every listed set is admissible, and scores what the list says."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from .balls import Ball, sum_up
from .cases import Case
from .definite import Shown, show_semidefinite
from .exact_pencils import ExactPencil
from .lists import TIE, ListClaim
from .objective import rayleigh_floor, reaches, trace_ends
from .rational import (
    determinant,
    is_semidefinite,
    logarithm,
    round_down,
    round_up,
    sum_with_log_at_most,
    trace_of_quotient,
)
from .records import refute


def check_scores(case: Case, claim: ListClaim, unit: float) -> None:
    """Every score is the true one but for rounding, and above the bound."""
    bound = Fraction(case.header.bound)
    room = Fraction(TIE) * Fraction(unit)
    for i, (support, score) in enumerate(zip(claim.sets, claim.scores)):
        index = np.array(support, dtype=np.intp)
        least, most = max(bound, Fraction(score) - room), Fraction(score) + room
        low, high = _enclosed(case, index, round_down(most))
        if not (math.isfinite(low) and Fraction(low) >= least) and not reaches(
            case.header.criterion, case.exactly(index), least
        ):
            refute(f"set {i} of the list does not score the {score:.10g} that is claimed")
        if not (math.isfinite(high) and Fraction(high) <= most) and not _stays_below(
            case.header.criterion, case.exactly(index), most
        ):
            refute(f"set {i} of the list scores more than the {score:.10g} that is claimed")


def _enclosed(case: Case, index: np.ndarray, most: float) -> tuple[float, float]:
    """Bounds of a score; infinite where the enclosures show nothing."""
    A, B = case.pencil.a_block(index, index), case.pencil.b_block(index, index)
    if not (np.isfinite(A.mid).all() and np.isfinite(B.mid).all()):
        return -math.inf, math.inf
    try:
        if case.header.criterion == "lambda_max":
            below = show_semidefinite(Ball.exact(most) * B - A, explain=False) is Shown.TRUE
            return rayleigh_floor(A, B), most if below else math.inf
        if case.header.criterion == "trace":
            return trace_ends(A, B)
        return _logdet_ends(A, B)
    except np.linalg.LinAlgError:
        return -math.inf, math.inf


def _logdet_ends(A: Ball, B: Ball) -> tuple[float, float]:
    """log det(A + B) - log det(B)."""
    (above, error), (below, more) = _log_determinant(A + B), _log_determinant(B)
    missed = sum_up([error, more])
    if not math.isfinite(missed):
        return -math.inf, math.inf
    low, high = logarithm(above / below)
    return round_down(low - Fraction(missed)), round_up(high + Fraction(missed))


def _log_determinant(matrix: Ball) -> tuple[Fraction, float]:
    """A number whose logarithm is at most so far from the one of the determinant.

    With L a Cholesky factor of the midpoint and Y near its inverse, det(matrix) is that of
    Y matrix Y', which is near one, times the square of det(L) / det(YL), near one as well.
    """
    L = np.tril(np.linalg.cholesky(matrix.mid))
    Y = Ball.exact(np.tril(np.linalg.inv(L)))
    identity, error = Ball.exact(np.eye(len(L))), 0.0
    for product, times in ((Y @ matrix @ Y.T, 1.0), (Y @ Ball.exact(L), 2.0)):
        away = (product - identity).magnitude
        size = sum_up((away**2 * (1.0 + 2.0**-40)).ravel().tolist())
        norm = math.sqrt(size) * (1.0 + 2.0**-40) + 2.0**-500
        if not norm < 1e-6:
            return Fraction(1), math.inf
        # |log det(I + G)| <= n |log(1 - |G|)|
        error += times * len(L) * norm * (1.0 + 2e-6)
    det = math.prod((Fraction(entry) for entry in L.diagonal().tolist()), start=Fraction(1))
    return det**2, math.nextafter(error, math.inf)


def _stays_below(criterion: str, pencil: ExactPencil, limit: Fraction) -> bool:
    """Whether the score is at most a limit, exactly."""
    A, B = pencil.A, pencil.B
    if criterion == "lambda_max":
        return is_semidefinite([[limit * b - a for a, b in zip(*rows)] for rows in zip(A, B)])
    if criterion == "trace":
        return trace_of_quotient(A, B) <= limit
    both = [[a + b for a, b in zip(*rows)] for rows in zip(A, B)]
    return sum_with_log_at_most(Fraction(0), determinant(both) / determinant(B), limit)
