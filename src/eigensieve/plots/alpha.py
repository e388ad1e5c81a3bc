"""Sorted alpha of a Q-alpha selector, with its null band."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PolyCollection
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import ArrayLike

from ._style import FAINT, PALETTE, few_ticks, figure_of, house_style, legend_above, new_figure

MAX_FEATURES_LINEAR_AXIS = (
    200  # with more features the ranks are drawn on a log axis: the top ones matter most
)
CELLS = 200  # of two points in the same 200th of the width and of the height one is drawn


class AlphaDisplay:
    """Alpha from the largest to the smallest, the selected ones in colour.

    The null band is what permuted features give at the same rank. Sorted numbers fall in any
    case, so a steep fall alone is no evidence of signal: a rise above the band is.

    Parameters
    ----------
    alpha : array-like (p,)
    selected : array-like of bool (p,)
    lower, upper, median : array-likes (p,), optional
        The 2.5 %, 97.5 % and 50 % points of the alpha of rank 1, 2, ... p among permuted features.

    Attributes
    ----------
    alpha, selected : arrays (p,), by rank; among equal ones the selected come first
    ax_, figure_ : where it was drawn
    selected_, others_ : Line2D or None
        The points; those that would hide one another are drawn once.
    band_ : PolyCollection or None
    median_ : Line2D or None
    """

    def __init__(
        self,
        alpha: ArrayLike,
        selected: ArrayLike,
        lower: ArrayLike | None = None,
        upper: ArrayLike | None = None,
        median: ArrayLike | None = None,
    ) -> None:
        alpha, chosen = np.asarray(alpha, dtype=np.float64), np.asarray(selected, dtype=bool)
        by_rank = np.lexsort((~chosen, -alpha))
        self.alpha = alpha[by_rank]
        self.selected = chosen[by_rank]
        self.lower = None if lower is None else np.asarray(lower, dtype=np.float64)
        self.upper = None if upper is None else np.asarray(upper, dtype=np.float64)
        self.median = None if median is None else np.asarray(median, dtype=np.float64)

    @classmethod
    def from_estimator(cls, selector: Any) -> AlphaDisplay:
        """From a fitted QAlphaSelector; the band is there if it was asked for permutations."""
        null = selector.null_
        band = () if null is None else (null.lower, null.upper, null.median)
        return cls(selector.alpha_, selector.support_, *band)

    def plot(self, ax: Axes | None = None) -> AlphaDisplay:
        """Draw on ax, or on a new figure."""
        with house_style():
            self.ax_ = new_figure(3.2).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            self.ax_.axhline(0.0, color=FAINT, lw=0.8)
            band = self._draw_band()
            entries = [*self._draw_points(), *band]
            self._set_axes()
            legend_above(self.ax_, [h for h, _ in entries], [label for _, label in entries])
        return self

    def _draw_band(self) -> list[tuple[Any, str]]:
        self.band_: PolyCollection | None = None
        self.median_: Line2D | None = None
        entries: list[tuple[Any, str]] = []
        curves = [c for c in (self.lower, self.upper, self.median) if c is not None]
        seen = self._seen(np.arange(self.alpha.size), *curves)
        if self.lower is not None and self.upper is not None:
            self.band_ = self.ax_.fill_between(
                _widened(seen + 1.0), _level(self.lower[seen]), _level(self.upper[seen]),
                color=PALETTE[1], alpha=0.25, lw=0,
            )  # fmt: skip
            entries.append((self.band_, "null band (95 %)"))
        if self.median is not None:
            (self.median_,) = self.ax_.plot(
                _widened(seen + 1.0), _level(self.median[seen]), color=PALETTE[1], lw=1.2
            )
            entries.append((self.median_, "null median"))
        return entries

    def _draw_points(self) -> list[tuple[Any, str]]:
        others = self._draw_some(~self.selected, FAINT)
        # later, so on top
        selected = self._draw_some(self.selected, PALETTE[0])
        self.selected_, self.others_ = selected, others
        entries = [(selected, "selected"), (others, "not selected")]
        return [(points, label) for points, label in entries if points is not None]

    def _draw_some(self, mask: np.ndarray, color: str) -> Line2D | None:
        if not mask.any():
            return None
        seen = self._seen(np.flatnonzero(mask), self.alpha)
        size = 4.0 if self.alpha.size <= MAX_FEATURES_LINEAR_AXIS else 3.6
        (points,) = self.ax_.plot(seen + 1, self.alpha[seen], "o", ms=size, mew=0, color=color)
        return points

    def _seen(self, places: np.ndarray, *curves: np.ndarray) -> np.ndarray:
        """Those of the places that show in one of the curves, the first and the last included."""
        ranks = np.arange(1.0, self.alpha.size + 1)
        x = np.log(ranks) if ranks.size > MAX_FEATURES_LINEAR_AXIS else ranks
        shows = np.zeros(places.size, dtype=bool)
        shows[[0, -1]] = True
        for values in (x, *curves):
            cells = np.floor(CELLS * (values - values.min()) / (np.ptp(values) or 1.0))
            shows[1:] |= np.diff(cells[places]) != 0
        return places[shows]

    def _set_axes(self) -> None:
        ax, p = self.ax_, self.alpha.size
        if p > MAX_FEATURES_LINEAR_AXIS:
            ax.set_xscale("log")
            ax.set_xlim(0.8, 1.25 * p)
            ax.xaxis.set_major_locator(LogLocator(numticks=5))
            ax.xaxis.set_minor_locator(NullLocator())
            ax.xaxis.set_major_formatter(FuncFormatter(lambda rank, _: f"{rank:,.0f}"))
        else:
            ax.set_xlim(0.5, p + 0.5)
            ax.xaxis.set_major_locator(MaxNLocator(nbins=7, integer=True, min_n_ticks=1))
        ax.set_xlabel("Rank of the feature")
        ax.set_ylabel("Alpha")
        drawn = [c for c in (self.alpha, self.lower, self.upper, self.median) if c is not None]
        few_ticks(ax.yaxis, np.append(np.concatenate(drawn), 0.0), 6)
        ax.grid(axis="y")


def _widened(ranks: np.ndarray) -> np.ndarray:
    """Half a rank more at both ends: the band of a single feature has a width, too."""
    return np.concatenate([[ranks[0] - 0.5], ranks, [ranks[-1] + 0.5]])


def _level(values: np.ndarray) -> np.ndarray:
    """The values for the widened ranks."""
    return np.pad(values, 1, mode="edge")
