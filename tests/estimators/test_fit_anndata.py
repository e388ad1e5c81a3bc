"""An estimator that is given an AnnData says what to do, or does it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import InputError

CLASSIFIERS = [
    es.SparseLDA,
    es.GroupLassoLDA,
    es.PenalizedLDA,
    es.SparseUncorrelatedLDA,
    es.UncorrelatedLDA,
]
IN_MEMORY = [es.GroupLassoLDACV, es.SparseOptimalScoring, es.RankedLDA]


@pytest.fixture(scope="module")
def adata() -> Any:
    anndata = pytest.importorskip("anndata")
    X = np.random.default_rng(0).poisson(1.0, size=(40, 9)).astype(np.float32)
    X[:20, :2] += 4
    adata = anndata.AnnData(sparse.csr_matrix(X))
    adata.obs["cell_type"] = np.repeat(["B", "T"], 20)
    return adata


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("labels", [(), (None,), ("cell_type",)])
def test_without_labels(adata, kind, labels) -> None:
    said = (
        r"fit\(adata.X, adata.obs\['cell_type'\]\), or call "
        r"eigensieve.tl.sparse_lda\(adata, groupby='cell_type'\)"
    )
    with pytest.raises(InputError, match=said):
        kind().fit(adata, *labels)


@pytest.mark.parametrize("kind", IN_MEMORY, ids=lambda kind: kind.__name__)
def test_where_the_matrix_must_be_in_memory(adata, kind) -> None:
    with pytest.raises(InputError, match=r"an AnnData object; .* give X\.X"):
        kind().fit(adata, adata.obs["cell_type"])


@pytest.mark.parametrize("kind", [*CLASSIFIERS, *IN_MEMORY], ids=lambda kind: kind.__name__)
def test_other_tables_without_labels(kind) -> None:
    with pytest.raises(InputError, match="requires y to be passed") as caught:
        kind().fit(np.eye(5))
    assert "AnnData" not in str(caught.value)


def test_partial_fit_and_qalpha(adata) -> None:
    with pytest.raises(InputError, match=r"eigensieve\.tl"):
        es.SparseLDA(2).partial_fit(adata, None)
    with pytest.raises(InputError, match=r"eigensieve\.tl"):
        es.QAlphaSelector(2, variant="supervised").fit(adata)


def test_with_labels_it_is_the_matrix(adata) -> None:
    whole = es.SparseLDA(2).fit(adata, adata.obs["cell_type"])
    matrix = es.SparseLDA(2).fit(adata.X, adata.obs["cell_type"])
    assert whole.selected_features_.tolist() == ["0", "1"]
    np.testing.assert_allclose(whole.coef_, matrix.coef_, rtol=1e-6)
    assert (whole.predict(adata) == matrix.predict(adata.X)).all()
