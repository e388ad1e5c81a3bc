"""Corners where an exact search once crashed, or claimed what was not so."""

import itertools

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.problem import make_problem
from eigensieve.search.exact.perspective import relaxation
from eigensieve.search.exact.perspective.relaxation import relax_all
from eigensieve.search.exact.perspective.scaled_pencil import ScaledPencil
from eigensieve.search.target import start_state

FAST = ("exact", "leaps", "perspective", "interlacing")


def best_logdet(H: np.ndarray, B: np.ndarray, k: int) -> float:
    """Brute force from singular values of L^-1 H': no digits are lost at any scale."""

    def value(S: tuple[int, ...]) -> float:
        L = np.linalg.cholesky(B[np.ix_(S, S)])
        Z = np.linalg.solve(L, H[:, S].T)
        return float(np.log1p(np.linalg.svd(Z, compute_uv=False) ** 2).sum())

    return max(value(S) for S in itertools.combinations(range(len(B)), k))


@pytest.mark.parametrize("solver", FAST)
@pytest.mark.parametrize("scale", [1e-60, 1e-20, 1e-16, 1e-8, 1.0, 1e8, 1e12])
def test_logdet_of_any_size(solver: str, scale: float) -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        H = np.sqrt(scale) * rng.normal(size=(1 + seed % 3, 9))
        B = np.cov(rng.normal(size=(40, 9)).T)
        pencil = es.Pencil(H.T @ H, B)
        solution = es.solve(pencil, 4, solver, "logdet")
        solution.verify(pencil)
        best = best_logdet(H, B, 4)
        assert solution.bound >= best * (1 - 1e-9)
        if solution.is_certified:
            assert solution.objective >= best - 1e-6 * max(best, solution.scale)
        if solver == "exact" and scale <= 1e8:
            assert solution.is_certified


@pytest.mark.parametrize("solver", FAST)
def test_a_wide_tolerance_does_not_overflow(solver: str) -> None:
    d = 1e30 * np.array([3.0, 2.0, 1.0])
    pencil = es.Pencil(np.outer(d, d), np.eye(3))
    assert es.solve(pencil, 2, solver, "logdet", gap_tol=5).is_certified


def wide_pencil(p: int = 4500) -> es.FactorPencil:
    rng = np.random.default_rng(0)
    return es.FactorPencil(rng.normal(size=(1, p)), rng.normal(size=(20, p)), np.full(p, 20.0))


def test_everything_included_in_a_wide_problem() -> None:
    pencil = wide_pencil()
    path = es.solve_path(pencil, [3, 4], "exact", "trace", include=[1, 2, 3])
    path.verify(pencil)
    assert all(solution.is_certified for solution in path.values())


def test_thousands_of_identical_features() -> None:
    pencil = es.FactorPencil(np.ones((1, 4500)), np.ones((20, 4500)), np.full(4500, 0.5))
    solution = es.solve(pencil, 4, "exact", "trace", include=[7], audit=True)
    assert solution.is_certified
    assert 7 in solution.support


def test_a_weight_too_small_to_count_is_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    pencil = es.lda_pencil(
        np.random.default_rng(0).normal(size=(30, 6)), np.arange(30) % 2, shrinkage=0.5
    )
    problem = make_problem(pencil, 2, "trace")
    best = es.solve(pencil, 2, "exhaustive", "trace").objective
    exact = np.array([1.0, 1.0, 0, 0, 0, 0])
    tiny = np.array([1.0, 1.0, 9e-10, 9e-10, 9e-10, 9e-10])
    args = problem, ScaledPencil(problem), start_state(problem)
    monkeypatch.setattr(relaxation, "maximise", lambda _, w, *__: w)
    bounds = [relax_all(*args, given).bound for given in (exact, tiny)]
    assert bounds[1] == bounds[0] >= best


def test_no_start_is_a_start() -> None:
    assert es.solve(wide_pencil(50), 3, "exact", "trace", start=None).is_certified


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(ValueError, match="random_state is -1"):
        es.solve(wide_pencil(50), 3, "exact", "trace", random_state=-1)
