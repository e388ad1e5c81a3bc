"""The lists of estimators are those of their own problems, by enumeration."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import linalg

import eigensieve as es
from eigensieve.errors import InputError, OptionError

NAMES = [f"gene {j}" for j in range(8)]


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    y = np.repeat(["a", "b", "c"], [20, 25, 15])
    X = rng.normal(size=(60, 8)) @ (np.eye(8) + 0.3 * rng.normal(size=(8, 8)))
    X[y == "a", :2] += 1
    X[y == "b", 2:4] += 1
    return X, y


def scatters(X: np.ndarray, y: np.ndarray, shrinkage: float, weights: dict[str, float]) -> tuple:
    """Between and shrunk within, a class counting by its weight per sample."""
    w = np.array([weights.get(c, 1.0) for c in y])
    w /= w.sum()
    mean = w @ X
    A, W = np.zeros((8, 8)), np.zeros((8, 8))
    for c in np.unique(y):
        own, rows = w[y == c], X[y == c]
        centre = own @ rows / own.sum()
        A += own.sum() * np.outer(centre - mean, centre - mean)
        W += (rows - centre).T @ (own[:, None] * (rows - centre))
    return A, (1 - shrinkage) * W + shrinkage * np.diag(np.diag(W))


def near(scores: dict[tuple[int, ...], float], within: float) -> list[tuple[int, ...]]:
    best = max(scores.values())
    return sorted(S for S, score in scores.items() if score >= (1 - within) * best)


def rows(found: es.NearOptimalSets) -> list[tuple[int, ...]]:
    return sorted(map(tuple, found.sets.tolist()))


@pytest.mark.parametrize("weights", [{}, {"a": 3.0, "c": 0.5}])
def test_lda(data, weights) -> None:
    X, y = data
    asked = {"include": ["gene 2"], "exclude": ["gene 5"], "class_weight": weights or None}
    lda = es.SparseLDA(3, shrinkage=0.4, criterion="trace", **asked)
    frame = pd.DataFrame(X, columns=NAMES)
    found = lda.near_optimal(frame, y, within=0.35)
    A, B = scatters(X, y, 0.4, weights)
    scores = {
        S: float(np.trace(linalg.solve(B[np.ix_(S, S)], A[np.ix_(S, S)])))
        for S in combinations(range(8), 3)
        if 2 in S and 5 not in S
    }
    assert len(near(scores, 0.35)) > 1
    assert rows(found) == near(scores, 0.35)
    assert found.names == tuple(NAMES)
    assert found.best.objective == pytest.approx(max(scores.values()))
    assert not hasattr(lda, "solution_")
    assert not hasattr(lda, "classes_")
    np.testing.assert_array_equal(found.sets[0], lda.fit(frame, y).solution_.support)


def test_the_size_is_clipped(data) -> None:
    X, y = data
    with pytest.warns(UserWarning, match="only 7 features may be chosen"):
        found = es.SparseLDA(20, exclude=[0]).near_optimal(X, y)
    assert rows(found) == [tuple(range(1, 8))]
    assert found.names is None


def test_options_reach_the_search(data) -> None:
    X, y = data
    whole = es.SparseLDA(3).near_optimal(X, y, within=0.5)
    cut = es.SparseLDA(3).near_optimal(X, y, within=0.5, max_sets=4)
    assert whole.n_sets > 4
    np.testing.assert_array_equal(cut.sets, whole.sets[:4])
    assert not cut.is_complete
    with pytest.raises(OptionError, match="'include' here; the estimator decides"):
        es.SparseLDA(3).near_optimal(X, y, include=[1])
    with pytest.raises(OptionError, match="no option magic"):
        es.SparseLDA(3).near_optimal(X, y, magic=1)
    with pytest.raises(InputError, match="a list of sets needs a number"):
        es.SparseLDA(None).near_optimal(X, y)


def test_limits_by_name_with_class_weights(data) -> None:
    X, y = data
    limits = {"groups": {"g": ["gene 0", "gene 1", "gene 3"]}, "at_most": 1}
    asked = {"class_weight": "balanced", "constraints": limits}
    frame = pd.DataFrame(X, columns=NAMES)
    found = es.SparseLDA(3, shrinkage=0.4, **asked).near_optimal(frame, y, within=0.5)
    whole = es.SparseLDA(3, shrinkage=0.4, class_weight="balanced").near_optimal(X, y, within=0.9)
    allowed = [
        (S, score)
        for S, score in zip(map(tuple, whole.sets.tolist()), whole.scores)
        if len({0, 1, 3} & set(S)) <= 1
    ]
    best = allowed[0][1]
    assert len(allowed) < whole.n_sets
    assert rows(found) == sorted(S for S, score in allowed if score >= 0.5 * best)


def test_pca(data) -> None:
    X, _ = data
    S = np.cov(X.T, bias=True)
    scores = {
        T: float(linalg.eigvalsh(S[np.ix_(T, T)])[-1]) for T in combinations(range(8), 3)
    }  # fmt: skip
    found = es.SparsePCA(2, n_features_to_select=(3, 2)).near_optimal(X, within=0.15)
    assert len(near(scores, 0.15)) > 1
    assert rows(found) == near(scores, 0.15)
    assert found.best.objective == pytest.approx(max(scores.values()))


def test_cca(data) -> None:
    X, _ = data
    first, second = X[:, :4], X[:, 4:]
    C = np.cov(X.T, bias=True)
    for block in (slice(0, 4), slice(4, 8)):
        C[block, block] = 0.7 * C[block, block] + 0.3 * np.diag(np.diag(C[block, block]))
    scores = {}
    for S in combinations(range(4), 2):
        for T in combinations(range(4, 8), 1):
            left, right = np.ix_(S, S), np.ix_(T, T)
            cross = C[np.ix_(S, T)]
            M = linalg.solve(C[left], cross) @ linalg.solve(C[right], cross.T)
            scores[S + T] = float(np.sqrt(np.max(linalg.eigvals(M).real)))
    cca = es.SparseCCA(n_features_to_select=(2, 1), shrinkage=0.3)
    found = cca.near_optimal(first, second, within=0.3)
    assert len(near(scores, 0.3)) > 1
    assert rows(found) == near(scores, 0.3)
    np.testing.assert_allclose(found.scores, sorted(map(scores.get, near(scores, 0.3)))[::-1])
