"""Draws docs/methods/images/inclusion-bounds.svg: python docs/methods/figures/inclusion_bounds.py

Left: theorem 1 on the correlations of the wine data (13 columns), with the best and the worst set
of every size (all 8,191 sets). Right: the eigenvalues of nested sets interlace.
"""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.datasets import load_wine

import eigensieve as es
from eigensieve.plots._style import FAINT, INK, PALETTE, house_style, legend_above

IMAGE = Path(__file__).parents[1] / "images" / "inclusion-bounds.svg"


def wine_pencil() -> es.Pencil:
    return es.Pencil(np.corrcoef(load_wine().data.T))


def extremes(pencil: es.Pencil) -> tuple[np.ndarray, np.ndarray]:
    """The smallest and the largest lambda_max of the sets of every size."""
    low, high = np.empty(pencil.size), np.empty(pencil.size)
    for k in range(1, pencil.size + 1):
        sets = np.array(list(combinations(range(pencil.size), k)))
        tops = np.linalg.eigvalsh(pencil.A[sets[:, :, None], sets[:, None, :]])[:, -1]
        low[k - 1], high[k - 1] = tops.min(), tops.max()
    return low, high


def draw_bounds(ax: Axes, pencil: es.Pencil) -> None:
    curve, (low, high) = es.inclusion_bounds(pencil), extremes(pencil)
    ks = np.arange(1, pencil.size + 1)
    band = ax.fill_between(ks, low, high, color=PALETTE[0], alpha=0.25, linewidth=0)
    (upper,) = ax.plot(ks, curve.upper, color=PALETTE[1])
    (lower,) = ax.plot(ks, curve.lower, color=PALETTE[2], linestyle="--")
    ax.set(xlabel="k", ylabel="largest eigenvalue", ylim=(0, 1.05 * curve.upper[0]))
    legend_above(ax, [upper, band, lower], ["λₙ(A, B)", "all sets of k", "λₖ(A, B)"])


def draw_chain(ax: Axes, pencil: es.Pencil) -> None:
    order: list[int] = []
    while len(order) < pencil.size:
        rest = [j for j in range(pencil.size) if j not in order]
        order.append(
            max(rest, key=lambda j: es.inclusion_bounds(pencil.take([*order, j])).upper[0])
        )
    chain = es.inclusion_bounds(pencil, chain=[order[:k] for k in range(1, pencil.size + 1)])
    for size, values, low, high in zip(chain.sizes, chain.values, chain.lower, chain.upper):
        ax.vlines(np.full(size, size), low, high, color=FAINT, linewidth=0.8)
        ax.plot(np.full(size, size), values, "o", color=PALETTE[0], markersize=3)
    ax.set(xlabel="features in the set", ylabel="eigenvalues")
    ax.set_title("each between two of the next larger set", fontsize=9, color=INK)


def main() -> None:
    pencil = wine_pencil()
    with house_style(), matplotlib.rc_context({"svg.hashsalt": "eigensieve"}):
        figure = Figure(figsize=(8.4, 3.2), layout="constrained", facecolor="white")
        left, right = figure.subplots(1, 2)
        draw_bounds(left, pencil)
        draw_chain(right, pencil)
        figure.savefig(IMAGE, metadata={"Date": None})


if __name__ == "__main__":
    main()
