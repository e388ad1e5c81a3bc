"""Limits as users say them: what is understood, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.constraints import Constraints, as_constraints, take_constraints

NAMES = ["a", "b", "c", "d", "e"]


def allowed_pairs(p: int = 5, names: Any = None, **wishes: Any) -> set[tuple[int, int]]:
    limits = Constraints(**wishes).limits(p, names)
    assert limits is not None
    pairs = [(i, j) for i in range(p) for j in range(i + 1, p)]
    return {S for S in pairs if limits.allows(S)}


def pairs_where(rule: Any) -> set[tuple[int, int]]:
    return {(i, j) for i in range(5) for j in range(i + 1, 5) if rule({i, j})}


@pytest.mark.parametrize(
    "groups",
    [
        {"g": [0, 2, 3]},
        {"g": (3, 0, 2)},
        {"g": {0, 2, 3}},
        {"g": np.array([2, 3, 0], dtype=np.uint8)},
        {"g": [True, False, True, True, False]},
        {"g": ["d", "a", "c"]},
        {"g": pd.Index(["a", "c", "d"])},
        ["g", None, "g", "g", ""],
        ["g", float("nan"), "g", "g", "h"],
        pd.Series(["g", None, "g", "g", None]),
    ],
)
def test_members_in_any_form(groups: Any) -> None:
    expected = pairs_where(lambda S: len(S & {0, 2, 3}) <= 1)
    assert allowed_pairs(names=NAMES, groups=groups, at_most={"g": 1}) == expected


@pytest.mark.parametrize("costs", [[3, 1, 2, 0, 5], dict(zip("edcba", [5, 0, 2, 1, 3]))])
def test_costs_in_any_form(costs: Any) -> None:
    expected = pairs_where(lambda S: sum([3, 1, 2, 0, 5][j] for j in S) <= 3)
    assert allowed_pairs(names=NAMES, costs=costs, max_cost=3) == expected


def test_costs_by_index_and_numbers_for_every_group() -> None:
    groups = {"x": [0, 1], 2: [2, 3]}
    assert allowed_pairs(costs={4: 9, 0: 0, 1: 1, 2: 2, 3: 3}, max_cost=1) == {(0, 1)}
    one_each = pairs_where(lambda S: len(S & {0, 1}) <= 1 and len(S & {2, 3}) <= 1)
    assert allowed_pairs(groups=groups, at_most=1) == one_each
    assert allowed_pairs(groups=groups, at_most=1, at_least=1) == one_each - {
        (j, 4) for j in range(4)
    }
    assert allowed_pairs(groups=groups, at_least={2: np.int64(2)}) == {(2, 3)}
    assert allowed_pairs(groups=groups, whole="x") == pairs_where(lambda S: len(S & {0, 1}) != 1)


def test_indices_in_the_place_of_names() -> None:
    wishes = Constraints(
        groups={"g": ["b", "e"]}, at_most=1, costs=dict(zip(NAMES, range(5))), max_cost=6
    )
    by_index = wishes.by_index(5, NAMES)
    assert by_index.groups["g"].tolist() == [1, 4]
    assert by_index.costs.tolist() == [0, 1, 2, 3, 4]
    again = Constraints(**by_index.as_options()).limits(5)
    original = wishes.limits(5, NAMES)
    assert again is not None
    assert original is not None
    assert again.names == original.names
    np.testing.assert_array_equal(again.rows.toarray(), original.rows.toarray())


def test_options_are_taken_out() -> None:
    options = {"effort": 1, "groups": {"g": [0]}, "at_most": 1}
    found = take_constraints(options)
    assert found is not None
    assert options == {"effort": 1}
    assert found.at_most == 1
    nothing = {"groups": None, "whole": False, "max_cost": None}
    assert take_constraints(nothing) is None
    assert nothing == {}


def test_what_asks_for_nothing_limits_nothing() -> None:
    assert Constraints().limits(3) is None
    assert Constraints(groups={"g": [1]}, whole=True).limits(3) is None
    assert as_constraints(None) is None
    given = Constraints(costs=[1], max_cost=2)
    assert as_constraints(given) is given


GROUPS = {"g": [0, 1], "h": [2]}
BAD = [
    ({"groups": GROUPS}, "no limit on them"),
    ({"at_most": 1}, "at_most is 1, but there are no groups"),
    ({"at_least": 1}, "at_least is 1, but there are no groups"),
    ({"whole": True}, "whole is True, but there are no groups"),
    ({"groups": GROUPS, "whole": ["z"]}, "whole: there is no group 'z'"),
    ({"groups": GROUPS, "whole": 3}, "whole is 3; it must be True, or list names"),
    ({"groups": GROUPS, "at_most": {"z": 1}}, "at_most: there is no group 'z'"),
    ({"groups": GROUPS, "at_least": {"z": 1}}, "at_least: there is no group 'z'"),
    ({"groups": GROUPS, "at_most": -1}, "at_most of group 'g' is -1; it must be a whole number"),
    ({"groups": GROUPS, "at_most": 1.5}, "at_most of group 'g' is 1.5"),
    ({"groups": GROUPS, "at_least": {"h": "two"}}, "at_least of group 'h' is 'two'"),
    ({"groups": GROUPS, "at_most": True}, "at_most of group 'g' is True"),
    ({"groups": {"g": []}, "at_most": 1}, "group 'g' must list indices or names"),
    ({"groups": {"g": [0, 0]}, "at_most": 1}, "group 'g' names a feature twice"),
    ({"groups": {"g": [5]}, "at_most": 1}, r"group 'g' has an index outside 0\.\.4"),
    ({"groups": {"g": [-1]}, "at_most": 1}, r"group 'g' has an index outside 0\.\.4"),
    ({"groups": {"g": [0.5]}, "at_most": 1}, "group 'g' must list indices or names"),
    ({"groups": {"g": [[0], [1, 2]]}, "at_most": 1}, "group 'g' has lists in it"),
    ({"groups": {"g": "a"}, "at_most": 1}, "group 'g' is 'a'; it must list its features"),
    ({"groups": {"g": 3}, "at_most": 1}, "group 'g' is 3; it must list its features"),
    ({"groups": {"g": ["zz"]}, "at_most": 1}, "group 'g': there is no feature 'zz'"),
    ({"groups": {1: [0], "1": [1]}, "at_most": 1}, "two of them have the same name"),
    ({"groups": ["g", "g"], "at_most": 1}, "nor a list of 5 labels"),
    ({"groups": "ggggg", "at_most": 1}, "nor a list of 5 labels"),
    ({"groups": 7, "at_most": 1}, "nor a list of 5 labels"),
    ({"costs": [1] * 5}, "costs and max_cost belong together"),
    ({"max_cost": 3}, "costs and max_cost belong together"),
    ({"costs": [1] * 4, "max_cost": 3}, "it must have 5 numbers"),
    ({"costs": [1, 1, -1, 1, 1], "max_cost": 3}, "negative, infinite or missing"),
    ({"costs": [1, 1, np.nan, 1, 1], "max_cost": 3}, "negative, infinite or missing"),
    ({"costs": [1, 1, np.inf, 1, 1], "max_cost": 3}, "negative, infinite or missing"),
    ({"costs": ["x"] * 5, "max_cost": 3}, "costs must be numbers"),
    ({"costs": {0: 1, 1: 1}, "max_cost": 3}, "costs names 2 features, and there are 5"),
    ({"costs": {**dict.fromkeys("abcd", 1), "z": 1}, "max_cost": 3}, "no feature 'z'"),
    ({"costs": dict.fromkeys(NAMES, "x"), "max_cost": 3}, "costs must be numbers"),
    ({"costs": [1] * 5, "max_cost": np.nan}, "max_cost is nan; it must be a finite number"),
    ({"costs": [1] * 5, "max_cost": "3"}, "max_cost is '3'; it must be a finite number"),
]


@pytest.mark.parametrize(("wishes", "says"), BAD, ids=[says for _, says in BAD])
def test_bad_wishes_are_refused(wishes: dict[str, Any], says: str) -> None:
    with pytest.raises((InputError, OptionError), match=says):
        Constraints(**wishes).limits(5, NAMES)


def test_names_without_a_table_are_refused() -> None:
    with pytest.raises(InputError, match="the features have none: give indices"):
        es.solve(es.Pencil(np.eye(3)), 1, groups={"g": ["a"]}, at_most=1)


@pytest.mark.parametrize("given", [5, ["groups"], {"group": {}}, {"groups": {}, "max": 1}])
def test_what_is_no_dict_of_limits_is_refused(given: Any) -> None:
    with pytest.raises(OptionError, match="it must be a dict of groups, at_most"):
        as_constraints(given)


GROUPS = {"a": [0], "b": [1], "c": [2, 3]}


@pytest.mark.parametrize(
    ("wishes", "said"),
    [
        ({}, []),
        ({"groups": GROUPS, "at_most": 1}, ["at most 1 of each group"]),
        ({"groups": {"a": [0]}, "at_most": 1}, ["at most 1 of 'a'"]),
        (
            {"groups": GROUPS, "at_most": {"a": 1, "b": 0, "c": 1}, "at_least": {"c": 1}},
            ["at most 0 of 'b'", "at most 1 of each of the other groups", "at least 1 of 'c'"],
        ),
        (
            {"groups": GROUPS, "at_most": {"a": 1, "b": 0, "c": 2}},
            ["at most 1 of 'a'", "at most 0 of 'b'", "at most 2 of 'c'"],
        ),
        ({"groups": GROUPS, "whole": True}, ["all or none of each group"]),
        ({"groups": GROUPS, "whole": ["a", "c"]}, ["all or none of each of 'a', 'c'"]),
        (
            {"groups": GROUPS, "whole": ["c"], "costs": [1] * 4, "max_cost": 1234567.25},
            ["all or none of 'c'", "cost at most 1234567.25 in all"],
        ),
    ],
)
def test_in_words(wishes: dict[str, Any], said: list[str]) -> None:
    assert Constraints(**wishes).in_words() == said
    labels = ["a", "b", "c", "c"]
    given = Constraints(**(wishes | ({"groups": labels} if wishes.get("groups") is GROUPS else {})))
    assert given.by_index(4, None).in_words() == said


@pytest.mark.parametrize("index", [list("abcd"), range(4)])
def test_a_series_is_read_by_its_index(index) -> None:
    costs = pd.Series([5.0, 1.0, 7.0, 2.0], index=index)
    labels = pd.Series(["x", "y", "x", None], index=index)
    names = [str(name) for name in index]
    plain = Constraints(costs=costs.tolist(), max_cost=6, groups=labels.tolist(), at_most=1)
    turned = Constraints(costs=costs[::-1], max_cost=6, groups=labels[::-1], at_most=1)
    expected, found = plain.by_index(4, names), turned.by_index(4, names)
    np.testing.assert_array_equal(found.costs, expected.costs)
    assert {n: m.tolist() for n, m in found.groups.items()} == {"x": [0, 2], "y": [1]}
    with pytest.raises(InputError, match="there is no feature 'e'"):
        Constraints(costs=costs.set_axis(list("abce")), max_cost=6).by_index(4, list("abcd"))
    with pytest.raises(InputError, match="names a feature twice"):
        Constraints(costs=costs.set_axis(list("abca")), max_cost=6).by_index(4, list("abcd"))
