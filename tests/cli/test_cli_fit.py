"""``eigensieve fit``: good paths through every format."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from eigensieve.cli import _common, fit
from eigensieve.io.model import load_model
from eigensieve.pencil.criteria import CRITERIA
from eigensieve.pencil.solution import Status
from tests.cli.files import FILES, contents, without_progress


def test_auto_writes_everything(run, iris_csv: Path) -> None:
    result = run("fit", iris_csv, "--target", "kind")
    out = Path("eigensieve-out")
    assert contents(out) == FILES
    assert "features selected, from 150 samples in 3 classes" in result.stdout
    assert "within one standard error" in result.stdout
    said = without_progress(result.stderr)
    assert said == ["note: The column 'sample' was taken as row identifiers."]
    cv = pd.read_csv(out / "cv.csv")
    assert list(cv) == ["k", "error", "se", "balanced_error", "auc", "n_features"]
    assert cv["k"].tolist() == [1, 2, 3]
    assert "taken as row identifiers" in (out / "report.html").read_text(encoding="utf-8")


def test_model_predicts_from_shuffled_columns(run, iris: pd.DataFrame, iris_csv: Path) -> None:
    run("fit", iris_csv, "--target", "kind", "--k", 2)
    model = load_model("eigensieve-out/model.json")
    assert model.info["n_samples"] == 150
    assert model.info["target"] == "kind"
    shuffled = iris[iris.columns[::-1]].assign(extra="text").drop(columns="kind")
    shuffled.to_csv("new.csv", index=False)
    found = run("predict", "eigensieve-out/model.json", "new.csv").stdout.splitlines()
    assert found[0] == "row,predicted,prob_setosa,prob_versicolor,prob_virginica"
    labels = np.array([line.split(",")[1] for line in found[1:]])
    assert np.mean(labels == iris["kind"]) > 0.9


def test_selected_csv_has_all_directions(run, iris_csv: Path) -> None:
    run("fit", iris_csv, "--target", "kind", "--k", 3, "--out", "o")
    selected = pd.read_csv("o/selected.csv")
    loadings = ["loading", "weight", "loading_2"]
    about = ["selection_frequency", "price", "stand_ins"]
    assert list(selected) == ["rank", "name", *loadings, *about]
    assert selected["rank"].tolist() == [1, 2, 3]
    assert selected["weight"].is_monotonic_decreasing
    assert set(selected["name"]) == set(load_model("o/model.json").features)


def save_npz(frame: pd.DataFrame, path: Path) -> None:
    features = frame.drop(columns=["sample", "kind"])
    names = np.array(features.columns, dtype=str)
    np.savez(path, X=features.to_numpy(), kind=frame["kind"].to_numpy(str), feature_names=names)


WRITERS: dict[str, Callable[[pd.DataFrame, Path], None]] = {
    "t.tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    "t.csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    "t.parquet": lambda frame, path: frame.to_parquet(path, index=False),
    "t.npz": save_npz,
}


@pytest.mark.parametrize("name", WRITERS)
def test_formats_agree(run, iris: pd.DataFrame, iris_csv: Path, name: str) -> None:
    path = iris_csv.with_name(name)
    WRITERS[name](iris, path)
    run("fit", iris_csv, "--target", "kind", "--k", 2, "--out", "a")
    run("fit", path, "--target", "kind", "--k", 2, "--out", "b")
    assert load_model("a/model.json").digest == load_model("b/model.json").digest


def test_transpose(run, iris: pd.DataFrame, iris_csv: Path) -> None:
    iris.set_index("sample").T.to_csv("wide.csv", index_label="feature")
    run("fit", iris_csv, "--target", "kind", "--k", 2, "--out", "a")
    run("fit", "wide.csv", "--target", "kind", "--k", 2, "--transpose", "--out", "b")
    assert load_model("a/model.json").digest == load_model("b/model.json").digest
    rows = run("predict", "b/model.json", "wide.csv", "--transpose").stdout.splitlines()
    assert rows[1].startswith("s0,setosa,")


def test_duplicate_names_are_made_unique_and_said(run, iris: pd.DataFrame) -> None:
    iris.set_axis(["sample", "a", "a", "a", "b", "kind"], axis=1).to_csv("t.csv", index=False)
    result = run("fit", "t.csv", "--target", "kind", "--k", 3)
    assert "2 repeated name(s) made unique" in result.stderr
    report = Path("eigensieve-out/report.html").read_text(encoding="utf-8")
    assert "2 repeated name(s) made unique" in report
    refused = run("predict", "eigensieve-out/model.json", "t.csv", code=2)
    assert "3 columns are named 'a'" in refused.stderr


def test_log2_is_kept_in_the_model(run, wine: pd.DataFrame) -> None:
    wine.to_csv("raw.csv", index=False)
    logged = wine.copy()
    columns = wine.columns[1:-1]
    logged[columns] = np.log2(np.maximum(wine[columns], 2.0))
    logged.to_csv("logged.csv", index=False)
    low = int((wine[columns] < 2).sum().sum())
    result = run("fit", "raw.csv", "--target", "kind", "--k", 3, "--log2", "--log2-floor", 2)
    assert f"{low} of {13 * 178} values lie below 2" in result.stderr
    run("fit", "logged.csv", "--target", "kind", "--k", 3, "--out", "o")
    raw, plain = load_model("eigensieve-out/model.json"), load_model("o/model.json")
    assert raw.features == plain.features
    assert raw.log2_floor == 2.0
    assert np.array_equal(raw.coef, plain.coef)
    one = run("predict", "eigensieve-out/model.json", "raw.csv").stdout
    assert one == run("predict", "o/model.json", "logged.csv").stdout


def test_json_is_all_there_is_on_stdout(run, iris_csv: Path) -> None:
    found = json.loads(run("fit", iris_csv, "--target", "kind", "--json").stdout)
    assert found["k"] == len(found["features"])
    assert found["interval"][0] <= found["error"] <= found["interval"][1]
    assert found["criterion"] == "logdet"
    assert 0 <= found["shrinkage"] <= 1
    assert (found["bound"] is None) == (found["gap"] is None)
    assert {"k_rule", "objective", "status"} <= set(found)
    assert {Path(path).name for path in found["files"].values()} == FILES
    assert all(Path(path).exists() for path in found["files"].values())


def test_include_and_exclude(run, wine: pd.DataFrame) -> None:
    wine.rename(columns={"ash": "a,b"}).to_csv("w.csv", index=False)
    options = ["--include", 'magnesium,"a,b"', "--exclude", "proline", "--exclude", "flavanoids"]
    found = json.loads(run("fit", "w.csv", "--target", "kind", *options, "--json").stdout)
    assert {"magnesium", "a,b"} <= set(found["features"])
    assert not {"proline", "flavanoids"} & set(found["features"])
    cv = pd.read_csv("eigensieve-out/cv.csv")
    assert cv["k"].tolist() == [2, 3, 5, 7, 10]


@pytest.mark.parametrize("solver", ["threshold", "exhaustive", "exact"])
def test_other_solvers(run, iris_csv: Path, solver: str) -> None:
    args = ["--target", "kind", "--k", 2, "--solver", solver, "--criterion", "trace", "--json"]
    found = json.loads(run("fit", iris_csv, *args).stdout)
    assert found["solver"] == solver or solver == "exact"  # which names the one it picked
    assert found["criterion"] == "trace"
    assert (found["status"] == "optimal") == (found["gap"] <= 1e-6)
    assert found["status"] == "optimal" or solver == "threshold"


def test_the_gap_is_said_in_words_and_kept_in_the_model(
    run, wine: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    wine.to_csv("w.csv", index=False)
    args = ["fit", "w.csv", "--target", "kind", "--k", 4]
    text = run(*args).stdout
    found = json.loads(run(*args, "--json").stdout)
    assert found["bound"] >= found["objective"] > 0
    assert found["status"] == "optimal"
    assert "\nproved  No other set of 4 of the 13 features separates the classes better\n" in text
    info = load_model("eigensieve-out/model.json").info
    assert {name: info[name] for name in ("objective", "bound", "gap", "status")} == {
        name: found[name] for name in ("objective", "bound", "gap", "status")
    }
    monkeypatch.setattr("eigensieve.studies.near_optimal.EFFORT", 0)  # a list would prove it
    greedy = run(*args, "--solver", "greedy").stdout
    excess = re.search(
        r"\nproved  No other set of 4 of .* the classes more than (.*) % bet", greedy
    )
    info = load_model("eigensieve-out/model.json").info
    assert excess is not None
    assert 0 <= float(excess[1]) - 100 * (info["bound"] / info["objective"] - 1) < 0.1
    report = Path("eigensieve-out/report.html").read_text("utf-8")
    assert f"the classes more than {excess[1]} % better: <a" in report


def test_the_effort_is_that_of_the_default_solver(
    run, wine: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eigensieve.studies.near_optimal.EFFORT", 0)  # a list would prove it
    wine.to_csv("w.csv", index=False)
    args = ["fit", "w.csv", "--target", "kind", "--k", 4]
    found = json.loads(run(*args, "--effort", 0, "--json").stdout)
    assert found["status"] == "converged"
    assert found["solver"] == "greedy"
    said = run(*args, "--solver", "greedy", "--effort", "high", code=2).stderr
    assert "--effort is about --solver auto; greedy does not use it" in said
    assert "no finite number of at least 0" in run(*args, "--effort", "some", code=2).stderr


BOUNDS = [
    (np.inf, 1.0, False, "distance to the optimum not computed"),
    (1.0401, 1.0, False, "no set of 2 features can score more than 4.1 % above this one"),
    (1.0401, 1.0, True, "no allowed set of 2 features can score more than 4.1 % above this one"),
    (0.5, 0.0, False, "no set of 2 features can score more than 0.5"),
]


@pytest.mark.parametrize(("bound", "objective", "constrained", "said"), BOUNDS)
def test_a_bound_in_words(bound: float, objective: float, constrained: bool, said: str) -> None:
    solution = es.solve(es.Pencil(np.array([[2.0, 1.0, 0.5], [1.0, 2.0, 1.0], [0.5, 1.0, 2.0]])), 2)
    changed = replace(solution, bound=bound, objective=objective, status=Status.CONVERGED)
    assert _common.describe_bound(changed, constrained) == said


def test_seed_and_jobs(run, iris_csv: Path) -> None:
    args = ["fit", iris_csv, "--target", "kind", "--json", "--seed", 7]
    one = json.loads(run(*args, "--jobs", 1).stdout)
    two = json.loads(run(*args, "--jobs", 2).stdout)
    assert one == two


def test_ignore(run, iris_csv: Path) -> None:
    args = ["--ignore", "petal width (cm)", "--ignore", "petal length (cm)", "--json"]
    found = json.loads(run("fit", iris_csv, "--target", "kind", *args).stdout)
    assert found["n_features"] == 2


def test_an_existing_folder_keeps_its_other_files(run, iris_csv: Path) -> None:
    Path("o").mkdir()
    Path("o/mine.txt").write_text("keep")
    Path("o/model.json").write_text("old")
    result = run("fit", iris_csv, "--target", "kind", "--k", 1, "--out", "o", "--force")
    assert "note: replaced in o: model.json\n" in result.stderr
    assert contents(Path("o")) == FILES | {"mine.txt"}
    assert Path("o/mine.txt").read_text() == "keep"
    load_model("o/model.json")


def test_a_class_with_one_sample_at_fixed_k(run, iris: pd.DataFrame) -> None:
    iris.iloc[:101].to_csv("t.csv", index=False)
    result = run("fit", "t.csv", "--target", "kind", "--k", 2, "--json")
    found = json.loads(result.stdout)
    assert found["error"] is None
    assert found["interval"] is None
    assert "No error estimate" in result.stderr
    assert Path("eigensieve-out/cv.csv").read_text() == "k,error,se,balanced_error,auc,n_features\n"
    assert "error   not estimated" in run("fit", "t.csv", "--target", "kind", "--k", 2).stdout


def test_classes_too_small_for_folds_at_fixed_k(run) -> None:
    Path("t.csv").write_text("a,b,y\n1,5,u\n2,3,u\n3,4,v\n5,1,v\n")
    result = run("fit", "t.csv", "--target", "y", "--k", 1)
    assert "note: No error estimate: " in result.stderr
    assert "error   not estimated" in result.stdout


def test_a_time_limit_at_fixed_k(run, iris_csv: Path) -> None:
    result = run("fit", iris_csv, "--target", "kind", "--k", 2, "--time-limit", "1e-9")
    assert "No error estimate: the time limit ended a search before k" in result.stderr
    assert contents(Path("eigensieve-out")) == FILES


STRANGE = ["größe", "數", "<script>alert(1)</script>", 'say "hi", you', "=1+1", " x\u001b[31m"]


def test_strange_names(run) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["<b>ä</b>", "数"], 20)
    X = rng.normal(size=(40, len(STRANGE))) + (y == "数")[:, None]
    pd.DataFrame(X, columns=STRANGE).assign(**{"<i>": y}).to_csv("t.csv", index=False)
    result = run("fit", "t.csv", "--target", "<i>", "--k", len(STRANGE), "--out", "ö o")
    assert "\u001b" not in result.stdout
    assert "數" in result.stdout
    report = Path("ö o/report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in report
    assert "<b>ä</b>" not in report
    assert (
        pd.read_csv("ö o/selected.csv")["name"].str.strip().isin([n.strip() for n in STRANGE]).all()
    )
    found = json.loads(run("predict", "ö o/model.json", "t.csv", "--json").stdout)
    assert found["classes"] == ["<b>ä</b>", "数"]


def test_many_features_are_cut_in_the_summary(run, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    np.savez("t.npz", X=rng.normal(size=(30, 25)), y=np.repeat([0, 1, 2], 10))
    result = run("fit", "t.npz", "--target", "y", "--k", 24)
    assert "... and 4 more in selected.csv" in result.stdout
    assert len(pd.read_csv("eigensieve-out/selected.csv")) == 24


def test_warnings_become_notes(run, iris_csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import warnings

    from eigensieve.estimators.sparse_lda import SparseLDA

    plain = SparseLDA.fit

    def warn_and_fit(self: SparseLDA, *args: object) -> SparseLDA:
        warnings.warn("the search ended early", UserWarning, stacklevel=2)
        return plain(self, *args)

    monkeypatch.setattr(SparseLDA, "fit", warn_and_fit)
    result = run("fit", iris_csv, "--target", "kind", "--k", 1)
    assert "note: The search ended early.\n" in result.stderr
    assert "The search ended early." in Path("eigensieve-out/report.html").read_text("utf-8")


def test_the_criteria_on_offer_are_those_there_are() -> None:
    (option,) = (p for p in fit.fit_command.params if p.name == "criterion")
    assert set(option.type.choices) == {"auto", *CRITERIA}
