"""The house style of every figure, applied without touching matplotlib's global state."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib.style
import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import FuncFormatter, MaxNLocator
from matplotlib.transforms import ScaledTranslation

WIDTH = 4.6  # inches: small enough that the text stays readable on a phone

INK = "#24292f"
FAINT = "#8c959f"
# Okabe and Ito: told apart by colour-blind readers; the ones that also stand out on both
# white and dark paper come first.
PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")
MARKERS = ("o", "^", "s", "D", "v", "P", "X", "*")

_RC: dict[str, Any] = {
    "font.size": 10.0,
    "axes.labelsize": 10.0,
    "xtick.labelsize": 9.0,
    "ytick.labelsize": 9.0,
    "legend.fontsize": 9.0,
    "legend.frameon": False,
    "legend.handletextpad": 0.4,
    "legend.columnspacing": 1.4,
    "legend.borderaxespad": 0.2,
    "text.color": INK,
    "axes.labelcolor": INK,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "grid.color": FAINT,
    "grid.alpha": 0.3,
    "grid.linewidth": 0.6,
    "axes.linewidth": 0.8,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.facecolor": "none",
    "figure.constrained_layout.h_pad": 0.06,
    "figure.constrained_layout.w_pad": 0.06,
}

# below the tick labels and the label of the x axis, and left to the labels of the y axis
_BELOW = (-0.5, -0.5)  # inches
_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")

# Joiners shape Persian and Indic words: the only invisible characters a name may keep.
_JOINERS = "\u200c\u200d"


@contextmanager
def house_style() -> Iterator[None]:
    """matplotlib's defaults plus the house style: a user's matplotlibrc plays no part."""
    with matplotlib.style.context(["default", _RC]):
        yield


def new_figure(height: float) -> Figure:
    """A figure of its own: no pyplot, so nothing pops up and nothing has to be closed."""
    return Figure(figsize=(WIDTH, height), layout="constrained")


def figure_of(ax: Axes) -> Figure:
    """The figure an axes lies in (of a subfigure: the one at the root)."""
    figure: Any = ax.get_figure()
    while not isinstance(figure, Figure):
        figure = figure.figure
    return figure


def axes_of(ax: Axes | Iterable[Axes]) -> list[Axes]:
    """One axes or several, as a list."""
    return [ax] if isinstance(ax, Axes) else list(ax)


def printable(text: object) -> str:
    """One line of visible characters.

    Control characters are not allowed in XML, and marks that reverse the reading direction
    could make a name look like another one.
    """
    return "".join(map(_visible, str(text)))


def _visible(character: str) -> str:
    if character.isprintable() or character in _JOINERS:
        return character
    return " " if character.isspace() else "\ufffd"


def shorten(name: object, most: int = 28) -> str:
    """At most so many characters; the middle goes, as long names often differ at the end."""
    text = printable(name)
    if len(text) <= most:
        return text
    tail = most // 3
    return f"{text[: most - tail - 1]}…{text[-tail:]}"


def short_names(names: Iterable[object], most: int) -> list[str]:
    """At most so many characters each; the end goes, unless two names would then be alike."""
    texts = [printable(name) for name in names]
    cut = [t if len(t) <= most else f"{t[: most - 1].rstrip()}…" for t in texts]
    return [c if cut.count(c) == 1 else shorten(t, most) for t, c in zip(texts, cut)]


def brief(value: float) -> str:
    """Two digits and a true minus sign."""
    return f"{value:.2g}".replace("-", "\u2212")


def style_of(i: int) -> dict[str, str]:
    """Colour and marker of class i: 48 pairs, then again from the start."""
    colors, markers = len(PALETTE), len(MARKERS)
    # 6 and 8 have the common factor 2: after 24 classes the markers move on by one
    shift = i // (colors * markers // 2)
    return {"color": PALETTE[i % colors], "marker": MARKERS[(i + shift) % markers]}


def few_ticks(axis: Axis, values: np.ndarray, bins: int) -> None:
    """Few round ticks; where their numbers would be long, a power of ten goes to the label."""
    axis.set_major_locator(MaxNLocator(nbins=bins, steps=[1, 2, 5, 10]))
    largest = float(np.abs(values).max(initial=0.0))
    power = int(np.floor(np.log10(largest))) if largest > 0 else 0
    if -3 <= power < 4 or np.ptp(values) < 0.1 * largest:
        return

    def digits(value: float, _: object) -> str:
        return f"{value / 10.0**power:g}".replace("-", "\u2212")

    axis.set_major_formatter(FuncFormatter(digits))
    unit = f"\u00d710{str(power).translate(_SUPERSCRIPTS)}"
    axis.set_label_text(f"{axis.get_label_text()}, {unit}")


def plain(text: Text) -> Text:
    """Show a text as it is: a name such as ``$x_1$`` is no formula."""
    text.set_parse_math(False)
    return text


def name_rows(ax: Axes, names: Iterable[object], most: int = 26) -> None:
    """Names beside the rows 0, 1, 2 and so on, without a line."""
    labels = short_names(names, most)
    ax.set_yticks(range(len(labels)), labels)
    for text in ax.get_yticklabels():
        plain(text)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def legend_above(ax: Axes, handles: list[Any], labels: list[str], scale: float = 1.0) -> Legend:
    """A legend above the axes, in as many columns as the labels allow."""
    columns = max(1, min(len(labels), 53 // (max(map(len, labels)) + 6)))
    place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "ncols": columns}
    return _legend(ax, handles, labels, markerscale=scale, **place)


def legend_below(ax: Axes, handles: list[Any], labels: list[str], scale: float = 1.0) -> Legend:
    """A legend below the axes and its labels, in as many columns as the figure has room for."""
    figure = figure_of(ax)
    place = {
        "loc": "upper left",
        "bbox_to_anchor": (0.0, 0.0),
        "bbox_transform": ax.transAxes + ScaledTranslation(*_BELOW, figure.dpi_scale_trans),
    }
    for columns in (3, 2, 1):
        legend = _legend(ax, handles, labels, markerscale=scale, ncols=columns, **place)
        if size_of(legend)[0] <= figure.get_figwidth():
            break
    return legend


def size_of(legend: Legend) -> tuple[float, float]:
    """Width and height in inches."""
    with warnings.catch_warnings():
        # of no matter here: whoever draws the figure is told
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        box = legend.get_window_extent()
    dpi = figure_of(legend.axes).dpi
    return box.width / dpi, box.height / dpi


def _legend(ax: Axes, handles: list[Any], labels: list[str], **options: Any) -> Legend:
    # Numbers first, the labels after: matplotlib drops labels that begin with "_".
    legend = ax.legend(handles, [str(i) for i in range(len(labels))], **options)
    for text, label in zip(legend.get_texts(), labels):
        plain(text).set_text(label)
    return legend
