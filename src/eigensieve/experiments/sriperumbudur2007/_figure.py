"""The paper's pair of panels: cumulative variance and cumulative cardinality."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from ...plots._style import INK, PALETTE, legend_below, new_figure

MARKERS = {"SPCA": "s", "DSPCA": "D", "DC-PCA": "o", "DC-PCA*": "^", "PCA": ""}
COLOURS = {
    "SPCA": PALETTE[1],
    "DSPCA": PALETTE[2],
    "DC-PCA": PALETTE[0],
    "DC-PCA*": PALETTE[3],
    "PCA": INK,
}
SHIFT = 0.08  # of the distance of two points


def line_style(name: str) -> dict[str, Any]:
    """Colour and marker of a method; ordinary PCA is a dashed line."""
    dashes = "--" if name == "PCA" else "-"
    return {"color": COLOURS[name], "marker": MARKERS[name], "ls": dashes, "ms": 5, "lw": 1.3}


def side_by_side(count: int) -> list[float]:
    """Small shifts to both sides, so that equal points of several curves do not hide each other."""
    return [SHIFT * (i - (count - 1) / 2) for i in range(count)]


def draw_cumulative(series: dict[str, Any], variance_label: str) -> Figure:
    """Panel (a) with every curve of ``variance``, panel (b) with those of ``cardinality``."""
    figure = new_figure(6.4)
    above, below = figure.subplots(2, 1, sharex=True)
    for ax, name in ((above, "variance"), (below, "cardinality")):
        _curves(ax, series[name])
    above.set_ylabel(variance_label)
    below.set_ylabel("cumulative cardinality")
    below.set_xlabel("number of components")
    handles, labels = above.get_legend_handles_labels()
    legend_below(below, handles, labels)
    return figure


def _curves(ax: Axes, curves: dict[str, list[float]]) -> None:
    marked = [name for name in curves if MARKERS[name]]
    shifts = dict(zip(marked, side_by_side(len(marked))))
    for name, values in curves.items():
        where = [i + shifts.get(name, 0.0) for i in range(1, len(values) + 1)]
        ax.plot(where, values, label=name, **line_style(name))
    ax.set_ylim(bottom=0)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_locator(MaxNLocator(nbins=7, integer=True))
    ax.grid(axis="y")
