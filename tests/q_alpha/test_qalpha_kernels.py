"""Q-alpha in feature spaces: against the linear code, the kernels' definitions, the literal one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.budget import Budget
from eigensieve.q_alpha.ascent import ascend
from eigensieve.q_alpha.kernels import FeatureKernel
from eigensieve.q_alpha.options import QAlphaOptions
from eigensieve.q_alpha.variants import kernel as kernel_relevance
from eigensieve.q_alpha.variants.kernel import KernelRelevance, normalize_dual
from eigensieve.tables.operators.table_rows import ArrayRows
from tests.oracles import qalpha as oracle

Kernel = Callable[[np.ndarray, np.ndarray], np.ndarray]
NEAR = {"rtol": 0.0, "atol": 1e-8}


def make(n: int, q: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng([seed, n, q])
    M = rng.normal(size=(n, q)) + rng.normal(size=(n, 1))
    M[: n // 3, : q // 2] += 2.0
    M[n // 2] = M[1]
    return M


def solve(M: Any, k: int = 2, cycles: int = 4, **more: Any) -> es.QAlphaSolution:
    return es.qalpha(M.T, k, tol=0.0, max_iter=cycles, **({"n_init": 1} | more))


def assert_same(found: Any, expected: Any) -> None:
    np.testing.assert_allclose(found.alpha, expected.alpha, **NEAR)
    np.testing.assert_allclose(found.history, expected.history, rtol=1e-8)


def assert_literal(found: Any, V: np.ndarray, k: int = 2, cycles: int = 4) -> None:
    alpha, _, objectives = oracle.literal_kernel(V, oracle.kernel_start(V, k), cycles)
    np.testing.assert_allclose(found.alpha, alpha, **NEAR)
    np.testing.assert_allclose(found.history, objectives, rtol=1e-8)


def linear(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    return A @ B.T


def poly(degree: int, coef0: float) -> Kernel:
    return lambda A, B: (A @ B.T + coef0) ** degree


def rbf(gamma: float) -> Kernel:
    return lambda A, B: np.exp(-gamma * cdist(A, B, "sqeuclidean"))


def block(size: int) -> Kernel:
    """By its definition: a loop over pairs of features and sessions."""

    def kernel(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        out = np.zeros((len(A), len(B)))
        for i, j in np.ndindex(*out.shape):
            for first in range(0, A.shape[1], size):
                session = slice(first, first + size)
                out[i, j] += float(A[i, session] @ B[j, session]) ** 2
        return out

    return kernel


# -- the same as something else --------------------------------------------------------------


@pytest.mark.parametrize("shape", [(9, 24), (30, 11), (80, 14), (70, 100)])
def test_the_linear_kernel_is_the_standard_method(shape: tuple[int, int]) -> None:
    M = make(*shape)
    rows = oracle.normalize_rows(M)
    for k in (1, 2, 4):
        plain = solve(M, k)
        for solver in ("lanczos", "single-step"):
            expected = solve(M, k, eigensolver=solver)
            assert_same(solve(M, k, kernel="linear", eigensolver=solver), expected)
            assert_same(solve(M, k, kernel=linear, eigensolver=solver), expected)
            by_matrix = solve(rows @ rows.T, k, kernel="precomputed", eigensolver=solver)
            assert_same(by_matrix, expected)
        assert by_matrix.Q is None
        by_matrix.verify(rows @ rows.T)
        assert_same(solve(M, k, kernel="linear", variant="ritz"), plain)
        assert_literal(plain, rows @ rows.T, k)


@pytest.mark.parametrize(("degree", "coef0"), [(1, 0.5), (2, 0.0), (2, 1.3), (3, 0.0), (3, 0.7)])
def test_polynomial_kernels(degree: int, coef0: float) -> None:
    """With 3 samples there are at most 20 monomials, fewer than features; with 20, more."""
    kernel = FeatureKernel.of("poly", {"degree": degree, "coef0": coef0})
    for n, q in ((40, 3), (90, 4), (40, 20)):
        M = make(n, q, seed=1)
        rows, params = oracle.normalize_rows(M, 0.3), {"degree": degree, "coef0": coef0}
        found = solve(M, kernel="poly", kernel_params=params, offset=0.3)
        assert_same(found, solve(M, kernel=poly(degree, coef0), offset=0.3))
        V = poly(degree, coef0)(rows, rows)
        if q == 3:
            features = kernel.explicit(ArrayRows(rows.T))
            assert len(features) == kernel.n_explicit(3) < 40
            np.testing.assert_allclose(features.T @ features, V, rtol=1e-13, atol=1e-14)
        assert_literal(found, V)


@pytest.mark.parametrize("size", [1, 3, 8, 50])
def test_block_kernels(size: int) -> None:
    """Of 8 samples, sessions of 3 leave one of 2; those of 50 are the square of the products."""
    kernel = FeatureKernel.of("block", {"size": size})
    routes = set()
    for n in (12, 30, 70):
        M = make(n, 8, seed=2)
        rows = oracle.normalize_rows(M)
        found = solve(M, kernel="block", kernel_params={"size": size})
        V = block(size)(rows, rows)
        np.testing.assert_allclose(kernel.matrix(ArrayRows(rows.T)), V, rtol=1e-12, atol=1e-15)
        features = kernel.explicit(ArrayRows(rows.T))
        np.testing.assert_allclose(features.T @ features, V, rtol=1e-12, atol=1e-15)
        assert len(features) == kernel.n_explicit(8)
        routes.add(len(features) < n)
        assert_literal(found, V)
        assert_same(found, solve(M, kernel=block(size)))
    assert True in routes
    assert (False in routes) == (size > 1)


@pytest.mark.parametrize("gamma", [0.1, 1.0, 5.0])
def test_radial_kernels(gamma: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above 500 features the start comes from Lanczos; here above 50."""
    monkeypatch.setattr(kernel_relevance, "DENSE_FEATURES", 50)
    for n, q in ((9, 24), (30, 11), (80, 14)):
        M = make(n, q, seed=3)
        rows = oracle.normalize_rows(M)
        V = rbf(gamma)(rows, rows)
        for k in (1, 3):
            found = solve(M, k, kernel="rbf", kernel_params={"gamma": gamma})
            assert_literal(found, V, k)
            assert_literal(solve(V, k, kernel="precomputed"), V, k)
            assert_literal(solve(M, k, kernel=rbf(gamma)), V, k)


@pytest.mark.parametrize("solver", ["lanczos", "single-step"])
def test_random_starts_ascend(solver: str) -> None:
    for seed in range(20):
        V = rbf(1.0)(rows := oracle.normalize_rows(make((30, 80)[seed % 2], 12, seed)), rows)
        k = 1 + seed % 4
        E = normalize_dual(V, np.random.default_rng(seed).standard_normal((len(V), k)))
        np.testing.assert_allclose(E.T @ V @ E, np.eye(k), atol=1e-10)
        family = KernelRelevance(V, k)
        own = {"start": lambda *_, E=E: E, "at": family.at, "express": family.express, "cost": 1}
        from_E = type("Start", (), own)()
        options = QAlphaOptions(n_init=1, tol=0.0, max_iter=20, eigensolver=solver)
        found = ascend(from_E, options, Budget(), np.random.default_rng())
        assert np.diff(found.history).min() >= -1e-12 * found.history[-1]
        if solver == "lanczos":
            alpha, _, objectives = oracle.literal_kernel(V, E, len(found.history))
            np.testing.assert_allclose(found.alpha, alpha, rtol=0, atol=1e-7)
            np.testing.assert_allclose(found.history, objectives, rtol=1e-8)


# -- Nystroem --------------------------------------------------------------------------------


def test_landmarks_that_span_everything_are_exact() -> None:
    """5 samples: rank 5, or 15 monomials; 60 of 70 landmarks span that."""
    M = make(70, 5, seed=4)
    for kernel in ("linear", "poly", "block", linear, poly(2, 0.0)):
        exact = solve(M, kernel=kernel)
        for landmarks in (60, 70, 1000):
            assert_same(solve(M, kernel=kernel, kernel_params={"landmarks": landmarks}), exact)


def test_few_landmarks() -> None:
    M = make(120, 15, seed=5)
    exact = solve(M, kernel="rbf").alpha
    errors = []
    for landmarks in (2, 30, 119):
        runs = [
            solve(M, kernel="rbf", kernel_params={"landmarks": landmarks}, random_state=s)
            for s in (0, 0, 1, 2)
        ]
        assert np.array_equal(runs[0].alpha, runs[1].alpha)
        assert not np.array_equal(runs[1].alpha, runs[2].alpha)
        errors.append(np.mean([np.linalg.norm(run.alpha - exact) for run in runs[1:]]))
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01


def test_landmarks_on_constant_features() -> None:
    """They are zero rows; whichever is drawn, there are weights, or an error that says why."""
    M = np.vstack([make(10, 8), np.ones((80, 8))])
    for seed in range(6):
        for kernel in ("rbf", "linear"):
            try:
                found = solve(M, kernel=kernel, kernel_params={"landmarks": 2}, random_state=seed)
            except InputError:
                continue
            assert np.isfinite(found.alpha).all()


# -- odd matrices and errors -----------------------------------------------------------------


def odd_matrix(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(n)
    if kind == "random":
        S = rng.standard_normal((n, n))
        return S + S.T
    if kind == "low rank":
        low = rng.standard_normal((n, 3))
        return low @ low.T
    if kind == "diagonal":
        return np.diag(np.arange(n) - 3.0)
    return np.ones((n, n)) if kind == "ones" else 3.0 / n - np.eye(n)


@pytest.mark.parametrize("n", [20, 100])
@pytest.mark.parametrize("kind", ["random", "low rank", "diagonal", "ones", "one positive"])
def test_matrices_that_are_no_kernels(kind: str, n: int) -> None:
    V = odd_matrix(kind, n)
    for solver in ("lanczos", "single-step"):
        found = es.qalpha(V, 5, kernel="precomputed", max_iter=20, eigensolver=solver)
        assert np.linalg.norm(found.alpha) == pytest.approx(1.0, rel=1e-9)
        assert np.isfinite(found.history).all()
        found.verify(V)


def test_rank_deficient_matrices_are_exact() -> None:
    """More vectors are asked for than there are dimensions: the whole space, G = V * V."""
    for n in (20, 100):
        V = odd_matrix("low rank", n)
        found = solve(V, 5, cycles=1, kernel="precomputed")
        np.testing.assert_allclose(found.alpha, oracle.leading(V * V), **NEAR)


@pytest.mark.parametrize("n", [20, 100])
def test_a_matrix_without_a_positive_direction(n: int) -> None:
    with pytest.raises(InputError):
        es.qalpha(-np.eye(n).T, kernel="precomputed")


def test_matrices_that_cannot_be_used() -> None:
    V = np.eye(6)
    lopsided, missing = V + np.triu(np.ones((6, 6)), 1), np.where(V > 0, np.nan, 0.0)
    beside_a_large_one = lopsided.copy()
    beside_a_large_one[0] = beside_a_large_one[:, 0] = [1e10, 0, 0, 0, 0, 0]
    for wrong, why in (
        (lopsided, "symmetric"),
        (beside_a_large_one, "symmetric"),
        (missing, "NaN"),
        (V * 0, "zero"),
        (V[1:], "column"),
    ):
        with pytest.raises(InputError, match=why):
            es.qalpha(wrong.T, kernel="precomputed")


def test_a_sparse_matrix() -> None:
    V = np.eye(6) + 0.5
    V[0, 5] = V[5, 0] = 0.0
    found = es.qalpha(sparse.csr_array(V).T, kernel="precomputed")
    np.testing.assert_allclose(found.alpha, es.qalpha(V, kernel="precomputed").alpha, **NEAR)


def test_functions_that_are_no_kernels() -> None:
    M = make(9, 12)
    wrong: list[tuple[Kernel, str]] = [
        (lambda A, B: A @ A.T @ np.ones((9, 3)), "shape"),
        (lambda A, B: np.ones(9), "shape"),
        (lambda A, B: np.full((9, 9), np.nan), "finite"),
        (lambda A, B: np.triu(np.ones((9, 9))), "symmetric"),
        (lambda A, B: np.zeros((9, 9)), "zero"),
    ]
    for kernel, why in wrong:
        with pytest.raises(InputError, match=why):
            es.qalpha(M.T, kernel=kernel)


def test_options_that_cannot_be_used() -> None:
    wrong: list[dict[str, Any]] = [
        {"kernel": "cubic"},
        {"kernel": "poly", "kernel_params": {"gamma": 1.0}},
        {"kernel": "precomputed", "kernel_params": {"landmarks": 3}},
        {"kernel_params": {"degree": 2}},
        {"kernel": "rbf", "eigensolver": "gram"},
    ]
    wrong += [{"kernel": "rbf", "variant": v} for v in ("gap", "supervised", "basic", "laplacian")]
    bad = {"degree": 0, "coef0": -1.0}
    for options in wrong:
        with pytest.raises(OptionError, match="kernel"):
            es.qalpha(make(9, 12).T, y=np.arange(12) % 2, **options)
    for name, value in bad.items():
        with pytest.raises(InputError, match=name):
            es.qalpha(make(9, 12).T, kernel="poly", kernel_params={name: value})
