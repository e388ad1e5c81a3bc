"""Error curves against k, with the paper's markers."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from ...plots._style import FAINT, INK, PALETTE

STYLES: dict[str, dict[str, Any]] = {
    "ST": {"color": PALETTE[0], "marker": "s"},
    "P-corr": {"color": PALETTE[2], "marker": "*", "markersize": 6.0},
    "GSLDA": {"color": PALETTE[1], "marker": "D"},
    "ESLDA": {"color": INK, "marker": "o"},
    "RFE-SVM": {"color": INK, "marker": "v"},
}
REST: dict[str, Any] = {"color": FAINT, "linestyle": "--"}


def draw_curves(ax: Axes, curves: list[dict[str, Any]]) -> tuple[list[Any], list[str]]:
    """Draw all curves; gives the handles and labels of a legend."""
    handles = []
    for curve in curves:
        style = STYLES.get(curve["label"], REST)
        common = {"markersize": 3.5, "linewidth": 1.0, "markerfacecolor": "none"}
        options: dict[str, Any] = {**common, "elinewidth": 0.7, **style}
        handles.append(ax.errorbar(curve["k"], curve["error"], yerr=curve["se"], **options))
    ax.set_xlabel("variables used (k)")
    ax.grid(axis="y")
    return handles, [curve["label"] for curve in curves]
