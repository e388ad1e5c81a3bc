"""Exact search on a cluster: the same solution as here, whatever becomes of the workers."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import MissingExtraError, OptionError
from eigensieve.pencil.budget import Budget, Progress
from eigensieve.pencil.solution import Status
from eigensieve.search.exact import tree as search
from eigensieve.search.exact.leaps import leaps
from eigensieve.tables.cluster import WorkerPool
from tests.local_cluster import kill_workers, two_workers, wait_for_both

Problem = tuple[es.Pencil, int, str, str]


def leaps_data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = rng.normal(size=(60, 40)) + y[:, None] * rng.normal(size=40) * 0.3
    return X + rng.normal(size=(60, 5)) @ rng.normal(size=(5, 40)), y


def leaps_problem() -> Problem:
    return es.lda_pencil(*leaps_data(), shrinkage=0.02), 12, "leaps", "lambda_max"


def levelset_problem() -> Problem:
    X = np.random.default_rng(0).normal(size=(40, 60))
    return es.pca_pencil(X), 8, "levelset", "lambda_max"


def perspective_problem() -> Problem:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 400))
    X[:, :20] += 0.7 * y[:, None]
    return es.lda_pencil(X, y, shrinkage=0.3), 8, "perspective", "logdet"


def direction_problem() -> Problem:
    rng = np.random.default_rng(3)
    y = np.arange(60) % 4
    X = rng.normal(size=(60, 700))
    X[:, :6] += 0.5 * rng.normal(size=(4, 6))[y]
    return es.lda_pencil(X, y, shrinkage=0.45), 10, "direction", "lambda_max"


def dominance_problem() -> Problem:
    X = np.random.default_rng(3).normal(size=(60, 70))
    return es.Pencil(np.corrcoef(X.T)), 8, "dominance", "lambda_max"


PROBLEMS = [
    leaps_problem,
    levelset_problem,
    dominance_problem,
    perspective_problem,
    direction_problem,
]


def hard_problem() -> Problem:
    """Minutes would not do."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 40)
    X = rng.normal(size=(80, 120)) + rng.normal(size=(80, 5)) @ rng.normal(size=(5, 120))
    return es.lda_pencil(X, y, shrinkage=0.01), 20, "leaps", "lambda_max"


@pytest.fixture(scope="module")
def shared_client(tmp_path_factory) -> Iterator[Any]:
    with two_workers(tmp_path_factory.mktemp("workers")) as client:
        yield client


@pytest.fixture
def client(shared_client) -> Any:
    wait_for_both(shared_client)
    return shared_client


@pytest.fixture(autouse=True)
def many_rounds_that_are_sent(monkeypatch) -> None:
    """Every round but the first of a search goes to the cluster, however short it is.

    And every one is told to the callback, however soon it follows the last.
    """
    monkeypatch.setattr(search, "WORTH_SENDING", -1.0)
    monkeypatch.setattr(leaps, "WORK", 300_000)

    def report(budget: Budget, solver: str, phase: str, step: int, **details: Any) -> None:
        if budget.callback is not None:
            budget.callback(Progress(solver, phase, step, seconds=budget.seconds, **details))

    monkeypatch.setattr(Budget, "report", report)


@pytest.fixture
def pools(monkeypatch) -> list[WorkerPool]:
    """Every pool that was at work, once for each round."""
    seen: list[WorkerPool] = []
    run = WorkerPool.run

    def watched(pool: WorkerPool, *rest: Any) -> Any:
        seen.append(pool)
        return run(pool, *rest)

    monkeypatch.setattr(WorkerPool, "run", watched)
    return seen


def same(found: es.Solution, expected: es.Solution) -> None:
    assert found.support.tolist() == expected.support.tolist()
    assert (found.status, found.n_nodes) == (expected.status, expected.n_nodes)
    assert (found.objective, found.bound) == (expected.objective, expected.bound)


def at_event(number: int, call: Callable[[], None]) -> Callable[[Progress], None]:
    """A callback that makes a call at an event of the search."""
    events = iter(range(number))

    def tell(event: Progress) -> None:
        if event.phase == "search" and next(events, None) == number - 1:
            call()

    return tell


# ---------------------------------------------------------------- the same results


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_same_as_here(client, pools, problem) -> None:
    """Audited; that a search without an audit is the same is seen below, where workers die."""
    pencil, k, solver, criterion = problem()
    here = es.solve(pencil, k, solver, criterion, audit=True)
    assert here.status is Status.OPTIMAL
    assert here.n_nodes > 1000
    assert not pools
    found = es.solve(pencil, k, solver, criterion, audit=True, client=client)
    same(found, here)
    found.verify(pencil)
    assert len(pools) > 3
    assert len(set(pools)) == 1
    assert pools[0].n_sent == 1  # for all its rounds


@pytest.mark.parametrize("problem", PROBLEMS)
def test_wide_rounds(client, pools, problem, monkeypatch) -> None:
    pencil, k, solver, criterion = problem()
    usual = es.solve(pencil, k, solver, criterion)
    monkeypatch.setattr(search, "MAX_SMALL_ROUNDS", 1)
    wide = es.solve(pencil, k, solver, criterion)
    same(es.solve(pencil, k, solver, criterion, n_jobs=2), wide)
    same(es.solve(pencil, k, solver, criterion, client=client), wide)
    assert pools
    assert wide.support.tolist() == usual.support.tolist()
    assert wide.status is Status.OPTIMAL


def test_short_rounds_stay_here(client, pools, monkeypatch) -> None:
    monkeypatch.setattr(search, "WORTH_SENDING", np.inf)
    pencil, k, solver, criterion = levelset_problem()
    same(es.solve(pencil, k, solver, criterion, client=client), es.solve(pencil, k, solver))
    assert not pools


def test_certificates(client, pools) -> None:
    pencil, k, _, criterion = leaps_problem()
    chosen = np.arange(k)
    here = es.certify(pencil, chosen, criterion)
    found = es.certify(pencil, chosen, criterion, client=client)
    assert pools
    same(found, here)
    assert found.explain() == here.explain()


def test_paths_and_estimators(client, pools) -> None:
    pencil, *_ = levelset_problem()
    here = es.solve_path(pencil, [3, 6], "exact")
    found = es.solve_path(pencil, [3, 6], "exact", client=client)
    for k in (3, 6):
        same(found[k], here[k])
    pools.clear()
    lda = es.SparseLDA(12, solver="exact", shrinkage=0.02)
    here_too = lda.fit(*leaps_data()).solution_
    lda.set_params(solver_options={"client": client})
    same(lda.fit(*leaps_data()).solution_, here_too)
    assert pools


# ---------------------------------------------------------------- lost workers and limits


@pytest.mark.parametrize(("problem", "count"), [(leaps_problem, 1), (levelset_problem, 2)])
def test_workers_killed_in_the_middle(client, pools, problem, count) -> None:
    pencil, k, solver, criterion = problem()
    here = es.solve(pencil, k, solver, criterion)
    interrupted = []

    def kill() -> None:
        interrupted.append(len(pools))
        kill_workers(client, count)

    tell = at_event(2, kill)
    found = es.solve(pencil, k, solver, criterion, client=client, callback=tell)
    same(found, here)
    assert interrupted
    assert len(pools) > interrupted[0]


def test_a_time_limit(client, pools) -> None:
    pencil, k, solver, criterion = hard_problem()
    found = es.solve(pencil, k, solver, criterion, time_limit=2.0, client=client)
    assert pools
    assert found.status is Status.TIME_LIMIT
    assert found.seconds < 6
    assert found.objective < found.bound < np.inf
    found.verify(pencil)


def test_a_time_limit_without_workers(client, pools) -> None:
    pencil, k, solver, criterion = hard_problem()
    start = time.monotonic()
    found = es.solve(
        pencil, k, solver, criterion, time_limit=2.0, client=client,
        callback=at_event(2, lambda: kill_workers(client, 2)),
    )  # fmt: skip
    assert time.monotonic() - start < 20
    assert found.status is Status.TIME_LIMIT
    found.verify(pencil)


def test_a_node_limit(client) -> None:
    pencil, k, solver, criterion = hard_problem()
    here = es.solve(pencil, k, solver, criterion, max_nodes=3000)
    assert here.status is Status.ITERATION_LIMIT
    same(es.solve(pencil, k, solver, criterion, max_nodes=3000, client=client), here)


def test_ctrl_c(client) -> None:
    pencil, k, solver, criterion = hard_problem()
    press = at_event(3, lambda: os.kill(os.getpid(), signal.SIGINT))
    found = es.solve(
        pencil, k, solver, criterion, time_limit=60, client=client, callback=press
    )  # fmt: skip
    assert found.status is Status.INTERRUPTED
    assert found.objective <= found.bound
    found.verify(pencil)


# ---------------------------------------------------------------- the option


def test_solvers_without_a_search_ignore_it(client, pools) -> None:
    pencil, *_ = levelset_problem()
    for solver in ("greedy", "threshold", "interlacing"):
        small = pencil.take(np.arange(8))
        same(es.solve(small, 3, solver, client=client), es.solve(small, 3, solver))
    assert not pools


@pytest.mark.parametrize("solver", ["exact", "greedy"])
def test_not_a_client(solver, monkeypatch) -> None:
    pencil, k, _, _ = levelset_problem()
    for wrong in ("tcp://127.0.0.1:8786", 2):
        with pytest.raises(OptionError, match=r"client is .*; it must be a"):
            es.solve(pencil, k, solver, client=wrong)
    with pytest.raises(OptionError, match="client is"):
        es.SparseLDA(2, solver=solver, solver_options={"client": 2}).fit(np.eye(6), [0, 1] * 3)
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match="dask"):
        es.solve(pencil, k, solver, client=object())
