"""Published figures: what is printed, and what agrees with it."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eigensieve.errors import InputError
from eigensieve.experiments.published import Spread, Tolerance, agrees, read_published
from eigensieve.experiments.values import Value, jackknife_value, mean_value, share_value


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


# By hand from the rule: with a standard error of .3, and two of them, a limit is kept .6 inside and
# broken .6 outside; with a tolerance of 0 it holds as it stands; four runs tell nothing.
BY_HAND = [
    # text, value, se, n, tolerance, answer
    (">= 10", 10.601, 0.3, 20, "2 se", True),
    (">= 10", 10.599, 0.3, 20, "2 se", None),
    (">= 10", 10.0, 0.3, 20, "2 se", None),
    (">= 10", 9.401, 0.3, 20, "2 se", None),
    (">= 10", 9.399, 0.3, 20, "2 se", False),
    ("> 10", 10.01, 1.0, 20, "2 se", None),
    ("> 10", 9.99, 1.0, 20, "2 se", None),
    ("< 0", -0.601, 0.3, 20, "2 se", True),
    ("< 0", 0.0, 0.3, 20, "2 se", None),
    ("< 0", 0.601, 0.3, 20, "2 se", False),
    ("5 to 10", 7.5, 0.3, 20, "2 se", True),
    ("5 to 10", 9.5, 0.3, 20, "2 se", None),
    ("5 to 10", 10.5, 0.3, 20, "2 se", None),
    ("5 to 10", 4.3, 0.3, 20, "2 se", False),
    ("5 to 10", 7.5, 1.5, 20, "2 se", None),  # too wide an error for this range
    (">= 1", 1.0, 0.0, 20, "2 se", True),  # no run that is not 1
    ("> 1", 1.0, 0.0, 20, "2 se", False),
    (">= 1", 0.99, 0.3, 20, 0, False),  # a claim about every run
    (">= 1", 1.0, 0.3, 20, 0, True),
    ("<= 0", 0.0, None, 5, 0, True),
    ("<= 0", 1.0, None, 5, 0, False),
    ("<= 0", 0.0, None, 4, 0, None),
    ("<= 0", 9.0, None, 1, 0, None),
    ("<= 0", 9.0, None, None, 0, False),  # chance has no part in it
    ("yes", "yes", None, 20, 0, True),
    ("yes", "no", None, 4, 0, None),
    ("10", 30.0, 0.1, 4, "2 se", None),
    ("10", 10.0, 0.1, 4, 1, None),
    ("10", 30.0, 0.1, 5, "2 se", False),
    ("10", 10.0, 0.1, 5, "2 se", True),
]


@pytest.mark.parametrize(("text", "value", "se", "n", "tolerance", "answer"), BY_HAND)
def test_the_rule_by_hand(text, value, se, n, tolerance, answer) -> None:
    found = agrees(Value(value, se, n), read_published(text), Tolerance.read(tolerance), None)
    assert found is answer


@pytest.mark.parametrize("sign", [">=", ">", "<=", "<"])
@pytest.mark.parametrize("tolerance", ["2 se", "1 se", 0])
def test_kept_and_broken_are_mirror_images(sign: str, tolerance: str | float) -> None:
    """Mirrored about its limit a value that keeps it breaks it, and an open one stays open."""
    rng = np.random.default_rng(0)
    swapped = {True: False, False: True, None: None}
    turned = sign.translate(str.maketrans("<>", "><"))
    seen = set()
    for _ in range(300):
        limit, step, se = round(rng.normal(), 2), rng.normal(), abs(rng.normal())
        rule = Tolerance.read(tolerance), None
        claim, mirrored = (read_published(f"{s} {limit}") for s in (sign, turned))
        answer = agrees(Value(limit + step, se, 20), claim, *rule)
        assert agrees(Value(limit - step, se, 20), claim, *rule) is swapped[answer]
        assert agrees(Value(limit - step, se, 20), mirrored, *rule) is answer
        assert agrees(Value(limit + step, se, 20), mirrored, *rule) is swapped[answer]
        seen.add(answer)
    assert seen == ({True, False} if tolerance == 0 else {True, False, None})


@pytest.mark.parametrize("tolerance", ["2 se", 0, 0.3])
@pytest.mark.parametrize("spread", [None, "sd of 10"])
def test_a_figure_is_missed_alike_on_both_sides(tolerance: str | float, spread: str | None) -> None:
    rng = np.random.default_rng(1)
    rule = Tolerance.read(tolerance), None if spread is None else Spread.read(spread)
    read, seen = read_published("10.0 (1.0)"), set()
    for _ in range(300):
        step, se = rng.normal(), abs(rng.normal())
        answer = agrees(Value(10 + step, se, 20), read, *rule)
        assert agrees(Value(10 - step, se, 20), read, *rule) is answer
        assert agrees(Value(10 + step, se, 4), read, *rule) is None
        seen.add(answer)
    assert seen == {True, False}


@pytest.mark.parametrize("text", ["90 to 80", "5 to 5", '"about", read as 1 to -1'])
def test_a_range_goes_upwards(text: str) -> None:
    with pytest.raises(InputError, match="from the smaller number to the larger"):
        read_published(text)


def test_words_keep_their_reading() -> None:
    read = read_published('"much the same", read as -0.5 to 0.5')
    assert (read.low, read.high, read.is_claim) == (-0.5, 0.5, True)
    assert read.text == '"much the same", read as -0.5 to 0.5'
    with pytest.raises(InputError, match="limit or a range"):
        read_published('"a tenth", read as 0.1')


def test_about_nothing_is_refused() -> None:
    for text in ("~ 0", "~0.0"):
        with pytest.raises(InputError, match="give a range"):
            read_published(text)
    assert read_published("~ 10").rounding == 0.5


@pytest.mark.parametrize(
    ("tolerance", "text", "said"),
    [
        ("2 se", "10", "2 standard errors of the difference, and half a unit of the last printed"),
        (4, "10", "4, and half a unit of the last printed digit"),
        (0, "10", "half a unit of the last printed digit"),
        ("2 se", "> 10", "clear of the limit by 2 standard errors"),
        (4, "> 10", "kept or broken as it stands"),
        (0, "yes", "the same word"),
    ],
)
def test_the_rule_is_told(tolerance: str | float, text: str, said: str) -> None:
    assert Tolerance.read(tolerance).describe(read_published(text)).startswith(said)


def test_an_absolute_tolerance_does_not_soften_a_limit() -> None:
    assert agrees(Value(15.0), read_published(">= 16"), Tolerance.read(4), None) is False


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


def test_the_jackknife_of_a_mean_and_of_a_ratio() -> None:
    x, y = np.array([1.0, 2.0, 6.0, 7.0]), np.array([2.0, 3.0, 3.0, 5.0])
    assert jackknife_value(np.mean, x).se == pytest.approx(mean_value(x).se)
    left = [(16 - x[i]) / (13 - y[i]) for i in range(4)]  # sums without the i-th
    expected = math.sqrt(3 / 4 * sum((each - sum(left) / 4) ** 2 for each in left))
    found = jackknife_value(lambda a, b: a.sum() / b.sum(), x, y)
    assert (found.value, found.n) == (16 / 13, 4)
    assert found.se == pytest.approx(expected)
    assert jackknife_value(np.mean, [3.0]) == Value(3.0, None, 1)
