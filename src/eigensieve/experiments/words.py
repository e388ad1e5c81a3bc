"""Results as texts and plain data: what the terminal, the JSON file and the page have in common."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from .judge import Cell, Reading, Verdict
from .published import Published
from .runner import Result
from .values import Value

COUNTED = {
    Verdict.MATCHES: "match",
    Verdict.DIFFERS: "differ",
    Verdict.OPEN: "cannot be told",
    Verdict.CANNOT: "cannot be had",
    Verdict.UNPUBLISHED: "without a published figure",
    Verdict.NOT_RUN: "not run",
}


ROUND_OFF = 1e-9  # of a figure beside its error, or of an error beside its figure
AGREES = {True: "agrees", False: "does not agree", None: "cannot be told"}


def ours_text(cell: Cell) -> str:
    """The measured figure with its standard error."""
    return "" if cell.ours is None else value_text(cell.ours, cell)


def value_text(value: Value, cell: Cell) -> str:
    """One of our figures for this cell, with its standard error."""
    if isinstance(value.value, str):
        return value.value
    figure, se = value.value, value.se or 0.0
    if abs(figure) < ROUND_OFF * se:
        figure = 0.0
    text = _number(figure, cell, 3)
    return f"{text} ± {_number(se, cell, 2)}" if se > ROUND_OFF * abs(figure) else text


def shown_readings(cell: Cell) -> tuple[Reading, ...]:
    """Its readings, unless they look all the same."""
    looks = {(value_text(reading.ours, cell), reading.agrees) for reading in cell.readings}
    return cell.readings if len(looks) > 1 else ()


def _number(value: float, cell: Cell, digits: int) -> str:
    """As many decimals as the published figure; where there is none, so many digits."""
    if not math.isfinite(value):
        return str(value)
    printed = [p for p in (cell.published, cell.checked) if p is not None]
    if cell.decimals is None:
        return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.{digits}g}"
    first = printed[0].text.lower() if printed else ""
    if "e-" in first or "e+" in first:
        return f"{value:.{cell.decimals}e}"
    if value and abs(value) < 0.5 * 10.0**-cell.decimals:  # all decimals would be zeros
        return f"{value:.1g}"
    figure = next((p.text for p in printed if p.is_figure), ",")
    return f"{value:{',' if ',' in figure else ''}.{cell.decimals}f}"


def printed_text(published: Published | None) -> str:
    """The published figure, as printed."""
    return "" if published is None else published.text


def count_verdicts(results: Sequence[Result]) -> dict[Verdict, int]:
    """How many cells have each verdict: the one count for page, terminal and JSON file."""
    found = Counter(cell.verdict for result in results for cell in result.cells)
    return {verdict: found[verdict] for verdict in Verdict}


def count_text(results: Sequence[Result]) -> str:
    """``12 match, 3 differ, ...``; what did not occur is left out."""
    parts = [f"{n} {COUNTED[verdict]}" for verdict, n in count_verdicts(results).items() if n]
    return ", ".join(parts) if parts else "no cells"


def confirmed_text(results: Sequence[Result]) -> str:
    """How many figures of an earlier reproduction ours confirm."""
    agree, known = (sum(result.n_confirmed[i] for result in results) for i in (0, 1))
    unknown = sum(result.n_undecided for result in results)
    parts = [f"{agree} of {known} confirmed"] if known else []
    parts += [f"{unknown} cannot be told"] if unknown else []
    return f"figures of an earlier reproduction: {', '.join(parts)}" if parts else ""


def changes_text(result: Result) -> str:
    """What this run has less of than the full protocol."""
    full, run = (result.experiment.protocols[level] for level in ("full", result.level))
    changed = [key for key in run if run[key] != full[key]]
    return "; ".join(_change_text(key.replace("_", " "), run[key], full[key]) for key in changed)


def _change_text(name: str, run: Any, full: Any) -> str:
    if isinstance(run, list | dict) and len(run) != len(full):
        return f"{len(run)} value{'' if len(run) == 1 else 's'} of {name} (full: {len(full)})"
    if isinstance(run, list | dict):
        return f"other values of {name}"
    return f"{name} {run} (full: {full})"


def as_data(result: Result) -> dict[str, Any]:
    """One experiment as JSON values."""
    experiment, measured = result.experiment, result.measured
    return {
        "name": experiment.name,
        "title": experiment.title,
        "kind": experiment.kind,
        "level": result.level,
        "protocol": dict(experiment.protocols[result.level]),
        "missing": list(result.missing),
        "trouble": result.trouble,
        "cpu_seconds": round(result.seconds, 3),
        "notes": [] if measured is None else list(measured.notes),
        "counts": {str(verdict): n for verdict, n in count_verdicts([result]).items()},
        "cells": [_cell_data(result, cell) for cell in result.cells],
    }


def _cell_data(result: Result, cell: Cell) -> dict[str, Any]:
    ours, tolerance = cell.ours, result.experiment.tolerance(cell.column)
    return {
        "row": cell.row,
        "column": cell.column,
        "published": cell.published and cell.published.text,
        "earlier": cell.checked and cell.checked.text,
        "ours": None if ours is None else _finite(ours.value),
        "se": None if ours is None or ours.se is None else _finite(ours.se),
        "runs": None if ours is None else ours.n,
        "readings": [
            {
                "name": reading.name,
                "ours": _finite(reading.ours.value),
                "se": None if reading.ours.se is None else _finite(reading.ours.se),
                "agrees": reading.agrees,
            }
            for reading in cell.readings
        ],
        "tolerance": tolerance.describe(cell.published or cell.checked),
        "verdict": str(cell.verdict),
        "confirms_earlier": cell.confirms,
        "why": cell.why,
    }


def _finite(value: float | str) -> float | str | None:
    """JSON knows no infinity."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
