"""``reproduce``: names, files, Ctrl-C, missing data."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import CliRunner

from eigensieve.cli import _common
from eigensieve.cli.main import cli
from eigensieve.cli.reproduce import echo_cells
from eigensieve.experiments.catalogue import experiments
from eigensieve.experiments.judge import Cell, Reading, Verdict
from eigensieve.experiments.published import read_published
from eigensieve.experiments.values import Value
from eigensieve.experiments.words import COUNTED
from eigensieve.studies.running.runner import StageProgress

CHEAP = "chu2013/table1"  # counts rows and columns of five files
NAMES = ("chu2013/table1", "wolf2005/figure2b")
OUT = Path("eigensieve-reproduce")


def results() -> list[dict]:
    return json.loads((OUT / "results.json").read_text(encoding="utf-8"))["experiments"]


def test_list_names_them_all(run) -> None:
    lines = run("reproduce", "--list").stdout.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [e.name for e in experiments()]
    assert not OUT.exists()
    (only,) = json.loads(run("reproduce", CHEAP, "--list", "--json").stdout)["experiments"]
    assert only["name"] == CHEAP
    assert only["data"] == ["colon", "leukemia", "prostate", "srbct", "brain"]


def test_list_says_what_is_missing(run, monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path))
    lines = run("reproduce", "moghaddam2006", "--list").stdout.splitlines()
    assert lines[0].split() == ["name", "what", "missing"]
    assert next(line for line in lines if "figure2" in line).endswith("sonar.npz")


def test_one_experiment(run, data_dir: Path) -> None:
    result = run("reproduce", CHEAP, "--jobs", 1)
    assert "Colon" in result.stdout
    assert "\n1 experiment, " in result.stdout
    assert f"report:  {OUT / 'report.html'}" in result.stdout
    (found,) = results()
    assert found["name"] == CHEAP
    assert found["level"] == "full"
    counts = found["counts"]
    assert list(counts) == [str(verdict) for verdict in COUNTED]
    assert sum(counts.values()) == len(found["cells"])
    cells = {(cell["row"], cell["column"]): cell for cell in found["cells"]}
    # of Chu and Zhang's table 1, typed off the paper
    assert [cells["Prostate", c]["ours"] for c in ("m", "n", "k", "# Test")] == [6033, 51, 2, 51]
    assert cells["Prostate", "m"]["verdict"] == "matches"
    assert list((OUT / "cache").rglob("*.json"))


def test_json_is_all_there_is_on_stdout(run, data_dir: Path) -> None:
    found = json.loads(run("reproduce", CHEAP, "--jobs", 1, "--json").stdout)
    assert [e["name"] for e in found["experiments"]] == [CHEAP]
    assert Path(found["files"]["report"]).is_file()


def test_a_figure_is_a_file_of_its_own(run) -> None:
    run("reproduce", "wolf2005/figure2b", "--quick", "--jobs", 1)
    assert (OUT / "figures" / "wolf2005-figure2b.svg").read_bytes().startswith(b"<?xml")
    assert 'aria-label="Figure 2(b)' in (OUT / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["chu2013/tabel1", "chu"])
def test_a_wrong_name(run, name: str) -> None:
    assert "no experiment is named" in run("reproduce", name, code=2).stderr


def test_without_data(run, monkeypatch, tmp_path: Path) -> None:
    names = ("moghaddam2006/figure2", "moghaddam2006/figure3")
    monkeypatch.delenv("EIGENSIEVE_DATA", raising=False)
    result = run("reproduce", *names, code=2)
    assert "  missing: sonar.npz; set EIGENSIEVE_DATA" in result.stdout
    assert result.stderr.splitlines()[-1] == (
        "error: missing: ionosphere.npz, sonar.npz; set EIGENSIEVE_DATA to the folder with the "
        "data sets"
    )
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path))
    assert f"missing in {tmp_path}: " in run("reproduce", *names, code=2).stderr
    assert not OUT.exists()
    plain = json.loads(run("reproduce", *names, "--json", code=2).stdout)
    assert plain["files"] == {}
    assert [e["missing"] for e in plain["experiments"]] == [["sonar.npz"], ["ionosphere.npz"]]


def test_missing_data_do_not_replace_a_page(run, data_dir: Path, monkeypatch) -> None:
    run("reproduce", CHEAP, "--jobs", 1)
    before = (OUT / "report.html").read_bytes()
    monkeypatch.delenv("EIGENSIEVE_DATA")
    run("reproduce", CHEAP, code=2)
    assert (OUT / "report.html").read_bytes() == before


def test_an_interrupted_run_does_not_replace_a_whole_one(run, data_dir, press_ctrl_c) -> None:
    run("reproduce", *NAMES, "--quick", "--jobs", 1)
    before = (OUT / "report.html").read_bytes()
    with press_ctrl_c:
        result = run("reproduce", *NAMES, "--quick", "--fresh", "--jobs", 1, code=130)
    assert "keeps the complete results" in result.stderr
    assert (OUT / "report.html").read_bytes() == before


@pytest.mark.parametrize("place", ["figures", "cache"])
def test_a_file_where_a_folder_is_needed(run, place: str) -> None:
    OUT.mkdir()
    (OUT / place).touch()
    assert f"{OUT / place}: is a file" in run("reproduce", CHEAP, code=2).stderr


def test_a_failed_experiment_does_not_stop_the_others(run, data_dir, monkeypatch) -> None:
    def fail(data: str, seed: int) -> None:
        raise ValueError(f"not {data}")

    monkeypatch.setattr("eigensieve.experiments.chu2013.table1.work", fail)
    result = run("reproduce", *NAMES, "--quick", "--jobs", 1, code=1)
    assert "failed: ValueError: not Colon" in result.stdout
    assert result.stderr.splitlines()[-1].startswith("failed: chu2013/table1 (")
    assert [bool(e["trouble"]) for e in results()] == [False, True]
    shown = CliRunner().invoke(cli, ["--debug", "reproduce", CHEAP, "--jobs", "1"])
    assert "in fail" in shown.stderr


def test_a_figure_that_cannot_be_drawn_does_not_cost_the_page(run, data_dir, monkeypatch) -> None:
    def fail(series: dict) -> None:
        raise ValueError("no ink")

    monkeypatch.setattr("eigensieve.experiments.wolf2005.figure2b.draw", fail)
    result = run("reproduce", *NAMES, "--quick", "--jobs", 1, code=1)
    assert "wolf2005/figure2b" in result.stderr.splitlines()[-1]
    assert "no ink (in its figure)" in (OUT / "report.html").read_text(encoding="utf-8")


def test_what_nobody_has_published_is_shown_on_demand(run) -> None:
    args = ("reproduce", "wolf2005/figure2b", "--quick", "--jobs", 1)
    assert "Hoyer's sparsity  " not in run(*args).stdout
    assert "Hoyer's sparsity  " in run(*args, "--all").stdout


@pytest.fixture
def press_ctrl_c(monkeypatch):
    """Ctrl-C in the middle of the second of two experiments."""

    @contextmanager
    def bar() -> Iterator[StageProgress]:
        def press(stage: str, done: int, total: int) -> None:
            if (stage, done) == (f"2 of 2, {CHEAP}", 2):
                signal.raise_signal(signal.SIGINT)

        yield press

    @contextmanager
    def pressing() -> Iterator[None]:
        with monkeypatch.context() as patch:
            patch.setattr(_common, "progress_bar", bar)
            yield

    return pressing()


def test_ctrl_c_keeps_what_is_done_and_goes_on(run, data_dir: Path, press_ctrl_c) -> None:
    with press_ctrl_c:
        result = run("reproduce", *NAMES, "--quick", "--jobs", 1, code=130)
    assert "interrupted: 1 of 2 experiments done; what is done is in" in result.stderr
    assert [e["name"] for e in results()] == ["wolf2005/figure2b"]
    assert "Not everything was run" in (OUT / "report.html").read_text(encoding="utf-8")
    assert len(list((OUT / "cache" / "chu2013-table1").glob("*.json"))) == 2
    again = run("reproduce", *NAMES, "--quick", "--jobs", 1)
    assert "2 of 5 parts kept from before" in again.stdout
    assert [e["name"] for e in results()] == ["wolf2005/figure2b", "chu2013/table1"]


def test_a_file_in_the_way(run, tmp_path: Path) -> None:
    (tmp_path / "eigensieve-reproduce").touch()
    assert "a folder is needed there" in run("reproduce", CHEAP, code=2).stderr


def test_readings_are_printed_below_their_cell(capsys) -> None:
    readings = (
        Reading("relative stop", Value(2.42e-6), True),
        Reading("absolute stop", Value(2.25e-5), False),
        Reading("no stop", Value(1.0, n=2), None),
    )
    cell = Cell("Leukemia", "orthogonality", read_published("2.46e-6"), None, readings[0].ours,
                Verdict.OPEN, decimals=2, readings=readings)  # fmt: skip
    echo_cells([cell])
    lines = capsys.readouterr().out.splitlines()[-4:]
    assert lines[0].split()[:3] == ["cannot", "be", "told"]
    assert lines[1].split() == ["-", "relative", "stop", "2.42e-06", "agrees"]
    assert lines[2].split() == ["-", "absolute", "stop", "2.25e-05", "does", "not", "agree"]
    assert lines[3].split() == ["-", "no", "stop", "1.00e+00", "cannot", "be", "told"]


def test_terminal_and_file_count_alike(run, monkeypatch, tmp_path: Path) -> None:
    """An experiment without its data counts, too: its cells are on the page."""
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path))
    text = run("reproduce", "wolf2005/figure2b", CHEAP, "--quick", "--jobs", 1).stdout
    total = {str(verdict): 0 for verdict in COUNTED}
    for found in results():
        for cell in found["cells"]:
            total[cell["verdict"]] += 1
    said = ", ".join(f"{total[str(v)]} {word}" for v, word in COUNTED.items() if total[str(v)])
    assert total["cannot be had"] == 20  # five sets, four columns
    assert f"s: {said}\n" in text
