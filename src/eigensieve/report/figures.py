"""A matplotlib figure as an SVG that can stand inside an HTML page."""

from __future__ import annotations

import io
import re
import warnings
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import matplotlib
from markupsafe import Markup

from ..plots._style import FAINT, INK, PALETTE, house_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Text and lines take the colours of the page around them, in light and in dark.
THEME = {INK: "currentColor", FAINT: "var(--axis)"}
THEME |= {color: f"var(--class-{i})" for i, color in enumerate(PALETTE)}
RASTER_DPI = 200


def drawn(display: Any, name: str, label: str) -> Markup:
    """A display, plotted, as an ``<svg>`` element."""
    return inline_svg(display.plot().figure_, name, label)


def inline_svg(figure: Figure, name: str, label: str) -> Markup:
    """The figure as an ``<svg>`` element, the same bytes every time.

    Parameters
    ----------
    figure : Figure
    name : str
        Put before every id, so that several figures on a page do not clash.
    label : str
        What the figure shows, for those who cannot see it.
    """
    root = ElementTree.fromstring(_draw(figure))
    _drop(root, "metadata")
    _drop(root, "style")
    for element in root.iter():
        element.tag = _local(element.tag)
        element.attrib = {
            _local(key): _rewrite(key, value, name) for key, value in element.attrib.items()
        }
    title = ElementTree.Element("title")
    title.text = label
    root.insert(0, title)
    root.attrib = {
        "xmlns": "http://www.w3.org/2000/svg",
        "viewBox": root.attrib["viewBox"],
        "role": "img",
        "aria-label": label,
        "style": "stroke-linejoin: round; stroke-linecap: butt",
    }
    return Markup(ElementTree.tostring(root, encoding="unicode"))


def svg_file(figure: Figure) -> str:
    """The figure as a file of its own, on white paper."""
    return _draw(figure, transparent=False, facecolor="white").decode()


def _draw(figure: Figure, **paper: Any) -> bytes:
    buffer = io.BytesIO()
    paper = {"transparent": True} | paper
    # text stays text; the salt makes the ids repeatable
    options: Any = {"svg.fonttype": "none", "svg.hashsalt": "eigensieve", "svg.image_inline": True}
    with house_style(), matplotlib.rc_context(options), warnings.catch_warnings():
        # the reader's browser picks the font, so a glyph missing from ours does not matter
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="svg", dpi=RASTER_DPI, metadata={"Date": None}, **paper)
    return buffer.getvalue()


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _drop(root: ElementTree.Element, tag: str) -> None:
    """Remove the elements of a tag wherever they are."""
    for parent in list(root.iter()):
        for child in list(parent):
            if _local(child.tag) == tag:
                parent.remove(child)


def _rewrite(key: str, value: str, name: str) -> str:
    """One attribute with the page's colours, and with ids of its own."""
    key = _local(key)
    if key == "id":
        return f"{name}-{value}"
    if key == "href":
        return f"#{name}-{value[1:]}" if value.startswith("#") else value
    if key == "clip-path":
        return value.replace("url(#", f"url(#{name}-")
    if key == "style":
        return re.sub("|".join(THEME), lambda found: THEME[found.group()], value)
    return value
