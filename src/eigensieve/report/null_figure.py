"""The errors of permuted labels beside that of the true ones."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ..plots._style import FAINT, PALETTE, house_style, legend_above, new_figure
from ..studies.null import PermutationNull

FEWEST = 5  # permutations that are worth a picture
MOST_BINS = 24


def draw_null(null: PermutationNull) -> Figure:
    """A histogram, with a line at the error of the true labels."""
    values = np.append(null.errors, null.observed)
    low, high = float(values.min()), float(values.max())
    margin = 0.06 * (high - low) or 0.01
    n_bins = int(np.clip(2 * np.sqrt(null.n_permutations), 8, MOST_BINS))
    with house_style():
        figure = new_figure(2.4)
        ax = figure.add_subplot()
        bins = np.linspace(float(null.errors.min()), float(null.errors.max()) + 1e-9, n_bins + 1)
        _, _, bars = ax.hist(null.errors, bins=bins.tolist(), color=FAINT)
        line = ax.axvline(null.observed, color=PALETTE[1], lw=2.0)
        ax.set_xlim(low - margin, high + margin)
        ax.xaxis.set_major_locator(MaxNLocator(nbins=6))
        ax.xaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
        ax.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
        ax.set_xlabel("Cross-validated error")
        ax.set_ylabel("Permutations")
        legend_above(ax, [line, bars[0]], ["true labels", "permuted labels"])
    return figure
