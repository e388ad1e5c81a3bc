"""Simple thresholding: both readings, by the definition."""

import numpy as np
import pytest
from scipy.linalg import eigh, sqrtm

import eigensieve as es
from eigensieve.datasets.moghaddam2006 import draw_pairs


def test_both_readings() -> None:
    rng = np.random.default_rng(0)
    differ = 0
    for _ in range(20):
        G, d = rng.normal(size=(10, 7)), rng.normal(size=7)
        A, B = np.outer(d, d), G.T @ G
        pencil = es.Pencil(A, B)
        x = eigh(A, B)[1][:, -1]
        y = np.real(sqrtm(B)) @ x
        by_x = np.sort(np.argsort(-np.abs(x))[:3])
        by_y = np.sort(np.argsort(-np.abs(y))[:3])
        sol_x, sol_y, best = (
            es.solve(pencil, 3, solver="threshold", vector=v) for v in ("x", "y", "best")
        )
        np.testing.assert_array_equal(sol_x.support, by_x)
        np.testing.assert_array_equal(sol_y.support, by_y)
        assert best.objective == pytest.approx(max(sol_x.objective, sol_y.objective))
        differ += by_x.tolist() != by_y.tolist()
    assert differ > 0


def test_renormalized() -> None:
    rng = np.random.default_rng(1)
    pencil = es.pca_pencil(rng.normal(size=(40, 9)))
    solution = es.solve(pencil, 4, solver="threshold")
    x = pencil.top()[1][:, 0].copy()
    x[~np.isin(np.arange(9), solution.support)] = 0
    np.testing.assert_allclose(es.renormalize(pencil, x), solution.vectors[:, 0], atol=1e-12)


def test_wide_pencil_refuses_the_root() -> None:
    pencil = es.FactorPencil(np.ones((1, 6000)), np.ones((2, 6000)), np.ones(6000))
    with pytest.raises(ValueError, match="vector='x'"):
        es.solve(pencil, 3, solver="threshold", vector="y")
    es.solve(pencil, 3, solver="threshold").verify(pencil)


@pytest.mark.parametrize(("k", "better"), [(1, "y"), (2, "y"), (6, "x"), (10, "x")])
def test_neither_reading_is_always_the_better(k: int, better: str) -> None:
    """As the page says of the pairs of figure 1: y for the smallest sets, x for the others."""
    pairs = zip(*draw_pairs(150, np.random.default_rng(0), 16))
    pencils = [es.Pencil(A, B) for A, B in pairs]
    best = np.array([es.solve(pencil, k).objective for pencil in pencils])
    mean = {
        vector: np.mean(
            [es.solve(pencil, k, "threshold", vector=vector).objective for pencil in pencils] / best
        )
        for vector in ("x", "y")
    }
    assert max(mean, key=lambda vector: mean[vector]) == better
