"""D.C. programming: what the iteration promises."""

from itertools import pairwise

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.budget import Budget
from eigensieve.search.relaxed.dca import Climb, Penalty, semidefinite_shift
from tests.oracles.instances import near_singular_pair

SEEDS = range(12)
KINDS = ("pca", "gev", "lda", "cca", "indefinite", "factor")


def make_pencil(kind: str, seed: int, p: int = 10) -> es.Pencil:
    rng = np.random.default_rng([seed, len(kind)])
    M, N = rng.normal(size=(p + 4, p)), rng.normal(size=(2 * p, p))
    if kind == "pca":
        return es.Pencil(M.T @ M)
    if kind == "gev":
        return es.Pencil(M.T @ M, N.T @ N)
    if kind == "lda":
        return es.lda_pencil(N, np.arange(2 * p) % 2, shrinkage=0.05)
    if kind == "cca":
        return es.cca_pencil(N[:, : p // 2], N[:, p // 2 :] + N[:, : p // 2], shrinkage=0.1)
    if kind == "indefinite":
        return es.Pencil(M[:p] + M[:p].T, N.T @ N)
    return es.FactorPencil(M[:3], N[:5], np.full(p, 0.4))


def make_climb(pencil: es.Pencil, eps: float | None, tol: float = 1e-12) -> Climb:
    free = np.zeros(pencil.size, dtype=bool)
    start = pencil.top()[1][:, 0]
    return Climb(pencil, start, Penalty(eps, free), semidefinite_shift(pencil), tol)


def objective(pencil: es.Pencil, x: np.ndarray, rho: float, eps: float | None) -> float:
    cost = np.abs(x).sum() if eps is None else np.log(np.abs(x) + eps).sum()
    return float(x @ pencil.A @ x - rho * cost)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("eps", [1e-3, 0.1, None])
def test_the_objective_never_falls(kind: str, eps: float | None) -> None:
    compared = 0
    for seed in SEEDS:
        pencil = make_pencil(kind, seed)
        climb = make_climb(pencil, eps)
        for share in (0.03, 0.2):
            rho = share * climb.rho_max
            values = []
            for steps in (1, 2, 3, 5, 10, 30):
                ascent = climb.run(rho, Budget(), steps)
                if ascent.support.size == 0:
                    break
                x = ascent.vector(pencil.size)
                assert x @ pencil.B @ x == pytest.approx(1.0, abs=1e-9)
                values.append(objective(pencil, x, rho, eps))
                assert ascent.history[-1] == pytest.approx(values[-1], rel=1e-9, abs=1e-9)
            unit = 1e-9 * max(abs(v) for v in [*values, 1e-3])
            assert np.all(np.diff(values) >= -unit)
            compared += len(values) > 1
    assert compared >= len(SEEDS)


def test_without_the_shift_it_may_fall() -> None:
    """The reason for the shift: for an indefinite A the tangent is no lower bound."""
    fell = 0
    for seed in SEEDS:
        pencil = make_pencil("indefinite", seed)
        good = make_climb(pencil, 1e-3)
        bare = Climb(pencil, good.start, good.penalty, 0.0, 1e-12)
        for share in (0.03, 0.2):
            rho = share * bare.rho_max
            runs = [bare.run(rho, Budget(), steps).vector(pencil.size) for steps in range(1, 8)]
            values = [objective(pencil, x, rho, 1e-3) for x in runs if x.any()]
            fell += bool(np.any(np.diff(values) < -1e-6))
    assert fell > 0


@pytest.mark.parametrize("kind", KINDS)
def test_fixed_points_and_nested_supports(kind: str) -> None:
    """eps = 0: nu = x'Ax - rho k / 2, and a zero stays zero."""
    shrunk = 0
    for seed in SEEDS:
        pencil = make_pencil(kind, seed)
        climb = make_climb(pencil, 0.0)
        for share in (0.01, 0.1, 0.3):
            rho = share * climb.rho_max
            supports = [climb.run(rho, Budget(), steps).support for steps in (1, 2, 3, 5, 100)]
            for before, after in pairwise(supports):
                assert set(after) <= set(before)
                shrunk += len(after) < len(before)
            ascent = climb.run(rho, Budget(), 5000)
            if ascent.support.size == 0:
                continue
            assert ascent.converged
            x = ascent.vector(pencil.size)
            value = float(x @ pencil.A @ x)
            assert ascent.value == pytest.approx(value, abs=1e-8 * pencil.scale)
            expected = value - rho * ascent.support.size / 2
            assert ascent.nu == pytest.approx(expected, abs=1e-7 * max(abs(value), pencil.scale))
    assert shrunk > 0


@pytest.mark.parametrize("kind", ["pca", "gev", "cca"])
def test_rho_max_is_where_the_first_step_leaves_nothing(kind: str) -> None:
    for eps in (0.0, 0.01, None):
        climb = make_climb(make_pencil(kind, 1), eps)
        assert climb.run(climb.rho_max * (1 + 1e-9), Budget(), 1).support.size == 0
        assert climb.run(climb.rho_max * (1 - 1e-6), Budget(), 1).support.size > 0


def test_no_penalty_is_the_power_method() -> None:
    pencil = make_pencil("gev", 0)
    climb = make_climb(pencil, 0.0).restart(np.ones(10))
    x = climb.run(0.0, Budget(), 10_000).vector(10)
    np.testing.assert_allclose(x @ pencil.A @ x, pencil.top()[0][0], rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_shift_is_the_smallest_that_serves(kind: str) -> None:
    from scipy.linalg import eigh

    pencil = make_pencil(kind, 0)
    least = eigh(pencil.A, pencil.B, eigvals_only=True)[0]
    expected = 0.0 if pencil.is_psd else -least
    assert semidefinite_shift(pencil) == pytest.approx(expected, abs=1e-9 * pencil.scale)


def test_free_features_stay() -> None:
    pencil = make_pencil("pca", 2)
    free = np.zeros(10, dtype=bool)
    weakest = int(np.argmin(np.abs(pencil.top()[1][:, 0])))
    free[weakest] = True
    climb = Climb(pencil, pencil.top()[1][:, 0], Penalty(0.0, free), 0.0, 1e-9)
    ascent = climb.run(0.9 * climb.rho_max, Budget(), 1000)
    assert weakest in ascent.support
    assert ascent.support.size < 5


def test_values_beside_a_large_shift() -> None:
    """Found by fuzzing: x'Ax lost its digits where A is indefinite and B nearly singular."""
    pencil = near_singular_pair(np.random.default_rng(44))
    path = es.dc_path(pencil)
    assert path.cardinalities.max() > 0
    for x, value in zip(path.vectors.T, path.values):
        size = np.abs(x) @ np.abs(pencil.A) @ np.abs(x)
        slack = 1e-9 + 1e-14 * np.abs(x) @ np.abs(pencil.B) @ np.abs(x)
        assert abs(x @ pencil.A @ x - value) <= slack * size
