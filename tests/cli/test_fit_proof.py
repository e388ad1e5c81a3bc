"""``eigensieve fit --proof``: a file beside the model that shows what is proved of its set."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sklearn.datasets import load_wine

import eigensieve as es
from eigensieve.report.page import render_study
from eigensieve.search.proof.proof import Prover
from tests.cli.files import FILES, contents

FIT = ("fit", "w.csv", "--target", "kind", "--k", 4, "--repeats", 1)
PROOF = Path("eigensieve-out/best.proof")


@pytest.fixture
def table(wine: pd.DataFrame, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pd.DataFrame:
    monkeypatch.chdir(tmp_path)
    wine.to_csv("w.csv", index=False)
    return wine


def checked(table: pd.DataFrame) -> Any:
    X = table.drop(columns=["kind", "sample"], errors="ignore")
    return es.check_proof(PROOF, X, table["kind"])


def report() -> str:
    return Path("eigensieve-out/report.html").read_text("utf-8")


def test_it_shows_what_is_claimed(run, table: pd.DataFrame) -> None:
    said = run(*FIT, "--proof").stdout
    check = "eigensieve check-proof eigensieve-out/best.proof w.csv"
    assert f"proof   best.proof shows it; to check it: {check}\n" in said
    assert (
        "report.html, model.json, selected.csv, cv.csv, stability.csv, panels.csv, best.proof in"
        in said
    )
    assert "The proof is in the file best.proof. To check it" in report()
    assert f"<code>{check}</code>" in report()
    assert contents(Path("eigensieve-out")) == FILES | {"best.proof"}
    verdict = checked(table)
    assert verdict.accepted
    assert run(*check.split()[1:]).stdout.startswith("Proved: no set of 4 of the 13 features")
    found = json.loads(run(*FIT, "--proof", "--json").stdout)
    assert found["claim"] == "No other set of 4 of the 13 features separates the classes better"
    assert found["files"]["proof"] == str(PROOF)
    assert found["proof"]["status"] == found["status"] == "optimal"
    assert found["proof"]["check"] == check
    assert verdict.bound == pytest.approx(found["bound"], rel=1e-5)


def test_of_another_method_it_speaks_of_its_own_set(run, table: pd.DataFrame) -> None:
    """The set of a ranking is not the best one, and the file must not say that it is."""
    found = json.loads(run(*FIT, "--method", "anova", "--proof", "--json").stdout)
    assert found["gap"] > 0.01
    assert found["proof"]["status"] != "optimal"
    verdict = checked(table)
    assert verdict.accepted
    assert verdict.objective == pytest.approx(found["objective"], rel=1e-6)
    assert verdict.bound == pytest.approx(found["bound"], rel=1e-5)


def test_a_file_that_shows_less_says_so(run, table: pd.DataFrame, monkeypatch) -> None:
    """Ctrl-C while it is written: the study is complete, the proof shows what was reached."""
    prove = Prover.prove

    def press(*given: Any) -> Any:
        signal.raise_signal(signal.SIGINT)
        return prove(*given)

    monkeypatch.setattr(Prover, "prove", press)
    result = run(*FIT, "--proof", code=130)
    said = result.stdout
    assert "\nproved  No other set of 4 of the 13 features separates the classes better\n" in said
    less = said.partition("\nproof   best.proof shows less: ")[2].partition("; to check it")[0]
    assert less.startswith("no set of 4 features can score more than ")
    assert f"The file best.proof shows less than that: {less}." in report()
    assert "best.proof shows what was proved by then" in result.stderr
    verdict = checked(table)
    assert verdict.accepted
    percent = float(less.removesuffix(" % above this one").rpartition(" ")[2])
    assert 100 * (verdict.bound / verdict.objective - 1) <= percent * (1 + 1e-6)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--balanced",), "--balanced does not go with --proof"),
        (("--missing", "median"), "--missing median does not go with --proof"),
    ],
)
def test_what_no_proof_can_be_about(run, table: pd.DataFrame, options: tuple, says: str) -> None:
    assert says in run(*FIT, "--proof", *options, code=2).stderr
    assert not Path("eigensieve-out").exists()


def test_without_the_option_there_is_none(run, table: pd.DataFrame) -> None:
    run(*FIT, "--proof")
    result = run(*FIT)
    assert "best.proof is of an earlier run" in result.stderr
    assert "best.proof" not in report()
    X, y = load_wine(return_X_y=True)
    assert "best.proof" not in render_study(es.study(X, y, k=2, ks=(2,), n_repeats=1))
