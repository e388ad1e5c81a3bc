"""A better diagonal at the root: it stays below B, and its bound holds for every set."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.search.exact.perspective.diagonal import tune_root
from eigensieve.search.exact.perspective.relaxation import ScaledPencil
from eigensieve.search.exact.perspective.weights import WeightProblem


def tall(seed: int, p: int = 12) -> es.FactorPencil:
    """More rows than columns, some of these nearly dependent."""
    rng = np.random.default_rng([seed, 7])
    W = rng.normal(size=(30, p)) + rng.normal(size=(30, 2)) @ rng.normal(size=(2, p))
    W[:, 1] = W[:, 0] + 0.2 * W[:, 1]
    return es.FactorPencil(rng.normal(size=(1 + seed % 2, p)), W, np.full(p, 0.1))


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("seed", range(8))
def test_against_every_set(seed: int, criterion: str) -> None:
    pencil, k = tall(seed), 4
    problem = make_problem(pencil, k, criterion)
    scaled = ScaledPencil(problem)
    forced = np.array([2, 5])[: seed % 3]
    free, need = np.setdiff1d(np.arange(12), forced), k - forced.size
    B = scaled.block(np.arange(12))
    weighing = WeightProblem(
        B, scaled.H, scaled.D, forced, free, need, criterion == "logdet", np.zeros(1)
    )
    weights = np.full(free.size, need / free.size)
    found = tune_root(weighing, weights, -np.inf)
    rest = B[np.ix_(free, free)]
    if forced.size:
        C = B[np.ix_(forced, free)]
        rest = rest - C.T @ np.linalg.solve(B[np.ix_(forced, forced)], C)
    assert np.linalg.eigvalsh(rest - np.diag(found.D[free]))[0] > 0
    scores = {S: problem.score([*forced, *S]) for S in combinations([int(j) for j in free], need)}
    before = tune_root(weighing, weights, np.inf)  # below the cut at once: no step
    np.testing.assert_array_equal(before.D, scaled.D)
    assert max(scores.values()) <= found.bound < before.bound
    # the gradient belongs to the bound: no set exceeds it by exchanging features
    top = np.sort(found.gradient)[-need:].sum()
    for S, score in scores.items():
        gains = found.gradient[np.searchsorted(free, S)].sum()
        assert score <= (found.bound - top + gains) * (1 + 1e-9)


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
