"""Level-set branch and bound: brute force agrees, on every kind of problem, with the audit on."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.pencil.solution import Status
from eigensieve.search.exact.level_start import climb_in
from eigensieve.search.exact.levelset import levelset
from eigensieve.search.exact.start_kernel import climb
from tests.clock import solve_in_time
from tests.oracles import naive

Kind = Callable[[np.random.Generator, int], es.Pencil]


def wishart(rng: np.random.Generator, n: int) -> np.ndarray:
    X = rng.normal(size=(2 * n, n)) @ np.diag(rng.uniform(0.5, 2, n))
    return X.T @ X / (2 * n)


def classes(rng: np.random.Generator, n: int) -> es.Pencil:
    y = np.arange(40) % 4
    X = rng.normal(size=(40, n)) + rng.normal(size=(4, n))[y]
    return es.lda_pencil(X, y, shrinkage=float(rng.choice([0.0, 0.1, 0.5, 1.0])))


def twins(rng: np.random.Generator, n: int) -> es.Pencil:
    y = np.arange(40) % 3
    half = rng.normal(size=(40, (n + 1) // 2)) + rng.normal(size=(3, (n + 1) // 2))[y]
    return es.lda_pencil(np.hstack([half, half])[:, :n], y, shrinkage=0.2)


def near_twins(rng: np.random.Generator, n: int) -> es.Pencil:
    M = np.eye(n) + 0.3 * wishart(rng, n)
    d = 1 / np.sqrt(np.diag(M))
    B = M * np.outer(d, d)
    B[1], B[:, 1] = B[0], B[:, 0]
    B[0, 1] = B[1, 0] = 1 - 1e-9
    B[1, 1] = 1.0
    return es.Pencil(wishart(rng, n), B)


def scales(rng: np.random.Generator, n: int) -> es.Pencil:
    d = np.geomspace(1e-8, 1e8, n)
    return es.Pencil(wishart(rng, n) * np.outer(d, d), wishart(rng, n) * np.outer(d, d))


def ties(rng: np.random.Generator, n: int) -> es.Pencil:
    M = rng.integers(-1, 2, size=(n, n)).astype(float)
    return es.Pencil(M @ M.T, np.eye(n) * 2 if rng.random() < 0.5 else None)


def indefinite(rng: np.random.Generator, n: int) -> es.Pencil:
    M = rng.normal(size=(n, n))
    return es.Pencil(M + M.T - rng.choice([0, 5]) * np.eye(n), wishart(rng, n))


KINDS: dict[str, Kind] = {
    "pca": lambda rng, n: es.Pencil(wishart(rng, n)),
    "wide pca": lambda rng, n: es.pca_pencil(rng.normal(size=(4, n))),
    "pair": lambda rng, n: es.Pencil(wishart(rng, n), wishart(rng, n)),
    "factors": lambda rng, n: es.FactorPencil(
        rng.normal(size=(3, n)), rng.normal(size=(2, n)), rng.uniform(0.1, 1, n)
    ),
    "rank one": lambda rng, n: es.FactorPencil(
        rng.normal(size=(1, n)), rng.normal(size=(5, n)), rng.uniform(0.1, 1, n)
    ),
    "classes": classes,
    "twins": twins,
    "near twins": near_twins,
    "scales": scales,
    "ties": ties,
    "indefinite": indefinite,
    "negative": lambda rng, n: es.Pencil(-wishart(rng, n), wishart(rng, n)),
}


def feasible(pencil: es.Pencil, k: tuple[int, ...] | int, include: list[int]) -> Iterator:
    for S in itertools.combinations(range(pencil.size), int(np.sum(k))):
        fits = isinstance(k, int) or tuple(np.bincount(pencil.blocks[list(S)])) == k
        if fits and set(include) <= set(S):
            yield list(S)


def check(pencil: es.Pencil, k: tuple[int, ...] | int, include: list[int], **options) -> None:
    solution = es.solve(pencil, k, "levelset", "lambda_max", include, audit=True, **options)
    solution.verify(pencil)
    A, B = pencil.A, pencil.B
    best = max(naive.score(A, B, S, "lambda_max") for S in feasible(pencil, k, include))
    unit = max(abs(best), pencil.scale)
    problem = make_problem(pencil, k, "lambda_max", include)
    hidden = problem.ceiling(solution.support) - solution.objective  # by round-off
    if solution.status is not Status.OPTIMAL:
        assert solution.status is Status.GAP_LIMIT
        assert hidden > 1e-7 * unit
    assert best - 1.1e-6 * unit - hidden <= solution.objective <= best + 1e-7 * unit + hidden
    assert solution.bound >= best - 1e-7 * unit - hidden
    assert set(include) <= set(solution.support.tolist())


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(12))
def test_brute_force_agrees(kind: str, seed: int) -> None:
    rng = np.random.default_rng([seed, *kind.encode()])
    n = int(rng.integers(3, 11))
    pencil = KINDS[kind](rng, n)
    for poor in (False, True):
        k = int(rng.integers(1, n + 1))
        include = sorted(rng.choice(n, size=int(rng.integers(0, min(k, 2) + 1)), replace=False))
        # from a poor start the search must find the optimum by itself
        options = {"start": range(k), "n_starts": 0} if poor else {}
        check(pencil, k, [int(j) for j in include], **options)


@pytest.mark.parametrize("seed", range(20))
def test_brute_force_agrees_on_quotas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nx, ny = (int(rng.integers(2, 6)) for _ in "xy")
    X, Y = rng.normal(size=(30, nx)), rng.normal(size=(30, ny))
    Y[:, 0] += X[:, 0]
    pencil = es.cca_pencil(X, Y, shrinkage=float(rng.choice([0.0, 0.3])))
    k = (int(rng.integers(1, nx + 1)), int(rng.integers(1, ny + 1)))
    check(pencil, k, [0] if seed % 2 else [])
    check(pencil, int(sum(k)), [nx])
    check(pencil, 1, [])  # one view only: nothing is correlated


def test_exclude_and_one_view() -> None:
    rng = np.random.default_rng(0)
    pencil = es.cca_pencil(rng.normal(size=(30, 4)), rng.normal(size=(30, 4)), shrinkage=0.1)
    solution = es.solve(pencil, 3, solver="levelset", exclude=[4, 5, 6, 7])
    assert solution.is_certified
    assert abs(solution.objective) <= 1e-12


def pair(n: int, seed: int) -> es.Pencil:
    rng = np.random.default_rng(seed)
    return es.Pencil(*(naive.brownian_covariance(n, rng, 200) for _ in "AB"))


def test_threads_change_nothing() -> None:
    pencil = pair(40, 0)
    options = {"solver": "levelset", "n_starts": 0, "start": range(10)}
    one, two = (es.solve(pencil, 10, n_jobs=n_jobs, **options) for n_jobs in (1, 2))
    assert one.is_certified
    assert (one.support.tolist(), one.objective) == (two.support.tolist(), two.objective)
    assert one.n_nodes == two.n_nodes > 100


def test_the_frontier_of_the_prototype() -> None:
    """n = 40, k = 20, a full-rank pair; the prototype took 351 to 4,920 nodes."""
    solution = es.solve(pair(40, 0), 20, solver="levelset", audit=True)
    assert solution.is_certified
    assert solution.n_nodes < 1500


def test_limits_leave_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    pencil = pair(60, 3)
    stopped = solve_in_time(pencil, 15, solver="levelset", time_limit=0.5, audit=True)
    assert stopped.status is Status.TIME_LIMIT
    assert stopped.objective < stopped.bound < pencil.top()[0][0] * (1 + 1e-6)
    stopped.verify(pencil)
    few = es.solve(pencil, 15, solver="levelset", max_nodes=100)
    assert few.status is Status.ITERATION_LIMIT
    assert 100 <= few.n_nodes < 100 + 16 * 64
    monkeypatch.setattr(levelset, "SHORT", 50)
    rungs = es.solve(pair(40, 0), 20, solver="levelset", audit=True)
    assert rungs.is_certified
    root = es.solve(pair(40, 0), 20, solver="levelset", max_nodes=1)
    halfway = es.solve(pair(40, 0), 20, solver="levelset", max_nodes=600)
    assert root.bound > halfway.bound >= rungs.objective


def test_many_features_are_refused() -> None:
    pencil = es.pca_pencil(np.random.default_rng(0).normal(size=(9, 501)))
    with pytest.raises(ValueError, match="at most 500 features"):
        es.solve(pencil, 3, "levelset")


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
def test_other_criteria_need_a_rank_one_A(criterion: str) -> None:
    rng = np.random.default_rng(0)
    pencil = KINDS["rank one"](rng, 8)
    solution = es.solve(pencil, 3, solver="levelset", criterion=criterion, audit=True)
    solution.verify(pencil)
    best, _ = naive.best(pencil.A, pencil.B, 3, criterion)
    assert solution.is_certified
    assert solution.objective == pytest.approx(best, rel=1e-6)
    with pytest.raises(ValueError, match="needs a rank-one A"):
        es.solve(KINDS["pca"](rng, 8), 3, solver="levelset", criterion=criterion)


def test_the_climb_ends_where_no_exchange_helps() -> None:
    pencil = pair(14, 0)
    problem = make_problem(pencil, 5)
    tree = levelset.LevelsetTree(problem, problem.features)
    S = climb_in(tree, np.arange(5))
    assert naive.is_swap_optimal(pencil.A, pencil.B, S.tolist(), "lambda_max")
    kept, _ = climb(tree.A, tree.B, np.zeros(14, dtype=np.int64), np.arange(5), np.arange(14) > 1)
    assert {0, 1} <= set(kept.tolist())
