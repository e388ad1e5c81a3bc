"""The root of a Gram matrix that tall tables are reduced to."""

from __future__ import annotations

import numpy as np
import pytest

from eigensieve.q_alpha.tall_rows import Root


@pytest.mark.parametrize("rank", [1, 3, 8])
def test_root(rank: int) -> None:
    """Of full and of lower rank, with zero features and copies; against the rows themselves."""
    rng = np.random.default_rng(rank)
    M = rng.standard_normal((8, rank)) @ rng.standard_normal((rank, 50))
    M[2], M[5] = 0.0, M[1]
    root = Root(M @ M.T)
    assert root.R.shape == (np.linalg.matrix_rank(M), 8)
    np.testing.assert_allclose(root.R.T @ root.R, M @ M.T, atol=1e-11)
    assert not root.R[:, 2].any()
    basis = np.linalg.qr(rng.standard_normal((len(root.R), min(2, len(root.R)))))[0]
    C = root.solve(basis)
    np.testing.assert_allclose(root.R @ C, basis, atol=1e-11)
    Q = M.T @ C
    np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=1e-9)


def test_root_of_nothing() -> None:
    root = Root(np.zeros((3, 3)))
    assert root.R.shape == (1, 3)
    assert not root.R.any()
    assert not root.solve(np.ones((1, 1))).any()
