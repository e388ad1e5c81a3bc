"""The profile of alpha: the numbers drawn, the band drawn, and a million features in small."""

from __future__ import annotations

import itertools
import subprocess
import sys
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure

from eigensieve.plots import AlphaDisplay
from eigensieve.plots.alpha import CELLS, MAX_FEATURES_LINEAR_AXIS
from eigensieve.report.figures import inline_svg


def profile(p: int, k: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Alpha in no order, and a mask of its k largest."""
    alpha = np.random.default_rng(seed).exponential(size=p)
    alpha /= np.linalg.norm(alpha)
    selected = np.zeros(p, dtype=bool)
    selected[np.argsort(-alpha)[:k]] = True
    return alpha, selected


def null_band(p: int, seed: int = 1) -> list[np.ndarray]:
    """Lower, upper and median by rank."""
    sorted_null = [np.sort(profile(p, 0, seed + i)[0])[::-1] for i in range(5)]
    return list(np.quantile(sorted_null, [0.025, 0.975, 0.5], axis=0))


def legend_of(display: AlphaDisplay) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def test_points_are_the_sorted_alpha_and_the_selected_have_the_colour() -> None:
    alpha, selected = profile(50, 7)
    display = AlphaDisplay(alpha, selected).plot()
    assert display.selected_ is not None
    assert display.others_ is not None
    expected = np.sort(alpha)[::-1]
    np.testing.assert_array_equal(display.selected_.get_xdata(), np.arange(1, 8))
    np.testing.assert_array_equal(display.selected_.get_ydata(), expected[:7])
    np.testing.assert_array_equal(display.others_.get_xdata(), np.arange(8, 51))
    np.testing.assert_array_equal(display.others_.get_ydata(), expected[7:])
    assert display.selected_.get_color() != display.others_.get_color()
    assert legend_of(display) == ["selected", "not selected"]
    assert display.band_ is None
    assert display.median_ is None


def test_band_and_median_are_those_given() -> None:
    p = 30
    lower, upper, median = null_band(p)
    display = AlphaDisplay(*profile(p, 5), lower, upper, median).plot()
    assert display.band_ is not None
    assert display.median_ is not None
    corners = {(x, y) for x, y in display.band_.get_paths()[0].vertices}
    for rank, low, high in zip(range(1, p + 1), lower, upper):
        assert {(rank, low), (rank, high)} <= corners
    # besides them only the half ranks at both ends
    assert {x for x, _ in corners} == {0.5, *range(1, p + 1), p + 0.5}
    np.testing.assert_array_equal(display.median_.get_ydata()[1:-1], median)
    np.testing.assert_array_equal(display.median_.get_xdata()[1:-1], np.arange(1, p + 1))
    assert legend_of(display) == ["selected", "not selected", "null band (95 %)", "null median"]


def test_from_a_selector_with_and_without_a_null() -> None:
    alpha, selected = profile(20, 3)
    lower, upper, median = null_band(20)
    null = SimpleNamespace(lower=lower, upper=upper, median=median)
    with_null = SimpleNamespace(alpha_=alpha, support_=selected, null_=null)
    display = AlphaDisplay.from_estimator(with_null)
    np.testing.assert_array_equal(display.alpha, np.sort(alpha)[::-1])
    np.testing.assert_array_equal(np.flatnonzero(display.selected), [0, 1, 2])
    assert display.lower is lower
    assert display.upper is upper
    assert display.median is median
    without = SimpleNamespace(alpha_=alpha, support_=selected, null_=None)
    assert AlphaDisplay.from_estimator(without).plot().band_ is None


def test_among_equal_values_the_selected_come_first() -> None:
    selected = np.arange(10) % 2 == 1
    display = AlphaDisplay(np.full(10, 0.1**0.5), selected).plot()
    assert display.selected_ is not None
    np.testing.assert_array_equal(display.selected_.get_xdata(), [1, 2, 3, 4, 5])


@pytest.mark.parametrize(
    ("p", "scale"),
    [(1, "linear"), (MAX_FEATURES_LINEAR_AXIS, "linear"), (MAX_FEATURES_LINEAR_AXIS + 1, "log")],
)
def test_many_ranks_go_on_a_log_axis(p: int, scale: str) -> None:
    display = AlphaDisplay(*profile(p, 1), *null_band(p)).plot()
    assert display.ax_.get_xscale() == scale
    left, right = display.ax_.get_xlim()
    assert left < 1
    assert right > p


def test_nothing_is_thinned_on_a_linear_axis() -> None:
    display = AlphaDisplay(
        np.full(MAX_FEATURES_LINEAR_AXIS, MAX_FEATURES_LINEAR_AXIS**-0.5),
        np.zeros(MAX_FEATURES_LINEAR_AXIS, dtype=bool),
    ).plot()
    assert display.others_ is not None
    assert len(display.others_.get_xdata()) == MAX_FEATURES_LINEAR_AXIS


def test_a_single_feature() -> None:
    display = AlphaDisplay([1.0], [True], [0.7], [0.9], [0.8]).plot()
    assert display.selected_ is not None
    assert display.band_ is not None
    assert display.others_ is None
    assert legend_of(display) == ["selected", "null band (95 %)", "null median"]
    box = display.band_.get_paths()[0].get_extents()
    assert box.width == 1  # to be seen, it has a width
    assert (box.y0, box.y1) == (0.7, 0.9)
    inline_svg(display.figure_, "a", "one feature")


def test_nothing_selected_and_everything_selected() -> None:
    alpha, _ = profile(40, 1)
    none = AlphaDisplay(alpha, np.zeros(40, dtype=bool)).plot()
    assert none.selected_ is None
    assert legend_of(none) == ["not selected"]
    every = AlphaDisplay(alpha, np.ones(40, dtype=bool)).plot()
    assert every.others_ is None
    assert legend_of(every) == ["selected"]


def test_negative_alphas_lie_below_the_zero_line() -> None:
    alpha, selected = profile(40, 4)
    alpha[~selected] -= 0.1
    display = AlphaDisplay(alpha, selected).plot()
    low, high = display.ax_.get_ylim()
    assert low < alpha.min() < 0 < alpha.max() < high
    assert any(np.all(np.asarray(line.get_ydata()) == 0) for line in display.ax_.lines)


def test_a_million_features_stay_small_and_keep_their_ends() -> None:
    p, k = 10**6, 1000
    alpha, selected = profile(p, k)
    alpha[selected] += 0.01 * np.random.default_rng(2).random(k)
    band = null_band(p)
    display = AlphaDisplay(alpha, selected, *band).plot()
    ranked = np.sort(alpha)[::-1]
    assert display.selected_ is not None
    assert display.others_ is not None
    assert display.band_ is not None
    for points, first, last in ((display.selected_, 1, k), (display.others_, k + 1, p)):
        ranks = np.asarray(points.get_xdata())
        assert {first, last} <= set(ranks)
        np.testing.assert_array_equal(points.get_ydata(), ranked[ranks - 1])
        # what was left out lies in the cell of the last one drawn
        every = np.arange(first, last + 1)
        drawn = ranks[np.searchsorted(ranks, every, side="right") - 1]
        assert np.all(ranked[drawn - 1] - ranked[every - 1] <= np.ptp(ranked) / CELLS)
        assert np.all(np.log(every / drawn) <= np.log(p) / CELLS)
    extent = display.band_.get_paths()[0].get_extents()
    assert (extent.y0, extent.y1) == (band[0].min(), band[1].max())
    assert len(inline_svg(display.figure_, "alpha", "alpha")) < 100_000


def test_a_million_equal_values_stay_small() -> None:
    alpha = np.full(10**6, 1e-3)
    alpha[:5] = 0.4
    display = AlphaDisplay(alpha, alpha > 0.1).plot()
    assert display.others_ is not None
    assert display.others_.get_xdata()[[0, -1]].tolist() == [6, 10**6]
    assert len(inline_svg(display.figure_, "alpha", "alpha")) < 50_000


@pytest.mark.parametrize(
    "p", [1, 12, MAX_FEATURES_LINEAR_AXIS, MAX_FEATURES_LINEAR_AXIS + 1, 10**4, 10**6]
)
def test_tick_labels_do_not_touch(p: int) -> None:
    display = AlphaDisplay(*profile(p, 1)).plot()
    display.figure_.draw_without_rendering()
    left, right = display.ax_.get_xlim()
    ticks = zip(display.ax_.get_xticks(), display.ax_.get_xticklabels())
    shown = [(x, t) for x, t in ticks if left <= x <= right]
    assert len(shown) >= min(p, 3)
    for x, text in shown:
        assert text.get_text().replace(",", "") == f"{x:.0f}"
    boxes = [text.get_window_extent() for _, text in shown]
    assert all(a.x1 < b.x0 for a, b in itertools.pairwise(boxes))


def test_colours_follow_the_page() -> None:
    display = AlphaDisplay(*profile(30, 4), *null_band(30)).plot()
    source = inline_svg(display.figure_, "alpha", "alpha")
    ElementTree.fromstring(source)
    for colour in ("var(--class-0)", "var(--class-1)", "var(--axis)"):
        assert colour in source
    assert "#0072b2" not in source


def test_draws_on_the_axes_it_is_given_and_leaves_the_settings_alone() -> None:
    before = dict(matplotlib.rcParams)
    figure = Figure()
    display = AlphaDisplay(*profile(30, 4)).plot(figure.add_subplot())
    assert display.ax_ is figure.axes[0]
    assert display.figure_ is figure
    assert dict(matplotlib.rcParams) == before


def test_is_lazy_and_uses_no_pyplot() -> None:
    code = (
        "import sys, eigensieve.plots as plots\n"
        "assert 'AlphaDisplay' in dir(plots) and 'matplotlib' not in sys.modules\n"
        "plots.AlphaDisplay([0.6, 0.8], [False, True]).plot()\n"
        "assert 'matplotlib.pyplot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
