"""GroupLassoLDA on gene expression: exact numbers of genes, proofs, the penalised LDA."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from scipy import linalg

from eigensieve import GroupLassoLDA, GroupLassoLDACV, ScoringProblem

Data = tuple[np.ndarray, np.ndarray]
Load = Callable[[str], Data]

SETS = ["srbct", "colon", "nakayama", "ramaswamy_filtered"]
WITHIN = ["full", "diagonal"]


@pytest.fixture(scope="module")
def fit(load: Load) -> Callable[[str, str, int], GroupLassoLDA]:
    @cache
    def fitted(name: str, within: str, k: int) -> GroupLassoLDA:
        return GroupLassoLDA(k, within=within).fit(*load(name))

    return fitted


Fit = Callable[[str, str, int], GroupLassoLDA]


def class_means(X: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Of its class, for every row."""
    return np.array([X[y == label].mean(axis=0) for label in y])


@pytest.mark.parametrize("k", [5, 10, 30])
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("name", SETS)
def test_so_many_genes_and_a_proof(load: Load, fit: Fit, name: str, within: str, k: int) -> None:
    X, y = load(name)
    lda = fit(name, within, k)
    assert lda.support_.sum() == lda.solution_.support.size == k
    assert lda.solution_.is_certified
    assert max(lda.kkt_, lda.solution_.gap) <= 1e-10
    lda.solution_.verify(ScoringProblem.from_data(X, y, within=within))


@pytest.mark.parametrize("k", [5, 10, 30])
@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("name", SETS)
def test_directions_solve_the_penalised_lda(
    load: Load, fit: Fit, name: str, within: str, k: int
) -> None:
    X, y = load(name)
    lda = fit(name, within, k)
    n, Z, V = len(X), X[:, lda.support_], lda.scalings_[lda.support_]
    means = class_means(Z, y)
    inner, outer = Z - means, means - Z.mean(axis=0)
    S_w, S_b = inner.T @ inner / n, outer.T @ outer / n
    if within == "diagonal":
        S_w = np.diag(np.diag(S_w))
    s = lda.eigenvalues_ / (1 + lda.eigenvalues_)
    lengths = np.linalg.norm(V * np.sqrt(s * (1 - s) / n), axis=1)
    S = S_w + lda.lambda_ / n * np.diag(1 / lengths)
    np.testing.assert_allclose(V.T @ S @ V, np.eye(V.shape[1]), rtol=0, atol=1e-10)
    values = linalg.eigh(S_b, S, eigvals_only=True)[::-1]
    assert V.shape[1] == min(np.unique(y).size - 1, k)
    np.testing.assert_allclose(lda.eigenvalues_, values[: V.shape[1]], rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("within", WITHIN)
@pytest.mark.parametrize("name", SETS)
def test_no_gene_is_left_that_should_be_used(load: Load, fit: Fit, name: str, within: str) -> None:
    """The conditions for all genes, from the samples, the directions and lambda."""
    X, y = load(name)
    lda = fit(name, within, 30)
    Xc, means = X - X.mean(axis=0), class_means(X, y) - X.mean(axis=0)
    s = lda.eigenvalues_ / (1 + lda.eigenvalues_)
    B = lda.scalings_ * np.sqrt(s * (1 - s) / len(X))
    S = lda.support_
    scores = means[:, S] @ B[S] / s
    if within == "full":
        slope = Xc.T @ (scores - Xc[:, S] @ B[S])
    else:
        slope = Xc.T @ scores - means.T @ (means[:, S] @ B[S])
        slope -= np.square(Xc - means).sum(axis=0)[:, None] * B
    lengths = np.linalg.norm(slope, axis=1) / lda.lambda_
    np.testing.assert_allclose(lengths[S], 1.0, atol=1e-8)
    assert lengths[~S].max() <= 1 + 1e-8


@pytest.mark.parametrize("name", ["srbct", "colon"])
def test_cross_validation_finds_few_genes_that_classify(load: Load, name: str) -> None:
    X, y = load(name)
    lda = GroupLassoLDACV(cv=5, weights="std", selection="one-se").fit(X, y)
    assert lda.cv_error_ <= {"srbct": 0.05, "colon": 0.2}[name]
    assert lda.support_.sum() < 100
    assert lda.solution_.is_certified
