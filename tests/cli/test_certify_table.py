"""``eigensieve certify``: the rivals are those of ``fit``, with groups and with gaps."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import eigensieve as es
from tests.oracles import naive

CERTIFY = ("certify", "t.csv", "--target", "kind")


@pytest.fixture
def patients(tmp_path: Path) -> pd.DataFrame:
    """Two samples of each of 20 patients, two classes, eight features, some gaps; table t.csv."""
    rng = np.random.default_rng(4)
    kind = np.repeat(["u", "v"], 20)
    X = rng.normal(size=(40, 8))
    X[kind == "v", :2] += 1.5
    frame = pd.DataFrame(X, columns=[f"g{j}" for j in range(8)])
    frame = frame.assign(patient=np.repeat(np.arange(20), 2), kind=kind)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return frame


def scored(frame: pd.DataFrame, place: list[int]) -> float:
    pencil = es.lda_pencil(frame.filter(regex=r"^g\d"), frame["kind"])
    return naive.score(pencil.A, pencil.B, place, "logdet")


def test_the_column_of_groups_is_no_rival(run, patients: pd.DataFrame) -> None:
    result = run(*CERTIFY, "--features", "g0,g3", "--groups", "patient", "--json")
    found = json.loads(result.stdout)
    assert found["n_features"] == 8
    assert found["objective"] == pytest.approx(scored(patients, [0, 3]))
    note = "The column 'patient' holds the groups: it is no feature, and no rival."
    assert result.stderr == f"note: {note}\n"
    assert found["notes"] == [note]


def test_the_set_of_a_fit_with_groups_and_gaps(run, patients: pd.DataFrame) -> None:
    patients.loc[[1, 5, 30], "g0"] = np.nan
    patients.to_csv("t.csv", index=False)
    options = ("--groups", "patient", "--missing", "median", "--json")
    args = ("fit", "t.csv", "--target", "kind", "--k", 2, "--repeats", 1)
    fitted = json.loads(run(*args, *options).stdout)
    result = run(*CERTIFY, "--features", ",".join(fitted["features"]), *options)
    found = json.loads(result.stdout)
    assert found["n_features"] == fitted["n_features"] == 8
    assert found["objective"] == pytest.approx(fitted["objective"], rel=1e-8)
    whole = patients.assign(g0=patients["g0"].fillna(patients["g0"].median()))
    place = [int(name[1:]) for name in found["features"]]
    assert found["objective"] == pytest.approx(scored(whole, place))
    assert "3 missing values in 1 columns were filled with the median of the column." in (
        result.stderr
    )


def test_gaps_are_an_error_unless_they_are_filled(run, patients: pd.DataFrame) -> None:
    patients.loc[1, "g0"] = np.nan
    patients.to_csv("t.csv", index=False)
    said = run(*CERTIFY, "--features", "g1", code=2).stderr
    assert said.endswith("let them be filled with --missing median\n")


def test_a_proof_with_groups_is_accepted(run, patients: pd.DataFrame) -> None:
    run(*CERTIFY, "--features", "g0,g1", "--groups", "patient", "--proof", "p.jsonl")
    told = json.loads(run("check-proof", "p.jsonl", "t.csv", "--json").stdout)
    assert told["accepted"]
    assert told["n_features"] == 8
    assert told["objective"] == pytest.approx(scored(patients, [0, 1]))


def test_no_proof_of_numbers_that_are_not_in_the_file(run, patients: pd.DataFrame) -> None:
    options = ("--features", "g0", "--missing", "median", "--proof", "p.jsonl")
    said = run(*CERTIFY, *options, code=2).stderr
    assert "--missing median does not go with --proof" in said
    assert not Path("p.jsonl").exists()


def test_the_noun_is_that_of_the_whole_output(run, patients: pd.DataFrame) -> None:
    options = ("--ignore", "patient", "--noun", "genes")
    stdout = run(*CERTIFY, "--features", "g0,g1", *options).stdout
    assert stdout.startswith("2 of 8 genes, 40 samples in 2 classes (u: 20, v: 20)\n")


def test_no_advice_on_splitting_where_nothing_is_split(run, patients: pd.DataFrame) -> None:
    names = [f"p{j}" for j in patients["patient"]]
    patients.drop(columns="patient").assign(patient=names).to_csv("end.csv", index=False)
    moved = pd.read_csv("end.csv")[["patient", *patients.columns.drop("patient")]]
    moved.to_csv("t.csv", index=False)
    assert "--groups" not in run(*CERTIFY, "--features", "g0,g1").stderr
    fit = ("fit", "t.csv", "--target", "kind", "--k", 2, "--repeats", 1, "--out", "out")
    assert "belong together (are of one patient, say), fit with --groups patient." in (
        run(*fit).stderr
    )
    assert "belong together" not in run(*fit, "--groups", "patient").stderr
