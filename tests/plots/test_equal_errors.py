"""Two error curves that are the same are one line, and the legend says so."""

from __future__ import annotations

import numpy as np
import pytest

from eigensieve.plots import CVPathDisplay

ERROR = np.array([0.31, 0.115, 0.11, 0.112])


def plotted(score: str, apart: float) -> CVPathDisplay:
    balanced = ERROR + apart * np.array([0, 1, 0, -1])
    return CVPathDisplay((1, 2, 5, 20), ERROR, np.full(4, 0.02), balanced, 2, score).plot()


@pytest.mark.parametrize(
    ("score", "label"),
    [
        ("error", "error ± SE (the balanced error is the same)"),
        ("balanced_error", "balanced error ± SE (the error is the same)"),
    ],
)
def test_two_equal_errors_are_one_line(score: str, label: str) -> None:
    display = plotted(score, 4e-4)
    assert [line for line in display.ax_.lines if line.get_marker() == "s"] == []
    legend = display.ax_.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == [label, "1-SE threshold"]
    display.figure_.draw_without_rendering()
    assert display.figure_.bbox.containsx(legend.get_window_extent().x1)


@pytest.mark.parametrize("score", ["error", "balanced_error"])
def test_errors_that_differ_somewhere_are_two(score: str) -> None:
    texts = [text.get_text() for text in plotted(score, 6e-4).ax_.get_legend().get_texts()]
    assert len(texts) == 3
