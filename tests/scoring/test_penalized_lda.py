"""Penalized LDA: the fused proximal map, the ascent and the deflation, against dense oracles."""

from __future__ import annotations

import time
from collections.abc import Callable

import clarabel
import numpy as np
import pytest
from scipy import linalg, optimize, sparse

from eigensieve.pencil.solution import Status
from eigensieve.scoring.penalized_lda import (
    Climb,
    PenalizedDirections,
    deflate,
    find_directions,
    largest_alpha,
    leading_pair,
    safe_alpha,
)
from eigensieve.scoring.total_variation_kernel import merge_neighbours

PENALTIES = [(0.0, 0.0), (0.1, 0.0), (0.3, 0.0), (0.0, 0.2), (0.1, 0.1), (0.2, 0.5)]


def random_root(classes: int, p: int, seed: int = 0) -> np.ndarray:
    """(classes - 1, p), as of standardised data: some large columns, the rest noise."""
    rng = np.random.default_rng([seed, classes, p])
    return rng.normal(size=(classes - 1, p)) * np.where(np.arange(p) < p // 4, 1.0, 0.2)


def objective(S: np.ndarray, c: np.ndarray, alpha: float, fusion: float) -> float:
    top = linalg.eigvalsh(S)[-1]
    return float(
        c @ S @ c - top * (alpha * np.abs(c).sum() + fusion * np.abs(np.diff(c, axis=0)).sum())
    )


# --- the proximal map of total variation ---


def total_variation_cost(x: np.ndarray, y: np.ndarray, weight: float) -> float:
    return float(0.5 * np.sum((x - y) ** 2) + weight * np.abs(np.diff(x)).sum())


def prox_by_cone_solver(y: np.ndarray, weight: float) -> np.ndarray:
    """min 1/2 |x - y|^2 + weight sum t subject to -t <= Dx <= t."""
    n = y.size
    D = np.diff(np.eye(n), axis=0)
    one = np.eye(n - 1)
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-12
    solution = clarabel.DefaultSolver(
        sparse.csc_matrix(np.diag(np.repeat([1.0, 0.0], [n, n - 1]))),
        np.concatenate([-y, np.full(n - 1, weight)]),
        sparse.csc_matrix(np.block([[D, -one], [-D, -one]])),
        np.zeros(2 * n - 2),
        [clarabel.NonnegativeConeT(2 * n - 2)],
        settings,
    ).solve()
    return np.array(solution.x[:n])


@pytest.mark.parametrize("weight", [0.01, 0.3, 1.0, 4.0])
@pytest.mark.parametrize("n", [2, 3, 7, 30])
def test_the_fused_map_is_the_one_of_a_cone_solver(n: int, weight: float) -> None:
    y = np.random.default_rng(n).normal(size=n)
    x, theirs = merge_neighbours(y, weight), prox_by_cone_solver(y, weight)
    np.testing.assert_allclose(x, theirs, atol=1e-6)
    assert total_variation_cost(x, y, weight) <= total_variation_cost(theirs, y, weight) + 1e-12


def assert_optimal(x: np.ndarray, y: np.ndarray, weight: float) -> None:
    """With u the sums of y - x: |u| <= weight, u = 0 at the end, and -weight where x rises."""
    u, step = np.cumsum(y - x), np.diff(x)
    unit = np.abs(y).sum()
    assert abs(u[-1]) <= 1e-12 * unit
    assert np.abs(u).max() <= weight + 1e-12 * unit
    moves = step != 0
    np.testing.assert_allclose(
        u[:-1][moves], -weight * np.sign(step[moves]), rtol=0, atol=1e-12 * unit
    )


MAKERS: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "noise": lambda rng, n: rng.normal(size=n),
    "walk": lambda rng, n: np.cumsum(rng.normal(size=n)),
    "whole numbers": lambda rng, n: np.round(rng.normal(size=n)),
    "tiny": lambda rng, n: 1e-60 * rng.normal(size=n),
    "steps": lambda rng, n: np.sign(np.sin(np.arange(n) / 5.0)) + 0.1 * rng.normal(size=n),
    "ramp": lambda rng, n: np.arange(n, dtype=float),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_the_fused_map_satisfies_the_optimality_conditions(kind: str) -> None:
    rng = np.random.default_rng(0)
    for n in (2, 3, 4, 5, 8, 50, 1000):
        y = MAKERS[kind](rng, n)
        for share in (1e-6, 0.01, 0.1, 0.5, 0.99):
            weight = share * np.abs(np.cumsum(y - y.mean())).max()
            assert_optimal(merge_neighbours(y, weight), y, weight)


def test_the_fused_map_at_its_limits() -> None:
    y = np.array([3.0, -1.0, 4.0, 1.0, -5.0])
    np.testing.assert_array_equal(merge_neighbours(y, 0.0), y)
    for weight in (100.0, 1e300):
        np.testing.assert_allclose(merge_neighbours(y, weight), np.full(5, 0.4), rtol=1e-15)
    np.testing.assert_array_equal(merge_neighbours(np.array([2.0]), 1.0), [2.0])
    np.testing.assert_array_equal(merge_neighbours(np.full(6, 7.0), 1.0), np.full(6, 7.0))
    # two pairs, each moved by weight / 2; neighbours are exactly equal
    merged = merge_neighbours(np.array([0.9, 1.1, 4.9, 5.1]), 0.5)
    np.testing.assert_allclose(merged, [1.25, 1.25, 4.75, 4.75], rtol=1e-14)
    assert merged[0] == merged[1]
    assert merged[2] == merged[3]


def test_the_fused_map_takes_linear_time_where_naive_ones_are_quadratic() -> None:
    y = np.arange(10.0**6)  # a ramp, clipped from both ends
    start = time.perf_counter()
    x = merge_neighbours(y, 1e9)
    assert time.perf_counter() - start < 5
    assert np.unique(x).size > 9e5


# --- one step ---


@pytest.mark.parametrize(("alpha", "fusion"), PENALTIES)
def test_a_step_maximises_the_minorizer(alpha: float, fusion: float) -> None:
    """max 2 v'x - alpha |x|_1 - fusion TV(x) for |x| <= 1, as a cone programme by SLSQP.

    x = plus - minus, and the same for its differences: smooth, and convex.
    """
    p = 6
    v = np.random.default_rng(1).normal(size=p)
    x = Climb(alpha, fusion, 1e-8, 1).step(v)
    split = np.hstack([np.eye(p), -np.eye(p)])
    D = np.diff(np.eye(p), axis=0)
    q = p - 1

    def cost(z: np.ndarray) -> float:
        return float(
            -2 * v @ split @ z[: 2 * p] + alpha * z[: 2 * p].sum() + fusion * z[2 * p :].sum()
        )

    found = optimize.minimize(
        cost,
        np.full(2 * p + 2 * q, 0.05),
        method="SLSQP",
        bounds=[(0, None)] * (2 * p + 2 * q),
        constraints=[
            {"type": "ineq", "fun": lambda z: 1 - np.sum((split @ z[: 2 * p]) ** 2)},
            {
                "type": "eq",
                "fun": lambda z: D @ split @ z[: 2 * p] - z[2 * p : 2 * p + q] + z[2 * p + q :],
            },
        ],
        options={"maxiter": 1000, "ftol": 1e-14},
    )
    value = 2 * v @ x - alpha * np.abs(x).sum() - fusion * np.abs(np.diff(x)).sum()
    assert np.linalg.norm(x) == pytest.approx(1.0, rel=1e-14)
    assert value == pytest.approx(-found.fun, rel=1e-7)
    np.testing.assert_allclose(x, split @ found.x[: 2 * p], atol=1e-4)


def test_a_step_vanishes_rather_than_following_round_off() -> None:
    v = np.array([0.1, 0.2, -0.3])
    assert not Climb(0.6, 0.0, 1e-8, 1).step(v).any()
    assert Climb(0.59, 0.0, 1e-8, 1).step(v).any()
    assert v.sum() != 0  # the mean is 1e-17
    assert not Climb(0.0, 10.0, 1e-8, 1).step(v).any()


# --- the directions ---


@pytest.mark.parametrize("classes", [2, 3, 5])
def test_without_penalties_directions_are_the_eigenvectors(classes: int) -> None:
    root = random_root(classes, 20)
    found = find_directions(root, classes - 1, alpha=0.0)
    values, vectors = linalg.eigh(root.T @ root)
    np.testing.assert_allclose(found.separation, values[::-1][: classes - 1], rtol=1e-12)
    np.testing.assert_allclose(found.objective, found.separation, rtol=1e-14)
    overlap = np.abs(vectors[:, ::-1][:, : classes - 1].T @ found.vectors)
    np.testing.assert_allclose(overlap, np.eye(classes - 1), atol=1e-10)
    assert found.status is Status.CONVERGED


def stationarity(S: np.ndarray, c: np.ndarray, alpha: float, fusion: float) -> float:
    """Distance of c from optimality: 2Sc = subgradient of the penalties + 2 mu c, mu >= 0.

    The subgradients s (of |c|) and w (of the differences) are found by bounded least squares.
    """
    p, top = c.size, linalg.eigvalsh(S)[-1]
    D = np.diff(np.eye(p), axis=0)
    step = D @ c
    tie, zero = np.abs(step) < 1e-9, np.abs(c) < 1e-9
    fixed = alpha * np.sign(np.where(zero, 0, c)) + fusion * D.T @ np.sign(np.where(tie, 0, step))
    columns = np.hstack([alpha * np.eye(p)[:, zero], fusion * D.T[:, tie], 2 * c[:, None]])
    bounds = np.concatenate([np.ones(zero.sum() + tie.sum()), [np.inf]])
    low = np.concatenate([-np.ones(zero.sum() + tie.sum()), [0.0]])
    gradient = 2 * S @ c / top - fixed
    fit = optimize.lsq_linear(columns, gradient, bounds=(low, bounds), tol=1e-14, max_iter=1000)
    return float(np.linalg.norm(columns @ fit.x - gradient))


@pytest.mark.parametrize(("alpha", "fusion"), PENALTIES)
@pytest.mark.parametrize("classes", [2, 4])
def test_every_direction_is_stationary(classes: int, alpha: float, fusion: float) -> None:
    root = random_root(classes, 16)
    found = find_directions(root, classes - 1, alpha=alpha, fusion=fusion, tol=1e-12, max_iter=5000)
    assert found.vectors.shape[1] >= 1
    for k, c in enumerate(found.vectors.T):
        S = literal_deflation(root, found.vectors[:, :k])
        assert np.linalg.norm(c) == pytest.approx(1.0, rel=1e-12)
        assert stationarity(S, c, alpha, fusion) < 1e-6
        assert found.objective[k] == pytest.approx(objective(S, c, alpha, fusion), rel=1e-9)
        assert found.separation[k] == pytest.approx(c @ S @ c, rel=1e-9)
    other = np.roll(found.vectors[:, 0], 1)
    assert stationarity(root.T @ root, other, alpha, fusion) > 1e-2  # the measure can fail


def literal_deflation(root: np.ndarray, before: np.ndarray) -> np.ndarray:
    """R'P R with P = I - the projector on the columns of R before."""
    image = root @ before
    return root.T @ (np.eye(len(root)) - image @ np.linalg.pinv(image)) @ root


@pytest.mark.parametrize("classes", [3, 4, 6])
def test_deflation_is_the_projection(classes: int) -> None:
    root = random_root(classes, 30)
    found = find_directions(root, classes - 1, alpha=0.15)
    assert found.vectors.shape[1] == classes - 1
    rest = root
    for k in range(1, classes - 1):
        rest = deflate(rest, rest @ found.vectors[:, k - 1])
        assert rest.shape == (classes - 1 - k, 30)
        np.testing.assert_allclose(
            rest.T @ rest, literal_deflation(root, found.vectors[:, :k]), atol=1e-11
        )


@pytest.mark.parametrize(("alpha", "fusion"), PENALTIES[1:-1])
@pytest.mark.parametrize("classes", [2, 3, 5])
def test_the_objective_never_falls(classes: int, alpha: float, fusion: float) -> None:
    root = random_root(classes, 40)
    S = root.T @ root
    values = [objective(S, leading_pair(root)[1], alpha, fusion)]
    for steps in range(1, 25):
        found = find_directions(root, 1, alpha=alpha, fusion=fusion, max_iter=steps)
        values.append(float(found.objective[0]))
    assert np.diff(values).min() >= -1e-12 * abs(values[0])
    assert values[-1] > values[0] + 1e-3 * abs(values[0])


def test_for_two_classes_the_answer_is_the_best_on_the_curve_of_thresholds() -> None:
    """Every stationary point is a soft-thresholded start: scan them all, take the best nearby."""
    root = random_root(2, 200)
    top, start = leading_pair(root)
    for alpha in (0.03, 0.06, 0.1):
        (value,) = find_directions(root, 1, alpha=alpha).objective / top
        best = -np.inf
        for t in np.linspace(0, np.abs(start).max() * 0.999, 20_000):
            c = np.sign(start) * np.maximum(np.abs(start) - t, 0)
            c /= np.linalg.norm(c)
            best = max(best, (start @ c) ** 2 - alpha * np.abs(c).sum())
        assert value == pytest.approx(best, abs=1e-6)


def test_fusion_finds_steps() -> None:
    rng = np.random.default_rng(0)
    signal = np.repeat([0.0, 2.0, 0.0, -1.0, 0.0], 20)
    root = (signal + 0.05 * rng.normal(size=100))[None, :]
    plain = find_directions(root, 1, alpha=0.02).vectors[:, 0]
    fused = find_directions(root, 1, alpha=0.02, fusion=0.2).vectors[:, 0]
    assert np.unique(plain).size > 40
    assert np.unique(fused).size == 3
    expected = np.sign(signal) * np.sign(fused[20])
    np.testing.assert_array_equal(np.sign(fused), expected)


# --- how much penalty is too much ---


def test_a_direction_that_vanishes_ends_the_list() -> None:
    root = np.vstack([np.r_[np.full(4, 3.0), np.zeros(96)], np.r_[np.zeros(4), np.full(96, 0.3)]])
    assert find_directions(root, 2, alpha=0.1).vectors.shape == (100, 2)
    found = find_directions(root, 2, alpha=0.5)  # beyond 2 / sqrt(96), below 2 / sqrt(4)
    assert found.vectors.shape == (100, 1)
    assert found.objective.shape == found.n_iter.shape == (1,)
    nothing = find_directions(root, 2, alpha=1.01)
    assert nothing.vectors.shape == (100, 0)
    assert nothing.status is Status.CONVERGED


@pytest.mark.parametrize("fusion", [0.0, 0.02])
@pytest.mark.parametrize("classes", [2, 4])
def test_the_largest_alpha_is_a_limit(classes: int, fusion: float) -> None:
    root = random_root(classes, 300)
    limit = largest_alpha(root, fusion=fusion)
    assert 0 < limit < 2 * np.abs(leading_pair(root)[1]).max()
    assert count(find_directions(root, 1, alpha=0.98 * limit, fusion=fusion)) == 1
    assert count(find_directions(root, 1, alpha=1.02 * limit, fusion=fusion)) == 0


def count(found: PenalizedDirections) -> int:
    return found.vectors.shape[1]


def test_the_largest_alpha_of_equal_columns_is_known() -> None:
    assert largest_alpha(np.ones((1, 25))) == pytest.approx(2 / 5, rel=1e-3)
    assert largest_alpha(np.eye(1, 25)) == pytest.approx(2.0, rel=1e-3)


@pytest.mark.parametrize("seed", range(20))
def test_with_a_safe_alpha_nothing_vanishes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    classes, p = int(rng.integers(2, 7)), int(rng.integers(6, 400))
    root = random_root(classes, p, seed) * rng.exponential(size=p) ** rng.integers(0, 4)
    found = find_directions(root, classes - 1, alpha=safe_alpha(p), max_iter=20_000)
    assert found.vectors.shape == (p, classes - 1)
    assert found.objective.min() >= 0


def test_columns_that_matter_alike_need_the_safe_alpha() -> None:
    """The objective of equal columns is zero there, and below with any more."""
    root = np.random.default_rng(0).choice([-1.0, 1.0], size=(1, 400))
    assert find_directions(root, 1, alpha=safe_alpha(400)).objective[0] == pytest.approx(
        0, abs=1e-9
    )
    assert find_directions(root, 1, alpha=1.1 * safe_alpha(400)).objective[0] < -1


# --- limits ---


def test_an_iteration_limit_is_a_status() -> None:
    root = random_root(4, 60)
    found = find_directions(root, 3, alpha=0.15, max_iter=2)
    assert found.status is Status.ITERATION_LIMIT
    assert found.n_iter.max() == 2
    assert not found.settled.all()


def test_scales_of_the_root_do_not_matter() -> None:
    root = random_root(3, 40)
    found = find_directions(root, 2, alpha=0.1, fusion=0.1)
    for unit in (1e-60, 1e60):
        scaled = find_directions(unit * root, 2, alpha=0.1, fusion=0.1)
        np.testing.assert_allclose(np.abs(scaled.vectors), np.abs(found.vectors), atol=1e-9)
        np.testing.assert_allclose(scaled.objective / unit**2, found.objective, rtol=1e-9)


def test_fifty_thousand_columns_in_a_blink() -> None:
    root = random_root(5, 50_000)
    start = time.perf_counter()
    found = find_directions(root, 4, alpha=0.004, fusion=0.004)
    assert time.perf_counter() - start < 10  # one matrix of p x p would be 20 GB
    assert found.vectors.shape == (50_000, 4)
    assert 0 < np.count_nonzero(found.vectors[:, 0]) < 50_000
