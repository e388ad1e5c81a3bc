"""Error against the number of features."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from matplotlib.ticker import FixedLocator, NullLocator, PercentFormatter
from numpy.typing import ArrayLike

from ..errors import InputError, OptionError
from ._style import FAINT, INK, PALETTE, figure_of, house_style, legend_above, new_figure

if TYPE_CHECKING:
    from ..studies.result import Study

SCORES = ("error", "balanced_error")
SAME = 5e-4  # errors that differ by less are shown as the same numbers
LABEL_GAP = 0.06  # two labels of k closer than this share of the axis would touch


class CVPathDisplay:
    """Cross-validated error against k, with the 1-SE threshold and the k that is taken.

    Parameters
    ----------
    ks : the cardinalities, ascending
    error, standard_error : array-likes, one entry per k, as fractions
    balanced_error : array-like, optional
    chosen_k : int, optional
        The k to mark.
    score : "error" or "balanced_error"
        The one k was chosen by, drawn with bars and threshold; the standard error is its own.
    is_chosen : bool
        Whether these errors chose that k by the 1-SE rule. If not, there is no threshold.

    Attributes
    ----------
    ax_, figure_ : where it was drawn
    errorbar_ : the ErrorbarContainer
    threshold_ : smallest error (of the score k was chosen by) plus its standard error
    """

    def __init__(
        self,
        ks: Sequence[int],
        error: ArrayLike,
        standard_error: ArrayLike,
        balanced_error: ArrayLike | None = None,
        chosen_k: int | None = None,
        score: str = "error",
        is_chosen: bool = True,
    ) -> None:
        if score not in SCORES:
            raise OptionError(f"score={score!r} is not known; give one of {list(SCORES)}")
        if score == "balanced_error" and balanced_error is None:
            raise OptionError("score='balanced_error' needs the balanced errors; give them, too")
        self.ks = tuple(ks)
        self.error = np.asarray(error, dtype=np.float64)
        self.standard_error = np.asarray(standard_error, dtype=np.float64)
        self.balanced_error = None if balanced_error is None else np.asarray(balanced_error)
        self.chosen_k = chosen_k
        self.score = score
        self.is_chosen = is_chosen

    @classmethod
    def from_study(cls, study: Study) -> CVPathDisplay:
        """The errors of a study, and its k."""
        table = study.table
        require_folds(len(table) > 0)
        errors = (table["error"], table["se"], table["balanced_error"])
        return cls(study.ks, *errors, study.best_k, study.score, study.chose_k)

    @property
    def threshold_(self) -> float:
        """The smallest error plus its standard error."""
        main, _ = self._curves
        lowest = int(np.argmin(main))
        return float(main[lowest] + self.standard_error[lowest])

    @property
    def _curves(self) -> tuple[np.ndarray, np.ndarray | None]:
        """The error k was chosen by, and the other one."""
        if self.score == "error" or self.balanced_error is None:
            return self.error, self.balanced_error
        return self.balanced_error, self.error

    def plot(self, ax: Axes | None = None) -> CVPathDisplay:
        """Draw on ax, or on a new figure."""
        with house_style():
            self.ax_ = new_figure(3.2).add_subplot() if ax is None else ax
            self.figure_ = figure_of(self.ax_)
            entries = self._draw_errors()
            if self.is_chosen and np.isfinite(self.threshold_):
                entries.append(self._draw_threshold())
            self._set_axes()
            if self.chosen_k is not None:
                self.chosen_line_, self.chosen_label_ = mark_k(
                    self.ax_, self.chosen_k, self.ks, self._curves[0], is_chosen=self.is_chosen
                )
            legend_above(self.ax_, [h for h, _ in entries], [label for _, label in entries])
        return self

    def _draw_errors(self) -> list[tuple[Any, str]]:
        entries: list[tuple[Any, str]] = []
        main, other = self._curves
        labels = ["error", "balanced error"]
        main_label, other_label = labels if self.score == "error" else labels[::-1]
        if np.isfinite(self.standard_error).any():
            main_label += " ± SE"
        if other is not None and np.allclose(main, other, rtol=0, atol=SAME):
            # one line would hide the other
            other, main_label = None, f"{main_label} (the {other_label} is the same)"
        if other is not None:
            (line,) = self.ax_.plot(
                self.ks, other, color=PALETTE[1], lw=1.0, marker="s", ms=3.5, mfc="none"
            )
            entries.append((line, other_label))
        self.errorbar_ = self.ax_.errorbar(
            self.ks, main, yerr=self.standard_error,
            color=PALETTE[0], marker="o", ms=4.5, lw=1.6, elinewidth=1.0, capsize=2.5,
        )  # fmt: skip
        return [(self.errorbar_, main_label), *entries]

    def _draw_threshold(self) -> tuple[Any, str]:
        line = self.ax_.axhline(self.threshold_, color=FAINT, lw=1.0, ls=(0, (5, 3)))
        return line, "1-SE threshold"

    def _set_axes(self) -> None:
        ax = self.ax_
        set_k_axis(ax, self.ks, self.chosen_k)
        ax.set_ylabel("Cross-validated error")
        main, other = self._curves
        highest = float(np.max(main + np.nan_to_num(self.standard_error)))
        top = 1.1 * max(highest, 0.0 if other is None else float(np.max(other)))
        # a little below zero, so that the marker of an error of 0 is whole
        ax.set_ylim(-0.03 * (top or 1.0), top or 1.0)
        ax.yaxis.set_major_formatter(PercentFormatter(xmax=1.0, symbol=" %"))
        ax.grid(axis="y")


def require_folds(are_there: bool) -> None:
    """Refuse a study whose cross-validation could not be had."""
    if not are_there:
        raise InputError("the study has no cross-validation to draw; study.notes says why")


def set_k_axis(ax: Axes, ks: Sequence[int], chosen: int | None = None) -> None:
    """A log axis of k, with a tick for each and as many labels as there is room for."""
    ax.set_xscale("log")
    if len(ks) == 1:
        ax.set_xlim(ks[0] / 2, ks[0] * 2)
    ax.xaxis.set_major_locator(FixedLocator(list(ks)))
    ax.xaxis.set_minor_locator(NullLocator())
    labelled = spaced(ks, chosen)
    ax.set_xticks(ks, [str(k) if k in labelled else "" for k in ks])
    ax.set_xlabel("Number of features k")


def mark_k(
    ax: Axes, k: int, ks: Sequence[int], heights: np.ndarray, *, is_chosen: bool = True
) -> tuple[Line2D, Annotation]:
    """A line and a label at the k that is taken, and a ring at its height on the curve."""
    line = ax.axvline(k, color=INK, lw=1.0, ls=(0, (1, 2)))
    if k in ks:
        ax.plot([k], [heights[ks.index(k)]], "o", ms=9, mfc="none", mec=INK, mew=1.4)
    left, right = np.log(ax.get_xlim())
    beyond = (np.log(k) - left) / (right - left) > 0.8
    label = ax.annotate(
        f"chosen: k = {k}" if is_chosen else f"k = {k}",
        (k, 1.0),
        xycoords=ax.get_xaxis_transform(),
        xytext=(-6 if beyond else 6, -2),
        textcoords="offset points",
        ha="right" if beyond else "left",
        va="top",
        weight="bold",
        size=9,
    )
    return line, label


def spaced(ks: Sequence[int], chosen: int | None = None) -> set[int]:
    """The values of k whose labels have room on a log axis; the chosen one always has."""
    gap = LABEL_GAP * np.log(max(ks) / min(ks))
    kept: list[int] = []
    for k in sorted(ks, key=lambda k: (k != chosen, k not in (min(ks), max(ks)), k)):
        if all(abs(np.log(k / other)) >= gap for other in kept):
            kept.append(k)
    return set(kept)
