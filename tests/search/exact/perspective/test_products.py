"""Values and prices of the perspective relaxation, on both sides of where products begin."""

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.search.exact.perspective.relax_kernel import relax
from eigensieve.search.exact.perspective.scaled_pencil import ScaledPencil
from eigensieve.search.exact.perspective.weights import WeightProblem


def weighing(c: int, criterion: str, k: int = 5, p: int = 14) -> WeightProblem:
    rng = np.random.default_rng([c, 5])
    X, y = rng.normal(size=(6 * c + 6, p)), np.arange(6 * c + 6) % (c + 1)
    X += rng.normal(size=(c + 1, p))[y]
    pencil, every = es.lda_pencil(X, y, shrinkage=0.4), np.arange(p)
    scaled = ScaledPencil(make_problem(pencil, k, criterion))
    B, is_logdet = scaled.block(every), criterion == "logdet"
    return WeightProblem(B, scaled.H, scaled.D, every[:0], every, k, is_logdet, np.zeros(1))


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("c", [7, 8, 12])
def test_by_definition_and_by_differences(c: int, criterion: str) -> None:
    part = weighing(c, criterion)
    assert len(part.H) == c
    w = np.random.default_rng(1).uniform(0.2, 0.9, part.D.size)

    def f(w: np.ndarray) -> float:
        Q = part.H @ np.linalg.solve(part.B + np.diag(part.D * (1 / w - 1)), part.H.T)
        return float(np.linalg.slogdet(np.eye(c) + Q)[1] if part.logdet else np.trace(Q))

    _, value, gradient, _ = relax(part, w.copy(), np.inf, 1, 0.0, 0.0)
    assert value == pytest.approx(f(w), rel=1e-9)
    steps = 1e-6 * np.eye(w.size)
    assert gradient == pytest.approx([(f(w + h) - f(w - h)) / 2e-6 for h in steps], rel=1e-5)


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("c", [7, 8, 12])
def test_few_of_the_rows_of_B_give_the_same(c: int, criterion: str) -> None:
    """Those of the features with a weight are enough."""
    part = weighing(c, criterion)
    w = np.where(np.arange(part.D.size) < 9, 5 / 9, 0.0)
    whole = relax(part, w.copy(), np.inf, 1, 0.0, 0.0)
    few = relax(part._replace(B=part.B[:9]), w.copy(), np.inf, 1, 0.0, 0.0)
    np.testing.assert_array_equal(few[2], whole[2])
    # of a feature without a weight the price is the slope at a weight that is hardly one
    pair = np.eye(w.size)[[0, 9]] * 1e-7

    def f(w: np.ndarray) -> float:
        T = np.flatnonzero(w)
        M = part.B[np.ix_(T, T)] + np.diag(part.D[T] * (1 / w[T] - 1))
        Q = part.H[:, T] @ np.linalg.solve(M, part.H[:, T].T)
        return float(np.linalg.slogdet(np.eye(c) + Q)[1] if part.logdet else np.trace(Q))

    assert whole[2][9] == pytest.approx((f(w + pair[1]) - f(w)) / 1e-7, rel=1e-3)
