"""What a list says where it ends early, is cut between ties, or has next to nothing to choose."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.search.near_optimal.words import describe
from tests.oracles.panels import CRITERIA, LimitedProblem, random_limited_problem

TIE = 1e-9


Every = list[tuple[float, tuple[int, ...]]]


def check_claims(pencil: es.Pencil, every: Every, found: es.NearOptimalSets) -> None:
    """Whatever is claimed of sets, listed or not, is true of all of them."""
    scores = {S: score for score, S in every}
    best = max(scores.values())
    room = 2 * TIE * max(abs(best), found.best.scale)
    listed = {tuple(S) for S in found.sets.tolist()}
    assert listed <= set(scores)
    missing = [score for S, score in scores.items() if S not in listed]
    assert all(score <= found.bound + room for score in missing)
    assert not (found.is_complete and any(score > found.threshold for score in missing))
    assert found.best.bound >= best - room
    known = found.complete_within
    if known is not None:
        assert found.best.objective >= best - room
        least = best - known * (abs(best) or found.best.scale)
        assert found.is_complete or all(score <= least + room for score in missing)
    above = [set(S) for S, score in scores.items() if score > found.level + room]
    if above:
        assert not set(found.never.tolist()) & set().union(*above)
        assert set(found.core.tolist()) <= set.intersection(*above)
    found.verify(pencil)


def test_claims_of_a_search_that_ends_between_shares() -> None:
    """Never and core are about the share that was searched, not about all that was asked for."""
    n_between = 0
    for seed in range(60):
        problem = random_limited_problem(seed)
        if not (every := problem.sets()):
            continue
        for effort, most in ((1e-6, 1), (1e-5, 2), (1e-4, 10**5)):
            found = es.near_optimal(
                problem.pencil, problem.k, 0.5, most, effort=effort, **problem.arguments
            )
            check_claims(problem.pencil, every, found)
            n_between += not found.is_capped and found.level > found.threshold
    assert n_between >= 5


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("within", [0.0, 0.1, 1.0])
def test_a_list_that_is_cut_between_ties(criterion: str, within: float) -> None:
    # at 1e5 round-off of one billionth is seen; all of some sets are equally good
    pencil = es.Pencil(1e5 * np.ones((7, 7)), np.eye(7))
    every = LimitedProblem(pencil, 3, criterion).sets()
    for most in (1, 3, 34):
        found = es.near_optimal(pencil, 3, within, most, criterion=criterion)
        assert found.n_sets == most
        assert found.is_capped
        assert not found.is_complete
        assert found.sets.tolist() == [list(S) for _, S in every][:most]
        check_claims(pencil, every, found)
        assert found.core.size == found.never.size == 0
        assert not any("proved" in sentence for sentence in describe(found))


def test_a_better_set_than_that_of_the_start() -> None:
    """What was dropped before the best set was found is no end of the list."""
    n_capped = 0
    for seed in range(100, 200):
        problem = random_limited_problem(seed)
        every = sorted(problem.sets(), reverse=True)
        if len(every) < 4:
            continue
        found = es.near_optimal(problem.pencil, problem.k, 0.9, 2, **problem.arguments)
        check_claims(problem.pencil, every, found)
        if found.is_capped:
            assert found.n_sets == 2
            room = 3 * TIE * max(abs(every[0][0]), found.best.scale)
            assert found.scores.min() >= every[1][0] - room
            n_capped += 1
    assert n_capped >= 40


def test_a_share_is_one_of_the_best_allowed_set() -> None:
    """Not of what a feature scores that no allowed set has, or two that come together only."""
    pencil = es.Pencil(np.diag([100.0, 1.0, 0.995, 0.9, 0.5]))
    found = es.near_optimal(pencil, 1, 0.01, groups={"too good": [0]}, at_most=0)
    assert found.sets.tolist() == [[1], [2]]
    assert found.losses[1] == pytest.approx(0.005)
    few = es.near_optimal(pencil, 1, 0.2, 2, groups={"too good": [0]}, at_most=0)
    assert few.complete_within == pytest.approx(0.1)
    A = np.diag([2.0, 1.99, 1.9]) - 50 * (np.ones((3, 3)) - np.eye(3))
    assert es.near_optimal(es.Pencil(A), 1, 0.01).sets.tolist() == [[0], [1]]


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("within", [0.0, 0.01, 1.0])
def test_nothing_scores_anything(criterion: str, within: float) -> None:
    pencil = es.Pencil(np.zeros((5, 5)), np.eye(5))
    every = LimitedProblem(pencil, 2, criterion).sets()
    found = es.near_optimal(pencil, 2, within, criterion=criterion)
    assert [tuple(S) for S in found.sets.tolist()] == [S for _, S in every]
    assert found.is_complete
    assert found.threshold == 0.0
    assert not found.losses.any()
    assert describe(found)
    few = es.near_optimal(pencil, 2, within, 3, criterion=criterion)
    assert few.is_capped
    assert few.complete_within == 0.0
    check_claims(pencil, every, few)


@pytest.mark.parametrize("arguments", [{"k": 1}, {"k": 3, "include": [1, 4]}])
def test_one_feature_is_missing(arguments: dict[str, Any]) -> None:
    pencil = es.Pencil(np.diag([5.0, 4.9, 4.95, 3.0, 4.99, 0.0]))
    every = LimitedProblem(pencil, arguments["k"], "trace", arguments.get("include", [])).sets()
    for within, most in ((0.0, 10), (0.011, 10), (0.5, 2), (1.0, 10)):
        found = es.near_optimal(
            pencil, within=within, max_sets=most, criterion="trace", **arguments
        )
        check_claims(pencil, every, found)
        # all of the listed sets differ by the one feature
        free = sorted(set(found.sets.ravel().tolist()) - set(arguments.get("include", [])))
        pairs = {(exchange.one, exchange.other) for exchange in found.exchanges}
        assert pairs == set(itertools.combinations(free, 2))
        assert [group.tolist() for group in found.exchange_groups] == [free] * (len(free) > 1)
