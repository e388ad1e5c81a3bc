"""A study as one self-contained HTML page."""

from __future__ import annotations

from typing import Any

from ..plots._style import printable, shorten
from ..plots.loadings import sides_of
from ..studies.copies import describe_copies
from ..studies.cv_path import ONLY
from ..studies.estimates import ErrorEstimate
from ..studies.nested import HonestError
from ..studies.result import Study
from . import facts, sections, words
from .facts import (
    chosen_index,
    chosen_solution,
    class_counts,
    is_balanced,
    is_forced,
    n_classes,
    n_used,
)
from .glossary import explain_words
from .mistakes import list_mistakes
from .shared import card, render_page

SCRIPT = "explorer.js"  # a slider over every k, where scripts run
ALL_KEPT = "all kept in by the user"


def render_study(
    study: Study,
    *,
    title: str | None = None,
    command: str | None = None,
    held_out: ErrorEstimate | None = None,
) -> str:
    """The report as HTML: no network, the same bytes for the same study.

    Parameters
    ----------
    study : Study
    title : str, optional
    command : str, optional
        The command line that made the study, shown with the parameters.
    held_out : ErrorEstimate, optional
        The error on samples that were never shown to the study.
    """
    told = describe_copies(study.copies)  # beside the features
    return render_page(
        "study.html.j2",
        script=SCRIPT if len(study.ks) > 1 else None,
        title=printable(title or describe(study)),
        notices=[printable(words.upper_first(text)) for text in study.unfinished],
        study=study,
        facts=facts,
        held_out=held_out,
        command=command,
        cards=_cards(study, held_out),
        figures=sections.draw_all(study),
        sides=sides_of(study),
        copies=[printable(text) for text in told],
        mistakes=list_mistakes(study),
        notes=[printable(note) for note in study.notes if note not in told],
        glossary=explain_words(study),
    )


def describe(study: Study) -> str:
    """What the page is about, no stronger than the error allows."""
    n = n_used(study)
    classes = [shorten(name, 40) for name, _, _ in class_counts(study)]
    verb = "tells" if n == 1 else "tell"
    what = f"{len(classes):,} classes apart" if len(classes) != 2 else " from ".join(classes)
    if facts.separates(study):
        does = f"that {verb} {what}"
    elif facts.beats_guess(study):
        does = f"that {'helps' if n == 1 else 'help'} to tell {what}"
    else:
        does = f"selected to tell {what}"
    return f"“{study.source.target}”: {words.count(n, 'feature')} {does}"


def _cards(study: Study, held_out: ErrorEstimate | None) -> list[dict[str, Any]]:
    cards = [
        card("Features selected", f"{n_used(study):,}", f"of {len(study.names):,}"),
        _error_card("Error, new samples", study.honest_error, study.balanced_error),
    ]
    if held_out is not None:
        cards.append(_error_card("Error, held out", held_out))
    classes = words.count(n_classes(study), "class", "classes")
    return [
        *cards,
        _choice_card(study),
        *_stability_card(study),
        _room_card(study),
        card("Samples", f"{study.n_samples:,}", f"in {classes}"),
    ]


def _error_card(
    label: str, estimate: ErrorEstimate | HonestError | None, balanced: float | None = None
) -> dict[str, Any]:
    details = [] if balanced is None else [f"balanced: {words.percent(balanced)}"]
    if estimate is None:
        return card(label, "unknown", "not estimated", *details)
    interval = f"95\u00a0%: {words.interval(estimate)}"
    return card(label, words.percent(estimate.error), interval, *details)


def _choice_card(study: Study) -> dict[str, Any]:
    label = "Choice of k"
    how = facts.how_chosen(study)
    if how == "rule":
        by = "by the balanced error: " if is_balanced(study) else ""
        return card(label, "1-SE rule", f"{by}fewest features within one standard error")
    if how == "given":
        return card(label, "given", "not chosen from these data")
    if study.k_rule == ONLY:
        return card(label, "none", ONLY)
    if how == "own":
        return card("Number of features", "by the method", "not chosen by cross-validation")
    return card(label, f"k\u00a0=\u00a0{study.best_k}", printable(study.k_rule))


def _stability_card(study: Study) -> list[dict[str, Any]]:
    index = chosen_index(study)
    if index is None:
        return []
    meaning = ALL_KEPT if is_forced(study) else "1: always the same features"
    return [card("Stability index", words.decimals(index.index, 2), meaning)]


def _room_card(study: Study) -> dict[str, Any]:
    value, meaning = facts.room(chosen_solution(study))
    if is_forced(study):
        value, meaning = "none", ALL_KEPT
    elif facts.is_far(chosen_solution(study)):
        value, meaning = "large", "the proved bound lies far above"
    return card("Room for a better set", value, meaning)
