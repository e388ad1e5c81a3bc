"""SPCA: its criterion, its fixed points, exact cardinality against LARS, odd input."""

import numpy as np
import pytest
from scipy import linalg
from sklearn.linear_model import lars_path_gram

import eigensieve as es
from eigensieve.errors import OptionError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.solution import Status
from eigensieve.search.relaxed.elastic_components import ElasticComponents, find_elastic_components
from eigensieve.search.solve import solve_components


def covariance(p: int = 9, n: int = 30, seed: int = 0) -> np.ndarray:
    return np.cov(np.random.default_rng(seed).normal(size=(n, p)).T, bias=True)


def alternate(A: np.ndarray, ks: list, rhos: list, **options) -> ElasticComponents:
    options = {"free": np.zeros(len(A), dtype=bool), **options}
    return find_elastic_components(es.Pencil(A), ks, rhos, Budget(), **options)


def criterion(A: np.ndarray, found: ElasticComponents, rhos: np.ndarray, ridge: float) -> float:
    off = found.a - found.b
    loss = np.trace(off.T @ A @ off) + ridge * np.sum(found.b**2)
    return float(loss + rhos @ np.abs(found.b).sum(axis=0))


def test_the_criterion_falls_to_a_fixed_point() -> None:
    A, rhos, ridge = covariance(), np.array([0.3, 0.2, 0.4]), 0.05
    values = []
    for n in range(1, 12):
        found = alternate(A, [None] * 3, list(rhos), ridge=ridge, max_iter=n, tol=0.0)
        np.testing.assert_allclose(found.a.T @ found.a, np.eye(3), atol=1e-12)
        values.append(criterion(A, found, rhos, ridge))
    assert np.all(np.diff(values) < 0)
    end = alternate(A, [None] * 3, list(rhos), ridge=ridge, tol=1e-12, max_iter=5000)
    assert end.status is Status.CONVERGED
    assert criterion(A, end, rhos, ridge) < values[-1]
    # the conditions of both steps, from their definition
    gradient = A @ end.a - (A + ridge * np.eye(9)) @ end.b
    on = end.b != 0
    assert 3 <= on.sum() < 27
    assert np.all(np.abs(gradient) <= rhos / 2 + 1e-9)
    np.testing.assert_allclose(gradient[on], (np.sign(end.b) * rhos / 2)[on], atol=1e-9)
    np.testing.assert_allclose(end.a, linalg.polar(A @ end.b)[0], atol=1e-9)


def by_lars(A: np.ndarray, ks: list[int], ridge: float) -> np.ndarray:
    """The same alternation with scikit-learn's LARS, stopped where one more would enter."""
    a = linalg.eigh(A)[1][:, ::-1][:, : len(ks)]
    b = np.zeros_like(a)
    for _ in range(5000):
        old, b = b, np.zeros_like(a)
        for j, k in enumerate(ks):
            B = A + ridge * np.eye(len(A))
            path = lars_path_gram(A @ a[:, j], B, n_samples=1, method="lasso")[2]
            counts = np.count_nonzero(np.abs(path) > 1e-12, axis=0)
            b[:, j] = path[:, np.flatnonzero(counts == k)[0]]
        if np.abs(b - old).max() < 1e-11:
            break
        a = linalg.polar(A @ b)[0]
    return b


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("ks", [[3], [1], [4, 2, 1]])
def test_exact_cardinality_is_lars(ks: list[int], seed: int) -> None:
    A = covariance(seed=seed)
    found = alternate(A, ks, [None] * len(ks), ridge=0.01, tol=1e-10, max_iter=5000)
    assert found.status is Status.CONVERGED
    expected = by_lars(A, ks, 0.01)
    signs = np.sign(np.sum(found.b * expected, axis=0))
    np.testing.assert_allclose(found.b * signs, expected, atol=1e-6)


def test_infinite_ridge_is_thresholding() -> None:
    A, rho = covariance(), 0.5
    x = linalg.eigh(A)[1][:, -1]
    for _ in range(2000):
        b = np.sign(A @ x) * np.maximum(np.abs(A @ x) - rho / 2, 0.0)
        x = A @ b / np.linalg.norm(A @ b)
    found = es.solve(es.Pencil(A), None, solver="spca", rho=rho, ridge=np.inf, max_iter=2000)
    assert 1 < found.k < 9
    assert found.support.tolist() == np.flatnonzero(b).tolist()


def test_factors_and_matrices_agree() -> None:
    X = np.random.default_rng(3).normal(size=(8, 20))
    wide = es.pca_pencil(X)
    assert isinstance(wide, es.FactorPencil)
    for options in ({"rho": 0.8}, {}):
        k = None if options else 4
        a, b = (es.solve(p, k, solver="spca", **options) for p in (wide, es.Pencil(wide.A)))
        assert a.support.tolist() == b.support.tolist()
        a.verify(wide)


def test_a_planted_component_is_found() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 400))
    X[:, [3, 50, 399]] += 4.0 * rng.normal(size=(60, 1))
    for ridge in (None, np.inf):
        solution = es.solve(es.pca_pencil(X), 3, solver="spca", ridge=ridge)
        assert solution.support.tolist() == [3, 50, 399]
        assert solution.status is Status.CONVERGED


def test_a_penalty_decides_how_many() -> None:
    pencil = es.Pencil(covariance())
    counts = [es.solve(pencil, None, solver="spca", rho=r).k for r in (0.0, 0.3, 0.8)]
    assert 9 == counts[0] > counts[1] > counts[2]
    with pytest.raises(OptionError, match="leaves no feature; it must be below"):
        es.solve(pencil, None, solver="spca", rho=100.0)
    most = es.solve(pencil, 2, solver="spca", rho=0.3)
    assert most.k == 2
    forced = es.solve(pencil, None, solver="spca", rho=100.0, include=[0, 7])
    assert forced.support.tolist() == [0, 7]
    for k in (3, 5):
        assert {0, 7} < set(es.solve(pencil, k, solver="spca", include=[0, 7]).support.tolist())


def test_a_diagonal_B_is_scaled_away() -> None:
    A, d = covariance(), np.geomspace(0.1, 10, 9)
    root = np.sqrt(d)
    scaled = es.Pencil(A * np.outer(root, root), np.diag(d))
    for k in (2, 5):
        plain = es.solve(es.Pencil(A), k, solver="spca")
        found = es.solve(scaled, k, solver="spca")
        found.verify(scaled)
        assert found.support.tolist() == plain.support.tolist()
        assert found.objective == pytest.approx(plain.objective)


def test_loadings_of_all_components() -> None:
    pencil = es.Pencil(covariance())
    loadings, solutions = solve_components(pencil, [4, 2, 2], "spca")
    np.testing.assert_allclose(np.linalg.norm(loadings, axis=0), 1.0)
    for x, solution in zip(loadings.T, solutions):
        solution.verify(pencil)  # of the pencil as it is: nothing was taken out
        assert set(np.flatnonzero(x)) <= set(solution.support.tolist())
        assert pencil.rayleigh(x) <= solution.objective
    assert [s.k for s in solutions] == [4, 2, 2]
    free, _ = solve_components(pencil, [None, None], "spca", rho=[0.3, 0.8])
    assert np.count_nonzero(free[:, 0]) > np.count_nonzero(free[:, 1])


def test_odd_matrices() -> None:
    X = np.random.default_rng(5).normal(size=(30, 8))
    flat = X.copy()
    flat[:, [1, 4]] = 2.0
    bank = [
        np.zeros((4, 4)),
        np.cov(np.hstack([X, X]).T),
        np.cov(flat.T),
        np.cov((X * np.geomspace(1e-8, 1e8, 8)).T),
        np.eye(5),
        np.ones((6, 6)),
    ]
    for A in bank:
        pencil = es.Pencil(A)
        for k in {1, 2, 3, len(A)}:
            solution = es.solve(pencil, k, solver="spca", max_iter=50)
            solution.verify(pencil)
            assert solution.k == k
    loadings, _ = solve_components(es.Pencil(np.zeros((4, 4))), [2, 1], "spca")
    np.testing.assert_allclose(np.linalg.norm(loadings, axis=0), 1.0)


def test_limits_and_refusals() -> None:
    pencil = es.Pencil(covariance())
    late = es.solve(pencil, 3, solver="spca", time_limit=0.0)
    assert late.status is Status.TIME_LIMIT
    late.verify(pencil)
    assert es.solve(pencil, 3, solver="spca", max_iter=1).status is Status.ITERATION_LIMIT
    with pytest.raises(OptionError, match="diagonal B"):
        es.solve(es.Pencil(np.eye(3), np.eye(3) + 0.1), 2, solver="spca")
    with pytest.raises(OptionError, match="positive semidefinite"):
        es.solve(es.Pencil(np.diag([1.0, -1.0, 1.0])), 2, solver="spca")
    with pytest.raises(OptionError, match="ridge is 0"):
        es.solve(es.Pencil(np.ones((3, 3))), 2, solver="spca", ridge=0.0)
    for bad in ({"rho": -1.0}, {"rho": [1.0, 2.0]}, {"ridge": -1.0}, {"tol": "small"}):
        with pytest.raises(OptionError, match=next(iter(bad))):
            es.solve(pencil, 2, solver="spca", **bad)
    with pytest.raises(OptionError, match="no option lasso"):
        solve_components(pencil, [2], "spca", lasso=1)


def test_a_singular_matrix_takes_no_minutes() -> None:
    """All columns are multiples of one: every lasso has a nearly singular B."""
    a = np.random.default_rng(3).normal(size=7)
    pencil = es.Pencil(np.outer(a, a))
    for k in (2, 3):
        solution = es.solve(pencil, k, solver="spca", time_limit=5.0)
        assert solution.status is Status.CONVERGED
        assert solution.support.tolist() == sorted(np.argsort(-np.abs(a))[:k].tolist())


def test_sets_that_come_back_end_it() -> None:
    """k splits a pair of twins: the alternation goes round in circles, and is told to end."""
    X = np.random.default_rng(6).normal(size=(40, 8))
    pencil = es.pca_pencil(np.hstack([X, X]))
    solution = es.solve(pencil, 5, solver="spca")
    solution.verify(pencil)
    assert solution.status is Status.ITERATION_LIMIT
    assert 20 < solution.n_iter < 500
