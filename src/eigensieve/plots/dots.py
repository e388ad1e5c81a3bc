"""Expression of the selected features in every group: a dot plot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colorbar import Colorbar
from numpy.typing import ArrayLike

from ._style import FAINT, WIDTH, figure_of, house_style, new_figure, plain, short_names

MAX_FEATURES = 60
LARGEST = 110.0  # area of a dot that stands for all samples, in points squared
COLORS = "viridis_r"  # read alike by colour-blind readers, and in grey


class DotsDisplay:
    """A dot for every feature (column) and group (row).

    Its colour is the mean of the feature in the group, its area the share of samples whose value
    is above zero.

    Parameters
    ----------
    names : the features
    groups : the groups, from top to bottom
    means : array-like (n_groups, n_features)
    shares : array-like (n_groups, n_features), from 0 to 1

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    dots_ : PathCollection
    colorbar_ : Colorbar
    n_left_out : number of features that are not drawn
    """

    def __init__(
        self, names: Sequence[str], groups: Sequence[str], means: ArrayLike, shares: ArrayLike
    ) -> None:
        self.names, self.groups = list(names), list(groups)
        self.means = np.asarray(means, dtype=np.float64)
        self.shares = np.asarray(shares, dtype=np.float64)

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        labels: ArrayLike,
        names: Sequence[str],
        groups: Sequence[str] | None = None,
    ) -> DotsDisplay:
        """Means and shares of the columns of X (n, k), by label; groups sorted, if not given."""
        values, tags = np.asarray(X, dtype=np.float64), np.asarray(labels)
        groups = np.unique(tags).tolist() if groups is None else groups
        parts = [values[tags == group] for group in groups]
        means = [part.mean(axis=0) for part in parts]
        shares = [(part > 0).mean(axis=0) for part in parts]
        return cls(names, [str(group) for group in groups], means, shares)

    @property
    def n_left_out(self) -> int:
        """Number of features that are not drawn."""
        return max(0, len(self.names) - MAX_FEATURES)

    def plot(self, ax: Axes | None = None) -> DotsDisplay:
        """Draw on ax, or on a new figure, which is as wide as the features need."""
        with house_style():
            self.ax_ = self._new_axes() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            self.dots_ = self._draw()
            self.colorbar_ = self._add_scales()
            self._name_both()
        return self

    def _new_axes(self) -> Axes:
        figure = new_figure(1.9 + 0.26 * len(self.groups))
        shown = min(len(self.names), MAX_FEATURES)
        figure.set_figwidth(max(WIDTH, 1.9 + 0.24 * shown))
        return figure.add_subplot()

    def _draw(self) -> PathCollection:
        shown = min(len(self.names), MAX_FEATURES)
        rows, columns = np.indices((len(self.groups), shown))
        dots: Any = self.ax_.scatter(
            columns.ravel(), rows.ravel(), s=LARGEST * self.shares[:, :shown].ravel(),
            c=self.means[:, :shown].ravel(), cmap=COLORS, linewidths=0.4, edgecolors=FAINT,
        )  # fmt: skip
        return dots

    def _add_scales(self) -> Colorbar:
        bar = self.figure_.colorbar(self.dots_, ax=self.ax_, shrink=0.8, pad=0.02)
        bar.set_label("Mean in the group")
        return bar

    def _name_both(self) -> None:
        ax, shown = self.ax_, self.names[:MAX_FEATURES]
        ax.set_xticks(range(len(shown)), short_names(shown, 18), rotation=90)
        ax.set_yticks(range(len(self.groups)), short_names(self.groups, 20))
        for text in (*ax.get_xticklabels(), *ax.get_yticklabels()):
            plain(text)
        ax.set_xlim(-0.7, len(shown) - 0.3)
        ax.set_ylim(len(self.groups) - 0.4, -0.6)
        ax.tick_params(length=0)
        note = "Area: share of samples above zero"
        if self.n_left_out:
            note += f"; {self.n_left_out} more features not shown"
        ax.set_title(note, loc="left", size=9)
