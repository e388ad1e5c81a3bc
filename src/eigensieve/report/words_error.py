"""What the pages say of errors: their size, where they come from, and what chance would give."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..plots._style import printable, shorten
from ..studies.cv_path import GIVEN, OWN
from ..studies.estimates import ErrorEstimate
from ..studies.result import Study
from .facts import baseline, beats_guess, class_counts, is_balanced, n_classes, n_used, separates
from .words import count, interval, listed, percent, upper_first

HELD_OUT = "held-out samples"
WORSE = 1.25  # a balanced error so many times the error, and so much above it, is put in words
WORSE_BY = 0.03
SURE = 0.05
MIN_CHOICES = 3  # fewer than that: agreement tells little


def title(study: Study) -> str:
    """What the page is about, no stronger than the error allows."""
    n = n_used(study)
    classes = [shorten(name, 40) for name, _, _ in class_counts(study)]
    verb = "tells" if n == 1 else "tell"
    what = f"{len(classes):,} classes apart" if len(classes) != 2 else " from ".join(classes)
    if separates(study):
        does = f"that {verb} {what}"
    elif beats_guess(study):
        does = f"that {'helps' if n == 1 else 'help'} to tell {what}"
    else:
        does = f"selected to tell {what}"
    return f"“{study.source.target}”: {count(n, 'feature')} {does}"


def found_sentence(study: Study) -> str:
    """What was found; "separate" only where the error is well below that of a guess."""
    n = n_used(study)
    features = f"{n:,} of {count(len(study.names), 'feature')}"
    classes = count(n_classes(study), "class", "classes")
    samples = f"in {count(study.n_samples, 'sample')}"
    if separates(study):
        return f"{features} {'separates' if n == 1 else 'separate'} {classes} {samples}."
    if beats_guess(study):
        verb = "predicts" if n == 1 else "predict"
        return f"{features} {verb} the {classes} better than guessing, {samples}."
    selected = f"{features} {'was' if n == 1 else 'were'} selected to tell {classes} apart"
    # a balanced error is not to be compared with guessing the largest class
    if study.honest_error is None or is_balanced(study):
        return f"{selected} {samples}."
    if study.honest_error.low > baseline(study):
        return f"{selected}; the error is larger than that of guessing."
    return f"{selected}; the error cannot be told from guessing."


def error_sentence(study: Study) -> str:
    """The error with its interval, or why there is none."""
    found = study.honest_error
    if found is None:
        return why_no_error(study)
    return (
        f"Error on new samples: {percent(found.error)} "
        f"(95\u00a0% interval {interval(found)}), by {how(study)}."
    )


def how(study: Study) -> str:
    """Where the error comes from, to follow "by"."""
    assert study.honest_error is not None
    return printable(study.honest_error.how).replace(", ", " with ", 1)


def why_no_error(study: Study) -> str:
    """The note of the study that says so."""
    reasons = [note for note in study.notes if note.startswith("No error estimate")]
    return printable(reasons[0]) if reasons else "No error estimate was made."


def held_out_sentence(held_out: ErrorEstimate) -> str:
    """The error on samples that were never shown to the study."""
    source = "" if held_out.how in ("", HELD_OUT) else f"; {printable(held_out.how)}"
    return (
        f"Error on {count(held_out.n_samples, 'held-out sample')}: {percent(held_out.error)} "
        f"(95\u00a0% interval {interval(held_out)}){source}."
    )


def baseline_sentence(study: Study) -> str:
    """An error means little without the error of a guess."""
    rate = percent(baseline(study))
    return f"Always guessing the largest class would be wrong for {rate} of these samples."


def balanced_sentences(study: Study) -> list[str]:
    """The balanced error, where it says something that the error does not."""
    found = study.honest_error
    if found is None:
        return []
    value = percent(found.balanced_error)
    if is_balanced(study):
        guess = percent(1 - 1 / n_classes(study))
        return [f"Balanced error, in which every class counts alike: {value} (guessing: {guess})."]
    if found.balanced_error > max(WORSE * found.error, found.error + WORSE_BY - 1e-12):
        text = "Small classes fare worse: the balanced error, in which every class counts alike, is"
        return [f"{text} {value}."]
    return []


def choice_sentence(study: Study) -> str:
    """How the number of features was chosen."""
    k = f"k\u00a0=\u00a0{study.best_k}"
    if study.chose_k:
        last = study.best_k == max(study.ks) < len(study.names) and len(study.ks) > 1
        more = " It is the largest that was tried: more features might do better." if last else ""
        return f"{k} is the {study.k_rule}.{more}"
    if study.k_rule == GIVEN:
        return f"{k} was {GIVEN}."
    if study.k_rule == OWN:
        return f"{upper_first(count(study.best_k, 'feature'))}: {OWN}."
    return f"{k}: {printable(study.k_rule)}."


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
    folds = count(len(found.chosen), "outer part")
    return f"The {folds} of the nested check chose {listed(parts)}. {_agreement(study, set(times))}"


def _choice(study: Study, setting: int, size: int) -> str:
    """What one outer part chose: a k, a setting or both."""
    name = shorten(study.settings[setting], 60)
    if not study.chose_k:
        return name
    k = f"k\u00a0=\u00a0{study.ks[size]}"
    return f"{k} with {name}" if len(study.settings) > 1 else k


def _agreement(study: Study, chosen: set[tuple[int, int]]) -> str:
    """What it means that the outer parts agree, or not."""
    if len(chosen) > 1:
        return "That they differ shows how loosely these data decide the choice."
    ((_, size),) = chosen
    if study.chose_k and size == len(study.ks) - 1:
        return "They agree on the largest k that was tried, so more features might do better."
    if len(study.settings) * (len(study.ks) if study.chose_k else 1) < MIN_CHOICES:
        return "They agree, but there was little to choose from."
    return "They agree: the choice does not hinge on the samples of a single part."


def null_sentence(study: Study) -> str:
    """What permuted labels say, "" where none were tried."""
    null = study.null
    if null is None:
        return ""
    n = count(null.n_permutations, "permutation")
    p = p_value(study)
    better = int(np.sum(null.errors <= null.observed + 1e-12))
    what = f"permuted labels were predicted as well in {better:,} of {n}"
    if null.p_value <= SURE:
        return f"More than chance (p\u00a0=\u00a0{p}): {what}."
    if better == 0:
        return (
            f"No permutation of the labels was predicted as well, but {n} are too few to be sure "
            f"(p\u00a0=\u00a0{p})."
        )
    return f"Not surely more than chance (p\u00a0=\u00a0{p}): {what}."


def p_value(study: Study) -> str:
    """Two digits."""
    assert study.null is not None
    return f"{study.null.p_value:.2g}"
