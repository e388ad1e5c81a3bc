"""Every k of a study as a panel of its own; a slider goes through them where scripts run."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..plots._style import printable
from ..studies.result import Study
from . import words
from .facts import frequencies, is_balanced, mark_of_k, room, solutions
from .shared import card

MAX_FEATURES = 60
SCRIPT = "explorer.js"


def show_every_k(study: Study) -> dict[str, Any] | None:
    """The panels, or None where there is one k only."""
    if len(study.ks) < 2:
        return None
    panels = [_panel(study, i) for i in range(len(study.ks))]
    return {"panels": panels, "chosen": study.ks.index(study.best_k)}


def _panel(study: Study, place: int) -> dict[str, Any]:
    k = study.ks[place]
    chosen = k == study.best_k
    names, n_more = _features(study, k)
    mark = mark_of_k(study) if chosen else ""
    return {
        "label": f"k\u00a0=\u00a0{k}{f' ({mark})' if mark else ''}",
        "brief": _brief(study, place),
        "chosen": chosen,
        "cards": _cards(study, place),
        "features": names,
        "known": k in study.path,
        "n_more": n_more,
    }


def _brief(study: Study, place: int) -> str:
    """The panel in a few words, for the line that opens it."""
    if study.cv is None:
        return ""
    row = study.rows[place]
    return f"{_score_name(study).lower()} {words.percent(row[study.score])}"


def _score_name(study: Study) -> str:
    return "Balanced error" if is_balanced(study) else "Error"


def _cards(study: Study, place: int) -> list[dict[str, Any]]:
    cards = []
    if study.cv is not None:
        row = study.rows[place]
        se = f"±\u00a0{words.percent(row['se'])} (SE)"
        labels = {"error": "Error", "balanced_error": "Balanced error"}
        main, other = sorted(labels, key=lambda name: name != study.score)
        cards += [
            card(labels[main], words.percent(row[main]), se),
            card(labels[other], words.percent(row[other])),
            card("AUC", words.decimals(row["auc"])),
        ]
    if study.indices:
        index = study.indices[place]
        known = not np.isnan(index.index)
        ends = f"95\u00a0%: {words.decimals(index.low, 2)} to {words.decimals(index.high, 2)}"
        details = [ends] if known else ["not defined"]
        cards.append(card("Stability index", words.decimals(index.index, 2), *details))
    value, meaning = room(solutions(study).get(study.ks[place]))
    return [*cards, card("Room for a better set", value, meaning)]


def _features(study: Study, k: int) -> tuple[list[dict[str, Any]], int]:
    """The features of a k, the heaviest first, and how many are not listed."""
    if k not in study.path:
        return [], 0
    selected, shares = study.features_at(k), frequencies(study, k)
    rows = [
        {
            "name": printable(feature.name),
            "share": "" if shares is None else words.whole_percent(shares[feature.index]),
        }
        for feature in selected[:MAX_FEATURES]
    ]
    return rows, len(selected) - len(rows)
