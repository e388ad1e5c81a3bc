"""Figure 2(a): how often the leading eigenvector of a random matrix of positive mean is positive.

Symmetric n x n matrices whose entries (i >= j) are independent N(mu, sigma^2); the leading
eigenvector is positive if all its entries have one sign. The curve is for mu = 1/6 and
sigma = sqrt(2)/6; the text adds a claim on mu = .1 and sigma = 1. How many matrices were drawn is
not told.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.figure import Figure
from scipy import linalg

from ...datasets.wolf2005 import positive_mean_matrix
from ...plots._style import INK, PALETTE, legend_below, new_figure
from ..values import Measured, Place, Value, share_value

SETTINGS = {"1/6": (1 / 6, 2**0.5 / 6), ".1": (0.1, 1.0)}
SHARE = "share positive"
FIRST = "mu = 1/6: the n from which it is above .99"
LIMIT = 0.99


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One size each, the largest first."""
    seed = protocol["seed"]
    wide = [
        {"mu": ".1", "n": n, "runs": protocol["wide_runs"], "seed": seed}
        for n in sorted(protocol["wide_sizes"], reverse=True)
    ]
    curve = [
        {"mu": "1/6", "n": n, "runs": protocol["runs"], "seed": seed}
        for n in range(protocol["last"], 1, -1)
    ]
    return wide + curve


def work(mu: str, n: int, runs: int, seed: int) -> dict[str, Any]:
    """How many of the matrices of one size have a positive leading eigenvector."""
    rng = np.random.default_rng([seed, n])
    mean, deviation = SETTINGS[mu]
    hits = sum(is_positive(positive_mean_matrix(n, mean, deviation, rng)) for _ in range(runs))
    return {"mu": mu, "n": n, "runs": runs, "hits": hits}


def is_positive(G: np.ndarray) -> bool:
    """Whether the leading eigenvector has one sign."""
    last = len(G) - 1
    v = linalg.eigh(G, subset_by_index=[last, last])[1]
    return bool(np.all(v > 0) or np.all(v < 0))


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Shares at the sizes that are shown, and the size from which the curve stays above .99."""
    shares = {(part["mu"], part["n"]): _share(part) for part in reversed(found)}
    curve = {n: float(v.value) for (mu, n), v in shares.items() if mu == "1/6"}
    shown = set(protocol["shown"])
    cells: dict[Place, Value] = {
        (f"mu = {mu}, n = {n}", SHARE): value
        for (mu, n), value in shares.items()
        if mu == ".1" or n in shown
    }
    first = first_above(curve)
    n = protocol["runs"]
    cells[FIRST, "n"] = Value(float(first), n=n) if first else Value("not in the curve", n=n)
    notes = [
        f"mu = {mu}, n = {n}: the leading eigenvector is positive in {part['hits']} of "
        f"{part['runs']} matrices."
        for part in reversed(found)
        for mu, n in [(part["mu"], part["n"])]
        if mu == ".1"
    ]
    return Measured(cells, {"n": list(curve), "share": list(curve.values())}, notes)


def _share(part: dict[str, Any]) -> Value:
    return share_value(np.arange(part["runs"]) < part["hits"])


def first_above(curve: dict[int, float]) -> int:
    """The size from which on all shares are above .99; 0 if the last one is not."""
    below = [n for n, share in curve.items() if share <= LIMIT]
    return min((n for n in curve if not below or n > max(below)), default=0)


def draw(series: dict[str, Any]) -> Figure:
    """The curve of the paper, and the .99 of its text."""
    figure = new_figure(3.0)
    ax = figure.subplots()
    (curve,) = ax.plot(series["n"], series["share"], color=PALETTE[0])
    limit = ax.axhline(LIMIT, color=INK, linestyle=":", linewidth=1.0)
    ax.set(xlabel="size n of the matrix", ylabel="share positive", ylim=(0.0, 1.03))
    ax.set_xlim(left=0)
    legend_below(ax, [curve, limit], ["mu = 1/6, sigma = √2/6", "0.99, as in the text"])
    return figure
