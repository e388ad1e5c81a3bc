"""``demo`` and ``data``."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eigensieve.datasets.loader import EMBEDDED
from tests.cli.files import FILES, contents, without_progress

SCRIPT = [sys.executable, "-c", "from eigensieve.cli.main import main; main()"]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder in which the demo ran, and what it said."""
    folder = tmp_path_factory.mktemp("demo place")
    done = subprocess.run(
        [*SCRIPT, "demo"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=folder,
    )
    assert done.returncode == 0, done.stderr
    assert re.match(r"\[0:\d\d\] cross-validation: 1 of 25\n", done.stderr)
    assert without_progress(done.stderr) == []
    return folder, done.stdout


def test_demo_writes_what_it_says(demo: tuple[Path, str]) -> None:
    folder, said = demo
    out = folder / "eigensieve-demo"
    expected = FILES | {"training.csv", "heldout.csv"}
    assert contents(out) == expected
    assert said.endswith("Open the report: eigensieve-demo/report.html\n")
    for name in pd.read_csv(out / "selected.csv")["name"]:
        assert name in said
    assert "With all 30 features" in said
    training, held_out = (pd.read_csv(out / f"{n}.csv") for n in ("training", "heldout"))
    assert (len(training), len(held_out)) == (379, 190)
    assert not set(training["sample"]) & set(held_out["sample"])


def test_the_next_commands_work_as_printed(
    run, demo: tuple[Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, said = demo
    lines = [line.strip() for line in said.splitlines() if line.startswith("  eigensieve ")]
    assert [shlex.split(line)[1] for line in lines] == ["predict", "evaluate", "fit"]
    monkeypatch.chdir(folder)
    predict, evaluate, fit = (run(*shlex.split(line)[1:]) for line in lines)
    assert len(predict.stdout.splitlines()) == 191
    (error,) = (line for line in said.splitlines() if "held-out tumours: " in line)
    assert error.split(": ")[1] in evaluate.stdout
    assert "of 30 features selected, from 379 samples" in fit.stdout
    models = [json.loads((folder / f / "model.json").read_text())["model"] for f in
              ("eigensieve-demo", "eigensieve-out")]  # fmt: skip
    assert models[0]["coef"] == models[1]["coef"]


def test_demo_takes_a_folder_and_a_seed(run) -> None:
    said = run("demo", "--out", "my demo", "--seed", 3).stdout
    assert "eigensieve predict 'my demo/model.json' 'my demo/heldout.csv'" in said
    assert Path("my demo/report.html").exists()


# ---------------------------------------------------------------- data


def test_data_list_without_a_folder(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EIGENSIEVE_DATA", raising=False)
    result = run("data", "list")
    assert [line.split()[0] for line in result.stdout.splitlines()[1:]] == list(EMBEDDED)
    assert "set EIGENSIEVE_DATA" in result.stderr


def test_data_of_a_folder(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    np.savez(tmp_path / "mine.npz", X=np.eye(4), y=list("aabb"), feature_names=list("pqrq"))
    np.savez(tmp_path / "matrix.npz", S=np.eye(4))
    monkeypatch.setenv("EIGENSIEVE_DATA", str(tmp_path))
    rows = {line.split()[0]: line.split()[1:4] for line in run("data", "list").stdout.splitlines()}
    assert rows["mine"] == ["4", "4", "2"]
    assert rows["matrix"] == ["-", "-", "-"]
    shown = run("data", "show", "mine").stdout
    assert "4 samples x 4 features" in shown
    assert "a 2, b 2" in shown
    assert "1 repeated name)" in shown
    command = shlex.split(shown.splitlines()[-1])[2:]
    assert run(*command[1:], "--k", 1).exit_code == 0


def test_data_show_embedded(run) -> None:
    shown = run("data", "show", "wine").stdout
    assert "178 samples x 13 features" in shown
    assert "class_1 71, class_0 59, class_2 48" in shown


def test_data_show_unknown(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EIGENSIEVE_DATA", raising=False)
    assert "set the variable EIGENSIEVE_DATA" in run("data", "show", "colon", code=2).stderr
