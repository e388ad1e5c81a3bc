"""``eigensieve fit``: methods, groups, missing values, annotations, weights, permutations."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.io.model import load_model
from eigensieve.studies.methods import METHODS
from tests.cli.files import contents, refused


@pytest.fixture
def patients(tmp_path: Path) -> pd.DataFrame:
    """Two samples of each of 24 patients, three classes, twelve features; table t.csv."""
    rng = np.random.default_rng(3)
    kind = np.repeat(["u", "v", "w"], 16)
    X = rng.normal(size=(48, 12))
    X[kind == "v", 0] += 3
    X[kind == "w", 1] += 3
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(12)])
    frame = frame.assign(patient=np.repeat(np.arange(24), 2), kind=kind)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return frame


def fitted(run, *args: object) -> dict:
    return json.loads(run("fit", "t.csv", "--target", "kind", *args, "--json").stdout)


QUICK = ["--repeats", "1", "--ks", "1,2,4"]


@pytest.mark.parametrize("name", METHODS)
def test_every_method_gives_a_model_file_that_predicts(run, patients, name: str) -> None:
    sizes = [] if name in {"sulda", "plda"} else ["--ks", "1,2,4"]
    found = fitted(run, "--method", name, "--ignore", "patient", "--repeats", 1, *sizes)
    assert found["method"] == name
    model = load_model("eigensieve-out/model.json")
    assert set(model.features) == set(found["features"])
    predicted = model.predict(patients[list(model.features)].to_numpy())
    assert np.mean(predicted == patients["kind"]) > 0.8 or name == "qalpha"
    assert found["bound"] is None or found["bound"] >= found["objective"] > 0


def test_an_unknown_method(run, tmp_path: Path, patients) -> None:
    result = run("fit", "t.csv", "--target", "kind", "--method", "anovva", code=2)
    assert "no method is called 'anovva'; close: anova" in result.stderr
    assert contents(tmp_path) == {"t.csv"}


def test_groups_stay_together(run, patients) -> None:
    found = fitted(run, "--groups", "patient", *QUICK)
    assert found["n_features"] == 12
    assert found["error_from"].startswith("nested grouped 5-fold")
    direct = es.study(
        patients.filter(like="g"), patients["kind"], ks=(1, 2, 4), n_repeats=1,
        groups=patients["patient"],
    )  # fmt: skip
    assert direct.honest_error is not None
    assert found["error"] == direct.honest_error.error
    assert found["interval"] == [direct.honest_error.low, direct.honest_error.high]


def test_copies_of_rows_are_told_before_the_work_and_kept_together(
    run, tmp_path: Path, patients
) -> None:
    features = [f"g{j}" for j in range(12)]
    patients.loc[1::2, features] = patients.loc[::2, features].to_numpy()
    table = patients.drop(columns="patient").assign(name=[f"S{i}" for i in range(48)])
    table[["name", *features, "kind"]].to_csv("t.csv", index=False)
    result = run("fit", "t.csv", "--target", "kind", *QUICK, "--json")
    told = "48 rows are copies of each other (equal): 'S0' and 'S1', 'S2' and 'S3', 'S4' and 'S5',"
    assert result.stderr.count(told) == 1
    plain = json.loads(result.stdout)
    assert sum(told in note for note in plain["notes"]) == 1
    assert "copies of each other" in Path("eigensieve-out/report.html").read_text()
    found = fitted(run, "--group-copies", *QUICK)
    study = es.study(
        patients[features], patients["kind"], groups=patients["patient"], ks=(1, 2, 4), n_repeats=1
    )
    assert found["error"] == study.honest_error.error > plain["error"]
    assert "Rows that are copies of each other stay together: 24 groups." in found["notes"]
    assert not any("too small" in note for note in found["notes"])


def test_grouping_copies_that_are_none(run, patients) -> None:
    found = fitted(run, "--groups", "patient", "--group-copies", *QUICK)
    assert "--group-copies has no effect: no row is a copy of one kept apart." in found["notes"]
    assert found["error"] == fitted(run, "--groups", "patient", *QUICK)["error"]


def test_groups_that_are_none(run, tmp_path: Path, patients) -> None:
    assert "no column is named 'patent'" in refused(
        run, tmp_path, "t.csv", "--target", "kind", "--groups", "patent"
    )
    assert "cannot be the groups" in refused(
        run, tmp_path, "t.csv", "--target", "kind", "--groups", "kind"
    )
    frame = patients.assign(patient=patients["kind"])
    frame.to_csv("t.csv", index=False)
    line = refused(run, tmp_path, "t.csv", "--target", "kind", "--groups", "patient")
    assert "has one group only" in line


def test_missing_values_are_filled_here_and_in_new_rows(run, patients) -> None:
    holes = patients.drop(columns="patient")
    holes.iloc[3, 0] = holes.iloc[7, 0] = holes.iloc[9, 1] = np.nan
    holes.to_csv("t.csv", index=False)
    found = fitted(run, "--k", 2, "--missing", "median", "--repeats", 1)
    assert sorted(found["features"]) == ["g0", "g1"]
    model = load_model("eigensieve-out/model.json")
    assert model.fill is not None
    np.testing.assert_allclose(model.fill, holes[list(model.features)].median(), rtol=1e-12)
    filled = holes.fillna(holes[["g0", "g1"]].median())
    filled.to_csv("filled.csv", index=False)
    one, two = (run("predict", "eigensieve-out", name).stdout for name in ("t.csv", "filled.csv"))
    assert one == two
    assert "balanced error" in run("evaluate", "eigensieve-out", "t.csv", "--target", "kind").stdout


def test_a_model_of_whole_rows_refuses_gaps(run, patients) -> None:
    fitted(run, "--k", 2, "--ignore", "patient", "--repeats", 1)
    patients.assign(g0=np.nan).to_csv("new.csv", index=False)
    result = run("predict", "eigensieve-out", "new.csv", code=2)
    assert "missing" in result.stderr
    assert "--missing median" in result.stderr


def test_annotations_reach_the_table_and_the_report(run, patients) -> None:
    lines = [f'g{j},SYM{j},"<b>{j}</b>, kinase"' for j in range(11)]
    Path("a.csv").write_text("\n".join(["name,symbol,what", *lines]) + "\n")
    fitted(run, "--k", 2, "--ignore", "patient", "--repeats", 1, "--annotations", "a.csv")
    selected = pd.read_csv("eigensieve-out/selected.csv").set_index("name")
    assert selected.loc["g0", "symbol"] == "SYM0"
    assert selected.loc["g1", "what"] == "<b>1</b>, kinase"
    report = Path("eigensieve-out/report.html").read_text(encoding="utf-8")
    assert "SYM0" in report
    assert "<b>0</b>" not in report


def test_annotations_of_other_features(run, tmp_path: Path, patients) -> None:
    Path("a.csv").write_text("name,symbol\nx,y\n")
    line = refused(run, tmp_path, "t.csv", "--target", "kind", "--annotations", "a.csv")
    assert "a.csv: " in line


def test_balanced_counts_every_class_alike(run, patients) -> None:
    few = patients.drop(columns="patient").drop(index=range(40, 48))
    few.to_csv("t.csv", index=False)
    fitted(run, "--k", 3, "--balanced", "--repeats", 1)
    model = load_model("eigensieve-out/model.json")
    Z = few.drop(columns="kind")
    Z = (Z - Z.mean()) / Z.std(ddof=0)
    direct = es.SparseLDA(3, class_weight="balanced").fit(Z.to_numpy(), few["kind"])
    columns = few.columns.get_indexer(list(model.features))
    np.testing.assert_allclose(model.coef, direct.coef_[:, columns], atol=1e-9)


def test_balanced_is_not_for_every_method(run, tmp_path: Path, patients) -> None:
    args = ["t.csv", "--target", "kind", "--method", "plda", "--balanced"]
    assert "--balanced is not for method plda" in refused(run, tmp_path, *args)
    args = ["t.csv", "--target", "kind", "--method", "gloss", "--include", "g0"]
    assert "--include is not for method gloss" in refused(run, tmp_path, *args)


@pytest.mark.parametrize("method", ["sulda", "plda"])
@pytest.mark.parametrize("option", ["--k", "--ks"])
def test_no_k_for_a_method_that_chooses_it(run, tmp_path: Path, patients, method, option) -> None:
    line = refused(run, tmp_path, "t.csv", "--target", "kind", "--method", method, option, "2")
    assert f"method {method} chooses the number of features itself; leave {option} out" in line


SOLVERS = {
    "sparse-lda": ("simplex", "greedy"),
    "gloss": ("exact", "auto, working-set"),
    "gloss-d": ("greedy", "auto, working-set"),
    "sulda": ("auto", "simplex, bregman"),
    "anova": ("greedy", "methods that have it: sparse-lda, gloss, gloss-d, sulda"),
}


@pytest.mark.parametrize("method", SOLVERS)
def test_a_solver_of_another_method(run, tmp_path: Path, patients, method: str) -> None:
    solver, there_are = SOLVERS[method]
    # before the table is read
    args = ["none.csv", "--target", "kind", "--method", method, "--solver", solver]
    line = refused(run, tmp_path, *args)
    assert f"method {method}" in line
    assert there_are in line


def test_solvers_for_pca_are_not_offered_to_classifiers(run, tmp_path: Path, patients) -> None:
    line = refused(run, tmp_path, "none.csv", "--target", "kind", "--solver", "magic")
    offered = line.rpartition(": ")[2].split(", ")
    X, y = patients.filter(regex=r"^g\d").to_numpy(), (patients["kind"] == "u").to_numpy()
    pencil = es.lda_pencil(X, y, shrinkage=0.5)

    def takes_lda(name: str) -> bool:
        try:
            es.solve(pencil, 2, name, "lambda_max")
        except OptionError:
            return False
        return True

    assert sorted(offered) == sorted(filter(takes_lda, es.available_solvers()))


@pytest.mark.parametrize(("method", "solver"), [("gloss-d", "dual"), ("sulda", "simplex")])
def test_solvers_of_other_methods_than_sparse_lda(run, patients, method: str, solver: str) -> None:
    sizes = [] if method == "sulda" else ["--k", 2]
    args = ["--method", method, "--ignore", "patient", "--repeats", 1, *sizes]
    assert fitted(run, *args)["features"] == fitted(run, *args, "--solver", solver)["features"]


def test_exclude_works_for_every_method(run, patients) -> None:
    args = ["--method", "anova", "--ignore", "patient", "--exclude", "g0", "--k", 2, *QUICK]
    found = fitted(run, *args)
    assert "g0" not in found["features"]
    assert found["n_features"] == 11


def test_several_shrinkages_are_tuned_along_with_k(run, patients) -> None:
    found = fitted(run, "--shrinkage", "0.1,0.9,0.1", "--ignore", "patient", *QUICK)
    assert found["method"] in {"sparse-lda, shrinkage 0.1", "sparse-lda, shrinkage 0.9"}
    assert "k and setting chosen inside" in found["error_from"]
    assert set(pd.read_csv("eigensieve-out/cv.csv")["setting"]) <= {
        "sparse-lda, shrinkage 0.1",
        "sparse-lda, shrinkage 0.9",
    }


def test_permutations_give_a_p_value(run, patients) -> None:
    found = fitted(run, "--permutations", 19, "--ignore", "patient", *QUICK)
    assert found["permutations"] == 19
    assert found["p_value"] == pytest.approx(1 / 20)
    assert fitted(run, "--ignore", "patient", *QUICK)["p_value"] is None


def test_leave_one_out(run, patients) -> None:
    found = fitted(run, "--cv", "loo", "--ignore", "patient", "--ks", "2", "--k", 2)
    assert found["error_from"] == "leave-one-out cross-validation, k fixed"
    assert found["auc"] is None
    assert any("Leave-one-out" in note for note in found["notes"])


WRONG = {
    "cv 1": ["--cv", "1"],
    "cv text": ["--cv", "many"],
    "ks": ["--ks", "1,x"],
    "ks 0": ["--ks", "0,2"],
    "repeats": ["--repeats", "0"],
    "permutations": ["--permutations", "-1"],
    "missing": ["--missing", "mean"],
    "shrinkage": ["--shrinkage", "0.1,2"],
}


@pytest.mark.parametrize("options", WRONG.values(), ids=WRONG.keys())
def test_wrong_use(run, tmp_path: Path, patients, options: list[str]) -> None:
    result = run("fit", "t.csv", "--target", "kind", *options, code=2)
    assert result.stderr.startswith("error: Invalid value for '--")
    assert result.stderr.endswith(" (see eigensieve fit --help)\n")
    assert result.stderr.count("\n") == 1
    assert contents(tmp_path) == {"t.csv"}
