"""Figure 6(b): how often kernel Q-alpha finds features behind hidden signs.

Three clusters in 12 of 60 features, 120 samples; a sign that changes every 8 samples, for each
feature on its own, hides them (`eigensieve.datasets.wolf2005.hidden_sessions`). A run succeeds if
at least 10 of the 12 features with the largest weights are relevant. Kernel: squared products,
summed over sections of 8 samples; squared: Q-alpha of the squared table; plain: Q-alpha as it is.
Not told: k (3, the clusters), and the lambdas. Features are normalised before the signs come in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...datasets.wolf2005 import SESSION, hidden_sessions
from ...plots._style import PALETTE, few_ticks, legend_below, new_figure
from ..values import Measured, Place, Value, share_value
from ._common import best, weigh

METHODS = ("kernel", "squared", "plain")
LINES = {"kernel": (PALETTE[0], "-"), "squared": (PALETTE[1], "--")}
RELEVANT, NEEDED, N_CLUSTERS = 12, 10, 3


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One lambda each."""
    runs = {"runs": protocol["runs"], "seed": protocol["seed"]}
    return [{"spread": spread, **runs} for spread in protocol["spreads"]]


def work(spread: float, runs: int, seed: int) -> dict[str, list[bool]]:
    """Successes by method, one a run."""
    found: dict[str, list[bool]] = {name: [] for name in METHODS}
    for run in range(seed, seed + runs):
        X, _, relevant = hidden_sessions(spread, np.random.default_rng(run))
        for name, alpha in zip(METHODS, weigh_all(X)):
            found[name].append(bool(relevant[best(alpha, RELEVANT)].sum() >= NEEDED))
    return found


def weigh_all(X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Weights by the kernel over sessions, of the squares (centred afterwards), and plain."""
    block: dict[str, Any] = {"kernel": "block", "kernel_params": {"size": SESSION}}
    return (
        weigh(X, N_CLUSTERS, center=False, **block),
        weigh(X**2, N_CLUSTERS),
        weigh(X, N_CLUSTERS, center=False),
    )


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Success rates."""
    spreads = protocol["spreads"]
    cells: dict[Place, Value] = {
        (f"lambda = {spread:g}", name): share_value(part[name])
        for spread, part in zip(spreads, found)
        for name in METHODS
    }
    for spread, part in zip(spreads, found):
        cells[f"lambda = {spread:g}", "successes, plain"] = Value(
            float(sum(part["plain"])), n=protocol["runs"]
        )
    rates = {name: [float(np.mean(part[name])) for part in found] for name in METHODS}
    plain = sum(sum(part["plain"]) for part in found)
    note = f"The plain method succeeded in {plain} of {len(spreads) * protocol['runs']} runs."
    return Measured(cells, {"spread": spreads, **rates}, [note])


def draw(series: dict[str, Any]) -> Figure:
    """Kernel solid blue, squares dashed red, as in the paper; the plain method is not shown."""
    figure = new_figure(3.2)
    ax = figure.subplots()
    handles = []
    for name, (color, line) in LINES.items():
        handles += ax.plot(series["spread"], series[name], color=color, linestyle=line)
    ax.set(xlabel="variance λ of the clusters", ylabel="success rate", ylim=(-0.02, 1.03))
    few_ticks(ax.xaxis, np.array(series["spread"]), 5)
    legend_below(ax, handles, ["polynomial kernel over sessions", "squared measurements"])
    return figure
