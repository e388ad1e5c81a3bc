"""A study as one self-contained HTML page."""

from __future__ import annotations

from typing import Any

from ..plots._style import printable
from ..studies.copies import describe_copies
from ..studies.cv_path import GIVEN, ONLY, OWN
from ..studies.estimates import ErrorEstimate
from ..studies.nested import HonestError
from ..studies.result import Study
from . import sections, words, words_error, words_sets
from .explorer import SCRIPT, show_every_k
from .facts import chosen_index, chosen_solution, is_balanced, is_forced, n_classes, n_used
from .glossary import explain_words
from .mistakes import list_mistakes
from .shared import card, render_page
from .words_methods import methods


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
    every_k = show_every_k(study)
    told = describe_copies(study.copies)  # beside the features
    return render_page(
        "study.html.j2",
        script=None if every_k is None else SCRIPT,
        title=printable(title or words_error.title(study)),
        notices=[printable(words.upper_first(text)) for text in study.unfinished],
        lead=[words_error.found_sentence(study), words_error.error_sentence(study)],
        findings=findings(study, held_out),
        cards=_cards(study, held_out),
        curve=sections.curve(study),
        every_k=every_k,
        features=sections.features(study),
        mistakes=list_mistakes(study),
        samples=sections.samples(study),
        stability=sections.stability(study),
        chance=sections.chance(study),
        optimality=sections.optimality(study),
        notes=[printable(note) for note in study.notes if note not in told],
        methods=methods(study, command, held_out),
        glossary=explain_words(study),
    )


def findings(study: Study, held_out: ErrorEstimate | None = None) -> list[str]:
    """What else to know, most important first."""
    sentences = [
        "" if held_out is None else words_error.held_out_sentence(held_out),
        words_error.baseline_sentence(study),
        *words_error.balanced_sentences(study),
        words_error.null_sentence(study),
        words_error.choice_sentence(study),
        *_of_the_set(study),
    ]
    return [sentence for sentence in sentences if sentence]


def _of_the_set(study: Study) -> list[str]:
    if is_forced(study):
        return [words_sets.FORCED]
    return [words_sets.stability_sentence(study), *words_sets.optimality(study)]


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
    if study.chose_k:
        by = "by the balanced error: " if is_balanced(study) else ""
        return card(label, "1-SE rule", f"{by}fewest features within one standard error")
    if study.k_rule == GIVEN:
        return card(label, "given", "not chosen from these data")
    if study.k_rule == ONLY:
        return card(label, "none", ONLY)
    if study.k_rule == OWN:
        return card("Number of features", "by the method", "not chosen by cross-validation")
    return card(label, f"k\u00a0=\u00a0{study.best_k}", printable(study.k_rule))


def _stability_card(study: Study) -> list[dict[str, Any]]:
    index = chosen_index(study)
    if index is None:
        return []
    meaning = words_sets.ALL_KEPT if is_forced(study) else "1: always the same features"
    return [card("Stability index", words.decimals(index.index, 2), meaning)]


def _room_card(study: Study) -> dict[str, Any]:
    value, meaning = words_sets.room(chosen_solution(study))
    if is_forced(study):
        value, meaning = "none", words_sets.ALL_KEPT
    elif words_sets.is_far(chosen_solution(study)):
        value, meaning = "large", "the proved bound lies far above"
    return card("Room for a better set", value, meaning)
