"""Figure 3(b): weight of relevant over other features against the number of clusters.

Clusters in 5 of 125 features, 60 samples (`eigensieve.datasets.wolf2005.clusters_in_noise`). The
sparsity gap is the mean weight of the 5 over that of the other 120: mean and quartiles of 20 runs,
for k = n_c, n_c + 2 and max(1, n_c - 2). The text adds that a k smaller still is better for many
clusters; max(1, n_c - 4) is measured, but not drawn. The paper does not tell where Q-alpha starts:
the package's automatic starts are drawn, a single one is another reading.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...datasets.wolf2005 import clusters_in_noise
from ...plots._style import PALETTE, legend_below, new_figure
from ..values import Measured, Value, jackknife_value, mean_value, share_value
from ._common import STARTS, Cells, by_start, weigh

SHIFTS = {"k = n_c": 0, "k = n_c + 2": 2, "k = n_c - 2": -2, "k = n_c - 4": -4}
DRAWN = {
    "k = n_c": (PALETTE[0], "-"),
    "k = n_c + 2": (PALETTE[2], "--"),
    "k = n_c - 2": (PALETTE[1], ":"),
}
MAX_FEW_CLUSTERS = 6  # "the algorithm performed well until k = 6"
LESS = "k = n_c - 2 less k = n_c"
Gaps = dict[str, dict[int, np.ndarray]]
Tables = dict[str, np.ndarray]  # gaps of some numbers of clusters (runs, numbers), by choice of k


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One number of clusters each."""
    runs = {"runs": protocol["runs"], "seed": protocol["seed"]}
    return [{"n_clusters": n, **runs} for n in protocol["clusters"]]


def work(n_clusters: int, runs: int, seed: int) -> dict[str, dict[str, list[float]]]:
    """The gaps by start and choice of k, one a run."""
    found: dict[str, dict[str, list[float]]] = {s: {name: [] for name in SHIFTS} for s in STARTS}
    for run in range(seed, seed + runs):
        X, _, relevant = clusters_in_noise(n_clusters, np.random.default_rng(run))
        for start, setting in STARTS.items():
            for name, shift in SHIFTS.items():
                alpha = weigh(X, max(1, n_clusters + shift), setting=setting)
                found[start][name].append(sparsity_gap(alpha, relevant))
    return found


def sparsity_gap(alpha: np.ndarray, relevant: np.ndarray) -> float:
    """Mean weight of the relevant features over that of the others."""
    return float(alpha[relevant].mean() / alpha[~relevant].mean())


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Mean gaps, and how the choices of k compare for few and for many clusters."""
    clusters = protocol["clusters"]
    gaps: dict[str, Gaps] = {
        start: {
            name: {n: np.array(part[start][name]) for n, part in zip(clusters, found)}
            for name in SHIFTS
        }
        for start in STARTS
    }
    cells, readings = by_start({start: _cells(each) for start, each in gaps.items()})
    drawn = next(iter(gaps.values()))
    notes = [f"With {start}: {describe_lead(each)}" for start, each in gaps.items()]
    return Measured(cells, {"clusters": clusters} | _curves(drawn), notes, readings)


def _cells(gaps: Gaps) -> Cells:
    cells: Cells = {}
    for n, runs in gaps["k = n_c"].items():
        for name in SHIFTS:
            cells[f"{n} clusters", name] = mean_value(gaps[name][n])
        cells[f"{n} clusters", "runs above 1, k = n_c"] = share_value(runs > 1)
    return cells | compare(gaps)


def compare(gaps: Gaps) -> Cells:
    """What the text says of the choices of k, as differences with their jackknife errors."""
    numbers = np.array(list(gaps["k = n_c"]))
    few, many = numbers <= MAX_FEW_CLUSTERS, numbers > MAX_FEW_CLUSTERS
    runs = np.stack([np.column_stack(list(gaps[name].values())) for name in SHIFTS], axis=1)

    def value(statistic: Callable[[Tables], float]) -> Value:
        return jackknife_value(lambda each: statistic(_tables(each)), runs)

    def mean_lead(name: str, where: np.ndarray) -> Value:
        return value(lambda t: _lead({k: t[k][:, where].mean() for k in DRAWN}, name))

    fewer, fewest = "k = n_c - 2", "k = n_c - 4"
    return {
        ("few clusters", "mean gap, k = n_c less the best other"): mean_lead("k = n_c", few),
        ("few clusters", LESS): _difference(gaps, list(numbers[few])),
        ("few clusters", "deviation less that for many"): value(
            lambda t: min(_deviation(t[k][:, few]) - _deviation(t[k][:, many]) for k in DRAWN)
        ),
        ("many clusters", "mean gap, k = n_c - 2 less the best other"): mean_lead(fewer, many),
        ("many clusters", LESS): _difference(gaps, list(numbers[many])),
        ("many clusters", "mean gap, k = n_c - 4 less k = n_c - 2"): value(
            lambda t: t[fewest][:, many].mean() - t[fewer][:, many].mean()
        ),
        ("many clusters", "deviation, k = n_c - 4 less k = n_c - 2"): value(
            lambda t: _deviation(t[fewest][:, many]) - _deviation(t[fewer][:, many])
        ),
        ("all", "deviation, k = n_c - 2 less the largest other"): value(
            lambda t: _lead({k: _deviation(t[k]) for k in DRAWN}, fewer)
        ),
        ("all", "deviation, k = n_c + 2 less the smallest other"): value(
            lambda t: -_lead({k: -_deviation(t[k]) for k in DRAWN}, "k = n_c + 2")
        ),
    }


def _tables(runs: np.ndarray) -> Tables:
    """By choice of k: runs is (runs, choices, numbers of clusters)."""
    return {name: runs[:, i] for i, name in enumerate(SHIFTS)}


def _lead(figures: dict[str, float], name: str) -> float:
    """How far one figure is above the largest of the others."""
    return figures[name] - max(value for other, value in figures.items() if other != name)


def describe_lead(gaps: Gaps) -> str:
    """For which numbers of clusters one choice of k is ahead of the other, beyond chance."""
    ahead: dict[str, list[str]] = {"k = n_c - 2": [], "k = n_c": []}
    for n in gaps["k = n_c"]:
        less = _difference(gaps, [n])
        if less.se is not None and abs(float(less.value)) > 2 * less.se:
            ahead["k = n_c - 2" if float(less.value) > 0 else "k = n_c"].append(str(n))
    parts = [f"{name} is ahead for {', '.join(ns) or 'no number of'}" for name, ns in ahead.items()]
    return (
        f"by more than 2 standard errors of the difference, run by run, {parts[0]} clusters, and "
        f"{parts[1]} clusters."
    )


def _difference(gaps: Gaps, clusters: list[int]) -> Value:
    """Run by run: the choices of k see the same data."""
    pairs = [gaps["k = n_c - 2"][n] - gaps["k = n_c"][n] for n in clusters]
    return mean_value(np.concatenate(pairs))


def _deviation(gaps: np.ndarray) -> float:
    """The mean over the numbers of clusters of the deviation over the runs."""
    return float(gaps.std(axis=0, ddof=1).mean())


def _curves(gaps: Gaps) -> dict[str, Any]:
    return {
        name: {
            "mean": [float(g.mean()) for g in gaps[name].values()],
            "low": [float(np.percentile(g, 25)) for g in gaps[name].values()],
            "high": [float(np.percentile(g, 75)) for g in gaps[name].values()],
        }
        for name in DRAWN
    }


def draw(series: dict[str, Any]) -> Figure:
    """Means, with bars from the first to the third quartile."""
    figure = new_figure(3.6)
    ax = figure.subplots()
    handles = []
    for i, (name, (color, line)) in enumerate(DRAWN.items()):
        curve = series[name]
        at = np.array(series["clusters"]) + 0.12 * (i - 1)  # bars beside each other
        handles += ax.plot(at, curve["mean"], color=color, linestyle=line)
        ax.vlines(at, curve["low"], curve["high"], color=color, linewidth=1.0)
    ax.set(xlabel="number of clusters", ylabel="sparsity gap", xticks=series["clusters"])
    ax.set_ylim(bottom=0.0)
    labels = [name.replace("n_c", "clusters").replace("-", "\u2212") for name in DRAWN]
    legend_below(ax, handles, labels)
    return figure
