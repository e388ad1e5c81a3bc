"""The dot plot: means by colour, shares by area."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.figure import Figure

from eigensieve.plots import DotsDisplay
from eigensieve.plots.dots import LARGEST, MAX_FEATURES


def test_area_and_colour() -> None:
    display = DotsDisplay(["a", "b"], ["x", "y"], [[1, 2], [3, 4]], [[0, 0.5], [1, 0.25]]).plot()
    np.testing.assert_allclose(display.dots_.get_sizes(), LARGEST * np.array([0, 0.5, 1, 0.25]))
    assert display.dots_.get_array().tolist() == [1, 2, 3, 4]
    assert display.dots_.get_offsets().tolist() == [[0, 0], [1, 0], [0, 1], [1, 1]]
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # the first group on top


def test_from_data() -> None:
    X = np.array([[0, 2], [4, 2], [0, -1]])
    display = DotsDisplay.from_data(X, ["u", "v", "u"], ["a", "b"])
    assert display.groups == ["u", "v"]
    assert display.means.tolist() == [[0, 0.5], [4, 2]]
    assert display.shares.tolist() == [[0, 0.5], [1, 1]]
    assert DotsDisplay.from_data(X, ["u", "v", "u"], ["a", "b"], ["v", "u"]).groups == ["v", "u"]


@pytest.mark.parametrize("p", [1, MAX_FEATURES + 3])
def test_few_and_many_features(p) -> None:
    names = [f"$x_{j}$ <gene>" for j in range(p)]
    display = DotsDisplay(names, ["one"], np.ones((1, p)), np.ones((1, p))).plot()
    assert display.n_left_out == max(0, p - MAX_FEATURES)
    assert len(display.dots_.get_sizes()) == min(p, MAX_FEATURES)
    display.figure_.savefig(io.BytesIO(), format="svg")  # names are no formulas
    assert ("3 more features" in display.ax_.get_title(loc="left")) == (p > MAX_FEATURES)


def test_on_axes_of_the_user() -> None:
    ax = Figure().add_subplot()
    assert DotsDisplay(["a"], ["x"], [[1.0]], [[1.0]]).plot(ax).ax_ is ax
