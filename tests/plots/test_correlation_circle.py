"""The circle of correlations: the numbers drawn, and names that do not cover one another."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from xml.etree import ElementTree

import matplotlib
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import Circle
from sklearn.datasets import load_iris

from eigensieve import SparseLDA
from eigensieve.plots import CorrelationCircleDisplay
from eigensieve.plots.correlation_circle import MAX_BARS, MAX_LABELS, apart, cross_correlation
from eigensieve.report.figures import inline_svg


def random_arrows(k: int, centre: float = 0.0, width: float = 6.3) -> np.ndarray:
    """k correlations with angles in a sector."""
    rng = np.random.default_rng(0)
    angle, length = centre + width * (rng.random(k) - 0.5), rng.uniform(0.3, 1.0, k)
    return np.column_stack([length * np.cos(angle), length * np.sin(angle)])


def labels_of(display: CorrelationCircleDisplay) -> set[str]:
    return {label.get_text() for label in display.labels_}


def test_correlations_are_those_of_numpy() -> None:
    rng = np.random.default_rng(1)
    X, T = rng.normal(size=(30, 4)) + 100, rng.normal(size=(30, 2))
    expected = np.corrcoef(X, T, rowvar=False)[:4, 4:]
    np.testing.assert_allclose(cross_correlation(X, T), expected, atol=1e-12)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e8 + 0.1])
def test_a_constant_has_no_correlation(value: float) -> None:
    T = np.random.default_rng(2).normal(size=(37, 2))
    found = cross_correlation(np.column_stack([np.full(37, value), T[:, 0]]), T)
    assert found[0].tolist() == [0.0, 0.0]
    assert found[1, 0] == pytest.approx(1.0)
    assert found[1, 0] <= 1.0


def test_from_an_estimator() -> None:
    X, y = load_iris(return_X_y=True)
    model = SparseLDA(2).fit(X, y)
    names = ["sl", "sw", "pl", "pw"]
    display = CorrelationCircleDisplay.from_estimator(model, X, names).plot()
    S = model.get_support(indices=True)
    assert display.names == [names[j] for j in S]
    scores = model.transform(X)
    expected = [[np.corrcoef(X[:, j], scores[:, m])[0, 1] for m in (0, 1)] for j in S]
    np.testing.assert_allclose(display.correlations, expected, atol=1e-10)
    assert display.arrows_ is not None
    np.testing.assert_allclose([s[1] for s in display.arrows_.get_segments()], expected)
    assert CorrelationCircleDisplay.from_estimator(model, X).names == [f"feature {j}" for j in S]
    table = pd.DataFrame(X, columns=names)
    of_table = CorrelationCircleDisplay.from_estimator(SparseLDA(2).fit(table, y), table)
    assert of_table.names == display.names
    np.testing.assert_allclose(of_table.correlations, expected, atol=1e-10)


def test_from_a_study() -> None:
    selected = [SimpleNamespace(name=name) for name in ("b", "a")]
    correlations = np.array([[0.5, -0.5], [0.1, 0.9]])
    study = SimpleNamespace(selected=selected, correlations=correlations)
    display = CorrelationCircleDisplay.from_study(study).plot()
    assert display.names == ["b", "a"]
    assert display.arrows_ is not None
    np.testing.assert_array_equal([s[1] for s in display.arrows_.get_segments()], correlations)
    np.testing.assert_array_equal([s[0] for s in display.arrows_.get_segments()], np.zeros((2, 2)))


def test_circles_are_round_and_the_third_direction_plays_no_part() -> None:
    tips = random_arrows(5)
    display = CorrelationCircleDisplay(list("abcde"), np.column_stack([tips, np.ones(5)])).plot()
    circles = [patch for patch in display.ax_.patches if isinstance(patch, Circle)]
    assert [circle.radius for circle in circles] == [0.5, 1.0]
    assert display.arrows_ is not None
    np.testing.assert_array_equal([s[1] for s in display.arrows_.get_segments()], tips)
    display.figure_.draw_without_rendering()
    box = circles[1].get_window_extent()
    assert box.width == pytest.approx(box.height)
    assert box.width > 1.8 * display.figure_.dpi
    assert display.ax_.get_window_extent().contains(box.x0 + 1, box.y0 + 1)


def test_the_farthest_have_a_name() -> None:
    k = MAX_LABELS + 10
    tips = random_arrows(k)
    display = CorrelationCircleDisplay([f"f{i}" for i in range(k)], tips).plot()
    far = sorted(range(k), key=lambda i: -float(np.hypot(*tips[i])))[:MAX_LABELS]
    assert labels_of(display) == {f"f{i}" for i in far}
    assert display.n_left_out == 10
    assert "10 more features" in display.ax_.get_title(loc="left")
    assert display.arrows_ is not None
    assert len(display.arrows_.get_segments()) == k


@pytest.mark.parametrize("name", ["f{}", "gene {} of a family with a very long name"])
@pytest.mark.parametrize(
    ("k", "centre", "width"), [(1, 3.1, 0.0), (12, 0, 6.3), (60, 0, 6.3), (60, 0.1, 1), (30, 3, 0)]
)
def test_names_are_apart_from_one_another_and_on_the_paper(
    k: int, centre: float, width: float, name: str
) -> None:
    names = [name.format(i) for i in range(k)]
    display = CorrelationCircleDisplay(names, random_arrows(k, centre, width)).plot()
    figure = display.figure_
    figure.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.labels_]
    assert len(boxes) == min(k, MAX_LABELS)
    assert len(labels_of(display)) == len(boxes)
    # a box has the height of the tallest letters: those of two lines may just touch
    small = [box.padded(-1.0) for box in boxes]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(small, 2))
    (circle,) = (p for p in display.ax_.patches if isinstance(p, Circle) and p.radius == 1)
    for box in boxes:
        assert figure.bbox.x0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert figure.bbox.y0 <= box.y0 < box.y1 <= figure.bbox.y1
        assert not box.overlaps(circle.get_window_extent())
        assert not box.overlaps(display.ax_.xaxis.label.get_window_extent())


def test_a_crowd_opens_both_ways() -> None:
    np.testing.assert_allclose(apart(np.zeros(3), 0.5, 2.0), [-0.5, 0.0, 0.5])
    np.testing.assert_allclose(apart(np.array([-1.0, 0.0, 1.0]), 0.5, 2.0), [-1.0, 0.0, 1.0])
    np.testing.assert_allclose(apart(np.full(3, 1.9), 0.5, 2.0), [1.0, 1.5, 2.0])


def test_one_direction_has_bars_from_the_largest_to_the_smallest() -> None:
    display = CorrelationCircleDisplay(["a", "b", "c"], [-0.5, 0.9, 0.0]).plot()
    assert [bar.get_width() for bar in display.bars_] == [0.9, 0.0, -0.5]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["b", "c", "a"]
    assert display.ax_.get_xlim() == (-1.0, 1.0)
    bottom, top = display.ax_.get_ylim()
    assert top < bottom
    assert display.arrows_ is None


def test_bars_of_many_features_are_those_far_from_zero() -> None:
    values = np.random.default_rng(3).uniform(-1, 1, MAX_BARS + 5)
    names = [f"f{i}" for i in range(values.size)]
    display = CorrelationCircleDisplay(names, values[:, None]).plot()
    kept = sorted(sorted(values, key=abs)[5:], reverse=True)
    assert [bar.get_width() for bar in display.bars_] == kept
    assert "5 more features" in display.ax_.get_title(loc="left")


@pytest.mark.parametrize("columns", [1, 2])
def test_hostile_names_are_shown_literally(columns: int) -> None:
    names = ["$x_1$", "<script>", "_hidden", "bad\x00 name", "y" * 300]
    tips = random_arrows(5)[:, :columns]
    source = inline_svg(CorrelationCircleDisplay(names, tips).plot().figure_, "c", "label")
    ElementTree.fromstring(source)
    for shown in ("$x_1$", "&lt;script&gt;", "_hidden", "bad� name", "var(--class-0)"):
        assert shown in source
    assert "y" * 30 not in source


@pytest.mark.parametrize("columns", [1, 2])
def test_draws_on_the_axes_it_is_given(columns: int) -> None:
    before = dict(matplotlib.rcParams)
    figure = Figure(figsize=(3, 3))
    tips = random_arrows(60)[:, :columns]
    display = CorrelationCircleDisplay(["a"] * 60, tips).plot(figure.add_subplot())
    assert display.ax_ is figure.axes[0]
    assert display.figure_ is figure
    assert figure.get_size_inches().tolist() == [3, 3]
    assert dict(matplotlib.rcParams) == before
