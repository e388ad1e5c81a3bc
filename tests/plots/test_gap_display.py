"""Scores and bounds against k: what is drawn, and what is not known is not drawn."""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from eigensieve.plots import GapDisplay
from eigensieve.report.figures import inline_svg

KS = (1, 2, 5, 10, 20)
SCORE = np.array([1.0, 2.0, 3.0, 3.5, 3.6])
BOUND = np.array([1.0, 2.5, 3.9, np.inf, 5.0])


def legend_of(display: GapDisplay) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_lines_are_the_scores_and_the_known_bounds() -> None:
    display = GapDisplay(KS, SCORE, BOUND, 5, [True, False, False, False, False]).plot()
    assert display.bound_ is not None
    assert display.optimal_ is not None
    np.testing.assert_array_equal(display.objective_.get_xydata(), np.column_stack([KS, SCORE]))
    known = np.isfinite(BOUND)
    np.testing.assert_array_equal(display.bound_.get_ydata()[known], BOUND[known])
    assert np.isnan(display.bound_.get_ydata()[~known]).all()
    np.testing.assert_array_equal(display.optimal_.get_xydata(), [[1, 1.0]])
    assert "chosen: k = 5" in [text.get_text() for text in display.ax_.texts]
    wanted = ["selected set", "proved upper bound", "room for better sets", "proved optimal"]
    assert legend_of(display) == wanted
    bottom, top = display.ax_.get_ylim()
    assert bottom < 0.0
    assert top > 5.0


def test_band_lies_between_and_a_bound_between_others_is_a_line() -> None:
    display = GapDisplay(KS, SCORE, BOUND).plot()
    assert display.band_ is not None
    assert display.gaps_ is not None
    (path,) = display.band_.get_paths()
    corners = {(x, y) for x, y in path.vertices}
    assert {(2, 2.0), (2, 2.5), (5, 3.0), (5, 3.9)} <= corners
    assert {x for x, _ in corners} == {1, 2, 5}
    (segment,) = display.gaps_.get_segments()
    np.testing.assert_array_equal(segment, [[20, 3.6], [20, 5.0]])


def test_without_any_bound_there_are_scores_only() -> None:
    display = GapDisplay(KS, SCORE, np.full(5, np.inf)).plot()
    assert display.bound_ is display.band_ is display.gaps_ is display.optimal_ is None
    assert legend_of(display) == ["selected set"]
    assert display.ax_.get_ylim()[1] < 5
    inline_svg(display.figure_, "g", "gap")


@pytest.mark.parametrize("bound", [0.4, 0.5, np.inf])
@pytest.mark.parametrize("score", [0.4, 0.0])
def test_a_single_k(score: float, bound: float) -> None:
    display = GapDisplay([3], [score], [bound], 3, [bound == score]).plot()
    assert [text.get_text() for text in display.ax_.get_xticklabels()] == ["3"]
    assert (display.optimal_ is not None) == (bound == score)
    inline_svg(display.figure_, "g", "gap")


@pytest.mark.parametrize(("factor", "scale"), [(2.0, "linear"), (500.0, "log")])
def test_bounds_far_above_go_on_a_log_axis(factor: float, scale: str) -> None:
    ax = GapDisplay(KS, SCORE, factor * SCORE).plot().ax_
    assert ax.get_yscale() == scale
    bottom, top = ax.get_ylim()
    assert bottom < 1.0
    assert top > factor * 3.6


def test_a_score_of_zero_stays_on_a_linear_axis() -> None:
    assert GapDisplay([1, 2], [0.0, 1.0], [90.0, 99.0]).plot().ax_.get_yscale() == "linear"


def test_from_a_study() -> None:
    rows = [(1, 1.0, 1.0, True), (2, 2.0, 2.5, False), (4, 3.0, np.inf, False)]
    keys = ("k", "objective", "bound", "is_certified")
    searches = [SimpleNamespace(**dict(zip(keys, row))) for row in rows]
    # for k = 5 the method found a set of four
    study = SimpleNamespace(optimality=searches, best_k=2, chose_k=False)
    study.path = {1: None, 2: None, 5: None}
    display = GapDisplay.from_study(study)
    assert display.ks == (1, 2, 5)
    np.testing.assert_array_equal(display.objective, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(display.bound, [1.0, 2.5, np.inf])
    np.testing.assert_array_equal(display.optimal, [True, False, False])
    assert display.chosen_k == 2
    texts = [text.get_text() for text in display.plot().ax_.texts]
    assert "k = 2" in texts
    assert "chosen: k = 2" not in texts


def test_draws_on_the_axes_it_is_given_with_the_colours_of_the_page() -> None:
    before = dict(matplotlib.rcParams)
    figure = Figure()
    display = GapDisplay(KS, SCORE, BOUND, 2, np.isfinite(BOUND)).plot(figure.add_subplot())
    assert display.ax_ is figure.axes[0]
    assert display.figure_ is figure
    assert dict(matplotlib.rcParams) == before
    source = inline_svg(figure, "g", "gap")
    for colour in ("var(--class-0)", "var(--class-1)", "var(--class-2)"):
        assert colour in source
