"""Leaps and bounds against brute force, exact arithmetic and the limits it must keep."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.problem import make_problem
from eigensieve.pencil.solution import Status
from eigensieve.search.exact.exhaustive import solve_exhaustive
from eigensieve.search.exact.leaps import leaps
from tests.clock import solve_in_time
from tests.oracles import naive

SONAR = {5: 0.61329, 30: 1.49060, 45: 1.61709}


def random_pencil(kind: str, rng: np.random.Generator) -> es.Pencil:
    """A small pencil of the kind that is asked for."""
    n, p = int(rng.integers(8, 25)), int(rng.integers(2, 11))
    X = rng.normal(size=(n, p)) @ (np.eye(p) + 0.6 * rng.normal(size=(p, p)))
    y = np.arange(n) % (2 if kind == "two classes" else int(rng.integers(3, 5)))
    s = float(rng.choice([0.0, 0.01, 0.3, 1.0]))
    if kind == "pca":
        return es.pca_pencil(X)
    if kind == "ties":
        G = rng.integers(-2, 3, size=(p, int(rng.integers(1, p + 1)))).astype(float)
        return es.Pencil(G @ G.T, np.eye(p) * 2 + np.ones((p, p)))
    if kind == "duplicates":
        X[:, p // 2 :] = X[:, : p - p // 2]
        return es.lda_pencil(X, y, shrinkage=float(rng.choice([0.01, 0.3])))
    if kind == "near duplicates":
        X[:, p // 2 :] = X[:, : p - p // 2] + 3e-5 * rng.normal(size=(n, p - p // 2))
        return es.lda_pencil(X, y, shrinkage=1e-6)
    if kind == "scales":
        X *= np.exp2(rng.integers(-27, 28, size=p).astype(float))
    return es.lda_pencil(X, y, shrinkage=s)


def is_singular(pencil: es.Pencil) -> bool:
    """Whether B has so few digits to spare that a certificate may be withheld."""
    d = 1.0 / np.sqrt(pencil.diag_B)
    return bool(np.linalg.cond(pencil.B * np.outer(d, d)) > 1e8)


KINDS = ("two classes", "classes", "pca", "ties", "duplicates", "near duplicates", "scales")


@pytest.mark.parametrize("work", [1, 1500, 15_000_000])  # few nodes a call: relax and branch
@pytest.mark.parametrize("criterion", ["trace", "logdet"])
@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_agrees(kind: str, criterion: str, work: int, monkeypatch) -> None:
    monkeypatch.setattr(leaps, "WORK", work)
    for seed in range(20):
        rng = np.random.default_rng([seed, KINDS.index(kind), work])
        pencil = random_pencil(kind, rng)
        k = int(rng.integers(1, pencil.size + 1))
        marked = rng.permutation(pencil.size)
        include = marked[: rng.integers(0, min(k, 2) + 1)]
        exclude = marked[k:][: rng.integers(0, 3)] if seed % 3 == 0 else []
        problem = make_problem(pencil, k, criterion, include, exclude)
        best = solve_exhaustive(problem, Budget()).objective
        solution = es.solve(
            pencil,
            k,
            solver="leaps",
            criterion=criterion,
            include=include,
            exclude=exclude,
            audit=True,
            n_starts=0,
        )
        solution.verify(pencil)
        unit = 1e-6 * max(abs(best), pencil.scale)
        assert best - unit <= solution.objective <= best + unit, (seed, kind)
        assert solution.bound >= best - 0.1 * unit
        if not is_singular(pencil):
            assert solution.is_certified


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
def test_quotas(criterion: str) -> None:
    for seed in range(40):
        rng = np.random.default_rng([seed, 77])
        p, c = int(rng.integers(4, 10)), int(rng.integers(1, 4))
        H, W = rng.normal(size=(c, p)), rng.normal(size=(2 * p, p))
        blocks = rng.permutation(np.arange(p) % 2)
        pencil = es.Pencil(H.T @ H, W.T @ W, blocks=blocks)
        sizes = np.bincount(blocks)
        k = [int(rng.integers(1, size + 1)) for size in sizes]
        best = solve_exhaustive(make_problem(pencil, k, criterion), Budget()).objective
        solution = es.solve(pencil, k, solver="leaps", criterion=criterion, audit=True, n_starts=0)
        assert solution.objective == pytest.approx(best, rel=1e-6)
        assert solution.is_certified


def test_all_k_of_rank_one_pencils() -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, 5])
        n = 13
        B = naive.brownian_covariance(n, rng) if seed % 2 else np.cov(rng.normal(size=(n, 60)))
        d = rng.normal(size=n)
        best = naive.all_rank_one(d, B)
        for k in range(1, n):
            found = es.solve(es.Pencil(np.outer(d, d), B), k, solver="leaps", n_starts=0)
            assert found.objective == pytest.approx(best[k], rel=1e-6)
            assert found.is_certified


def exact_quadratic(d: np.ndarray, B: np.ndarray, support: tuple[int, ...]) -> Fraction:
    """d' B^-1 d on a set, of the very numbers given, in rationals."""
    rows = [[Fraction(float(B[i, j])) for j in support] + [Fraction(float(d[i]))] for i in support]
    value = Fraction(0)
    for i, row in enumerate(rows):
        value += row[-1] ** 2 / row[i]
        for other in rows[i + 1 :]:
            factor = other[i] / row[i]
            other[:] = [a - factor * b for a, b in zip(other, row)]
    return value


@pytest.mark.parametrize("eps", [1e-5, 1e-7, 1e-9, 1e-11])
def test_no_false_certificate_with_near_duplicates(eps: float) -> None:
    """Pairs of features with correlation 1 - eps, against rational arithmetic."""
    for seed in range(6):
        rng = np.random.default_rng([seed, 9])
        p, k = 7, int(rng.integers(2, 6))
        W = np.cov(rng.normal(size=(p, 30)))
        W[:, 4:] = W[:, :3]
        W[4:, :] = W[:3, :]
        B = W + eps * np.diag(np.diag(W))
        d = rng.normal(size=p)
        d[4:] = d[:3] + np.sqrt(eps) * rng.normal(size=3)
        values = [exact_quadratic(d, B, S) for S in itertools.combinations(range(p), k)]
        best = float(max(values))
        solution = es.solve(
            es.Pencil(np.outer(d, d), B), k, solver="leaps", criterion="trace", n_starts=0
        )
        if solution.is_certified:
            own = float(exact_quadratic(d, B, tuple(solution.support.tolist())))
            assert own >= best * (1 - 1e-6)
            assert solution.bound >= best * (1 - 1e-6)


@pytest.mark.parametrize("eps", [1e-6, 1e-9])
def test_no_false_log_det_certificate_with_near_duplicates(eps: float) -> None:
    for seed in range(4):
        rng = np.random.default_rng([seed, 10])
        p, k = 6, int(rng.integers(2, 5))
        X = rng.normal(size=(20, p))
        X[:, 4:] = X[:, :2] + np.sqrt(eps) * rng.normal(size=(20, 2))
        pencil = es.lda_pencil(X, np.arange(20) % 3, shrinkage=0.0)
        ratios = {
            S: naive.exact_det_ratio(pencil.A, pencil.B, list(S))
            for S in itertools.combinations(range(p), k)
        }
        best = float(np.log(float(max(ratios.values()))))
        solution = es.solve(pencil, k, solver="leaps", criterion="logdet", n_starts=0)
        assert solution.bound >= best - 1e-9
        if solution.is_certified:
            own = float(np.log(float(ratios[tuple(solution.support.tolist())])))
            assert own >= best - 2e-6 * max(best, pencil.scale)


def test_threads_change_nothing() -> None:
    rng = np.random.default_rng(3)
    pencil = es.Pencil(np.outer(*[rng.normal(size=40)] * 2), np.cov(rng.normal(size=(40, 80))))
    one, two = (es.solve(pencil, 12, solver="leaps", n_jobs=n, n_starts=0) for n in (1, 2))
    np.testing.assert_array_equal(one.support, two.support)
    assert (one.objective, one.n_nodes, one.bound) == (two.objective, two.n_nodes, two.bound)
    assert one.is_certified


def test_limits() -> None:
    rng = np.random.default_rng(4)
    pencil = es.Pencil(np.outer(*[rng.normal(size=80)] * 2), np.cov(rng.normal(size=(80, 100))))
    es.solve(pencil, 2, solver="leaps")
    solution = solve_in_time(pencil, 30, solver="leaps", time_limit=0.5)
    assert solution.status is Status.TIME_LIMIT
    assert solution.objective <= solution.bound < np.inf
    solution = es.solve(pencil, 30, solver="leaps", max_nodes=1000, n_starts=0, audit=True)
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.n_nodes >= 1000


def test_start_is_used() -> None:
    rng = np.random.default_rng(5)
    pencil = es.lda_pencil(rng.normal(size=(40, 12)), np.arange(40) % 2, shrinkage=0.0)
    best = es.solve(pencil, 4, solver="leaps")
    again = es.solve(pencil, 4, solver="leaps", start=best.support, n_starts=0)
    np.testing.assert_array_equal(best.support, again.support)


def test_lambda_max_of_many_classes_is_refused() -> None:
    rng = np.random.default_rng(6)
    pencil = es.lda_pencil(rng.normal(size=(30, 6)), np.arange(30) % 3)
    with pytest.raises(OptionError, match="dominance"):
        es.solve(pencil, 2, solver="leaps", criterion="lambda_max")


@pytest.mark.parametrize("k", SONAR)
def test_sonar(load_data, k: int) -> None:
    X, y, _ = load_data("sonar")
    pencil = es.lda_pencil((X - X.mean(0)) / X.std(0), y, shrinkage=0.0)
    solution = es.solve(pencil, k, "leaps", "lambda_max")
    assert solution.is_certified
    assert solution.objective == pytest.approx(SONAR[k], abs=1e-5)
