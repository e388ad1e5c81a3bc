"""The part of a log-det bound that depends on Q alone.

With P = W^-1/2 Q Q' W^-1/2 (W the weights of the columns) it is
``tr P - K - log det P = sum_c (QQ')_cc / w_c - K + log(prod w_c / det(Q)^2)``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from .balls import Ball, sum_down, sum_up
from .rational import determinant, dot, fraction_rows, logarithm, round_down, round_up
from .records import refuse

_MAX_COLUMNS = 200


@dataclass(frozen=True, eq=False)
class Tangent:
    """For the trace there is no Q, and nothing to add."""

    Q: np.ndarray | None
    weights: list[Fraction]

    @cached_property
    def exact(self) -> tuple[Fraction, Fraction]:
        """Two numbers, the first of which is to be added to the logarithm of the second."""
        if self.Q is None:
            return Fraction(0), Fraction(1)
        if len(self.Q) > _MAX_COLUMNS:
            refuse(f"too close to decide: Q has {len(self.Q)} columns")
        rows = fraction_rows(self.Q.tolist())
        det = determinant(rows)
        if det == 0:
            refuse("Q is singular")
        trace = sum((dot(row, row) / w for row, w in zip(rows, self.weights)), Fraction(0))
        return trace - len(rows), math.prod(self.weights, start=Fraction(1)) / det**2

    @property
    def ends(self) -> tuple[float, float]:
        """A lower and an upper bound; by exact numbers where the enclosure of det Q is wide."""
        if self.Q is None:
            return 0.0, 0.0
        shown = self._enclosed_determinant(self.Q)
        if shown is None:
            rational, argument = self.exact
            low, high = logarithm(argument)
            return round_down(rational + low), round_up(rational + high)
        det, error = shown
        low, high = logarithm(math.prod(self.weights, start=Fraction(1)) / det**2)
        squares = Ball.exact(self.Q).squared().sum(axis=1) / Ball.rational(self.weights)
        trace, K = squares.sum(), float(len(self.Q))
        return (
            sum_down([float(trace.lower), -K, round_down(low), -error]),
            sum_up([float(trace.upper), -K, round_up(high), error]),
        )

    @staticmethod
    def _enclosed_determinant(Q: np.ndarray) -> tuple[Fraction, float] | None:
        """A number and how far the logarithm of its square may be from that of det(Q)^2.

        With R the triangle of a QR factorisation and Y near its inverse, the squares of det Q and
        of det R differ by the factor det((QY)'QY) / det((RY)'RY); both are near one.
        """
        try:
            R = np.triu(np.linalg.qr(Q, mode="r"))
            Y = Ball.exact(np.linalg.inv(R))
        except np.linalg.LinAlgError:
            return None
        error = 0.0
        for factor in (Q, R):
            half = Ball.exact(factor) @ Y
            away = half.T @ half - Ball.exact(np.eye(len(Q)))
            size = sum_up((away.magnitude**2 * (1.0 + 2.0**-40)).ravel().tolist())
            norm = math.sqrt(size) * (1.0 + 2.0**-40) + 2.0**-500
            if not norm < 1e-6:
                return None
            # |log det(I + G)| <= K |log(1 - |G|)|
            error += len(Q) * norm * (1.0 + 2e-6)
        det = math.prod((Fraction(r) for r in R.diagonal().tolist()), start=Fraction(1))
        return det, math.nextafter(error, math.inf)
