"""Exact solvers on real data, against values that are known."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import eigensieve as es
from eigensieve.pencil.solution import Status
from tests.clock import solve_in_time
from tests.conftest import Dataset

Load = Callable[[str], Dataset]
# Optimum of the first sparse component of the pit props, k = 1..13.
PIT_PROPS = (
    1, 1.95400, 2.47533, 2.93748, 3.40615, 3.77096, 3.99619, 4.06861, 4.13865, 4.17264, 4.20828,
    4.21825, 4.21863,
)  # fmt: skip


def standardised(X: np.ndarray) -> np.ndarray:
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def certified(pencil: es.Pencil, solution: es.Solution) -> es.Solution:
    solution.verify(pencil)
    assert solution.is_certified, repr(solution)
    return solution


@pytest.mark.parametrize(("k", "value"), [(5, 0.61329), (30, 1.49060), (45, 1.61709)])
def test_sonar_without_shrinkage(load_data: Load, k: int, value: float) -> None:
    X, y, _ = load_data("sonar")
    pencil = es.lda_pencil(standardised(X), y, shrinkage=0.0)
    for solver in ("leaps", "exact"):
        solution = certified(pencil, es.solve(pencil, k, solver=solver, criterion="trace"))
        assert solution.solver == "leaps"
        assert solution.objective == pytest.approx(value, abs=1e-5)


def test_sonar_with_shrinkage(load_data: Load) -> None:
    X, y, _ = load_data("sonar")
    pencil = es.lda_pencil(standardised(X), y, shrinkage=0.5)
    path = es.solve_path(pencil, (3, 6), solver="exact", criterion="trace")
    for k in (3, 6):
        certified(pencil, path[k])
        assert path[k].solver == "perspective"
    # on a part of the features another algorithm must find the same
    others = list(range(24, 60))
    both = [
        certified(pencil, es.solve(pencil, 6, solver=name, criterion="trace", exclude=others))
        for name in ("leaps", "perspective")
    ]
    assert both[0].support.tolist() == both[1].support.tolist()


def test_pit_props(data_dir: Path) -> None:
    with np.load(data_dir / "pitprops.npz") as file:
        pencil = es.Pencil(file["corr"])
    path = es.solve_path(pencil, solver="exact")
    assert path.ks == list(range(1, 14))
    for solution, value in zip(path.values(), PIT_PROPS):
        assert certified(pencil, solution).objective == pytest.approx(value, abs=6e-6)


@pytest.mark.parametrize(
    ("name", "k", "value", "digit"),
    [
        # brute force on the matrix that we have gives 99201.292 and 99201.764
        ("wine", 5, 99201.31, 0.02),
        ("wine", 10, 99201.78, 0.02),
        ("normwine", 5, 3.43978, 1e-5),
        ("normwine", 10, 4.59429, 1e-5),
        ("communities", 5, 0.2771, 0.01),
        ("communities", 10, 0.4452, 0.01),
    ],
)
def test_published_optima_of_sparse_pca(
    data_dir: Path, name: str, k: int, value: float, digit: float
) -> None:
    with np.load(data_dir / "covariance" / f"{name}.npz") as file:
        pencil = es.Pencil(file["S"])
    solution = certified(pencil, es.solve(pencil, k, solver="exact"))
    assert solution.objective == pytest.approx(value, abs=digit)


def test_five_colon_genes(load_data: Load) -> None:
    X, y, _ = load_data("colon")
    pencil = es.lda_pencil(standardised(np.log10(X)), y, shrinkage=0.5)
    solution = certified(pencil, es.solve(pencil, 5, solver="exact", criterion="trace"))
    assert solution.solver == "perspective"
    greedy = es.solve(pencil, 5, solver="greedy", criterion="trace")
    assert greedy.objective <= solution.objective * (1 + 1e-6)


def test_log_det_of_genes(load_data: Load) -> None:
    X, y, _ = load_data("srbct83")
    pencil = es.lda_pencil(standardised(X), y, shrinkage=0.7)
    solution = certified(pencil, es.solve(pencil, 3, solver="exact", criterion="logdet"))
    assert solution.solver == "perspective"


def test_four_pixels_of_ten_digits() -> None:
    X, y = load_digits(return_X_y=True)
    pencil = es.lda_pencil(X[:, X.std(axis=0) > 0.3], y, shrinkage=0.0)
    solution = certified(pencil, es.solve(pencil, 4, "exact", "lambda_max"))
    assert solution.solver == "levelset"


def test_a_time_limit_is_kept_with_a_valid_bound(load_data: Load) -> None:
    X, y, _ = load_data("prostate")
    pencil = es.lda_pencil(standardised(X), y, shrinkage=0.2)
    solutions = []
    for limit in (0.3, 1.0):
        solution = solve_in_time(pencil, 20, solver="exact", criterion="trace", time_limit=limit)
        solution.verify(pencil)
        assert solution.status is Status.TIME_LIMIT
        assert np.isfinite(solution.bound)
        solutions.append(solution)
    best = max(solution.objective for solution in solutions)
    assert best <= min(solution.bound for solution in solutions)
