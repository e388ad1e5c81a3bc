"""A study as one self-contained HTML page."""

from __future__ import annotations

from ..plots._style import printable, shorten
from ..plots.loadings import sides_of
from ..studies.copies import describe_copies
from ..studies.estimates import ErrorEstimate
from ..studies.result import Study
from . import facts, sections, words
from .facts import (
    class_counts,
    n_used,
)
from .mistakes import list_mistakes
from .shared import render_page

SCRIPT = "explorer.js"  # a slider over every k, where scripts run


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
        cards=[],
        figures=sections.draw_all(study),
        sides=sides_of(study),
        copies=[printable(text) for text in told],
        mistakes=list_mistakes(study),
        notes=[printable(note) for note in study.notes if note not in told],
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
