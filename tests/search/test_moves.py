"""Renormalization, deflation and variance measures."""

import numpy as np
import pytest
from scipy.linalg import eigh

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.search.deflation import DEFLATIONS, deflate, explained_variances
from eigensieve.search.secular import best_addition, best_deletion


def test_renormalize_is_the_best_on_the_support() -> None:
    rng = np.random.default_rng(0)
    pencil = es.lda_pencil(rng.normal(size=(30, 8)), np.arange(30) % 3, shrinkage=0.2)
    x = np.zeros(8)
    x[[1, 4, 6]] = rng.normal(size=3)
    better = es.renormalize(pencil, x)
    assert np.flatnonzero(better).tolist() == [1, 4, 6]
    small = pencil.restrict([1, 4, 6])
    assert pencil.rayleigh(better) == pytest.approx(eigh(small.A, small.B, eigvals_only=True)[-1])
    assert pencil.rayleigh(better) >= pencil.rayleigh(x)
    assert better @ pencil.B @ better == pytest.approx(1.0)


@pytest.mark.parametrize("x", [np.zeros(3), np.ones(4), [1.0, np.nan, 0.0]])
def test_renormalize_refuses(x: object) -> None:
    with pytest.raises(InputError):
        es.renormalize(es.Pencil(np.eye(3)), x)


@pytest.mark.parametrize("method", DEFLATIONS)
@pytest.mark.parametrize("generalized", [False, True])
def test_deflation_by_the_formula_dense_and_factor(method: str, generalized: bool) -> None:
    rng = np.random.default_rng(1)
    H, W = rng.normal(size=(4, 7)), rng.normal(size=(5, 7)) if generalized else None
    factor = es.FactorPencil(H, W, np.ones(7))
    dense = es.Pencil(factor.A, factor.B if generalized else None)
    A, B = factor.A, factor.B
    X = np.zeros((7, 2))
    X[[0, 2], 0], X[[2, 3, 5], 1] = (1.0, -0.5), (0.3, 1.0, 0.2)
    X /= np.sqrt(np.einsum("ij,ij->j", X, B @ X))
    for pencil in (factor, dense):
        once = deflate(pencil, X[:, :1], method)
        twice = deflate(once, X, method)
        expected = literal_deflation(literal_deflation(A, B, X[:, :1], method), B, X, method)
        np.testing.assert_allclose(twice.A, expected, atol=1e-10)
        np.testing.assert_allclose(twice.B, B, atol=1e-12)


def literal_deflation(A: np.ndarray, B: np.ndarray, X: np.ndarray, method: str) -> np.ndarray:
    x = X[:, -1]
    if method == "orthogonalized-hotelling" and X.shape[1] > 1:
        L = np.linalg.cholesky(B)
        Q, _ = np.linalg.qr(L.T @ X)  # B-orthogonal by the Cholesky factor
        x = np.linalg.solve(L.T, Q[:, -1])
    P = np.eye(len(A)) - np.outer(x, B @ x)
    if method == "projection":
        return P.T @ A @ P
    if method == "schur":
        return A - np.outer(A @ x, A @ x) / (x @ A @ x)
    return A - (x @ A @ x) * np.outer(B @ x, B @ x)


def test_variance_measures() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 6)) @ rng.normal(size=(6, 6))
    X -= X.mean(axis=0)
    V = np.linalg.qr(rng.normal(size=(6, 3)))[0] * [1, 1, 1]
    V[:, 2] = (V[:, 1] + 0.2 * V[:, 2]) / np.linalg.norm(V[:, 1] + 0.2 * V[:, 2])
    plain, adjusted, subspace = explained_variances(es.pca_pencil(X), V)
    scores = X @ V / np.sqrt(50)
    np.testing.assert_allclose(plain, (scores**2).sum(axis=0))
    np.testing.assert_allclose(adjusted, np.diag(np.linalg.qr(scores)[1]) ** 2)
    for t in (1, 2, 3):
        Q = np.linalg.qr(V[:, :t])[0]
        assert subspace[t - 1] == pytest.approx(((X @ Q) ** 2).sum() / 50)


def test_secular_scans_find_the_best_feature() -> None:
    rng = np.random.default_rng(3)
    for _ in range(50):
        t, m = int(rng.integers(1, 6)), int(rng.integers(1, 9))
        w = np.sort(rng.normal(size=t))[::-1]
        Z, corner = rng.normal(size=(m, t)), rng.normal(size=m)
        tops = []
        for z, c in zip(Z, corner):
            arrow = np.diag(np.append(w, c))
            arrow[-1, :-1] = arrow[:-1, -1] = z
            tops.append(np.linalg.eigvalsh(arrow)[-1])
        j, _ = best_addition(w, Z**2, corner, 1.0)
        assert j == int(np.argmax(tops))
        sharp = best_addition(w, Z**2, corner, 1.0, floor=min(tops) - 1.0)
        assert sharp == (j, pytest.approx(max(tops), rel=1e-11, abs=1e-12))
        assert best_addition(w, Z**2, corner, 1.0, floor=max(tops) + 0.1)[0] == -1


def test_secular_deletion_finds_the_best_feature() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        p = int(rng.integers(3, 8))
        A, G = rng.normal(size=(p, p)), rng.normal(size=(p + 2, p))
        A, B = A + A.T, G.T @ G
        w, X = eigh(A, B)
        tops = []
        for j in range(p):
            S = [i for i in range(p) if i != j]
            tops.append(eigh(A[np.ix_(S, S)], B[np.ix_(S, S)], eigvals_only=True)[-1])
        X2 = X[:, ::-1] ** 2
        everything = np.ones(p, dtype=bool)
        j = best_deletion(w[::-1], X2, X2.sum(axis=1), everything, 1.0)
        assert j == int(np.argmax(tops))
