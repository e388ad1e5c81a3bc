"""SparsePCA proves every component by default: the best set of what the earlier ones leave."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import eigensieve as es
from eigensieve.search import auto
from eigensieve.search.deflation import DEFLATIONS
from eigensieve.search.exact.dominance import dominance


def make_data(n: int, p: int, seed: int) -> np.ndarray:
    """Three groups of columns, and noise; variances differ."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) * rng.uniform(0.5, 1.5, p)
    for columns in np.array_split(rng.permutation(p)[: p // 2], 3):
        X[:, columns] += 2 * rng.normal(size=(n, 1))
    return X - X.mean(axis=0)


def largest(S: np.ndarray, k: int) -> float:
    """The largest leading eigenvalue of k rows and columns, of all there are."""
    sets = np.array(list(itertools.combinations(range(len(S)), k)))
    return float(np.linalg.eigvalsh(S[sets[:, :, None], sets[:, None, :]])[:, -1].max())


def deflated(S: np.ndarray, earlier: list[np.ndarray], method: str) -> np.ndarray:
    """S without the last direction, by the formulas of Mackey (2008)."""
    x, eye = earlier[-1], np.eye(len(S))
    if method == "projection":
        return (eye - np.outer(x, x)) @ S @ (eye - np.outer(x, x))
    if method == "schur":
        return S - S @ np.outer(x, x) @ S / (x @ S @ x)
    if method == "orthogonalized-hotelling" and len(earlier) > 1:
        Q = np.linalg.qr(np.array(earlier[:-1]).T)[0]
        x = x - Q @ (Q.T @ x)
        x = x / np.linalg.norm(x)
    return S - (x @ S @ x) * np.outer(x, x)


def check(X: np.ndarray, pca: es.SparsePCA, k: int) -> None:
    """Every component's set is proved, and is the best one by brute force."""
    S, earlier = X.T @ X / len(X), []
    for x, found in zip(pca.components_, pca.solutions_):
        best = largest(S, k)
        assert found.is_certified
        assert found.objective == pytest.approx(best, rel=1e-6)
        assert best <= found.bound * (1 + 1e-12)
        earlier.append(x)
        S = deflated(S, earlier, pca.deflation)


@pytest.mark.parametrize("deflation", DEFLATIONS)
@pytest.mark.parametrize("n", [6, 40])
def test_every_component_is_the_best_of_what_is_left(deflation: str, n: int) -> None:
    for seed in range(6):
        X = make_data(n, 9, seed)
        pca = es.SparsePCA(3, n_features_to_select=3, deflation=deflation).fit(X)
        check(X, pca, 3)


@pytest.mark.parametrize("deflation", DEFLATIONS)
@pytest.mark.parametrize("n", [15, 40])
def test_features_that_are_screened_first(
    deflation: str, n: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What tables of more than 300 features go through, on some that brute force can do."""
    monkeypatch.setattr(auto, "MIN_SCREENED", 1)
    monkeypatch.setattr(dominance, "SMALL", 1)
    for seed in range(4):
        X = make_data(n, 20, seed)
        pca = es.SparsePCA(3, n_features_to_select=4, deflation=deflation).fit(X)
        check(X, pca, 4)


def test_more_samples_than_features() -> None:
    X = make_data(300, 60, 1)
    check(X, es.SparsePCA(3, n_features_to_select=3).fit(X), 3)


def test_an_effort_that_is_not_enough_leaves_a_true_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auto, "MIN_SCREENED", 1)
    monkeypatch.setattr(auto, "SMALL", 0)
    X = np.random.default_rng(0).normal(size=(25, 20))
    X -= X.mean(axis=0)
    pca = es.SparsePCA(2, n_features_to_select=4, effort=1e-9).fit(X)
    first = pca.solutions_[0]
    assert largest(X.T @ X / 25, 4) <= first.bound < np.inf


def test_more_features_than_are_decomposed() -> None:
    """Eigenvalues of 1,600 features would take seconds: the rows prove it without them."""
    X = make_data(2000, 1600, 2)
    pca = es.SparsePCA(2, n_features_to_select=5).fit(X / X.std(axis=0))
    assert all(found.is_certified for found in pca.solutions_)
    assert all(found.bound <= 5 * (1 + 1e-8) for found in pca.solutions_)


def test_genes(load_data: Callable) -> None:
    X = load_data("colon")[0]
    pca = es.SparsePCA(3, n_features_to_select=10).fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert [found.is_certified for found in pca.solutions_] == [True] * 3
    assert all(found.bound < 10 for found in pca.solutions_)
