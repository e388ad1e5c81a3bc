"""Published figures: what is printed, and what agrees with it."""

from __future__ import annotations

import math

import pytest

from eigensieve.errors import InputError
from eigensieve.experiments.published import Spread, Tolerance, agrees, read_published
from eigensieve.experiments.values import Value, mean_value, share_value


@pytest.mark.parametrize(
    ("text", "low", "high", "rounding", "spread"),
    [
        ("12.6", 12.6, 12.6, 0.05, None),
        ("~ 11", 11.0, 11.0, 0.5, None),
        ("-0.5", -0.5, -0.5, 0.05, None),
        ("1,011.4 (681.2)", 1011.4, 1011.4, 0.05, 681.2),
        ("3.38e-6 (2.51e-6)", 3.38e-6, 3.38e-6, 0.005e-6, 2.51e-6),
        ("50 (0)", 50.0, 50.0, 0.5, 0.0),
        (">= 0.9", 0.9, math.inf, 0.0, None),
        ("<-1", -math.inf, -1.0, 0.0, None),
        ("80 to 90", 80.0, 90.0, 0.0, None),
    ],
)
def test_a_number_is_read_as_printed(text, low, high, rounding, spread) -> None:
    read = read_published(text)
    assert (read.low, read.high, read.spread, read.word) == (low, high, spread, None)
    assert read.rounding == pytest.approx(rounding, rel=1e-12)


@pytest.mark.parametrize("text", ["yes", "(6,2,2,1,1,1)", "about 5", "5 of 6", "12.6 (about 1)"])
def test_what_is_no_number_is_a_word(text: str) -> None:
    assert read_published(text).word == text
    assert agrees(Value(text), read_published(text), Tolerance(), None)
    assert not agrees(Value("no"), read_published(text), Tolerance(), None)


@pytest.mark.parametrize(
    ("text", "inside", "outside"),
    [
        ("12.6", 12.649, 12.651),
        ("0.90", 0.8951, 0.8949),
        (">= 0.9", 0.9, 0.8999),
        ("<= 5", 5.0, 5.001),
        ("> 0", 1e-6, 0.0),
        ("< 0", -1e-6, 0.0),
        ("80 to 90", 90.0, 90.1),
        ("80 to 90", 80.0, 79.9),
    ],
)
def test_rounding_is_all_the_room_there_is(text, inside, outside) -> None:
    read = read_published(text)
    assert agrees(Value(inside), read, Tolerance(), None)
    assert not agrees(Value(outside), read, Tolerance(), None)


def test_an_absolute_tolerance_is_added_to_rounding() -> None:
    read, tolerance = read_published("10"), Tolerance.read(1)
    assert agrees(Value(11.49), read, tolerance, None)
    assert not agrees(Value(11.51), read, tolerance, None)


def test_two_standard_errors_of_the_difference() -> None:
    read, tolerance = read_published("10.00 (5.0)"), Tolerance.read("2 se")
    ours, theirs = 0.3, 5.0 / math.sqrt(100)
    room = 2 * math.hypot(ours, theirs) + 0.005
    spread = Spread.read("sd of 100")
    assert agrees(Value(10 + room - 1e-6, ours), read, tolerance, spread)
    assert not agrees(Value(10 + room + 1e-6, ours), read, tolerance, spread)


def test_an_unknown_spread_is_taken_as_large_as_ours() -> None:
    read, tolerance = read_published("10.00 (5.0)"), Tolerance.read("2 se")
    room = 2 * math.sqrt(2) * 0.3 + 0.005
    assert agrees(Value(10 - room + 1e-6, 0.3), read, tolerance, None)
    assert not agrees(Value(10 - room - 1e-6, 0.3), read, tolerance, None)


@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [
        (">= 10", 10.0, True),
        (">= 10", 9.401, None),  # broken, by less than two of our standard errors
        (">= 10", 9.399, False),
        ("< 0", 0.0, None),
        ("< 0", 0.599, None),
        ("< 0", 0.601, False),
        ("5 to 10", 10.5, None),
        ("5 to 10", 4.3, False),
    ],
)
def test_a_broken_claim_may_be_chance(text: str, value: float, answer: bool | None) -> None:
    assert agrees(Value(value, 0.3), read_published(text), Tolerance.read("2 se"), None) is answer


def test_an_absolute_tolerance_does_not_soften_a_limit() -> None:
    assert agrees(Value(15.0), read_published(">= 16"), Tolerance.read(4), None) is False


def test_few_runs_tell_nothing() -> None:
    read, tolerance = read_published("10"), Tolerance.read("2 se")
    assert agrees(Value(30.0, 0.1, n=4), read, tolerance, None) is None
    assert agrees(Value(10.0, 0.1, n=4), read, tolerance, None) is None
    assert agrees(Value(30.0, 0.1, n=5), read, tolerance, None) is False
    assert agrees(Value(30.0, 0.1, n=4), read, Tolerance.read(1), None) is False


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_agrees_with_no_number(value: float) -> None:
    assert not agrees(Value(value, 1.0), read_published("3"), Tolerance.read("2 se"), None)


def test_a_word_is_no_number() -> None:
    assert not agrees(Value("3"), read_published("3"), Tolerance(), None)
    assert not agrees(Value(3.0), read_published("three"), Tolerance(), None)


@pytest.mark.parametrize("given", [-1, "two", "2 sd", True, None])
def test_a_strange_tolerance_is_refused(given: object) -> None:
    with pytest.raises(InputError, match="tolerance"):
        Tolerance.read(given)


def test_a_strange_spread_is_refused() -> None:
    assert Spread.read("se").runs == 1
    with pytest.raises(InputError, match="sd of N"):
        Spread.read("standard error")


def test_means_and_shares() -> None:
    assert mean_value([2.0]) == Value(2.0, None, 1)
    three = mean_value([1.0, 2.0, 6.0])
    assert three.value == pytest.approx(3.0)
    assert three.se == pytest.approx(math.sqrt(7.0 / 3.0))  # variance 7
    share = share_value([True] * 10)
    assert share.value == 1.0
    assert share.se == pytest.approx(math.sqrt(12 / 14 * 2 / 14 / 14))
