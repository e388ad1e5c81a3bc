"""Samples on the discriminant directions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike
from scipy.stats import gaussian_kde

from ._style import (
    INK,
    MARKERS,
    PALETTE,
    figure_of,
    house_style,
    legend_above,
    new_figure,
    plain,
    shorten,
)

if TYPE_CHECKING:
    from ..studies.fitting import FitResult

MANY_POINTS = 2000  # above this an SVG of single points is heavier than a picture
MOST_IN_LEGEND = 24
LEGEND_SIZE = 30.0  # area of a marker, in points squared
GOLDEN = 0.6180339887498949


class ProjectionDisplay:
    """Scores of the samples, by class.

    One direction: a density and a strip of points per class. Two or more: a scatter of the
    first two, with a colour and a marker for each class.

    Parameters
    ----------
    scores : array-like (n, m), or (n,)
    labels : array-like (n,)

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    points_ : one PathCollection per class, in the order of ``classes``
    """

    def __init__(self, scores: ArrayLike, labels: ArrayLike) -> None:
        scores = np.asarray(scores, dtype=np.float64)
        self.scores = scores[:, None] if scores.ndim == 1 else scores
        self.labels = np.asarray(labels)
        self.classes = np.unique(self.labels)

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, y: ArrayLike) -> ProjectionDisplay:
        """Project X with ``estimator.transform``."""
        return cls(estimator.transform(X), y)

    @classmethod
    def from_result(cls, result: FitResult) -> ProjectionDisplay:
        """The training rows of a study."""
        return cls(result.scores, result.labels)

    def plot(self, ax: Axes | None = None) -> ProjectionDisplay:
        """Draw on ax, or on a new figure."""
        single = self.scores.shape[1] == 1
        height = 1.0 + 0.85 * len(self.classes) if single else 4.0
        with house_style():
            self.ax_ = new_figure(height).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            self.points_: list[Any] = []
            if single:
                self._plot_rows()
            else:
                self._plot_scatter()
        return self

    @property
    def _size(self) -> float:
        return float(np.clip(4000 / len(self.labels), 9.0, 24.0))

    def _by_class(self) -> Iterator[tuple[int, np.ndarray, dict[str, Any]]]:
        """Number, scores and style of every class."""
        for i, label in enumerate(self.classes):
            style = {
                "color": PALETTE[i % len(PALETTE)],
                "marker": MARKERS[i % len(MARKERS)],
                "s": self._size,
                "alpha": 0.7,
                "linewidths": 0.0,
                "rasterized": len(self.labels) > MANY_POINTS,
            }
            yield i, self.scores[self.labels == label], style

    def _plot_scatter(self) -> None:
        scale = float(np.sqrt(LEGEND_SIZE / self._size))
        for _, scores, style in self._by_class():
            self.points_.append(self.ax_.scatter(scores[:, 0], scores[:, 1], **style))
        self.ax_.set_xlabel("Direction 1")
        self.ax_.set_ylabel("Direction 2")
        self.ax_.grid()
        names = [shorten(label, 24) for label in self.classes[:MOST_IN_LEGEND]]
        legend_above(self.ax_, self.points_[:MOST_IN_LEGEND], names, scale)
        left_out = len(self.classes) - len(names)
        if left_out:
            title = f"{left_out} more classes are drawn, not named"
            self.ax_.set_title(title, loc="right", size=9)

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
        ax, rows = self.ax_, range(len(self.classes))
        ax.set_yticks(list(rows), [shorten(label, 20) for label in self.classes])
        for text in ax.get_yticklabels():
            plain(text)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_ylim(len(self.classes) - 0.45, -0.65)
        ax.set_xlabel("Discriminant score (the line marks the median)")
        ax.grid(axis="x")


def spread(n: int) -> np.ndarray:
    """n numbers in [0, 1) that fill it evenly and look random: jitter without a seed."""
    return (np.arange(1, n + 1) * GOLDEN) % 1.0


def density(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """A kernel density on the grid; zero where the points are too few to have one."""
    if x.size < 5 or np.ptp(x) <= 1e-9 * max(1.0, float(np.abs(x).max())):
        return np.zeros_like(grid)
    return np.asarray(gaussian_kde(x)(grid))
