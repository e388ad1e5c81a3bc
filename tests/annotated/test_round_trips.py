"""Every key survives .h5ad and zarr, and does its work afterwards."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.annotated.results import plain
from eigensieve.errors import InputError
from tests.annotated.cells import anndata, make_cells


@pytest.fixture(scope="module")
def full() -> Any:
    """An AnnData with the results of every tool in it."""
    adata = make_cells(p=15)
    adata.layers["counts"] = adata.X.copy()
    weights = {"B": 2.0, "T": 1.0, "NK": 1.0}
    es.tl.sparse_lda(
        adata, "type", 3, layer="counts", class_weight=weights, priors=(0.2, 0.3, 0.5),
        mask_var="variable", solver_options={"n_starts": 1},
    )  # fmt: skip
    es.tl.gloss(adata, "type", 3)
    es.tl.sparse_lda_path(adata, "type", ks=(1, 2))
    es.tl.sparse_pca(adata, 2, n_features_to_select=(3, 2))
    es.tl.qalpha(adata, 4, n_clusters=2, n_permutations=2)
    es.tl.certify(adata, "type", ["gene0", "gene9"])
    es.tl.predict(adata)
    return adata


def through_h5ad(adata: Any, folder: Any) -> Any:
    adata.write_h5ad(folder / "cells.h5ad")
    return anndata.read_h5ad(folder / "cells.h5ad")


def through_zarr(adata: Any, folder: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # anndata's own, about the versions of zarr
        adata.write_zarr(folder / "cells.zarr")
        return anndata.read_zarr(folder / "cells.zarr")


def assert_same(found: Any, given: Any) -> None:
    if isinstance(given, Mapping):
        assert set(found) == set(given)
        for name in given:
            assert_same(found[name], given[name])
    elif isinstance(given, np.ndarray):
        np.testing.assert_array_equal(np.asarray(found, dtype=given.dtype), given)
    else:
        assert found == given
        assert type(found) is type(given)


@pytest.mark.parametrize("way", [through_h5ad, through_zarr])
def test_everything_comes_back(full, tmp_path, way) -> None:
    again = way(full, tmp_path)
    assert_same(dict(again.uns), dict(full.uns))
    for part in ("obsm", "varm"):
        for name, array in getattr(full, part).items():
            np.testing.assert_array_equal(getattr(again, part)[name], array)
    for name in full.var:
        np.testing.assert_array_equal(again.var[name], full.var[name])
    for name in ("sparse_lda", "gloss", "qalpha", "prediction"):
        assert again.obs[name].cat.categories.tolist() == full.obs[name].cat.categories.tolist()
        assert (again.obs[name].astype(str) == full.obs[name].astype(str)).all()
    # and works
    other = es.tl.predict(make_layered(), "sparse_lda", again, copy=True)
    assert (other.obs["prediction"].astype(str) == full.obs["sparse_lda"].astype(str)).all()
    es.tl.sparse_lda(again, "type", 2)
    assert again.var["sparse_lda"].sum() == 2


def make_layered() -> Any:
    """The same cells with other values in .X: the model must look into its layer."""
    adata = make_cells(p=15)
    adata.layers["counts"] = adata.X.copy()
    adata.X = np.zeros_like(adata.X)
    return adata


def test_what_params_say(full) -> None:
    params = full.uns["sparse_lda"]["params"]
    assert params["groupby"] == "type"
    assert params["layer"] == "counts"
    assert params["mask_var"] == "variable"
    assert params["class_weight"] == {"B": 2.0, "T": 1.0, "NK": 1.0}
    assert params["priors"].tolist() == [0.2, 0.3, 0.5]
    assert full.uns["sparse_pca"]["params"]["n_features_to_select"].tolist() == [3, 2]


def test_what_a_file_cannot_hold_becomes_text() -> None:
    given = {"none": None, "odd": {"CD4/CD8": 1.0}, "rng": np.random.default_rng, "n": np.int64(3)}
    found = plain(given)
    assert set(found) == {"odd", "rng", "n"}
    assert found["odd"] == "{'CD4/CD8': 1.0}"
    assert type(found["n"]) is int
    assert isinstance(found["rng"], str)


def test_a_file_cannot_make_us_delete_what_is_not_ours() -> None:
    adata = make_cells()
    adata.uns["sparse_lda"] = {"written": {"var": ["variable"], "obs": ["type"], "X": ["all"]}}
    es.tl.sparse_lda(adata, "type", 3)
    assert "variable" in adata.var
    assert "type" in adata.obs


# ------------------------------------------------------------------ prediction


def test_genes_are_found_by_name() -> None:
    old, new = make_cells(seed=0), make_cells(seed=1)
    es.tl.sparse_lda(old, "type", 5)
    needed = old.var_names[old.var["sparse_lda"]].tolist()
    names = np.array(old.var_names)
    few = new[:, [*needed[::-1], names[20]]].copy()
    es.tl.predict(few, "sparse_lda", old, key_added="guess")
    X, S = np.asarray(new.X, dtype=float), np.flatnonzero(old.var["sparse_lda"])
    lda = es.SparseLDA(5).fit(np.asarray(old.X, dtype=float), old.obs["type"].astype(str))
    assert lda.solution_.support.tolist() == S.tolist()
    assert (few.obs["guess"] == lda.predict(X)).all()
    np.testing.assert_allclose(
        few.obs["guess_probability"], lda.predict_proba(X).max(axis=1), atol=1e-6
    )
    np.testing.assert_allclose(few.obsm["X_guess"], lda.transform(X), atol=1e-6)
    assert few.obs["guess"].cat.categories.tolist() == ["NK", "T", "B"]
    assert set(few.var) == {"variable"}


def test_a_model_is_saved_and_used(tmp_path) -> None:
    from eigensieve.io.model import load_model, save_model

    old, new = make_cells(seed=0), make_cells(seed=1)
    es.tl.gloss(old, "type", 5, rule="lda")
    model = es.tl.get_model(old, "gloss")
    save_model(model, tmp_path / "model.json")
    first = es.tl.predict(new, load_model(tmp_path / "model.json"), copy=True)
    second = es.tl.predict(new, "gloss", old, copy=True)
    assert (first.obs["prediction"].astype(str) == second.obs["prediction"].astype(str)).all()
    assert model.info["target"] == "type"


@pytest.mark.filterwarnings("ignore:.*names are not unique")
def test_refusals_of_a_prediction() -> None:
    old, new = make_cells(), make_cells(seed=1)
    es.tl.sparse_lda(old, "type", 3, mask_var=np.arange(30) < 9)
    es.tl.sparse_pca(old, 1, n_features_to_select=2)
    lower = new.copy()
    lower.var_names = lower.var_names.str.upper()
    twice = new.copy()
    twice.var_names = ["gene0", "gene1", "gene2", "gene3", "gene4", "gene5"] * 5
    for call, said in (
        (lambda: es.tl.predict(new), "is no result of eigensieve; there is none; run"),
        (lambda: es.tl.predict(new, "sparse_pca", old), "which is no classifier"),
        (lambda: es.tl.predict(new, 3, old), "type int"),
        (lambda: es.tl.predict(lower, reference=old), r"3 of 3 names not found.*close: 'GENE"),
        (lambda: es.tl.predict(twice, reference=old), "more than once"),
        (lambda: es.tl.predict(new, reference=old, layer="logs"), "no layer is called 'logs'"),
    ):
        with pytest.raises(InputError, match=said):
            call()
    es.tl.sparse_lda(old, "type", 3, layer=None)
    new.layers["zeros"] = np.zeros_like(new.X)
    es.tl.predict(new, reference=old, layer="zeros")
    assert new.obs["prediction"].nunique() == 1


def test_raw_is_used_again() -> None:
    old, new = make_cells(), make_cells(seed=1)
    for adata in (old, new):
        adata.raw = adata.copy()
    es.tl.sparse_lda(old, "type", 4, use_raw=True)
    es.tl.predict(new, reference=old)
    blank = new.copy()
    blank.X = np.zeros_like(blank.X)
    es.tl.predict(blank, reference=old)
    np.testing.assert_array_equal(blank.obsm["X_prediction"], new.obsm["X_prediction"])
    es.tl.predict(blank, reference=old, layer="X")
    assert blank.obs["prediction"].nunique() == 1
    blank.raw = None
    with pytest.raises(InputError, match=r"no \.raw"):
        es.tl.predict(blank, reference=old)
