"""Correlations of the selected features with the discriminant scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.patches import Circle
from matplotlib.text import Annotation
from numpy.typing import ArrayLike

from ._style import (
    FAINT,
    PALETTE,
    figure_of,
    house_style,
    name_rows,
    new_figure,
    plain,
    short_names,
)
from .loadings import names_at

if TYPE_CHECKING:
    from ..studies.result import Study

MAX_LABELS = 25
MAX_BARS = 40
# The circle has a radius of 1, which is about an inch on a figure of its own.
ACROSS = 4.45  # width of the axes: the circle and the names beside it
EDGE = 1.1  # the names begin here
ROW = 0.145  # height of a name
LETTER = 0.066  # width of a letter


class CorrelationCircleDisplay:
    """Every feature as an arrow: how it goes with the first two directions.

    The length is at most 1; near 1, the two directions tell almost all of the feature. Arrows
    that point the same way are features that go together. The names stand left and right of
    the circle, those of the 25 longest arrows. With one direction: bars.

    Parameters
    ----------
    names : the features
    correlations : array-like (k, m), or (k,)
        Of each feature with the scores on each direction.

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    arrows_ : LineCollection, one line per feature, or None with one direction
    labels_ : the names of the circle
    bars_ : BarContainer, or None with two directions
    n_left_out : number of features that have no name, or no bar
    """

    def __init__(self, names: Sequence[str], correlations: ArrayLike) -> None:
        correlations = np.asarray(correlations, dtype=np.float64)
        self.names = list(names)
        self.correlations = correlations[:, None] if correlations.ndim == 1 else correlations

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, names: Sequence[str] | None = None
    ) -> CorrelationCircleDisplay:
        """From a fitted discriminant and samples; names are those of all columns of X."""
        S = np.asarray(estimator.get_support(indices=True))
        correlations = cross_correlation(np.asarray(X)[:, S], estimator.transform(X))
        return cls(names_at(S, estimator, names), correlations)

    @classmethod
    def from_study(cls, study: Study) -> CorrelationCircleDisplay:
        """The selected features of a study."""
        return cls([feature.name for feature in study.selected], study.correlations)

    @property
    def n_left_out(self) -> int:
        """Number of features that have no name, or no bar."""
        most = MAX_BARS if self.correlations.shape[1] == 1 else MAX_LABELS
        return max(0, len(self.names) - most)

    def plot(self, ax: Axes | None = None) -> CorrelationCircleDisplay:
        """Draw on ax, or on a new figure."""
        self.arrows_: LineCollection | None = None
        self.labels_: list[Annotation] = []
        self.bars_: Any = None
        single = self.correlations.shape[1] == 1
        height = self._bars_height if single else 2 * self._half_height + 0.4
        height += 0.25 if self.n_left_out else 0.0
        with house_style():
            self.ax_ = new_figure(height).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            if single:
                self._plot_bars()
            else:
                self._plot_circle()
        return self

    # -- one direction ---------------------------------------------------------------

    @property
    def _bars_height(self) -> float:
        return 0.8 + 0.25 * min(len(self.names), MAX_BARS)

    def _plot_bars(self) -> None:
        ax, values = self.ax_, self.correlations[:, 0]
        shown = np.argsort(-np.abs(values), kind="stable")[:MAX_BARS]
        shown = shown[np.argsort(-values[shown], kind="stable")]
        rows, lengths = range(shown.size), values[shown]
        colors = [PALETTE[0] if value >= 0 else PALETTE[1] for value in lengths]
        self.bars_ = ax.barh(rows, lengths, height=0.68, color=colors)
        ax.axvline(0.0, color=FAINT, lw=0.8)
        ax.set_xlim(-1.0, 1.0)
        ax.set_xticks([-1.0, -0.5, 0.0, 0.5, 1.0])
        ax.set_ylim(shown.size - 0.4, -0.6)
        name_rows(ax, [self.names[j] for j in shown.tolist()])
        ax.set_xlabel("Correlation with the score")
        ax.grid(axis="x")
        if self.n_left_out:
            note = f"{self.n_left_out} more features are nearer to 0"
            ax.set_title(note, loc="left", size=9)

    # -- two directions --------------------------------------------------------------

    def _sides(self) -> dict[int, np.ndarray]:
        """The features that have a name, left (-1) and right (1), from bottom to top."""
        x, sine = self.correlations[:, 0], self._sines()
        length = np.hypot(x, self.correlations[:, 1])
        named = np.argsort(-length, kind="stable")[:MAX_LABELS]
        # by angle: lines from the tips outwards hardly cross then
        named = named[np.argsort(sine[named], kind="stable")]
        sides = {-1: named[x[named] < 0], 1: named[x[named] >= 0]}
        return {side: members for side, members in sides.items() if members.size}

    def _sines(self) -> np.ndarray:
        """Sine of the angle of every arrow."""
        x, y = self.correlations[:, 0], self.correlations[:, 1]
        return np.sin(np.arctan2(y, x))

    @property
    def _half_height(self) -> float:
        rows = max(members.size for members in self._sides().values())
        return max(EDGE, ROW * (rows + 1) / 2)

    def _plot_circle(self) -> None:
        ax = self.ax_
        self._draw_rings()
        tips = self.correlations[:, :2]
        lines = [((0.0, 0.0), tuple(tip)) for tip in tips]
        self.arrows_ = LineCollection(lines, colors=PALETTE[0], linewidths=0.9, alpha=0.6)
        ax.add_collection(self.arrows_)
        ax.plot(tips[:, 0], tips[:, 1], "o", ms=4, mew=0, color=PALETTE[0])
        sides = self._sides()
        room = (ACROSS - 2 * EDGE) / len(sides)
        for side, members in sides.items():
            self._name_side(side, members, int(room / LETTER))
        left, right = (EDGE + (room if side in sides else 0.0) for side in (-1, 1))
        ax.set_xlim(-left, right)
        ax.set_ylim(-self._half_height, self._half_height)
        ax.set_aspect("equal")
        ax.set_xlabel("Correlation with direction 1 (across) and 2 (up)")
        if self.n_left_out:
            note = f"{self.n_left_out} more features, nearer to the centre, have no name"
            ax.set_title(note, loc="left", size=9)

    def _draw_rings(self) -> None:
        ax = self.ax_
        for radius in (0.5, 1.0):
            ax.add_patch(Circle((0.0, 0.0), radius, fill=False, ec=FAINT, lw=0.8))
            ax.annotate(f"{radius:g}", (0.0, radius), (2, 1), textcoords="offset points", size=8)
        for end in ((1.0, 0.0), (0.0, 1.0)):
            ax.plot([-end[0], end[0]], [-end[1], end[1]], color=FAINT, lw=0.8, alpha=0.5)
        ax.set_xticks([])
        ax.set_yticks([])
        ax.spines[:].set_visible(False)

    def _name_side(self, side: int, members: np.ndarray, letters: int) -> None:
        """The names on one side, each with a line to its point."""
        tips = self.correlations[members, :2]
        names = short_names([self.names[j] for j in members.tolist()], letters)
        heights = apart(EDGE * self._sines()[members], ROW, self._half_height - ROW / 2)
        x = side * EDGE
        for name, tip, height in zip(names, tips, heights):
            self.ax_.plot([tip[0], x], [tip[1], height], color=FAINT, lw=0.5)
            label = self.ax_.annotate(
                name,
                (x, height),
                xytext=(side * 2, 0),
                textcoords="offset points",
                ha="left" if side > 0 else "right",
                va="center",
                size=8,
            )
            plain(label)
            self.labels_.append(label)


def cross_correlation(columns: ArrayLike, scores: ArrayLike) -> np.ndarray:
    """Correlation of every column with every score; that of a constant is 0."""
    Z, T = (_unit(np.asarray(matrix, dtype=np.float64)) for matrix in (columns, scores))
    return np.clip(Z.T @ T, -1.0, 1.0)


def _unit(matrix: np.ndarray) -> np.ndarray:
    """Columns with mean 0 and length 1; zeros where a column is constant but for rounding."""
    centred = matrix - matrix.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    flat = length <= 1e-12 * np.linalg.norm(matrix, axis=0)
    return np.where(flat, 0.0, centred / np.where(flat, 1.0, length))


def apart(heights: np.ndarray, gap: float, limit: float) -> np.ndarray:
    """Ascending heights moved until none is nearer than gap to the next, within the limits.

    The mean of two ways, pushing up only and pushing down only: a crowd opens both ways.
    """
    steps = gap * np.arange(heights.size)
    slack = heights - steps
    up = np.maximum.accumulate(slack)
    down = np.minimum.accumulate(slack[::-1])[::-1]
    return np.clip((up + down) / 2, -limit, limit - steps[-1]) + steps
