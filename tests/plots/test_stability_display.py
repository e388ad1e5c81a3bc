"""Selection frequencies and the stability index: what is drawn, in which order and colour."""

from __future__ import annotations

from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.plots import CVPathDisplay, StabilityDisplay
from eigensieve.plots._style import FAINT, PALETTE
from eigensieve.plots.stability import MAX_BARS
from eigensieve.report.figures import inline_svg

NAMES = ["a", "b", "c", "d", "e"]
FREQUENCY = [0.2, 0.9, 0.0, 0.9, 1.0]
SELECTED = [False, False, False, True, True]
KS = (1, 2, 5)
INDEX = np.array([0.4, 0.8, 0.6])


def with_index() -> StabilityDisplay:
    low, high = INDEX - np.array([0.1, 0.2, 0.3]), INDEX + np.array([0.05, 0.1, 0.15])
    return StabilityDisplay(NAMES, FREQUENCY, SELECTED, KS, INDEX, low, high, 2)


def legend_of(display: StabilityDisplay) -> list[str]:
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def rows_of(display: StabilityDisplay) -> list[str]:
    return [text.get_text() for text in display.ax_.get_yticklabels()]


def test_bars_are_the_frequencies_the_most_often_selected_on_top() -> None:
    display = StabilityDisplay(NAMES, FREQUENCY, SELECTED).plot()
    # of the equal b and d the selected one comes first; c, never selected, has no row
    assert rows_of(display) == ["e", "d", "b", "a"]
    assert [bar.get_width() for bar in display.bars_] == [1.0, 0.9, 0.9, 0.2]
    colours = [to_hex(bar.get_facecolor()) for bar in display.bars_]
    assert colours == [PALETTE[0], PALETTE[0], FAINT, FAINT]
    assert legend_of(display) == ["in the final set", "not in the final set"]
    bottom, top = display.ax_.get_ylim()
    assert top < bottom
    assert display.ax_.get_xlim() == (0.0, 1.0)
    assert len(display.axes_) == 1
    assert display.errorbar_ is None


def test_index_has_its_interval_and_the_chosen_k() -> None:
    display = with_index().plot()
    line, _, (bars,) = display.errorbar_.lines
    np.testing.assert_array_equal(line.get_xdata(), KS)
    np.testing.assert_allclose(line.get_ydata(), INDEX)
    ends = np.array([segment[:, 1] for segment in bars.get_segments()])
    np.testing.assert_allclose(ends, [[0.3, 0.45], [0.6, 0.9], [0.3, 0.75]])
    _, lower = display.axes_
    assert lower.get_xscale() == "log"
    assert [text.get_text() for text in lower.get_xticklabels()] == ["1", "2", "5"]
    assert "chosen: k = 2" in [text.get_text() for text in lower.texts]
    assert "k = 2" in display.ax_.get_xlabel()


def test_index_without_an_interval_and_below_zero() -> None:
    plain = StabilityDisplay(NAMES, FREQUENCY, SELECTED, KS, INDEX).plot()
    heights = np.array([s[:, 1] for s in plain.errorbar_.lines[2][0].get_segments()])
    np.testing.assert_array_equal(heights[:, 0], heights[:, 1])
    low = StabilityDisplay(NAMES, FREQUENCY, SELECTED, KS, INDEX - 0.5, INDEX - 0.9, INDEX).plot()
    assert low.axes_[1].get_ylim()[0] < -0.5


def test_an_index_that_is_not_defined_has_no_panel() -> None:
    display = StabilityDisplay(["a"], [1.0], [True], [1], [np.nan], [np.nan], [np.nan], 1).plot()
    assert len(display.axes_) == 1
    some = StabilityDisplay(NAMES, FREQUENCY, SELECTED, (1, 5), [0.5, np.nan]).plot()
    assert len(some.axes_) == 2
    inline_svg(some.figure_, "s", "stability")


def test_of_very_many_features_the_top_ones_are_drawn() -> None:
    p, ever = 50_000, 400
    rng = np.random.default_rng(0)
    frequency = np.zeros(p)
    frequency[rng.choice(p, ever, replace=False)] = rng.permutation(np.arange(1, ever + 1)) / ever
    selected = frequency > 0.99
    display = StabilityDisplay([f"gene {j}" for j in range(p)], frequency, selected).plot()
    order = sorted(range(p), key=lambda j: -frequency[j])[:MAX_BARS]
    assert rows_of(display) == [f"gene {j}" for j in order]
    assert display.n_left_out == ever - MAX_BARS
    assert f"{ever - MAX_BARS} more features, none above 92.8 %" in display.ax_.get_xlabel()
    assert display.figure_.get_figheight() < 9.5


@pytest.mark.parametrize(
    ("frequency", "selected", "labels"),
    [([1.0], [True], ["in the final set"]), ([0.5], [False], ["not in the final set"])],
)
def test_a_single_feature(frequency: list[float], selected: list[bool], labels: list[str]) -> None:
    assert legend_of(StabilityDisplay(["a"], frequency, selected).plot()) == labels


def test_nothing_ever_selected() -> None:
    display = StabilityDisplay(["a", "b"], [0.0, 0.0], [False, False]).plot()
    assert rows_of(display) == []
    assert display.ax_.get_legend() is None
    inline_svg(display.figure_, "s", "nothing")


def test_from_a_study() -> None:
    frequencies = pd.DataFrame({1: [0.0, 1.0, 0.0], 2: [0.25, 1.0, 0.75]}, index=["x", "y", "z"])
    table = pd.DataFrame({"k": [1, 2], "index": [1.0, 0.6], "low": [0.9, 0.5], "high": [1.0, 0.7]})
    support = np.array([False, True, True])
    study = SimpleNamespace(
        names=["x", "y", "z"],
        stability=frequencies,
        stability_index=table,
        best_k=2,
        chose_k=False,
        final_estimator=SimpleNamespace(get_support=lambda: support),
    )
    display = StabilityDisplay.from_study(study).plot()
    assert rows_of(display) == ["y", "z", "x"]
    assert [bar.get_width() for bar in display.bars_] == [1.0, 0.75, 0.25]
    np.testing.assert_array_equal(display.selected, [True, True, False])
    assert display.ks == (1, 2)
    np.testing.assert_array_equal(display.errorbar_.lines[0].get_ydata(), [1.0, 0.6])
    assert display.chosen_k == 2
    assert [text.get_text() for text in display.axes_[1].texts] == ["k = 2"]


def test_long_names_leave_the_index_its_width() -> None:
    names = [f"{j} {'W' * 60}" for j in range(5)]
    display = StabilityDisplay(names, FREQUENCY, SELECTED, KS, INDEX, chosen_k=2).plot()
    figure = display.figure_
    figure.draw_without_rendering()
    upper, lower = (ax.get_window_extent() for ax in display.axes_)
    assert lower.width > 3.5 * figure.dpi
    assert not upper.overlaps(lower)
    paper = figure.bbox
    for part in (display.ax_.get_legend(), display.ax_.xaxis.label):
        box = part.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= paper.x1
        assert not box.overlaps(lower)


def test_hostile_names_and_colours_of_the_page() -> None:
    names = ["$x_1$", "<script>", "_hidden", "bad\x00 name", "y" * 300]
    source = inline_svg(StabilityDisplay(names, [0.5] * 5, SELECTED).plot().figure_, "s", "label")
    ElementTree.fromstring(source)
    for shown in ("$x_1$", "&lt;script&gt;", "_hidden", "bad� name", "var(--class-0)"):
        assert shown in source
    assert "y" * 30 not in source


def test_draws_on_the_axes_it_is_given() -> None:
    before = dict(matplotlib.rcParams)
    figure = Figure()
    one, two = figure.subplots(1, 2)
    assert with_index().plot(one).errorbar_ is None
    display = with_index().plot([one, two])
    assert display.axes_ == [one, two]
    assert display.errorbar_ is not None
    assert display.figure_ is figure
    assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize("display", [CVPathDisplay, StabilityDisplay])
def test_a_study_without_cross_validation(display) -> None:
    """Found by fuzzing: a KeyError, and a ValueError of matplotlib."""
    X = np.array([[0.1], [-0.1], [0.6], [0.2]])
    study = es.study(X, [0, 1, 0, 1], ks=(1,), cv=2, n_repeats=1)
    assert study.cv is None
    with pytest.raises(InputError, match="no cross-validation"):
        display.from_study(study)
