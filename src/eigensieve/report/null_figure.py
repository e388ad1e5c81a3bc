"""The errors of permuted labels beside that of the true ones."""

from __future__ import annotations

import numpy as np
from matplotlib.ticker import MaxNLocator, PercentFormatter

from ..plots._style import FAINT, PALETTE, house_style, legend_above, new_figure
from ..studies.null import PermutationNull

MIN_PERMUTATIONS = 5  # permutations that are worth a picture
MAX_BINS = 24


class NullDisplay:
    """A histogram, with a line at the error of the true labels.

    Parameters
    ----------
    null : PermutationNull
    score : str
        The name of the error.

    Attributes
    ----------
    figure_ : where it was drawn
    """

    def __init__(self, null: PermutationNull, score: str = "error") -> None:
        self.null, self.score = null, score

    def plot(self) -> NullDisplay:
        """Draw on a new figure."""
        errors, observed = self.null.errors, self.null.observed
        low, high = (float(f([*errors, observed])) for f in (np.min, np.max))
        margin = 0.06 * (high - low) or 0.01
        n_bins = int(np.clip(2 * np.sqrt(errors.size), 8, MAX_BINS))
        bins = np.linspace(float(errors.min()), float(errors.max()) + 1e-9, n_bins + 1)
        with house_style():
            self.figure_ = new_figure(2.4)
            ax = self.figure_.add_subplot()
            heights, _ = np.histogram(errors, bins)
            bars = ax.bar(bins[:-1], heights, np.diff(bins), align="edge", color=FAINT)
            line = ax.axvline(observed, color=PALETTE[1], lw=2.0)
            ax.set_xlim(low - margin, high + margin)
            ax.xaxis.set_major_locator(MaxNLocator(nbins=6))
            ax.xaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
            ax.yaxis.set_major_locator(MaxNLocator(nbins=4, integer=True))
            ax.set_xlabel(f"Cross-validated {self.score}")
            ax.set_ylabel("Permutations")
            legend_above(ax, [line, bars], ["true labels", "permuted labels"])
        return self
