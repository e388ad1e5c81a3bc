"""The papers, regenerated: every experiment with its figure and its cells on one HTML page."""

from __future__ import annotations

import importlib
import traceback
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from markupsafe import Markup

from .. import __version__
from ..experiments.cache import LIBRARIES
from ..experiments.catalogue import paper_title
from ..experiments.judge import Cell, Verdict
from ..experiments.runner import Result
from ..experiments.words import (
    AGREES,
    changes_text,
    confirmed_text,
    count_text,
    count_verdicts,
    ours_text,
    printed_text,
    shown_readings,
    value_text,
)
from ..plots._style import house_style, printable
from .figures import inline_svg, svg_file
from .shared import card, render_page

MAX_COLUMNS = 7  # a wider table is shown as a list (twice as wide, where cells have one line)
FULL_ENOUGH = 0.6  # so is one with more holes than this
COMMON = 3  # rows that a column of a table has; others are those of single claims
MAX_CELLS = 40  # in longer tables what nobody has published is put aside
MARKS = {
    Verdict.MATCHES: "✓",
    Verdict.DIFFERS: "≠",
    Verdict.OPEN: "?",
    Verdict.CANNOT: "✕",
    Verdict.UNPUBLISHED: "",
    Verdict.NOT_RUN: "·",
}

READING_MARKS = {True: "✓", False: "≠", None: "?"}
# the boxes at the top of the page, and the columns of the overview
BOXES = {
    Verdict.MATCHES: ("Match", "within the tolerance"),
    Verdict.DIFFERS: ("Differ", "with the reason, if known"),
    Verdict.OPEN: ("Cannot be told", "chance, few runs, or a choice left open"),
    Verdict.CANNOT: ("Cannot be had", "data or method not available"),
    Verdict.UNPUBLISHED: ("Nothing published", "our figure alone"),
    Verdict.NOT_RUN: ("Not run", "left out of this protocol"),
}
KINDS = {
    "reproduction": "",
    "analogue": "an analogue: the paper's data cannot be had, ours stand for them",
    "own": "our own question",
}
LEVELS = {
    "full": "full protocol",
    "quick": "quick run: fewer repetitions",
    "smoke": "smoke test: as little as possible",
}


@dataclass(frozen=True)
class Drawing:
    """A figure for the page, and the same as a file."""

    inline: Markup
    standalone: str


def draw_figures(results: Sequence[Result]) -> tuple[list[Result], dict[str, Drawing]]:
    """The figures by the name of the experiment; one that cannot be drawn is its trouble."""
    drawings, after = {}, []
    for result in results:
        try:
            drawing = _draw(result)
        except Exception as error:  # the other experiments are worth a page
            trouble = f"{type(error).__name__}: {error} (in its figure)"
            result = replace(result, trouble=trouble, details=traceback.format_exc())
            drawing = None
        after.append(result)
        if drawing is not None:
            drawings[result.experiment.name] = drawing
    return after, drawings


def _draw(result: Result) -> Drawing | None:
    if result.measured is None:
        return None
    experiment = result.experiment
    draw = getattr(importlib.import_module(experiment.module), "draw", None)
    if draw is None:
        return None
    with house_style():
        figure = draw(result.measured.series)
    return Drawing(inline_svg(figure, _id(result), experiment.title), svg_file(figure))


def render_reproduction(
    results: Sequence[Result],
    figures: Mapping[str, Drawing],
    *,
    command: str = "",
    seconds: float = 0.0,
    unfinished: Sequence[str] = (),
) -> str:
    """The page as HTML: no script, no network."""
    return render_page(
        "reproduction.html.j2",
        title="The papers, regenerated",
        notices=[],
        unfinished=[printable(name) for name in unfinished],
        lead=lead(results),
        findings=findings(results),
        cards=_cards(results),
        overview=_occurring(results),
        titles={verdict: title for verdict, (title, _) in BOXES.items()},
        count_verdicts=count_verdicts,
        papers=[
            (paper, paper_title(paper), [(r, list(_reasons(r))) for r in group])
            for paper, group in groupby(results, key=lambda result: result.experiment.paper)
        ],
        results=results,
        figures=figures,
        id_of=_id,
        breakable=_breakable,
        kinds=KINDS,
        count_text=count_text,
        confirmed_text=confirmed_text,
        changes_text=changes_text,
        tables_of=_tables,
        tolerances=tolerances,
        methods=_methods(results, command, seconds),
    )


def _cards(results: Sequence[Result]) -> list[dict[str, Any]]:
    agree = [sum(r.n_confirmed[i] for r in results) for i in (0, 1)]
    counts = count_verdicts(results)
    cards = [
        card(BOXES[verdict][0], f"{counts[verdict]:,}", BOXES[verdict][1])
        for verdict in _occurring(results)
    ]
    if agree[1]:
        unknown = sum(r.n_undecided for r in results)
        notes = [f"{unknown:,} more cannot be told"] if unknown else []
        cards.append(card("Earlier run confirmed", f"{agree[0]:,} of {agree[1]:,}", *notes))
    return cards


def _occurring(results: Sequence[Result]) -> list[Verdict]:
    """Verdicts to show: those of judged cells always, the others where there are any."""
    always = (Verdict.MATCHES, Verdict.DIFFERS, Verdict.OPEN)
    counts = count_verdicts(results)
    return [verdict for verdict in BOXES if verdict in always or counts[verdict]]


def _reasons(result: Result) -> dict[str, None]:
    """Why cells differ or cannot be told, each reason once, in their order."""
    return dict.fromkeys(cell.why for cell in result.cells if cell.why)


def _tables(result: Result, reasons: Sequence[str]) -> list[dict[str, Any]]:
    """All cells; of many those that are judged first, the others put aside."""
    judged = [cell for cell in result.cells if cell.published or cell.verdict == Verdict.CANNOT]
    if len(result.cells) <= MAX_CELLS or not result.experiment.published:
        return [_table(part, reasons) for part in _split(result.cells)]
    others = [cell for cell in result.cells if cell not in judged]
    tables = [_table(part, reasons) for part in _split(judged)]
    return tables + [_table(part, reasons) | {"aside": len(part)} for part in _split(others)]


def _split(cells: Sequence[Cell]) -> list[list[Cell]]:
    """The tables of a paper, and apart from them the claims that have columns of their own."""
    parts = [(_crossing(part), part) for part in _connected(cells)]
    tables = [table for table, _ in parts if table]
    claims = [cell for table, part in parts for cell in part if cell not in table]
    return [*tables, claims] if claims else tables


def _connected(cells: Sequence[Cell]) -> list[list[Cell]]:
    """Cells that share a row or a column with one another, directly or by way of others."""
    parts: list[list[Cell]] = []
    for cell in cells:
        near = [p for p in parts if any(c.row == cell.row or c.column == cell.column for c in p)]
        parts = [part for part in parts if part not in near]
        parts.append([*(c for part in near for c in part), cell])
    order = {id(cell): i for i, cell in enumerate(cells)}
    parts = [sorted(part, key=lambda cell: order[id(cell)]) for part in parts]
    return sorted(parts, key=lambda part: order[id(part[0])])


def _crossing(cells: Sequence[Cell]) -> list[Cell]:
    """Those cells whose rows and columns cross often enough for a grid; none, if too few do."""
    often = {column for column, n in Counter(c.column for c in cells).items() if n >= COMMON}
    per_row = Counter(cell.row for cell in cells if cell.column in often)
    table = [cell for cell in cells if cell.column in often and per_row[cell.row] > 1]
    return table if _is_grid(table) else []


def _is_grid(cells: Sequence[Cell]) -> bool:
    """Whether rows and columns cross often enough, and the columns have room side by side."""
    rows, columns = {cell.row for cell in cells}, {cell.column for cell in cells}
    one_line = not any(cell.published or cell.checked for cell in cells)
    most = 2 * MAX_COLUMNS if one_line else MAX_COLUMNS
    return 1 < len(columns) <= most and len(cells) >= FULL_ENOUGH * len(rows) * len(columns)


def _table(given: Sequence[Cell], reasons: Sequence[str]) -> dict[str, Any]:
    """A grid, or a list."""
    shown = {(cell.row, cell.column): _shown(cell, reasons) for cell in given}
    rows = list(dict.fromkeys(row for row, _ in shown))
    columns = list(dict.fromkeys(column for _, column in shown))
    facts = {
        "columns": columns if _is_grid(given) else None,
        "published": any(cell.published for cell in given),
        "earlier": any(cell.checked for cell in given),
        "n": len(given),
        "aside": 0,
    }
    if facts["columns"]:
        return facts | {"rows": [(row, [shown.get((row, c)) for c in columns]) for row in rows]}
    listed = [(row, [cell for place, cell in shown.items() if place[0] == row]) for row in rows]
    return facts | {"rows": listed}


def _shown(cell: Cell, reasons: Sequence[str]) -> dict[str, Any]:
    return {
        "column": cell.column,
        "ours": ours_text(cell),
        "readings": [
            (
                reading.name,
                value_text(reading.ours, cell),
                READING_MARKS[reading.agrees],
                AGREES[reading.agrees],
            )
            for reading in shown_readings(cell)
        ],
        "published": printed_text(cell.published),
        "earlier": printed_text(cell.checked),
        "confirms": {None: "", True: "confirmed", False: "not confirmed"}[cell.confirms],
        "verdict": str(cell.verdict),
        "css": str(cell.verdict).replace(" ", "-"),
        "mark": MARKS[cell.verdict],
        "reason": reasons.index(cell.why) + 1 if cell.why else None,
    }


def _methods(results: Sequence[Result], command: str, seconds: float) -> list[tuple[str, str]]:
    from importlib.metadata import version

    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    cpu = sum(result.seconds for result in results)
    times = f"{cpu:,.0f} s of CPU time in all, what earlier runs have kept included; this run"
    rows = [("Command", printable(command))] if command else []
    return [
        *rows,
        ("Protocol", protocol_of(results)),
        ("Time", f"{times} took {seconds:,.0f} s"),
        ("Made with", f"eigensieve {__version__}, {libraries}"),
    ]


def _breakable(name: str) -> Markup:
    """A name that a narrow column may break at its slash."""
    return Markup("/<wbr>").join(name.split("/"))


def _id(result: Result) -> str:
    return result.experiment.name.replace("/", "-")


def protocol_of(results: Sequence[Result]) -> str:
    """Which protocol was run."""
    return LEVELS[results[0].level]


def lead(results: Sequence[Result]) -> list[str]:
    """The result in a sentence or two."""
    counts = count_verdicts(results)
    match, differ, told = (
        counts[verdict] for verdict in (Verdict.MATCHES, Verdict.DIFFERS, Verdict.OPEN)
    )
    measured = match + differ + told
    if measured == 0:
        return ["No published figure could be judged."]
    first = (
        f"Of {measured:,} published figures and claims that were measured, {match:,} come out "
        f"again and {differ:,} do not; of {told:,} it cannot be told."
    )
    sentences = [first]
    stand_ins = count_verdicts([r for r in results if r.experiment.kind == "analogue"])
    n = sum(stand_ins[verdict] for verdict in (Verdict.MATCHES, Verdict.DIFFERS, Verdict.OPEN))
    if n:
        sentences.append(
            f"{n:,} of the {measured:,} are judged on other data than the paper\u2019s."
        )
    return [*sentences, "Every verdict is computed, by the rule stated with the experiment."]


def findings(results: Sequence[Result]) -> list[str]:
    """What else to know at once."""
    sentences = [
        "Cells are no independent witnesses: one sentence of a paper may be judged in several."
    ]
    confirmed = confirmed_text(results)
    if confirmed:
        sentences.append(f"{confirmed.capitalize()}.")
    if results[0].level != "full":
        sentences.append(
            f"This is a {LEVELS[results[0].level]}; its verdicts are provisional. Without --quick "
            "the papers\u2019 own protocols are run."
        )
    failed = [result.experiment.name for result in results if result.trouble]
    if failed:
        sentences.append(f"Failed: {', '.join(failed)}.")
    missing = sorted({file for result in results for file in result.missing})
    if missing:
        sentences.append(f"Data files that are missing: {', '.join(missing)}.")
    return sentences


def tolerances(result: Result) -> list[tuple[str, str]]:
    """What may be how far away, in words: columns with the same rule together."""
    rules: dict[str, dict[str, None]] = {}
    for cell in result.cells:
        tolerance = result.experiment.tolerance(cell.column)
        for figure in (cell.published, cell.checked):
            if figure is not None:
                rules.setdefault(tolerance.describe(figure), {})[cell.column] = None
    return [("; ".join(columns), rule) for rule, columns in rules.items()]
