"""Bars in a terminal, a few lines elsewhere."""

from __future__ import annotations

import sys
from types import ModuleType

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.pencil.progress import Progress
from eigensieve.studies.running import progress as shown_progress
from eigensieve.studies.running.progress import Lines, can_redraw, progress_bar, show_search

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 8)), np.arange(40) % 2
BRIEF = {"ks": (1, 2), "cv": 3, "n_repeats": 1}


class Clock:
    """Shows what it is set to."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_a_line_for_every_stage_and_now_and_then(clock: Clock, capsys) -> None:
    tell = Lines(clock)
    for second in range(1, 101):
        clock.now += 1
        tell("cross-validation", second, 100)
    for second in range(1, 8):
        clock.now += 1
        tell("nested", second, 1000)
    assert capsys.readouterr().err.splitlines() == [
        "[0:01] cross-validation: 1 of 100",
        "[0:31] cross-validation: 31 of 100",
        "[1:01] cross-validation: 61 of 100",
        "[1:31] cross-validation: 91 of 100",
        "[1:41] nested: 1 of 1,000",
    ]


def test_a_search_has_no_first_line(clock: Clock, capsys) -> None:
    tell = show_search(Lines(clock))
    for second in range(0, 61, 10):
        clock.now = 100.0 + second
        tell(Progress("levelset", "search", 7, objective=2.0, bound=2.1, n_nodes=7 * second))
        tell(Progress("greedy", "forward", 3, total=10))
    assert capsys.readouterr().err.splitlines() == [
        "[0:30] levelset search: best 2, bound 2.1, gap 5 %, 210 nodes",
        "[1:00] levelset search: best 2, bound 2.1, gap 5 %, 420 nodes",
    ]


def test_a_day_has_few_lines(clock: Clock, capsys) -> None:
    tell, stages = Lines(clock), 44  # eleven methods with four stages each
    for second in range(86400):
        clock.now += 1
        tell(f"stage {second * stages // 86400}", second, 86400)
    assert 30 < len(capsys.readouterr().err.splitlines()) < 72


def test_a_step_of_unknown_length(clock: Clock, capsys) -> None:
    Lines(clock)("counting", 1234, 0)
    assert capsys.readouterr().err == "[0:00] counting: 1,234\n"


@pytest.mark.parametrize("is_there", [False, True])
def test_a_notebook_needs_widgets_to_draw(is_there: bool, monkeypatch, capsys) -> None:
    ipython = ModuleType("IPython")
    ipython.get_ipython = lambda: type("ZMQInteractiveShell", (), {})()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setattr("builtins.get_ipython", ipython.get_ipython, raising=False)
    monkeypatch.setattr(shown_progress, "find_spec", lambda name: is_there or None)
    assert can_redraw() == is_there


def test_a_study_shows_its_progress(capsys) -> None:
    es.study(X, Y, **BRIEF, progress=True)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("[0:00] cross-validation: 1 of 3\n")
    es.study(X, Y, **BRIEF, progress=False)
    assert capsys.readouterr().err == ""


def test_a_comparison_shows_its_progress(capsys) -> None:
    es.compare(X, Y, ["anova", "pearson"], ks=(1,), cv=3, progress=True)
    assert capsys.readouterr().err.startswith("[0:00] anova, cross-validation: 1 of 3\n")


def test_the_search_of_a_study_is_drawn_in_a_terminal(monkeypatch, capsys) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("FORCE_COLOR", "1")
    es.study(X, Y, **BRIEF, progress=True)
    shown = capsys.readouterr().err
    assert "final models" in shown
    assert "greedy forward" in shown


def test_a_function_is_called_as_ever() -> None:
    seen: list[tuple[str, int, int]] = []
    es.study(X, Y, **BRIEF, progress=lambda *stage: seen.append(stage))
    assert seen[0] == ("cross-validation", 1, 3)


@pytest.mark.parametrize("run", [es.study, es.compare])
def test_other_things_are_refused(run) -> None:
    with pytest.raises(OptionError, match="progress is 'yes'; it must be True, False, or a func"):
        run(X, Y, progress="yes")


def test_bars_are_lines_without_a_terminal(capsys) -> None:
    with progress_bar() as tell:
        tell("work", 1, 2)
    assert capsys.readouterr().err == "[0:00] work: 1 of 2\n"
