"""A fitted Q-alpha selector as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..plots import AlphaDisplay
from ..plots._style import printable
from . import selector_words as words
from .figures import inline_svg
from .glossary import explain_selector
from .shared import card, render_page

MAX_ROWS = 200


def render_selector_report(
    selector: Any, *, names: Sequence[str] | None = None, title: str | None = None
) -> str:
    """The report as HTML: the same bytes for the same selector, so no times."""
    if not hasattr(selector, "alpha_"):
        raise InputError(f"{selector!r} is no QAlphaSelector that was fitted")
    return render_page(
        "selector.html.j2",
        title=printable(title or "Features selected by Q-alpha"),
        lead=words.lead(selector),
        findings=words.findings(selector),
        notices=[],
        cards=_cards(selector),
        alpha=_alpha(selector),
        features=_features(selector, _names(selector, names)),
        course=_course(selector),
        methods=words.methods(selector),
        glossary=explain_selector(selector),
    )


def _names(selector: Any, names: Sequence[str] | None) -> Sequence[str]:
    p = selector.n_features_in_
    if names is None:
        return getattr(selector, "feature_names_in_", [f"feature {j}" for j in range(p)])
    if len(names) != p:
        raise InputError(f"there are {len(names)} names for {p} features: give one for each")
    return names


def _cards(selector: Any) -> list[dict[str, Any]]:
    k = words.n_selected(selector)
    return [
        card("Features selected", f"{k:,}", f"of {selector.n_features_in_:,}"),
        _evidence_card(selector),
        card("Choice of k", words.cut_name(selector)),
        _groups_card(selector),
    ]


def _evidence_card(selector: Any) -> dict[str, Any]:
    label = "More than chance"
    if selector.null_ is None:
        return card(label, "not tested", "no null was computed")
    n = np.sum(selector.null_.passing() & selector.support_)
    return card(label, f"{n:,}", f"of {words.n_selected(selector):,} selected")


def _groups_card(selector: Any) -> dict[str, Any]:
    groups = f"in {words.groups(selector)}"
    if words.is_kernel_matrix(selector):
        return card("Samples", "unknown", groups)
    return card("Samples", f"{selector.n_samples_:,}", groups)


def _alpha(selector: Any) -> dict[str, Any]:
    display = AlphaDisplay.from_estimator(selector).plot()
    what = "The sorted alpha of all features" + (
        "." if selector.null_ is None else ", and the band that permuted features give."
    )
    label = f"{what} The numbers of the selected features are in the table below."
    figure = inline_svg(display.figure_, "alpha", label)
    n_above = None if selector.null_ is None else words.n_above(selector)
    return {"figure": figure, "n_above": n_above, "n_selected": words.n_selected(selector)}


def _features(selector: Any, names: Sequence[str]) -> dict[str, Any]:
    """The table of the selected features, those with the largest alpha first."""
    by_rank = np.argsort(-selector.alpha_, kind="stable")
    places = np.flatnonzero(selector.support_[by_rank])
    shown = by_rank[places[:MAX_ROWS]]
    rows: list[dict[str, Any]] = [
        {
            "rank": f"{place + 1:,}",
            "name": printable(names[j]),
            "alpha": words.significant(selector.alpha_[j]),
            "grey": False,
        }
        for place, j in zip(places.tolist(), shown.tolist())
    ]
    if selector.null_ is not None:
        for row, more in zip(rows, _null_rows(selector, places, shown)):
            row |= more
    return {
        "rows": rows,
        "tested": selector.null_ is not None,
        "any_grey": any(row["grey"] for row in rows),
        "n_left_out": places.size - shown.size,
    }


def _null_rows(selector: Any, places: np.ndarray, shown: np.ndarray) -> list[dict[str, Any]]:
    null = selector.null_
    rates, passes = words.adjusted(selector), null.passing()
    return [
        {
            "band": f"{words.significant(null.lower[i])} to {words.significant(null.upper[i])}",
            "p_value": words.significant(null.p_values[j], 2),
            "adjusted": words.significant(rates[j], 2),
            "grey": not passes[j],
        }
        for i, j in zip(places.tolist(), shown.tolist())
    ]


def _course(selector: Any) -> dict[str, Any]:
    rows = [
        (i, words.significant(value, 8)) for i, value in enumerate(selector.solution_.history, 1)
    ]
    return {
        "rows": rows,
        "first": words.significant(selector.solution_.history[0], 6),
        "last": words.significant(selector.solution_.history[-1], 6),
        "cycles": words.cycles(selector),
        "converged": selector.converged_,
        "n_starts": selector.n_init_,
    }
