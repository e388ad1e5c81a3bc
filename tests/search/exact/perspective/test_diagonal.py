"""The tuned diagonal of the perspective search, and prices with many rows of H."""

from itertools import combinations

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.problem import make_problem
from eigensieve.search.exact.perspective import diagonal, perspective
from eigensieve.search.exact.perspective.diagonal import Relaxed, tuned_diagonal
from eigensieve.search.exact.perspective.relax_kernel import relax
from eigensieve.search.exact.perspective.relaxation import ScaledPencil
from eigensieve.search.exact.perspective.weights import WeightProblem

CRITERIA = ["trace", "logdet"]


def classes(seed: int, p: int = 14, c: int = 12) -> es.Pencil:
    """More rows than columns, so that B leaves a diagonal room."""
    rng = np.random.default_rng([seed, 5])
    X = rng.normal(size=(6 * c, p)) @ (np.eye(p) + 0.3 * rng.normal(size=(p, p)))
    y = np.arange(6 * c) % c
    centres = rng.normal(size=(c, p)) * rng.exponential(size=p) * 0.7
    return es.lda_pencil(X + centres[y], y, shrinkage=0.4)


def value_of(pencil: es.Pencil, chosen: tuple[int, ...], criterion: str) -> float:
    """The criterion of a set, by its definition."""
    S = list(chosen)
    values = np.linalg.eigvals(np.linalg.solve(pencil.B[np.ix_(S, S)], pencil.A[np.ix_(S, S)])).real
    return float(np.log1p(values).sum() if criterion == "logdet" else values.sum())


def best_of_all(pencil: es.Pencil, k: int, criterion: str) -> float:
    return max(value_of(pencil, S, criterion) for S in combinations(range(pencil.size), k))


def weighing(pencil: es.Pencil, k: int, criterion: str) -> WeightProblem:
    scaled, every = ScaledPencil(make_problem(pencil, k, criterion)), np.arange(pencil.size)
    B, is_logdet = scaled.block(every), criterion == "logdet"
    return WeightProblem(B, scaled.H, scaled.D, every[:0], every, k, is_logdet, np.zeros(1))


def solved(part: WeightProblem) -> Relaxed:
    weights = np.full(part.D.size, part.need / part.D.size)
    bound, _, gradient, _ = relax(part, weights, -np.inf, 100, 1e-9, 0.0)
    return Relaxed(bound, weights, gradient)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("c", [7, 8, 12])
def test_value_and_prices_of_many_rows(c: int, criterion: str) -> None:
    """By definition and by differences, on both sides of where products of matrices begin."""
    part = weighing(classes(0, c=c + 1), 5, criterion)
    assert len(part.H) == c
    w = np.random.default_rng(1).uniform(0.2, 0.9, part.D.size)

    def f(w: np.ndarray) -> float:
        Q = part.H @ np.linalg.solve(part.B + np.diag(part.D * (1 / w - 1)), part.H.T)
        return float(np.linalg.slogdet(np.eye(c) + Q)[1] if part.logdet else np.trace(Q))

    _, value, gradient, _ = relax(part, w.copy(), np.inf, 1, 0.0, 0.0)
    assert value == pytest.approx(f(w), rel=1e-9)
    steps = 1e-6 * np.eye(w.size)
    assert gradient == pytest.approx([(f(w + h) - f(w - h)) / 2e-6 for h in steps], rel=1e-5)
    # without weight: the slope is that at a weight which is hardly one
    few = w.copy()
    few[[2, 9]] = 0.0
    tiny = few + np.isin(np.arange(w.size), [2, 9]) * 1e-7
    prices = relax(part, few, np.inf, 1, 0.0, 0.0)[2]
    for j in (2, 9):
        less = tiny.copy()
        less[j] = 1e-9
        assert prices[j] == pytest.approx((f(tiny) - f(less)) / (1e-7 - 1e-9), rel=1e-3)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("hot", [6, 700])
def test_tuned_diagonal(monkeypatch: pytest.MonkeyPatch, criterion: str, hot: int) -> None:
    """It is below B, its bound holds for every set, and it is a better one."""
    monkeypatch.setattr(diagonal, "HOT", hot)
    monkeypatch.setattr(diagonal, "WORTH", 0.02)  # most have weight: they have little to give up
    n_better = 0
    for seed in range(6):
        pencil, k = classes(seed), 4
        part, best = weighing(pencil, k, criterion), best_of_all(pencil, k, criterion)
        before = solved(part)
        D = tuned_diagonal(part, before, best, Budget())
        assert np.linalg.eigvalsh(part.B - np.diag(D))[0] > 0
        after = solved(part._replace(D=D)).bound
        assert best <= after <= before.bound
        n_better += after - best < 0.98 * (before.bound - best)
    assert n_better >= 3


def test_a_diagonal_that_gains_little_is_left() -> None:
    part = weighing(classes(0), 4, "logdet")
    before = solved(part)
    far_below = before.bound - 1e6
    assert tuned_diagonal(part, before, far_below, Budget()) is part.D


@pytest.mark.parametrize("criterion", CRITERIA)
def test_search_with_a_tuned_diagonal(monkeypatch: pytest.MonkeyPatch, criterion: str) -> None:
    """The best set by brute force; the audit counts every set once."""
    monkeypatch.setattr(perspective, "COMPACT", 8)
    monkeypatch.setattr(diagonal, "WORTH", 0.02)
    tuned = []

    def spy(problem: WeightProblem, *others: object) -> np.ndarray:
        D = tuned_diagonal(problem, *others)
        tuned.append(D is not problem.D)
        return D

    monkeypatch.setattr(perspective, "tuned_diagonal", spy)
    for seed in range(8):
        pencil = classes(seed)
        found = es.solve(pencil, 4, "perspective", criterion=criterion, audit=True)
        assert found.is_certified
        assert found.objective == pytest.approx(best_of_all(pencil, 4, criterion), rel=1e-6)
    assert sum(tuned) >= 2
