"""The bound without a search: never below the optimum, and tight where it is known to be."""

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
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
    for seed in range(90):
        pencil, k, include = random_problem(seed)
        best = es.solve(pencil, k, solver="exhaustive", include=include)
        problem = make_problem(pencil, k, "lambda_max", include)
        bound = root_bound(problem, best.support)
        assert bound >= best.objective - 1e-9 * pencil.scale
        relaxed += bound < spectral_upper_bound(problem) - 1e-6 * pencil.scale
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
