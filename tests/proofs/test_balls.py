"""Balls contain the exact results, computed here with fractions."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigensieve.proofs.balls import Ball, sum_down, sum_up

numbers = st.one_of(
    st.floats(-1e6, 1e6),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(2**53), 2**53).map(float),
    st.sampled_from([0.0, 5e-324, -5e-324, 2.2e-308, 1e-160, 1e160, 1.0 + 2.0**-52, 1e9 + 1e-7]),
)
radii = st.one_of(st.just(0.0), st.floats(0.0, 1e-3), st.floats(0.0, 1e300))


@pytest.fixture(autouse=True)
def silent() -> Iterator[None]:
    with np.errstate(all="ignore"):
        yield


def contains(ball: Ball, exact: Fraction) -> bool:
    """Also true of a ball that is infinite or NaN, which never proves anything."""
    mid, rad = float(ball.mid), float(ball.rad)
    if not (math.isfinite(mid) and math.isfinite(rad)):
        return not math.isfinite(float(ball.upper)) and not math.isfinite(float(ball.lower))
    return abs(Fraction(mid) - exact) <= Fraction(rad)


def ball(mid: float, rad: float = 0.0) -> Ball:
    return Ball(np.float64(mid), np.float64(rad))


def ends(mid: float, rad: float) -> list[Fraction]:
    return [Fraction(mid) + side * Fraction(rad) for side in (-1, 0, 1)]


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv"])
@settings(max_examples=150, deadline=None)
@given(a=numbers, b=numbers, r=radii, s=radii)
def test_operations_contain_the_exact_results(
    name: str, a: float, b: float, r: float, s: float
) -> None:
    operate = getattr(operator, name)
    with np.errstate(all="ignore"):
        found = operate(ball(a, r), ball(b, s))
    if name == "truediv" and abs(b) <= s:
        assert not found.rad < math.inf
        return
    for x in ends(a, r):
        for y in ends(b, s):
            assert contains(found, operate(x, y))


@settings(max_examples=100, deadline=None)
@given(a=numbers, b=numbers, r=radii, s=radii)
def test_the_larger_of_two(a: float, b: float, r: float, s: float) -> None:
    with np.errstate(all="ignore"):
        found = ball(a, r).maximum(ball(b, s))
    for x in ends(a, r):
        for y in ends(b, s):
            assert contains(found, max(x, y))


@settings(max_examples=100, deadline=None)
@given(a=numbers, e=st.integers(-1100, 1100))
def test_scaling_is_exact_or_says_so(a: float, e: int) -> None:
    with np.errstate(all="ignore"):
        found = Ball.scaled(np.float64(a), e)
    exact = Fraction(a) * Fraction(2) ** e
    assert contains(found, exact)
    if abs(exact) < 2**1000 and (a == 0.0 or abs(exact) > Fraction(2) ** -1000):
        assert found.rad == 0.0 or a == 0.0


@pytest.mark.parametrize("size", [1e-160, 1e-3, 1.0, 1e9, 1e150])
@pytest.mark.parametrize("n", [0, 1, 7, 300])
def test_products_and_sums(size: float, n: int) -> None:
    rng = np.random.default_rng(n)
    P, Q = (size * rng.normal(size=shape) for shape in ((3, n), (n, 2)))
    P += size * 1e6  # so that terms cancel
    Q[::2] *= -1.0
    rad = 1e-9 * np.abs(P)
    found, total = Ball(P, rad) @ Ball.exact(Q), Ball(P, rad).sum(axis=1)
    moved = P + rad * rng.uniform(-0.99, 0.99, P.shape)
    for matrix in (P, moved):
        for i in range(3):
            row = [Fraction(x) for x in matrix[i].tolist()]
            assert contains(total[i], sum(row, Fraction(0)))
            for j in range(2):
                column = [Fraction(x) for x in Q[:, j].tolist()]
                exact = sum((a * b for a, b in zip(row, column)), Fraction(0))
                assert contains(found[i, j], exact)


def test_balls_are_narrow() -> None:
    """An enclosure that is never wrong is easy if it is never narrow."""
    rng = np.random.default_rng(0)
    P = Ball.exact(rng.normal(size=(40, 40)))
    assert (P @ P).rad.max() < 1e-12
    assert (P * P / Ball.exact(3.0)).rad.max() < 1e-13


@settings(max_examples=100, deadline=None)
@given(values=st.lists(numbers, max_size=12))
def test_directed_sums(values: list[float]) -> None:
    exact = sum(map(Fraction, values), Fraction(0))
    up, down = sum_up(values), sum_down(values)
    assert up == math.inf or Fraction(up) >= exact
    assert down == -math.inf or Fraction(down) <= exact


def test_sums_with_an_unknown_term_are_unknown() -> None:
    assert sum_up([1.0, math.nan]) == math.inf
    assert sum_up([math.inf, -math.inf]) == math.inf
    assert sum_down([1.0, math.nan]) == -math.inf
