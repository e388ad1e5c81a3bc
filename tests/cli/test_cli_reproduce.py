"""``reproduce``: names, files, Ctrl-C, missing data."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eigensieve.cli import _common
from eigensieve.experiments.catalogue import experiments
from eigensieve.experiments.words import SHOWN

CHEAP = "chu2013/table1"  # counts rows and columns of five files
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
    assert "sonar.npz is missing" in run("reproduce", "moghaddam2006", "--list").stdout


def test_one_experiment(run, data_dir: Path) -> None:
    result = run("reproduce", CHEAP, "--jobs", 1)
    assert "Colon" in result.stdout
    assert "\n1 experiment, " in result.stdout
    assert f"report:  {OUT / 'report.html'}" in result.stdout
    (found,) = results()
    assert found["name"] == CHEAP
    assert found["level"] == "full"
    counts = found["counts"]
    assert list(counts) == [str(verdict) for verdict in SHOWN]
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


def test_without_data(run, monkeypatch) -> None:
    monkeypatch.delenv("EIGENSIEVE_DATA", raising=False)
    result = run("reproduce", "moghaddam2006/figure2", "moghaddam2006/figure3", code=2)
    last = result.stderr.splitlines()[-1]
    assert last == (
        "error: missing: ionosphere.npz, sonar.npz; set EIGENSIEVE_DATA to the folder that "
        "holds them"
    )
    page = (OUT / "report.html").read_text(encoding="utf-8")
    assert "sonar.npz is missing" in page
    assert all(e["counts"]["cannot be had"] == len(e["cells"]) for e in results())


def test_ctrl_c_keeps_what_is_done_and_goes_on(run, data_dir: Path, monkeypatch) -> None:
    @contextmanager
    def bar() -> Iterator[_common.StageProgress]:
        def press(stage: str, done: int, total: int) -> None:
            if (stage, done) == (f"2 of 2, {CHEAP}", 2):
                signal.raise_signal(signal.SIGINT)

        yield press

    names = ("chu2013/table1", "wolf2005/figure2b")
    with monkeypatch.context() as patch:
        patch.setattr(_common, "progress_bar", bar)
        result = run("reproduce", *names, "--quick", "--jobs", 1, code=130)
    assert "interrupted: 1 of 2 experiments are in eigensieve-reproduce" in result.stderr
    assert [e["name"] for e in results()] == ["wolf2005/figure2b"]
    assert "Not everything was run" in (OUT / "report.html").read_text(encoding="utf-8")
    kept = len(list((OUT / "cache" / "chu2013-table1").glob("*.json")))
    assert kept == 2
    run("reproduce", *names, "--quick", "--jobs", 1)
    assert [e["name"] for e in results()] == ["wolf2005/figure2b", "chu2013/table1"]


def test_a_file_in_the_way(run, tmp_path: Path) -> None:
    (tmp_path / "eigensieve-reproduce").touch()
    assert "a folder is needed there" in run("reproduce", CHEAP, code=2).stderr
