"""The literal Q-alpha is what the notes say it is."""

import numpy as np
import pytest

from tests.oracles import qalpha as oracle

K, CYCLES = 2, 12


def problem(seed: int, center: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """Rows of two groups of samples and of noise, and a random start."""
    rng = np.random.default_rng(seed)
    M = rng.normal(size=(14, 10)) + np.outer(np.arange(14) < 5, np.arange(10) < 4) * 3.0
    return oracle.normalize_rows(M, center=center), oracle.qr(rng.normal(size=(10, K)))


def test_rows_are_normalised() -> None:
    rng = np.random.default_rng(0)
    M = np.vstack([rng.normal(3.0, 2.0, size=(3, 8)), np.full(8, 0.1)])
    plain, shifted = oracle.normalize_rows(M), oracle.normalize_rows(M, offset=0.5)
    np.testing.assert_allclose(np.linalg.norm(plain, axis=1), [1, 1, 1, 0], rtol=1e-14)
    np.testing.assert_allclose(plain.sum(axis=1), 0, atol=1e-14)
    # |z|^2 = q, so the shifted rows are (z + c) / sqrt(q (1 + c^2))
    np.testing.assert_allclose(shifted[:3], (plain[:3] + 0.5 / np.sqrt(8)) / np.sqrt(1.25))
    np.testing.assert_allclose(
        oracle.normalize_rows(M, center=False)[0], M[0] / np.sqrt(M[0] @ M[0])
    )
    np.testing.assert_allclose(oracle.normalize_rows(M, scale=False)[0], M[0] - M[0].mean())


@pytest.mark.parametrize("seed", range(30))
def test_ascent(seed: int) -> None:
    M, Q0 = problem(seed)
    runs = [
        oracle.literal_qalpha(M, Q0, CYCLES),
        oracle.literal_qalpha(M, Q0, CYCLES, "basic"),
        oracle.literal_single_step(M, Q0, CYCLES),
    ]
    for alpha, Q, objectives in runs:
        assert np.all(np.diff(objectives) >= -1e-12 * objectives[-1])
        assert np.linalg.norm(alpha) == pytest.approx(1.0, rel=1e-13)
        assert alpha.sum() > 0
        np.testing.assert_allclose(Q.T @ Q, np.eye(K), atol=1e-13)


@pytest.mark.parametrize("cycles", [1, 2, 5])
def test_ritz_has_the_weights_of_the_standard_method(cycles: int) -> None:
    M, Q0 = problem(1)
    alpha, Q, objectives = oracle.literal_qalpha(M, Q0, cycles)
    ritz, rotated, values = oracle.literal_qalpha(M, Q0, cycles, "ritz")
    np.testing.assert_allclose(ritz, alpha, atol=1e-12)
    np.testing.assert_allclose(values, objectives, rtol=1e-12)
    np.testing.assert_allclose(rotated @ rotated.T, Q @ Q.T, atol=1e-11)


def test_the_gap_is_a_difference_of_squared_eigenvalues() -> None:
    M, Q0 = problem(2)
    alpha, _, objectives = oracle.literal_qalpha(M, Q0, 4, "gap")
    squares = np.sort(np.linalg.eigvalsh(M.T @ np.diag(alpha) @ M) ** 2)[::-1]
    assert objectives[-1] == pytest.approx(squares[:K].sum() - squares[K:].sum(), rel=1e-12)


def test_first_laplacians_are_positive_semidefinite() -> None:
    M, _ = problem(3, center=False)
    L = oracle.laplacians(M, (M * M.sum(axis=1, keepdims=True)).max(axis=1))
    assert np.linalg.eigvalsh(L).min() > -1e-13


@pytest.mark.parametrize("cycles", [1, 4])
def test_laplacian_of_centred_rows_is_the_standard_form(cycles: int) -> None:
    M, Q0 = problem(4)
    for ours, standard in zip(
        oracle.literal_laplacian(M, Q0, cycles), oracle.literal_qalpha(M, Q0, cycles)
    ):
        np.testing.assert_allclose(ours, standard, atol=1e-12)
    raw, _ = problem(4, center=False)
    assert np.abs(oracle.literal_laplacian(raw, Q0, 1)[0] - standard_alpha(raw, Q0)).max() > 1e-3


def standard_alpha(M: np.ndarray, Q0: np.ndarray) -> np.ndarray:
    return oracle.literal_qalpha(M, Q0, 1)[0]


@pytest.mark.parametrize("cycles", [1, 2, 6])
def test_linear_kernel_is_the_standard_form(cycles: int) -> None:
    M, Q0 = problem(5)
    # a start within the span of the rows, or M'E = Q has no solution
    Q0 = oracle.qr(M.T @ M @ Q0)
    E0 = np.linalg.pinv(M.T) @ Q0
    alpha, E, values = oracle.literal_kernel(M @ M.T, E0, cycles)
    expected, Q, objectives = oracle.literal_qalpha(M, Q0, cycles)
    np.testing.assert_allclose(alpha, expected, atol=1e-12)
    np.testing.assert_allclose(M.T @ E, Q, atol=1e-12)
    np.testing.assert_allclose(values, objectives, rtol=1e-12)


def test_kernel_start_is_the_svd_start() -> None:
    M, _ = problem(6)
    Q, started = oracle.svd_start(M, K), M.T @ oracle.kernel_start(M @ M.T, K)
    np.testing.assert_allclose(started @ started.T, Q @ Q.T, atol=1e-12)


def test_one_class_is_the_standard_form() -> None:
    M, Q0 = problem(7)
    alpha, Qs, values = oracle.literal_supervised([M], {(0, 0): Q0}, 0.5, 5)
    expected, Q, objectives = oracle.literal_qalpha(M, Q0, 5)
    np.testing.assert_allclose(alpha, expected, atol=1e-14)
    np.testing.assert_allclose(Qs[0, 0], Q, atol=1e-14)
    np.testing.assert_allclose(values, objectives, rtol=1e-14)


def test_supervised_objective_is_a_quadratic_form_in_the_weights() -> None:
    M, _ = problem(8)
    Ms = [M[:, :4], M[:, 4:]]
    alpha, Qs, values = oracle.literal_supervised(Ms, oracle.supervised_start(Ms), 0.5, 3)
    assert {gh: Q.shape for gh, Q in Qs.items()} == {
        (0, 0): (4, 2),
        (0, 1): (6, 1),
        (1, 0): (4, 1),
        (1, 1): (6, 2),
    }
    signs = {gh: 1.0 if gh[0] == gh[1] else -0.5 for gh in Qs}
    G = sum(signs[g, h] * oracle.form(Ms[g], Ms[h], Q) for (g, h), Q in Qs.items())
    assert values[-1] == pytest.approx(alpha @ G @ alpha, rel=1e-12)
