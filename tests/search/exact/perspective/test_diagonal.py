"""A better diagonal at the root: it is below B, and its bound holds for every set."""

from itertools import combinations

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.search.exact.perspective import diagonal, perspective
from eigensieve.search.exact.perspective.diagonal import Tuned, tune_root
from eigensieve.search.exact.perspective.scaled_pencil import ScaledPencil
from eigensieve.search.exact.perspective.weights import WeightProblem

CRITERIA = ["trace", "logdet"]


def tall(seed: int, p: int = 12) -> es.FactorPencil:
    """More rows than columns, some of these nearly dependent."""
    rng = np.random.default_rng([seed, 7])
    W = rng.normal(size=(30, p)) + rng.normal(size=(30, 2)) @ rng.normal(size=(2, p))
    W[:, 1] = W[:, 0] + 0.2 * W[:, 1]
    return es.FactorPencil(rng.normal(size=(1 + seed % 2, p)), W, np.full(p, 0.1))


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


def all_values(pencil: es.Pencil, k: int, criterion: str) -> dict[tuple[int, ...], float]:
    return {S: value_of(pencil, S, criterion) for S in combinations(range(pencil.size), k)}


def weighing(
    pencil: es.Pencil, k: int, criterion: str, forced: tuple[int, ...] = ()
) -> WeightProblem:
    scaled, every = ScaledPencil(make_problem(pencil, k, criterion)), np.arange(pencil.size)
    B, free = scaled.block(every), np.setdiff1d(every, forced)
    need, is_logdet = k - len(forced), criterion == "logdet"
    work, ins = np.zeros(1), np.array(forced, dtype=np.intp)
    return WeightProblem(B, scaled.H, scaled.D, ins, free, need, is_logdet, work)


def even_weights(part: WeightProblem) -> np.ndarray:
    return np.full(part.free.size, part.need / part.free.size)


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("make", [tall, classes])
@pytest.mark.parametrize("hot", [5, 700])
def test_against_every_set(
    monkeypatch: pytest.MonkeyPatch, hot: int, make: type[es.Pencil], criterion: str
) -> None:
    monkeypatch.setattr(diagonal, "HOT", hot)
    n_better, k = 0, 4
    for seed in range(8):
        forced = (2, 5)[: seed % 3]
        pencil = make(seed)
        part = weighing(pencil, k, criterion, forced)
        values = {S: v for S, v in all_values(pencil, k, criterion).items() if {*forced} <= {*S}}
        best = max(values.values())
        before = tune_root(part, even_weights(part), np.inf)  # below the cut at once: no step
        assert before.D is part.D
        found = tune_root(part, even_weights(part), best)
        assert np.linalg.eigvalsh(part.B - np.diag(found.D))[0] > 0
        assert best <= found.bound <= before.bound
        n_better += found.bound - best < 0.9 * (before.bound - best)
        # the gradient belongs to the bound: no set exceeds it by exchanging features
        top = np.sort(found.gradient)[-part.need :].sum()
        for S, value in values.items():
            own = found.gradient[np.searchsorted(part.free, np.setdiff1d(S, forced))].sum()
            assert value <= (found.bound - top + own) * (1 + 1e-9)
    assert n_better >= 3


def test_a_diagonal_that_gains_little_is_left() -> None:
    part = weighing(classes(0), 4, "logdet")
    assert tune_root(part, even_weights(part), -1e6).D is part.D


def test_no_more_work_than_is_allowed() -> None:
    part = weighing(tall(1), 4, "logdet")
    best = max(all_values(tall(1), 4, "logdet").values())
    assert tune_root(part, even_weights(part), best, 1.0).D is part.D
    assert tune_root(part, even_weights(part), best).D is not part.D


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("make", [tall, classes])
def test_search_with_a_tuned_diagonal(
    monkeypatch: pytest.MonkeyPatch, make: type[es.Pencil], criterion: str
) -> None:
    """The best set by brute force; the audit counts every set once."""
    tuned = []

    def spy(problem: WeightProblem, *others: object) -> Tuned:
        found = tune_root(problem, *others)
        tuned.append(found.D is not problem.D)
        return found

    monkeypatch.setattr(perspective, "tune_root", spy)
    for seed in range(8):
        pencil = make(seed)
        found = es.solve(pencil, 4, "perspective", criterion=criterion, audit=True)
        assert found.is_certified
        best = max(all_values(pencil, 4, criterion).values())
        assert found.objective == pytest.approx(best, rel=1e-6)
    assert sum(tuned) >= 2


def test_a_tall_pencil_by_factors_is_proved_as_fast_as_by_matrices() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 80)) + rng.normal(size=(300, 3)) @ rng.normal(size=(3, 80))
    y = X[:, :10].sum(axis=1) + 3 * rng.normal(size=300)
    by_factors = es.FactorPencil((y - y.mean())[None, :] @ X, X, np.full(80, 1.0))
    dense = es.Pencil(by_factors.A, by_factors.B)
    n_nodes = []
    for pencil in (by_factors, dense):
        found = es.solve(pencil, 6, "perspective", "trace", max_nodes=20_000)
        assert found.is_certified
        n_nodes.append(found.n_nodes)
    assert n_nodes[0] <= 2 * n_nodes[1] + 10
