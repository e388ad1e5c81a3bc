"""The list of near-optimal sets against all sets, one by one."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from tests.oracles.panels import CRITERIA, LimitedProblem, random_limited_problem

# Scores nearer than this to the threshold, relatively, are ties with it (es.near_optimal says so).
TIE = 1e-9
COUNT, PART = 1200, 100
SHARES = (0.0, 0.01, 0.1)


def reaching(problem: LimitedProblem, within: float) -> set[tuple[int, ...]]:
    """The sets that belong in the list."""
    every = problem.sets()
    best = max(score for score, _ in every)
    unit = max(abs(best), es.solve(problem.pencil, 1, criterion=problem.criterion).scale)
    return {S for score, S in every if score >= best - within * abs(best) - TIE * unit}


def as_sets(found: es.NearOptimalSets) -> set[tuple[int, ...]]:
    return {tuple(row) for row in found.sets.tolist()}


def check(problem: LimitedProblem, within: float) -> bool:
    """Compare list, core and never with those of all sets; False if no set is allowed."""
    if not problem.sets():
        with pytest.raises(es.errors.InputError):
            es.near_optimal(problem.pencil, problem.k, **problem.arguments)
        return False
    wanted = reaching(problem, within)
    found = es.near_optimal(problem.pencil, problem.k, within, max_sets=10**6, **problem.arguments)
    assert as_sets(found) == wanted
    assert found.n_sets == len(wanted)
    assert found.is_complete
    used = set().union(*wanted)
    assert set(found.never.tolist()) == set(range(problem.pencil.size)) - used
    assert set(found.core.tolist()) == set.intersection(*map(set, wanted))
    counts = [sum(j in S for S in wanted) / len(wanted) for j in range(problem.pencil.size)]
    np.testing.assert_allclose(found.frequency, counts)
    found.verify(problem.pencil)
    return True


@pytest.mark.parametrize("first", range(0, COUNT, PART))
def test_the_list_is_the_enumerated_one(first: int) -> None:
    seeds = range(first, first + PART)
    n_listed = sum(check(random_limited_problem(seed), SHARES[seed % 3]) for seed in seeds)
    assert n_listed >= 0.9 * PART  # the wishes of the others no set keeps


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("within", SHARES)
def test_ties_fall_into_the_list(criterion: str, within: float) -> None:
    # three copies of everything: each set has as many twins as its features have copies
    X = np.random.default_rng(0).normal(size=(30, 3)) * [1.0, 2.0, 3.0]
    pencil = es.pca_pencil(np.tile(X, 3))
    problem = LimitedProblem(pencil, 2, criterion)
    assert check(problem, within)


def test_a_set_exactly_on_the_threshold_counts() -> None:
    pencil = es.Pencil(np.diag([100.0, 99.0, 98.999999, 50.0]))
    found = es.near_optimal(pencil, 1, within=0.01)
    assert as_sets(found) == {(0,), (1,)}
    assert as_sets(es.near_optimal(pencil, 1, within=0.0100001)) == {(0,), (1,), (2,)}


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_number_for_each_block(criterion: str) -> None:
    rng = np.random.default_rng(1)
    X, Y = rng.normal(size=(40, 5)), rng.normal(size=(40, 4))
    pencil = es.cca_pencil(X, Y, shrinkage=0.3)
    if criterion != "lambda_max":  # the matrix of a CCA is indefinite
        pencil = es.Pencil(pencil.A @ pencil.A, pencil.B, blocks=pencil.blocks)
    groups = {"left": list(range(5)), "right": list(range(5, 9))}
    rules = {"groups": groups, "at_most": {"left": 2, "right": 1}}
    wanted = reaching(LimitedProblem(pencil, 3, criterion, rules=rules), 0.1)
    found = es.near_optimal(pencil, (2, 1), 0.1, criterion=criterion)
    assert as_sets(found) == wanted
    assert found.is_complete


def test_views_are_enumerated() -> None:
    """Random pairs of views, with a number for each, ties and copies of columns."""
    for seed in range(120):
        rng = np.random.default_rng(seed)
        p, q = (int(size) for size in rng.integers(2, 7, size=2))
        kx, ky = int(rng.integers(1, p + 1)), int(rng.integers(1, q + 1))
        Z = rng.normal(size=(30, p + q)).round(int(rng.integers(0, 3)))
        Z[:, -1] = Z[:, 0] if seed % 4 else Z[:, -2]
        pencil = es.cca_pencil(Z[:, :p], Z[:, p:], shrinkage=float(rng.choice([0.1, 0.5])))
        groups = {"left": list(range(p)), "right": list(range(p, p + q))}
        rules = {"groups": groups, "at_most": {"left": kx, "right": ky}}
        share = SHARES[seed % 3]
        problem = LimitedProblem(pencil, kx + ky, "lambda_max", rules=rules)
        found = es.near_optimal(pencil, (kx, ky), share, max_sets=10**6)
        assert found.is_complete
        assert as_sets(found) == reaching(problem, share), seed


@pytest.fixture(scope="module")
def many() -> es.Pencil:
    """A pencil with hundreds of sets near the best."""
    rng = np.random.default_rng(2)
    y = np.arange(60) % 3
    return es.lda_pencil(rng.normal(size=(60, 14)) + 0.3 * rng.normal(size=(3, 14))[y], y, 0.5)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_a_list_that_is_cut_has_the_best_sets(many: es.Pencil, criterion: str) -> None:
    every = sorted(LimitedProblem(many, 5, criterion).sets(), reverse=True)
    found = es.near_optimal(many, 5, within=0.5, max_sets=20, criterion=criterion)
    assert found.n_sets == 20
    assert found.is_capped
    assert not found.is_complete
    assert as_sets(found) == {S for _, S in every[:20]}
    share = (every[0][0] - every[20][0]) / every[0][0]
    assert found.complete_within == pytest.approx(share, rel=1e-6)
    above = [set(S) for _, S in every[:20]]
    assert set(found.core.tolist()) <= set.intersection(*above)
    assert not set(found.never.tolist()) & set().union(*above)


@pytest.mark.parametrize("criterion", ["trace", "lambda_max"])
@pytest.mark.parametrize("rules", [{}, {"groups": {"a": [0, 1, 2, 3]}, "at_most": 1}])
def test_threads_give_the_same_list(many: es.Pencil, criterion: str, rules: dict[str, Any]) -> None:
    one, two = (
        es.near_optimal(many, 4, 0.1, criterion=criterion, n_jobs=n, **rules) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.sets, two.sets)
    np.testing.assert_array_equal(one.scores, two.scores)
    assert one.n_nodes == two.n_nodes


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("calls", [1, 2, 4, 8])
def test_what_an_interrupted_search_says_is_true(
    many: es.Pencil, criterion: str, calls: int
) -> None:
    left = itertools.count(calls, -1)

    def stop(event: Any) -> es.Status | None:
        return es.Status.INTERRUPTED if next(left) <= 0 else None

    problem = LimitedProblem(many, 5, criterion)
    wanted = reaching(problem, 0.2)
    scores = {S: score for score, S in problem.sets()}
    found = es.near_optimal(many, 5, 0.2, criterion=criterion, callback=stop, max_sets=10**5)
    best = max(scores.values())
    assert found.n_sets >= 1
    missing = wanted - as_sets(found)
    assert not (found.is_complete and missing)
    assert all(scores[S] <= found.bound + 1e-9 for S in missing)
    assert found.complete_within is None or abs(found.best.objective - best) < 1e-9
    above = [set(S) for S, score in scores.items() if score > found.level + 1e-9]
    assert not set(found.never.tolist()) & set().union(*above)
    assert all(set(found.core.tolist()) <= S for S in above)


def test_no_time_and_no_effort_leave_one_set(many: es.Pencil) -> None:
    for limit in ({"time_limit": 0.0}, {"effort": 0}):
        found = es.near_optimal(many, 5, 0.1, **limit)
        assert found.n_sets == 1
        assert not found.is_complete
        assert found.never.size == 0
        assert found.core.size == 0
        found.verify(many)


def test_there_is_one_set_only(many: es.Pencil) -> None:
    for arguments in ({"k": 14}, {"k": 2, "include": [3, 5]}):
        found = es.near_optimal(many, **arguments)
        assert found.n_sets == 1
        assert found.is_complete
        assert found.core.size == arguments["k"]


def test_verify_notices_what_is_off(many: es.Pencil) -> None:
    from dataclasses import replace

    found = es.near_optimal(many, 4, 0.05, groups={"a": [0, 1, 2, 3]}, at_most=1)
    found.verify(many)
    bad_sets = found.sets.copy()
    bad_sets[-1] = [0, 1, 2, 3]
    wrong = [
        {"scores": found.scores * (1 + 1e-4)},
        {"sets": bad_sets},
        {"sets": found.sets[::-1], "scores": found.scores[::-1]},
        {"sets": found.sets[[0, 0]], "scores": found.scores[[0, 0]]},
        {"threshold": float(found.scores[0]) + 1e-3, "level": float(found.scores[0]) + 1e-3},
        {"never": found.sets[0]},
        {"core": found.never[:1]},
    ]
    for change in wrong:
        with pytest.raises(es.errors.VerificationError):
            replace(found, **change).verify(many)


def test_names_and_frames(many: es.Pencil) -> None:
    names = [f"gene {j}" for j in range(14)]
    found = es.near_optimal(many, 3, 0.05, names=names)
    frame = found.to_frame()
    assert list(frame.columns) == ["rank", "score", "loss", "feature_1", "feature_2", "feature_3"]
    assert frame["feature_1"][0] == names[found.sets[0, 0]]
    assert found.to_frame(names[::-1])["feature_1"][0] == names[::-1][found.sets[0, 0]]
    banned = int(found.sets[0, 0])
    place = found.without(names[banned])
    firsts = [i for i, row in enumerate(found.sets.tolist()) if banned not in row]
    assert place == (firsts[0] if firsts else None)
    with pytest.raises(es.errors.InputError, match="no feature"):
        found.without("gene 99")


def test_exchanges(many: es.Pencil) -> None:
    found = es.near_optimal(many, 4, 0.1)
    sets = [set(row) for row in found.sets.tolist()]
    pairs: dict[tuple[int, int], int] = {}
    for one, other in itertools.combinations(sets, 2):
        if len(one - other) == 1:
            pair = tuple(sorted((*(one - other), *(other - one))))
            pairs[pair] = pairs.get(pair, 0) + 1
    assert {(e.one, e.other): e.n_pairs for e in found.exchanges} == pairs
    groups = [set(group.tolist()) for group in found.exchange_groups]
    for i, j in pairs:
        assert any({i, j} <= group for group in groups)
    assert sum(map(len, groups)) == len(set().union(*pairs))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"within": -0.1}, "within"),
        ({"within": "1%"}, "within"),
        ({"max_sets": 0}, "max_sets"),
        ({"groups": {"a": [0, 1]}}, "no limit"),
        ({"groups": {"a": [0, 99]}, "at_most": 1}, "outside"),
        ({"colour": "red"}, "no option colour"),
        ({"k": 15}, "only 14"),
        ({"names": ["a"]}, "names has 1"),
    ],
)
def test_bad_input(many: es.Pencil, arguments: dict[str, Any], says: str) -> None:
    with pytest.raises(es.errors.InputError, match=says):
        es.near_optimal(many, **{"k": 3, **arguments})


def test_a_table_on_disk(tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 700)) + np.outer(np.arange(30) % 2, rng.normal(size=700) ** 2)
    y = np.arange(30) % 2
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    here = es.near_optimal(es.lda_pencil(X, y, 0.7), 4, 0.02)
    there = es.near_optimal(es.lda_pencil(mapped, y, 0.7), 4, 0.02)
    np.testing.assert_array_equal(here.sets, there.sets)
    assert there.is_complete
    np.testing.assert_array_equal(here.never, there.never)


def test_without_effort_the_first_set_is_that_of_greedy_search() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 150)), np.arange(40) % 2
    X[y == 1, :9] += 1.0
    pencil = es.lda_pencil(X, y, shrinkage=0.3)
    found = es.near_optimal(pencil, 9, effort=0)
    greedy = es.solve(pencil, 9, "greedy")
    assert found.best.objective >= greedy.objective * (1 - 1e-12)
    assert not found.is_complete
