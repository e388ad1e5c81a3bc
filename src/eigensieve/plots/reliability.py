"""How often predictions are right, against how probable they were said to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from ..errors import InputError
from ._style import FAINT, PALETTE, figure_of, house_style, legend_above, new_figure

if TYPE_CHECKING:
    from ..studies.calibration import ReliabilityBin
    from ..studies.result import Study


class ReliabilityDisplay:
    """The share of right predictions against their mean probability, with 95 % intervals.

    A bin holds samples left out whose predicted class had about the same probability. On the
    diagonal probabilities are what they say; below it they are too sure.

    Parameters
    ----------
    bins : list of ReliabilityBin, with the temperature
    before : list of ReliabilityBin, optional
        The same without it, drawn fainter.

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    errorbar_ : the ErrorbarContainer of ``bins``
    """

    def __init__(
        self, bins: Sequence[ReliabilityBin], before: Sequence[ReliabilityBin] | None = None
    ) -> None:
        self.bins = list(bins)
        self.before = None if before is None else list(before)

    @classmethod
    def from_study(cls, study: Study) -> ReliabilityDisplay:
        """The probabilities of a study on samples left out, with and without the temperature."""
        found = study.calibration
        if found is None:
            raise InputError("the study has no calibration to draw: no probabilities were kept")
        return cls(found.after.bins(), found.before.bins())

    def plot(self, ax: Axes | None = None) -> ReliabilityDisplay:
        """Draw on ax, or on a new figure."""
        with house_style():
            self.ax_ = new_figure(3.4).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            low = self._lowest()
            (diagonal,) = self.ax_.plot([low, 1], [low, 1], color=FAINT, lw=1.0, ls=(0, (5, 3)))
            handles, labels = [diagonal], ["as sure as right"]
            if self.before is not None:
                faint = self._draw(self.before, color=PALETTE[1], marker="s", ms=4.0, mfc="none")
                handles, labels = [faint, *handles], ["without temperature", *labels]
            self.errorbar_ = self._draw(self.bins, color=PALETTE[0], marker="o", ms=5.0)
            label = "predictions" if self.before is None else "with temperature"
            legend_above(self.ax_, [self.errorbar_, *handles], [label, *labels])
            self._set_axes(low)
        return self

    def _lowest(self) -> float:
        every = [*self.bins, *(self.before or ())]
        return max(0.0, min(min(one.confidence, one.right[1]) for one in every) - 0.03)

    def _draw(self, bins: Sequence[ReliabilityBin], **look: Any) -> Any:
        right, low, high = np.array([one.right for one in bins]).T
        ends = np.clip([right - low, high - right], 0.0, None)
        confidence = [one.confidence for one in bins]
        return self.ax_.errorbar(
            confidence, right, yerr=ends, lw=1.2, elinewidth=1.0, capsize=2.5, **look
        )

    def _set_axes(self, low: float) -> None:
        ax = self.ax_
        ax.set_xlim(low, 1.02)
        ax.set_ylim(low, 1.02)
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
        ax.set_xlabel("Probability of the predicted class")
        ax.set_ylabel("Predicted right, 95 % interval")
        ax.grid()
