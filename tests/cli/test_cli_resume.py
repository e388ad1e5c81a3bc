"""Two runs and one folder: what belongs to another run is neither used nor harmed."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from eigensieve.cli import _common
from eigensieve.cli._resume import resumable
from eigensieve.errors import InputError
from eigensieve.io.model import load_model
from eigensieve.studies.running.checkpoint import Checkpoint
from eigensieve.studies.running.runner import StageProgress
from tests.cli.files import CHECKPOINT, FILES, contents

OUT = Path("eigensieve-out")
QUICK = ["--repeats", "1", "--ks", "1,2", "--jobs", "1"]
COMPARED = ["--methods", "sparse-lda,anova", "--ks", "1,2", "--jobs", "1"]
Press = Callable[[str, int], "contextmanager[None]"]


@pytest.fixture
def ctrl_c(monkeypatch: pytest.MonkeyPatch) -> Press:
    """``with ctrl_c("nested", 2)``: pressed when a stage of such a name has come so far."""

    @contextmanager
    def pressing(stage: str, step: int) -> Iterator[None]:
        def press(name: str, done: int, total: int) -> None:
            if name.startswith(stage) and done == step:
                signal.raise_signal(signal.SIGINT)

        @contextmanager
        def bar() -> Iterator[StageProgress]:
            yield press

        with monkeypatch.context() as patch:
            patch.setattr(_common, "progress_bar", bar)
            yield

    return pressing


def results_told(stderr: str) -> int:
    """How many results of an earlier run the notes speak of."""
    found = re.findall(
        r"^note: going on from an earlier run: (\d+) results?$", stderr, re.MULTILINE
    )
    return sum(map(int, found))


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_the_progress_of_another_command_is_refused_and_kept(
    run, iris_csv: Path, ctrl_c, command: str
) -> None:
    args = [command, iris_csv, "--target", "kind", "--out", "o"]
    args += QUICK if command == "fit" else COMPARED
    with ctrl_c("cross-validation" if command == "fit" else "anova", 3):
        run(*args, code=130)
    before = snapshot(Path("o"))
    assert any("checkpoint" in name for name in before)
    result = run(*args, "--ignore", "sepal width (cm)", code=2)
    line = result.stderr.splitlines()[-1]
    assert line.startswith("error: o/.eigensieve-checkpoint")
    assert "holds the progress of another run (other data, options or version)" in line
    assert line.endswith("or choose another --out")
    assert "going on" not in result.stderr
    assert snapshot(Path("o")) == before
    kept = sum(text.count(b"\n") - 1 for name, text in before.items() if "checkpoint" in name)
    assert results_told(run(*args).stderr) == kept
    assert not any("checkpoint" in name for name in snapshot(Path("o")))


def test_the_progress_of_other_methods_is_refused_and_kept(run, iris_csv: Path, ctrl_c) -> None:
    """Even if that of the methods that are named now could be used."""

    def compare(methods: str, code: int) -> str:
        args = ["--target", "kind", "--ks", "1,2", "--jobs", 1, "--methods", methods, "--out", "o"]
        return run("compare", iris_csv, *args, code=code).stderr

    with ctrl_c("anova", 3):
        compare("sparse-lda,anova", code=130)
    before = snapshot(Path("o"))
    for methods in ("pearson", "anova"):
        assert "checkpoint holds the progress of another run" in compare(methods, code=2)
        assert snapshot(Path("o")) == before
    assert results_told(compare("anova,pearson,sparse-lda", code=0)) > 0
    assert not any("checkpoint" in name for name in snapshot(Path("o")))


@pytest.mark.parametrize("n_lost", [0, 3, 7])
def test_only_results_that_are_used_are_counted(run, iris_csv, ctrl_c, n_lost: int) -> None:
    """A damaged line is dropped, and all behind it: they are found anew, and not told as kept."""
    args = ["fit", iris_csv, "--target", "kind", *QUICK]
    run(*args, "--out", "whole")
    with ctrl_c("nested", 2):
        run(*args, code=130)
    place = OUT / CHECKPOINT
    head, *lines = place.read_bytes().splitlines(keepends=True)
    assert len(lines) == 7
    if n_lost:
        lines[-n_lost] = lines[-n_lost].replace(b"a", b"b", 1)
        place.write_bytes(b"".join([head, *lines]))
    assert results_told(run(*args).stderr) == 7 - n_lost
    for name in ("model.json", "cv.csv", "selected.csv"):
        assert (OUT / name).read_bytes() == Path("whole", name).read_bytes()


def test_results_of_other_folds_are_not_counted(run, iris_csv: Path, ctrl_c) -> None:
    args = ["fit", iris_csv, "--target", "kind", *QUICK]
    with ctrl_c("nested", 2):
        run(*args, code=130)
    assert results_told(run(*args, "--cv", 3).stderr) == 0


@pytest.mark.parametrize("is_there_before", [True, False])
def test_a_run_that_is_locked_out_deletes_nothing(tmp_path: Path, is_there_before: bool) -> None:
    """The other run may open the file before this one looks for it, or right after."""
    pytest.importorskip("fcntl")
    place = tmp_path / CHECKPOINT

    def run_locked_out(other: ExitStack) -> Checkpoint:
        with resumable(tmp_path):
            theirs = other.enter_context(Checkpoint(place, "theirs"))
            theirs.add("job", [])
            Checkpoint(place, "mine").__enter__()
        return theirs

    with ExitStack() as other:
        if is_there_before:
            other.enter_context(Checkpoint(place, "theirs")).add("job", [])
            other.close()
        with pytest.raises(InputError, match="another run is writing"):
            run_locked_out(other)
        assert len(place.read_bytes().splitlines()) == 2 + is_there_before


def test_a_locked_fit(run, iris_csv: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    OUT.mkdir()
    with open(OUT / CHECKPOINT, "wb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        result = run("fit", iris_csv, "--target", "kind", *QUICK, code=2)
    assert "another run is writing to it" in result.stderr
    assert contents(OUT) == {CHECKPOINT}


def test_an_error_takes_away_only_what_the_run_has_made(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="k"), resumable(tmp_path / "a" / "b"):
        raise InputError("k")
    assert contents(tmp_path) == set()
    (tmp_path / CHECKPOINT).write_bytes(b"")
    with pytest.raises(InputError, match="k"), resumable(tmp_path):
        raise InputError("k")
    assert contents(tmp_path) == {CHECKPOINT}


# ---------------------------------------------------------------- complete and interrupted


def test_ctrl_c_does_not_replace_a_complete_study(run, iris_csv: Path, ctrl_c) -> None:
    args = ["fit", iris_csv, "--target", "kind", *QUICK]
    run(*args)
    before = snapshot(OUT)
    for step in (2, 3):  # once more, with a checkpoint there
        with ctrl_c("nested", step):
            result = run(*args, code=130)
        assert result.stdout == ""
        assert "nothing was written: eigensieve-out keeps the complete results" in result.stderr
        assert contents(OUT) == FILES | {CHECKPOINT}
        assert before.items() <= snapshot(OUT).items()
    run(*args)
    assert contents(OUT) == FILES


def test_ctrl_c_replaces_what_is_not_complete(run, iris_csv: Path, ctrl_c) -> None:
    args = ["fit", iris_csv, "--target", "kind", *QUICK]
    for step in (2, 3):
        with ctrl_c("nested", step):
            result = run(*args, code=130)
        assert "the best model so far is in eigensieve-out" in result.stderr
    assert load_model(OUT / "model.json").info["unfinished"]
    run(*args)
    assert "unfinished" not in load_model(OUT / "model.json").info


def test_ctrl_c_does_not_replace_a_complete_comparison(run, iris_csv: Path, ctrl_c) -> None:
    args = ["compare", iris_csv, "--target", "kind", *COMPARED]
    run(*args)
    before = snapshot(Path("eigensieve-compare"))
    with ctrl_c("anova", 3):
        result = run(*args, code=130)
    assert "nothing was written: eigensieve-compare keeps the complete" in result.stderr
    assert before.items() <= snapshot(Path("eigensieve-compare")).items()


def test_ctrl_c_does_not_replace_a_complete_demo(run, ctrl_c) -> None:
    run("demo")
    before = snapshot(Path("eigensieve-demo"))
    with ctrl_c("nested", 2):
        result = run("demo", code=130)
    line = result.stderr.splitlines()[-1]
    assert line.endswith("eigensieve-demo keeps the complete results of an earlier run")
    assert snapshot(Path("eigensieve-demo")) == before
