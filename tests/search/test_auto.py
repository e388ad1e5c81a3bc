"""The default solver: greedy search, then an exact one under an effort that no clock decides."""

from __future__ import annotations

import inspect
import itertools
import time
from collections.abc import Callable

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.pencil.solution import Solution, Status
from eigensieve.search import auto
from tests.oracles import naive
from tests.oracles.exact import Truth, judge
from tests.oracles.instances import Instance, random_instance


def wide(seed: int, n: int = 40, p: int = 300, classes: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Correlated columns and little signal: a search that takes its time."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 5)) @ rng.normal(size=(5, p))
    X[:, :20] += rng.normal(size=(classes, 20))[y]
    return X, y


def solve(instance: Instance, **options: object) -> Solution:
    return es.solve(
        instance.pencil, instance.k, criterion=instance.criterion,
        include=instance.include, exclude=instance.exclude, **options,
    )  # fmt: skip


@pytest.mark.parametrize(
    "taker", [es.solve, es.solve_path, es.SparseLDA, es.SparsePCA, es.SparseCCA]
)
def test_it_is_the_default(taker: Callable) -> None:
    assert inspect.signature(taker).parameters["solver"].default == "auto"


@pytest.mark.parametrize("first", range(0, 240, 60))
def test_brute_force_agrees(first: int) -> None:
    """Small problems are proved, whatever the effort, and what is proved is true."""
    for seed in range(first, first + 60):
        instance = random_instance(seed)
        found = solve(instance, effort=1e-9)
        assert judge(instance, found, Truth(instance)) == []
        if not found.is_certified:  # so ill-conditioned that rounding leaves a gap
            assert not solve(instance, solver="exact").is_certified


@pytest.mark.parametrize("effort", [1e-9, 1e-4, 1e-3])
def test_a_search_that_is_cut_short_claims_nothing_false(
    effort: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auto, "SMALL", 0)
    ends = set()
    for seed in range(500, 560):
        instance = random_instance(seed)
        found = solve(instance, effort=effort)
        assert judge(instance, found, Truth(instance)) == []
        ends.add(found.status)
    assert Status.OPTIMAL in ends
    assert not any(status.is_early for status in ends)


def test_a_better_set_is_the_answer() -> None:
    """Where greedy search misses the optimum, the default does not."""
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng([seed, 27])
        pencil = es.lda_pencil(rng.normal(size=(16, 12)), np.arange(16) % 2, shrinkage=0.05)
        best, support = naive.best(pencil.A, pencil.B, 4, "logdet")
        greedy = es.solve(pencil, 4, solver="greedy", swap=False, direction="forward")
        found = es.solve(pencil, 4)
        missed += greedy.objective < best - 1e-6
        assert found.is_certified
        assert found.support.tolist() == support
        assert found.objective == pytest.approx(best, rel=1e-9)
    assert missed


def same(first: Solution, second: Solution) -> bool:
    """To the last bit."""
    return (
        first.support.tolist() == second.support.tolist()
        and first.bound == second.bound
        and first.status is second.status
        and first.n_nodes == second.n_nodes
    )


def test_no_clock_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine a thousand times as slow the result is the same, and so is the path."""
    X, y = wide(0)
    pencil = es.lda_pencil(X, y, shrinkage=0.1)
    found = es.solve(pencil, 8, effort=0.1)
    path = es.solve_path(pencil, [4, 8], effort=0.1)
    assert found.status is Status.GAP_LIMIT
    clock = time.perf_counter
    monkeypatch.setattr(time, "perf_counter", lambda: 1000.0 * clock())
    assert same(es.solve(pencil, 8, effort=0.1), found)
    again = es.solve_path(pencil, [4, 8], effort=0.1)
    assert all(same(again[k], path[k]) for k in (4, 8))


@pytest.mark.parametrize("criterion", ["logdet", "trace", "lambda_max"])
def test_threads_change_nothing(criterion: str) -> None:
    X, y = wide(1, p=120)
    pencil = es.lda_pencil(X, y, shrinkage=0.05)
    one, two = (es.solve(pencil, 8, criterion=criterion, effort=0.1, n_jobs=n) for n in (1, 2))
    assert one.status is Status.GAP_LIMIT
    assert same(one, two)


def test_small_problems_end_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to 40 features have more effort than is asked for, but not without end."""
    rng = np.random.default_rng(0)
    pencil = es.lda_pencil(rng.normal(size=(50, 40)), np.arange(50) % 20, 0.1)
    searched = []
    for high in (1e-3, 1e-2):
        monkeypatch.setitem(auto.EFFORTS, "high", high)
        found = es.solve(pencil, 12, criterion="trace", effort=1e-4)
        assert found.status is Status.GAP_LIMIT
        searched.append(found.n_nodes)
    assert searched[0] < searched[1]


def test_more_effort_proves_more() -> None:
    X, y = wide(2)
    pencil = es.lda_pencil(X, y, shrinkage=0.1)
    found = [es.solve(pencil, 8, effort=effort) for effort in (0, 0.01, 0.05, 0.2)]
    assert found[0].bound == np.inf
    assert found[0].solver == "greedy"
    bounds = [one.bound for one in found[1:]]
    assert bounds == sorted(bounds, reverse=True)
    assert bounds[0] > bounds[-1]
    work = [one.n_nodes for one in found]
    assert work == sorted(work)


def test_no_effort_is_greedy_search() -> None:
    X, y = wide(3)
    pencil = es.lda_pencil(X, y)
    greedy, found = es.solve(pencil, 6, solver="greedy"), es.solve(pencil, 6, effort=0)
    assert found.support.tolist() == greedy.support.tolist()
    assert found.status is greedy.status
    assert np.isinf(found.bound)


@pytest.mark.parametrize("effort", ["slow", -1, np.nan, None, True])
def test_an_effort_that_is_none(effort: object) -> None:
    with pytest.raises(OptionError, match="effort"):
        es.solve(es.Pencil(np.eye(3)), 2, effort=effort)


def test_no_limit_is_exact_search() -> None:
    X, y = wide(4, p=60)
    assert es.solve(es.lda_pencil(X, y, shrinkage=0.3), 5, effort=np.inf).is_certified


def test_names_and_numbers_mean_the_same() -> None:
    assert auto.check_effort("quick") < auto.check_effort("normal") < auto.check_effort("high")
    assert auto.check_effort("normal") == auto.check_effort(3)


def test_an_option_of_another_solver_says_whose_it_is() -> None:
    with pytest.raises(OptionError, match=r"'auto' has no option direction.*'greedy' knows it"):
        es.solve(es.Pencil(np.eye(3)), 2, direction="forward")


# ---------------------------------------------------------------- paths


def test_a_path_is_proved() -> None:
    rng = np.random.default_rng(5)
    pencil = es.lda_pencil(rng.normal(size=(20, 11)), np.arange(20) % 3, shrinkage=0.2)
    path = es.solve_path(pencil)
    for k, solution in path.items():
        best, support = naive.best(pencil.A, pencil.B, k, "logdet")
        assert solution.is_certified
        assert solution.support.tolist() == support
        assert solution.objective == pytest.approx(best, rel=1e-9)


def test_what_no_k_needs_is_left_out_once_and_nothing_is_lost() -> None:
    """The path's sets and proofs are those of searches one by one."""
    X, y = wide(6, p=500, classes=2)
    pencil = es.lda_pencil(X, y, shrinkage=0.5)
    path = es.solve_path(pencil, [2, 4, 6])
    for k, solution in path.items():
        alone = es.solve(pencil, k, solver="exact")
        assert solution.is_certified
        assert alone.is_certified
        assert solution.objective == pytest.approx(alone.objective, rel=2e-6)
        solution.verify(pencil)


def test_many_k_share_the_effort() -> None:
    X, y = wide(7)
    pencil = es.lda_pencil(X, y, shrinkage=0.1)
    few = es.solve_path(pencil, [8, 9], effort=0.1)
    many = es.solve_path(pencil, range(5, 25), effort=0.1)
    total = [sum(one.n_nodes for one in path.values()) for path in (few, many)]
    assert total[1] < 6 * total[0]  # not ten times as much
    assert all(np.isfinite(one.bound) for one in many.values())


def test_a_better_set_is_grown_for_the_next_k(monkeypatch: pytest.MonkeyPatch) -> None:
    """From a greedy search that finds poor sets, the path still ends at the optimum."""
    rng = np.random.default_rng(8)
    pencil = es.lda_pencil(rng.normal(size=(24, 14)), np.arange(24) % 2, shrinkage=0.05)

    def poor(problem, ks, budget, **options):  # type: ignore[no-untyped-def]
        return {
            k: problem.with_k(k).solution(np.arange(k), budget, status=Status.FEASIBLE, solver="x")
            for k in ks
        }

    monkeypatch.setattr(auto, "greedy_path", poor)
    for k, solution in es.solve_path(pencil, [3, 4, 5]).items():
        best, _ = naive.best(pencil.A, pencil.B, k, "logdet")
        assert solution.is_certified
        assert solution.objective == pytest.approx(best, rel=1e-9)


# ---------------------------------------------------------------- limits, wishes, other pencils


def test_a_time_limit_is_told() -> None:
    X, y = wide(9)
    found = es.solve(es.lda_pencil(X, y, shrinkage=0.1), 8, time_limit=0)
    assert found.status is Status.TIME_LIMIT
    assert found.k == 8


def test_wishes_are_kept() -> None:
    X, y = wide(10, p=60)
    pencil = es.lda_pencil(X, y, shrinkage=0.3)
    found = es.solve(pencil, 4, include=[50], exclude=[0, 1])
    rivals = itertools.combinations([j for j in range(60) if j not in (0, 1, 50)], 3)
    scores = (naive.score(pencil.A, pencil.B, [50, *rest], "logdet") for rest in rivals)
    assert found.is_certified
    assert found.objective == pytest.approx(max(scores), rel=1e-9)


def test_pairs_of_views() -> None:
    rng = np.random.default_rng(11)
    X, Y = rng.normal(size=(30, 6)), rng.normal(size=(30, 5))
    pencil = es.cca_pencil(X, Y, shrinkage=0.2)
    path = es.solve_path(pencil, [(1, 1), (2, 2)])
    for (kx, ky), found in path.items():
        scores = [
            naive.score(pencil.A, pencil.B, [*first, *second], "lambda_max")
            for first in itertools.combinations(range(6), kx)
            for second in itertools.combinations(range(6, 11), ky)
        ]
        assert found.is_certified
        assert found.objective == pytest.approx(max(scores), rel=1e-9)


def test_a_proof_can_be_asked_for(tmp_path) -> None:  # type: ignore[no-untyped-def]
    X, y = wide(12, p=80)
    found = es.solve(es.lda_pencil(X, y, shrinkage=0.5), 3, proof=tmp_path / "best.proof")
    assert found.is_certified
    verdict = es.check_proof(tmp_path / "best.proof", X, y)
    assert verdict.accepted


def test_matrices_that_take_too_long_at_the_root_keep_the_greedy_set() -> None:
    rng = np.random.default_rng(13)
    G = rng.normal(size=(1600, 40))
    A = G @ G.T / 40 + np.eye(1600)
    found = es.solve(es.Pencil(A, A[::-1, ::-1]), 3)
    assert found.solver == "greedy"
    assert np.isinf(found.bound)
    assert found.status is Status.CONVERGED


def test_gene_tables_are_proved(load_data: Callable) -> None:
    for name, k in (("colon", 10), ("srbct83", 5), ("leukemia", 20)):
        X, y, _ = load_data(name)
        pencil = es.lda_pencil(X, y)
        found = es.solve(pencil, k)
        assert found.is_certified
        found.verify(pencil)
        assert found.objective >= es.solve(pencil, k, solver="greedy").objective - 1e-9
