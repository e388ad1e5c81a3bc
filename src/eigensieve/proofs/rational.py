"""Exact arithmetic: fractions, fraction-free elimination, logarithms with proved digits."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from decimal import Context
from fractions import Fraction
from operator import mul

from ..errors import VerificationError

Matrix = list[list[Fraction]]
MAX_EXACT_FEATURES = 60  # features in one exact matrix
_MAX_BITS = 30_000  # features times the bits of an entry: what an elimination may grow to
_DIGITS = (40, 100, 400, 1600)
MAX_WORK_MICROSECONDS = 30e6  # of one file, in units of about a microsecond
_left: ContextVar[float] = ContextVar("work left", default=math.inf)


@contextmanager
def limited_work(most: float = MAX_WORK_MICROSECONDS) -> Iterator[None]:
    """Within it, exact arithmetic that takes more is refused before it begins."""
    token = _left.set(most)
    try:
        yield
    finally:
        _left.reset(token)


def spend(work: float) -> None:
    """Take so many units off what is left."""
    left = _left.get() - work
    if left < 0.0:
        raise VerificationError("too close to decide: the exact numbers of the file take too long")
    _left.set(left)


def _spend_elimination(size: int, bits: int, width: int = 1) -> None:
    """Numbers grow with every step, and dividing them takes the square of their length."""
    longest = size * bits / 1000.0
    spend(width * size**3 / 3.0 * (2.0 + 2.0 * longest + longest**2 / 5.0))


def fractions_of(values: Sequence[float]) -> list[Fraction]:
    """Doubles as the rational numbers they are."""
    return [Fraction(float(value)) for value in values]


def fraction_rows(rows: Sequence[Sequence[float]]) -> Matrix:
    """A matrix of doubles as rational numbers."""
    return [fractions_of(row) for row in rows]


def dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    """The inner product."""
    return inner_products([left], [right])[0][0]


def product(left: Matrix, right: Matrix) -> Matrix:
    """The matrix product."""
    return inner_products(left, list(zip(*right)))


def inner_products(
    left: Sequence[Sequence[Fraction]], right: Sequence[Sequence[Fraction]]
) -> Matrix:
    """Of all vectors of two lists; each becomes whole numbers over one denominator."""
    rows, columns = [_over_one(row) for row in left], [_over_one(column) for column in right]
    spend(0.2 * len(rows) * len(columns) * (len(left[0]) if rows else 0))
    return [
        [Fraction(sum(map(mul, row, column)), below * under) for column, under in columns]
        for row, below in rows
    ]


def _over_one(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """Fractions as whole numbers over a common denominator."""
    below = math.lcm(*(value.denominator for value in values))
    return [value.numerator * (below // value.denominator) for value in values], below


def submatrix(matrix: Matrix, index: Sequence[int]) -> Matrix:
    """The rows and columns of a principal submatrix."""
    return [[matrix[i][j] for j in index] for i in index]


def is_semidefinite(matrix: Matrix) -> bool:
    """Whether a symmetric matrix is positive semidefinite, exactly."""
    return _minors(matrix) is not None


def is_definite(matrix: Matrix) -> bool:
    """Whether a symmetric matrix is positive definite, exactly."""
    minors = _minors(matrix)
    return minors is not None and len(minors) == len(matrix)


def _minors(matrix: Matrix) -> list[int] | None:
    """The non-zero pivots of a fraction-free elimination, all positive; None if M is not PSD.

    A pivot of zero must come with a row of zeros: the row is left out then.
    """
    rows = _integers(_balanced(matrix))[0]
    pivots = [1]
    for k in range(len(rows)):
        pivot, before = rows[k][k], pivots[-1]
        if pivot < 0 or (pivot == 0 and any(rows[k][k:])):
            return None
        if pivot == 0:
            continue
        for i in range(k + 1, len(rows)):
            factor = rows[i][k]
            for j in range(i, len(rows)):
                rows[i][j] = rows[j][i] = (rows[i][j] * pivot - factor * rows[k][j]) // before
        pivots.append(pivot)
    return pivots[1:]


def _balanced(matrix: Matrix) -> Matrix:
    """Rows and columns times powers of two, so that the diagonal is near one: shorter numbers."""
    sizes = [
        (row[i].denominator.bit_length() - abs(row[i].numerator).bit_length()) // 2
        for i, row in enumerate(matrix)
    ]
    powers = [Fraction(2) ** size for size in sizes]
    return [[x * a * b for x, b in zip(row, powers)] for row, a in zip(matrix, powers)]


def determinant(matrix: Matrix) -> Fraction:
    """The determinant of a square matrix (fraction-free elimination with row exchanges)."""
    n = len(matrix)
    rows, scale = _integers(matrix)
    sign, before = 1, 1
    for k in range(n):
        at = next((i for i in range(k, n) if rows[i][k]), None)
        if at is None:
            return Fraction(0)
        if at != k:
            rows[k], rows[at], sign = rows[at], rows[k], -sign
        pivot = rows[k][k]
        for i in range(k + 1, n):
            factor = rows[i][k]
            for j in range(k + 1, n):
                rows[i][j] = (rows[i][j] * pivot - factor * rows[k][j]) // before
        before = pivot
    return Fraction(sign * before, scale**n)


def _integers(matrix: Matrix) -> tuple[list[list[int]], int]:
    """The matrix times the least number that makes all entries whole, and that number."""
    scale = math.lcm(*(value.denominator for row in matrix for value in row))
    rows = [[value.numerator * (scale // value.denominator) for value in row] for row in matrix]
    bits = max((abs(value).bit_length() for row in rows for value in row), default=0)
    if bits * len(rows) > _MAX_BITS:
        raise VerificationError("too close to decide: the exact numbers are too long")
    _spend_elimination(len(rows), bits, max(1, len(rows[0]) // len(rows)) if rows else 1)
    return rows, scale


def trace_of_quotient(A: Matrix, B: Matrix) -> Fraction:
    """tr(B^-1 A) by fraction-free elimination of [B | A]; B is positive definite."""
    k = len(B)
    rows, _ = _integers([[*b, *a] for a, b in zip(A, B)])
    before = 1
    for i in range(k):
        pivot, own = rows[i][i], rows[i]
        for j in range(k):
            if j != i:
                factor = rows[j][i]
                rows[j] = [(x * pivot - factor * y) // before for x, y in zip(rows[j], own)]
        before = pivot
    return Fraction(sum(rows[i][k + i] for i in range(k)), before) if k else Fraction(0)


def logarithm(value: Fraction, digits: int = _DIGITS[0]) -> tuple[Fraction, Fraction]:
    """Numbers below and above the natural logarithm of a positive number."""
    if value == 1:
        return Fraction(0), Fraction(0)
    context = Context(prec=digits, Emin=-(10**9), Emax=10**9)
    quotient = context.divide(
        context.create_decimal(value.numerator), context.create_decimal(value.denominator)
    )
    about = Fraction(context.ln(quotient))  # correctly rounded
    # numerator, denominator and quotient were rounded, too: less than 4 units of the last digit
    spare = (abs(about) + 4) * Fraction(1, 10 ** (digits - 2))
    return about - spare, about + spare


def sum_with_log_at_most(rational: Fraction, argument: Fraction, limit: Fraction) -> bool:
    """Whether ``rational + log(argument) <= limit``, exactly.

    The logarithm of a rational number other than 1 is transcendental: enough digits decide.
    """
    if argument == 1:
        return rational <= limit
    for digits in _DIGITS:
        low, high = logarithm(argument, digits)
        if rational + high <= limit:
            return True
        if rational + low > limit:
            return False
    raise VerificationError("too close to decide: a logarithm agrees in 1,600 digits")


def round_up(value: Fraction) -> float:
    """A double above, the next one or the one after it."""
    try:
        return math.nextafter(float(value), math.inf)
    except OverflowError:
        return math.inf if value > 0 else -sys.float_info.max


def round_down(value: Fraction) -> float:
    """A double below, the next one or the one before it."""
    return -round_up(-value)
