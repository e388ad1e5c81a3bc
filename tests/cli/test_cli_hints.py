"""What commands say where an option has no effect, or a name or a file is not what it seems."""

from __future__ import annotations

from pathlib import Path

import anndata
import numpy as np
import pandas as pd
import pytest

from tests.cli.files import refused

FIT = ("t.csv", "--target", "kind", "--repeats", 1, "--out", "out")


@pytest.fixture
def table(tmp_path: Path) -> pd.DataFrame:
    """Thirty samples of two classes, which are called 1 and 2; four features; table t.csv."""
    kind = np.repeat([1, 2], 15)
    X = np.random.default_rng(8).normal(size=(30, 4))
    X[kind == 2, 0] += 3
    frame = pd.DataFrame(X, columns=["g0", "g1", "TP53, isoform 2", "g3"]).assign(kind=kind)
    frame.to_csv(tmp_path / "t.csv", index=False)
    return frame


def test_classes_that_are_numbers(run, table) -> None:
    stdout = run("fit", *FIT, "--k", 1).stdout
    assert "from 30 samples in 2 classes (1: 15, 2: 15)\n" in stdout


@pytest.mark.parametrize("option", ["--include", "--exclude"])
def test_a_name_that_its_comma_has_cut(run, tmp_path: Path, table, option: str) -> None:
    line = refused(run, tmp_path, *FIT[:-2], option, "TP53, isoform 2")
    assert "no feature is named 'TP53'" in line
    assert """a name with a comma needs double quotes: '"TP53, isoform 2"'""" in line


def test_sizes_that_the_table_does_not_allow(run, table) -> None:
    note = "note: --ks: 9, 50 left out; this table allows 1 to 4 features.\n"
    assert note in run("fit", *FIT, "--ks", "1,2,9,50").stderr
    compare = ("compare", *FIT[:3], "--methods", "anova", "--ks", "1,9,50", "--out", "both")
    assert note in run(*compare).stderr
    assert "--ks" not in run("fit", *FIT, "--ks", "1,4").stderr


def test_groups_of_one_sample_each(run, table) -> None:
    table.assign(who=[f"p{i}" for i in range(30)]).to_csv("t.csv", index=False)
    stderr = run("fit", *FIT, "--k", 1, "--groups", "who").stderr
    assert "note: All entries of 'who' are different: --groups keeps no samples together." in stderr


def test_an_empty_column_is_left_out_not_filled(run, table) -> None:
    table.assign(g1=np.nan).to_csv("t.csv", index=False)
    result = run("fit", *FIT, "--k", 1, "--missing", "median")
    assert "1 feature(s) have no value at all: 'g1'." in result.stderr
    assert "1 feature(s) without any value were left out." in result.stderr
    assert "filled" not in result.stderr
    assert result.stdout.startswith("1 of 3 features selected")


def test_no_value_anywhere(run, tmp_path: Path, table) -> None:
    gone = {name: np.nan for name in table.columns if name != "kind"}
    table.assign(**gone).to_csv("t.csv", index=False)
    line = refused(run, tmp_path, *FIT[:-2], "--missing", "median")
    assert "no feature has any value" in line


@pytest.mark.parametrize(
    ("layers", "said"), [({}, "it has no layers either"), ({"a": 1}, "--layer 'a'")]
)
def test_an_h5ad_file_without_x(run, layers: dict[str, int], said: str) -> None:
    cells = pd.DataFrame({"kind": ["u", "v"] * 4}, index=[f"c{i}" for i in range(8)])
    adata = anndata.AnnData(obs=cells, var=pd.DataFrame(index=["g0", "g1"]))
    for name in layers:
        adata.layers[name] = np.ones((8, 2))
    adata.write_h5ad("no_x.h5ad")
    assert said in run("fit", "no_x.h5ad", "--target", "kind", code=2).stderr


def test_a_table_in_place_of_the_model(run, table) -> None:
    said = run("predict", "t.csv", "t.csv", code=2).stderr
    assert "so no model file" in said
    assert "'eigensieve fit' writes model.json" in said
