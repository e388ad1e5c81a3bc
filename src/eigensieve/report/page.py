"""A study as one self-contained HTML page."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ..plots import CVPathDisplay, LoadingsDisplay, ProjectionDisplay
from ..plots._style import printable
from ..studies.cv_path import ErrorEstimate
from ..studies.fitting import GIVEN, ONE_SE, FitResult
from . import words
from .figures import inline_svg
from .glossary import explain_words
from .shared import card, render_page

MOST_SHARES = 6


def render_report(
    result: FitResult,
    *,
    title: str | None = None,
    command: str | None = None,
    held_out: ErrorEstimate | None = None,
) -> str:
    """The report as HTML: no script, no network, the same bytes for the same result.

    Parameters
    ----------
    result : FitResult
    title : str, optional
    command : str, optional
        The command line that made the result, shown with the parameters.
    held_out : ErrorEstimate, optional
        The error on samples that were never shown to the study.
    """
    found, error, *findings = words.summary(result, held_out)
    return render_page(
        "template.html.j2",
        title=printable(title or _title(result)),
        lead=[found, error],
        findings=findings,
        cards=_cards(result, held_out),
        path=_path(result),
        features=_features(result),
        samples=_samples(result),
        notes=[printable(note) for note in result.notes],
        methods=words.methods(result, command, held_out),
        glossary=explain_words(result),
    )


def _title(result: FitResult) -> str:
    what = "that separate" if words.separates(result) else "selected for"
    return f"Features {what} “{result.target}”"


def _cards(result: FitResult, held_out: ErrorEstimate | None) -> list[dict[str, Any]]:
    cards = [
        card("Features selected", f"{result.k:,}", f"of {len(result.names):,}"),
        _error_card("Error, new samples", result.error, result.balanced_error),
    ]
    if held_out is not None:
        cards.append(_error_card("Error, held out", held_out))
    classes = words.count(len(result.estimator.classes_), "class", "classes")
    return [
        *cards,
        _choice_card(result),
        card("Samples", f"{result.n_samples:,}", f"in {classes}"),
    ]


def _error_card(
    label: str, estimate: ErrorEstimate | None, balanced: float | None = None
) -> dict[str, Any]:
    details = [] if balanced is None else [f"balanced: {words.percent(balanced)}"]
    if estimate is None:
        return card(label, "unknown", "not estimated", *details)
    interval = f"95\u00a0%: {words.interval(estimate)}"
    return card(label, words.percent(estimate.error), interval, *details)


def _choice_card(result: FitResult) -> dict[str, Any]:
    label = "Choice of k"
    if result.k_rule == ONE_SE:
        return card(label, "1-SE rule", "fewest features within one standard error")
    if result.k_rule == GIVEN:
        return card(label, "given", "not chosen from these data")
    return card(label, f"k\u00a0=\u00a0{result.k}", printable(result.k_rule))


def _path(result: FitResult) -> dict[str, Any]:
    """The curve of error against k with its numbers, or the reason why there is none."""
    if result.cv is None:
        return {"figure": None, "why": words.why_no_error(result), "caption": "", "rows": []}
    display = CVPathDisplay.from_cv(result.cv, result.k).plot()
    label = (
        f"Cross-validated error against the number of features, from {result.cv.ks[0]} to "
        f"{result.cv.ks[-1]}; chosen: {result.k}. The numbers are in the table below."
    )
    columns = ("error", "se", "balanced_error")
    rows = [
        {"k": int(row["k"]), "chosen": row["k"] == result.k}
        | {column: words.percent(row[column]) for column in columns}
        for row in result.cv.table()
    ]
    figure = inline_svg(display.figure_, "path", label)
    return {"figure": figure, "why": "", "caption": words.path_caption(result), "rows": rows}


def _features(result: FitResult) -> dict[str, Any]:
    display = LoadingsDisplay.from_result(result).plot()
    label = "Bars of the loadings of the selected features. The numbers are in the table."
    rows = [
        {
            "rank": feature.rank,
            "name": printable(feature.name),
            "loadings": [words.number(value) for value in feature.loadings],
            "weight": words.number(feature.weight),
        }
        for feature in result.selected
    ]
    shares = [words.percent(r) for r in result.estimator.explained_variance_ratio_]
    return {
        "figure": inline_svg(display.figure_, "loadings", label),
        "rows": rows,
        "directions": result.estimator.scalings_.shape[1],
        "shares": shares[:MOST_SHARES] + ["…"] * (len(shares) > MOST_SHARES),
    }


def _samples(result: FitResult) -> dict[str, Any]:
    display = ProjectionDisplay.from_result(result).plot()
    classes = words.class_counts(result)
    label = f"The {result.n_samples} training samples of {len(classes)} classes, by their scores."
    figure: Markup = inline_svg(display.figure_, "samples", label)
    return {"figure": figure, "classes": classes}
