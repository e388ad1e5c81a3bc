"""What the pages say of errors: their size, where they come from, and what chance would give."""

from __future__ import annotations

from collections import Counter

import numpy as np

from ..plots._style import printable, shorten
from ..studies.cv_path import GIVEN, ONE_SE, OWN
from ..studies.estimates import ErrorEstimate
from ..studies.result import Study
from .facts import baseline, is_balanced, n_classes, n_used, separates
from .words import count, interval, listed, percent, upper_first

HELD_OUT = "held-out samples"
WORSE = 1.25  # a balanced error so many times the error, and so much above it, is put in words
WORSE_BY = 0.03
SURE = 0.05


def found_sentence(study: Study) -> str:
    """What was found; "separate" only where the error is surely below that of a guess."""
    n = n_used(study)
    features = f"{n:,} of {count(len(study.names), 'feature')}"
    classes = count(n_classes(study), "class", "classes")
    samples = f"in {count(study.n_samples, 'sample')}"
    if separates(study):
        return f"{features} {'separates' if n == 1 else 'separate'} {classes} {samples}."
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
    if study.k_rule == ONE_SE:
        rule = ONE_SE
        if is_balanced(study):
            rule = ONE_SE.replace("cross-validated error", "cross-validated balanced error")
        last = study.best_k == max(study.ks) < len(study.names) and len(study.ks) > 1
        more = " It is the largest that was tried: more features might do better." if last else ""
        return f"{k} is the {rule}.{more}"
    if study.k_rule == GIVEN:
        return f"{k} was {GIVEN}."
    if study.k_rule == OWN:
        return f"{upper_first(count(study.best_k, 'feature'))}: {OWN}."
    return f"{k}: {printable(study.k_rule)}."


def curve_caption(study: Study) -> str:
    """What to know of the curve; where k was chosen, why it is not the error above."""
    caption = (
        "The balanced error counts every class alike. Features were selected anew in every "
        "training part."
    )
    if study.k_rule != ONE_SE:
        return caption
    kind = "The curve helped to choose k, so its value at the chosen k is a little kind"
    if study.honest_error is None:
        return f"{caption} {kind}."
    honest = "the error above comes from samples that had no part in the choice"
    return f"{caption} {kind}; {honest}."


def outer_choices(study: Study) -> str:
    """What the outer folds of the nested check chose; "" where nothing was chosen."""
    found = study.honest_error
    if found is None or not found.chosen:
        return ""
    several = len(study.settings) > 1
    times = Counter(found.chosen)
    parts = []
    for setting, size in sorted(times, key=lambda pair: (-times[pair], pair[1], pair[0])):
        name = f" with {shorten(study.settings[setting], 60)}" if several else ""
        once = "once" if times[setting, size] == 1 else f"{times[setting, size]} times"
        parts.append(f"k\u00a0=\u00a0{study.ks[size]}{name} ({once})")
    folds = count(len(found.chosen), "outer part")
    end = (
        "They agree: the choice hardly depends on single samples."
        if len(times) == 1
        else "That they differ shows how loosely these data decide the choice."
    )
    return f"The {folds} of the nested check chose {listed(parts)}. {end}"


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
