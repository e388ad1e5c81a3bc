"""Exact arithmetic against definitions and against many digits."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from eigensieve.errors import VerificationError
from eigensieve.proofs import rational
from tests.proofs.definitions import leibniz, log_by_series


def test_the_series_is_the_logarithm() -> None:
    for x in (0.01, 0.7, 1.0, 1.3, 2.0, 1e10):
        assert float(log_by_series(Fraction(x))) == pytest.approx(math.log(x), rel=1e-14, abs=1e-14)


def random_matrix(n: int, seed: int) -> list[list[Fraction]]:
    rng = np.random.default_rng(seed)
    tops, bottoms = rng.integers(-9, 10, (n, n)), rng.integers(1, 7, (n, n))
    return [[Fraction(int(a), int(b)) for a, b in zip(x, y)] for x, y in zip(tops, bottoms)]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5])
def test_determinant(n: int) -> None:
    for seed in range(5):
        M = random_matrix(n, seed)
        if n > 1 and seed == 0:
            M[1] = [2 * x for x in M[0]]
        if n > 1 and seed == 1:
            M[0][0] = Fraction(0)
        assert rational.determinant(M) == leibniz(M)


def principal_minors(matrix: list[list[Fraction]]) -> list[Fraction]:
    n = len(matrix)
    return [
        leibniz(rational.submatrix(matrix, index))
        for size in range(1, n + 1)
        for index in itertools.combinations(range(n), size)
    ]


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_semidefinite_by_all_principal_minors(n: int) -> None:
    seen = set()
    for seed in range(40):
        half = random_matrix(n, seed)
        if seed % 3 == 0:
            half = [[*row[: n - 1], Fraction(0)] for row in half]  # singular
        M = rational.product(half, [list(column) for column in zip(*half)])
        if seed % 2:
            M[seed % n][seed % n] -= Fraction(seed % 5, 3)
        minors = principal_minors(M)
        expected = all(minor >= 0 for minor in minors)
        assert rational.is_semidefinite(M) is expected
        assert rational.is_definite(M) is (expected and minors[-1] > 0)
        seen.add((expected, minors[-1] > 0))
    assert {(True, True), (True, False)} <= seen
    assert any(not expected for expected, _ in seen)


@pytest.mark.parametrize(
    "value", ["1/3", "2", "1000000007/1000000006", "1e-300", "1e300", "1/1e400", "3e4000"]
)
def test_logarithm_encloses(value: str) -> None:
    top, _, bottom = value.partition("/")
    number = Fraction(top) / Fraction(bottom or 1)
    exact = log_by_series(number)
    for digits in (40, 100):
        low, high = rational.logarithm(number, digits)
        assert low < exact < high
        assert high - low < (abs(low) + 10) * Fraction(1, 10 ** (digits - 4))


def test_a_sum_with_a_logarithm_is_decided_by_digits() -> None:
    x = Fraction(7, 5)
    low, high = rational.logarithm(x, 300)
    assert rational.sum_with_log_at_most(Fraction(0), x, high)
    assert not rational.sum_with_log_at_most(Fraction(0), x, low)
    assert rational.sum_with_log_at_most(Fraction(1, 3), Fraction(1), Fraction(1, 3))
    assert not rational.sum_with_log_at_most(Fraction(1, 3), Fraction(1), Fraction(1, 4))


@pytest.mark.parametrize(
    "value",
    [Fraction(1, 3), Fraction(-1, 3), Fraction(0), Fraction(10) ** 400, -(Fraction(10) ** 400)],
)
def test_rounding_is_directed(value: Fraction) -> None:
    up, down = rational.round_up(value), rational.round_down(value)
    assert up == math.inf or Fraction(up) >= value
    assert down == -math.inf or Fraction(down) <= value
    assert down < up


def test_numbers_that_are_too_long_are_refused() -> None:
    wide = [[Fraction(1), Fraction(1, 2**20000)], [Fraction(1, 2**20000), Fraction(1)]]
    with pytest.raises(VerificationError, match="too close to decide"):
        rational.is_semidefinite(wide)
