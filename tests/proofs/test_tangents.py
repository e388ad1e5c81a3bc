"""The enclosure of the tangent's constant against its exact value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eigensieve.errors import VerificationError
from eigensieve.proofs.tangents import Tangent
from tests.proofs.definitions import leibniz, log_by_series


def by_definition(Q: np.ndarray, weights: list[Fraction]) -> Fraction:
    rows = [[Fraction(x) for x in row] for row in Q.tolist()]
    total = -2 * log_by_series(abs(leibniz(rows))) - len(rows)
    for row, w in zip(rows, weights):
        total += log_by_series(w) + sum(x * x for x in row) / w
    return total


@pytest.mark.parametrize("K", [1, 2, 3, 5])
@pytest.mark.parametrize("condition", [1.0, 1e4, 1e10, 1e14])
def test_the_exact_value_lies_between(K: int, condition: float) -> None:
    rng = np.random.default_rng(K)
    Q = rng.normal(size=(K, K)) * np.geomspace(1.0, 1.0 / condition, K)
    Q = Q @ np.linalg.qr(rng.normal(size=(K, K)))[0]
    weights = [Fraction(i + 1, K * (K + 1) // 2) for i in range(K)]
    tangent, exact = Tangent(Q, weights), by_definition(Q, weights)
    low, high = tangent.ends
    assert Fraction(low) <= exact <= Fraction(high)
    assert high - low <= 1e-6 * (1.0 + abs(high))
    rational, argument = tangent.exact
    assert abs(rational + log_by_series(argument) - exact) < Fraction(1, 10**130)


def test_no_q_adds_nothing() -> None:
    tangent = Tangent(None, [Fraction(1)])
    assert tangent.ends == (0.0, 0.0)
    assert tangent.exact == (Fraction(0), Fraction(1))


def test_a_singular_q_is_refused() -> None:
    with pytest.raises(VerificationError, match="Q is singular"):
        _ = Tangent(np.array([[1.0, 2.0], [2.0, 4.0]]), [Fraction(1, 2)] * 2).ends
