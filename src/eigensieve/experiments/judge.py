"""The verdict on every cell: computed from what was measured and what was published."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from .protocol import Experiment
from .published import Published, agrees
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
        Why it differs (from either) or cannot be had, as far as known.
    decimals : int or None
        Digits to show after the point.
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


def judge_cells(
    experiment: Experiment, measured: Measured | None, missing: tuple[str, ...] = ()
) -> list[Cell]:
    """Every cell of an experiment; ``missing`` are data files that were not there."""
    values = {} if measured is None else measured.cells
    return [
        _judge_cell(experiment, place, values.get(place), missing)
        for place in _places(experiment, values)
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
    experiment: Experiment, place: Place, ours: Value | None, missing: tuple[str, ...]
) -> Cell:
    published, checked = experiment.published.get(place), experiment.checked.get(place)
    tolerance = experiment.tolerance(place[1])
    confirms = None
    if ours is not None and checked is not None:
        confirms = agrees(ours, checked, tolerance, experiment.spread)
    verdict, why = Verdict.NOT_RUN, ""
    reason = _find(experiment.cannot_be_had, place)
    if ours is None and (reason or missing):
        verdict, why = Verdict.CANNOT, reason or f"not in the data folder: {', '.join(missing)}"
    elif ours is not None and published is None:
        verdict = Verdict.UNPUBLISHED
    elif ours is not None and published is not None:
        same = agrees(ours, published, tolerance, experiment.spread)
        verdict = {True: Verdict.MATCHES, False: Verdict.DIFFERS, None: Verdict.OPEN}[same]
    if verdict == Verdict.DIFFERS or confirms is False:
        why = _find(experiment.why, place)
    decimals = experiment.digits.get(place[1])
    if decimals is None:
        decimals = next((p.decimals for p in (published, checked) if p and not p.is_claim), None)
    return Cell(*place, published, checked, ours, verdict, confirms, why, decimals)


def _find(texts: Mapping[str, str], place: Place) -> str:
    """The text for a cell, its row, or its column: the closest one."""
    row, column = place
    return next(
        (texts[key] for key in (f"{row} | {column}", row, f"| {column}") if key in texts), ""
    )
