"""SparsePCA on tables of every kind is SparsePCA on the array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.tables.kinds import big_table as tables
from eigensieve.tables.operators import streamed_rows
from tests.big_tables import MAKERS, dask_rows, memmap


def make_data(n: int = 90, p: int = 12) -> np.ndarray:
    rng = np.random.default_rng(5)
    scores = rng.normal(size=(n, 2)) * [5.0, 3.0]
    X = scores @ rng.normal(size=(2, p)) * (rng.random(p) < 0.4) + rng.gamma(2.0, size=(n, p))
    return X + np.linspace(0, 50, p)


@pytest.fixture(autouse=True)
def many_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (tables, streamed_rows):
        monkeypatch.setattr(module, "BLOCK_ENTRIES", 500)


def assert_same(ours: es.SparsePCA, table: Any, plain: es.SparsePCA, X: np.ndarray) -> None:
    assert ours.n_samples_ == plain.n_samples_
    for mine, own in zip(ours.solutions_, plain.solutions_, strict=True):
        np.testing.assert_array_equal(mine.support, own.support)
        assert mine.objective == pytest.approx(own.objective, rel=1e-8)
    names = ["components_", "mean_"]
    for kind in ("explained", "adjusted", "subspace"):
        names += [f"{kind}_variance_", f"{kind}_variance_ratio_"]
    for name in names:
        np.testing.assert_allclose(
            getattr(ours, name), getattr(plain, name), rtol=1e-8, atol=1e-8, err_msg=name
        )
    np.testing.assert_allclose(ours.transform(table), plain.transform(X), rtol=1e-8, atol=1e-7)


OPTIONS: list[dict[str, Any]] = [
    {},
    {"deflation": "schur"},
    {"deflation": "hotelling", "n_features_to_select": (4, 2)},
    {"deflation": "orthogonalized-hotelling", "certificate": "none"},
]


@pytest.mark.parametrize("shape", [(90, 12), (20, 110)])
@pytest.mark.parametrize(
    ("kind", "options"), [*((kind, {}) for kind in MAKERS), *(("memmap", o) for o in OPTIONS[1:])]
)
def test_tables_in_blocks(kind: str, shape: Any, options: dict[str, Any], tmp_path: Path) -> None:
    X = make_data(*shape)
    table = MAKERS[kind](X, tmp_path)
    pca = es.SparsePCA(2, **{"n_features_to_select": 3, **options})
    assert_same(clone(pca).fit(table), table, clone(pca).fit(X), X)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shape", [(90, 12), (20, 110)])
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_tables(make, shape: Any, options: dict[str, Any]) -> None:
    X = make_data(*shape)
    middle = np.median(X, axis=0)
    X *= middle < X
    pca = es.SparsePCA(2, **{"n_features_to_select": 3, **options})
    assert_same(clone(pca).fit(make(X)), make(X), clone(pca).fit(X), X)


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


@pytest.mark.parametrize("shape", [(90, 12), (20, 110)])
def test_device_arrays_and_single_precision(shape: tuple[int, int], tmp_path: Path) -> None:
    X = make_data(*shape).astype(np.float32)
    pca = es.SparsePCA(2, n_features_to_select=3)
    plain = clone(pca).fit(X)
    torch = pytest.importorskip("torch")
    for table in (dask_rows(X, tmp_path), torch.asarray(X)):
        assert_same(clone(pca).fit(table), table, plain, X)


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
