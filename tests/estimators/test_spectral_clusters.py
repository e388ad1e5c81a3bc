"""`spectral_clusters`: planted clusters, against eigenvectors by hand, at all sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from eigensieve import QAlphaSelector, spectral_clusters
from eigensieve.datasets.wolf2005 import clusters_in_noise
from eigensieve.errors import InputError
from eigensieve.q_alpha import relevance
from tests.oracles.qalpha import normalize_rows


def planted(k: int, n: int = 60, p: int = 12, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    return 4.0 * rng.normal(size=(k, p))[y] + 0.5 * rng.normal(size=(n, p)), y


def in_order(y: np.ndarray) -> np.ndarray:
    """Labels numbered as they appear, by hand."""
    seen: list[Any] = []
    for label in y.tolist():
        if label not in seen:
            seen.append(label)
    return np.array([seen.index(label) for label in y.tolist()])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("k", [2, 3, 5])
def test_planted_clusters_are_found(k: int, seed: int) -> None:
    X, y = planted(k, seed=seed)
    labels = spectral_clusters(X, k)
    assert adjusted_rand_score(y, labels) == 1
    np.testing.assert_array_equal(labels, in_order(y))


def by_hand(
    X: np.ndarray, k: int, center: bool = True, scale: bool = True, n_init: int = 10
) -> np.ndarray:
    M = normalize_rows(X.T, center=center, scale=scale)
    Q = np.linalg.eigh(M.T @ M)[1][:, : -k - 1 : -1]
    return KMeans(k, n_init=n_init, random_state=0).fit_predict(Q)  # other seeds end elsewhere


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{}, {"center": False}, {"scale": False}])
def test_eigenvectors_by_hand(options: dict, seed: int) -> None:
    """Clusters that overlap: some samples are on the wrong side, the same ones in both."""
    rng = np.random.default_rng(seed)
    X, y = planted(3, seed=seed)
    X = X + 4.0 * rng.normal(size=X.shape)
    labels = spectral_clusters(X, 3, **options)
    assert adjusted_rand_score(y, labels) < 1
    np.testing.assert_array_equal(labels, in_order(by_hand(X, 3, **options)))


def test_scaling_is_an_option() -> None:
    """Two columns are large and tell nothing; weights are kept where nothing is scaled."""
    X, y = planted(2)
    noise = 1e4 * np.random.default_rng(1).normal(size=(60, 2))
    wide = np.hstack([X, noise])
    assert adjusted_rand_score(y, spectral_clusters(wide)) == 1
    assert adjusted_rand_score(y, spectral_clusters(wide, scale=False)) < 0.2
    weighted = wide * np.where(np.arange(14) < 12, 1.0, 1e-9)
    labels = spectral_clusters(weighted, center=True, scale=False)
    assert adjusted_rand_score(y, labels) == 1


@pytest.mark.parametrize("k", [2, 4])
def test_tables_of_all_kinds_give_the_same(k: int) -> None:
    X, _ = planted(k)
    X = np.round(np.maximum(X, 0))
    labels = spectral_clusters(X, k)
    kinds = [sparse.csr_array, sparse.csc_matrix, pd.DataFrame, np.float32, np.int64]
    for kind in kinds:
        table = X.astype(kind) if kind in (np.float32, np.int64) else kind(X)
        np.testing.assert_array_equal(spectral_clusters(table, k), labels)
    assert labels.dtype.kind == "i"


@pytest.mark.parametrize("k", [2, 3])
def test_many_samples(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than a thousand: the affinity is not formed, and the clusters are the same."""
    X, y = planted(k, n=1010, p=8)
    X = X + 4.0 * np.random.default_rng(0).normal(size=X.shape)
    assert relevance.DENSE_SAMPLES < 1010
    labels = spectral_clusters(X, k, n_init=2)
    np.testing.assert_array_equal(spectral_clusters(sparse.csr_array(X), k, n_init=2), labels)
    monkeypatch.setattr(relevance, "DENSE_SAMPLES", 2000)
    np.testing.assert_array_equal(spectral_clusters(X, k, n_init=2), labels)
    np.testing.assert_array_equal(labels, in_order(by_hand(X, k, n_init=2)))
    assert 0.3 < adjusted_rand_score(y, labels) < 1


def test_selection_is_better_than_all_features() -> None:
    """Figure 3(b) of the paper: clusters in 5 of 125 features."""
    selected, everything, weighted = [], [], []
    for seed in range(10):
        X, y, _ = clusters_in_noise(3, np.random.default_rng(seed))
        selector = QAlphaSelector(n_clusters=3, n_init=2).fit(X)
        selected.append(adjusted_rand_score(y, spectral_clusters(selector.transform(X), 3)))
        everything.append(adjusted_rand_score(y, spectral_clusters(X, 3)))
        M = normalize_rows(X.T).T * selector.alpha_
        weighted.append(adjusted_rand_score(y, spectral_clusters(M, 3, center=False, scale=False)))
    assert np.mean(selected) > np.mean(everything) + 0.2
    assert np.mean(weighted) > np.mean(everything) + 0.2


def test_as_many_clusters_as_samples() -> None:
    X, _ = planted(2, n=4)
    np.testing.assert_array_equal(spectral_clusters(X, 4), np.arange(4))
    np.testing.assert_array_equal(spectral_clusters(X, 1), np.zeros(4))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"n_clusters": 61}, "n_clusters is 61, but there are only 60 samples"),
        ({"n_clusters": 0}, "n_clusters is 0; it must be a whole number, at least 1"),
        ({"n_clusters": True}, "n_clusters is True"),
        ({"n_clusters": 2.5}, "n_clusters is 2.5"),
        ({"center": "no"}, "center is 'no'"),
        ({"scale": "no"}, "scale is 'no'"),
        ({"n_init": 0}, "n_init"),
        ({"random_state": "x"}, "random_state|seed"),
    ],
)
def test_wrong_options(change: dict, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        spectral_clusters(planted(2)[0], **change)


@pytest.mark.parametrize(
    ("X", "says"),
    [
        ([[1.0, np.nan], [2.0, 3.0]], "NaN"),
        ([[1.0, np.inf], [2.0, 3.0]], "infinity"),
        ([1.0, 2.0], "1D array"),
        (np.empty((3, 0)), "0 feature"),
        ([["a", "b"], ["c", "d"]], "could not convert"),
        (np.ones((3, 2), dtype=complex), "Complex"),
    ],
)
def test_wrong_tables(X: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        spectral_clusters(X)


def test_constant_tables() -> None:
    with pytest.raises(InputError, match="every feature is constant"):
        spectral_clusters(np.ones((5, 3)))
