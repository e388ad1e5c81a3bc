"""Basis pursuit: time limits, Ctrl-C, progress, and wrong use."""

from __future__ import annotations

import pickle
import signal
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import aslinearoperator

import eigensieve as es
from eigensieve.errors import InputError, OptionError
from eigensieve.pencil.budget import Progress
from eigensieve.pencil.solution import Status
from tests.clock import stop_after
from tests.oracles import linear


def large_problem() -> tuple[np.ndarray, np.ndarray]:
    """Some thirty milliseconds."""
    rng = np.random.default_rng(8)
    return rng.normal(size=(150, 3000)), rng.normal(size=150)


def check_early(found: es.PursuitSolution, A: np.ndarray, b: np.ndarray, least: float) -> None:
    found.verify(A, b)
    assert not found.is_certified
    assert found.residual <= 1e-12
    assert found.bound <= least * (1 + 1e-9)
    assert found.objective >= least * (1 - 1e-9)


def test_without_time_x_is_feasible_and_the_bound_valid() -> None:
    for seed in range(10):
        rng = np.random.default_rng([seed, 61])
        A, B = rng.normal(size=(8, 30)), rng.normal(size=(8, 1 + seed % 3))
        least = sum(linear.least_l1(A, b) for b in B.T)
        found = es.basis_pursuit(A, B, time_limit=0)
        assert found.status is Status.TIME_LIMIT
        check_early(found, A, B, least)


def test_a_limit_shorter_than_the_first_step() -> None:
    A, b = large_problem()
    whole = es.basis_pursuit(A, b)
    assert whole.gap <= 1e-12  # an optimum, by the theorem of duality
    found = es.basis_pursuit(A, b, time_limit=1e-4)
    assert found.status is Status.TIME_LIMIT
    check_early(found, A, b, whole.objective)


def test_a_time_limit_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever it ends: in the first phase, in the second, at the last step."""
    A, b = large_problem()
    whole = es.basis_pursuit(A, b)
    bounds, n_steps = [], []
    for polls in range(100):
        stop_after(monkeypatch, polls)
        found = es.basis_pursuit(A, b)
        if found.is_certified:
            break
        assert found.status is Status.TIME_LIMIT
        found.verify(A, b)
        assert found.residual <= 1e-12
        assert found.bound <= whole.objective * (1 + 1e-9) <= found.objective * (1 + 2e-9)
        bounds.append(found.bound)
        n_steps.append(found.n_iter)
    assert found.is_certified
    assert len(bounds) >= 6
    assert bounds == sorted(bounds)
    assert n_steps == sorted(n_steps)
    assert bounds[0] > 0.0  # of y along c
    assert bounds[-1] >= 0.99 * whole.objective


@pytest.mark.parametrize("polls", [3, 7, 12])
def test_a_limit_that_ends_between_columns(polls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first columns are solved, the others satisfy the constraint."""
    rng = np.random.default_rng(12)
    A, B = rng.normal(size=(15, 80)), rng.normal(size=(15, 8))
    whole = es.basis_pursuit(A, B)
    stop_after(monkeypatch, polls)
    found = es.basis_pursuit(A, B)
    assert found.status is Status.TIME_LIMIT
    check_early(found, A, B, whole.objective)
    norms, least = (np.abs(x).sum(axis=0) for x in (found.x, whole.x))
    assert norms[0] == pytest.approx(least[0], rel=1e-12)
    assert np.all(norms >= least * (1 - 1e-12))
    assert norms[-1] > least[-1] * (1 + 1e-9)


@pytest.mark.parametrize("presses_at", [1, 2])
def test_ctrl_c_gives_what_there_is(presses_at: int) -> None:
    A, b = large_problem()
    least = es.basis_pursuit(A, b).objective
    events: list[Progress] = []

    def press(event: Progress) -> None:
        events.append(event)
        if len(events) == presses_at:
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    B = np.column_stack([np.roll(b, i) for i in range(20)])  # about a second
    found = es.basis_pursuit(A, B, callback=press)
    assert signal.getsignal(signal.SIGINT) is before
    assert found.status is Status.INTERRUPTED
    found.verify(A, B)
    assert found.residual <= 1e-12
    assert np.abs(found.x[:, 0]).sum() >= least * (1 - 1e-9)


def test_the_callback_hears_of_progress() -> None:
    A, b = large_problem()
    events: list[Progress] = []
    B = np.column_stack([np.roll(b, i) for i in range(20)])  # about a second
    found = es.basis_pursuit(A, B, callback=events.append)
    assert found.is_certified
    assert len(events) >= 2
    steps = [event.step for event in events]
    assert steps == sorted(set(steps))
    assert steps[-1] <= found.n_iter
    assert {event.solver for event in events} == {"simplex"}
    assert events[-1].seconds <= found.seconds


def test_contradicting_rows_are_refused() -> None:
    A = np.random.default_rng(4).normal(size=(4, 9))
    b = A @ np.ones(9)
    with pytest.raises(InputError, match=r"no x satisfies Ax = b.*remove contradicting rows"):
        es.basis_pursuit(np.vstack([A, A[:1]]), np.append(b, b[0] + 1.0))
    with pytest.raises(InputError, match="no x satisfies"):
        es.basis_pursuit(A.T, np.arange(9.0))
    with pytest.raises(InputError, match="no x satisfies"):
        es.basis_pursuit(np.vstack([A, np.zeros(9)]), np.append(b, 1.0))
    with pytest.raises(InputError, match="no x satisfies"):  # one of two columns
        es.basis_pursuit(A.T, np.column_stack([A.T @ np.ones(4), np.arange(9.0)]))


A2 = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 3.0]])


@pytest.mark.parametrize(
    ("A", "b", "message"),
    [
        (A2, [1.0, np.nan], "NaN or infinity"),
        (A2, [1.0, np.inf], "NaN or infinity"),
        (A2 * np.nan, [1.0, 1.0], "NaN or infinity"),
        (A2, [1.0, 1.0, 1.0], r"A has shape \(2, 3\) and b \(3,\)"),
        (A2[0], [1.0, 1.0, 1.0], r"need \(m, p\)"),
        (A2, np.ones((2, 1, 1)), r"b \(2, 1, 1\)"),
        (A2, 1.0, r"b \(\)"),
        (A2[None], [1.0], r"A has shape \(1, 2, 3\)"),
        (np.zeros((0, 3)), np.zeros(0), "nothing to solve"),
        (np.zeros((2, 0)), np.zeros(2), "nothing to solve"),
        (A2, np.zeros((2, 0)), "nothing to solve"),
        ([[1.2e308, 1.5e308]], [1.0], r"row 0 of A has entries up to 1\.5e\+308"),
        ([[0.0], [5e-324]], [0.1, 0.6], r"row 1 of A has entries up to 4\.94e-324"),
        ([[1e-200]], [1e200], "b is so large beside A"),
        ([["one"]], [1.0], "numbers only"),
        ([[1.0, 2.0], [3.0]], [1.0, 1.0], "numbers only"),
    ],
)
def test_wrong_data_are_refused(A: Any, b: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        es.basis_pursuit(A, b)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"penalty": "l2"}, "penalty is 'l2'; it must be one of l1, l21"),
        ({"penalty": None}, "penalty is None"),
        ({"solver": "highs"}, "solver is 'highs'; it must be one of simplex, bregman"),
        ({"solver": 3}, "solver is 3"),
        ({"mu": 1.0}, "solver 'simplex' has no option mu"),
        ({"penalty": "l21", "tol": 1.0}, "no option tol"),
        ({"time_limit": -1.0}, "time_limit is -1.0"),
        ({"callback": 3}, "callback is 3"),
        ({"rank_tol": -1e-3}, "rank_tol is -0.001"),
        ({"rank_tol": "small"}, "rank_tol is 'small'"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(OptionError, match=message):
        es.basis_pursuit(A2, [1.0, 1.0], **options)


@pytest.mark.parametrize(
    ("penalty", "solver"), [("l1", "simplex"), ("l1", "bregman"), ("l21", "simplex")]
)
@pytest.mark.parametrize("b", [np.zeros(2), np.zeros((2, 3))])
def test_a_target_of_zeros(penalty: str, solver: str, b: np.ndarray) -> None:
    """Also of a zero matrix, whose orthonormal form has no rows."""
    for A in (np.zeros((2, 4)), A2):
        found = es.basis_pursuit(A, b, penalty=penalty, solver=solver)
        found.verify(A, b)
        assert found.is_certified
        assert not found.x.any()


@pytest.mark.parametrize("wrap", [sparse.csr_array, aslinearoperator])
def test_a_matrix_that_is_not_dense_is_refused(wrap: Callable[[np.ndarray], Any]) -> None:
    with pytest.raises(InputError, match="dense array"):
        es.basis_pursuit(wrap(np.eye(2, 3)), [1.0, 2.0])


def test_the_function_goes_by_its_public_name() -> None:
    assert pickle.loads(pickle.dumps(es.basis_pursuit)) is es.basis_pursuit
    with pytest.raises(TypeError, match=r"basis_pursuit\(\)"):
        es.basis_pursuit(np.eye(2))
