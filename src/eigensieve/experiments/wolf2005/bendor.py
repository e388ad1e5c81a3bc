"""Section 6, synthetic genomics: how robust Q-alpha is in the model of Ben-Dor et al. (2001).

Of m features a share 1 - e has, in each of two classes (25 and 47 samples), a mean from
[-1.5 d, 1.5 d] and a deviation of s times it; the others are N(0, s). One of m, d, e, s is varied
at a time. As many features are chosen as are relevant; precision is the share of relevant ones
among them. Q-alpha runs (k = 2) with unit norm, as the paper prescribes, and without. Then the
scale tells: relevant features vary about s d, the others about s, and no cluster need be found. To
show that, features are also ranked by their variance alone. The paper does not tell where Q-alpha
starts: the package's automatic starts are drawn, a single one is another reading.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

from ...datasets.wolf2005 import ben_dor
from ...plots._style import INK, PALETTE, legend_below, new_figure
from ..values import Measured, Value, mean_value, share_value
from ._common import STARTS, Cells, best, by_start, weigh

FACTOR = 30  # so many times likelier
DEFAULTS = {"m": 600, "d": 555, "e": 0.72, "s": 0.75}
WORDS = {
    "m": "number of features m",
    "d": "distance of the means d",
    "e": "share of irrelevant features e",
    "s": "spread s",
}
# "variance alone" often lies on "raw scale": thin dashes on a wide line show both
LINES: dict[str, dict[str, Any]] = {
    "unit norm": {"color": PALETTE[0], "marker": "o", "markersize": 4.0},
    "raw scale": {"color": PALETTE[1], "marker": "s", "linewidth": 3.5, "zorder": 1.9},  # below
    "variance alone": {"color": INK, "marker": "x", "linestyle": "--", "linewidth": 1.2},
}
LEGEND = ["Q-alpha, unit norm", "Q-alpha, raw scale", "variance alone"]
DIGITS = {"m": (1.0, 2.0, 5.0), "d": (1.0,), "s": (1.0,)}  # of the ticks, in every power of ten


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One setting each: the defaults, then one parameter varied."""
    runs = {"runs": protocol["runs"], "seed": protocol["seed"]}
    return [{"setting": setting, **runs} for _, setting in _settings(protocol)]


def _settings(protocol: dict[str, Any]) -> list[tuple[str, dict[str, float]]]:
    """Rows, and what is varied in them."""
    varied = [
        (f"{name} = {value:g}", {name: value}) for name in DEFAULTS for value in protocol[name]
    ]
    return [("defaults", {}), *varied]


def work(setting: dict[str, Any], runs: int, seed: int) -> dict[str, Any]:
    """How many of the chosen features are relevant, by start, method and run."""
    found: dict[str, dict[str, list[int]]] = {s: {name: [] for name in LINES} for s in STARTS}
    n_relevant = n_features = 0
    for run in range(seed, seed + runs):
        X, _, relevant = ben_dor(np.random.default_rng(run), **setting)
        n_relevant, n_features = int(relevant.sum()), relevant.size
        for start, options in STARTS.items():
            weights = (weigh(X, scale=scale, setting=options) for scale in (True, False))
            for name, scores in zip(LINES, (*weights, X.var(axis=0))):
                found[start][name].append(int(relevant[best(scores, n_relevant)].sum()))
    return {"hits": found, "n_relevant": n_relevant, "n_features": n_features}


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Precision, and how many times likelier a relevant feature is chosen."""
    cells, readings = by_start(
        {
            start: _cells(protocol, [{**part, "hits": part["hits"][start]} for part in found])
            for start in STARTS
        }
    )
    return Measured(cells, _series(protocol, cells), _notes(cells), readings)


def _cells(protocol: dict[str, Any], found: list[Any]) -> Cells:
    cells: Cells = {}
    for (row, setting), part in zip(_settings(protocol), found):
        sizes = part["n_relevant"], part["n_features"]
        for name in LINES:
            precision = np.array(part["hits"][name]) / part["n_relevant"]
            cells[row, f"precision, {name}"] = mean_value(precision)
        for name in ("unit norm", "raw scale"):
            hits = np.array(part["hits"][name])
            cells[row, f"runs without a mistake, {name}"] = share_value(hits == part["n_relevant"])
            cells[row, f"times likelier, {name}"] = Value(likelier(hits, *sizes), n=hits.size)
            cells[row, f"precision less that of a factor of 30, {name}"] = mean_value(
                hits / part["n_relevant"] - precision_of(FACTOR, *sizes)
            )
            if "d" in setting:
                cells[row, f"precision less the default's, {name}"] = _change(part, found[0], name)
    return cells


def _change(part: dict[str, Any], usual: dict[str, Any], name: str) -> Value:
    """Precision less that with the default d: run by run, as they draw the same numbers."""
    apart = np.subtract(part["hits"][name], usual["hits"][name])
    return mean_value(apart / usual["n_relevant"])


def likelier(hits: Sequence[float] | np.ndarray, n_relevant: int, n_features: int) -> float:
    """Share of the relevant features that are chosen over that of the others, all runs together.

    Where none of the others was ever chosen, one is counted: at least so many times.
    """
    runs, right = len(hits), float(np.sum(hits))
    wrong = max(1.0, runs * n_relevant - right) / (runs * (n_features - n_relevant))
    return right / (runs * n_relevant) / wrong


def precision_of(factor: float, n_relevant: int, n_features: int) -> float:
    """The precision at which a relevant feature is so many times likelier to be chosen.

    As many features are chosen as are relevant: one follows from the other. The precision is a mean
    over the runs; the error of the factor, a ratio, is beyond measure where next to no irrelevant
    feature is ever chosen.
    """
    odds = factor * n_relevant / (n_features - n_relevant)
    return odds / (1 + odds)


def _series(protocol: dict[str, Any], cells: Cells) -> dict[str, Any]:
    """Precision against each parameter, the default among its values."""
    series: dict[str, Any] = {}
    for name, usual in DEFAULTS.items():
        values = sorted({*protocol[name], usual})
        rows = ["defaults" if value == usual else f"{name} = {value:g}" for value in values]
        series[name] = {"at": values} | {
            line: [float(cells[row, f"precision, {line}"].value) for row in rows] for line in LINES
        }
    return series


def _notes(cells: Cells) -> list[str]:
    rows = dict.fromkeys(row for row, _ in cells)
    wins = sum(
        float(cells[row, "precision, variance alone"].value)
        >= float(cells[row, "precision, raw scale"].value)
        for row in rows
    )
    note = (
        f"Ranking by variance alone is at least as precise as Q-alpha without unit norm in "
        f"{wins} of {len(rows)} settings."
    )
    return [note]


def draw(series: dict[str, Any]) -> Figure:
    """Precision against each of the four parameters."""
    figure = new_figure(7.6)
    for ax, name in zip(figure.subplots(4, 1, sharey=True), DEFAULTS):
        handles = []
        for line, looks in LINES.items():
            handles += ax.plot(series[name]["at"], series[name][line], **looks)
        ax.set(xlabel=WORDS[name], ylabel="precision", ylim=(-0.03, 1.08))
        if name in DIGITS:
            _scale(ax, DIGITS[name])
    legend_below(ax, handles, LEGEND)
    return figure


def _scale(ax: Axes, digits: tuple[float, ...]) -> None:
    """Powers of ten in plain numbers, and what lies between."""
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(LogLocator(subs=digits))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
