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
from ..experiments.words import changes_text, confirmed_text, count_text, ours_text, printed_text
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


OVERVIEW = (Verdict.MATCHES, Verdict.DIFFERS, Verdict.OPEN, Verdict.CANNOT, Verdict.UNPUBLISHED)
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
        overview=OVERVIEW,
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
    def n(verdict: Verdict) -> str:
        return f"{sum(result.count(verdict) for result in results):,}"

    agree = [sum(r.n_confirmed[i] for r in results) for i in (0, 1)]
    cards = [
        card("Cells that match", n(Verdict.MATCHES), "within the tolerance"),
        card("Cells that differ", n(Verdict.DIFFERS), "with the reason, if known"),
        card("Cannot be told", n(Verdict.OPEN), "chance may explain it"),
        card("Cannot be had", n(Verdict.CANNOT), "data or method not available"),
        card("Nothing published", n(Verdict.UNPUBLISHED), "our figure alone"),
    ]
    if agree[1]:
        cards.append(card("Earlier run confirmed", f"{agree[0]:,} of {agree[1]:,}"))
    return cards


def _reasons(result: Result) -> dict[str, None]:
    """Why cells differ, each reason once, in their order."""
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
    """The table of a paper, and apart from it the claims that have columns of their own."""
    often = {column for column, n in Counter(c.column for c in cells).items() if n >= COMMON}
    per_row = Counter(cell.row for cell in cells if cell.column in often)
    table = [cell for cell in cells if cell.column in often and per_row[cell.row] > 1]
    claims = [cell for cell in cells if cell not in table]
    return [part for part in (table, claims) if part] if _is_grid(table) else [list(cells)]


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
    papers = [result for result in results if result.experiment.kind == "reproduction"]
    match, differ = (
        sum(r.count(verdict) for r in papers) for verdict in (Verdict.MATCHES, Verdict.DIFFERS)
    )
    if match + differ == 0:
        return ["No published figure could be judged."]
    share = round(100 * match / (match + differ))
    checked = f"Of {match + differ:,} published figures and claims that could be judged"
    return [
        f"{checked}, {match:,} ({share}\u00a0%) come out again and {differ:,} do not.",
        "Every verdict is computed, by the tolerance stated with the experiment.",
    ]


def findings(results: Sequence[Result]) -> list[str]:
    """What else to know at once."""
    sentences = [
        "Cells are no independent witnesses: one sentence of a paper may be judged in several."
    ]
    confirmed = confirmed_text(results)
    if confirmed:
        sentences.append(f"{confirmed}.")
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
    """What may be how far away, in words."""
    given = result.experiment.tolerances
    shown = {cell.column for cell in result.cells}
    rows = [(column, value.text) for column, value in given.items() if column in shown]
    return [*rows, ("all other columns" if rows else "all columns", given["default"].text)]
