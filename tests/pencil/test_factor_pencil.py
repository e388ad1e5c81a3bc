"""Pencils kept as factors."""

import numpy as np

import eigensieve as es


def test_a_semidefinite_A_has_a_factor_without_signs() -> None:
    """C may be indefinite where H does not reach: A = H' C H is semidefinite all the same."""
    rng = np.random.default_rng(0)
    H = rng.normal(size=(3, 6))
    H[2] = H[0]
    core = np.diag([3.0, 1.0, -1.0])
    pencil = es.FactorPencil(H, rng.normal(size=(4, 6)), np.ones(6), core=core)
    assert pencil.is_psd
    factor, signs = pencil.spectral_factor
    assert np.all(signs == 1)
    np.testing.assert_allclose(factor.T @ factor, H.T @ core @ H, atol=1e-12)
    for solver in ("greedy", "exact"):
        es.solve(pencil, 3, solver, "trace").verify(pencil)
