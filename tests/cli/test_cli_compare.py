"""``eigensieve compare``: the same folds for all, as a table, as JSON and as a report."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

import eigensieve as es
from eigensieve.cli import _common
from eigensieve.studies.running.runner import StageProgress
from tests.cli.files import contents, refused

FILES = {"report.html", "comparison.csv", "comparison.json"}
ROOM = r"(proved best|≤ ([\d.]+) %)"
QUICK = ["--methods", "sparse-lda,anova,sulda", "--ks", "1,2"]


def test_table_json_and_report_agree(run, iris: pd.DataFrame, iris_csv: Path) -> None:
    result = run("compare", iris_csv, "--target", "kind", *QUICK)
    out = Path("eigensieve-compare")
    assert contents(out) == FILES
    table = pd.read_csv(out / "comparison.csv").set_index("method")
    found = json.loads((out / "comparison.json").read_text())
    assert found["reference"] == "sparse-lda"
    for row in found["methods"]:
        assert table.loc[row["method"], "error"] == pytest.approx(row["error"])
        assert f"{100 * row['error']:.1f} %" in result.stdout
    report = (out / "report.html").read_text(encoding="utf-8")
    assert all(title in report for title in table["title"])
    lda = es.study(iris.drop(columns=["sample", "kind"]), iris["kind"], ks=(1, 2), n_repeats=1)
    own, other = (
        re.search(rf"\n  {name} .* {ROOM}\n", result.stdout) for name in ("sparse-lda", "anova")
    )
    assert own is not None
    assert own[1] == "proved best"
    assert other is not None
    anova = table.loc["anova", "gap"]
    assert other[1] == "proved best" if anova <= 1e-6 else 0 <= float(other[2]) / 100 - anova < 0.01
    assert lda.honest_error is not None
    assert table.loc["sparse-lda", "error"] == pytest.approx(lda.honest_error.error)


def test_json_on_stdout(run, iris_csv: Path) -> None:
    result = run("compare", iris_csv, "--target", "kind", *QUICK, "--json")
    assert [row["error"] for row in json.loads(result.stdout)["methods"]] == sorted(
        row["error"] for row in json.loads(result.stdout)["methods"]
    )


def test_jobs_do_not_matter(run, iris_csv: Path) -> None:
    one, two = (
        json.loads(
            run("compare", iris_csv, "--target", "kind", *QUICK, "--json", "--jobs", j).stdout
        )
        for j in (1, 2)
    )
    assert one == two


def test_a_method_that_fails_is_said_and_the_others_stay(run) -> None:
    # a column that says the class: penalized LDA cannot do with it
    rows = "".join(f"{i % 2},{i * i % 7},{'ab'[i % 2]}\n" for i in range(20))
    Path("t.csv").write_text("a,b,y\n" + rows)
    args = ["compare", "t.csv", "--target", "y", "--methods", "sparse-lda,plda", "--ks", "1"]
    result = run(*args)
    assert "plda: not fitted: " in result.stdout
    found = json.loads(Path("eigensieve-compare/comparison.json").read_text())
    assert list(found["failures"]) == ["plda"]
    assert [row["method"] for row in found["methods"]] == ["sparse-lda"]


def test_ctrl_c_keeps_the_methods_that_are_done(run, iris_csv, monkeypatch) -> None:
    def press(stage: str, done: int, total: int) -> None:
        if stage.startswith("anova") and done == 3:
            signal.raise_signal(signal.SIGINT)

    @contextmanager
    def bar() -> Iterator[StageProgress]:
        yield press

    args = ["compare", iris_csv, "--target", "kind", *QUICK, "--jobs", 1]
    with monkeypatch.context() as patch:
        patch.setattr(_common, "progress_bar", bar)
        result = run(*args, code=130)
    assert "the same command goes on from there" in result.stderr
    found = json.loads(Path("eigensieve-compare/comparison.json").read_text())
    assert [row["method"] for row in found["methods"]] == ["sparse-lda"]
    assert found["unfinished"]
    whole = json.loads(run(*args, "--json").stdout)
    assert {row["method"] for row in whole["methods"]} == {"sparse-lda", "anova", "sulda"}
    assert contents(Path("eigensieve-compare")) == FILES


def test_bad_input(run, tmp_path: Path, iris_csv: Path) -> None:
    def line(*args: object) -> str:
        return refused(run, tmp_path, iris_csv, *args, command="compare")

    assert "close: anova" in line("--target", "kind", "--methods", "anowa")
    assert "no column is named 'kin'" in line("--target", "kin")
    args = ["--target", "kind", "--ks", "9", "--methods", "anova,gloss"]
    assert "no k of [9] lies in 1..4" in line(*args)
    Path("one.csv").write_text("a,y\n1,u\n2,u\n3,u\n4,u\n")
    assert "all 4 samples" in refused(run, tmp_path, "one.csv", "--target", "y", command="compare")
