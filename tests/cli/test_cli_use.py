"""``predict`` and ``evaluate``: a model file at work, and what it says when it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eigensieve.io.model import load_model
from eigensieve.io.tables import read_table
from tests.cli.files import contents


@pytest.fixture
def new(wine: pd.DataFrame, tmp_path: Path) -> Path:
    """The rows of wine that the model has not seen."""
    path = tmp_path / "new.csv"
    wine.iloc[1::2].to_csv(path, index=False)
    return path


# ---------------------------------------------------------------- predict


def test_predict_to_stdout(run, wine_model: Path, new: Path) -> None:
    result = run("predict", wine_model, new)
    lines = result.stdout.splitlines()
    assert lines[0] == "row,predicted,prob_class_0,prob_class_1,prob_class_2"
    assert len(lines) == 90
    model = load_model(wine_model)
    table = read_table(new, columns=model.features)
    assert [line.split(",")[1] for line in lines[1:]] == model.predict(table.X).tolist()
    first = [float(p) for p in lines[1].split(",")[2:]]
    assert first == pytest.approx(model.predict_proba(table.X)[0].tolist(), rel=1e-5)
    assert lines[1].split(",")[0] == "s1"


def test_predict_to_a_file(run, wine_model: Path, new: Path) -> None:
    plain = run("predict", wine_model, new).stdout
    Path("p.csv").write_text("old")
    result = run("predict", wine_model, new, "--out", "p.csv", "--force")
    assert Path("p.csv").read_text() == plain
    assert result.stdout.startswith("89 predictions in p.csv: class_0: ")
    assert "note: replaced: p.csv\n" in result.stderr
    assert contents(Path()) == {"p.csv", "new.csv"}
    assert "replaced" not in run("predict", wine_model, new, "--out", "q.csv").stderr


def test_predict_json(run, wine_model: Path, new: Path) -> None:
    found = json.loads(run("predict", wine_model, new, "--json", "--out", "p.csv").stdout)
    assert len(found["predictions"]) == 89
    assert found["file"] == "p.csv"
    for row in found["predictions"]:
        chances = row["probabilities"]
        assert sum(chances.values()) == pytest.approx(1)
        assert row["predicted"] == max(chances, key=chances.get)


def test_predict_needs_only_the_model_s_columns(run, wine_model: Path, new: Path) -> None:
    features = list(load_model(wine_model).features)
    frame = pd.read_csv(new)
    frame[features[::-1]].to_parquet("few.parquet")
    few = run("predict", wine_model, "few.parquet").stdout.splitlines()
    all_ = run("predict", wine_model, new).stdout.splitlines()
    assert [line.split(",")[1:] for line in few] == [line.split(",")[1:] for line in all_]


def test_predict_names_the_missing_column(run, wine_model: Path, new: Path) -> None:
    feature = load_model(wine_model).features[1]
    pd.read_csv(new).drop(columns=feature).to_csv("less.csv", index=False)
    result = run("predict", wine_model, "less.csv", "--out", "p.csv", code=2)
    assert f"1 of the 3 columns needed are missing: {feature!r}" in result.stderr
    assert not Path("p.csv").exists()


@pytest.mark.parametrize("value", ["", "inf", "text"])
def test_predict_refuses_bad_values(run, wine_model: Path, new: Path, value: str) -> None:
    frame = pd.read_csv(new, dtype=str)
    frame.loc[3, load_model(wine_model).features[0]] = value
    frame.to_csv("bad.csv", index=False)
    assert run("predict", wine_model, "bad.csv", code=2).stderr.startswith("error: bad.csv: ")


@pytest.mark.parametrize(("out", "said"), [("none/p.csv", "does not exist"), (".", "is a folder")])
def test_predict_where_nothing_can_be_written(run, wine_model, new, out: str, said: str) -> None:
    stderr = run("predict", wine_model, new, "--out", out, code=2).stderr
    assert stderr.startswith(f"error: {out}: ")
    assert said in stderr


def test_predict_follows_a_link(run, wine_model: Path, new: Path) -> None:
    Path("real").mkdir()
    Path("real/p.csv").write_text("old")
    Path("p.csv").symlink_to("real/p.csv")
    run("predict", wine_model, new, "--out", "p.csv", "--force")
    assert Path("p.csv").is_symlink()
    assert Path("real/p.csv").read_text().startswith("row,")


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_folder_stands_for_its_model(run, wine_model: Path, new: Path, command: str) -> None:
    options = ["--target", "kind"] if command == "evaluate" else []
    plain = run(command, wine_model, new, *options).stdout
    assert run(command, wine_model.parent, new, *options).stdout == plain
    Path("empty").mkdir()
    stderr = run(command, "empty", new, *options, code=2).stderr
    assert stderr == "error: empty: is a folder without a model.json; name a model file\n"


def test_predict_one_row_with_its_label(run, wine_model: Path, new: Path) -> None:
    pd.read_csv(new).drop(columns="sample").head(1).to_csv("one.csv", index=False)
    result = run("predict", wine_model, "one.csv")
    assert result.stdout.splitlines()[1].startswith("1,class_")
    assert result.stderr == ""


def test_predict_on_a_turned_table(run, wine_model: Path, new: Path) -> None:
    pd.read_csv(new).set_index("sample").T.to_csv("wide.csv")
    assert "with --transpose" in run("predict", wine_model, "wide.csv", code=2).stderr


MODELS = {
    "missing": (None, "cannot be read"),
    "empty": ("", "not valid JSON"),
    "not json": ("row,predicted\n", "not valid JSON"),
    "other json": ('{"a": 1}', "not an eigensieve model"),
    "newer": ('{"format": "eigensieve-model", "version": 99}', "newer eigensieve"),
}


@pytest.mark.parametrize(("text", "said"), MODELS.values(), ids=MODELS.keys())
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_bad_models(run, new: Path, command: str, text: str | None, said: str) -> None:
    if text is not None:
        Path("m.json").write_text(text)
    options = ["--target", "kind"] if command == "evaluate" else []
    result = run(command, "m.json", new, *options, code=2)
    assert result.stderr.startswith("error: m.json: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_damaged_model(run, wine_model: Path, new: Path) -> None:
    text = wine_model.read_text()
    Path("m.json").write_text(text.replace("class_0", "class_9", 1))
    assert "digest does not match" in run("predict", "m.json", new, code=2).stderr


# ---------------------------------------------------------------- evaluate


def test_evaluate(run, wine_model: Path, new: Path) -> None:
    result = run("evaluate", wine_model, new, "--target", "kind")
    assert "samples         89" in result.stdout
    assert "95 % interval" in result.stdout
    assert "recall" in result.stdout


def test_evaluate_json_agrees_with_sklearn(run, wine_model: Path, new: Path) -> None:
    from sklearn.metrics import balanced_accuracy_score, confusion_matrix

    found = json.loads(run("evaluate", wine_model, new, "--target", "kind", "--json").stdout)
    model = load_model(wine_model)
    table = read_table(new, "kind", columns=model.features)
    predicted = model.predict(table.X)
    assert found["n_samples"] == 89
    assert found["error"] == pytest.approx(np.mean(predicted != table.target))
    assert found["interval"][0] <= found["error"] <= found["interval"][1]
    assert found["confusion"] == confusion_matrix(table.target, predicted).tolist()
    balanced = balanced_accuracy_score(table.target, predicted)
    assert found["balanced_error"] == pytest.approx(1 - balanced)
    assert np.mean(list(found["recall"].values())) == pytest.approx(balanced)


def test_evaluate_transposed(run, wine_model: Path, new: Path) -> None:
    pd.read_csv(new).set_index("sample").T.to_csv("wide.csv")
    args = ["--target", "kind", "--json"]
    one = run("evaluate", wine_model, new, *args).stdout
    assert one == run("evaluate", wine_model, "wide.csv", *args, "--transpose").stdout


def test_evaluate_without_one_of_the_classes(run, wine_model: Path, new: Path) -> None:
    frame = pd.read_csv(new)
    frame[frame["kind"] != "class_1"].to_csv("some.csv", index=False)
    args = ["evaluate", wine_model, "some.csv", "--target", "kind"]
    found = json.loads(run(*args, "--json").stdout)
    assert found["recall"]["class_1"] is None
    assert 0 <= found["balanced_error"] <= 1
    (line,) = (line for line in run(*args).stdout.splitlines() if line.startswith("  class_1"))
    assert line.endswith("-")


def test_evaluate_names_labels_it_has_never_seen(run, wine_model: Path, new: Path) -> None:
    frame = pd.read_csv(new)
    frame.loc[[2, 5], "kind"] = "class_7"
    frame.to_csv("odd.csv", index=False)
    result = run("evaluate", wine_model, "odd.csv", "--target", "kind", code=2)
    assert "never seen the label(s) 'class_7'; it knows 'class_0'" in result.stderr
    assert result.stdout == ""


def test_evaluate_with_a_feature_as_the_target(run, wine_model: Path, new: Path) -> None:
    feature = load_model(wine_model).features[0]
    stderr = run("evaluate", wine_model, new, "--target", f" {feature}", code=2).stderr
    assert f"--target {feature!r} is a feature of the model" in stderr
    assert "fitted to predict 'kind'" in stderr


def test_evaluate_with_a_wrong_target(run, wine_model: Path, new: Path) -> None:
    result = run("evaluate", wine_model, new, "--target", "kinds", code=2)
    assert "close: 'kind'" in result.stderr
