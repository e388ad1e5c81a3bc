"""es.tl.sparse_lda, gloss and their path against plain numpy, on every kind of AnnData."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import linalg, sparse

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.annotated.cells import anndata, backed, make_cells, separation


def dense(adata) -> np.ndarray:
    X = adata.X.toarray() if sparse.issparse(adata.X) else adata.X
    return np.asarray(X, dtype=np.float64)


def test_the_set_is_the_best_of_all_and_the_rest_follows_from_it() -> None:
    adata = make_cells(p=9)
    es.tl.sparse_lda(adata, "type", 3, solver="exact")
    X, labels = dense(adata), adata.obs["type"].to_numpy().astype(str)
    found = adata.uns["sparse_lda"]
    means, shares, A, B = separation(X, labels, found["shrinkage"])

    def score(S) -> float:
        values = linalg.eigh(A[np.ix_(S, S)], B[np.ix_(S, S)], eigvals_only=True)
        return float(np.log1p(np.maximum(values, 0)).sum())

    best = max(combinations(range(9), 3), key=score)
    S = list(best)
    assert np.flatnonzero(adata.var["sparse_lda"]).tolist() == S
    assert found["objective"] == pytest.approx(score(S))
    assert found["status"] == "optimal"
    assert found["bound"] == pytest.approx(score(S), rel=1e-5)
    # loadings diagonalise both, and the projection is centred
    V = adata.varm["sparse_lda"]
    assert not np.delete(V, S, axis=0).any()
    np.testing.assert_allclose(V[S].T @ B[np.ix_(S, S)] @ V[S], np.eye(2), atol=1e-8)
    np.testing.assert_allclose(adata.obsm["X_sparse_lda"], (X - X.mean(axis=0)) @ V, atol=1e-8)
    # Gaussian classes with covariance B
    inverse = np.linalg.inv(B[np.ix_(S, S)])
    away = X[:, None, S] - means[None, :, S]
    logs = np.log(shares) - 0.5 * np.einsum("nki,ij,nkj->nk", away, inverse, away)
    chances = np.exp(logs - logs.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    assert (adata.obs["sparse_lda"] == np.unique(labels)[logs.argmax(axis=1)]).all()
    np.testing.assert_allclose(adata.obs["sparse_lda_probability"], chances.max(axis=1), atol=1e-8)
    share = found["variance_ratio"]
    weight = np.sqrt(np.square(V[S] * X[:, S].std(axis=0)[:, None]) @ share)
    np.testing.assert_allclose(adata.var["sparse_lda_weight"].iloc[S], weight, atol=1e-8)
    ranked = np.array(S)[np.argsort(-weight)]
    assert found["names"].tolist() == adata.var_names[ranked].tolist()


FORMS = {
    "dense": np.asarray,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "csr_array": sparse.csr_array,
}


@pytest.mark.parametrize("dtype", [np.float32, np.int64])
@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same(form, dtype, tmp_path) -> None:
    plain = make_cells(dtype=np.float64)
    es.tl.sparse_lda(plain, "type", 4)
    for adata in (
        make_cells(form=FORMS[form], dtype=dtype),
        backed(make_cells(form=FORMS[form], dtype=dtype), tmp_path),
    ):
        es.tl.sparse_lda(adata, "type", 4)
        assert (adata.var["sparse_lda"] == plain.var["sparse_lda"]).all()
        np.testing.assert_allclose(
            adata.obsm["X_sparse_lda"], plain.obsm["X_sparse_lda"], atol=1e-6
        )
        assert adata.obs["sparse_lda"].cat.categories.tolist() == ["NK", "T", "B"]


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("n", [20, 8])  # more cells than genes, and fewer
def test_masks_and_cells_without_a_group_on_disk(form, n, tmp_path) -> None:
    adata = make_cells(n, p=30, form=FORMS[form])
    adata.obs.loc[["cell3", "cell4", f"cell{2 * n}"], "type"] = np.nan
    part = adata[adata.obs["type"].notna(), adata.var["variable"]].copy()
    es.tl.sparse_lda(part, "type", 4)
    for each in (adata, backed(adata.copy(), tmp_path)):
        es.tl.sparse_lda(each, "type", 4, mask_var="variable")
        assert each.uns["sparse_lda"]["n_obs"] == 3 * n - 3
        assert each.uns["sparse_lda"]["n_vars"] == 15
        kept = each.var["variable"].to_numpy()
        assert not each.var["sparse_lda"][~kept].any()
        assert (each.var["sparse_lda"][kept] == part.var["sparse_lda"]).all()
        np.testing.assert_allclose(
            each.varm["sparse_lda"][kept], part.varm["sparse_lda"], atol=1e-6
        )
        assert not each.varm["sparse_lda"][~kept].any()
        # cells without a group are projected and predicted like the others
        assert each.obs["sparse_lda"].notna().all()
        assert np.isfinite(each.obsm["X_sparse_lda"]).all()


def test_a_mask_may_be_given_as_it_is() -> None:
    adata = make_cells()
    es.tl.sparse_lda(adata, "type", 2, mask_var=np.arange(30) >= 10)
    assert not adata.var["sparse_lda"][:10].any()
    assert adata.uns["sparse_lda"]["params"]["mask_var"] == "given"


def test_layer_and_raw() -> None:
    adata = make_cells()
    adata.layers["logs"] = np.log1p(adata.X)
    adata.raw = adata.copy()
    logs = adata.copy()
    logs.X = logs.layers["logs"]
    es.tl.sparse_lda(logs, "type", 4)
    es.tl.sparse_lda(adata, "type", 4, layer="logs")
    np.testing.assert_array_equal(adata.obsm["X_sparse_lda"], logs.obsm["X_sparse_lda"])
    assert adata.uns["sparse_lda"]["params"]["layer"] == "logs"
    whole = make_cells()
    es.tl.sparse_lda(whole, "type", 4)
    few = adata[:, 2:][:, ::-1].copy()  # .raw keeps all genes, in their order
    es.tl.sparse_lda(few, "type", 4, use_raw=True)
    np.testing.assert_array_equal(few.obsm["X_sparse_lda"], whole.obsm["X_sparse_lda"])
    assert few.uns["sparse_lda"]["names"].tolist() == whole.uns["sparse_lda"]["names"].tolist()
    chosen = set(whole.var_names[whole.var["sparse_lda"]])
    assert chosen & {"gene0", "gene1"}  # not in few.var: known in .uns only
    assert set(few.var_names[few.var["sparse_lda"]]) == chosen - {"gene0", "gene1"}
    np.testing.assert_array_equal(
        few.varm["sparse_lda"], whole[:, few.var_names].varm["sparse_lda"]
    )


def test_a_copy_leaves_the_original_alone() -> None:
    adata = make_cells()
    before = str(adata)
    other = es.tl.sparse_lda(adata, "type", 3, copy=True)
    assert str(adata) == before
    assert "sparse_lda" in other.var
    assert es.tl.sparse_lda(adata, "type", 3) is None
    np.testing.assert_array_equal(other.obsm["X_sparse_lda"], adata.obsm["X_sparse_lda"])


@pytest.mark.parametrize("form", ["dense", "csr"])
def test_a_view_becomes_its_own_and_the_parent_stays(form) -> None:
    adata = make_cells(form=FORMS[form])
    view = adata[adata.obs["type"] != "NK", 1:]
    es.tl.sparse_lda(view, "type", 2)
    assert not view.is_view
    assert view.uns["sparse_lda"]["classes"].tolist() == ["T", "B"]
    assert view.obsm["X_sparse_lda"].shape == (40, 1)
    assert "sparse_lda" not in adata.var
    assert not adata.uns


def test_a_second_run_leaves_nothing_of_the_first() -> None:
    adata = make_cells()
    adata.var["sparse_lda_own"] = 1.0
    es.tl.qalpha(adata, 3, n_clusters=2, n_permutations=2, key_added="sparse_lda")
    es.tl.sparse_lda(adata, "type", 3)
    assert set(adata.var) == {"variable", "sparse_lda", "sparse_lda_weight", "sparse_lda_own"}
    assert "null" not in adata.uns["sparse_lda"]


GROUPS = {
    "text": np.repeat(["b", "a"], 30),
    "numbers": np.repeat([10, 2], 30),
    "floats": np.where(np.arange(60) == 5, np.nan, np.repeat([10.0, 2.0], 30)),
    "booleans": np.repeat([True, False], 30),
    "number categories": pd.Categorical(np.repeat([10, 2], 30), categories=[10, 2]),
}
CLASSES = {
    "text": ["a", "b"],
    "numbers": ["2", "10"],
    "floats": ["2", "10"],
    "booleans": ["False", "True"],
    "number categories": ["10", "2"],
}


@pytest.mark.parametrize("kind", GROUPS)
def test_groups_of_every_kind(kind) -> None:
    adata = make_cells()
    adata.obs["own"] = GROUPS[kind]
    es.tl.sparse_lda(adata, "own", 2)
    assert adata.uns["sparse_lda"]["classes"].tolist() == CLASSES[kind]
    assert adata.obs["sparse_lda"].cat.categories.tolist() == CLASSES[kind]


def test_include_and_exclude_are_names() -> None:
    adata = make_cells()
    es.tl.sparse_lda(adata, "type", 3, include=["gene20"], exclude=["gene0", "gene1"])
    chosen = set(adata.uns["sparse_lda"]["names"])
    assert "gene20" in chosen
    assert not chosen & {"gene0", "gene1"}
    assert adata.uns["sparse_lda"]["params"]["include"].tolist() == ["gene20"]


def test_gloss_is_the_estimator_on_the_matrix() -> None:
    adata = make_cells(form=sparse.csr_matrix)
    es.tl.gloss(adata, "type", 5, weights="std")
    X, labels = dense(adata), adata.obs["type"].to_numpy().astype(str)
    found, lda = adata.uns["gloss"], es.GroupLassoLDA(5, weights="std").fit(X, labels)
    np.testing.assert_allclose(adata.varm["gloss"], lda.scalings_, atol=1e-6)
    np.testing.assert_allclose(adata.obsm["X_gloss"], lda.transform(X), atol=1e-6)
    assert (adata.obs["gloss"] == lda.predict(X)).all()
    assert found["bound"] <= found["objective"]
    with pytest.raises(OptionError, match="1-nn"):
        es.tl.gloss(adata, "type", rule="1-nn")


def test_the_path_is_made_of_single_fits() -> None:
    adata = make_cells(p=12)
    es.tl.sparse_lda_path(adata, "type", ks=(1, 3, 5, 99))
    found = adata.uns["sparse_lda_path"]
    assert found["ks"].tolist() == [1, 3, 5]
    for i, k in enumerate((1, 3, 5)):
        es.tl.sparse_lda(adata, "type", k)
        one = adata.uns["sparse_lda"]
        assert sorted(found["names"][f"k={k}"]) == sorted(one["names"])
        assert found["objective"][i] == pytest.approx(one["objective"])
        assert found["bound"][i] == pytest.approx(one["bound"])
        assert found["bound"][i] >= found["objective"][i]
    entry = adata.var["sparse_lda_path"]
    assert set(entry.index[entry == 1]) == set(found["names"]["k=1"])
    assert (entry == 0).sum() == 12 - len(set().union(*map(set, found["names"].values())))


def refused(adata: Any, **constraints) -> None:
    es.tl.sparse_lda(adata, **({"groupby": "type"} | constraints))


@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        ({"groupby": "typ"}, "'typ', but .obs has no such column; close: 'type'"),
        ({"groupby": None}, "must be the name of a column of .obs"),
        ({"groupby": "one"}, "has one group"),
        ({"groupby": "own"}, "every cell has a group of its own"),
        ({"groupby": "none"}, "has no group in 60 cells"),
        ({"groupby": "real"}, "holds numbers such as"),
        ({"layer": "count"}, "no layer is called 'count'; close: 'counts'"),
        ({"layer": "counts", "use_raw": True}, "take one of the two"),
        ({"use_raw": True}, "no .raw"),
        ({"mask_var": "varable"}, "close: 'variable'"),
        ({"mask_var": [True]}, r"mask \(bool\) of the 30 genes"),
        ({"mask_var": np.zeros(30, dtype=bool)}, "leaves no gene"),
        ({"include": ["GENE1"]}, "close: 'gene1'"),
        ({"include": [1]}, "names of genes"),
        ({"key_added": "a/b"}, "without a slash"),
        ({"key_added": "type"}, "would replace the groups"),
    ],
)
def test_refusals_say_what_to_do(constraints, said) -> None:
    adata = make_cells()
    adata.layers["counts"] = adata.X.copy()
    adata.obs["one"], adata.obs["own"] = "same", adata.obs_names
    adata.obs["none"], adata.obs["real"] = np.nan, np.linspace(0, 1, 60)
    before = str(adata)
    with pytest.raises(InputError, match=said):
        refused(adata, **constraints)
    assert str(adata) == before


@pytest.mark.filterwarnings("ignore:.*names are not unique")
def test_repeated_names_and_files(tmp_path) -> None:
    adata = make_cells()
    on_disk = backed(adata, tmp_path)
    for call, said in (
        (lambda: refused(on_disk, copy=True), "to_memory"),
        (lambda: refused(on_disk[:, :9]), "a view would copy"),
        (lambda: refused(anndata.AnnData(obs=adata.obs)), "has no .X"),
        (lambda: refused(adata.X), "type ndarray"),
    ):
        with pytest.raises(InputError, match=said):
            call()
    adata.var_names = ["twice", "twice", *adata.var_names[2:]]
    with pytest.raises(InputError, match="var_names_make_unique"):
        refused(adata)
    refused(adata, mask_var=np.arange(30) != 1)  # the name is no longer ambiguous
    assert adata.var["sparse_lda"].sum() == 10


def test_a_file_without_x(tmp_path) -> None:
    empty = backed(anndata.AnnData(obs=make_cells().obs), tmp_path)
    with pytest.raises(InputError, match=r"has no \.X"):
        refused(empty)
    with pytest.raises(InputError, match="without X was given"):
        es.SparseLDA(2).fit(empty, empty.obs["type"])
