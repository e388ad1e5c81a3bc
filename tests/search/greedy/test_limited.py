"""Greedy and exhaustive search under limits on groups and costs, against every set."""

from __future__ import annotations

from functools import cache
from itertools import chain, combinations

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.constraints import Constraints
from eigensieve.pencil.problem import make_problem
from eigensieve.pencil.solution import Status
from eigensieve.search.greedy.start import find_start, resize
from eigensieve.search.moves import starting_supports, top_k
from tests.oracles.limited import Limited, limited_instance

# Nearly singular instances are only as sharp as this.
SHARP = 1e-6
BLOCKS = range(8)


@cache
def instances(block: int) -> list[Limited]:
    """Random problems of every kind; the eight blocks have more than 500 that can be solved."""
    return [limited_instance(seed) for seed in range(100 * block, 100 * block + 100)]


def solvable(block: int) -> list[Limited]:
    return [case for case in instances(block) if case.sets]


@pytest.mark.parametrize("block", BLOCKS)
def test_greedy_search_nearly_always_finds_the_optimum(block: int) -> None:
    missed, cases = [], solvable(block)
    assert len(cases) > 55
    for case in cases:
        found = es.solve(case.instance.pencil, solver="greedy", **case.arguments)
        assert found.support.tolist() in case.sets, case
        best = case.best()
        if case.score(found.support) < best - SHARP * max(abs(best), found.scale):
            missed.append(case)
    assert len(missed) <= 0.03 * len(cases), missed


@pytest.mark.parametrize("block", BLOCKS)
def test_wishes_that_no_set_fulfils_are_refused(block: int) -> None:
    for case in instances(block):
        if not case.sets:
            with pytest.raises(InputError, match=r"keeps all limits|is to give"):
                es.solve(case.instance.pencil, solver="greedy", **case.arguments)


@pytest.mark.parametrize("block", BLOCKS[:4])
def test_exhaustive_search_finds_the_optimum(block: int) -> None:
    for case in solvable(block):
        found = es.solve(case.instance.pencil, solver="exhaustive", **case.arguments)
        best = case.best()
        assert found.support.tolist() in case.sets
        sharp = SHARP * max(abs(best), found.scale)
        assert case.score(found.support) >= best - sharp, case
        assert found.bound >= best - sharp


@pytest.mark.parametrize("block", BLOCKS[:2])
def test_auto_claims_no_more_than_is_true(block: int) -> None:
    for case in solvable(block):
        found = es.solve(case.instance.pencil, **case.arguments)
        best = case.best()
        assert found.support.tolist() in case.sets
        assert found.bound >= best - SHARP * max(abs(best), found.scale), case
        if found.is_certified:
            assert case.score(found.support) >= best - 2 * SHARP * max(abs(best), found.scale)


@pytest.mark.parametrize("block", BLOCKS[2:4])
def test_starts_of_exact_searches_are_allowed(block: int) -> None:
    for case in solvable(block)[::2]:
        own, wishes = case.instance, Constraints(**case.wishes.options())
        problem = make_problem(
            own.pencil, own.k, own.criterion, own.include, own.exclude, constraints=wishes
        )
        rng, p = np.random.default_rng(0), problem.pencil.size
        given = rng.choice(p, size=int(rng.integers(1, p + 1)), replace=False)
        found = [
            resize(problem, given),
            top_k(problem, rng.normal(size=p)),
            top_k(problem, np.where(rng.random(p) < 0.5, -np.inf, 1.0), given[: problem.k]),
            find_start(problem, Budget(), "exact", given=given, n_starts=2),
            *starting_supports(problem, 6, rng, Budget()),
        ]
        for support in found:
            assert problem.to_original[np.sort(support)].tolist() in case.sets, case


def test_a_set_that_keeps_the_limits_stays_as_it_is() -> None:
    for case in solvable(0):
        own, wishes = case.instance, Constraints(**case.wishes.options())
        problem = make_problem(
            own.pencil, own.k, own.criterion, own.include, own.exclude, constraints=wishes
        )
        support = problem.to_local(case.sets[len(case.sets) // 2])
        np.testing.assert_array_equal(resize(problem, support), support)


@pytest.mark.parametrize("block", BLOCKS[4:6])
def test_no_allowed_exchange_of_one_feature_helps(block: int) -> None:
    compared = 0
    for case in solvable(block):
        found = es.solve(case.instance.pencil, solver="greedy", **case.arguments)
        if found.status is not Status.CONVERGED:
            continue
        S, value = set(found.support.tolist()), case.score(found.support)
        for T in case.sets:
            if len(S & set(T)) == len(S) - 1:
                assert case.score(T) <= value + SHARP * max(abs(value), found.scale), case
                compared += 1
    assert compared > 100


def bands(seed: int) -> tuple[es.Pencil, dict[str, list[int]]]:
    """Neighbouring columns go together; three of twelve bands tell three classes apart."""
    rng = np.random.default_rng(seed)
    y = np.arange(60) % 3
    X = rng.normal(size=(60, 48)) + 0.8 * rng.normal(size=(60, 12)).repeat(4, axis=1)
    for c in range(3):
        X[y == c, 4 * c : 4 * c + 4] += rng.uniform(0.3, 0.6)
    order = rng.permutation(12)
    X = np.hstack([X[:, 4 * b : 4 * b + 4] for b in order])
    return es.lda_pencil(X, y, shrinkage=0.3), {
        f"{b}": list(range(4 * b, 4 * b + 4)) for b in range(12)
    }


@pytest.mark.parametrize("seed", range(6))
def test_whole_bands_are_exchanged(seed: int) -> None:
    """No single exchange is allowed: all of it is left to moves of whole bands."""
    pencil, groups = bands(seed)
    found = es.solve(pencil, 12, "greedy", groups=groups, whole=True)
    best = max(logdet(pencil, sorted(chain(*three))) for three in combinations(groups.values(), 3))
    assert len({j // 4 for j in found.support.tolist()}) == 3
    assert found.objective == pytest.approx(best)


def logdet(pencil: es.Pencil, S: list[int]) -> float:
    A, B = pencil.A[np.ix_(S, S)], pencil.B[np.ix_(S, S)]
    return float(np.linalg.slogdet(A + B)[1] - np.linalg.slogdet(B)[1])


def test_one_feature_is_proved() -> None:
    pencil = es.Pencil(np.diag([5.0, 4.0, 3.0, 2.0]))
    found = es.solve(pencil, 1, "greedy", costs=[9, 8, 2, 1], max_cost=3)
    assert found.support.tolist() == [2]
    assert found.status is Status.OPTIMAL
    must = es.solve(pencil, 1, "greedy", groups={"g": [1, 3]}, at_least=1)
    assert must.support.tolist() == [1]
    assert must.status is Status.OPTIMAL


@pytest.fixture(scope="module")
def pencil() -> es.Pencil:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 80)), np.arange(50) % 3
    X[y == 1, :10] += 0.8
    return es.lda_pencil(X, y, shrinkage=0.4)


GROUPS = {f"g{i}": list(range(10 * i, 10 * i + 10)) for i in range(8)}


def test_a_path_finds_what_a_search_for_one_k_finds(pencil: es.Pencil) -> None:
    path = es.solve_path(pencil, [2, 5, 8], "greedy", groups=GROUPS, at_most=1)
    for k, found in path.items():
        alone = es.solve(pencil, k, "greedy", groups=GROUPS, at_most=1)
        np.testing.assert_array_equal(found.support, alone.support)
        assert max(np.bincount(found.support // 10)) == 1


@pytest.mark.parametrize("solver", ["greedy", "auto"])
def test_without_time_there_is_an_allowed_set(pencil: es.Pencil, solver: str) -> None:
    found = es.solve(pencil, 6, solver, time_limit=0, groups=GROUPS, at_most=1)
    assert found.status is Status.TIME_LIMIT
    assert found.k == 6
    assert max(np.bincount(found.support // 10)) == 1


def test_ctrl_c_leaves_an_allowed_set(pencil: es.Pencil) -> None:
    events = []

    def stop(event: object) -> Status:
        events.append(event)
        return Status.INTERRUPTED

    found = es.solve_path(pencil, [4, 6], "greedy", groups=GROUPS, at_most=1, callback=stop)
    assert len(events) == 1
    assert all(max(np.bincount(s.support // 10)) == 1 for s in found.values())


def test_options_of_the_search(pencil: es.Pencil) -> None:
    wishes = {"groups": GROUPS, "at_most": 1}
    plain = es.solve(pencil, 6, "greedy", swap=False, **wishes)
    assert plain.n_iter == 0
    polished = es.solve(pencil, 6, "greedy", **wishes)
    more = es.solve(pencil, 6, "greedy", n_starts=20, random_state=1, **wishes)
    assert plain.objective <= polished.objective * (1 + 1e-12)
    assert max(np.bincount(more.support // 10)) == 1
    again = es.solve(pencil, 6, "greedy", n_starts=20, random_state=1, **wishes)
    np.testing.assert_array_equal(more.support, again.support)
    for direction in ("backward", "both"):
        with pytest.raises(OptionError, match="with limits on groups or costs"):
            es.solve(pencil, 6, "greedy", direction=direction, **wishes)


def test_limits_that_bind_nothing_change_nothing(pencil: es.Pencil) -> None:
    free = es.solve(pencil, 6, "greedy")
    loose = es.solve(pencil, 6, "greedy", costs=np.ones(80), max_cost=6)
    assert loose.objective >= free.objective * (1 - 1e-9)
    assert loose.verify(pencil) is None
