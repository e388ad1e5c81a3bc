"""Errors of several methods with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter
from numpy.typing import ArrayLike

from ._style import FAINT, PALETTE, figure_of, house_style, name_rows, new_figure

if TYPE_CHECKING:
    from ..studies.comparison import Comparison


class ComparisonDisplay:
    """One line per method, the smallest error on top: a point and its 95 % interval.

    Parameters
    ----------
    names : the methods
    error, low, high : array-likes, one entry per method, as fractions
    close : array-like of bool, optional
        Methods that cannot be told apart from the best one; the others are grey.

    Attributes
    ----------
    names, error, low, high, close : by error
    ax_, figure_ : where it was drawn
    errorbars_ : one ErrorbarContainer per method
    """

    def __init__(
        self,
        names: Sequence[str],
        error: ArrayLike,
        low: ArrayLike,
        high: ArrayLike,
        close: ArrayLike | None = None,
    ) -> None:
        values = np.asarray(error, dtype=np.float64)
        order = np.argsort(values, kind="stable")
        self.names = [str(names[j]) for j in order.tolist()]
        self.error = values[order]
        self.low = np.asarray(low, dtype=np.float64)[order]
        self.high = np.asarray(high, dtype=np.float64)[order]
        everyone = np.ones(values.size, dtype=bool)
        self.close = (everyone if close is None else np.asarray(close, dtype=bool))[order]

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, close: Sequence[str] | None = None
    ) -> ComparisonDisplay:
        """Of the methods that have an error; ``close`` names those drawn in colour."""
        rows = [row for row in comparison.rows if row["error"] is not None]
        marked = None if close is None else [row["method"] in close for row in rows]
        return cls(
            [row["method"] for row in rows],
            [row["error"] for row in rows],
            [row["low"] for row in rows],
            [row["high"] for row in rows],
            marked,
        )

    def plot(self, ax: Axes | None = None) -> ComparisonDisplay:
        """Draw on ax, or on a new figure."""
        with house_style():
            height = 0.8 + 0.3 * max(1, len(self.names))
            self.ax_ = new_figure(height).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            self.errorbars_: list[Any] = [self._draw(row) for row in range(len(self.names))]
            self._set_axes()
        return self

    def _draw(self, row: int) -> Any:
        error = self.error[row]
        ends = np.clip([[error - self.low[row]], [self.high[row] - error]], 0.0, None)
        color = PALETTE[0] if self.close[row] else FAINT
        return self.ax_.errorbar(
            [error], [row], xerr=ends, color=color, marker="o", ms=6, elinewidth=1.6, capsize=3
        )

    def _set_axes(self) -> None:
        ax, n = self.ax_, len(self.names)
        ax.set_ylim(max(1, n) - 0.5, -0.5)
        name_rows(ax, self.names)
        top = float(np.max(self.high, initial=0.0))
        # a little below zero, so that the marker of an error of 0 is whole
        ax.set_xlim(-0.02 * (top or 1.0), 1.05 * top or 1.0)
        ax.xaxis.set_major_locator(MaxNLocator(nbins=6))
        ax.xaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
        ax.set_xlabel("Error on new samples, 95 % interval")
        ax.grid(axis="x")
