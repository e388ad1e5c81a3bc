"""Inverses of shrinking sets, also where deletions use up their digits."""

from __future__ import annotations

import numpy as np
import pytest

from eigensieve.search.greedy.inverse import DenseInverse, FactorInverse, ShrinkingInverse


def delete_all_but(inverse: ShrinkingInverse, order: np.ndarray, M: np.ndarray) -> None:
    """In every step the diagonal is above 1 / M_jj, as that of an inverse is."""
    alive = np.ones(len(M), dtype=bool)
    for j in order[:-1]:
        column = inverse.delete(int(j))
        assert column[j] > 0
        alive[j] = False
        assert np.all(inverse.diagonal[alive] * np.diag(M)[alive] >= 0.49)


@pytest.mark.parametrize("seed", range(60))
def test_near_copies_leave_a_positive_diagonal(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p = int(rng.integers(3, 9))
    group = rng.integers(p // 2 + 1, size=p)
    M = np.where(group[:, None] == group, 1 - 2.0 ** -int(rng.integers(20, 44)), 0.0)
    M[np.diag_indices(p)] = 1.0
    scale = 2.0 ** rng.integers(-9, 9, size=p)
    delete_all_but(DenseInverse(M * np.outer(scale, scale)), rng.permutation(p), M * scale**2)


@pytest.mark.parametrize("seed", range(60))
def test_factors_far_above_the_diagonal_leave_a_positive_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(3, 12)), int(rng.integers(1, 5))
    W = np.rint(2 * rng.normal(size=(n, p)))
    d = np.full(p, 10.0 ** -int(rng.integers(8, 18)))
    delete_all_but(FactorInverse(W, d), rng.permutation(p), W.T @ W + np.diag(d))


@pytest.mark.parametrize("seed", range(10))
def test_well_conditioned_ones_are_inverses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    W, d = rng.normal(size=(4, 9)), rng.uniform(0.1, 1.0, size=9)
    M = W.T @ W + np.diag(d)
    for inverse in (DenseInverse(M.copy()), FactorInverse(W.copy(), d)):
        alive = np.ones(9, dtype=bool)
        for j in rng.permutation(9)[:6]:
            inverse.delete(int(j))
            alive[j] = False
            expected = np.diag(np.linalg.inv(M[np.ix_(alive, alive)]))
            np.testing.assert_allclose(inverse.diagonal[alive], expected, rtol=1e-9)
