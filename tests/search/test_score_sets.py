"""Scores of many sets at once against those of one set, where digits are few."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import linalg

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.search.score_sets import score_sets


def scores_of(A: np.ndarray, B: np.ndarray, sets: np.ndarray) -> np.ndarray:
    """log det(I + B_S^-1 A_S) from eigenvalues, which have their digits here."""
    values = [linalg.eigh(A[np.ix_(S, S)], B[np.ix_(S, S)], eigvals_only=True) for S in sets]
    return np.array([np.log1p(np.maximum(own, 0.0)).sum() for own in values])


@pytest.mark.parametrize("scale", [1e-24, 1e-9, 1.0, 1e9, 1e12])
def test_logdet_keeps_its_digits(scale: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 6))
    X[:, 5] = X[:, 0]  # A is singular on some sets
    A, B = scale * X.T @ X, np.eye(6)
    A = (A + A.T) / 2
    sets = np.array(list(itertools.combinations(range(6), 3)))
    own = score_sets(make_problem(es.Pencil(A, B), 3, "logdet"), sets)
    # their sum and their difference instead of the two copies: one of them is nothing
    T = np.eye(6)
    T[:, [0, 5]] = np.array([[1, 0, 0, 0, 0, 1], [-1, 0, 0, 0, 0, 1]]).T / np.sqrt(2)
    clean = T.T @ A @ T
    clean[5], clean[:, 5] = 0.0, 0.0
    whole = np.array([{0, 5} <= set(S) for S in sets.tolist()])
    np.testing.assert_allclose(own[~whole], scores_of(A, B, sets[~whole]), rtol=1e-9)
    rest = [[0, *(j for j in S if j not in (0, 5))] for S in sets[whole].tolist()]
    np.testing.assert_allclose(own[whole], scores_of(clean, B, np.array(rest)), rtol=1e-9)


def test_a_nearly_singular_table_is_verified() -> None:
    X = np.random.default_rng(1).normal(size=(12, 5)) * 1e6
    X[:, 2] = X[:, 1]
    pencil = es.pca_pencil(X)
    found = es.near_optimal(pencil, 2, 1.0, criterion="logdet")
    found.verify(pencil)
    for S, score in zip(found.sets, found.scores):
        assert score == pytest.approx(make_problem(pencil, 2, "logdet").score(S), rel=1e-9)


def test_small_log_dets_are_listed() -> None:
    """Between groups that hardly differ: differences of log-dets would all be zero."""
    X = np.random.default_rng(2).normal(size=(9, 6))
    found = es.near_optimal(es.pca_pencil(1e-12 * X), 2, 1.0, criterion="logdet")
    ordinary = es.near_optimal(es.pca_pencil(X), 2, 1.0, criterion="trace")
    assert found.is_complete
    np.testing.assert_array_equal(found.sets, ordinary.sets)
    np.testing.assert_allclose(found.scores, 1e-24 * ordinary.scores, rtol=1e-9)
