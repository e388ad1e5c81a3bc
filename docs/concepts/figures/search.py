"""Draws docs/concepts/images/search.svg: python docs/concepts/figures/search.py (a minute)

An exact search for the best 10 of 500 columns (simulation 2 of Witten & Tibshirani, 60 samples),
stopped after more and more nodes: the best set so far and the bound on all sets. Prints them.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import eigensieve as es
from eigensieve.datasets.witten2011 import make_population
from eigensieve.plots._style import INK, PALETTE, house_style, legend_above

IMAGE = Path(__file__).parents[1] / "images" / "search.svg"
K = 10
LIMITS = (1, 64, 128, 256, 512, 1024, 2048, 4096)


def stopped(shrinkage: float) -> list[es.Solution]:
    """The same search, stopped after more and more nodes."""
    rng = np.random.default_rng(1)
    X, y = make_population(2, rng).draw(60, rng)
    pencil = es.lda_pencil(X, y, shrinkage=shrinkage)
    found = []
    for limit in LIMITS:
        found.append(es.solve(pencil, K, "exact", "logdet", max_nodes=limit))
        sys.stdout.write(f"s = {shrinkage}, {found[-1].n_nodes} nodes: {found[-1]}\n")
        if found[-1].is_certified:
            break
    return found


def draw(ax: Axes, found: list[es.Solution], title: str) -> None:
    nodes = [solution.n_nodes for solution in found]
    bounds = np.array([solution.bound for solution in found])
    scores = np.array([solution.objective for solution in found])
    band = ax.fill_between(nodes, scores, bounds, color=PALETTE[0], alpha=0.15, linewidth=0)
    (upper,) = ax.plot(nodes, bounds, color=PALETTE[1], marker="o", markersize=3)
    (lower,) = ax.plot(nodes, scores, color=PALETTE[0], marker="s", markersize=3)
    ax.set(xscale="log", xlabel="nodes", ylabel="class separation")
    ax.annotate(title, (0.97, 0.93), xycoords="axes fraction", ha="right", color=INK)
    legend_above(ax, [upper, lower, band], ["bound", "best set so far", "gap"])


def main() -> None:
    easy, hard = stopped(0.5), stopped(0.3)
    with house_style(), matplotlib.rc_context({"svg.hashsalt": "eigensieve"}):
        figure = Figure(figsize=(8.4, 3.2), layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2)
        draw(left, easy, "s = 0.5: proved")
        draw(right, hard, "s = 0.3: stopped")
        figure.savefig(IMAGE, metadata={"Date": None})


if __name__ == "__main__":
    main()
