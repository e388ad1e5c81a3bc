"""es.tl.sparse_pca, sparse_cca, qalpha and certify against plain numpy."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import linalg, sparse

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.annotated.cells import anndata, backed, make_cells, separation


def test_sparse_pca_scores_and_variances(tmp_path) -> None:
    X = np.asarray(make_cells(p=20).X, dtype=float)
    # the first of four genes is the best there is, or close to it
    C = np.cov(X[:, :10].T, bias=True)
    best = max(linalg.eigvalsh(C[np.ix_(S, S)])[-1] for S in combinations(range(10), 4))
    for adata in (make_cells(p=20, form=sparse.csr_matrix), backed(make_cells(p=20), tmp_path)):
        es.tl.sparse_pca(adata, 2, n_features_to_select=4, mask_var="variable")
        V, found = adata.varm["sparse_pca"], adata.uns["sparse_pca"]
        assert np.count_nonzero(V, axis=0).tolist() == [4, 4]
        assert not V[10:].any()
        np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1.0)
        scores = (X - X.mean(axis=0)) @ V
        np.testing.assert_allclose(adata.obsm["X_sparse_pca"], scores, atol=1e-5)
        np.testing.assert_allclose(found["variance"], scores.var(axis=0, ddof=1), rtol=1e-5)
        assert adata.var["sparse_pca"].tolist() == V.any(axis=1).tolist()
        assert (found["bound"] >= found["objective"]).all()
        assert found["objective"][0] <= best * (1 + 1e-6)
        assert found["bound"][0] >= best * (1 - 1e-6)


def test_sparse_cca_of_two_modalities() -> None:
    rng = np.random.default_rng(0)
    program = rng.normal(size=(80, 1))
    X, Y = rng.normal(size=(80, 20)), rng.normal(size=(80, 10))
    X[:, :3] += 2 * program
    Y[:, 5:7] += 2 * program
    rna, protein = anndata.AnnData(sparse.csr_matrix(X)), anndata.AnnData(Y)
    pair = es.tl.sparse_cca(rna, protein, n_features_to_select=(3, 2), copy=True)
    assert "sparse_cca" not in rna.var
    es.tl.sparse_cca(rna, protein, n_features_to_select=(3, 2))
    np.testing.assert_array_equal(pair[0].varm["sparse_cca"], rna.varm["sparse_cca"])
    assert np.flatnonzero(rna.var["sparse_cca"]).tolist() == [0, 1, 2]
    assert np.flatnonzero(protein.var["sparse_cca"]).tolist() == [5, 6]
    first, second = rna.obsm["X_sparse_cca"], protein.obsm["X_sparse_cca"]
    r = np.corrcoef(first[:, 0], second[:, 0])[0, 1]
    assert rna.uns["sparse_cca"]["correlations"][0] == pytest.approx(r)
    np.testing.assert_allclose(second, (Y - Y.mean(axis=0)) @ protein.varm["sparse_cca"], atol=1e-8)
    with pytest.raises(InputError, match="align them first"):
        es.tl.sparse_cca(rna, protein[::-1].copy())


def test_qalpha_weights_are_at_rest() -> None:
    adata = make_cells(form=sparse.csr_matrix, dtype=np.float64)
    es.tl.qalpha(adata, "auto", n_clusters=3, n_permutations=3, tol=1e-6, n_init=1, max_iter=5000)
    alpha, Q = adata.var["qalpha_alpha"].to_numpy(), adata.obsm["X_qalpha"]
    M = adata.X.toarray().T
    M = M - M.mean(axis=1, keepdims=True)
    M /= np.linalg.norm(M, axis=1, keepdims=True)
    G = (M @ M.T) * (M @ Q @ Q.T @ M.T)  # alpha is its leading eigenvector
    vector = linalg.eigh(G)[1][:, -1]
    np.testing.assert_allclose(alpha, vector * np.sign(vector.sum()), atol=1e-3)
    assert np.flatnonzero(adata.var["qalpha"]).tolist() == [0, 1, 2, 3, 4, 5]
    found = adata.uns["qalpha"]
    assert found["names"].tolist() == adata.var_names[np.argsort(-alpha)[:6]].tolist()
    assert len(found["null"]["median"]) == 30
    assert adata.var["qalpha_p_value"][:6].max() == pytest.approx(1 / (1 + 3 * 30))
    # clusters are the types, under other names
    pairs = set(zip(adata.obs["type"].astype(str), adata.obs["qalpha"].astype(str)))
    assert len(pairs) == 3


def test_qalpha_with_groups_with_a_mask_and_on_disk(tmp_path) -> None:
    adata = make_cells()
    adata.obs.loc["cell0", "type"] = np.nan
    es.tl.qalpha(adata, 4, groupby="type", mask_var="variable")
    assert adata.uns["qalpha"]["params"]["variant"] == "supervised"
    assert np.isnan(adata.var["qalpha_alpha"][15:]).all()
    assert np.isfinite(adata.var["qalpha_alpha"][:15]).all()
    assert "qalpha" not in adata.obs
    assert "X_qalpha" not in adata.obsm
    first = make_cells()
    second = backed(make_cells(), tmp_path)
    for each in (first, second):
        es.tl.qalpha(each, 1, n_clusters=3, mask_var="variable")  # fewer genes than clusters
    np.testing.assert_allclose(
        first.var["qalpha_alpha"][:15], second.var["qalpha_alpha"][:15], atol=1e-3
    )
    assert first.obs["qalpha"].nunique() <= 2


def test_certify_judges_any_list(tmp_path) -> None:
    adata = make_cells(p=9)
    X, labels = np.asarray(adata.X, dtype=float), adata.obs["type"].to_numpy().astype(str)
    for each in (adata, backed(make_cells(p=9), tmp_path)):
        found = es.tl.certify(each, "type", ["gene7", "gene0", "gene0"], shrinkage=0.5)
        _, _, A, B = separation(X, labels, 0.5)

        def score(S, A=A, B=B) -> float:
            S = list(S)
            values = linalg.eigh(A[np.ix_(S, S)], B[np.ix_(S, S)], eigvals_only=True)
            return float(np.log1p(np.maximum(values, 0)).sum())

        best = max(combinations(range(9), 2), key=score)
        kept = each.uns["certificate"]
        assert kept["objective"] == pytest.approx(score((0, 7)))
        assert kept["bound"] == pytest.approx(score(best), rel=1e-5)
        assert kept["better_names"].tolist() == [f"gene{j}" for j in best]
        assert kept["better_objective"] == pytest.approx(score(best))
        assert found.gap == kept["gap"] > 0
        assert "scores" in kept["sentence"]
    es.tl.sparse_lda(adata, "type", 2, solver="exact", shrinkage=0.5)
    proved = es.tl.certify(adata, "type", "sparse_lda", shrinkage=0.5)
    assert proved.is_certified
    assert "better_names" not in adata.uns["certificate"]


@pytest.mark.parametrize(
    ("genes", "said"),
    [
        (["gene0", "GENE1"], "1 of 2 names not found: 'GENE1' .close: 'gene1'"),
        ("markers", "no such column"),
        ("score", "holds float64"),
        ([], "names no gene"),
        ([0], "names of genes"),
        ("empty", "names no gene"),
    ],
)
def test_certify_refuses(genes, said) -> None:
    adata = make_cells(p=9)
    adata.var["score"], adata.var["empty"] = 1.0, False
    with pytest.raises(InputError, match=said):
        es.tl.certify(adata, "type", genes)


@pytest.mark.parametrize(
    ("tool", "args"),
    [
        ("sparse_lda", ("type",)),
        ("sparse_lda_path", ("type",)),
        ("gloss", ("type",)),
        ("sparse_pca", ()),
        ("qalpha", ()),
    ],
)
def test_options_that_there_are_not(tool: str, args: tuple[str, ...]) -> None:
    adata = make_cells()
    run = getattr(es.tl, tool)
    with pytest.raises(OptionError, match=r"no option 'k'; .* is n_features_to_select"):
        run(adata, *args, k=3)
    with pytest.raises(OptionError, match=r"no option 'solvr'; (close|there are)"):
        run(adata, *args, solvr="exact")
    assert not adata.uns
    with pytest.raises(OptionError, match="SparseCCA has no option 'k'"):
        es.tl.sparse_cca(adata, make_cells(seed=1), k=3)
