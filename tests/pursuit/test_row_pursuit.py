"""Row-sparse basis pursuit: the optimum of a cone solver, rotations, planted rows, limits."""

from __future__ import annotations

import signal
from collections.abc import Callable

import numpy as np
import pytest
from scipy import linalg

import eigensieve as es
from eigensieve.pencil.budget import Progress
from eigensieve.pencil.solution import Status
from eigensieve.pursuit.dual import penalty_terms
from tests.clock import stop_after
from tests.oracles import cone

Rng = np.random.Generator


def shape(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(2, 9)), int(rng.integers(9, 30))


def copied(A: np.ndarray) -> np.ndarray:
    return np.hstack([A, A[:, ::2], -A[:, ::3]])


KINDS: dict[str, Callable[[Rng], np.ndarray]] = {
    "gaussian": lambda rng: rng.normal(size=shape(rng)),
    "signs": lambda rng: rng.choice([-1.0, 1.0], size=shape(rng)),
    "small integers": lambda rng: rng.integers(-2, 3, size=shape(rng)) + 0.0,
    "copies": lambda rng: copied(rng.normal(size=shape(rng))),
    "dependent rows": lambda rng: np.repeat(rng.normal(size=shape(rng)), 2, axis=0),
    "square": lambda rng: rng.normal(size=(6, 6)),
    "tall": lambda rng: rng.normal(size=(9, 6)),
    "hadamard": lambda rng: linalg.hadamard(16)[rng.permutation(16)[: rng.integers(6, 17)]] + 0.0,
}


def solve(A: np.ndarray, B: np.ndarray) -> es.PursuitSolution:
    found = es.basis_pursuit(A, B, penalty="l21")
    found.verify(A, B)
    assert found.status is Status.OPTIMAL
    assert found.residual <= 1e-12
    assert found.x.shape == (A.shape[1], B.shape[1])
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_the_optimum_is_that_of_a_cone_solver(kind: str) -> None:
    """20 problems of each kind, 160 in all, with 2 to 5 columns in b."""
    for seed in range(20):
        rng = np.random.default_rng([seed, len(kind)])
        A = KINDS[kind](rng)
        B = A @ rng.normal(size=(A.shape[1], 2 + seed % 4))
        found = solve(A, B)
        assert found.objective == pytest.approx(cone.least_l21(A, B), rel=1e-8), seed


@pytest.mark.parametrize("kind", ["gaussian", "small integers", "copies", "square", "tall"])
def test_the_gap_is_closed_to_the_last_digits(kind: str) -> None:
    for seed in range(20):
        rng = np.random.default_rng([seed, len(kind), 1])
        A = KINDS[kind](rng)
        assert solve(A, A @ rng.normal(size=(A.shape[1], 2 + seed % 4))).gap <= 1e-12, seed


def test_larger_problems() -> None:
    for seed in range(3):
        rng = np.random.default_rng([seed, 71])
        A, B = rng.normal(size=(30, 400)), rng.normal(size=(30, 3))
        found = solve(A, B)
        assert found.gap <= 1e-12
        assert found.objective == pytest.approx(cone.least_l21(A, B), rel=1e-8)
        apart = es.basis_pursuit(A, B)
        assert found.support.size < apart.support.size  # columns share their rows
        assert found.objective < penalty_terms(apart.x, "l21").sum() * (1 - 1e-6)


def rotation(rng: Rng, q: int) -> np.ndarray:
    return linalg.qr(rng.normal(size=(q, q)))[0]


def test_rotated_columns_give_rotated_answers() -> None:
    for seed in range(12):
        rng = np.random.default_rng([seed, 72])
        q = 2 + seed % 4
        A, B, Q = rng.normal(size=(10, 60)), rng.normal(size=(10, q)), rotation(rng, q)
        plain, rotated = solve(A, B), solve(A, B @ Q)
        assert rotated.support.tolist() == plain.support.tolist()
        assert rotated.objective == pytest.approx(plain.objective, rel=1e-12)
        np.testing.assert_allclose(rotated.x, plain.x @ Q, rtol=0, atol=1e-10)


def test_of_identical_columns_the_first_is_used() -> None:
    for seed in range(12):
        rng = np.random.default_rng([seed, 73])
        A, B = rng.normal(size=(6, 25)), rng.normal(size=(6, 2 + seed % 3))
        alone = solve(A, B)
        for more in ([A, A], [A, -A, A]):
            found = solve(np.hstack(more), B)
            assert found.support.tolist() == alone.support.tolist(), seed
            np.testing.assert_allclose(found.x[:25], alone.x, rtol=0, atol=1e-10)


@pytest.mark.parametrize("n_rows", [1, 2, 4])
def test_planted_rows_come_back_with_exact_zeros_elsewhere(n_rows: int) -> None:
    """Few long rows are the optimum as soon as some dual Y shows it."""
    recovered = 0
    for seed in range(12):
        rng = np.random.default_rng([seed, 74])
        A, x = rng.normal(size=(24, 60)), np.zeros((60, 3))
        rows = np.sort(rng.permutation(60)[:n_rows])
        x[rows] = rng.normal(size=(n_rows, 3))
        found = solve(A, A @ x)
        if found.objective > penalty_terms(x, "l21").sum() * (1 - 1e-9):
            recovered += 1
            assert found.support.tolist() == rows.tolist(), seed
            np.testing.assert_allclose(found.x, x, rtol=0, atol=1e-9)
    assert recovered >= 10


DEGENERATE: dict[str, Callable[[Rng], np.ndarray]] = {
    **{kind: KINDS[kind] for kind in ("gaussian", "signs", "small integers", "copies")},
    "smooth": lambda rng: smooth(int(rng.integers(3, 10)), int(rng.integers(10, 60))),
}


def smooth(m: int, p: int) -> np.ndarray:
    frequency, place = np.ogrid[:m, :p]
    return np.cos(np.pi * frequency * (2 * place + 1) / (2 * p))


@pytest.mark.parametrize("kind", DEGENERATE)
def test_few_planted_rows_in_small_problems(kind: str) -> None:
    """Three rows, of rank at most three: fewer than the rank of A, or other optima, or ties."""
    for seed in range(60):
        rng = np.random.default_rng([seed, 7])
        A = DEGENERATE[kind](rng)
        x = rng.normal(size=(A.shape[1], 2 + seed % 4))
        x[rng.permutation(len(x))[3:]] = 0.0
        found = es.basis_pursuit(A, A @ x, penalty="l21")
        found.verify(A, A @ x)
        assert found.is_certified, seed
        assert found.objective <= penalty_terms(x, "l21").sum() * (1 + 1e-9), seed


def test_columns_that_are_multiples_of_one() -> None:
    """b = c w' gives x = z w' where z solves the problem of one column."""
    for seed in range(12):
        rng = np.random.default_rng([seed, 75])
        A, c, w = rng.normal(size=(8, 30)), rng.normal(size=8), rng.normal(size=3)
        one, found = es.basis_pursuit(A, c), solve(A, np.outer(c, w))
        assert found.support.tolist() == one.support.tolist()
        np.testing.assert_allclose(found.x, np.outer(one.x, w), rtol=0, atol=1e-10)


def test_columns_of_zeros_and_repeated_columns() -> None:
    rng = np.random.default_rng(76)
    A, B = rng.normal(size=(8, 30)), rng.normal(size=(8, 2))
    plain = solve(A, B)
    padded = solve(A, np.column_stack([B[:, 0], np.zeros(8), B[:, 1]]))
    np.testing.assert_allclose(padded.x[:, [0, 2]], plain.x, rtol=0, atol=1e-10)
    assert np.abs(padded.x[:, 1]).max() <= 1e-12
    repeated = solve(A, np.column_stack([B, B]))
    assert repeated.support.tolist() == plain.support.tolist()
    assert repeated.objective == pytest.approx(np.sqrt(2) * plain.objective, rel=1e-12)


def test_more_columns_than_rows() -> None:
    rng = np.random.default_rng(77)
    A, B = rng.normal(size=(3, 20)), rng.normal(size=(3, 8))
    assert solve(A, B).objective == pytest.approx(cone.least_l21(A, B), rel=1e-8)


def test_one_row_uses_the_largest_entry() -> None:
    found = solve(np.array([[1.0, -4.0, 3.0]]), np.array([[6.0, 8.0]]))
    np.testing.assert_allclose(found.x, [[0, 0], [-1.5, -2.0], [0, 0]], rtol=0, atol=1e-14)


def test_one_column_is_the_l1_problem() -> None:
    for seed in range(10):
        rng = np.random.default_rng([seed, 78])
        A, b = rng.normal(size=(8, 30)), rng.normal(size=8)
        plain = es.basis_pursuit(A, b)
        for target in (b, b[:, None]):
            found = es.basis_pursuit(A, target, penalty="l21")
            found.verify(A, target)
            assert found.penalty == "l21"
            assert found.support.tolist() == plain.support.tolist()
            np.testing.assert_allclose(found.x.ravel(), plain.x, rtol=0, atol=1e-13)


@pytest.mark.parametrize("scale", [1e-80, 1e-10, 1e10, 1e80])
def test_scales_do_not_matter(scale: float) -> None:
    rng = np.random.default_rng(79)
    A, B = rng.normal(size=(6, 25)), rng.normal(size=(6, 3))
    plain = solve(A, B)
    rows = np.array([1.0, scale, 1.0, 1.0, scale, 1.0])[:, None]
    for matrix, target, factor in (
        (A * scale, B, 1 / scale),
        (A, B * scale, scale),
        (A * rows, B * rows, 1.0),
    ):
        found = solve(matrix, target)
        assert found.support.tolist() == plain.support.tolist()
        assert found.objective == pytest.approx(plain.objective * factor, rel=1e-9)


def test_zero_is_the_answer_to_zero() -> None:
    found = solve(np.random.default_rng(0).normal(size=(4, 9)), np.zeros((4, 3)))
    assert found.objective == found.bound == 0.0
    assert found.support.size == 0


def test_round_off_in_A_does_not_change_the_support() -> None:
    for seed in range(20):
        rng = np.random.default_rng([seed, 80])
        A, B = rng.normal(size=(12, 200)), rng.normal(size=(12, 3))
        noisy = A * (1 + 1e-13 * rng.normal(size=A.shape))
        assert solve(noisy, B).support.tolist() == solve(A, B).support.tolist()


def test_without_time_x_is_feasible_and_the_bound_valid() -> None:
    for seed in range(6):
        rng = np.random.default_rng([seed, 81])
        A, B = rng.normal(size=(8, 30)), rng.normal(size=(8, 3))
        least = cone.least_l21(A, B)
        found = es.basis_pursuit(A, B, penalty="l21", time_limit=0)
        found.verify(A, B)
        assert found.status is Status.TIME_LIMIT
        assert found.residual <= 1e-12
        assert found.bound <= least * (1 + 1e-8)
        assert found.objective >= least * (1 - 1e-8)


def test_a_time_limit_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it ends: among vertices, or among interior points."""
    rng = np.random.default_rng(82)
    A, B = rng.normal(size=(20, 150)), rng.normal(size=(20, 3))
    whole = solve(A, B)
    assert whole.gap <= 1e-12  # an optimum, by the theorem of duality
    n_early = 0
    for polls in range(300):
        stop_after(monkeypatch, polls)
        found = es.basis_pursuit(A, B, penalty="l21")
        found.verify(A, B)
        if found.is_certified:
            break
        n_early += 1
        assert found.status is Status.TIME_LIMIT
        assert found.residual <= 1e-12
        assert found.bound <= whole.objective * (1 + 1e-9) <= found.objective * (1 + 2e-9)
    assert found.is_certified
    assert n_early >= 20


def test_ctrl_c_gives_what_there_is() -> None:
    rng = np.random.default_rng(83)
    A, B = rng.normal(size=(60, 1500)), rng.normal(size=(60, 3))

    def press(event: Progress) -> None:
        signal.raise_signal(signal.SIGINT)

    found = es.basis_pursuit(A, B, penalty="l21", callback=press)
    found.verify(A, B)
    assert found.status is Status.INTERRUPTED
    assert found.residual <= 1e-12


@pytest.mark.parametrize("distance", [1e-4, 1e-7, 1e-10])
def test_nearly_identical_columns_do_not_spoil_the_certificate(distance: float) -> None:
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(12, 40))
        A = np.hstack([A, A + distance * rng.normal(size=A.shape)])
        b = A[:, :3] @ rng.normal(size=(3, 3))
        found = es.basis_pursuit(A, b, penalty="l21")
        found.verify(A, b)
        assert found.is_certified, seed
