"""AnnData files as tables."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from eigensieve.errors import MissingExtraError
from eigensieve.io.tables import read_table
from tests.io.reading import fails

anndata = pytest.importorskip("anndata")

X = np.array([[0, 1.5, 0], [2, 0, 0], [0, 0, 3], [1, 1, 1]])


def make(matrix: Any = X, names: tuple[str, ...] = ("a", "b", "c")) -> Any:
    cells = pd.DataFrame(
        {
            "type": pd.Categorical(["u", "v", "u", "v"], categories=["w", "v", "u"]),
            "batch": [1, 1, 2, 2],
            "some": ["u", None, "u", "v"],
        },
        index=["c1", "c2", "c3", "c4"],
    )
    return anndata.AnnData(matrix, obs=cells, var=pd.DataFrame(index=list(names)))


def write(adata: Any, folder: Path, name: str = "t.h5ad") -> Path:
    adata.write_h5ad(folder / name)
    return folder / name


@pytest.mark.parametrize("name", ["t.h5ad", "T.H5AD"])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_numbers_names_and_labels(form, dtype, name, tmp_path) -> None:
    path = write(make(form(X.astype(dtype))), tmp_path, name)
    table = read_table(path, "type", groups="batch")
    assert sparse.issparse(table.X) == (form is not np.asarray)
    dense = table.X.toarray() if sparse.issparse(table.X) else table.X
    assert dense.dtype == np.float64
    np.testing.assert_array_equal(dense, X.astype(dtype))
    assert table.names == ["a", "b", "c"]
    assert table.rows == ["c1", "c2", "c3", "c4"]
    assert table.target.tolist() == ["u", "v", "u", "v"]
    assert table.groups.tolist() == ["1", "1", "2", "2"]
    assert table.notes == []


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_layers_columns_and_what_is_ignored(form, tmp_path) -> None:
    adata = make(form(X))
    adata.layers["twice"] = form(2 * X)
    path = write(adata, tmp_path)
    some = read_table(path, columns=["c", "a"], layer="twice")
    assert isinstance(some.X, np.ndarray)  # few columns: filled in
    np.testing.assert_array_equal(some.X, 2 * X[:, [2, 0]])
    assert read_table(path, "type", ignore=["b"]).names == ["a", "c"]
    fails(path, "no layer is named 'once'", "'twice'", layer="once")
    fails(path, "'d'", columns=["a", "d"])
    fails(path, "to ignore", "'z'", ignore=["z"])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix])
def test_missing_and_infinite_values(form, tmp_path) -> None:
    gaps = X.copy()
    gaps[0, 1] = gaps[3, 1] = np.nan
    path = write(make(form(gaps)), tmp_path)
    fails(path, "2 missing or infinite value(s) in 1 of 3 features: 'b' (2)")
    table = read_table(path, missing="keep")
    assert "2 value(s) are missing, in 1 of 3 features." in table.notes
    gaps[2, 2] = np.inf
    path = write(make(form(gaps)), tmp_path)
    fails(path, "1 infinite value(s)", "'c' (1)", missing="keep")


def test_refusals(tmp_path) -> None:
    path = write(make(), tmp_path)
    fails(path, ".obs has no column 'typ'; close: 'type'", target="typ")
    fails(path, "there are 'type', 'batch', 'some'", target="zzz")
    fails(path, "1 sample(s) have no label in 'some': 'c2'", target="some")
    fails(path, "without --transpose", transpose=True)
    empty = write(anndata.AnnData(obs=make().obs), tmp_path, "e.h5ad")
    fails(empty, "has no X")
    csv = tmp_path / "t.csv"
    csv.write_text("a,y\n1,u\n2,v\n")
    fails(csv, "only .h5ad files have", layer="counts")
    broken = tmp_path / "broken.h5ad"
    broken.write_bytes(path.read_bytes()[:2000])
    fails(broken, "not a readable .h5ad file")
    broken.write_text("a,b\n1,2\n")
    fails(broken, "not a readable .h5ad file")
    fails(tmp_path / "none.h5ad", "no such file")


@pytest.mark.filterwarnings("ignore:.*names are not unique:UserWarning")  # of AnnData itself
def test_repeated_names(tmp_path) -> None:
    path = write(make(names=("a", "a", "c")), tmp_path)
    table = read_table(path, "type")
    assert table.names == ["a", "a_2", "c"]
    assert table.repeated == {"a", "a_2"}
    fails(path, "2 columns are named 'a'", columns=["a"])


def test_a_gene_with_the_name_of_the_target(tmp_path) -> None:
    path = write(make(names=("a", "type", "c")), tmp_path)
    fails(path, "2 columns are named 'type', the target", target="type")
    assert read_table(path, "batch").names == ["a", "type", "c"]


def test_the_extra_is_named(tmp_path, monkeypatch) -> None:
    path = write(make(), tmp_path)
    monkeypatch.setitem(sys.modules, "anndata", None)
    with pytest.raises(MissingExtraError, match=r"eigensieve\[anndata\]"):
        read_table(path)
