"""Error curves against k, with the paper's markers."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plots._style import INK, PALETTE, legend_below, new_figure

STYLES: dict[str, dict[str, Any]] = {
    "ST": {"color": PALETTE[0], "marker": "s"},
    "P-corr": {"color": PALETTE[2], "marker": "*", "markersize": 6.0},
    "GSLDA": {"color": PALETTE[1], "marker": "D"},
    "ESLDA": {"color": INK, "marker": "o"},
    "RFE-SVM": {"color": INK, "marker": "v"},
}


def draw_errors(series: dict[str, Any]) -> Figure:
    """Test error with error bars, as in the paper's Figures 2 and 3; training error besides."""
    figure = new_figure(3.4)
    ax = figure.add_subplot()
    handles, labels = draw_curves(ax, series["curves"])
    ax.set_ylim(bottom=0.0)
    ax.set_ylabel("error, %")
    legend_below(ax, handles, labels)
    return figure


def draw_curves(ax: Axes, curves: list[dict[str, Any]]) -> tuple[list[Any], list[str]]:
    """Draw all curves; gives the handles and labels of a legend."""
    handles = []
    for curve in curves:
        style = _style_of(curve["label"])
        common = {"markersize": 3.5, "linewidth": 1.0, "markerfacecolor": "none"}
        options: dict[str, Any] = {**common, "elinewidth": 0.7, **style}
        handles.append(ax.errorbar(curve["k"], curve["error"], yerr=curve["se"], **options))
    ax.set_xlabel("variables used (k)")
    ax.grid(axis="y")
    return handles, [curve["label"] for curve in curves]


def _style_of(label: str) -> dict[str, Any]:
    """A method's own; what is added after a comma ("GSLDA, training") gets dashes in its colour."""
    method, _, addition = label.partition(", ")
    return {"color": STYLES[method]["color"], "linestyle": "--"} if addition else STYLES[method]
