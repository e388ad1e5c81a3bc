"""The accelerated linearized Bregman iteration: the l1 minimum above a threshold, and only there.

Its limit is the minimiser of mu |x|_1 + |x|^2 / (2 delta).
"""

from __future__ import annotations

import signal
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.budget import Progress
from eigensieve.pencil.solution import Status
from eigensieve.pursuit.bregman import MARGIN
from tests.oracles import linear


def problem(seed: int, m: int = 6, p: int = 25) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, 2013])
    return rng.normal(size=(m, p)), rng.normal(size=m)


def solve(A: np.ndarray, b: np.ndarray, **options: Any) -> es.PursuitSolution:
    found = es.basis_pursuit(A, b, solver="bregman", **options)
    found.verify(A, b)
    assert found.solver == "bregman"
    return found


def threshold(A: np.ndarray, b: np.ndarray, delta: float) -> float:
    """mu* by its definition, from a vertex with as many weights as rows.

    The minimiser x of |x|_1 is that of mu |x|_1 + |x|^2 / (2 delta) if some y satisfies
    a_j'y = mu sgn(x_j) + x_j / delta on the support and |a_j'y| <= mu elsewhere: bisection.
    """
    x = es.basis_pursuit(A, b).x
    S = x != 0
    assert S.sum() == len(A)

    def is_enough(mu: float) -> bool:
        y = np.linalg.solve(A[:, S].T, mu * np.sign(x[S]) + x[S] / delta)
        return bool(np.abs(A[:, ~S].T @ y).max() <= mu)

    low, high = 1e-9, 1e9
    for _ in range(200):
        middle = np.sqrt(low * high)
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def test_it_converges_to_the_optimum_of_highs() -> None:
    for seed in range(20):
        A, b = problem(seed)
        found = solve(A, b)
        assert found.status in (Status.CONVERGED, Status.OPTIMAL)
        assert found.residual <= 1e-4  # 1e-5 of the orthonormal form
        assert found.objective == pytest.approx(linear.least_l1(A, b), rel=1e-4)


def test_a_tight_tolerance_gives_the_vertex_of_the_simplex() -> None:
    for seed in range(8):
        A, b = problem(seed)
        found, exact = solve(A, b, tol=1e-12, max_iter=200_000), es.basis_pursuit(A, b)
        assert found.residual <= 1e-11
        assert found.support.tolist() == exact.support.tolist()
        np.testing.assert_allclose(found.x, exact.x, rtol=0, atol=1e-9)
        assert found.bound <= exact.objective * (1 + 1e-9)


@pytest.mark.parametrize(("delta", "tau"), [(0.9, 1.0), (0.5, 2.0), (3.0, 0.3)])
def test_the_threshold_is_sharp(delta: float, tau: float) -> None:
    """Just above mu* the limit has the least norm, just below it has more."""
    for seed in range(4):
        A, b = problem(seed)
        least, enough = linear.least_l1(A, b), threshold(A, b, delta)
        options = {"delta": delta, "tau": tau, "tol": 1e-11, "max_iter": 500_000}
        norms = [solve(A, b, mu=f * enough, **options).objective for f in (1.01, 2.0, 0.9, 0.1)]
        assert norms[0] == pytest.approx(least, rel=1e-9)
        assert norms[1] == pytest.approx(least, rel=1e-9)
        assert norms[2] > least * (1 + 1e-7)
        assert norms[3] > norms[2]


@pytest.mark.parametrize("delta", [0.9, 0.3])
def test_auto_is_just_above_the_threshold(delta: float) -> None:
    """The iterations are those of this number."""
    for seed in range(6):
        A, b = problem(seed)
        mu = MARGIN * threshold(A, b, delta)
        auto, number = solve(A, b, delta=delta), solve(A, b, delta=delta, mu=mu)
        assert auto.n_iter == number.n_iter
        np.testing.assert_allclose(auto.x, number.x, rtol=0, atol=1e-6)


def test_auto_serves_all_columns() -> None:
    A, _ = problem(3)
    B = np.random.default_rng(5).normal(size=(6, 4)) * [1.0, 10.0, 0.1, 0.0]
    found = solve(A, B, tol=1e-10, max_iter=200_000)
    assert found.x.shape == (25, 4)
    for x, b in zip(found.x.T, B.T):
        assert np.abs(x).sum() == pytest.approx(linear.least_l1(A, b), rel=1e-6, abs=1e-8)


def test_copies_share_the_weight() -> None:
    """The limit has the least Euclidean norm of all minimisers."""
    for seed in range(5):
        A, b = problem(seed)
        exact = es.basis_pursuit(A, b)
        found = solve(np.hstack([A, -A, A]), b, tol=1e-12, max_iter=200_000)
        for part, sign in zip(np.split(found.x, 3), (1, -1, 1)):
            np.testing.assert_allclose(part, sign * exact.x / 3, rtol=0, atol=1e-9)


def test_several_minimisers_ask_for_a_number() -> None:
    A = np.array([[1.0, 0.0, 1.0, 1.0], [0.0, 1.0, 1.0, -1.0]])
    b = np.array([1.0, 0.0])  # the first column, or half of the last two
    with pytest.raises(OptionError, match=r"mu='auto' finds no threshold.*give a number"):
        es.basis_pursuit(A, b, solver="bregman")
    found = solve(A, b, mu=10.0, tol=1e-10)
    assert found.objective == pytest.approx(1.0, rel=1e-8)
    # of all minimisers (1 - t, 0, t / 2, t / 2) that of least Euclidean norm
    np.testing.assert_allclose(found.x, [1 / 3, 0.0, 1 / 3, 1 / 3], rtol=0, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-12, 1e-6, 1e6, 1e12, 1e50])
def test_auto_follows_the_scale(scale: float) -> None:
    A, b = problem(1)
    least = linear.least_l1(A, b)
    assert solve(A, scale * b).objective == pytest.approx(scale * least, rel=1e-4)
    assert solve(A / scale, b).objective == pytest.approx(scale * least, rel=1e-4)


@pytest.mark.parametrize("p", [1, 2, 5])
def test_auto_where_there_is_no_choice(p: int) -> None:
    """As many rows as columns: every mu is large enough."""
    A = np.eye(p) + 0.1 * np.random.default_rng(p).normal(size=(p, p))
    x = np.arange(1.0, p + 1)
    np.testing.assert_allclose(solve(A, A @ x, tol=1e-10).x, x, rtol=1e-8)


def test_zero_is_the_answer_to_zero() -> None:
    found = solve(problem(0)[0], np.zeros(6))
    assert found.is_certified
    assert not found.x.any()


def test_too_few_iterations() -> None:
    A, b = problem(0)
    found = solve(A, b, max_iter=3)
    assert found.status is Status.ITERATION_LIMIT
    assert found.n_iter == 3
    assert not found.is_certified
    assert found.bound <= linear.least_l1(A, b) * (1 + 1e-9)


def test_more_accuracy_takes_more_iterations() -> None:
    A, b = problem(2)
    found = [solve(A, b, tol=tol) for tol in (1e-2, 1e-4, 1e-6)]
    assert found[0].n_iter < found[1].n_iter < found[2].n_iter
    assert found[0].residual > found[1].residual > found[2].residual


@pytest.mark.parametrize("mu", ["auto", 50.0])
def test_a_time_limit_keeps_a_valid_bound(mu: Any) -> None:
    A, b = problem(4)
    found = solve(A, b, mu=mu, time_limit=0)
    assert found.status is Status.TIME_LIMIT
    assert not found.is_certified
    assert found.bound <= linear.least_l1(A, b) * (1 + 1e-9)


def test_a_time_limit_and_ctrl_c_end_a_long_run() -> None:
    """With mu far too large it would take minutes."""
    A, b = problem(4)
    endless: dict[str, Any] = {"mu": 1e7, "tol": 1e-14, "max_iter": 10**9}
    late = solve(A, b, time_limit=0.1, **endless)
    assert late.status is Status.TIME_LIMIT
    events: list[Progress] = []

    def press(event: Progress) -> None:
        events.append(event)
        if len(events) == 3:
            signal.raise_signal(signal.SIGINT)

    stopped = solve(A, b, callback=press, **endless)
    assert stopped.status is Status.INTERRUPTED
    assert [event.solver for event in events] == ["bregman"] * 3
    assert events[-1].total == 10**9
    for found in (late, stopped):
        assert found.bound <= linear.least_l1(A, b) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mu": 0.0}, "mu is 0.0; it must be a positive number, or 'auto'"),
        ({"mu": -1}, "mu is -1"),
        ({"mu": np.nan}, "mu is nan"),
        ({"mu": np.inf}, "mu is inf"),
        ({"mu": "large"}, "mu is 'large'"),
        ({"mu": None}, "mu is None"),
        ({"mu": True}, "mu is True"),
        ({"delta": 0}, "delta is 0; it must be a positive number"),
        ({"delta": "a"}, "delta is 'a'"),
        ({"tau": -1.0}, "tau is -1.0"),
        ({"tau": 1.2}, r"tau \* delta is 1.08; the iteration needs at most 1"),
        ({"delta": 2.0}, r"tau \* delta is 2"),
        ({"tol": 0.0}, "tol is 0.0"),
        ({"tol": np.nan}, "tol is nan"),
        ({"eps": 1e-5}, "has no option eps; it has mu, delta, tau, tol, max_iter"),
        ({"penalty": "l21"}, "'bregman' is for penalty 'l1', not 'l21'; use 'simplex'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        es.basis_pursuit(*problem(0), solver="bregman", **options)


@pytest.mark.parametrize("max_iter", [0, -3, 1.5, "many", True])
def test_a_wrong_number_of_iterations_is_refused(max_iter: Any) -> None:
    with pytest.raises(InputError, match=r"max_iter is .*at least 1"):
        es.basis_pursuit(*problem(0), solver="bregman", max_iter=max_iter)


def test_a_product_of_exactly_one_is_allowed() -> None:
    A, b = problem(0)
    assert solve(A, b, delta=0.5, tau=2.0).status in (Status.CONVERGED, Status.OPTIMAL)


def test_a_tiny_b_is_no_zero() -> None:
    rng = np.random.default_rng(0)
    A, b = rng.normal(size=(6, 25)), rng.normal(size=6)
    plain = es.basis_pursuit(A, b, solver="bregman")
    tiny = es.basis_pursuit(A, 1e-200 * b, solver="bregman")
    np.testing.assert_allclose(tiny.x, 1e-200 * plain.x, rtol=1e-9)
