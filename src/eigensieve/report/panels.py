"""Panels as good as the best one: what the section of a page shows, and a page of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from ..pencil.wording import ROUND_OFF, percent
from ..plots._style import printable, short_names
from ..search.near_optimal import words as say
from ..search.near_optimal.sets import NearOptimalSets
from ..studies.result import Study
from .exchanges import MAX_EDGES, ExchangeDisplay
from .facts import CRITERION_NAMES
from .figures import drawn
from .shared import card, render_page
from .words import count, whole_percent

SCRIPT = "panels.js"  # a feature is pressed: the panels without it
MAX_ROWS = 50  # panels
MAX_COLUMNS = 40  # features, in the matrix
MAX_CORE = 12  # features in all panels that have columns of their own
MAX_BARS = 60
HEADER = 22  # characters above a column
MAX_NAMES = 6  # features named in a cell


def of_study(study: Study) -> dict[str, Any] | None:
    """The section of a study's page; None where there is no list."""
    found = study.near_optimal
    if found is None:
        return None
    chosen = [feature.index for feature in study.selected]
    section = show(found, study.near_stability, chosen)
    section["facts"][1:1] = _about_selected(study, found)
    return section


def show(
    found: NearOptimalSets,
    stability: np.ndarray | None = None,
    chosen: Sequence[int] | None = None,
) -> dict[str, Any]:
    """What the section shows.

    Parameters
    ----------
    found : NearOptimalSets
    stability : array (n_sets,), optional, how stable every panel is
    chosen : features, optional, of the panel to be marked
    """
    columns, n_joined = _columns(found)
    place = None if chosen is None else say.place_of(found, chosen)
    return {
        "found": found,
        "scripts": [SCRIPT][: found.n_sets > 1],  # of one panel there is nothing to show
        "share": _text(say.share(found)),
        "facts": [_text(sentence) for sentence in say.describe(found)] + _stable(stability),
        "columns": [_feature(found, j) for j in columns],
        "headers": short_names([found.name_of(j) for j in columns], HEADER),
        "n_joined": n_joined,
        "rows": _rows(found, columns, n_joined, stability, place),
        "has_rest": bool(_beyond(found, columns, n_joined)),
        "bars": [_feature(found, j) for j in _by_frequency(found)[:MAX_BARS]],
        "n_more_bars": max(0, len(_by_frequency(found)) - MAX_BARS),
        "stability": stability,
        "without": _do_without(found),
        # none that is missing is better than the last one listed
        "is_ranked": found.is_complete or found.bound <= found.scores[-1],
        "exchanges": _exchanges(found),
        "graph": _graph(found),
        "max_edges": MAX_EDGES,
    }


def render_panels(
    found: NearOptimalSets, *, title: str, about: Sequence[tuple[str, str]], notes: Sequence[str]
) -> str:
    """A page of its own, as HTML.

    Parameters
    ----------
    found : NearOptimalSets
    title : str
    about : pairs of a term and what it is here: the methods
    notes : sentences about the data
    """
    section = show(found)
    n_in = int(np.count_nonzero(found.frequency))
    more = "there are more" if found.is_capped else "there may be more"
    complete = "all there are: proved" if found.is_complete else more
    cards = [
        card(f"Panels within {section['share']}", f"{found.n_sets:,}", complete),
        card("Features in a panel", f"{found.k:,}", f"of {found.n_features:,}"),
        card("Features that occur", f"{n_in:,}"),
        card("In all of them", f"{int(np.sum(found.frequency >= 1)):,}"),
    ]
    return render_page(
        "panels_page.html.j2",
        scripts=section["scripts"],
        title=printable(title),
        notices=[],
        lead=section["facts"][:1],
        findings=section["facts"][1:],
        cards=cards,
        methods=[(term, printable(text)) for term, text in about],
        near=section | {"facts": []},  # they are above
        criteria=CRITERION_NAMES,
        notes=[printable(note) for note in notes],
    )


def _text(sentence: str) -> str:
    return printable(sentence).replace(" %", "\u00a0%")


def _lost(found: NearOptimalSets, place: int) -> str:
    return _text(say.loss(float(found.losses[place]))).replace("nothing", "none")


def _about_selected(study: Study, found: NearOptimalSets) -> list[str]:
    """Where the selected panel stands, if it is not the first."""
    if study.preferred is not None:
        return [_text(study.preferred.describe())]
    place = say.place_of(found, [feature.index for feature in study.selected])
    if place == 0:
        return []
    if place is not None:
        lost = say.loss(float(found.losses[place]))
        return [_text(f"The selected panel is number {place + 1:,} of them and loses {lost}.")]
    share = 1 - study.solution.objective / found.best.objective
    return [_text(f"The selected panel is not among them: it loses {say.loss(share)}.")]


def _stable(stability: np.ndarray | None) -> list[str]:
    """Which panel is the most stable."""
    if stability is None or stability.size < 2:
        return []
    most, first = float(stability.max()), float(stability[0])
    if most - first < ROUND_OFF:
        return [f"No other is more stable than the first ({whole_percent(first)})."]
    number = int(np.argmax(stability)) + 1
    shown = percent if whole_percent(most) == whole_percent(first) else whole_percent
    best = f"{shown(most)}, the first one: {shown(first)}"
    return [f"The most stable of them is number {number:,} ({best})."]


def _by_frequency(found: NearOptimalSets) -> list[int]:
    """All that occur: those in all panels first, in the order of the table, then the others."""
    always = np.flatnonzero(found.frequency >= 1.0)
    return [*always.tolist(), *found.shared.tolist()]


def _columns(found: NearOptimalSets) -> tuple[list[int], int]:
    """The features that have a column, and how many of those in all panels share one."""
    n_core = int(np.sum(found.frequency >= 1.0))
    ordered = _by_frequency(found)
    if n_core > MAX_CORE:
        return ordered[n_core : n_core + MAX_COLUMNS], n_core
    return ordered[:MAX_COLUMNS], 0


def _beyond(found: NearOptimalSets, columns: Sequence[int], n_joined: int) -> list[int]:
    return _by_frequency(found)[n_joined + len(columns) :]


def _feature(found: NearOptimalSets, j: int) -> dict[str, Any]:
    share = float(found.frequency[j])
    return {
        "index": j,
        "name": printable(found.name_of(j)),
        "share": share,
        "n": round(share * found.n_sets),
        "is_core": share >= 1.0,
        "says": _text(say.without(found, j)),
    }


def _rows(
    found: NearOptimalSets,
    columns: Sequence[int],
    n_joined: int,
    stability: np.ndarray | None,
    chosen: int | None,
) -> list[dict[str, Any]]:
    beyond = set(_beyond(found, columns, n_joined))
    rows = []
    for i, members in enumerate(found.sets[:MAX_ROWS].tolist()):
        rest = [printable(found.name_of(j)) for j in members if j in beyond]
        rows.append(
            {
                "rank": i + 1,
                "loss": _lost(found, i),
                "stability": None if stability is None else float(stability[i]),
                "features": " ".join(map(str, members)),
                "has": [j in set(members) for j in columns],
                "rest": _some(rest),
                "chosen": i == chosen,
            }
        )
    return rows


def _some(names: Sequence[str]) -> str:
    more = len(names) - MAX_NAMES
    return ", ".join(names[:MAX_NAMES]) + (f" and {more:,} more" if more > 0 else "")


def _do_without(found: NearOptimalSets) -> list[dict[str, Any]]:
    """For every feature of the best panel: the best one without it."""
    best, rows = set(found.sets[0].tolist()), []
    for j in found.sets[0].tolist():
        place = found.without(j)
        row = {"name": printable(found.name_of(j)), "place": place, "says": ""}
        if place is None:
            row["says"] = _text(say.without(found, j))
        else:
            other = set(found.sets[place].tolist())
            leaving = sorted(best - other - {j})
            row |= {
                "loss": _lost(found, place),
                "entering": _some([printable(found.name_of(i)) for i in sorted(other - best)]),
                "leaving": _some([printable(found.name_of(i)) for i in leaving]),
            }
        rows.append(row)
    return rows


def _exchanges(found: NearOptimalSets) -> dict[str, Any]:
    """Pairs, and groups in words."""
    groups = [[printable(found.name_of(int(j))) for j in g] for g in found.exchange_groups]
    return {
        "n": len(found.exchanges),
        "pairs": [
            (printable(found.name_of(e.one)), printable(found.name_of(e.other)), e.n_pairs)
            for e in found.exchanges[:MAX_EDGES]
        ],
        "groups": [(count(len(g), "feature"), _some(g)) for g in groups[:10]],
        "n_groups": len(groups),
    }


def _graph(found: NearOptimalSets) -> Markup | None:
    if not found.exchanges:
        return None
    shown = min(MAX_EDGES, len(found.exchanges))
    label = (
        f"Features on a circle; {count(shown, 'line')} between those that take each other's place "
        "in a panel. The pairs are in the table below."
    )
    return drawn(ExchangeDisplay(found), "exchanges", label)
