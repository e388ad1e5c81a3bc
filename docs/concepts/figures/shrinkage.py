"""Draws docs/concepts/images/shrinkage.svg: python docs/concepts/figures/shrinkage.py

Simulation 2 of Witten & Tibshirani (2011): two classes, 500 correlated columns, 60 samples. Left:
the error on 2,000 new samples; right: what the bound at the root of an exact search leaves open.
Both against the shrinkage, mean of ten tables. Prints the numbers.
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import eigensieve as es
from eigensieve.datasets.witten2011 import Population, make_population
from eigensieve.plots._style import FAINT, MARKERS, PALETTE, house_style, legend_above

IMAGE = Path(__file__).parents[1] / "images" / "shrinkage.svg"
SHRINKAGES = (0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.9, 1.0)
KS = (5, 20)
TABLES = 10


def measure(population: Population, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """Errors and gaps (shrinkages, ks), and the shrinkage "auto", of one table."""
    X, y = population.draw(60, rng)
    X_new, y_new = population.draw(2000, rng)
    errors, gaps = np.empty((2, len(SHRINKAGES), len(KS)))
    for i, s in enumerate(SHRINKAGES):
        models = es.SparseLDA(shrinkage=s).fit_path(X, y, ks=KS)
        pencil = es.lda_pencil(X, y, shrinkage=s)
        for j, k in enumerate(KS):
            support = models[k].get_support(indices=True)
            errors[i, j] = 1 - models[k].score(X_new, y_new)
            gaps[i, j] = es.certify(pencil, support, criterion="logdet", time_limit=0).gap
    auto = es.SparseLDA(KS[0], certificate="none").fit(X, y).shrinkage_
    return errors, gaps, np.array(auto)


def draw(ax: Axes, curves: np.ndarray, label: str) -> None:
    lines = [
        ax.plot(SHRINKAGES, curve, color=color, marker=marker, markersize=4)[0]
        for curve, color, marker in zip(curves.T, PALETTE, MARKERS)
    ]
    ax.set(xlabel="shrinkage s", ylabel=label)
    legend_above(ax, lines, [f"k = {k}" for k in KS])


def main() -> None:
    rng = np.random.default_rng(0)
    population = make_population(2, rng)
    runs = [measure(population, rng) for _ in range(TABLES)]
    errors, gaps, auto = (np.mean(part, axis=0) for part in zip(*runs))
    for s, error, gap in zip(SHRINKAGES, errors, gaps):
        sys.stdout.write(f"s = {s}: error {100 * error} %, gap {100 * gap} %\n")
    sys.stdout.write(f"auto: {auto:.2f}\n")
    with house_style(), matplotlib.rc_context({"svg.hashsalt": "eigensieve"}):
        figure = Figure(figsize=(8.4, 3.2), layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2)
        draw(left, 100 * errors, "error on new samples, %")
        left.axvline(float(auto), color=FAINT, linestyle=":")
        left.annotate('"auto"', (float(auto), 0.94), xycoords=("data", "axes fraction"), ha="right")
        draw(right, 100 * gaps, "gap at the root, %")
        right.set_yscale("symlog", linthresh=1)
        right.set_ylim(0, None)
        figure.savefig(IMAGE, metadata={"Date": None})


if __name__ == "__main__":
    main()
