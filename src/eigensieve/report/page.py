"""A study as one self-contained HTML page."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..plots._style import printable, short_names, shorten
from ..plots.loadings import sides_of
from ..studies.copies.features import describe_copies
from ..studies.estimates import ErrorEstimate
from ..studies.result import Study
from . import facts, panels, sections, words
from .facts import (
    class_counts,
    n_used,
)
from .shared import render_page

SCRIPT = "explorer.js"  # a slider over every k, where scripts run
MAX_COLUMNS = 16  # a matrix of more classes is no longer read
MIN_CHOICES = 3  # fewer than that: agreement tells little
HEADER = 14  # characters of a class above its column


def render_study(
    study: Study,
    *,
    title: str | None = None,
    command: str | None = None,
    held_out: ErrorEstimate | None = None,
    proof: Any = None,
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
    proof : optional
        Of the selected set, if one was written: its ``command`` checks it, and its ``less`` says
        what it shows where that is less than what is known, else None.
    """
    told = describe_copies(study.copies)  # beside the features
    near = panels.of_study(study)
    return render_page(
        "study.html.j2",
        scripts=[*[SCRIPT][: len(study.ks) > 1], *([] if near is None else near["scripts"])],
        title=printable(title or describe(study)),
        notices=[printable(words.upper_first(text)) for text in study.unfinished],
        study=study,
        facts=facts,
        held_out=held_out,
        command=command,
        proof=proof,
        cards=[],
        figures=sections.draw_all(study),
        sides=sides_of(study),
        near=near,
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


def list_mistakes(study: Study) -> dict[str, Any] | None:
    """The confusion matrix with recalls, or a list where it would be too wide."""
    found = study.honest_error
    if found is None:
        return None
    classes = [printable(label) for label in found.classes]
    return {
        "is_matrix": len(classes) <= MAX_COLUMNS,
        "columns": short_names(classes, HEADER),
        "classes": classes,
        "counts": found.confusion.tolist(),
        "is_mean": not all(map(words.is_whole, found.confusion.ravel().tolist())),
        "chosen": outer_choices(study),
    }


def outer_choices(study: Study) -> str:
    """What the outer folds of the nested check chose; "" where nothing was chosen."""
    found = study.honest_error
    if found is None or not found.chosen:
        return ""
    times = Counter(found.chosen)
    parts = []
    for pair in sorted(times, key=lambda pair: (-times[pair], pair[1], pair[0])):
        once = "once" if times[pair] == 1 else f"{times[pair]} times"
        parts.append(f"{_choice(study, *pair)} ({once})")
    n = len(found.chosen)
    outer = "The outer part" if n == 1 else f"The {n} outer parts"
    final = study.settings.index(study.setting), study.ks.index(study.best_k)
    chose = f"{outer} of the nested check chose {words.listed(parts)}"
    return f"{chose}; the final model has {_choice(study, *final)}. {_agreement(study, final)}"


def _choice(study: Study, setting: int, size: int) -> str:
    """What one outer part chose: a k, a setting or both."""
    name = shorten(study.settings[setting], 60)
    if not study.chose_k:
        return name
    k = f"k\u00a0=\u00a0{study.ks[size]}"
    return f"{k} with {name}" if len(study.settings) > 1 else k


def _agreement(study: Study, final: tuple[int, int]) -> str:
    """What it means that the outer parts agree with each other and with the final choice."""
    assert study.honest_error is not None
    chosen = study.honest_error.chosen
    same = sum(pair == final for pair in chosen)
    if len(set(chosen)) > 1:
        beside = "" if same else ", and that none made the final choice,"
        return f"That they differ{beside} shows how much the choice depends on the samples."
    if same == 0:
        others = "It differs" if len(chosen) == 1 else "They agree, but differ"
        return (
            f"{others} from the final choice, which saw all samples: the error is that of the "
            "procedure, not of models like the final one."
        )
    agree = "It agrees" if len(chosen) == 1 else "They agree"
    if study.chose_k and final[1] == len(study.ks) - 1 and facts.is_largest_k(study):
        return f"{agree} on the largest k that was tried, so more features might do better."
    if len(study.settings) * (len(study.ks) if study.chose_k else 1) < MIN_CHOICES:
        return f"{agree}, but there was little to choose from."
    if len(chosen) == 1:
        return "It agrees with the final choice."
    return "They agree: the choice does not hinge on the samples of a single part."
