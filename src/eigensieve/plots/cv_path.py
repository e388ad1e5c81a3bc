"""Error against the number of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter
from numpy.typing import ArrayLike

from ._style import FAINT, INK, PALETTE, figure_of, house_style, legend_above, new_figure

if TYPE_CHECKING:
    from ..studies.cv_path import CVPath

LABEL_GAP = 0.06  # two labels of k closer than this share of the axis would touch


class CVPathDisplay:
    """Cross-validated error against k, with the 1-SE threshold and the chosen k.

    Parameters
    ----------
    ks : the cardinalities, ascending
    error, standard_error : array-likes, one entry per k, as fractions
    balanced_error : array-like, optional
    chosen_k : int, optional

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    errorbar_ : the ErrorbarContainer
    threshold_ : smallest error plus its standard error
    """

    def __init__(
        self,
        ks: Sequence[int],
        error: ArrayLike,
        standard_error: ArrayLike,
        balanced_error: ArrayLike | None = None,
        chosen_k: int | None = None,
    ) -> None:
        self.ks = tuple(ks)
        self.error = np.asarray(error, dtype=np.float64)
        self.standard_error = np.asarray(standard_error, dtype=np.float64)
        self.balanced_error = None if balanced_error is None else np.asarray(balanced_error)
        self.chosen_k = chosen_k

    @classmethod
    def from_cv(cls, cv: CVPath, chosen_k: int | None = None) -> CVPathDisplay:
        """From a cross-validated path; the chosen k is that of the 1-SE rule by default."""
        best = cv.best_k if chosen_k is None else chosen_k
        return cls(cv.ks, cv.error, cv.standard_error, cv.balanced_error, best)

    @property
    def threshold_(self) -> float:
        """The smallest error plus its standard error."""
        lowest = int(np.argmin(self.error))
        return float(self.error[lowest] + self.standard_error[lowest])

    def plot(self, ax: Axes | None = None) -> CVPathDisplay:
        """Draw on ax, or on a new figure."""
        with house_style():
            self.ax_ = new_figure(3.2).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            entries = [*self._draw_errors(), self._draw_threshold()]
            self._set_axes()
            self._mark_chosen()
            legend_above(self.ax_, [h for h, _ in entries], [label for _, label in entries])
        return self

    def _draw_errors(self) -> list[tuple[Any, str]]:
        entries: list[tuple[Any, str]] = []
        if self.balanced_error is not None:
            (line,) = self.ax_.plot(
                self.ks,
                self.balanced_error,
                color=PALETTE[1],
                lw=1.0,
                marker="s",
                ms=3.5,
                mfc="none",
            )
            entries.append((line, "balanced error"))
        self.errorbar_ = self.ax_.errorbar(
            self.ks, self.error, yerr=self.standard_error,
            color=PALETTE[0], marker="o", ms=4.5, lw=1.6, elinewidth=1.0, capsize=2.5,
        )  # fmt: skip
        return [(self.errorbar_, "error ± 1 SE"), *entries]

    def _draw_threshold(self) -> tuple[Any, str]:
        line = self.ax_.axhline(self.threshold_, color=FAINT, lw=1.0, ls=(0, (5, 3)))
        return line, "1-SE threshold"

    def _set_axes(self) -> None:
        ax = self.ax_
        ax.set_xscale("log")
        if len(self.ks) == 1:
            ax.set_xlim(self.ks[0] / 2, self.ks[0] * 2)
        ax.xaxis.set_major_locator(FixedLocator(list(self.ks)))
        ax.xaxis.set_minor_locator(NullLocator())
        labelled = spaced(self.ks, self.chosen_k)
        ax.set_xticks(self.ks, [str(k) if k in labelled else "" for k in self.ks])
        ax.set_xlabel("Number of features k")
        ax.set_ylabel("Cross-validated error")
        curves = [self.error + self.standard_error, self.error]
        if self.balanced_error is not None:
            curves.append(self.balanced_error)
        top = 1.1 * max(float(np.max(curve)) for curve in curves)
        # a little below zero, so that the marker of an error of 0 is whole
        ax.set_ylim(-0.03 * (top or 1.0), top or 1.0)
        ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
        ax.grid(axis="y")

    def _mark_chosen(self) -> None:
        k = self.chosen_k
        if k is None:
            return
        self.chosen_line_ = self.ax_.axvline(k, color=INK, lw=1.0, ls=(0, (1, 2)))
        if k in self.ks:
            height = self.error[self.ks.index(k)]
            self.ax_.plot([k], [height], "o", ms=9, mfc="none", mec=INK, mew=1.4)
        left, right = np.log(self.ax_.get_xlim())
        beyond = (np.log(k) - left) / (right - left) > 0.8
        self.chosen_label_ = self.ax_.annotate(
            f"chosen: k = {k}",
            (k, 1.0),
            xycoords=self.ax_.get_xaxis_transform(),
            xytext=(-6 if beyond else 6, -2),
            textcoords="offset points",
            ha="right" if beyond else "left",
            va="top",
            weight="bold",
            size=9,
        )


def spaced(ks: Sequence[int], chosen: int | None = None) -> set[int]:
    """The values of k whose labels have room on a log axis; the chosen one always has."""
    gap = LABEL_GAP * np.log(max(ks) / min(ks))
    kept: list[int] = []
    for k in sorted(ks, key=lambda k: (k != chosen, k not in (min(ks), max(ks)), k)):
        if all(abs(np.log(k / other)) >= gap for other in kept):
            kept.append(k)
    return set(kept)
