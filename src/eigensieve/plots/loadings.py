"""Loadings of the selected features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import ArrayLike

from ._style import (
    FAINT,
    PALETTE,
    axes_of,
    brief,
    few_ticks,
    figure_of,
    house_style,
    new_figure,
    plain,
    shorten,
)

if TYPE_CHECKING:
    from ..studies.result import Study

MAX_BARS = 40
MAX_DIRECTIONS = 2
INVISIBLE = 0.002  # a bar shorter than this share of the longest has its number instead


class LoadingsDisplay:
    """Horizontal bars, the feature of rank 1 on top; the first two directions side by side.

    Parameters
    ----------
    names : the features, by rank
    loadings : array-like (k, m), or (k,)
    positive : str, optional
        The class on the positive side, where there is one direction.

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    axes_ : one axes per direction drawn
    bars_ : one BarContainer per direction drawn
    n_left_out : number of features that have no bar
    """

    def __init__(
        self, names: Sequence[str], loadings: ArrayLike, positive: str | None = None
    ) -> None:
        loadings = np.asarray(loadings, dtype=np.float64)
        self.names = list(names)
        self.loadings = loadings[:, None] if loadings.ndim == 1 else loadings
        self.positive = positive

    @classmethod
    def from_estimator(cls, estimator: Any, names: Sequence[str] | None = None) -> LoadingsDisplay:
        """From a fitted discriminant or SparsePCA; names are those of all features it was given."""
        is_lda = hasattr(estimator, "scalings_")
        matrix = estimator.scalings_ if is_lda else estimator.components_.T
        S = np.flatnonzero(estimator.support_)
        # by the directions that are drawn: with l1 others may have features of their own
        share = estimator.explained_variance_ratio_[:MAX_DIRECTIONS]
        weight = np.sqrt(np.square(matrix[S, :MAX_DIRECTIONS]) @ share)
        S = S[np.argsort(-weight, kind="stable")]
        return cls(names_at(S, estimator, names), matrix[S])

    @classmethod
    def from_study(cls, study: Study) -> LoadingsDisplay:
        """The selected features of a study, by rank."""
        loadings = [f.loadings for f in study.selected]
        return cls([f.name for f in study.selected], loadings, sides_of(study)[0])

    @property
    def n_left_out(self) -> int:
        """Number of features that have no bar."""
        return max(0, len(self.names) - MAX_BARS)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> LoadingsDisplay:
        """Draw on ax (one for each of the first two directions), or on a new figure."""
        with house_style():
            self.axes_ = self._new_axes() if ax is None else axes_of(ax)
            self.ax_ = self.axes_[0]
            self.figure_ = figure_of(self.ax_)
            self.bars_ = [self._draw(axes, j) for j, axes in enumerate(self.axes_)]
            self._name_rows()
        return self

    def _new_axes(self) -> list[Axes]:
        bars = min(len(self.names), MAX_BARS)
        figure = new_figure(0.8 + 0.25 * bars + (0.25 if self.n_left_out else 0.0))
        columns = min(self.loadings.shape[1], MAX_DIRECTIONS)
        return list(figure.subplots(1, columns, sharey=True, squeeze=False)[0])

    def _draw(self, ax: Axes, direction: int) -> Any:
        lengths = self.loadings[:MAX_BARS, direction]
        colors = [PALETTE[0] if value >= 0 else PALETTE[1] for value in lengths]
        bars = ax.barh(np.arange(lengths.size), lengths, height=0.68, color=colors)
        ax.axvline(0.0, color=FAINT, lw=0.8)
        ax.spines["left"].set_visible(False)
        ax.tick_params(axis="y", length=0)
        self._write_invisible(ax, lengths)
        plain(ax.xaxis.label)
        ax.set_xlabel(self._label(direction))
        few_ticks(ax.xaxis, np.append(lengths, 0.0), 4 if len(self.axes_) > 1 else 7)
        ax.grid(axis="x")
        return bars

    def _label(self, direction: int) -> str:
        if self.loadings.shape[1] > 1:
            return f"Loading {direction + 1}"
        if self.positive is None:
            return "Loading"
        return f"Loading (positive: towards {shorten(self.positive)})"

    def _write_invisible(self, ax: Axes, lengths: np.ndarray) -> None:
        """The numbers of the bars that nobody could see."""
        for row in np.flatnonzero(np.abs(lengths) < INVISIBLE * np.abs(lengths).max()):
            ax.annotate(
                brief(lengths[row]),
                (0.0, row),
                xytext=(3, 0),
                textcoords="offset points",
                va="center",
                size=8,
            )

    def _name_rows(self) -> None:
        shown = self.names[:MAX_BARS]
        most = 28 if len(self.axes_) == 1 else 22
        for ax in self.axes_:
            ax.set_ylim(len(shown) - 0.4, -0.6)
        # shared axes show the labels once: set them on the first only
        self.ax_.set_yticks(range(len(shown)), [shorten(name, most) for name in shown])
        for text in self.ax_.get_yticklabels():
            plain(text)
        if self.n_left_out:
            note = f"{self.n_left_out} more features have smaller weights"
            self.ax_.set_title(note, loc="left", size=9)


def sides_of(study: Study) -> tuple[str, str] | tuple[None, None]:
    """Of two classes that with the higher mean score, then the other; None where there are more."""
    classes = np.unique(study.labels)
    if classes.size != 2 or study.scores.shape[1] != 1:
        return None, None
    means = [study.scores[study.labels == label, 0].mean() for label in classes]
    high = int(np.argmax(means))
    return str(classes[high]), str(classes[1 - high])


def names_at(indices: np.ndarray, estimator: Any, names: Sequence[str] | None) -> list[str]:
    """Names of some features; of all, where not given, the estimator may know them."""
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    return [f"feature {j}" if names is None else str(names[j]) for j in indices.tolist()]
