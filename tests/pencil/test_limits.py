"""Limits against enumeration of all sets."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from eigensieve.pencil.constraints import Constraints
from eigensieve.pencil.limits import FREE, IN, OUT, Limits
from tests.oracles.limited import Wishes, random_wishes

P = 8
BLOCKS = range(8)


def random_case(seed: int) -> tuple[Wishes, Limits, int, np.random.Generator]:
    rng = np.random.default_rng([seed, 1])
    k = int(rng.integers(1, P + 1))
    wishes = random_wishes(rng, P, k)
    limits = Constraints(**wishes.options()).limits(P)
    return wishes, limits or Limits.none(P), k, rng


def cases(block: int) -> Any:
    return (random_case(seed) for seed in range(50 * block, 50 * block + 50))


def sets_of(k: int, p: int = P) -> list[tuple[int, ...]]:
    return list(itertools.combinations(range(p), k))


def agrees(S: tuple[int, ...], state: np.ndarray) -> bool:
    """Whether a set has what is IN and nothing that is OUT."""
    return all(state[j] != (OUT if j in S else IN) for j in range(state.size))


@pytest.mark.parametrize("block", BLOCKS)
def test_sets_are_judged_as_by_counting(block: int) -> None:
    for wishes, limits, k, _ in cases(block):
        every = sets_of(k)
        expected = [wishes.allow(S) for S in every]
        assert [limits.allows(S) for S in every] == expected, wishes
        assert limits.allows_each(np.array(every)).tolist() == expected, wishes
        assert [limits.broken(S) is None for S in every] == expected


@pytest.mark.parametrize("block", BLOCKS)
def test_narrow_loses_no_allowed_set(block: int) -> None:
    decided = 0
    for wishes, limits, k, rng in cases(block):
        state = rng.choice([FREE, FREE, FREE, IN, OUT], size=P).astype(np.int8)
        allowed = [S for S in sets_of(k) if wishes.allow(S) and agrees(S, state)]
        before = state.copy()
        narrowed = limits.narrow(state, k)
        np.testing.assert_array_equal(state, before)
        if narrowed is None:
            assert allowed == [], wishes
            continue
        assert all(agrees(S, narrowed) for S in allowed), (wishes, state)
        assert (narrowed[state != FREE] == state[state != FREE]).all()
        decided += np.count_nonzero(narrowed != state)
    assert decided > 20


def one_rule(seed: int) -> tuple[Wishes, int, np.random.Generator]:
    """A single limit, of each kind in turn."""
    rng = np.random.default_rng([seed, 2])
    k, size = int(rng.integers(1, P + 1)), int(rng.integers(1, P + 1))
    groups = {"g": rng.choice(P, size=size, replace=False).tolist()}
    kind = seed % 4
    if kind == 0:
        return Wishes(groups, most={"g": int(rng.integers(0, size + 1))}), k, rng
    if kind == 1:
        return Wishes(groups, least={"g": int(rng.integers(0, size + 1))}), k, rng
    if kind == 2:
        return Wishes(groups, whole=["g"]), k, rng
    costs = rng.integers(0, 5, size=P).astype(float)
    return Wishes(costs=costs.tolist(), max_cost=float(rng.integers(0, 3 * k))), k, rng


@pytest.mark.parametrize("block", BLOCKS)
def test_narrow_decides_all_that_a_single_rule_implies(block: int) -> None:
    for seed in range(100 * block, 100 * block + 100):
        wishes, k, rng = one_rule(seed)
        limits = Constraints(**wishes.options()).limits(P) or Limits.none(P)
        state = rng.choice([FREE, FREE, FREE, FREE, IN, OUT], size=P).astype(np.int8)
        allowed = [S for S in sets_of(k) if wishes.allow(S) and agrees(S, state)]
        narrowed = limits.narrow(state, k)
        if not allowed:
            assert narrowed is None, (wishes, k, state)
            continue
        counts = np.bincount(np.concatenate(allowed), minlength=P)
        implied = np.select([counts == len(allowed), counts == 0], [IN, OUT], FREE)
        assert narrowed is not None
        np.testing.assert_array_equal(narrowed, implied, err_msg=str((wishes, k, state)))


@pytest.mark.parametrize("block", BLOCKS)
def test_who_may_take_a_slot(block: int) -> None:
    compared = 0
    for wishes, limits, k, rng in cases(block):
        allowed = [S for S in sets_of(k) if wishes.allow(S)]
        for i in rng.permutation(len(allowed))[:5]:
            S = rng.permutation(allowed[i])
            for slot in range(k):
                mask = limits.may_replace(S, slot)
                for j in np.setdiff1d(np.arange(P), S):
                    T = [*np.delete(S, slot).tolist(), int(j)]
                    assert mask[j] == wishes.allow(T), (wishes, S, slot, j)
                    compared += 1
    assert compared > 100


@pytest.mark.parametrize("block", BLOCKS)
def test_part_and_whole_judge_alike(block: int) -> None:
    for wishes, limits, k, rng in cases(block):
        index = np.sort(rng.choice(P, size=int(rng.integers(k, P + 1)), replace=False))
        part = limits.take(index)
        places = np.sort(rng.choice(P + 4, size=P, replace=False))
        spread = limits.spread(places, P + 4)
        for S in sets_of(k, index.size):
            assert part.allows(S) == wishes.allow(index[list(S)])
        for S in sets_of(k)[::3]:
            assert spread.allows(places[list(S)]) == wishes.allow(S)


def test_allowed_sets_get_their_charges_back() -> None:
    compared = 0
    for wishes, limits, k, rng in cases(0):
        for S in sets_of(k):
            if wishes.allow(S):
                prices = rng.gamma(1.0, size=limits.most.size)
                assert limits.charge(prices, k)[list(S)].sum() <= 1e-9
                compared += 1
    assert compared > 100


def test_a_number_that_must_be_met() -> None:
    limits = Limits.none(4).exactly(np.array([0, 1]), 1, "one of the first two")
    assert [S for S in sets_of(2, 4) if limits.allows(S)] == [(0, 2), (0, 3), (1, 2), (1, 3)]
    assert limits.broken([0, 1]) == "one of the first two"


def test_whole_groups_that_overlap_go_together() -> None:
    limits = Constraints(groups={"a": [0, 1], "b": [1, 2]}, whole=True).limits(5)
    assert limits is not None
    assert [S for S in sets_of(3, 5) if limits.allows(S)] == [(0, 1, 2)]
    state = np.array([IN, FREE, FREE, FREE, FREE], dtype=np.int8)
    narrowed = limits.narrow(state, 3)
    assert narrowed is not None
    assert narrowed.tolist() == [IN, IN, IN, OUT, OUT]


def test_decimal_costs_meet_their_limit() -> None:
    limits = Constraints(costs=[0.1, 0.2, 0.3], max_cost=0.6).limits(3)
    assert limits is not None
    assert limits.allows([0, 1, 2])
    assert not Constraints(costs=[0.1, 0.2, 0.3], max_cost=0.6 - 1e-8).limits(3).allows([0, 1, 2])
