"""``eigensieve fit``: every bad input ends with one line, exit code 2 and nothing on disk."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.files import CHECKPOINT, contents, refused

TABLES = {
    "empty": ("", "is empty"),
    "header only": ("a,y\n", "no rows"),
    "three samples": ("a,y\n1,u\n2,v\n3,u\n", "3 sample(s); at least 4"),
    "one class": ("a,y\n1,u\n2,u\n3,u\n4,u\n", "all 4 samples have the label 'u' in 'y'"),
    "all different": ("a,y\n1,1\n2,2\n3,3\n4,4\n", "a label of its own"),
    "lonely sample": ("a,y\n1,u\n2,u\n3,u\n4,v\n", "too few samples of class 'v' (1)"),
    "tiny class": ("a,y\n1,u\n2,u\n3,u\n4,v\n5,v\n", "too few samples of class 'v' (2)"),
    "missing value": ("a,y\n1,u\n,u\n3,v\n4,v\n", "1 missing or infinite value(s)"),
    "nan": ("a,y\n1,u\nnan,u\n3,v\n4,v\n", "1 missing or infinite value(s)"),
    "infinite": ("a,y\n1,u\ninf,u\n3,v\n4,v\n", "1 missing or infinite value(s)"),
    "text": ("a,b,y\n1,x,u\n2,x,u\n3,z,v\n4,z,v\n", "--ignore NAME"),
    "no label": ("a,y\n1,u\n2,\n3,v\n4,v\n", "no label"),
    "no features": ("y\nu\nu\nv\nv\n", "no feature"),
    "ragged": ("a,y\n1,u\n2,u,3\n3,v\n4,v\n", "fields"),
    "other target": ("a,z\n1,u\n2,u\n3,v\n4,v\n", "no column is named 'y'"),
}


@pytest.mark.parametrize(("text", "said"), TABLES.values(), ids=TABLES.keys())
def test_bad_tables(run, tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    assert said in refused(run, tmp_path, "t.csv", "--target", "y")


OPTIONS = {
    "k above p": (["--k", "5"], "k is 5; this table allows 1 to 4"),
    "k above what is left": (["--k", "4", "--exclude", "sepal width (cm)"], "allows 1 to 3"),
    "k below include": (
        ["--k", "1", "--include", "sepal width (cm),petal width (cm)"],
        "allows 2 to 4 (--include, --exclude)",
    ),
    "unknown include": (["--include", "sepal widht (cm)"], "close: 'sepal width (cm)'"),
    "unknown exclude": (["--exclude", "nothing"], "--exclude: no feature is named 'nothing'"),
    "both": (
        ["--k", "2", "--include", "sepal width (cm)", "--exclude", "sepal width (cm)"],
        "'sepal width (cm)' is in --include and in --exclude",
    ),
    "unknown ignore": (["--ignore", "nothing"], "to ignore"),
    "time limit": (["--time-limit", "1e-9"], "the time limit ended a search before k"),
}


@pytest.mark.parametrize(("options", "said"), OPTIONS.values(), ids=OPTIONS.keys())
def test_bad_wishes(run, tmp_path: Path, iris_csv: Path, options: list[str], said: str) -> None:
    assert said in refused(run, tmp_path, iris_csv, "--target", "kind", *options)


def test_excluding_everything(run, tmp_path: Path, iris: pd.DataFrame, iris_csv: Path) -> None:
    names = ",".join(iris.columns[1:-1])
    line = refused(run, tmp_path, iris_csv, "--target", "kind", "--exclude", names)
    assert "leaves no feature" in line


USAGE = {
    "k 0": ["--k", "0"],
    "k text": ["--k", "many"],
    "k fraction": ["--k", "1.5"],
    "solver": ["--solver", "magic"],
    "criterion": ["--criterion", "magic"],
    "method": ["--method", "magic"],
    "shrinkage above 1": ["--shrinkage", "1.1"],
    "shrinkage nan": ["--shrinkage", "nan"],
    "shrinkage text": ["--shrinkage", "some"],
    "floor without log2": ["--log2-floor", "2"],
    "floor 0": ["--log2", "--log2-floor", "0"],
    "time limit nan": ["--time-limit", "nan"],
    "time limit text": ["--time-limit", "long"],
    "jobs 0": ["--jobs", "0"],
    "seed negative": ["--seed", "-1"],
    "unknown option": ["--kk", "2"],
}


@pytest.mark.parametrize("options", USAGE.values(), ids=USAGE.keys())
def test_wrong_use(run, tmp_path: Path, iris_csv: Path, options: list[str]) -> None:
    result = run("fit", iris_csv, "--target", "kind", *options, code=2)
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    assert "--solver" in options or result.stderr.endswith(" (see eigensieve fit --help)\n")
    assert result.stdout == ""
    assert contents(tmp_path) == {"iris.csv"}


def test_missing_file_target_and_folder(run, tmp_path: Path, iris_csv: Path) -> None:
    assert "no such file" in refused(run, tmp_path, "none.csv", "--target", "y")
    assert "is a directory" in refused(run, tmp_path, tmp_path, "--target", "y")
    assert "Missing option '--target'" in run("fit", iris_csv, code=2).stderr
    result = run("fit", iris_csv, "--target", "kind", "--out", iris_csv / "sub", code=2)
    assert "iris.csv: is a file" in result.stderr


def test_a_report_that_fails_leaves_the_checkpoint_only(
    run, tmp_path: Path, iris_csv: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*args: object, **options: object) -> str:
        raise RuntimeError("no ink")

    monkeypatch.setattr("eigensieve.report.page.render_study", fail)
    result = run("fit", iris_csv, "--target", "kind", "--k", 1, "--out", "a/b", code=1)
    assert "failed: RuntimeError: no ink" in result.stderr
    assert contents(tmp_path / "a" / "b") == {CHECKPOINT}
