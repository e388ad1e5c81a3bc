"""Figure 2(b): the sorted weights of a synthetic problem and of a random matrix.

The linear problem of section 6 (6 relevant features of 202) and a table of independent N(0, 1) of
the same size. The paper shows one run each and tells neither the number of samples nor k; we take
as many samples as in the largest training set of figure 3(a), k = 2, and repeat it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure

from ...datasets.wolf2005 import weston_linear
from ...plots._style import PALETTE, new_figure
from ..values import Measured, Place, Value, mean_value, share_value
from ._common import best, weigh

KINDS = ("linear problem", "random matrix")
LEAST = "smallest weight of all runs, of the largest"
SMALL = 0.1  # of the largest weight
ROUND_OFF = 1e-9


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One for each of the two kinds of data."""
    return [{"kind": kind, **protocol} for kind in KINDS]


def work(kind: str, samples: int, n_clusters: int, runs: int, seed: int) -> dict[str, Any]:
    """The weights of the first run, and what describes those of all."""
    found, first = [], np.empty(0)
    for run in range(seed, seed + runs):
        rng = np.random.default_rng(run)
        X, _, relevant = weston_linear(samples, rng)
        if kind == "random matrix":
            X = rng.normal(size=X.shape)
        alpha = weigh(X, n_clusters)
        first = first if first.size else np.sort(alpha)[::-1]
        hits = relevant[best(alpha, int(relevant.sum()))].mean()
        found.append({**describe(alpha), "hits": float(hits)})
    return {"alpha": first, "runs": found}


def describe(alpha: np.ndarray) -> dict[str, float]:
    """How positive, and how sparse."""
    largest, size, square = alpha.max(), np.abs(alpha), np.sort(alpha**2)[::-1]
    most = np.searchsorted(np.cumsum(square), 0.9 * square.sum()) + 1
    root = np.sqrt(alpha.size)
    return {
        "smallest": float(alpha.min() / largest),
        "negative": float(100 * size[alpha < 0].sum() / size.sum()),
        "hoyer": float((root - size.sum() / np.sqrt(square.sum())) / (root - 1)),
        "small": float(100 * np.mean(size < SMALL * largest)),
        "most": float(100 * most / alpha.size),
    }


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Numbers of both kinds, and the two words of the paper by rules stated in the TOML file."""
    cells: dict[Place, Value] = {}
    for kind, part in zip(KINDS, found):
        of = {name: np.array([run[name] for run in part["runs"]]) for name in part["runs"][0]}
        cells |= {
            (kind, LEAST): Value(float(of["smallest"].min()), n=len(part["runs"])),
            (kind, "runs without a negative weight"): share_value(of["smallest"] >= -ROUND_OFF),
            (kind, "smallest over largest weight"): mean_value(of["smallest"]),
            (kind, "negative weight, %"): mean_value(of["negative"]),
            (kind, "features below a tenth of the largest, %"): mean_value(of["small"]),
            (kind, "features with 90 % of the squared weight, %"): mean_value(of["most"]),
            (kind, "Hoyer's sparsity"): mean_value(of["hoyer"]),
        }
        if kind == KINDS[0]:
            cells[kind, "relevant among the best 6"] = mean_value(of["hits"])
    return Measured(cells, {kind: part["alpha"] for kind, part in zip(KINDS, found)}, _notes(found))


def _notes(found: list[Any]) -> list[str]:
    problem, noise = (mean_value([run["hoyer"] for run in part["runs"]]) for part in found)
    small = np.mean([run["small"] for run in found[1]["runs"]])
    lesson = "that weights are sparse is no evidence that there is something to find"
    note = (
        f"Hoyer's sparsity is {problem.value:.2f} for the problem and {noise.value:.2f} for pure "
        f"noise; {small:.0f}\u00a0% of the features of noise weigh less than a tenth of the largest"
        f"{': ' + lesson if small > 50 else ''}."
    )
    return [note]


def draw(series: dict[str, Any]) -> Figure:
    """Sorted weights as bars, the problem above the noise."""
    figure = new_figure(4.4)
    for ax, kind in zip(figure.subplots(2, 1, sharex=True), KINDS):
        ax.bar(np.arange(1, len(series[kind]) + 1), series[kind], width=1.0, color=PALETTE[0])
        ax.set_title(kind, fontsize=10, loc="left")
        ax.set_ylabel("weight")
    ax.set_xlabel("features, by weight")
    return figure
