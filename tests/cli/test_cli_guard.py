"""No command replaces a file that it reads, or that it has not made."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eigensieve.cli import _common, _destinations, _guard
from eigensieve.cli._destinations import drafted, staged
from eigensieve.studies.running.runner import StageProgress
from tests.cli.files import CHECKPOINT, LIST

QUICK = ["--target", "kind", "--k", "1", "--cv", "2", "--repeats", "1", "--jobs", "1"]
COMPARE = ["--target", "kind", "--methods", "anova", "--ks", "1", "--cv", "2", "--jobs", "1"]
CERTIFY = ["--target", "kind", "--time-limit", "0", "--jobs", "1"]
FEATURE = "petal width (cm)"
ONE = ["--features", FEATURE]


def snapshot(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def refused(run, tmp_path: Path) -> Callable[..., str]:
    """Run a command that must end with one line and exit code 2, every byte left as it was."""

    def _refused(*args: object) -> str:
        before = snapshot(tmp_path)
        links = {path for path in tmp_path.rglob("*") if path.is_symlink()}
        result = run(*args, code=2)
        assert result.stdout == ""
        (line,) = result.stderr.splitlines()
        assert line.startswith("error: ")
        assert snapshot(tmp_path) == before
        assert {path for path in tmp_path.rglob("*") if path.is_symlink()} == links
        return line

    return _refused


@pytest.fixture
def model(run, wine_model: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(wine_model, tmp_path / "m.json"))


@pytest.fixture
def rows(wine, tmp_path: Path) -> Path:
    """Rows for the model of wine."""
    wine.to_csv(tmp_path / "rows.csv", index=False)
    return tmp_path / "rows.csv"


# ---------------------------------------------------------------- what a command reads

# The file that is read and would be replaced; {} is a name for it.
READ = {
    "certify a table": ("t.csv", ["certify", "t.csv", *CERTIFY, *ONE, "--proof", "{}"]),
    "certify a list": (
        "f.txt",
        ["certify", "t.csv", *CERTIFY, "--features-file", "f.txt", "--proof", "{}"],
    ),
    "predict a table": ("rows.csv", ["predict", "m.json", "rows.csv", "--out", "{}"]),
    "predict with a model": ("m.json", ["predict", "m.json", "rows.csv", "--out", "{}"]),
    "predict with a folder": ("d/model.json", ["predict", "d", "rows.csv", "--out", "{}"]),
    "export a model": ("m.json", ["export", "m.json", "{}"]),
    "export a folder": ("d/model.json", ["export", "d", "{}"]),
}
NAMES: dict[str, Callable[[Path], str]] = {
    "plain": str,
    "dotted": lambda path: f"./d/../{path}",
    "absolute": lambda path: str(path.absolute()),
    "link": lambda path: link(path, os.symlink),
    "hard link": lambda path: link(path, os.link),
    "link to its folder": lambda path: link_of_folder(path),
}


def link(path: Path, make: Callable[[Path, str], None]) -> str:
    make(path.absolute(), "other.name")
    return "other.name"


def link_of_folder(path: Path) -> str:
    os.symlink(path.absolute().parent, "elsewhere")
    return f"elsewhere/{path.name}"


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("name", NAMES.values(), ids=NAMES.keys())
@pytest.mark.parametrize(("file", "line"), READ.values(), ids=READ.keys())
def test_what_is_read_is_not_replaced(
    refused, iris_csv, model, rows, file: str, line: list[str], name, force: bool
) -> None:
    """By no name, and not by force."""
    shutil.copy(iris_csv, "t.csv")
    Path("f.txt").write_text(f"{FEATURE}\n")
    Path("d").mkdir()
    shutil.copy(model, "d/model.json")
    destination = name(Path(file))
    said = refused(*(word.format(destination) for word in line), *["--force"] * force)
    assert "is an input of this command; choose another " in said


IN_FOLDER = {
    "fit": ("selected.csv", ["fit", "selected.csv", *QUICK]),
    "fit, annotations": ("cv.csv", ["fit", "iris.csv", *QUICK, "--annotations", "cv.csv"]),
    "compare": ("comparison.csv", ["compare", "comparison.csv", *COMPARE]),
}


@pytest.mark.parametrize("out", [".", "link"])
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize(("file", "line"), IN_FOLDER.values(), ids=IN_FOLDER.keys())
def test_an_input_in_the_folder_of_the_results(
    refused, iris_csv: Path, file: str, line: list[str], force: bool, out: str
) -> None:
    shutil.copy(iris_csv, file)
    Path("report.html").write_text("one more that would be replaced")
    os.symlink(".", "link")
    said = refused(*line, "--out", out, *["--force"] * force)
    assert said == f"error: {Path(out, file)}: is an input of this command; choose another --out"


def test_results_that_are_an_input_now(run, refused, iris_csv: Path) -> None:
    run("fit", iris_csv, *QUICK, "--out", "o")
    said = refused("fit", iris_csv, *QUICK, "--annotations", "o/selected.csv", "--out", "o")
    assert "o/selected.csv: is an input" in said


# ---------------------------------------------------------------- what it has not made

FOREIGN = {
    "fit": (["fit", "iris.csv", *QUICK, "--out", "."],
            ["report.html", "model.json", "selected.csv", "cv.csv", "stability.csv",
             "panels.csv"]),
    "panels": (["panels", "iris.csv", "--target", "species", "--k", "2", "--out", "."],
               ["panels.csv", "features.csv", "panels.html"]),
    "compare": (["compare", "iris.csv", *COMPARE, "--out", "."],
                ["report.html", "comparison.csv", "comparison.json"]),
    "demo": (["demo", "--out", "."], ["training.csv", "heldout.csv", "cv.csv", "model.json"]),
    "reproduce": (["reproduce", "wolf2005/figure2b", "--quick", "--out", "."],
                  ["report.html", "results.json", "figures/wolf2005-figure2b.svg"]),
    "predict": (["predict", "m.json", "rows.csv", "--out", "p.csv"], ["p.csv"]),
    "export": (["export", "m.json", "m.onnx"], ["m.onnx"]),
    "certify": (["certify", "iris.csv", *CERTIFY, *ONE, "--proof", "p"], ["p"]),
}  # fmt: skip
EACH = [
    pytest.param(line, file, id=f"{command} {file}")
    for command, (line, files) in FOREIGN.items()
    for file in files
]


@pytest.mark.parametrize(("line", "file"), EACH)
def test_a_file_of_somebody_else_is_not_replaced(
    refused, iris_csv, model, rows, line: list[str], file: str
) -> None:
    Path(file).parent.mkdir(exist_ok=True)
    Path(file).write_text("years of work\n")
    said = refused(*line)
    assert f"{file}: is there already, not made by this command, or changed since; choose" in said
    assert said.endswith("or add --force to replace it")


CHEAP = ["fit", "compare", "predict", "export", "certify"]


@pytest.mark.parametrize("command", CHEAP)
def test_force_replaces_it(run, iris_csv, model, rows, command: str) -> None:
    line, (file, *_) = FOREIGN[command]
    Path(file).write_text("years of work\n")
    assert "note: replaced" in run(*line, "--force").stderr
    assert Path(file).read_bytes() != b"years of work\n"


@pytest.mark.parametrize("command", [*CHEAP, "demo"])
def test_the_same_command_replaces_its_own(run, iris_csv, model, rows, command: str) -> None:
    """As often as one likes, with other options, from another folder."""
    line, files = FOREIGN[command]
    run(*line)
    os.symlink(".", "link")
    again = [f"link/{word}" if word in (*files, ".") else word for word in line]
    for words in (line, again):
        assert "note: replaced" in run(*words).stderr


def test_figures_of_an_earlier_run_are_replaced(run) -> None:
    line, (_, _, figure) = FOREIGN["reproduce"]
    run(*line, "--jobs", 1)
    assert "replaced in figures: wolf2005-figure2b.svg" in run(*line, "--jobs", 1).stderr
    Path(figure).write_text("edited")
    assert figure in run(*line, code=2).stderr


def test_a_result_that_was_edited_is_not_replaced(run, refused, iris_csv: Path) -> None:
    run("fit", iris_csv, *QUICK)
    place = Path("eigensieve-out/selected.csv")
    plain = place.read_bytes()
    place.write_bytes(plain + b"2,a remark of mine\n")
    assert "eigensieve-out/selected.csv: is there already" in refused("fit", iris_csv, *QUICK)
    place.write_bytes(plain)
    run("fit", iris_csv, *QUICK)


def test_a_result_of_another_command_is_not_replaced(run, refused, wine, model, rows) -> None:
    run("fit", rows, *QUICK, "--out", "o")
    said = refused("predict", model, rows, "--out", "o/cv.csv")
    assert "o/cv.csv: is there already, made by eigensieve fit" in said
    assert "made by eigensieve fit" in refused("compare", rows, *COMPARE, "--out", "o")


@pytest.mark.parametrize("kind", ["link", "dangling link", "pipe"])
def test_what_is_no_plain_file_is_not_replaced(refused, iris_csv: Path, kind: str) -> None:
    place = Path("selected.csv")
    if kind == "pipe":
        os.mkfifo(place)
    else:
        os.symlink(iris_csv if kind == "link" else "none.csv", place)
    line = refused("fit", iris_csv, *QUICK, "--out", ".")
    assert line.startswith("error: selected.csv: is")
    assert place.is_fifo() if kind == "pipe" else place.is_symlink()


def test_an_empty_file_has_nothing_to_lose(run, iris_csv: Path, model, rows) -> None:
    """Scripts make one to have its name."""
    Path("p.csv").touch()
    run("predict", model, rows, "--out", "p.csv")
    assert Path("p.csv").read_text().startswith("row,")


def test_an_empty_input_is_not_replaced(refused, iris_csv: Path) -> None:
    Path("f.txt").touch()
    line = ["certify", iris_csv, *CERTIFY, *ONE, "--features-file", "f.txt", "--proof", "f.txt"]
    assert "is an input" in refused(*line)


def test_a_proof_is_written_to_a_pipe_that_stays_one(run, iris_csv: Path) -> None:
    os.mkfifo("pipe")
    reading = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    run("certify", iris_csv, *CERTIFY, *ONE, "--proof", "pipe")
    assert b"eigensieve-proof" in os.read(reading, 10**6)
    os.close(reading)
    assert Path("pipe").is_fifo()


# ---------------------------------------------------------------- while it works


@pytest.fixture
def meanwhile(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], object]], None]:
    """Do something as soon as the work has begun."""

    def plan(act: Callable[[], object]) -> None:
        @contextmanager
        def bar() -> Iterator[StageProgress]:
            yield lambda stage, done, total: act()

        monkeypatch.setattr(_common, "progress_bar", bar)

    return plan


def test_a_file_that_appears_during_the_work(run, iris_csv: Path, meanwhile, monkeypatch) -> None:
    """It stays, and so does what was found by then: the same command goes on."""
    place = Path("o/selected.csv")
    with monkeypatch.context():
        meanwhile(lambda: place.write_text("years of work\n"))
        result = run("fit", iris_csv, *QUICK, "--out", "o", code=2)
    assert "error: o/selected.csv: is there already" in result.stderr
    assert {path.name: path.stat().st_size > 0 for path in Path("o").iterdir()} == {
        "selected.csv": True, CHECKPOINT: True,
    }  # fmt: skip
    assert place.read_text() == "years of work\n"
    meanwhile(lambda: None)
    place.unlink()
    assert "going on from an earlier run" in run("fit", iris_csv, *QUICK, "--out", "o").stderr


@pytest.fixture
def at_the_third_file() -> Callable[..., None]:
    """Do something when two files of the folder ``o`` are in place."""
    plain, moved = os.replace, []

    def plan(act: Callable[[], object], patch: pytest.MonkeyPatch) -> None:
        def replace(source: str | Path, target: str | Path) -> None:
            if Path(target).parent.name == "o":
                moved.append(target)
                if len(moved) == 3:
                    act()
            plain(source, target)

        patch.setattr(_destinations.os, "replace", replace)

    return plan


def fail() -> None:
    raise MemoryError


def test_a_run_that_fails_between_two_files(
    run, iris_csv: Path, monkeypatch, at_the_third_file
) -> None:
    """As if it were killed: some of the files are new then, and all are the command's own."""
    run("fit", iris_csv, *QUICK, "--out", "o")
    old = snapshot(Path("o"))
    with monkeypatch.context() as patch:
        at_the_third_file(fail, patch)
        run("fit", iris_csv, *QUICK, "--seed", 1, "--out", "o", code=1)
    changed = {name for name, text in snapshot(Path("o")).items() if old.get(name, text) != text}
    assert "o/model.json" in changed
    assert "o/report.html" not in changed
    for seed in (1, 0):
        run("fit", iris_csv, *QUICK, "--seed", seed, "--out", "o")
    assert snapshot(Path("o"))["o/model.json"] == old["o/model.json"]


def test_ctrl_c_between_two_files(run, iris_csv: Path, monkeypatch, at_the_third_file) -> None:
    """All of them are put in place, and that is said."""
    run("fit", iris_csv, *QUICK, "--seed", 1, "--out", "whole")
    run("fit", iris_csv, *QUICK, "--out", "o")
    with monkeypatch.context() as patch:
        at_the_third_file(lambda: signal.raise_signal(signal.SIGINT), patch)
        result = run("fit", iris_csv, *QUICK, "--seed", 1, "--out", "o", code=130)
    assert result.stderr.endswith("interrupted: all results were written by then\n")
    for name in ("model.json", "cv.csv", "selected.csv", "stability.csv"):
        assert Path("o", name).read_bytes() == Path("whole", name).read_bytes()


def test_a_full_disk_leaves_the_old_files(run, iris_csv: Path, monkeypatch) -> None:
    run("fit", iris_csv, *QUICK, "--out", "o")
    old = snapshot(Path("o"))

    def fail(folder: Path, files: object) -> None:
        with open(folder / LIST, "ab") as file:
            file.write(b'\n{"file": "repo')  # as much as there was room for
        raise OSError(errno.ENOSPC, "No space left on device", str(folder / LIST))

    with monkeypatch.context() as patch:
        patch.setattr(_destinations, "note_made", fail)
        result = run("fit", iris_csv, *QUICK, "--seed", 1, "--out", "o", code=1)
    assert "failed: o: No space left on device" in result.stderr
    (Path("o") / CHECKPOINT).unlink()
    now = snapshot(Path("o"))
    assert now.pop(f"o/{LIST}").startswith(old.pop(f"o/{LIST}"))
    assert now == old
    for _ in range(2):
        run("fit", iris_csv, *QUICK, "--out", "o")


# ---------------------------------------------------------------- the list


def test_the_list_says_who_made_what(run, model, rows) -> None:
    run("predict", model, rows, "--out", "p.csv")
    (line,) = Path(LIST).read_text().split("\n")[1:-1]
    note = json.loads(line)
    assert (note["file"], note["command"]) == ("p.csv", "predict")
    assert len(note["sha256"]) == 64


def test_a_list_of_somebody_else_is_left_alone(refused, model, rows) -> None:
    Path(LIST).write_text("my own list\n")
    Path("p.csv").write_text("old")
    assert f"{LIST}: is no list of files made by eigensieve" in refused(
        "predict", model, rows, "--out", "p.csv"
    )
    Path("p.csv").unlink()
    assert f"{LIST}: is no list" in refused("predict", model, rows, "--out", "p.csv")


@pytest.mark.parametrize("is_there", [False, True])
@pytest.mark.parametrize("force", [False, True])
def test_no_result_takes_the_place_of_the_list(run, refused, model, rows, is_there, force) -> None:
    """Every command in that folder would be refused from then on."""
    if is_there:
        run("predict", model, rows, "--out", "p.csv")
    said = refused("predict", model, rows, "--out", LIST, *["--force"] * force)
    assert said == f"error: {LIST}: is for the list of files made here; choose another --out"


def test_a_list_is_no_link(refused, model, rows) -> None:
    """In a folder where others write, too, it might lead to any file of the user's."""
    Path(LIST).symlink_to("none")
    assert f"{LIST}: is no list" in refused("predict", model, rows, "--out", "p.csv")


def test_a_list_that_is_somebody_else_s(run, refused, model, rows, monkeypatch) -> None:
    """As in /tmp, where another user was first."""

    def refuse(path: Path, mode: str) -> object:
        if Path(path).name == LIST:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return open(path, mode)

    with monkeypatch.context() as patch:
        patch.setattr(_guard, "open", refuse, raising=False)
        result = run("predict", model, rows, "--out", "p.csv")
    assert f"{LIST}: cannot be written to; to replace these files will take --force" in (
        result.stderr
    )
    assert "p.csv: is there already" in refused("predict", model, rows, "--out", "p.csv")


def test_runs_side_by_side_note_all_their_files(tmp_path: Path) -> None:
    def write(number: int) -> None:
        for i in range(20):
            with drafted(tmp_path / f"{number}-{i}.csv") as draft:
                draft.write_text(f"{number} {i}")

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    files = sorted(path for path in tmp_path.iterdir() if path.name != LIST)
    assert len(files) == 80
    _guard.check_replaceable(files, "--out")


def test_strange_names(tmp_path: Path) -> None:
    names = ["größe.csv", "a\nb", 'say "hi"', os.fsdecode(b"\xff\xfe.csv")]
    for _ in range(2):
        with staged(tmp_path) as stage:
            for name in names:
                (stage / name).write_text("x")
    for name in names:
        (tmp_path / name).write_text("y")
        with pytest.raises(FileExistsError):
            _guard.check_replaceable([tmp_path / name], "--out")
