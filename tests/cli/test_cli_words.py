"""What commands say: one line of error, notes once, and everything in the JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from eigensieve.cli._common import shorten
from eigensieve.cli._summary import describe_loss
from eigensieve.io.model import load_model
from tests.cli.files import contents, without_progress

LOSSES = [
    (0.057, "5.7 % less"),
    (0.23, "23 % less"),
    (1.0, "100 % less"),
    (0.0, "as good"),
    (1e-9, "as good"),
    (-1e-9, "as good"),
    (0.0003, "0.03 % less"),
    (-0.0003, "better by 0.03 %"),
    (-0.23, "better by 23 %"),
    (-0.012, "better by 1.2 %"),
    (-3.0, "better by 300 %"),
    (-23.0, "24 times as good"),
    (-23000.0, "23,001 times as good"),
]


@pytest.mark.parametrize(("loss", "words"), LOSSES)
def test_a_loss_in_words(loss: float, words: str) -> None:
    assert describe_loss(loss) == words


def test_long_names_keep_both_ends() -> None:
    assert shorten("a" * 30) == "a" * 30
    assert shorten("head" + "x" * 50 + "tail") == "head" + "x" * 15 + "…" + "x" * 6 + "tail"
    assert shorten("a\nb") == r"a\nb"


def test_stand_ins_of_another_method_may_be_better(run) -> None:
    """Ranking takes the twins a and b; c would do more for a than b does."""
    rng = np.random.default_rng(0)
    y = np.repeat(["u", "v"], 30)
    a = rng.normal(size=60) + 3 * (y == "v")
    long = "c" + "x" * 60
    frame = pd.DataFrame({"a": a, "b": a + 0.01 * rng.normal(size=60)})
    frame[long] = rng.normal(size=60) + 2 * (y == "v")
    frame.assign(y=y).to_csv("t.csv", index=False)
    args = ["fit", "t.csv", "--target", "y", "--method", "anova", "--k", 2, "--repeats", 1]
    result = run(*args)
    assert "c" + "x" * 18 + "…" + "x" * 10 + " (better by " in result.stdout
    assert long not in result.stdout
    found = json.loads(run(*args, "--json").stdout)
    assert min(one["loss"] for p in found["prices"] for one in p["stand_ins"]) < -0.01


WRONG = {
    "group option": (["--nothing"], "eigensieve --help"),
    "command": (["fti"], "Did you mean fit? (see eigensieve --help)"),
    "no table": (["fit"], "Missing argument 'TABLE' (see eigensieve fit --help)"),
    "choice": (["certify", "t.csv", "--criterion", "x"], "(see eigensieve certify --help)"),
    "method": (["fit", "t.csv", "--target", "y", "--method", "anva"], "close: anova"),
    "inner command": (["data", "shw"], "(see eigensieve data --help)"),
    "inner option": (["data", "list", "--x"], "(see eigensieve data list --help)"),
}


@pytest.mark.parametrize(("args", "said"), WRONG.values(), ids=WRONG.keys())
def test_wrong_use_is_one_line(run, args: list[str], said: str) -> None:
    result = run(*args, code=2)
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_command_shows_the_help(run) -> None:
    result = run(code=2)
    assert "Usage: eigensieve " in result.output
    assert "error: " not in result.output


def test_balanced_where_it_has_no_effect(run, iris_csv: Path) -> None:
    args = ["compare", iris_csv, "--target", "kind", "--methods", "anova,plda", "--ks", "1"]
    note = "plda: --balanced has no effect on this method's fit."
    result = run(*args, "--balanced", "--json")
    assert f"note: {note}\n" in result.stderr
    found = json.loads(result.stdout)
    assert note in found["notes"]
    assert not any(text.startswith("anova: --balanced") for text in found["notes"])
    assert "--balanced has" not in run(*args).stderr


def test_json_of_a_fit_is_complete(run, iris: pd.DataFrame, iris_csv: Path) -> None:
    result = run("fit", iris_csv, "--target", " kind", "--seed", 3, "--json", "--repeats", 3)
    found = json.loads(result.stdout)
    notes = [line.removeprefix("note: ") for line in without_progress(result.stderr)]
    assert found["notes"] == notes == ["The column 'sample' was taken as row identifiers."]
    assert (found["target"], found["seed"], found["version"]) == ("kind", 3, es.__version__)
    assert found["fingerprint"] == load_model("eigensieve-out/model.json").info["fingerprint"]
    confusion = np.array(found["confusion"])
    assert all(len(f"{x:.12g}".partition(".")[2]) <= 9 for x in confusion.ravel())
    np.testing.assert_allclose(confusion.sum(axis=1), iris["kind"].value_counts(sort=False))


def test_json_of_a_comparison_names_all_files(run, iris_csv: Path) -> None:
    args = ["compare", iris_csv, "--target", "kind", "--methods", "anova", "--ks", "1", "--json"]
    files = json.loads(run(*args).stdout)["files"].values()
    assert {Path(name).name for name in files} == contents(Path("eigensieve-compare"))


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_missing_values_are_told_once(run, iris: pd.DataFrame, command: str) -> None:
    holes = iris.copy()
    holes.iloc[3, 1] = holes.iloc[5, 2] = np.nan
    holes.to_csv("t.csv", index=False)
    args = [command, "t.csv", "--target", "kind", "--missing", "median", "--ks", "1"]
    args += ["--methods", "anova"] if command == "compare" else []
    lines = [line for line in run(*args).stderr.splitlines() if "missing" in line]
    assert len(lines) == 1
    assert lines[0].startswith("note: 2 ")


def test_selected_columns_of_a_repeated_name(run, iris: pd.DataFrame) -> None:
    frame = iris.rename(columns={"petal length (cm)": "p", "petal width (cm)": "p"})
    frame.to_csv("t.csv", index=False)
    args = ["fit", "t.csv", "--target", "kind", "--k", 1, "--repeats", 1]
    result = run(*args, "--json")
    (name,) = json.loads(result.stdout)["features"]
    assert name in {"p", "p_2"}
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"note: 1 selected feature(s) had repeated names: {name!r}; ")
    assert last.removeprefix("note: ") in json.loads(result.stdout)["notes"]
    run("predict", "eigensieve-out", "t.csv", code=2)  # as the note says
    other = run(*args, "--exclude", "p,p_2", "--out", "other")
    assert "had repeated names" not in other.stderr


def test_predict_passes_over_the_target_of_the_fit(run, iris: pd.DataFrame) -> None:
    frame = iris[["kind", *iris.columns[:-1]]]  # labels first, then the samples
    frame.to_csv("t.csv", index=False)
    run("fit", "t.csv", "--target", "kind", "--k", 2, "--repeats", 1)
    result = run("predict", "eigensieve-out", "t.csv")
    rows = [line.partition(",")[0] for line in result.stdout.splitlines()[1:]]
    assert rows == iris["sample"].tolist()
    assert "'sample' was taken as row identifiers" in result.stderr
