"""The first component of the pit props with exactly k features, k = 1..13, against the optimum.

The optimum is proved by exact search. Beside it: DC-PCA as in the paper (weights recomputed, no
exchanges), SCoTLASS, SPCA and DSPCA, each with exactly k features and the best weights for them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...pencil.pencil import Pencil
from ...plots._style import PALETTE, legend_below, new_figure
from ...search.solve import solve
from ..values import Measured, Value, word_value
from ._components import PAPER, pit_props
from ._figure import COLOURS, MARKERS, side_by_side

DRAWN = ("SPCA", "SCoTLASS", "DSPCA", "DC-PCA")  # the paper's method on top
OPTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "optimum": ("exact", {}),
    "DC-PCA": ("dc", PAPER),
    "SCoTLASS": ("scotlass", {"n_starts": 0}),
    "SPCA": ("spca", {"ridge": 1e-6}),
    "DSPCA": ("dspca", {}),
}


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One a method."""
    return [{"method": method, "ks": protocol["ks"]} for method in OPTIONS]


def work(method: str, ks: list[int]) -> dict[str, Any]:
    """The variance of k features for every k, and whether it is proved to be the largest."""
    pencil = Pencil(pit_props())
    solver, options = OPTIONS[method]
    values, proved = [], []
    for k in ks:
        solution = solve(pencil, k, solver, **options)
        solution.verify(pencil)
        values.append(solution.objective)
        proved.append(solution.is_certified)
    return {"values": values, "proved": proved}


def measure(protocol: dict[str, Any], found: list[dict[str, Any]]) -> Measured:
    """The variances, and the k at which a method misses the optimum."""
    ks, values = protocol["ks"], dict(zip(OPTIONS, found))
    cells = {}
    for i, k in enumerate(ks):
        for method, entry in values.items():
            cells[f"k = {k}", method] = Value(entry["values"][i])
        cells[f"k = {k}", "proved"] = word_value(values["optimum"]["proved"][i])
    best = np.array(values["optimum"]["values"])
    loss = {m: (1 - np.array(e["values"]) / best).tolist() for m, e in values.items()}
    notes = [_misses(m, ks, lost) for m, lost in loss.items() if m != "optimum"]
    return Measured(cells, {"ks": ks, "loss": loss}, notes)


def _misses(method: str, ks: list[int], loss: list[float]) -> str:
    missed = [str(k) for k, lost in zip(ks, loss) if lost > 1e-6]
    if not missed:
        return f"{method} finds the optimum at every k."
    at, most = ", ".join(missed), " at most" if len(missed) > 1 else ""
    return f"{method} misses the optimum at k = {at}, by {100 * max(loss):.1f} %{most}."


def draw(series: dict[str, Any]) -> Figure:
    """How much of the optimum is lost at every k."""
    figure = new_figure(3.6)
    ax = figure.subplots()
    for method, shift in zip(DRAWN, side_by_side(len(DRAWN))):
        # points alone: lines at 0 would hide each other
        style: dict[str, Any] = {"ls": "", "ms": 4.5}
        if method == "SCoTLASS":
            style |= {"color": PALETTE[4], "marker": "v"}
        else:
            style |= {"color": COLOURS[method], "marker": MARKERS[method]}
        lost = 100 * np.array(series["loss"][method])
        ax.plot(np.array(series["ks"]) + 2.7 * shift, lost, label=method, **style)
    ax.set_xticks(series["ks"])
    ax.set_xlabel("number of features, k")
    ax.set_ylabel("variance lost to the optimum, %")
    ax.grid(axis="y")
    legend_below(ax, *ax.get_legend_handles_labels())
    return figure
