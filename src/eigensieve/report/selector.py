"""A fitted Q-alpha selector as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from ..errors import InputError
from ..plots import AlphaDisplay
from ..plots._style import printable
from ..q_alpha.null import LEVEL
from .figures import inline_svg
from .shared import render_page
from .words import significant

MAX_ROWS = 200
ENOUGH_FOR_A_BAND = 20  # permutations


def render_selector_report(
    selector: Any, *, names: Sequence[str] | None = None, title: str | None = None
) -> str:
    """The report as HTML: the same bytes for the same selector, so no times."""
    if not hasattr(selector, "alpha_"):
        raise InputError(f"{selector!r} is no QAlphaSelector that was fitted")
    k = int(np.sum(selector.support_))
    return render_page(
        "selector.html.j2",
        title=printable(title or "Features selected by Q-alpha"),
        notices=[],
        selector=selector,
        k=k,
        test=_test(selector, k),
        cards=[],
        figure=_figure(selector),
        features=_features(selector, _names(selector, names)),
    )


def _names(selector: Any, names: Sequence[str] | None) -> Sequence[str]:
    p = selector.n_features_in_
    if names is None:
        return getattr(selector, "feature_names_in_", [f"feature {j}" for j in range(p)])
    if len(names) != p:
        raise InputError(f"there are {len(names)} names for {p} features: give one for each")
    return names


def _test(selector: Any, k: int) -> dict[str, Any] | None:
    """What the comparison with permuted features says; None without one."""
    null = selector.null_
    if null is None:
        return None
    passing = null.passing()
    largest = np.sort(selector.alpha_[selector.support_])[::-1]
    n_above = int(np.sum(largest > null.upper[: largest.size]))
    # noise puts 2.5 % of the values above the band: half of them in 1 case of 20 at most, if
    # the runs are enough to know such a point
    known = null.n_permutations >= ENOUGH_FOR_A_BAND
    return {
        "n_passing": int(np.sum(passing)),
        "n_selected": int(np.sum(passing & selector.support_)),
        "n_above": n_above,
        "is_above_band": known and 2 * n_above >= k > 0,
        "level": LEVEL,
    }


def _figure(selector: Any) -> Markup:
    display = AlphaDisplay.from_estimator(selector).plot()
    what = "The sorted alpha of all features" + (
        "." if selector.null_ is None else ", and the band that permuted features give."
    )
    label = f"{what} The numbers of the selected features are in the table below."
    return inline_svg(display.figure_, "alpha", label)


def _features(selector: Any, names: Sequence[str]) -> dict[str, Any]:
    """The table of the selected features, those with the largest alpha first."""
    by_rank = np.argsort(-selector.alpha_, kind="stable")
    places = np.flatnonzero(selector.support_[by_rank])
    shown = by_rank[places[:MAX_ROWS]]
    rows: list[dict[str, Any]] = [
        {
            "rank": f"{place + 1:,}",
            "name": printable(names[j]),
            "alpha": significant(selector.alpha_[j]),
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
    # slow to import
    from scipy.stats import false_discovery_control

    rates, passes = np.asarray(false_discovery_control(null.p_values)), null.passing()
    return [
        {
            "band": f"{significant(null.lower[i])} to {significant(null.upper[i])}",
            "p_value": significant(null.p_values[j], 2),
            "adjusted": significant(rates[j], 2),
            "grey": not passes[j],
        }
        for i, j in zip(places.tolist(), shown.tolist())
    ]
