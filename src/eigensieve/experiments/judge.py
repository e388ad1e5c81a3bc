"""The verdict on every cell: computed from what was measured and what was published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from .protocol import Experiment
from .published import MIN_RUNS, Published, Tolerance, agrees, same_figure
from .values import Measured, Place, Value


class Verdict(StrEnum):
    """What can be said of a cell."""

    MATCHES = "matches"
    DIFFERS = "differs"
    OPEN = "cannot be told"
    CANNOT = "cannot be had"
    UNPUBLISHED = "nothing published"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Reading:
    """Our figure under one choice that the paper leaves open, and whether it agrees."""

    name: str
    ours: Value
    agrees: bool | None


@dataclass(frozen=True)
class Cell:
    """One figure: published, measured, judged.

    Attributes
    ----------
    row, column : str
    published, checked : Published or None
        What the paper prints, and what an earlier independent reproduction found.
    ours : Value or None
    verdict : Verdict
        Ours against the paper.
    confirms : bool or None
        Ours against the earlier reproduction; None where there is none, or it cannot be told.
    why : str
        Why it differs (from either), cannot be told or cannot be had, as far as known.
    decimals : int or None
        Digits to show after the point.
    readings : tuple of Reading
        All of them, where the paper leaves a choice open and several were run.
    """

    row: str
    column: str
    published: Published | None
    checked: Published | None
    ours: Value | None
    verdict: Verdict
    confirms: bool | None = None
    why: str = ""
    decimals: int | None = None
    readings: tuple[Reading, ...] = ()


def judge_cells(
    experiment: Experiment, measured: Measured | None, missing: tuple[str, ...] = ()
) -> list[Cell]:
    """Every cell of an experiment; ``missing`` are data files that were not there."""
    measured = Measured({}) if measured is None else measured
    return [
        _judge_cell(experiment, place, measured, missing)
        for place in _places(experiment, measured.cells)
    ]


def _places(experiment: Experiment, values: Mapping[Place, Value]) -> Iterator[Place]:
    """All cells, row by row: as measured, then what is published besides."""
    known = [*values, *experiment.published, *experiment.checked]
    rows = dict.fromkeys(row for row, _ in known)
    alone = [key for key in experiment.cannot_be_had if key not in rows and "|" not in key]
    for row in [*rows, *alone]:
        columns = dict.fromkeys(column for own, column in known if own == row)
        yield from ((row, column) for column in (columns or [""]))


def _judge_cell(
    experiment: Experiment, place: Place, measured: Measured, missing: tuple[str, ...]
) -> Cell:
    published, checked = experiment.published.get(place), experiment.checked.get(place)
    ours, tolerance = measured.cells.get(place), experiment.tolerance(place[1])
    confirms: bool | None = None
    readings: tuple[Reading, ...] = ()
    if ours is not None and checked is not None:
        confirms = agrees(ours, checked, tolerance, experiment.spread)
    verdict, why = Verdict.NOT_RUN, ""
    reason = _find(experiment.cannot_be_had, place)
    if ours is None and (reason or missing):
        verdict, why = Verdict.CANNOT, reason or f"not in the data folder: {', '.join(missing)}"
    elif ours is not None and published is None:
        verdict = Verdict.UNPUBLISHED
    elif ours is not None and published is not None:
        readings = tuple(
            Reading(name, value, agrees(value, published, tolerance, experiment.spread))
            for name, value in measured.readings.get(place, {"": ours}).items()
        )
        verdict = combine(readings, published, tolerance)
    known = _find(experiment.why, place)
    if verdict == Verdict.OPEN:
        why = _why_open(readings, tolerance, known)
    elif verdict == Verdict.DIFFERS or confirms is False:
        why = known
    decimals = experiment.digits.get(place[1])
    if decimals is None:
        decimals = next((p.decimals for p in (published, checked) if p and p.is_figure), None)
    shown = readings if len(readings) > 1 else ()
    return Cell(*place, published, checked, ours, verdict, confirms, why, decimals, shown)


def combine(readings: tuple[Reading, ...], published: Published, tolerance: Tolerance) -> Verdict:
    """One verdict: it must not hinge on a choice that the paper leaves open.

    A figure that no reading gives differs only if all readings give the same one; a limit if all
    break it.
    """
    answers = {reading.agrees for reading in readings}
    if answers == {True}:
        return Verdict.MATCHES
    pairs = combinations([reading.ours for reading in readings], 2)
    same = all(same_figure(one, other, tolerance) for one, other in pairs)
    if answers == {False} and (published.is_claim or same):
        return Verdict.DIFFERS
    return Verdict.OPEN


def _why_open(readings: tuple[Reading, ...], tolerance: Tolerance, known: str) -> str:
    if any(r.ours.n is not None and r.ours.n < MIN_RUNS for r in readings):
        return f"fewer than {MIN_RUNS} runs"
    if len(readings) > 1 and {reading.agrees for reading in readings} != {None}:
        hinges = "it hinges on a choice that the paper leaves open"
        return f"{hinges}: {known}" if known else hinges
    return f"ours is within {tolerance.errors:g} standard errors of the limit"


def _find(texts: Mapping[str, str], place: Place) -> str:
    """The text for a cell, its row, or its column: the closest one."""
    row, column = place
    return next(
        (texts[key] for key in (f"{row} | {column}", row, f"| {column}") if key in texts), ""
    )
