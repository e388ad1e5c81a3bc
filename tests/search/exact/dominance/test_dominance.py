"""Dominance branch and bound: brute force agrees on ten kinds of problems, with the audit on."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest
from scipy import linalg

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.pencil.solution import Status
from eigensieve.search.exact.dominance import dominance
from tests.clock import solve_in_time
from tests.oracles import naive

Kind = Callable[[np.random.Generator, int], es.Pencil]
PER_KIND = 300


def wishart(rng: np.random.Generator, n: int, rows: int | None = None) -> np.ndarray:
    X = rng.normal(size=(rows or 2 * n, n))
    return X.T @ X / len(X)


def duplicates(rng: np.random.Generator, n: int) -> es.Pencil:
    """Columns, copies of them, and copies with the other sign."""
    half = rng.normal(size=(8, (n + 1) // 2))
    X = np.hstack([half, half * rng.choice([-1.0, 1.0], size=half.shape[1])])[:, :n]
    return es.Pencil(X.T @ X)


def blocks(rng: np.random.Generator, n: int) -> es.Pencil:
    A = np.zeros((n, n))
    for own in np.array_split(np.arange(n), 3):
        A[np.ix_(own, own)] = wishart(rng, own.size) if own.size else 0
    return es.Pencil(A)


def indefinite(rng: np.random.Generator, n: int) -> es.Pencil:
    M = rng.normal(size=(n, n))
    return es.Pencil(M + M.T - rng.choice([0, 5]) * np.eye(n), wishart(rng, n))


def factors(rng: np.random.Generator, n: int) -> es.Pencil:
    return es.FactorPencil(
        rng.normal(size=(3, n)), rng.normal(size=(4, n)), rng.uniform(0.05, 1, n)
    )


def integers(rng: np.random.Generator, n: int) -> es.Pencil:
    M = rng.integers(-2, 3, size=(n, n)).astype(float)
    return es.Pencil(M @ M.T)


def uneven(rng: np.random.Generator, n: int) -> es.Pencil:
    d = np.exp(rng.normal(scale=2, size=n))
    return es.Pencil(wishart(rng, n) * np.outer(d, d))


def ties(rng: np.random.Generator, n: int) -> es.Pencil:
    A = np.full((n, n), 0.5) + 0.5 * np.eye(n)
    A[: n // 2, n // 2 :] = A[n // 2 :, : n // 2] = rng.choice([0.0, 0.5, -0.5])
    return es.Pencil(A)


KINDS: dict[str, Kind] = {
    "low rank": lambda rng, n: es.Pencil(wishart(rng, n, 3)),
    "ties": ties,
    "duplicates": duplicates,
    "blocks": blocks,
    "integers": integers,
    "uneven": uneven,
    "diagonal": lambda rng, n: es.Pencil(np.diag(rng.uniform(size=n)), np.diag(1 + rng.random(n))),
    "factors": factors,
    "wishart": lambda rng, n: es.Pencil(np.corrcoef(rng.normal(size=(3 * n, n)).T)),
    "indefinite": indefinite,
}


def optimum(pencil: es.Pencil, k: int, include: list[int]) -> float:
    """By brute force, all sets at once."""
    others = np.setdiff1d(np.arange(pencil.size), include)
    sets = [[*include, *more] for more in itertools.combinations(others, k - len(include))]
    S = np.array(sets, dtype=int).reshape(len(sets), k)
    A, B = (M[S[:, :, None], S[:, None, :]] for M in (pencil.A, pencil.B))
    L = np.linalg.inv(np.linalg.cholesky(B))
    return float(np.linalg.eigvalsh(L @ A @ L.transpose(0, 2, 1))[:, -1].max())


def check(pencil: es.Pencil, k: int, include: list[int], **options: object) -> None:
    solution = es.solve(pencil, k, "dominance", "lambda_max", include, audit=True, **options)
    solution.verify(pencil)
    best = optimum(pencil, k, include)
    unit = max(abs(best), pencil.scale)
    assert solution.status is Status.OPTIMAL
    assert best - 1.1e-6 * unit <= solution.objective <= best + 1e-7 * unit
    assert solution.bound >= best - 1e-8 * unit
    assert set(include) <= set(solution.support.tolist())


@pytest.mark.parametrize("relaxes", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_brute_force_agrees(kind: str, relaxes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """150 instances by rows alone for as long as possible, 150 with the relaxation at once."""
    monkeypatch.setattr(dominance, "PLAIN_WORK", 0.0 if relaxes else 1e30)
    monkeypatch.setattr(dominance, "WORK_OF_RELAXATION", 0.0 if relaxes else 1e30)
    for seed in range(PER_KIND // 2):
        rng = np.random.default_rng([seed, relaxes, *kind.encode()])
        n = int(rng.integers(4, 12))
        pencil = KINDS[kind](rng, n)
        k = int(rng.integers(1, n))
        include = rng.choice(n, size=int(rng.integers(0, min(k, 2) + 1)), replace=False).tolist()
        # from a poor start the search must find the optimum by itself
        start = {"start": range(k), "n_starts": 0} if seed % 2 else {}
        check(pencil, k, sorted(include), **start)


@pytest.mark.parametrize("seed", range(30))
def test_brute_force_agrees_on_quotas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nx, ny = (int(rng.integers(2, 7)) for _ in "xy")
    X, Y = rng.normal(size=(30, nx)), rng.normal(size=(30, ny))
    Y[:, 0] += X[:, 0]
    pencil = es.cca_pencil(X, Y, shrinkage=float(rng.choice([0.05, 0.3])))
    k = (int(rng.integers(1, nx + 1)), int(rng.integers(1, ny + 1)))
    include = [0] if seed % 2 else []
    solution = es.solve(pencil, k, "dominance", include=include, audit=True)
    assert solution.is_certified
    feasible = [
        [*S, *(nx + j for j in T)]
        for S in itertools.combinations(range(nx), k[0])
        for T in itertools.combinations(range(ny), k[1])
        if set(include) <= set(S)
    ]
    best = max(naive.score(pencil.A, pencil.B, S, "lambda_max") for S in feasible)
    assert solution.objective == pytest.approx(best, rel=1e-6)


def correlated(n_rows: int, p: int, seed: int = 0) -> es.Pencil:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, p)) + rng.normal(size=(n_rows, 4)) @ rng.normal(size=(4, p))
    return es.Pencil(np.corrcoef(X.T))


def noise(p: int) -> es.Pencil:
    return es.Pencil(np.corrcoef(np.random.default_rng(3).normal(size=(60, p)).T))


def test_threads_change_nothing() -> None:
    pencil = noise(70)
    one, two = (es.solve(pencil, 8, "dominance", n_jobs=n_jobs) for n_jobs in (1, 2))
    assert one.is_certified
    assert one.n_nodes > 20
    assert (one.support.tolist(), one.objective, one.bound, one.n_nodes) == (
        two.support.tolist(), two.objective, two.bound, two.n_nodes
    )  # fmt: skip


def test_limits_leave_a_bound() -> None:
    pencil = noise(150)
    top = float(linalg.eigvalsh(pencil.A)[-1])
    bounds = [np.inf]
    for most in (1, 30, 120):
        solution = es.solve(pencil, 12, "dominance", max_nodes=most)
        solution.verify(pencil)
        assert solution.status is Status.ITERATION_LIMIT
        assert solution.objective < solution.bound < min(top, bounds[-1] + 1e-12)
        bounds.append(solution.bound)
    assert bounds[-1] < bounds[1]
    stopped = solve_in_time(pencil, 12, solver="dominance", time_limit=0.5)
    assert stopped.status is Status.TIME_LIMIT
    assert stopped.objective < stopped.bound < top


@pytest.mark.parametrize("k", [2, 10, 40])
def test_no_bound_is_above_k_for_a_correlation_matrix(k: int) -> None:
    for pencil in (noise(250), correlated(50, 250)):
        solution = es.solve(pencil, k, "dominance", max_nodes=1, n_starts=0)
        assert solution.objective <= solution.bound <= k * (1 + 1e-8)


def test_thousands_of_columns_with_wishes() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3000))
    X[:, 100:112] += 2 * rng.normal(size=(60, 1))
    pencil = es.pca_pencil(X / X.std(axis=0))
    free = es.solve(pencil, 8, "exact")
    assert (free.solver, free.is_certified) == ("dominance", True)
    assert set(free.support.tolist()) <= set(range(100, 112))
    bound = es.solve(pencil, 8, "exact", include=[7], exclude=free.support[:2].tolist(), audit=True)
    bound.verify(pencil)
    assert bound.is_certified
    assert 7 in bound.support
    assert not set(bound.support.tolist()) & set(free.support[:2].tolist())


def test_the_rows_need_not_be_held(monkeypatch: pytest.MonkeyPatch) -> None:
    from eigensieve.search.exact.dominance import root

    rng = np.random.default_rng(1)
    pencil = es.pca_pencil(rng.normal(size=(40, 700)) * np.geomspace(1, 4, 700))
    held = es.solve(pencil, 5, "dominance")
    monkeypatch.setattr(root, "HELD", 10)
    made = es.solve(pencil, 5, "dominance")
    assert held.is_certified
    assert (held.support.tolist(), held.bound) == (made.support.tolist(), made.bound)


def test_wide_views_that_are_not_searched_keep_their_bound() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(2, 80, 800))
    pencil = es.cca_pencil(X, Y, shrinkage=0.5)
    solution = es.solve(pencil, 6, "dominance", n_starts=0)
    assert solution.status is Status.GAP_LIMIT
    assert solution.objective < solution.bound < np.inf


@pytest.mark.parametrize("criterion", ["trace", "logdet"])
def test_other_criteria_need_a_rank_one_A(criterion: str) -> None:
    rng = np.random.default_rng(0)
    one = es.FactorPencil(rng.normal(size=(1, 9)), rng.normal(size=(5, 9)), rng.uniform(0.1, 1, 9))
    solution = es.solve(one, 3, solver="dominance", criterion=criterion, audit=True)
    best, _ = naive.best(one.A, one.B, 3, criterion)
    assert solution.is_certified
    assert solution.objective == pytest.approx(best, rel=1e-6)
    with pytest.raises(ValueError, match="needs a rank-one A"):
        es.solve(factors(rng, 8), 3, solver="dominance", criterion=criterion)


def test_a_given_start_is_kept_where_nothing_is_better() -> None:
    pencil = correlated(40, 90)
    best = es.solve(pencil, 6, "dominance")
    again = es.solve(pencil, 6, "dominance", start=best.support, n_starts=0)
    assert again.support.tolist() == best.support.tolist()
    assert make_problem(pencil, 6).score(again.support) == again.objective


def test_similar_features_are_found_among_many() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 700)) + 0.8 * rng.normal(size=(50, 1)) * (rng.random(700) < 0.5)
    X[:, [17, 101, 350, 699]] = rng.normal(size=(50, 1)) + 0.02 * rng.normal(size=(50, 4))
    pencil = es.pca_pencil((X - X.mean(axis=0)) / X.std(axis=0))
    solution = es.solve(pencil, 4, solver="dominance")
    assert solution.support.tolist() == [17, 101, 350, 699]


def general(p: int) -> es.Pencil:
    rng = np.random.default_rng(0)
    R, H = rng.normal(size=(p, p)), rng.normal(size=(6, p))
    return es.Pencil(H.T @ H, R.T @ R / p + 0.3 * np.eye(p))


def test_a_limit_is_kept_inside_a_node() -> None:
    """One node of so many features with its relaxation takes seconds."""
    pencil = general(500)
    solution = solve_in_time(pencil, 15, solver="dominance", n_starts=0, time_limit=1.0, audit=True)
    solution.verify(pencil)
    assert solution.status is Status.TIME_LIMIT
    assert solution.objective < solution.bound < np.inf


def test_where_there_is_nothing_to_search() -> None:
    nothing = es.solve(es.Pencil(np.zeros((501, 501))), 4, "dominance")
    assert (nothing.is_certified, nothing.objective) == (True, 0.0)
    pencil = correlated(50, 250)
    for k, include in ((250, []), (3, [1, 5, 7])):
        only = es.solve(pencil, k, "dominance", include=include)
        assert (only.is_certified, only.n_nodes) == (True, 0)
        assert set(include) <= set(only.support.tolist())


def test_features_that_need_not_be_looked_at_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dominance, "MAX_FEATURES", 210)
    pencil = noise(300)
    solution = es.solve(pencil, 8, "dominance", n_starts=0)
    assert solution.status is Status.GAP_LIMIT
    assert solution.objective < solution.bound <= 8 * (1 + 1e-8)
