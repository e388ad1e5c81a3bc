"""A comparison of methods as one self-contained HTML page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from markupsafe import Markup
from matplotlib.ticker import PercentFormatter

from ..plots._style import (
    house_style,
    legend_below,
    new_figure,
    printable,
    short_names,
    shorten,
    style_of,
)
from ..plots.comparison import ComparisonDisplay
from ..plots.cv_path import set_k_axis
from ..studies.comparison import Comparison
from ..studies.result import Study
from . import facts, words
from .facts import is_balanced, n_classes
from .figures import drawn, inline_svg
from .shared import card, render_page

CLEARLY = 2.0  # standard errors
MAX_CURVES = 12
MAX_SHARED_FEATURES = 30
HEADER = 14  # characters of a method above its column


def render_comparison(
    comparison: Comparison, *, title: str | None = None, command: str | None = None
) -> str:
    """The report as HTML: no script, no network, the same bytes for the same comparison."""
    judged = _judged(comparison)
    close = _close_methods(comparison)
    return render_page(
        "comparison.html.j2",
        title=printable(title or f"Methods compared for “{comparison.source.target}”"),
        notices=[printable(words.upper_first(text)) for text in comparison.unfinished],
        comparison=comparison,
        judged=judged,
        close=close,
        cards=_cards(comparison, judged, close),
        errors=_draw_errors(comparison, close),
        curves=_curves(comparison),
        overlap=_overlap(comparison),
        notes=[printable(note) for note in comparison.notes],
        methods=_methods(comparison),
        models={printable(n): facts.inner_model(s) for n, s in comparison.results.items()},
        source=comparison.source,
        facts=facts,
        command=command,
    )


def _judged(comparison: Comparison) -> list[dict[str, Any]]:
    """The rows that have an error, the smallest first."""
    return [row for row in comparison.rows if row["error"] is not None]


def _close_methods(comparison: Comparison) -> list[str]:
    """The best method, and those that differ from it by less than two standard errors."""
    judged = _judged(comparison)
    if not judged:
        return []
    # the same folds and samples: the paired differences are to the best method here
    rows = _judged(replace(comparison, reference=judged[0]["method"]))
    return [row["method"] for row in rows if row is rows[0] or _is_close(row)]


def _is_close(row: dict[str, Any]) -> bool:
    difference, error = row["difference"], row["difference_se"]
    if difference is None or error is None:
        return False
    return bool(abs(difference) <= CLEARLY * error)


def _cards(
    comparison: Comparison, judged: list[dict[str, Any]], close: list[str]
) -> list[dict[str, Any]]:
    study = next(iter(comparison.results.values()))
    classes = words.count(n_classes(study), "class", "classes")
    cards = [card("Methods", f"{len(comparison.results):,}", "the same folds for all")]
    if judged:
        best = judged[0]
        interval = f"95\u00a0%: {words.percent(best['low'])} to {words.percent(best['high'])}"
        cards += [
            card("Smallest error", words.percent(best["error"]), interval),
            card("Not told apart from the best", f"{len(close):,}", "the best itself included"),
        ]
    return [*cards, card("Samples", f"{study.n_samples:,}", f"in {classes}")]


def _draw_errors(comparison: Comparison, close: list[str]) -> Markup | None:
    if not close:
        return None
    label = (
        "Error on new samples of every method with its 95 % interval. The numbers are in the table."
    )
    return drawn(ComparisonDisplay.from_comparison(comparison, close), "errors", label)


def _curves(comparison: Comparison) -> dict[str, Any] | None:
    """Error against k of the methods that have a curve."""
    order = [row["method"] for row in comparison.rows]
    studies = {name: comparison.results[name] for name in order}
    several = {name: study for name, study in studies.items() if len(study.rows) > 1}
    if not several:
        return None
    ks = sorted({k for study in several.values() for k in study.ks})
    errors = {n: {row["k"]: row[s.score] for row in s.rows} for n, s in several.items()}
    return {
        "figure": _draw_curves(dict(list(several.items())[:MAX_CURVES])),
        "n_more": max(0, len(several) - MAX_CURVES),
        "score": _score(several),
        "columns": short_names(several, HEADER),
        "rows": [
            {"k": k, "cells": [words.percent_or_dash(errors[name].get(k)) for name in several]}
            for k in ks
        ],
    }


def _draw_curves(studies: dict[str, Study]) -> Markup:
    with house_style():
        figure = new_figure(3.4 + 0.2 * (len(studies) + 2) // 3)
        ax = figure.add_subplot()
        lines = []
        for i, study in enumerate(studies.values()):
            errors = [row[study.score] for row in study.rows]
            look: dict[str, Any] = {**style_of(i), "lw": 1.3, "ms": 4.5, "alpha": 0.85}
            lines += ax.plot(study.ks, errors, **look)
        ks = sorted({k for study in studies.values() for k in study.ks})
        set_k_axis(ax, ks)
        ax.set_ylim(bottom=0.0)
        ax.set_ylabel(f"Cross-validated {_score(studies)}")
        ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
        ax.grid(axis="y")
        legend_below(ax, lines, short_names(studies, 18))
    label = f"Cross-validated {_score(studies)} against the number of features, a line per method."
    return inline_svg(figure, "curves", label)


def _score(studies: Mapping[str, Study]) -> str:
    return "balanced error" if any(map(is_balanced, studies.values())) else "error"


def _overlap(comparison: Comparison) -> dict[str, Any]:
    """The set of every method, and the features that several of them select."""
    sets = {row["method"]: set(row["features"]) for row in comparison.rows}
    votes = Counter(name for features in sets.values() for name in sorted(features))
    often = sorted((-n, name) for name, n in votes.items() if n > 1)
    return {
        "sets": sets,
        "columns": short_names(sets, HEADER),
        "often": [name for _, name in often[:MAX_SHARED_FEATURES]],
        "n_more": max(0, len(often) - MAX_SHARED_FEATURES),
    }


def _methods(comparison: Comparison) -> list[tuple[str, str]]:
    return [
        ("Error estimate", printable(comparison.how)),
        ("Interval", _by_method(comparison, lambda study: facts.interval_rule(study) or "none")),
        ("Reference", printable(comparison.reference)),
        ("Number of features", _by_method(comparison, lambda study: printable(study.k_rule))),
        ("Class weights", _class_weights(comparison)),
    ]


def _by_method(comparison: Comparison, fact: Callable[[Study], str]) -> str:
    """A fact about every method: once if it is the same for all, else with the names."""
    found: dict[str, list[str]] = {}
    for name, study in comparison.results.items():
        found.setdefault(fact(study), []).append(shorten(name, 40))
    if len(found) == 1:
        return next(iter(found))
    return "; ".join(f"{words.listed(names)}: {text}" for text, names in found.items())


def _class_weights(comparison: Comparison) -> str:
    """Whose classes were weighted in the fit, and how; "" where nobody's were."""
    if len(facts.unweighted(comparison)) == len(comparison.results):
        return ""
    return _by_method(comparison, lambda s: facts.class_weights(facts.inner_model(s)) or "none")
