"""Ctrl-C during a fit: what is known is written, and the same command goes on from there."""

from __future__ import annotations

import json
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import wraps
from pathlib import Path

import pytest

from eigensieve.cli import _common
from eigensieve.io.model import load_model
from eigensieve.studies.running.runner import StageProgress
from tests.cli.files import CHECKPOINT, FILES, contents


@pytest.fixture
def ctrl_c_at(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Press Ctrl-C when a stage has come so far."""

    def plan(stage: str, step: int, patch: pytest.MonkeyPatch = monkeypatch) -> None:
        def press(name: str, done: int, total: int) -> None:
            if (name, done) == (stage, step):
                signal.raise_signal(signal.SIGINT)

        @contextmanager
        def bar() -> Iterator[StageProgress]:
            yield press

        patch.setattr(_common, "progress_bar", bar)

    return plan


@pytest.mark.parametrize("jobs", [1, 2])
def test_ctrl_c_with_a_given_k_still_gives_the_model(run, iris_csv, ctrl_c_at, jobs) -> None:
    ctrl_c_at("cross-validation", 3)
    result = run("fit", iris_csv, "--target", "kind", "--k", 2, "--jobs", jobs, code=130)
    assert "the best model so far is in eigensieve-out" in result.stderr
    assert "No error estimate: it was interrupted" in result.stderr
    assert contents(Path("eigensieve-out")) == FILES | {CHECKPOINT}
    assert len(load_model("eigensieve-out/model.json").features) == 2
    assert "it was interrupted" in Path("eigensieve-out/report.html").read_text(encoding="utf-8")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_before_k_is_known_gives_nothing(run, tmp_path, iris_csv, ctrl_c_at) -> None:
    ctrl_c_at("cross-validation", 2)
    result = run("fit", iris_csv, "--target", "kind", code=130)
    last = result.stderr.splitlines()[-1]
    assert last.startswith("interrupted: cross-validation 2 of 25 done; k is not known yet")
    assert contents(tmp_path) == {"iris.csv", "eigensieve-out"}
    assert contents(Path("eigensieve-out")) == {CHECKPOINT}


def test_the_same_command_goes_on(run, iris_csv, ctrl_c_at, monkeypatch) -> None:
    run("fit", iris_csv, "--target", "kind", "--out", "whole")
    with monkeypatch.context() as patch:
        ctrl_c_at("nested check", 7, patch)
        run("fit", iris_csv, "--target", "kind", code=130)
    kept = Path("eigensieve-out", CHECKPOINT).read_bytes()
    assert len(kept.splitlines()) > 7
    result = run("fit", iris_csv, "--target", "kind")
    assert "from an earlier run" in result.stderr
    assert contents(Path("eigensieve-out")) == FILES
    for name in sorted(FILES - {"report.html"}):
        assert Path("eigensieve-out", name).read_bytes() == Path("whole", name).read_bytes()


def test_ctrl_c_when_k_is_known_gives_the_model(run, iris_csv, ctrl_c_at) -> None:
    ctrl_c_at("nested check", 2)
    result = run("fit", iris_csv, "--target", "kind", "--json", code=130)
    found = json.loads(result.stdout)
    assert found["error"] is None
    assert found["unfinished"]
    assert contents(Path("eigensieve-out")) == FILES | {CHECKPOINT}


@pytest.fixture
def ctrl_c_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Press Ctrl-C when the search begins: its "path", or its "solve"."""
    from eigensieve.search import solve as dispatch

    def plan(part: str) -> None:
        default = dispatch.find_solvers()["auto"]
        search = getattr(default, part)

        @wraps(search)
        def press(*args: object, **options: object) -> object:
            signal.raise_signal(signal.SIGINT)
            return search(*args, **options)

        solvers = dispatch.find_solvers() | {"auto": replace(default, **{part: press})}
        monkeypatch.setattr(dispatch, "find_solvers", lambda: solvers)

    return plan


def test_ctrl_c_in_a_search_of_a_fold_is_not_taken_for_its_end(run, iris_csv, ctrl_c_in) -> None:
    """A search by itself would stop early, and the fold be judged by half a search."""
    ctrl_c_in("path")
    result = run("fit", iris_csv, "--target", "kind", "--jobs", 1, code=130)
    assert "interrupted: starting" in result.stderr


def test_ctrl_c_in_the_final_search_keeps_the_best_so_far(run, wine, ctrl_c_in) -> None:
    ctrl_c_in("solve")
    wine.to_csv("w.csv", index=False)
    result = run("fit", "w.csv", "--target", "kind", "--k", 3, "--json", code=130)
    assert json.loads(result.stdout)["status"] == "interrupted"
    assert contents(Path("eigensieve-out")) == FILES | {CHECKPOINT}
