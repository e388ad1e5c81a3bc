"""Verdicts are computed from what was measured; a TOML file that means nothing is refused."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from eigensieve.errors import InputError
from eigensieve.experiments.judge import Verdict, judge_cells
from eigensieve.experiments.values import Measured, Value
from tests.experiments.conftest import TOML, Write


def test_every_cell_has_its_verdict(write_experiment: Write) -> None:
    experiment = write_experiment()
    values = {("base 2", "power"): 4.0, ("base 3", "power"): 9.0, ("base 4", "power"): 16.0}
    cells = judge_cells(experiment, Measured({place: Value(v) for place, v in values.items()}))
    assert [(cell.row, cell.verdict, cell.confirms) for cell in cells] == [
        ("base 2", Verdict.MATCHES, None),
        ("base 3", Verdict.DIFFERS, True),
        ("base 4", Verdict.UNPUBLISHED, None),
        ("base 9", Verdict.CANNOT, None),
    ]
    assert [cell.why for cell in cells] == ["", "a slip of the pen", "", "nine is not available"]


def test_a_reason_is_not_given_for_what_matches(write_experiment: Write) -> None:
    experiment = write_experiment(TOML.replace('power = "10"', 'power = "9"'))
    (cell, *_) = judge_cells(experiment, Measured({("base 3", "power"): Value(9.0)}))
    assert (cell.verdict, cell.why) == (Verdict.MATCHES, "")


def test_what_a_level_leaves_out_is_not_run(write_experiment: Write) -> None:
    cells = judge_cells(write_experiment(), Measured({("base 3", "power"): Value(9.0)}))
    assert {c.row: c.verdict for c in cells}["base 2"] == Verdict.NOT_RUN


def test_what_was_measured_can_be_had(write_experiment: Write) -> None:
    cells = judge_cells(write_experiment(), Measured({("base 9", "power"): Value(81.0)}))
    assert {c.row: c.verdict for c in cells}["base 9"] == Verdict.MATCHES


def test_missing_data_are_named(write_experiment: Write) -> None:
    cells = judge_cells(write_experiment(), None, ("colon.npz",))
    assert {cell.verdict for cell in cells} == {Verdict.CANNOT}
    assert "colon.npz" in {c.row: c.why for c in cells}["base 2"]


def test_an_unconfirmed_earlier_figure_has_a_reason_too(write_experiment: Write) -> None:
    given = TOML.replace('power = "10"', 'power = "8"')
    (cell, *_) = judge_cells(write_experiment(given), Measured({("base 3", "power"): Value(8.0)}))
    assert (cell.verdict, cell.confirms) == (Verdict.MATCHES, False)
    assert cell.why == "a slip of the pen"


def test_a_claim_that_chance_may_break_is_open(write_experiment: Write) -> None:
    given = TOML.replace("default = 0", 'default = "2 se"').replace('"10"', '">= 10"')
    values = {("base 3", "power"): Value(9.5, 0.4, 20)}
    (cell, *_) = judge_cells(write_experiment(given), Measured(values))
    assert cell.verdict == Verdict.OPEN
    assert cell.why == "ours is within 2 standard errors of the limit"


# By hand: what all readings give is judged; what hinges on the choice is not.
READINGS = [
    # published, tolerance, readings, verdict
    ("10", 0, (10.0, 10.0), Verdict.MATCHES),
    ("10", 0, (10.0, 12.0), Verdict.OPEN),  # one of two agrees
    ("10", 0, (3.0, 5.0), Verdict.OPEN),  # none, but the choice decides what comes out
    ("10", 0, (3.0, 17.0), Verdict.OPEN),
    ("10", 0, (3.0, 3.0), Verdict.DIFFERS),
    ("10", 2, (3.0, 5.0), Verdict.DIFFERS),  # the same figure, by the tolerance
    ("10", 2, (3.0, 5.0, 7.0), Verdict.OPEN),  # the first and the last are two
    ("10", 2, (3.0, 4.0, 5.0), Verdict.DIFFERS),
    (">= 10", 0, (11.0, 19.0), Verdict.MATCHES),
    (">= 10", 0, (3.0, 5.0), Verdict.DIFFERS),  # broken, whatever the choice
    (">= 10", 0, (9.0, 11.0), Verdict.OPEN),
    ("a", 0, ("a", "b"), Verdict.OPEN),
    ("a", 0, ("c", "c"), Verdict.DIFFERS),
    ("a", 0, ("b", "c"), Verdict.OPEN),
]


@pytest.mark.parametrize(("published", "tolerance", "values", "verdict"), READINGS)
def test_a_verdict_does_not_hinge_on_a_reading(
    write_experiment: Write, published, tolerance, values, verdict
) -> None:
    given = TOML.replace("default = 0", f"default = {tolerance}").replace('"10"', f'"{published}"')
    place = ("base 3", "power")
    for ordered in permutations(values):
        readings = {f"reading {i}": Value(value) for i, value in enumerate(ordered)}
        measured = Measured({place: Value(ordered[0])}, readings={place: readings})
        (cell, *_) = judge_cells(write_experiment(given), measured)
        assert cell.verdict == verdict
        assert [reading.name for reading in cell.readings] == list(readings)
        hinges = "it hinges on a choice that the paper leaves open: a slip of the pen"
        assert (cell.why == hinges) is (verdict == Verdict.OPEN)


def test_a_verdict_knows_neither_order_nor_direction(write_experiment: Write) -> None:
    """Readings in another order, or figures and limits with the other sign: the same verdict."""
    rng = np.random.default_rng(0)
    place, seen = ("base 3", "power"), set()
    turned = {">= 1": "<= -1", "< 1": "> -1", "1": "-1", "-2 to 1": "-1 to 2"}
    for published, mirrored in turned.items():
        toml = TOML.replace("default = 0", 'default = "2 se"')
        one, other = (
            write_experiment(toml.replace('"10"', f'"{text}"')) for text in (published, mirrored)
        )
        for _ in range(60):
            values = [
                Value(
                    float(rng.normal(1, 1)), float(rng.exponential(0.3)), int(rng.integers(4, 40))
                )
                for _ in range(3)
            ]
            found = set()
            for sign, experiment in ((1, one), (-1, other)):
                for ordered in permutations(values):
                    readings = {
                        f"reading {i}": Value(sign * float(v.value), v.se, v.n)
                        for i, v in enumerate(ordered)
                    }
                    measured = Measured({place: readings["reading 0"]}, readings={place: readings})
                    (cell, *_) = judge_cells(experiment, measured)
                    found.add(cell.verdict)
            assert len(found) == 1, (published, values)
            seen |= found
    assert seen == {Verdict.MATCHES, Verdict.DIFFERS, Verdict.OPEN}


def test_few_runs_of_one_reading_leave_it_open(write_experiment: Write) -> None:
    place, readings = ("base 3", "power"), {"a": Value(10.0, n=9), "b": Value(10.0, n=4)}
    measured = Measured({place: readings["a"]}, readings={place: readings})
    (cell, *_) = judge_cells(write_experiment(), measured)
    assert (cell.verdict, cell.why) == (Verdict.OPEN, "fewer than 5 runs")


def test_the_closest_reason_counts(write_experiment: Write) -> None:
    given = TOML.replace(
        '"base 3" = "a slip of the pen"',
        '"| power" = "column"\n"base 3" = "row"\n"base 3 | power" = "cell"',
    )
    wrong = Measured({(f"base {b}", "power"): Value(0.0) for b in (2, 3)})
    cells = judge_cells(write_experiment(given), wrong)
    assert [cell.why for cell in cells[:2]] == ["column", "cell"]


def test_a_row_without_columns_can_be_out_of_reach(write_experiment: Write) -> None:
    given = TOML.replace('"base 9" =', '"Sun" = "no data"\n"base 9" =')
    cells = judge_cells(write_experiment(given), None)
    assert [(c.column, c.verdict, c.why) for c in cells if c.row == "Sun"] == [
        ("", Verdict.CANNOT, "no data")
    ]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("[tolerance]", "[tolerances]", "unknown: tolerances"),
        ("bases = [2, 3]\n", "base = [2]\n", "overrides what .protocol. has not: base"),
        ('about = "', 'kind = "copy"\nabout = "', "kind is one of"),
        ("default = 0", 'default = "some"', "tolerance"),
        ('about = "', 'spread = "sd"\nabout = "', "sd of N"),
        ('title = "Table 1: powers"', "", "title"),
        ("[protocol]", "[protocol", "Expected"),
        ('power = "4"', "power = 4", "int"),
    ],
)
def test_a_broken_file_is_refused(write_experiment: Write, old, new, said) -> None:
    with pytest.raises(InputError, match=said):
        write_experiment(TOML.replace(old, new, 1))
