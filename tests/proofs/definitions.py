"""Determinants and logarithms by their definitions, for tests of exact arithmetic."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

DIGITS = 150
_ONE = 10**DIGITS


def leibniz(matrix: list[list[Fraction]]) -> Fraction:
    """The determinant as a sum over permutations."""
    total = Fraction(0)
    for order in itertools.permutations(range(len(matrix))):
        sign = (-1) ** sum(a > b for a, b in itertools.combinations(order, 2))
        total += sign * math.prod((matrix[i][j] for i, j in enumerate(order)), start=Fraction(1))
    return total


def log_by_series(x: Fraction) -> Fraction:
    """log x = 2 artanh((x - 1) / (x + 1)), after powers of two; good to 10**-140."""
    twos = x.numerator.bit_length() - x.denominator.bit_length()
    rest = x / Fraction(2) ** twos
    return _near_one(rest) + twos * _near_one(Fraction(2))


def _near_one(x: Fraction) -> Fraction:
    """The series in whole numbers of 150 digits, for x between 1/2 and 2."""
    z = (x - 1) / (x + 1)
    power = z.numerator * _ONE // z.denominator
    square = power * power // _ONE
    total, i = 0, 1
    while power:
        total += power // i
        power = power * square // _ONE
        if power == -1:
            break
        i += 2
    return Fraction(2 * total, _ONE)
