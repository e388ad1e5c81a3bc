"""Whether a set keeps all limits, which one weighs most, and why there is none."""

from __future__ import annotations

import itertools
import re
import time

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.pencil.allowed import check_allowed, heaviest_allowed, next_size
from eigensieve.pencil.constraints import Constraints
from eigensieve.pencil.limits import Limits
from tests.oracles.limited import Wishes, random_wishes

P = 8
NONE = np.empty(0, dtype=np.intp)


def allowed(wishes: Wishes, k: int, include: np.ndarray = NONE) -> list[tuple[int, ...]]:
    every = itertools.combinations(range(P), k)
    return [S for S in every if wishes.allow(S) and set(include.tolist()) <= set(S)]


def cases(block: int):
    for seed in range(40 * block, 40 * block + 40):
        rng = np.random.default_rng([seed, 3])
        k = int(rng.integers(1, P + 1))
        wishes = random_wishes(rng, P, k)
        include = rng.choice(P, size=int(rng.integers(0, min(k, 3))), replace=False)
        limits = Constraints(**wishes.options()).limits(P) or Limits.none(P)
        yield wishes, limits, k, np.sort(include).astype(np.intp), rng


@pytest.mark.parametrize("block", range(5))
def test_the_heaviest_set(block: int) -> None:
    found_some = 0
    for wishes, limits, k, include, rng in cases(block):
        sets, gains = allowed(wishes, k, include), rng.normal(size=P)
        found = heaviest_allowed(limits, k, include, gains)
        if not sets:
            assert found is None
            continue
        assert found is not None
        assert tuple(found.tolist()) in sets
        best = max(gains[list(S)].sum() for S in sets)
        assert gains[found].sum() >= best - 2e-3 * abs(best)
        found_some += 1
    assert found_some > 10


def test_the_solver_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    """Results go to stdout; of fixed features it would print lines there."""
    options = {"groups": {"g": [1, 5, 6]}, "at_least": 2}
    limits, gains = Constraints(**options).limits(11), np.arange(11.0)
    for include, rest in (([1], [6]), ([1, 5], []), ([2], [5, 6])):
        k = len(include) + len(rest)
        found = heaviest_allowed(limits, k, np.array(include), gains)
        assert found is not None
        assert found.tolist() == sorted(include + rest)
    assert heaviest_allowed(limits, 2, np.array([2]), gains) is None
    assert heaviest_allowed(limits, 11, np.arange(11), gains).tolist() == list(range(11))
    assert capfd.readouterr().out == ""


@pytest.mark.parametrize("block", range(3))
def test_the_next_number_of_features(block: int) -> None:
    for wishes, limits, k, include, _ in cases(block):
        possible = [m for m in range(k, P + 1) if allowed(wishes, m, include)]
        assert next_size(limits, k, include) == (possible[0] if possible else None)


def rules_of(wishes: Wishes) -> dict[str, Wishes]:
    """Every limit alone, by the words for it."""
    rules = {}
    for name, members in wishes.groups.items():
        own = {name: members}
        if name in wishes.most:
            most = {name: wishes.most[name]}
            rules[f"at most {wishes.most[name]} of {name!r}"] = Wishes(own, most=most)
        if name in wishes.least:
            least = {name: wishes.least[name]}
            rules[f"at least {wishes.least[name]} of {name!r}"] = Wishes(own, least=least)
        if name in wishes.whole:
            rules[f"all or none of {name!r}"] = Wishes(own, whole=[name])
    if wishes.costs is not None:
        own_cost = Wishes(costs=wishes.costs, max_cost=wishes.max_cost)
        rules[f"cost at most {wishes.max_cost:.12g} in all"] = own_cost
    return rules


@pytest.mark.parametrize("block", range(5))
def test_the_reason_names_rules_that_conflict_and_no_more(block: int) -> None:
    refused = 0
    for wishes, limits, k, include, _ in cases(block):
        if allowed(wishes, k, include):
            check_allowed(limits, k, include)
            continue
        refused += 1
        with pytest.raises(InputError) as info:
            check_allowed(limits, k, include)
        text = str(info.value)
        named = re.search(r"(?:hold together|this one): (.*?)( \(with |$)", text)
        assert named is not None, text
        rules = [rules_of(wishes)[rule] for rule in named[1].split("; ")]
        sets = [S for S in itertools.combinations(range(P), k) if set(include) <= set(S)]
        assert not any(all(rule.allow(S) for rule in rules) for S in sets), text
        for left_out in range(len(rules)):
            others = rules[:left_out] + rules[left_out + 1 :]
            assert any(all(rule.allow(S) for rule in others) for S in sets), text
        possible = [m for m in range(1, P + 1) if allowed(wishes, m, include)]
        nearest = [*[m for m in possible if m < k][-1:], *[m for m in possible if m > k][:1]]
        listed = re.search(r"\(with (.*) features there is a set\)", text)
        assert [int(m) for m in (listed[1].split(" or ") if listed else [])] == nearest, text
    assert refused > 5


PENCIL = es.Pencil(np.diag([5.0, 4.0, 3.0, 2.0, 1.0]))
IMPOSSIBLE = [
    ({"k": 3, "groups": {"g": [0, 1]}, "at_least": 3}, "at least 3 of 'g'"),
    ({"k": 2, "groups": {"g": [0, 1, 2]}, "whole": True, "at_least": 1}, "at least 1 of 'g'"),
    ({"k": 4, "groups": {"g": [0, 1, 2]}, "at_most": 1}, "at most 1 of 'g'"),
    ({"k": 2, "costs": [3, 3, 3, 3, 3], "max_cost": 5}, "cost at most 5 in all"),
    (
        {"k": 2, "include": [0, 1], "groups": {"g": [0, 1]}, "at_most": 1},
        "with the 2 included keeps all limits; none keeps this one: at most 1 of 'g'",
    ),
    ({"k": 1, "exclude": [0], "groups": {"g": [0]}, "at_least": 1}, "at least 1 of 'g'"),
    (
        {
            "k": 2,
            "groups": {"a": [0, 1], "b": [2, 3]},
            "whole": ["a"],
            "at_least": {"a": 1, "b": 1},
        },
        "all or none of 'a'",
    ),
]


@pytest.mark.parametrize(("arguments", "says"), IMPOSSIBLE)
def test_impossible_wishes_are_refused_with_the_reason(arguments: dict, says: str) -> None:
    with pytest.raises(InputError, match=f"no set of {arguments['k']} features?.*{says}"):
        es.solve(PENCIL, **arguments)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_the_unit_of_costs_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(0)
    costs = rng.gamma(1.0, size=P) * scale
    cheapest = np.sort(costs)[:3].sum()
    limits = Constraints(costs=costs, max_cost=cheapest).limits(P)
    assert limits is not None
    found = heaviest_allowed(limits, 3, NONE, rng.random(P))
    assert found is not None
    np.testing.assert_array_equal(found, np.sort(np.argsort(costs)[:3]))
    tight = Constraints(costs=costs, max_cost=cheapest * (1 - 1e-8)).limits(P)
    assert tight is not None
    assert heaviest_allowed(tight, 3, NONE) is None


def test_costs_of_thousands_of_features_take_no_time() -> None:
    rng = np.random.default_rng(0)
    limits = Constraints(costs=rng.gamma(1.0, size=6000), max_cost=5.0).limits(6000)
    assert limits is not None
    began = time.process_time()
    check_allowed(limits, 10, NONE)
    assert time.process_time() - began < 10  # with its presolve the solver takes over half a minute


def test_of_a_long_conflict_some_rules_are_named() -> None:
    with pytest.raises(InputError) as info:
        es.solve(es.Pencil(np.eye(40)), 20, groups={f"g{j}": [j] for j in range(40)}, at_least=1)
    text = str(info.value)
    assert text.count("at least 1 of ") == 10
    assert "; and 11 more (with 40 features there is a set)" in text
