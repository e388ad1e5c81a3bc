"""The papers, regenerated: every experiment with its figure and its cells on one HTML page."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from markupsafe import Markup

from .. import __version__
from ..experiments.cache import LIBRARIES
from ..experiments.catalogue import paper_title
from ..experiments.judge import Cell, Verdict
from ..experiments.runner import Result
from ..experiments.words import SHOWN, confirmed_text, count_text, ours_text, printed_text
from ..plots._style import house_style, printable
from . import reproduction_words as words
from .figures import inline_svg, svg_file
from .shared import card, render_page

MOST_COLUMNS = 7  # a wider table is shown as a list
FULL_ENOUGH = 0.6  # so is one with more holes than this
MARKS = {
    Verdict.MATCHES: "✓",
    Verdict.DIFFERS: "≠",
    Verdict.CANNOT: "✕",
    Verdict.UNPUBLISHED: "",
    Verdict.NOT_RUN: "·",
}


@dataclass(frozen=True)
class Drawing:
    """A figure for the page, and the same as a file."""

    inline: Markup
    standalone: str


def draw_figures(results: Sequence[Result]) -> dict[str, Drawing]:
    """The figures of the experiments that have one, by the name of the experiment."""
    drawings = {}
    for result in results:
        experiment, measured = result.experiment, result.measured
        draw = getattr(importlib.import_module(experiment.module), "draw", None)
        if measured is None or draw is None:
            continue
        with house_style():
            figure = draw(measured.series)
        inline = inline_svg(figure, experiment.name.replace("/", "-"), experiment.title)
        drawings[experiment.name] = Drawing(inline, svg_file(figure))
    return drawings


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
        lead=words.lead(results),
        findings=words.findings(results),
        cards=_cards(results),
        overview=[_overview(result) for result in results],
        papers=[
            {
                "id": paper,
                "title": paper_title(paper),
                "experiments": [_experiment(result, figures) for result in group],
            }
            for paper, group in groupby(results, key=lambda result: result.experiment.paper)
        ],
        methods=_methods(results, command, seconds),
        glossary=words.GLOSSARY,
    )


def _cards(results: Sequence[Result]) -> list[dict[str, Any]]:
    counts = {verdict: sum(r.count(verdict) for r in results) for verdict in SHOWN}
    agree = [sum(r.n_confirmed[i] for r in results) for i in (0, 1)]
    cards = [
        card("Cells that match", f"{counts[Verdict.MATCHES]:,}", "within the tolerance"),
        card("Cells that differ", f"{counts[Verdict.DIFFERS]:,}", "with the reason, if known"),
        card("Cannot be had", f"{counts[Verdict.CANNOT]:,}", "data or method not available"),
        card("Nothing published", f"{counts[Verdict.UNPUBLISHED]:,}", "our figure alone"),
    ]
    if agree[1]:
        cards.append(card("Earlier run confirmed", f"{agree[0]:,} of {agree[1]:,}"))
    return [*cards, card("Experiments", f"{len(results):,}", words.protocol_of(results))]


def _overview(result: Result) -> dict[str, Any]:
    experiment = result.experiment
    agree, known = result.n_confirmed
    return {
        "id": _id(result),
        "name": experiment.name,
        "title": experiment.title,
        "counts": [str(result.count(verdict) or "") for verdict in SHOWN[:4]],
        "confirmed": f"{agree} of {known}" if known else "",
        "seconds": "" if result.measured is None else f"{result.seconds:,.0f}",
    }


def _experiment(result: Result, figures: Mapping[str, Drawing]) -> dict[str, Any]:
    experiment = result.experiment
    drawing = figures.get(experiment.name)
    reasons = list(dict.fromkeys(cell.why for cell in result.cells if cell.why))
    return {
        "id": _id(result),
        "title": experiment.title,
        "name": experiment.name,
        "kind": words.KINDS[experiment.kind],
        "about": experiment.about,
        "counts": count_text([result]),
        "confirmed": confirmed_text([result]),
        "missing": ", ".join(result.missing),
        "trouble": printable(result.trouble),
        "figure": None if drawing is None else drawing.inline,
        "table": _table(result, reasons),
        "reasons": reasons,
        "notes": [] if result.measured is None else list(result.measured.notes),
        "protocol": [
            (key, printable(value)) for key, value in experiment.protocols[result.level].items()
        ],
        "tolerances": words.tolerances(result),
    }


def _table(result: Result, reasons: Sequence[str]) -> dict[str, Any]:
    """A grid where rows and columns cross often enough, otherwise a list."""
    cells = {(cell.row, cell.column): cell for cell in result.cells}
    rows = list(dict.fromkeys(row for row, _ in cells))
    columns = list(dict.fromkeys(column for _, column in cells))
    is_grid = 1 < len(columns) <= MOST_COLUMNS
    if not is_grid or len(cells) < FULL_ENOUGH * len(rows) * len(columns):
        groups = groupby(result.cells, key=lambda cell: cell.row)
        listed = [(row, [_shown(cell, reasons) for cell in group]) for row, group in groups]
        return {
            "columns": None,
            "rows": listed,
            "published": any(cell.published for cell in result.cells),
            "earlier": any(cell.checked for cell in result.cells),
        }
    found = [[cells.get((row, column)) for column in columns] for row in rows]
    grid = [[cell and _shown(cell, reasons) for cell in line] for line in found]
    return {"columns": columns, "rows": list(zip(rows, grid))}


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
        ("Protocol", words.protocol_of(results)),
        ("Time", f"{times} took {seconds:,.0f} s"),
        ("Made with", f"eigensieve {__version__}, {libraries}"),
    ]


def _id(result: Result) -> str:
    return result.experiment.name.replace("/", "-")
