"""Estimators fitted on sparse tables: what tests/contracts/test_tables.py has not."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.estimators._rankers import RANKERS
from eigensieve.tables.operators import centred_rows
from tests.oracles.sparse_tables import FORMATS, at_most, separated_table

CLASSIFIERS: dict[str, Callable[[], Any]] = {
    "plda": lambda: es.PenalizedLDA(0.1),
    "sos": lambda: es.SparseOptimalScoring(5),
    **{f"ranked {name}": lambda name=name: es.RankedLDA(name, 4) for name in RANKERS},
}


@pytest.fixture(autouse=True)
def nothing_is_few(monkeypatch) -> None:
    """So that small tables take the way of large ones."""
    monkeypatch.setattr(centred_rows, "MAX_DENSE_ENTRIES", 0)


def quietly(model: Any, *data: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the number of features may be missed
        return model.fit(*data)


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_formats_and_types(kind, dtype) -> None:
    X, y = separated_table(45, 200, 0.08, seed=1)
    X = np.round(10 * X).astype(dtype)
    table = sparse.coo_matrix(X).asformat(kind)
    for make in (CLASSIFIERS["plda"], CLASSIFIERS["ranked pearson"]):
        found, dense = (quietly(make(), T, y) for T in (table, X))
        np.testing.assert_array_equal(found.get_support(), dense.get_support())
        np.testing.assert_allclose(
            found.decision_function(table), dense.decision_function(X), rtol=1e-8, atol=1e-8
        )


def test_an_offset_of_a_million() -> None:
    X, y = separated_table(45, 200, 0.08, seed=1)
    X[:, 30:33] = X[:, 7:10] + 1e6 * (X[:, 7:10] != 0)  # zeros stay: they are what varies
    X[:, 40:43] = 1e6 + X[:, 7:10]
    for name in ("plda", "ranked anova", "ranked snr", "sos"):
        found, dense = (quietly(CLASSIFIERS[name](), T, y) for T in (sparse.csr_array(X), X))
        np.testing.assert_array_equal(found.get_support(), dense.get_support())


@pytest.mark.parametrize("ranker", RANKERS)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_rankers_give_the_same_order(ranker, n_classes) -> None:
    X, y = separated_table(60, 40, 0.3, seed=5)
    X[:, 20], X[:, 21], X[:, 22] = 0.0, 3.0, X[:, 23]
    keep = y < n_classes
    X, y = X[keep], y[keep]
    expected = RANKERS[ranker](X, y, random_state=0)
    found = RANKERS[ranker](sparse.csr_array(X), y, random_state=0)
    # from somewhere on scores tie but for round-off
    assert found[:12].tolist() == expected[:12].tolist()
    assert sorted(found.tolist()) == list(range(40))
    assert set(found[-2:]) == {20, 21}


def test_a_ranker_of_the_user_gets_the_table_as_it_is() -> None:
    X, y = separated_table(45, 60, 0.1, seed=1)
    given = []

    def rank(table: Any, labels: np.ndarray) -> np.ndarray:
        given.append(table)
        return np.argsort(-np.asarray(abs(table).sum(axis=0)).ravel())

    es.RankedLDA(rank, 3).fit(sparse.csr_array(X), y)
    assert sparse.issparse(given[0])
    es.RankedLDA(es.QAlphaSelector(3), 3).fit(sparse.csr_array(X), y)


@pytest.mark.parametrize("name", ["plda", "sos", "ranked anova"])
def test_missing_values_are_refused(name) -> None:
    X, y = separated_table(45, 60, 0.1, seed=1)
    X[3, 7] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        CLASSIFIERS[name]().fit(sparse.csr_array(X), y)


def views(px: int, py: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X, Y = (separated_table(60, p, 0.1, seed=p)[0] for p in (px, py))
    shared = np.where(rng.random(60) < 0.5, rng.normal(size=60), 0.0)
    X[:, :3] += shared[:, None]
    Y[:, 12:14] -= shared[:, None]
    return X, Y


@pytest.mark.parametrize("sizes", [(30, 20), (400, 300)])
@pytest.mark.parametrize("which", [(True, True), (True, False), (False, True)])
def test_sparse_views(sizes, which) -> None:
    X, Y = views(*sizes)
    tables = [sparse.csr_matrix(V) if flag else V for V, flag in zip((X, Y), which)]
    make = partial(es.SparseCCA, 2, n_features_to_select=(3, 2))
    found, dense = make().fit(*tables), make().fit(X, Y)
    np.testing.assert_allclose(found.x_weights_, dense.x_weights_, atol=1e-7)
    np.testing.assert_allclose(found.y_weights_, dense.y_weights_, atol=1e-7)
    np.testing.assert_allclose(found.correlations_, dense.correlations_)
    np.testing.assert_allclose(found.shrinkage_, dense.shrinkage_)
    assert found.solution_.bound == pytest.approx(dense.solution_.bound)
    for one, two in zip(found.transform(*tables), dense.transform(X, Y)):
        np.testing.assert_allclose(one, two, atol=1e-7)
    assert found.score(X, Y) == pytest.approx(dense.score(*tables))
    if sizes == (30, 20):
        one, two = (make().permutation_test(*T, n_permutations=3) for T in (tables, (X, Y)))
        np.testing.assert_array_equal(one.p_values, two.p_values)


def test_bad_sparse_views() -> None:
    X, Y = views(30, 20)
    spoilt = sparse.csr_array(np.where(np.arange(20) == 3, np.nan, Y))
    with pytest.raises(ValueError, match="NaN"):
        es.SparseCCA().fit(sparse.csr_array(X), spoilt)
    with pytest.raises(InputError, match="60 rows and view 'Y' 50"):
        es.SparseCCA().fit(sparse.csr_array(X), sparse.csr_array(Y[:50]))
    cca = es.SparseCCA(n_features_to_select=2).fit(sparse.csr_array(X), sparse.csr_array(Y))
    with pytest.raises(InputError, match="19 features"):
        cca.score(sparse.csr_array(X), sparse.csr_array(Y[:, :19]))


def test_annotated_sparse_views_keep_their_names() -> None:
    X, Y = views(30, 20)
    tables = {
        name: SimpleNamespace(
            X=sparse.csr_matrix(V),
            var_names=pd.Index([f"{name} {j}" for j in range(V.shape[1])]),
            obs_names=pd.Index([f"sample {i}" for i in range(60)]),
        )
        for name, V in (("rna", X), ("protein", Y))
    }
    cca, plain = (es.SparseCCA(n_features_to_select=2) for _ in range(2))
    cca.set_output(transform="pandas").fit(tables)
    np.testing.assert_allclose(cca.x_weights_, plain.fit(X, Y).x_weights_, atol=1e-9)
    assert list(cca.feature_names_in_[:2]) == ["rna 0", "rna 1"]
    assert all(name.startswith("protein") for name in cca.selected_features_[1])
    scores = cca.transform(tables)
    assert scores["rna"].index.equals(tables["rna"].obs_names)
    tables["rna"].var_names = tables["rna"].var_names[::-1]
    with pytest.raises(InputError, match="column 0 is 'rna 29'"):
        cca.transform(tables)


@pytest.mark.parametrize("name", ["plda", "sos", "ranked anova", "ranked pearson", "ranked l1"])
def test_large_tables_stay_sparse(name) -> None:
    """As an array it would take 160 MB."""
    table, y = _large(400, 50_000)
    with at_most(70):
        quietly(CLASSIFIERS[name](), table, y).predict(table)


def test_large_views_stay_sparse() -> None:
    """The factor of their pencil would take 280 MB as an array."""
    table, _ = _large(500, 20_000)
    with at_most(150):
        es.SparseCCA(n_features_to_select=2, certificate="none").fit(table, table[:, :15_000])


def _large(n: int, p: int) -> tuple[Any, np.ndarray]:
    y = np.arange(n) % 2
    table = sparse.random_array((n, p), density=0.001, rng=np.random.default_rng(0), format="lil")
    table[:, 5] = (y + np.random.default_rng(1).random(n))[:, None]
    table[:, 6] = (y - np.random.default_rng(2).random(n))[:, None]
    return sparse.csr_array(table), y
