"""Which features are in which of several sets: a matrix of dots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from numpy.typing import ArrayLike

from ..search.near_optimal.sets import NearOptimalSets
from ._style import FAINT, PALETTE, WIDTH, figure_of, house_style, new_figure, plain, short_names

MAX_SETS = 50
MAX_FEATURES = 60


class PanelsDisplay:
    """A row for every set, the best first; a column for every feature, the most frequent first.

    Parameters
    ----------
    names : the features
    sets : array-like (n_sets, k), places in names
    losses : array-like (n_sets,), shares of the best score, optional

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    dots_ : PathCollection
    n_left_out : number of sets that are not drawn
    """

    def __init__(
        self, names: Sequence[str], sets: ArrayLike, losses: ArrayLike | None = None
    ) -> None:
        self.names = [str(name) for name in names]
        self.sets = np.asarray(sets, dtype=np.intp)
        self.losses = None if losses is None else np.asarray(losses, dtype=np.float64)

    @classmethod
    def from_sets(cls, found: NearOptimalSets) -> PanelsDisplay:
        """Of a list of near-optimal sets; features that are in none have no column."""
        order = np.argsort(-found.frequency, kind="stable")
        used = order[: np.count_nonzero(found.frequency)]
        place = np.zeros(found.n_features, dtype=np.intp)
        place[used] = np.arange(used.size)
        return cls([found.name_of(j) for j in used.tolist()], place[found.sets], found.losses)

    @property
    def n_left_out(self) -> int:
        """Number of sets that are not drawn."""
        return max(0, len(self.sets) - MAX_SETS)

    def plot(self, ax: Axes | None = None) -> PanelsDisplay:
        """Draw on ax, or on a new figure, which is as large as it has to be."""
        with house_style():
            self.ax_ = self._new_axes() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            self.dots_ = self._draw()
            self._name_both()
        return self

    def _new_axes(self) -> Axes:
        figure = new_figure(1.6 + 0.16 * min(len(self.sets), MAX_SETS))
        figure.set_figwidth(max(WIDTH, 1.4 + 0.2 * min(len(self.names), MAX_FEATURES)))
        return figure.add_subplot()

    def _draw(self) -> PathCollection:
        shown = self.sets[:MAX_SETS]
        rows = np.repeat(np.arange(len(shown)), shown.shape[1])
        columns = shown.ravel()
        kept = columns < MAX_FEATURES
        in_all = np.bincount(self.sets.ravel(), minlength=len(self.names)) == len(self.sets)
        colors = np.where(in_all[columns[kept]], PALETTE[1], PALETTE[0])
        dots: Any = self.ax_.scatter(columns[kept], rows[kept], s=22, c=colors.tolist())
        return dots

    def _name_both(self) -> None:
        ax, names = self.ax_, self.names[:MAX_FEATURES]
        n = min(len(self.sets), MAX_SETS)
        ax.set_xticks(range(len(names)), short_names(names, 18), rotation=90)
        for text in ax.get_xticklabels():
            plain(text)
        labels = [str(i + 1) for i in range(n)]
        if self.losses is not None:
            labels = [f"{i + 1}  ({-100 * self.losses[i] + 0.0:.2f} %)" for i in range(n)]
        ax.set_yticks(range(n), labels)
        ax.set_xlim(-0.7, len(names) - 0.3)
        ax.set_ylim(n - 0.4, -0.6)
        ax.tick_params(length=0)
        ax.grid(axis="x", color=FAINT, alpha=0.25)
        left_out = []
        if self.n_left_out:
            left_out.append(f"{self.n_left_out:,} more sets")
        if len(self.names) > MAX_FEATURES:
            left_out.append(f"{len(self.names) - MAX_FEATURES:,} more features")
        note = f"; not shown: {', '.join(left_out)}" if left_out else ""
        ax.set_title(f"Sets, best first; orange: in all of them{note}", loc="left", size=9)
