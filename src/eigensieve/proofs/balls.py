"""Ball arithmetic: arrays of midpoints and radii that contain the exact results.

Every operation is done once in ordinary doubles; its radius covers what the operands leave
open, the rounding of the midpoint (half a unit in the last place; underflow counts) and the
rounding of the radius itself. For sums and matrix products the a-priori bound
``|fl(PQ) - PQ| <= gamma_n |P||Q|`` holds in whatever order the terms are added.
Where something overflows the ball becomes infinite or NaN, and then no comparison holds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

UNIT = 2.0**-53  # relative error of one rounded operation
UNDERFLOW = 2.0**-1070  # more than the underflow of the few products in one formula
_SPARE = 1.0 + 2.0**-48  # more than the relative rounding of one formula for a radius


@dataclass(frozen=True, eq=False)
class Ball:
    """All arrays within ``rad`` of ``mid``, entry by entry."""

    mid: np.ndarray
    rad: np.ndarray

    @classmethod
    def exact(cls, values: np.ndarray | float) -> Ball:
        """Doubles as they are."""
        mid = np.asarray(values, dtype=np.float64)
        return cls(mid, np.zeros(mid.shape))

    @classmethod
    def scaled(cls, values: np.ndarray, exponents: np.ndarray | int) -> Ball:
        """``values * 2**exponents``; exact unless it underflows."""
        mid = np.ldexp(values, exponents)
        return _closed(mid, np.where(np.abs(mid) < 2.0**-1021, UNDERFLOW, 0.0))

    def shifted(self, exponents: np.ndarray) -> Ball:
        """Times ``2**exponents``."""
        scaled = Ball.scaled(self.mid, exponents)
        return Ball(scaled.mid, np.ldexp(self.rad, exponents) + (scaled.rad + UNDERFLOW))

    @classmethod
    def between(cls, low: np.ndarray, high: np.ndarray) -> Ball:
        """The ball around an interval."""
        mid = 0.5 * low + 0.5 * high
        return cls(mid, _outward(np.maximum(high - mid, mid - low)))

    @classmethod
    def rational(cls, values: Iterable[Fraction]) -> Ball:
        """The doubles nearest to some fractions."""
        mid = np.array([float(value) for value in values])
        return cls(mid, _outward(np.abs(mid) * UNIT))

    @property
    def shape(self) -> tuple[int, ...]:
        return self.mid.shape

    @property
    def T(self) -> Ball:
        return Ball(self.mid.T, self.rad.T)

    @property
    def upper(self) -> np.ndarray:
        return np.nextafter(self.mid + self.rad, np.inf)

    @property
    def lower(self) -> np.ndarray:
        return np.nextafter(self.mid - self.rad, -np.inf)

    @property
    def magnitude(self) -> np.ndarray:
        """Upper bounds of the absolute values."""
        return np.nextafter(np.abs(self.mid) + self.rad, np.inf)

    def __getitem__(self, index: Any) -> Ball:
        return Ball(np.asarray(self.mid[index]), np.asarray(self.rad[index]))

    def __neg__(self) -> Ball:
        return Ball(-self.mid, self.rad)

    def __add__(self, other: Ball) -> Ball:
        mid = self.mid + other.mid
        return Ball(mid, _outward(self.rad + other.rad + np.abs(mid) * UNIT))

    def __sub__(self, other: Ball) -> Ball:
        return self + (-other)

    def __mul__(self, other: Ball) -> Ball:
        mid = self.mid * other.mid
        spread = np.abs(self.mid) * other.rad + self.rad * (np.abs(other.mid) + other.rad)
        return Ball(mid, _outward(spread + np.abs(mid) * UNIT))

    def __truediv__(self, other: Ball) -> Ball:
        room = np.abs(other.mid) - other.rad  # the least the divisor can be
        mid = self.mid / other.mid
        spread = (self.rad + (np.abs(mid) + UNDERFLOW) * other.rad) / room
        rad = _outward(spread + np.abs(mid) * UNIT)
        return Ball(mid, np.where(room > 0.0, rad, np.inf))

    def __matmul__(self, other: Ball) -> Ball:
        n = self.mid.shape[-1]
        mid = self.mid @ other.mid
        size = np.abs(other.mid)
        rad = np.abs(self.mid) @ (_gamma(n) * size + other.rad)
        if self.rad.any():
            rad = rad + self.rad @ (size + other.rad)
        return _closed(mid, _outward(rad * (1.0 + 2.0 * _gamma(n)), 4 * n))

    def sum(self, axis: int | None = None) -> Ball:
        n = self.mid.size if axis is None else self.mid.shape[axis]
        rad = np.sum(self.rad + _gamma(n) * np.abs(self.mid), axis=axis)
        return _closed(np.sum(self.mid, axis=axis), _outward(rad * (1.0 + 2.0 * _gamma(n)), n))

    def squared(self) -> Ball:
        """Entry by entry."""
        return self * self

    def maximum(self, other: Ball) -> Ball:
        """The larger of two numbers, entry by entry."""
        return Ball.between(
            np.maximum(self.lower, other.lower), np.maximum(self.upper, other.upper)
        )


def _closed(mid: np.ndarray, rad: np.ndarray) -> Ball:
    """A ball whose midpoint may have overflowed though its radius did not."""
    return Ball(mid, np.where(np.isfinite(mid), rad, np.inf))


def _gamma(n: int) -> float:
    """At least n u / (1 - n u), for every n that fits into memory."""
    return (n + 8) * UNIT


def _outward(rad: np.ndarray, terms: int = 1) -> np.ndarray:
    """A radius, enlarged by more than its own rounding and underflow."""
    return np.asarray(rad * _SPARE + (terms + 4) * UNDERFLOW)


def sum_up(values: Iterable[float]) -> float:
    """An upper bound of the sum of some doubles (infinity where one of them is not finite)."""
    terms = [float(value) for value in values]
    if not all(map(math.isfinite, terms)):
        return math.inf
    try:
        return math.nextafter(math.fsum(terms), math.inf)
    except OverflowError:
        return math.inf


def sum_down(values: Iterable[float]) -> float:
    """A lower bound of the sum of some doubles."""
    return -sum_up(-float(value) for value in values)


def keeps_subnormals() -> bool:
    """Whether tiny numbers survive: scalars, arrays and products, as results and as operands.

    A process can have them flushed to zero (``torch.set_flush_denormal``, libraries built with
    -ffast-math); then every bound on the rounding of small numbers would be wrong.
    """
    half = np.full((16, 16), 2.0**-530)
    made = [np.float64(2.0**-600) * np.float64(2.0**-450), *(half * half).flat, *(half @ half).flat]
    seen = np.full(67, 2.0**-1060) * 2.0**60
    return min(made) > 0.0 and bool((seen == 2.0**-1000).all())
