"""The score of the selected set and its proved upper bound, for every k."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from ._style import PALETTE, few_ticks, figure_of, house_style, legend_above, new_figure
from .cv_path import mark_k, set_k_axis

if TYPE_CHECKING:
    from ..studies.result import Study

FAR = 20.0  # bounds so many times above the scores need a log axis


class GapDisplay:
    """Score and bound against k; what lies between is the room for a better set.

    Parameters
    ----------
    ks : the cardinalities, ascending
    objective : array-like, one entry per k
        Score of the selected set.
    bound : array-like, one entry per k
        No set of that size scores more; inf where no bound is known.
    chosen_k : int, optional
    optimal : array-like of bool, one entry per k, optional
        Where the selected set is proved to be the best one.
    is_chosen : bool
        Whether cross-validation chose the marked k; else it is not called so.

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    objective_ : Line2D
    bound_ : Line2D, or None if no bound is known
    band_ : PolyCollection, or None: between neighbours that have a bound
    gaps_ : LineCollection, or None: one line per k whose neighbours have no bound
    optimal_ : Line2D, or None if nothing is proved optimal
    """

    def __init__(
        self,
        ks: Sequence[int],
        objective: ArrayLike,
        bound: ArrayLike,
        chosen_k: int | None = None,
        optimal: ArrayLike | None = None,
        is_chosen: bool = True,
    ) -> None:
        self.ks = tuple(ks)
        self.objective = np.asarray(objective, dtype=np.float64)
        self.bound = np.asarray(bound, dtype=np.float64)
        self.chosen_k, self.is_chosen = chosen_k, is_chosen
        none = np.zeros(len(self.ks), dtype=bool)
        self.optimal = none if optimal is None else np.asarray(optimal, dtype=bool)

    @classmethod
    def from_study(cls, study: Study) -> GapDisplay:
        """From the sets that a study selects, one for each k."""
        rows = study.optimality
        return cls(
            list(study.path),
            [row.objective for row in rows],
            [row.bound for row in rows],
            chosen_k=study.best_k,
            optimal=[row.is_certified for row in rows],
            is_chosen=study.chose_k,
        )

    def plot(self, ax: Axes | None = None) -> GapDisplay:
        """Draw on ax, or on a new figure."""
        with house_style():
            self.ax_ = new_figure(3.4).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            bound = self._draw_bound()
            entries = [self._draw_objective(), *bound, *self._draw_optimal()]
            self._set_axes()
            if self.chosen_k is not None:
                curve = self.ks, self.objective
                mark_k(self.ax_, self.chosen_k, *curve, is_chosen=self.is_chosen)
            legend_above(self.ax_, [h for h, _ in entries], [label for _, label in entries])
        return self

    def _draw_objective(self) -> tuple[Any, str]:
        (self.objective_,) = self.ax_.plot(
            self.ks, self.objective, color=PALETTE[0], marker="o", ms=4.5, lw=1.6
        )
        return self.objective_, "selected set"

    def _draw_bound(self) -> list[tuple[Any, str]]:
        self.bound_: Line2D | None = None
        self.band_: PolyCollection | None = None
        self.gaps_: LineCollection | None = None
        known = np.isfinite(self.bound)
        if not known.any():
            return []
        ceiling = np.where(known, self.bound, np.nan)
        # a band needs two neighbours that have a bound: a k between others is a line
        padded = np.pad(known, 1)
        alone = known & ~padded[:-2] & ~padded[2:]
        self.gaps_ = self.ax_.vlines(
            np.asarray(self.ks)[alone], self.objective[alone], ceiling[alone],
            color=PALETTE[1], alpha=0.45, lw=3.0,
        )  # fmt: skip
        self.band_ = self.ax_.fill_between(
            self.ks,
            self.objective,
            ceiling,
            where=known & ~alone,
            color=PALETTE[1],
            alpha=0.2,
            lw=0,
        )
        (self.bound_,) = self.ax_.plot(
            self.ks, ceiling, color=PALETTE[1], marker="v", ms=4.5, lw=1.2
        )
        return [(self.bound_, "proved upper bound"), (self.band_, "room for better sets")]

    def _draw_optimal(self) -> list[tuple[Any, str]]:
        self.optimal_: Line2D | None = None
        if not self.optimal.any():
            return []
        (self.optimal_,) = self.ax_.plot(
            np.asarray(self.ks)[self.optimal], self.objective[self.optimal],
            "*", color=PALETTE[2], ms=11, mew=0, zorder=3,
        )  # fmt: skip
        return [(self.optimal_, "proved optimal")]

    def _set_axes(self) -> None:
        ax = self.ax_
        set_k_axis(ax, self.ks, self.chosen_k)
        ax.set_ylabel("Score of the set")
        ax.grid(axis="y")
        drawn = np.append(self.objective, self.bound[np.isfinite(self.bound)])
        low, high = float(drawn.min()), float(drawn.max())
        if low > 0 and high > FAR * self.objective.max():
            ax.set_yscale("log")
            # above the curves there is room for the label of the chosen k
            ax.set_ylim(low / (high / low) ** 0.05, high * (high / low) ** 0.15)
            return
        span = high - min(low, 0.0) or 1.0
        ax.set_ylim(min(low, 0.0) - 0.03 * span, high + 0.15 * span)
        few_ticks(ax.yaxis, np.append(drawn, 0.0), 6)
