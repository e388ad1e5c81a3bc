"""The bound without a search: never below the optimum, and tight where it is known to be."""

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.search.exact.dominance.root import row_bound
from eigensieve.search.quick_bound import root_bound
from eigensieve.search.spectral_bound import spectral_upper_bound


def random_problem(seed: int) -> tuple[es.Pencil, int | tuple[int, int], list[int]]:
    """PCA pencils, half of them indefinite; some scaled, with blocks, or with a forced feature."""
    rng = np.random.default_rng([seed, 7])
    p = 2 * int(rng.integers(2, 5))
    M = rng.normal(size=(p + 2, p)) * rng.uniform(0.2, 3, p)
    A = M.T @ M if seed % 2 else M[:p] + M[:p].T
    B = np.diag(rng.uniform(0.1, 4, p)) if seed % 5 == 0 else None
    has_blocks = seed % 3 == 0
    k = int(rng.integers(2, p))
    pencil = es.Pencil(A, B, blocks=(np.arange(p) % 2).tolist() if has_blocks else None)
    return pencil, (k // 2, k - k // 2) if has_blocks else k, [1] if seed % 4 == 0 else []


def test_never_below_the_optimum() -> None:
    relaxed = 0
    for seed in range(180):
        pencil, k, include = random_problem(seed)
        best = es.solve(pencil, k, solver="exhaustive", include=include)
        problem = make_problem(pencil, k, "lambda_max", include)
        bound = root_bound(problem, best.support)
        assert bound >= best.objective - 1e-9 * pencil.scale
        others = min(spectral_upper_bound(problem), row_bound(problem, best.objective))
        relaxed += bound < others - 1e-6 * pencil.scale
    assert relaxed >= 10  # the semidefinite relaxation was in it


def test_pit_props(data_dir) -> None:
    """The spectral bound alone leaves 13.7, 16.9 and 9.9 % at k = 3, 4, 5."""
    with np.load(data_dir / "pitprops.npz") as file:
        pencil = es.Pencil(file["corr"])
    for k, best in ((3, 2.47533), (4, 2.93748), (5, 3.40615)):
        problem = make_problem(pencil, k)
        bound = root_bound(problem, es.solve(pencil, k).support)
        assert best <= bound <= 1.03 * best
        assert spectral_upper_bound(problem) > 1.09 * best


def test_the_relaxation_is_left_out_where_it_is_not_made_for() -> None:
    rng = np.random.default_rng(0)
    M, N = rng.normal(size=(20, 8)), rng.normal(size=(30, 8))
    pencil = es.Pencil(M.T @ M, N.T @ N)
    best = es.solve(pencil, 3, solver="exhaustive")
    bound = root_bound(make_problem(pencil, 3), best.support)
    assert best.objective <= bound == pytest.approx(spectral_upper_bound(make_problem(pencil, 3)))


def test_the_rows_alone_are_never_below_the_optimum() -> None:
    for seed in range(200):
        pencil, k, include = random_problem(seed)
        if not pencil.has_diagonal_B:
            continue
        best = es.solve(pencil, k, solver="exhaustive", include=include)
        problem = make_problem(pencil, k, "lambda_max", include)
        for value in (best.objective, -np.inf):  # a poor set may be known, or none
            bound = row_bound(problem, value)
            assert bound >= best.objective - 1e-12 * pencil.scale


@pytest.mark.parametrize("seed", range(30))
def test_correlations_have_no_bound_above_k(seed: int) -> None:
    rng = np.random.default_rng(seed)
    p, n = int(rng.integers(4, 60)), int(rng.integers(3, 40))
    X = rng.normal(size=(n, p)) + rng.normal(size=(n, 1)) * rng.uniform(0, 3, p)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for pencil in (es.pca_pencil(X), es.Pencil(np.corrcoef(X.T))):
        for k in range(2, p):
            support = np.arange(k)
            problem = make_problem(pencil, k)
            assert row_bound(problem, problem.score(support)) <= k * (1 + 1e-8)
            if k <= 4:
                assert root_bound(problem, support) <= k * (1 + 1e-8)


def test_a_large_matrix_has_a_bound_from_its_rows() -> None:
    """No eigenvalue of it is found; those of sets within two groups of equal columns are known."""
    rng = np.random.default_rng(3)
    S = 0.05 * np.corrcoef(rng.normal(size=(1600, 3200)))
    S[:800, :800] += 0.9
    S[800:, 800:] += 0.7
    np.fill_diagonal(S, 1.0)
    problem = make_problem(es.Pencil(S), 5)
    value = max(problem.score(np.arange(i, i + 5)) for i in range(0, 800, 5))
    assert value <= root_bound(problem, np.arange(5)) <= 1.01 * value
