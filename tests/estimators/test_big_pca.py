"""SparsePCA on tables that are not arrays: what tests/contracts/test_tables.py has not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.tables.kinds import big_table as tables
from eigensieve.tables.operators import streamed_rows
from tests.big_tables import memmap


def make_data(n: int = 90, p: int = 12) -> np.ndarray:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(n, 2)) * [5.0, 3.0]
    X = scores @ rng.normal(size=(2, p)) * (rng.random(p) < 0.4) + rng.gamma(2.0, size=(n, p))
    return X + np.linspace(0, 50, p)


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (tables, streamed_rows):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 500)


@pytest.mark.parametrize("shape", [(90, 12), (20, 110)])
def test_other_solvers_on_sparse_tables(shape: tuple[int, int]) -> None:
    X = make_data(*shape)
    middle = np.median(X, axis=0)
    X *= middle < X
    for solver in ("threshold", "spca", "dc"):
        pca = es.SparsePCA(2, n_features_to_select=3, solver=solver, certificate="none")
        ours, plain = clone(pca).fit(sparse.csr_array(X)), clone(pca).fit(X)
        np.testing.assert_array_equal(ours.support_, plain.support_)
        np.testing.assert_allclose(ours.components_, plain.components_, atol=1e-8)


def test_a_large_offset(tmp_path: Path) -> None:
    X = np.round(make_data(), 3)
    exact = es.SparsePCA(2, n_features_to_select=3).fit(X)
    shifted = es.SparsePCA(2, n_features_to_select=3).fit(memmap(X + 1e6, tmp_path))
    np.testing.assert_array_equal(shifted.support_, exact.support_)
    np.testing.assert_allclose(shifted.explained_variance_, exact.explained_variance_, rtol=1e-8)


def test_refusals(tmp_path: Path) -> None:
    X = make_data()
    with pytest.raises(InputError, match="1 sample"):
        es.SparsePCA().fit(memmap(X[:1], tmp_path))
    pca = es.SparsePCA(n_features_to_select=3).fit(memmap(X, tmp_path))
    with pytest.raises(InputError, match="5 features"):
        pca.transform(memmap(X[:, :5], tmp_path))
    X[4, 4] = np.inf
    for table in (memmap(X, tmp_path), sparse.csr_array(X)):
        with pytest.raises(ValueError, match="infinity"):
            es.SparsePCA().fit(table)
