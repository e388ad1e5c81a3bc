"""es.tl.near_optimal writes what enumeration finds; es.pl.near_optimal draws it."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from tests.annotated.cells import anndata, backed, make_cells, separation

WITHIN = 0.1


def enumerated(adata: Any, genes: np.ndarray, k: int) -> list[set[str]]:
    """Every near set of genes, by trace of B^-1 A, best first."""
    labels = adata.obs["type"].astype(str).to_numpy()
    _, _, A, B = separation(adata.X[:, genes], labels, 0.5)
    scores = {
        S: float(np.trace(np.linalg.solve(B[np.ix_(S, S)], A[np.ix_(S, S)])))
        for S in combinations(range(genes.size), k)
    }
    near = [S for S in scores if scores[S] >= (1 - WITHIN) * max(scores.values())]
    names = adata.var_names[genes]
    return [{names[j] for j in S} for S in sorted(near, key=scores.get, reverse=True)]


@pytest.fixture
def adata() -> Any:
    return make_cells(p=16)


@pytest.mark.parametrize("on_disk", [False, True])
def test_what_is_written(adata, tmp_path, on_disk) -> None:
    expected = enumerated(adata, np.arange(8), 4)
    assert len(expected) > 2
    if on_disk:
        adata = backed(adata, tmp_path)
    options = {"shrinkage": 0.5, "criterion": "trace", "mask_var": "variable"}
    found = es.tl.near_optimal(adata, "type", 4, within=WITHIN, **options)
    assert [{found.name_of(j) for j in S} for S in found.sets.tolist()] == expected
    run = adata.uns["near_optimal"]
    assert [set(run["names"][S]) for S in run["sets"]] == expected
    share = adata.var["near_optimal"]
    for gene in adata.var_names:
        assert share[gene] == pytest.approx(np.mean([gene in S for S in expected]))
        assert adata.var["near_optimal_core"][gene] == all(gene in S for S in expected)
        is_rival = bool(adata.var["variable"][gene])
        is_never = is_rival and not any(gene in S for S in expected)
        assert adata.var["near_optimal_never"][gene] == is_never
    assert run["n_sets"] == len(expected)
    assert run["is_complete"]
    assert run["names"].tolist() == sorted(run["names"], key=lambda g: (-share[g], int(g[4:])))
    np.testing.assert_array_equal(run["losses"], found.losses)


def test_through_a_file(adata, tmp_path) -> None:
    found = es.tl.near_optimal(adata, "type", 3, within=WITHIN, shrinkage=0.5, effort=1)
    adata.write_h5ad(tmp_path / "a.h5ad")
    again = anndata.read_h5ad(tmp_path / "a.h5ad")
    display = es.pl.near_optimal(again[:, ::-1].copy(), show=False)
    drawn = {tuple(map(int, place)) for place in display.dots_.get_offsets()}
    expected = {
        (display.names.index(found.name_of(j)), i)
        for i, members in enumerate(found.sets.tolist())
        for j in members
    }
    assert drawn == expected
    assert adata.uns["near_optimal"]["params"]["effort"] == 1


def test_constraints_by_name(adata) -> None:
    asked = {"include": ["gene9"], "exclude": ["gene0", "gene3"]}
    found = es.tl.near_optimal(adata, "type", 3, within=0.2, key_added="panels", **asked)
    names = [{found.name_of(j) for j in S} for S in found.sets.tolist()]
    assert all("gene9" in S and not S & {"gene0", "gene3"} for S in names)
    assert adata.var["panels_core"]["gene9"]
    with pytest.raises(InputError, match="not found"):
        es.tl.near_optimal(adata, "type", 3, include=["gene99"])
    with pytest.raises(OptionError, match="no option 'shrink'"):
        es.tl.near_optimal(adata, "type", 3, shrink=0.5)


def test_another_result_is_no_list(adata) -> None:
    es.tl.sparse_lda(adata, "type", 3)
    with pytest.raises(InputError, match="is no list of sets; run"):
        es.pl.near_optimal(adata, "sparse_lda")
