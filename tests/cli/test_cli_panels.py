"""``eigensieve panels``: files, words and JSON against every set; limits, Ctrl-C, refusals."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import eigensieve.search.near_optimal.near_optimal as engine
from eigensieve.cli._outputs import panel_features_csv, panels_csv
from eigensieve.pencil.solution import Status
from tests.search.near_optimal.lists import make_list

OUT = Path("eigensieve-panels")
NAMES = ["alpha", "beta", "gamma; x", "delta", "epsilon", "zeta"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    y = np.repeat(["ill", "well"], 20)
    X = np.exp(rng.normal(size=(40, 6)) + (y == "ill")[:, None] * [1.0, 0.9, 0.7, 0.6, 0.2, 0])
    frame = pd.DataFrame(X, columns=NAMES)
    frame["state"] = y
    frame.to_csv(tmp_path / "table.csv", index=False)
    return tmp_path / "table.csv"


def enumerate_sets(table: Path, shrinkage: float, k: int, log2: bool = False) -> dict:
    """The trace of B^-1 A of every set, by its definition."""
    frame = pd.read_csv(table)
    X, y = frame[NAMES].to_numpy(), (frame["state"] == "ill").to_numpy()
    X = np.log2(np.maximum(X, 1e-6)) if log2 else X
    diff = X[y].mean(axis=0) - X[~y].mean(axis=0)
    rest = X - np.where(y[:, None], X[y].mean(axis=0), X[~y].mean(axis=0))
    W = rest.T @ rest / len(X)
    W = (1 - shrinkage) * W + shrinkage * np.diag(np.diag(W))
    share = y.mean() * (1 - y.mean())
    return {
        S: share * float(diff[list(S)] @ np.linalg.solve(W[np.ix_(S, S)], diff[list(S)]))
        for S in combinations(range(6), k)
    }


def read(name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO((OUT / name).read_text(encoding="utf-8"))))


def test_every_near_panel_is_written(run: Any, table: Path) -> None:
    options = ["--k", 3, "--within", "60%", "--shrinkage", 0.5, "--criterion", "trace"]
    floor = ["--log2", "--log2-floor", 1e-6]
    said = run("panels", table, "--target", "state", *options, *floor).stdout
    scores = enumerate_sets(table, 0.5, 3, log2=True)
    best = max(scores.values())
    near = sorted((S for S in scores if scores[S] >= 0.4 * best), key=lambda S: -scores[S])
    assert len(near) > 3
    rows = read("panels.csv")
    assert [row["features"] for row in rows] == ["; ".join(NAMES[j] for j in S) for S in near]
    np.testing.assert_allclose([float(row["score"]) for row in rows], [scores[S] for S in near])
    losses = [1 - scores[S] / best for S in near]
    np.testing.assert_allclose([float(row["loss"]) for row in rows], losses, atol=1e-12)
    for row in read("features.csv"):
        j = NAMES.index(row["name"])
        assert int(row["panels"]) == sum(j in S for S in near)
        assert (row["in_all"] == "proved") == all(j in S for S in near)
        without = [i + 1 for i, S in enumerate(near) if j not in S]
        assert row["best_without"] == (str(without[0]) if without else "")
    assert said.splitlines()[2].startswith(f"{len(near)} panels of 3 features are within 60 % of")
    assert len(said.splitlines()[2:]) <= 5 + 1 + 4
    assert f"best    {', '.join(NAMES[j] for j in near[0])}" in said
    assert "<html" in (OUT / "panels.html").read_text(encoding="utf-8")


def test_json_and_constraints(run: Any, table: Path) -> None:
    options = ["--k", 2, "--within", 0.5, "--shrinkage", 0.3, "--include", "beta"]
    options += ["--exclude", '"gamma; x",zeta', "--max-sets", 50, "--json"]
    found = json.loads(run("panels", table, "--target", "state", *options).stdout)
    scores = {S: v for S, v in enumerate_sets(table, 0.3, 2).items() if 1 in S}
    allowed = {S: v for S, v in scores.items() if not {2, 5} & set(S)}
    # of two classes log(1 + trace) is the default criterion
    by_log = {S: np.log1p(v) for S, v in allowed.items()}
    near = sorted(
        (S for S in by_log if by_log[S] >= 0.5 * max(by_log.values())), key=lambda S: -by_log[S]
    )
    assert [panel["features"] for panel in found["panels"]] == [[NAMES[j] for j in S] for S in near]
    np.testing.assert_allclose([p["score"] for p in found["panels"]], [by_log[S] for S in near])
    assert found["complete"] is True
    assert found["n_panels"] == len(near)
    assert "beta" in found["core"]
    assert found["sentences"][0].startswith(f"{len(near)} allowed panels of 2 features")
    assert set(found["files"]) == {"panels.csv", "features.csv", "panels.html"}


@pytest.mark.parametrize("text", ["1", "2", "-1%", "nan", "x", "%", "101%"])
def test_what_within_may_be(run: Any, table: Path, text: str) -> None:
    result = run("panels", table, "--target", "state", "--k", 2, "--within", text, code=2)
    assert "neither a percentage such as 1% nor a share such as 0.01" in result.stderr
    assert not OUT.exists()


@pytest.mark.parametrize("same", [("2.5%", "0.025"), ("100%", "100 %"), ("0", "0%")])
def test_percent_or_share(run: Any, table: Path, same: tuple[str, str]) -> None:
    options = ["panels", table, "--target", "state", "--k", 2, "--json", "--within"]
    one, other = (json.loads(run(*options, text).stdout) for text in same)
    assert one["within"] == other["within"]
    assert one["panels"] == other["panels"]


def test_cut_by_their_number(run: Any, table: Path) -> None:
    options = ["--k", 3, "--within", "50%", "--max-sets", 2]
    said = run("panels", table, "--target", "state", *options).stdout
    assert "More than 2 panels of 3 features are within 50 % of the best, of which" in said
    assert len(read("panels.csv")) == 2


def test_refusals(run: Any, table: Path) -> None:
    base = ["panels", table, "--target", "state"]
    assert "--k" in run(*base, code=2).stderr
    assert "k is 9" in run(*base, "--k", 9, code=2).stderr
    wrong = run(*base, "--k", 2, "--include", "bta", code=2).stderr
    assert "--include: no feature is named 'bta'; close: 'beta'" in wrong
    layer = run(*base, "--k", 2, "--proof", "p", "--missing", "median", code=2).stderr
    assert "--missing median does not go with --proof" in layer
    assert not OUT.exists()


def test_it_replaces_its_own_files_only(run: Any, table: Path) -> None:
    base = ["panels", table, "--target", "state", "--k", 2]
    run(*base)
    assert "replaced in" in run(*base).stderr
    (OUT / "panels.csv").write_text("mine", encoding="utf-8")
    assert "not made by this command" in run(*base, code=2).stderr
    assert (OUT / "panels.csv").read_text(encoding="utf-8") == "mine"


def interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = engine.near_optimal

    def cut(*args: Any, **options: Any) -> Any:
        found = whole(*args, **options)
        return replace(
            found, is_complete=False, status=Status.INTERRUPTED, bound=2 * found.scores[0]
        )

    monkeypatch.setattr(engine, "near_optimal", cut)


def test_ctrl_c_keeps_what_was_found(run: Any, table: Path, monkeypatch) -> None:
    interrupted(monkeypatch)
    base = ["panels", table, "--target", "state", "--k", 2, "--within", "30%"]
    result = run(*base, code=130)
    assert "there may be more, and better ones" in result.stdout
    assert "what was found until then is in eigensieve-panels" in result.stderr
    before = (OUT / "panels.csv").read_text(encoding="utf-8")
    assert len(before.splitlines()) > 1
    again = run(*base, code=130)
    assert "eigensieve-panels keeps the list of an earlier run" in again.stderr
    assert (OUT / "panels.csv").read_text(encoding="utf-8") == before


def test_tables_of_lists_made_by_hand() -> None:
    found = make_list("abc", "abd", losses=[0, 0.5], core=[0], complete=False)
    assert panels_csv(found).splitlines() == [
        "rank,score,loss,features", "1,2.0,0.0,a; b; c", "2,1.0,0.5,a; b; d"
    ]  # fmt: skip
    assert panels_csv(found, np.array([0.5, 0.25])).splitlines()[2] == "2,1.0,0.5,0.25,a; b; d"
    assert panels_csv(None) == "rank,score,loss,features\n"
    assert panel_features_csv(found).splitlines() == [
        "name,panels,share,in_all,best_without,loss_without", "a,2,1.0,proved,,",
        "b,2,1.0,listed,,", "c,1,0.5,,2,0.5", "d,1,0.5,,1,0.0",
    ]  # fmt: skip


def test_fit_lists_panels(run: Any, table: Path) -> None:
    options = ["--k", 3, "--ks", "3", "--repeats", 1, "--cv", 3, "--shrinkage", 0.5]
    said = run("fit", table, "--target", "state", *options, "--out", "out").stdout
    labels = {S: np.log1p(v) for S, v in enumerate_sets(table, 0.5, 3).items()}
    near = [S for S in labels if labels[S] >= 0.99 * max(labels.values())]
    lines = said.splitlines()
    (first,) = (i for i, line in enumerate(lines) if line.startswith("panels  "))
    (files,) = (i for i, line in enumerate(lines) if line.startswith("files   "))
    assert 1 <= files - first <= 5
    number = "No other panel" if len(near) == 1 else f"{len(near)} panels"
    assert lines[first].startswith(f"panels  {number} of 3 features")
    rows = list(csv.DictReader(io.StringIO(Path("out/panels.csv").read_text())))
    assert len(rows) == len(near)
    found = json.loads(
        run("fit", table, "--target", "state", *options, "--out", "out", "--json").stdout
    )
    assert found["near_optimal"]["n_panels"] == len(near)
    assert found["near_optimal"]["panels"][0]["stability"] == float(rows[0]["stability"])
    anova = ["--method", "anova", "--k", 3, "--ks", "3", "--repeats", 1, "--cv", 3, "--json"]
    other = json.loads(run("fit", table, "--target", "state", *anova, "--out", "o2").stdout)
    assert other["near_optimal"] is None
    assert Path("o2/panels.csv").read_text() == "rank,score,loss,features\n"
