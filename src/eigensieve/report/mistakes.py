"""Which classes are taken for which, on samples that had no part in the fit."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots._style import printable, short_names
from ..studies.nested import HonestError
from ..studies.result import Study
from . import words
from .words_error import outer_choices

MAX_COLUMNS = 16  # a matrix of more classes is no longer read
HEADER = 14  # characters of a class above its column


def list_mistakes(study: Study) -> dict[str, Any] | None:
    """The confusion matrix with recalls, or a list where it would be too wide."""
    found = study.honest_error
    if found is None:
        return None
    classes = [printable(label) for label in found.classes]
    return {
        "is_matrix": len(classes) <= MAX_COLUMNS,
        "columns": short_names(classes, HEADER),
        "rows": [_row(found, classes, i) for i in range(len(classes))],
        "is_mean": not all(map(_is_whole, found.confusion.ravel().tolist())),
        "cards": {
            "balanced": words.percent(found.balanced_error),
            "auc": words.decimals(found.auc),
        },
        "chosen": outer_choices(study),
    }


def _row(found: HonestError, classes: list[str], i: int) -> dict[str, Any]:
    counts = found.confusion[i]
    total = float(counts.sum())
    wrong = np.where(np.arange(counts.size) == i, 0.0, counts)
    most = int(np.argmax(wrong))
    return {
        "name": classes[i],
        "cells": [
            {"text": tally(n), "share": f"{n / total if total else 0.0:.2f}", "own": j == i}
            for j, n in enumerate(counts.tolist())
        ],
        "total": tally(total),
        "recall": words.percent_or_dash(float(counts[i]) / total if total else None),
        "mostly": f"{classes[most]} ({tally(float(wrong[most]))})" if wrong[most] > 0 else "",
    }


def tally(n: float) -> str:
    """A count, with a decimal if it is a mean over repeats; 0 as a dot that does not shout."""
    if n == 0:
        return "·"
    return f"{n:,.0f}" if _is_whole(n) else f"{n:,.1f}"


def _is_whole(n: float) -> bool:
    """Sums of thirds and fifths are whole but for rounding."""
    return abs(n - round(n)) < 1e-9
