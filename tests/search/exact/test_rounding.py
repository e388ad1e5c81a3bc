"""Rounding terms of bounds, each where it once was too small; the oracle is exact arithmetic."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.search.linear_kernel import ratio_of_set
from eigensieve.search.quick_bound import root_bound
from tests.oracles.exact import ExactPencil, Truth, judge
from tests.oracles.instances import Instance
from tests.search.exact.fuzz_exact import EVERYBODY, solve, solvers_for


def _instance(pencil: es.Pencil, k: int, criterion: str, include: tuple[int, ...] = ()) -> Instance:
    return Instance(0, "by hand", pencil, k, criterion, include, ())


@pytest.mark.parametrize("size", [1e12, 1e13, 3e13])
@pytest.mark.parametrize("share", [0.1, 0.4, 2.0])
def test_large_features_that_are_nearly_copies_in_A(size: float, share: float) -> None:
    """Beside 1e13 a factor leaves out eigenvalues of A as large as those of B."""
    rng = np.random.default_rng(0)
    A = size * (np.ones((5, 5)) + 1e-13 * share * np.diag(rng.random(5)))
    instance = _instance(es.Pencil(A), 3, "logdet")
    truth = Truth(instance)
    for name in solvers_for(instance, EVERYBODY):
        solution = solve(instance, name)
        assert judge(instance, solution, truth) == [], name
        if np.isfinite(solution.bound):  # the dropped eigenvalues are at most as large as B's
            assert solution.bound < 1.3 * truth.optimum, name


@pytest.mark.parametrize("seed", [23, 29, 31, 34, 37, 38])
def test_root_bound_where_all_features_are_included(seed: int) -> None:
    rng = np.random.default_rng(seed)
    H, B = rng.normal(size=(3, 3)), np.eye(3)
    B[0, 1] = B[1, 0] = 1 - 10.0 ** rng.uniform(-12.5, -11)
    B[2, :2] = B[:2, 2] = 0.25
    pencil, everything = es.Pencil(H.T @ H, B), (0, 1, 2)
    bound = root_bound(make_problem(pencil, 3, include=everything), np.arange(3))
    assert ExactPencil(pencil).is_below(np.arange(3), bound)


@pytest.mark.parametrize("seed", [28, 51, 75, 102, 136, 215, 306, 327, 329, 367])
def test_levelset_where_a_negative_part_hides_the_best_set(seed: int) -> None:
    """B^-1 makes 1e10 of what is negative in A; beside it the largest eigenvalue has few digits."""
    rng, first = np.random.default_rng(seed), np.arange(3)
    X = rng.normal(size=(6, 1)) + 10.0 ** rng.uniform(-6, -4) * rng.normal(size=(6, 3))
    X /= np.linalg.norm(X, axis=0)
    A, B = np.zeros((5, 5)), np.eye(5)
    B[:3, :3] = X.T @ X
    np.fill_diagonal(B, 1.0)
    a, b = rng.normal(size=(2, 3))
    A[:3, :3] = 10.0 ** rng.uniform(-6, -2) * np.outer(a, a) - np.outer(b, b)
    seen = ratio_of_set(A, B, first)
    true = ExactPencil(es.Pencil(A, B)).lambda_max(first, seen, 1.0)
    A[3, 3] = seen + 0.1 * (true - seen)  # a plain rival between what is seen and what is there
    instance = _instance(es.Pencil(A, B), 3, "lambda_max")
    truth = Truth(instance)
    for name in ("exact", "levelset", "interlacing", "exhaustive"):
        assert judge(instance, solve(instance, name, gap_tol=1e-9), truth) == [], name


@pytest.mark.parametrize("seed", [0, 1, 4, 7])
def test_exhaustive_where_A_is_small_and_B_nearly_singular(seed: int) -> None:
    """Differences of log-dets are no more exact than log-dets of B."""
    rng, W = np.random.default_rng(seed), np.array([[0, 0, 1, 0, -2, -2, 4, 1.0]])
    H = 5e-5 * W + 5e-11 * rng.normal(size=(1, 8))
    pencil = es.FactorPencil(H, W, 1e-12 * rng.uniform(1, 3, size=8))
    instance = _instance(pencil, 2, "logdet")
    assert judge(instance, solve(instance, "exhaustive")) == []


@pytest.mark.parametrize("criterion", ["lambda_max", "trace"])
def test_bounds_where_round_off_leaves_nothing_of_B(criterion: str) -> None:
    """The diagonal of a factor pencil is known though W'W + d is singular in doubles."""
    rng = np.random.default_rng(3)
    pencil = es.FactorPencil(rng.normal(size=(2, 6)), rng.normal(size=(1, 6)), np.full(6, 1e-15))
    instance = _instance(pencil, 3, criterion)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in solvers_for(instance, ("exact", "interlacing", "exhaustive")):
            solution = solve(instance, name)
            assert judge(instance, solution) == [], name
            assert solution.bound < 1e4 * solution.objective, name


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
def test_verify_where_A_is_semidefinite_up_to_round_off_only(criterion: str) -> None:
    """B^-1 magnifies what is negative in A; a factor leaves it out."""
    difference, A, B = np.array([[1.0, -1.0], [-1.0, 1.0]]), np.eye(5) / 2, np.eye(5)
    A[:2, :2], A[2:4, 2:4] = 1 - 2e-10 * difference, difference
    B[0, 1] = B[1, 0] = 1 - 1e-9
    B[2, 3] = B[3, 2] = 1 - 1e-8
    pencil = es.Pencil(A, B)
    es.solve(pencil, 4, "exact", criterion, include=[0, 1, 2]).verify(pencil)
