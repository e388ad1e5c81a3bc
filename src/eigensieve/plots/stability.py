"""How often each feature is selected when the samples change a little."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter
from numpy.typing import ArrayLike

from ._style import (
    FAINT,
    PALETTE,
    axes_of,
    figure_of,
    house_style,
    legend_above,
    name_rows,
    new_figure,
)
from .cv_path import mark_k, require_folds, set_k_axis

if TYPE_CHECKING:
    from ..studies.result import Study

MAX_BARS = 30
INDEX_HEIGHT = 2.1  # inches of the panel below the bars


class StabilityDisplay:
    """Selection frequencies as bars and, below, the stability index against k.

    Parameters
    ----------
    names : the features
    frequency : array-like (p,)
        Share of the resamples in which a feature was selected at the chosen k.
    selected : array-like of bool (p,)
        The features selected on all samples.
    ks : the cardinalities of the index, ascending, optional
    index : array-like, one entry per k, optional
        Nogueira's stability index: 1 where all resamples agree, about 0 for draws by chance.
    low, high : array-likes, one entry per k, optional
        Interval of the index.
    chosen_k : int, optional
        The k to mark, and is_chosen: whether cross-validation chose it.

    Attributes
    ----------
    names, frequency, selected : those drawn, the most often selected first
    n_left_out : number of features that were selected at times, but have no bar
    ax_, figure_ : where the bars were drawn
    axes_ : the axes of the bars and, if it was drawn, of the index
    bars_ : the BarContainer
    errorbar_ : the ErrorbarContainer of the index, or None
    """

    def __init__(
        self,
        names: Sequence[str],
        frequency: ArrayLike,
        selected: ArrayLike,
        ks: Sequence[int] | None = None,
        index: ArrayLike | None = None,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        chosen_k: int | None = None,
        is_chosen: bool = True,
    ) -> None:
        shares, chosen = np.asarray(frequency, dtype=np.float64), np.asarray(selected, dtype=bool)
        order = np.lexsort((~chosen, -shares))  # of equals, the selected come first
        order = order[shares[order] > 0]
        drawn = order[:MAX_BARS]
        self.n_left_out = order.size - drawn.size
        self.names = [str(names[j]) for j in drawn.tolist()]
        self.frequency, self.selected = shares[drawn], chosen[drawn]
        self.ks = () if ks is None else tuple(ks)
        unknown = np.full(len(self.ks), np.nan)
        self.index = unknown if index is None else np.asarray(index, dtype=np.float64)
        self.low = self.index if low is None else np.asarray(low, dtype=np.float64)
        self.high = self.index if high is None else np.asarray(high, dtype=np.float64)
        self.chosen_k, self.is_chosen = chosen_k, is_chosen

    @classmethod
    def from_study(cls, study: Study) -> StabilityDisplay:
        """The frequencies at the k of a study, and its index for every k."""
        table, k = study.stability_index, study.best_k
        require_folds(k in study.stability)
        return cls(
            study.names,
            study.stability[k],
            study.final_estimator.get_support(),
            [int(each) for each in table["k"]],
            table["index"],
            table["low"],
            table["high"],
            k,
            study.chose_k,
        )

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> StabilityDisplay:
        """Draw on ax (bars only), on two axes (bars and index), or on a new figure."""
        with house_style():
            self.axes_ = self._new_axes() if ax is None else axes_of(ax)
            self.ax_ = self.axes_[0]
            self.figure_ = figure_of(self.ax_)
            self._draw_bars()
            self.errorbar_: Any = None
            if len(self.axes_) > 1 and self._has_index:
                self._draw_index(self.axes_[1])
        return self

    @property
    def _has_index(self) -> bool:
        """False also where every resample selects all features: no index is defined then."""
        return bool(np.isfinite(self.index).any())

    def _new_axes(self) -> list[Axes]:
        bars = 1.0 + 0.25 * max(1, len(self.names)) + (0.2 if self.n_left_out else 0.0)
        if not self._has_index:
            return [new_figure(bars).add_subplot()]
        figure = new_figure(bars + INDEX_HEIGHT)
        # parts with margins of their own: long names shall not make the lower panel narrow
        parts = figure.subfigures(2, 1, squeeze=False, height_ratios=[bars, INDEX_HEIGHT])
        return [part.add_subplot() for part in parts[:, 0]]

    def _draw_bars(self) -> None:
        ax, rows = self.ax_, np.arange(len(self.names))
        colors = [PALETTE[0] if chosen else FAINT for chosen in self.selected]
        self.bars_ = ax.barh(rows, self.frequency, height=0.68, color=colors)
        ax.set_xlim(0.0, 1.0)
        ax.xaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
        ax.set_ylim(max(1, rows.size) - 0.4, -0.6)
        name_rows(ax, self.names)
        ax.grid(axis="x")
        self._write_label()
        self._write_legend()

    def _write_label(self) -> None:
        at = "" if self.chosen_k is None else f" at k = {self.chosen_k}"
        lines = [f"Selection frequency{at}"]
        if self.n_left_out:
            most = f"{100 * self.frequency[-1]:.3g} %"
            lines.append(f"({self.n_left_out:,} more features, none above {most}, have no bar)")
        # to the left it may reach below the names: the axes alone may be too narrow
        self.ax_.set_xlabel("\n".join(lines), loc="right")

    def _write_legend(self) -> None:
        entries = {}
        for bar, chosen in zip(self.bars_, self.selected):
            entries["in the final set" if chosen else "not in the final set"] = bar
        if not entries:
            return
        labels = sorted(entries)
        legend = legend_above(self.ax_, [entries[label] for label in labels], labels)
        # to the left it may reach over the names
        legend.set_loc("lower right")
        legend.set_bbox_to_anchor((1.0, 1.0), self.ax_.transAxes)

    def _draw_index(self, ax: Axes) -> None:
        interval = np.clip([self.index - self.low, self.high - self.index], 0.0, None)
        self.errorbar_ = ax.errorbar(
            self.ks, self.index, yerr=interval,
            color=PALETTE[0], marker="o", ms=4.5, lw=1.6, elinewidth=1.0, capsize=2.5,
        )  # fmt: skip
        set_k_axis(ax, self.ks, self.chosen_k)
        bottom = float(np.nanmin(self.low, initial=0.0))
        # above 1 there is room for the label of the chosen k
        ax.set_ylim(bottom - 0.03, 1.22)
        ax.set_yticks([tick for tick in (-1.0, -0.5, 0.0, 0.5, 1.0) if tick >= bottom])
        ax.set_ylabel("Stability index")
        ax.grid(axis="y")
        if self.chosen_k is not None:
            mark_k(ax, self.chosen_k, self.ks, self.index, is_chosen=self.is_chosen)
