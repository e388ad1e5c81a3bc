"""The matrix of panels: a dot where a feature is in a set, no more than can be read."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import same_color

from eigensieve.plots import PanelsDisplay
from eigensieve.plots._style import PALETTE
from tests.search.near_optimal.lists import make_list


def test_dots_and_names() -> None:
    found = make_list("abc", "abd", "aed", losses=[0, 0.001, 0.005])
    display = PanelsDisplay.from_sets(found).plot()
    assert display.names == ["a", "b", "d", "c", "e"]
    dots = {tuple(map(int, xy)) for xy in display.dots_.get_offsets()}
    assert dots == {
        (display.names.index(name), i)
        for i, panel in enumerate(("abc", "abd", "aed"))
        for name in panel
    }
    in_all = [
        same_color(color, PALETTE[1])
        for color in display.dots_.get_facecolors()
    ]  # fmt: skip
    assert in_all == [bool(x == 0) for x, _ in display.dots_.get_offsets()]
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == ["1  (0.00 %)", "2  (-0.10 %)", "3  (-0.50 %)"]
    assert "not shown" not in display.ax_.get_title(loc="left")


def test_what_is_not_drawn_is_said() -> None:
    sets = np.column_stack([np.zeros(70, dtype=int), np.arange(1, 71)])
    display = PanelsDisplay(["$x$", *(f"f{j}" for j in range(70))], sets).plot()
    assert display.n_left_out == 20
    assert len(display.ax_.get_yticklabels()) == 50
    title = display.ax_.get_title(loc="left")
    assert title.endswith("not shown: 20 more sets, 11 more features")
