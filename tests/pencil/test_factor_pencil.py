"""Pencils kept as factors."""

import numpy as np
import pytest

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


@pytest.mark.parametrize("rows_of_W", [0, 4])
def test_what_solvers_ask_is_the_same_of_matrices_and_of_factors(rows_of_W: int) -> None:
    rng = np.random.default_rng(1)
    H, W, d = rng.normal(size=(3, 6)), rng.normal(size=(rows_of_W, 6)), rng.uniform(1, 2, size=6)
    core = np.diag([2.0, 1.0, -1.0])
    kept = es.FactorPencil(H, W, d, core=core)
    dense = es.Pencil(kept.A, kept.B)
    assert kept.factors is kept
    assert dense.factors is None
    assert (kept.max_rank, dense.max_rank) == (3, 6)
    np.testing.assert_allclose(kept.column_lengths(), dense.column_lengths())
    np.testing.assert_allclose(kept.negated().top()[0], dense.negated().top()[0])
    np.testing.assert_allclose(kept.negated().apply_A(d), -(dense.A @ d))
    for pencil in (kept, dense):
        root = pencil.diagonal_root()
        assert (root is None) == (rows_of_W > 0)
        assert np.linalg.eigvalsh(kept.B - np.diag(pencil.diagonal_below))[0] >= -1e-12
        if root is not None:
            scaled = pencil.with_identity_B(root)
            assert scaled.has_identity_B
            np.testing.assert_allclose(scaled.A, kept.A / np.sqrt(np.outer(d, d)))


@pytest.mark.parametrize("m", [5, 9, 40])
def test_the_diagonal_below_takes_what_the_rows_allow(
    m: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(m)
    scale = 10.0 ** rng.uniform(-3, 3, size=8)
    W, d = rng.normal(size=(m, 8)) * scale, rng.uniform(0.1, 1, size=8) * np.square(scale)
    pencil = es.FactorPencil(rng.normal(size=(1, 8)), W, d)
    root = np.sqrt(pencil.diag_B)
    unit = pencil.B / np.outer(root, root)
    D = pencil.diagonal_below / pencil.diag_B
    assert np.linalg.eigvalsh(unit - np.diag(D))[0] >= -1e-14  # without rows enough it is 0
    least = np.linalg.eigvalsh((W / root).T @ (W / root))[0] if m >= 8 else 0.0
    np.testing.assert_allclose(D, d / pencil.diag_B + least, rtol=1e-9)
    monkeypatch.setattr("eigensieve.pencil.factor_pencil.GRAM_WORK", 8 * 8 * m - 1)
    np.testing.assert_array_equal(es.FactorPencil(pencil.H, W, d).diagonal_below, d)
