"""Samples on the discriminant directions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.legend import Legend
from numpy.typing import ArrayLike
from scipy.stats import gaussian_kde

from ._style import (
    FAINT,
    INK,
    few_ticks,
    figure_of,
    house_style,
    legend_above,
    legend_below,
    name_rows,
    new_figure,
    short_names,
    size_of,
    style_of,
)

if TYPE_CHECKING:
    from ..studies.result import Study

MAX_POINTS_VECTOR = 2000  # above this an SVG of single points is heavier than a picture
MAX_CLASSES_ABOVE = 6  # classes whose legend stands above the plot; that of more is long: below
MAX_CLASSES_LONG_NAMES = 12  # of more than this many classes the legend has shorter names
MAX_CLASSES_IN_LEGEND = 30  # further classes are drawn in grey
PLOT_HEIGHT = 3.5  # inches, the legend not counted
LEGEND_SIZE = 36.0  # area of a marker, in points squared
GOLDEN = 0.6180339887498949


class ProjectionDisplay:
    """Scores of the samples, by class.

    One direction: a density and a strip of points per class. Two or more: a scatter of the
    first two, with a colour and a marker for each class (the first 30: the others are grey).

    Parameters
    ----------
    scores : array-like (n, m), or (n,)
    labels : array-like (n,)
    colors : dict from a class to its colour, optional
        Classes that it does not name have those of the house.

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    points_ : one PathCollection per class, in the order of ``classes``
    """

    def __init__(
        self, scores: ArrayLike, labels: ArrayLike, colors: Mapping[Any, str] | None = None
    ) -> None:
        scores = np.asarray(scores, dtype=np.float64)
        self.scores = scores[:, None] if scores.ndim == 1 else scores
        self.labels = np.asarray(labels)
        self.classes = np.unique(self.labels)
        self.colors = dict(colors or {})

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, y: ArrayLike) -> ProjectionDisplay:
        """Project X with ``estimator.transform``."""
        return cls(estimator.transform(X), y)

    @classmethod
    def from_study(cls, study: Study) -> ProjectionDisplay:
        """The training rows of a study."""
        return cls(study.scores, study.labels)

    def plot(self, ax: Axes | None = None) -> ProjectionDisplay:
        """Draw on ax, or on a new figure."""
        single = self.scores.shape[1] == 1
        height = self._rows_height if single else PLOT_HEIGHT
        with house_style():
            self.ax_ = new_figure(height).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            self.points_: list[Any] = []
            if single:
                self._plot_rows()
            else:
                self._plot_scatter()
                legend = self._name_classes()
                if ax is None:
                    self.figure_.set_figheight(PLOT_HEIGHT + size_of(legend)[1])
        return self

    @property
    def _rows_height(self) -> float:
        n = len(self.classes)
        return 1.0 + n * float(np.clip(5.1 / n, 0.3, 0.85))

    @property
    def _size(self) -> float:
        """Area of a marker; many classes need shapes that can be told apart."""
        smallest, largest = (9.0, 24.0) if len(self.classes) <= MAX_CLASSES_ABOVE else (16.0, 34.0)
        return float(np.clip(4000 / len(self.labels), smallest, largest))

    def _by_class(self) -> Iterator[tuple[int, np.ndarray, dict[str, Any]]]:
        """Number, scores and style of every class."""
        for i, label in enumerate(self.classes):
            named = i < MAX_CLASSES_IN_LEGEND or self.scores.shape[1] == 1
            grey = {"color": FAINT, "marker": ".", "zorder": 0.9}  # behind the others
            style: dict[str, Any] = (style_of(i) if named else grey) | {
                "s": self._size,
                "alpha": 0.7,
                "linewidths": 0.0,
                "rasterized": len(self.labels) > MAX_POINTS_VECTOR,
            }
            if named and label in self.colors:
                style["color"] = self.colors[label]
            yield i, self.scores[self.labels == label], style

    def _plot_scatter(self) -> None:
        for _, scores, style in self._by_class():
            self.points_.append(self.ax_.scatter(scores[:, 0], scores[:, 1], **style))
        self.ax_.set_xlabel("Direction 1")
        self.ax_.set_ylabel("Direction 2")
        self.ax_.grid()
        few_ticks(self.ax_.xaxis, self.scores[:, 0], 7)
        few_ticks(self.ax_.yaxis, self.scores[:, 1], 7)

    def _name_classes(self) -> Legend:
        scale = float(np.sqrt(LEGEND_SIZE / self._size))
        names = self._legend_names()
        place = legend_above if len(names) <= MAX_CLASSES_ABOVE else legend_below
        return place(self.ax_, self.points_[: len(names)], names, scale)

    def _legend_names(self) -> list[str]:
        """Short names; the last line stands for the classes that have none."""
        if len(self.classes) <= MAX_CLASSES_ABOVE:
            return short_names(self.classes, 40)
        names = short_names(self.classes, 26 if len(self.classes) <= MAX_CLASSES_LONG_NAMES else 17)
        left_out = len(names) - MAX_CLASSES_IN_LEGEND
        more = [f"{left_out} more, in grey"] if left_out > 0 else []
        return names[:MAX_CLASSES_IN_LEGEND] + more

    def _plot_rows(self) -> None:
        low, high = float(self.scores.min()), float(self.scores.max())
        margin = 0.1 * (high - low)
        grid = np.linspace(low - margin, high + margin, 240)
        curves = [density(scores[:, 0], grid) for _, scores, _ in self._by_class()]
        peak = max(float(curve.max()) for curve in curves) or 1.0
        for (i, scores, style), curve in zip(self._by_class(), curves):
            x = scores[:, 0]
            self.points_.append(self.ax_.scatter(x, i + 0.12 + 0.3 * spread(len(x)), **style))
            if curve.any():
                ridge = np.where(curve > 0.003 * peak, i - 0.55 * curve / peak, np.nan)
                self.ax_.fill_between(grid, i, ridge, color=style["color"], alpha=0.35, lw=0)
                self.ax_.plot(grid, ridge, color=style["color"], lw=1.2)
            centre = float(np.median(x))
            self.ax_.plot([centre, centre], [i + 0.08, i + 0.46], color=INK, lw=1.6)
        self._set_rows()

    def _set_rows(self) -> None:
        ax = self.ax_
        name_rows(ax, self.classes, 20)
        ax.set_ylim(len(self.classes) - 0.45, -0.65)
        ax.set_xlabel("Discriminant score (line: median)")
        few_ticks(ax.xaxis, self.scores[:, 0], 7)
        ax.grid(axis="x")


def spread(n: int) -> np.ndarray:
    """n numbers in [0, 1) that fill it evenly and look random: jitter without a seed."""
    return (np.arange(1, n + 1) * GOLDEN) % 1.0


def density(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """A kernel density on the grid; zero where the points are too few to have one."""
    if x.size < 5 or np.ptp(x) <= 1e-9 * max(1.0, float(np.abs(x).max())):
        return np.zeros_like(grid)
    return np.asarray(gaussian_kde(x)(grid))
