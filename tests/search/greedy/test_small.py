"""Many local searches of small problems, against enumeration and scipy."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from scipy import linalg

import eigensieve as es
from eigensieve.datasets.moghaddam2006 import draw_pairs
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.problem import make_problem
from eigensieve.search.greedy.small import best_of_many, truncated_power

SAME = 1e-9


def value_of(A: np.ndarray, B: np.ndarray, S: Any, criterion: str) -> float:
    index = np.ix_(list(S), list(S))
    values = linalg.eigh(A[index], B[index], eigvals_only=True)
    if criterion == "lambda_max":
        return float(values[-1])
    return float(values.sum() if criterion == "trace" else np.log1p(values).sum())


def wishart(p: int, rows: int, rng: np.random.Generator) -> np.ndarray:
    M = rng.normal(size=(rows, p))
    return M.T @ M


@pytest.mark.parametrize("rank_one", [True, False])
def test_greedy_finds_the_optima_of_the_papers_pairs(rank_one: bool) -> None:
    A, B = draw_pairs(6, np.random.default_rng(3), 12, rank_one=rank_one)
    ratios = []
    for a, b in zip(A, B):
        for k in range(2, 12):
            best = max(value_of(a, b, S, "lambda_max") for S in combinations(range(12), k))
            ratios.append(es.solve(es.Pencil(a, b), k).objective / best)
    assert np.mean(np.array(ratios) >= 1 - SAME) >= 0.99
    assert min(ratios) >= 0.95


@pytest.mark.parametrize("solver", ["greedy", "dc"])
def test_general_pencils(solver: str) -> None:
    """With two further starts dc ends at .72 of the optimum of one of these."""
    for seed in range(12):
        rng = np.random.default_rng(seed)
        M = rng.normal(size=(12, 12))
        A = M.T @ M if seed % 2 else M + M.T
        B = wishart(12, 15, rng)
        for k in (3, 5):
            best = max(value_of(A, B, S, "lambda_max") for S in combinations(range(12), k))
            found = es.solve(es.Pencil(A, B), k, solver)
            assert found.objective == pytest.approx(best, rel=1e-9), (seed, k)


@pytest.mark.parametrize("criterion", ["trace", "logdet", "lambda_max"])
def test_no_exchange_improves_the_result(criterion: str) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        p, k = 14, 5
        A, B = wishart(p, 4, rng), wishart(p, 18, rng)
        problem = make_problem(es.Pencil(A, B), k, criterion, include=[2])
        start = np.array([0, 1, 2, 3, 4])
        S = best_of_many(problem, Budget(), [start], n_starts=0, seed=0)
        assert 2 in S
        value = value_of(A, B, S, criterion)
        assert value > value_of(A, B, start, criterion)
        for i in set(S) - {2}:
            for j in set(range(p)) - set(S):
                other = value_of(A, B, (set(S) - {i}) | {j}, criterion)
                assert other <= value * (1 + 1e-8)


def test_quotas_are_kept() -> None:
    rng = np.random.default_rng(0)
    pencil = es.cca_pencil(rng.normal(size=(40, 6)), rng.normal(size=(40, 5)))
    solution = es.solve(pencil, (3, 2))
    assert np.count_nonzero(solution.support < 6) == 3
    sets = (S + T for S in combinations(range(6), 3) for T in combinations(range(6, 11), 2))
    best = max(value_of(pencil.A, pencil.B, S, "lambda_max") for S in sets)
    assert solution.objective == pytest.approx(best, rel=1e-9)


def test_truncated_power_never_lowers_the_value() -> None:
    rng = np.random.default_rng(1)
    improved = 0
    for _ in range(20):
        A = wishart(15, 20, rng)
        start = np.sort(rng.permutation(15)[:4])
        S = truncated_power(make_problem(es.Pencil(A), 4), start)
        before, after = (value_of(A, np.eye(15), T, "lambda_max") for T in (start, S))
        assert after >= before
        improved += after > before
    assert improved > 10


def test_a_path_finds_what_single_searches_find() -> None:
    A, B = draw_pairs(1, np.random.default_rng(5), 16, rank_one=False)
    path = es.solve_path(es.Pencil(A[0], B[0]), [3, 6, 9], n_starts=5, random_state=4)
    for k in path:
        one = es.solve(es.Pencil(A[0], B[0]), k, n_starts=5, random_state=4)
        assert path[k].support.tolist() == one.support.tolist()
