"""The commands on .h5ad files: the same answers as on the same numbers in a .csv."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from eigensieve.io.model import load_model

anndata = pytest.importorskip("anndata")


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    """Counts as a sparse layer beside their logarithms in .X, and the counts as a .csv."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(0.8, size=(60, 12))
    counts[:20, :2] += rng.poisson(3, size=(20, 2))
    counts[20:40, 2:4] += rng.poisson(3, size=(20, 2))
    cells = pd.DataFrame(
        {"kind": pd.Categorical(np.repeat(["B", "T", "NK"], 20)), "donor": np.arange(60) % 6},
        index=[f"c{i}" for i in range(60)],
    )
    genes = pd.DataFrame(index=[f"g{j}" for j in range(12)])
    logs = sparse.csr_matrix(np.log1p(counts).astype(np.float32))
    adata = anndata.AnnData(logs, obs=cells, var=genes)
    adata.layers["counts"] = sparse.csr_matrix(counts)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    frame = pd.DataFrame(counts, columns=genes.index)
    frame.insert(0, "cell", cells.index)
    frame["kind"], frame["donor"] = cells["kind"].to_numpy(), cells["donor"].to_numpy()
    frame.to_csv(tmp_path / "counts.csv", index=False)
    return tmp_path / "cells.h5ad", tmp_path / "counts.csv"


FIT = ("--target", "kind", "--k", 3, "--repeats", 1, "--cv", 3, "--jobs", 1, "--json")


def test_fit_predict_and_evaluate(run, tables) -> None:
    h5ad, csv = tables
    groups = ("--groups", "donor")
    found = json.loads(run("fit", h5ad, *FIT, *groups, "--layer", "counts", "--out", "a").stdout)
    plain = json.loads(run("fit", csv, *FIT, *groups, "--out", "b").stdout)
    for name in ("k", "objective", "bound"):
        assert found[name] == pytest.approx(plain[name], rel=1e-6)
    first, second = load_model("a/model.json"), load_model("b/model.json")
    assert first.features == second.features
    assert first.info["layer"] == "counts"
    assert "layer" not in second.info
    # the layer of the fit is taken by itself
    one = run("predict", "a/model.json", h5ad).stdout.splitlines()
    two = run("predict", "b/model.json", csv).stdout.splitlines()
    assert len(one) == len(two) == 61
    for left, right in zip(one[1:], two[1:]):
        assert left.split(",")[:2] == right.split(",")[:2]
    assert run("predict", "a", csv).stdout.splitlines() == one
    other = run("predict", "a", h5ad, "--layer", "none", code=2)
    assert "no layer is named 'none'" in other.stderr
    rate = json.loads(run("evaluate", "a", h5ad, "--target", "kind", "--json").stdout)
    same = json.loads(run("evaluate", "b", csv, "--target", "kind", "--json").stdout)
    assert rate["confusion"] == same["confusion"]


def test_certify(run, tables) -> None:
    h5ad, csv = tables
    options = ("--target", "kind", "--features", "g0,g2,g7", "--jobs", 1, "--json")
    found = json.loads(run("certify", h5ad, *options, "--layer", "counts").stdout)
    plain = json.loads(run("certify", csv, *options, "--ignore", "donor").stdout)
    for name in ("objective", "bound", "gap", "shrinkage"):
        assert found[name] == pytest.approx(plain[name], rel=1e-6)
    assert found["better"]["features"] == plain["better"]["features"]


def test_compare_with_logarithms(run, tables) -> None:
    h5ad, csv = tables
    options = ("--target", "kind", "--methods", "sparse-lda,anova", "--ks", "2,3", "--cv", 3,
              "--log2", "--jobs", 1, "--json")  # fmt: skip
    result = run("compare", h5ad, *options, "--layer", "counts", "--out", "a")
    plain = run("compare", csv, *options, "--ignore", "donor", "--out", "b")
    rows = [json.loads(each.stdout)["methods"] for each in (result, plain)]
    assert [row["error"] for row in rows[0]] == [row["error"] for row in rows[1]]
    note = "values lie below 1 and were raised to it (log2)."
    assert [line for line in result.stderr.splitlines() if note in line] == [
        line for line in plain.stderr.splitlines() if note in line
    ]
    assert "filled in" not in result.stderr


def test_a_floor_that_leaves_no_zeros_is_said(run, tables) -> None:
    h5ad, csv = tables
    options = ("--target", "kind", "--features", "g0,g2", "--jobs", 1, "--json", "--log2",
              "--log2-floor", 0.5)  # fmt: skip
    result = run("certify", h5ad, *options, "--layer", "counts")
    assert "log2 with the floor 0.5 has no zeros: it was filled in." in result.stderr
    plain = json.loads(run("certify", csv, *options, "--ignore", "donor").stdout)
    assert json.loads(result.stdout)["objective"] == pytest.approx(plain["objective"])


def test_excluded_genes_and_methods_without_wishes(run, tables) -> None:
    h5ad, _ = tables
    run("fit", h5ad, *FIT, "--method", "anova", "--exclude", "g0,g1", "--out", "a")
    assert not {"g0", "g1"} & set(load_model("a/model.json").features)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--target", "kin"), ".obs has no column 'kin'; close: 'kind'"),
        (("--target", "kind", "--transpose"), "without --transpose"),
        (("--target", "kind", "--layer", "count"), "no layer is named 'count'"),
        (("--target", "kind", "--groups", "donors"), "close: 'donor'"),
    ],
)
def test_refusals(run, tables, options, said) -> None:
    assert said in run("fit", tables[0], *options, code=2).stderr
