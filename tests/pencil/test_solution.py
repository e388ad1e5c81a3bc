"""verify() catches every way in which a solution can be wrong; paths, gaps, limits."""

import dataclasses
import itertools
import os
import signal
import threading
import time

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError, VerificationError
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.solution import Status
from tests.oracles.exact import ExactPencil


@pytest.fixture(scope="module")
def pencil() -> es.Pencil:
    rng = np.random.default_rng(0)
    return es.lda_pencil(rng.normal(size=(40, 10)), np.arange(40) % 4, shrinkage=0.3)


@pytest.fixture(scope="module")
def solution(pencil: es.Pencil) -> es.Solution:
    return es.solve(pencil, 4, criterion="logdet", solver="exhaustive")


def test_a_true_solution_passes(pencil: es.Pencil, solution: es.Solution) -> None:
    solution.verify(pencil)
    assert solution.is_certified
    assert solution.gap <= 1e-12  # what round-off may hide
    assert solution.vectors.shape == (10, 3)
    assert np.count_nonzero(solution.vectors.any(axis=1)) == 4


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda s: {"support": s.support[::-1]}, "sorted"),
        (lambda s: {"support": s.support + 20}, "sorted"),
        (lambda s: {"support": np.array([0, 1, 2, 3])}, "eigenvalues|objective"),
        (lambda s: {"objective": s.objective * (1 + 1e-6)}, "objective"),
        (lambda s: {"values": s.values * 1.001}, "eigenvalues"),
        (lambda s: {"loadings": s.loadings * 2}, "x'Bx"),
        (lambda s: {"loadings": s.loadings[:, ::-1]}, "value B x"),
        (lambda s: {"bound": s.objective * 0.99}, "below the objective"),
        (lambda s: {"bound": s.objective * 1.01}, "open gap"),
        (lambda s: {"bound": np.nan}, "below the objective|open gap"),
        (lambda s: {"n_features": 11}, "not 10"),
        (lambda s: {"criterion": "trace"}, "objective|scale"),
        (lambda s: {"criterion": "trace", "scale": np.expm1(s.scale)}, "objective"),
        (lambda s: {"scale": 1e30, "objective": 3 * s.objective}, "scale|objective"),
        (lambda s: {"values": s.values[:1], "loadings": s.loadings[:, :1]}, "1 eigenvalues"),
    ],
)
def test_a_false_solution_does_not(pencil: es.Pencil, solution, change, says: str) -> None:
    with pytest.raises(VerificationError, match=says):
        dataclasses.replace(solution, **change(solution)).verify(pencil)


def nearly_singular(seed: int) -> tuple[es.Pencil, int, str]:
    """A table without shrinkage, or near-copies; half of them with all features chosen."""
    rng = np.random.default_rng([seed, 25])
    n, p = int(rng.integers(4, 12)), int(rng.integers(2, 9))
    if rng.random() < 0.5:
        X = rng.normal(size=(n, p)) * 10.0 ** rng.uniform(-3, 3, size=p)
        i, j = rng.choice(p, 2, replace=False)
        X[:, j] = X[:, i] + 10.0 ** rng.uniform(-8, -1) * X[:, j]
        s = 10.0 ** rng.uniform(-12, -6) if rng.random() < 0.5 else 0.0
        pencil = es.lda_pencil(X, np.arange(n) % int(rng.integers(2, 4)), s)
    else:
        B = np.corrcoef(rng.normal(size=(p, p + 3)))
        i, j = rng.choice(p, 2, replace=False)
        B[j] = B[:, j] = B[i]
        B[j, j], B[i, j], B[j, i] = 1.0, *[1 - 10.0 ** rng.uniform(-12, -6)] * 2
        H = rng.normal(size=(int(rng.integers(1, p + 1)), p)) * 10.0 ** rng.uniform(0, 4, size=p)
        pencil = es.Pencil(H.T @ H, B)
    k = p if rng.random() < 0.5 else int(rng.integers(1, p + 1))
    return pencil, k, ("lambda_max", "trace", "logdet")[rng.integers(3)]


def provable_rounding(pencil: es.Pencil, solution: es.Solution) -> float:
    """What rounding the entries of A and B may do to the objective, generously: 100 k^2 times."""
    small = pencil.restrict(solution.support)
    d = 1.0 / np.sqrt(small.diag_B)
    least = np.linalg.eigvalsh(small.B * np.outer(d, d))[0]
    value = 1.0 if solution.criterion == "logdet" else float(solution.values[0])
    return 100 * solution.k**2 * np.finfo(float).eps * (value + pencil.scale) / least


@pytest.mark.parametrize("block", range(4))
def test_nearly_singular_B_in_exact_arithmetic(block: int) -> None:
    """True solutions pass, so do their exact values; what is off by more than rounding does not."""
    for seed in range(100 * block, 100 * (block + 1)):
        pencil, k, criterion = nearly_singular(seed)
        solution = es.solve(pencil, k, criterion=criterion)
        solution.verify(pencil)
        exact = ExactPencil(pencil).value(
            solution.support, criterion, solution.objective, pencil.scale
        )
        open_ = {"bound": np.inf, "status": Status.FEASIBLE}
        dataclasses.replace(solution, objective=exact, **open_).verify(pencil)
        size = exact if criterion == "logdet" else max(exact, pencil.scale)
        off = 3e-8 * size + provable_rounding(pencil, solution)
        for wrong in (exact - off, exact + off):
            with pytest.raises(VerificationError):
                dataclasses.replace(solution, objective=wrong, **open_).verify(pencil)


def test_gap_is_relative_to_the_scale_near_zero(solution: es.Solution) -> None:
    zero = dataclasses.replace(solution, objective=0.0, bound=1e-9, scale=2.0)
    assert zero.gap == pytest.approx(5e-10)
    assert dataclasses.replace(solution, bound=np.inf).gap == np.inf
    assert "unknown" in repr(dataclasses.replace(solution, bound=np.inf))


def test_path_is_a_mapping(pencil: es.Pencil) -> None:
    path = es.solve_path(pencil, [5, 2, 2], "greedy")
    assert path.ks == list(path) == [2, 5]
    assert len(path) == 2
    assert path[5].k == 5
    path.verify(pencil)
    assert np.isinf(path.bounds).all()
    assert es.solve_path(pencil).ks == list(range(1, 11))
    assert es.solve_path(pencil, include=[1, 2], exclude=[3]).ks == list(range(2, 10))


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"k": 0}, "at least 1"),
        ({"k": 11}, "only 10 of 10"),
        ({"k": 2.5}, "whole number"),
        ({"k": True}, "whole number"),
        ({"k": (1, 1)}, "no blocks"),
        ({"k": 2, "include": [1, 2, 3]}, "include names 3"),
        ({"k": 2, "include": [1], "exclude": [1]}, "both"),
        ({"k": 2, "include": [10]}, "outside 0..9"),
        ({"k": 2, "exclude": ["a"]}, "feature indices"),
        ({"k": 2, "solver": "magic"}, "one of"),
        ({"k": 2, "criterion": "beauty"}, "one of"),
        ({"k": 2, "time_limit": -1}, "seconds"),
        ({"k": 2, "gap_tol": "tight"}, "number"),
        ({"k": 2, "speed": 3}, "no option speed; it has effort, n_starts"),
        ({"k": 2, "effort": "some"}, "one of quick, normal, high, or a number"),
        ({"k": 2, "solver": "greedy", "direction": "sideways"}, "one of auto"),
        ({"k": 2, "n_starts": -1}, "n_starts"),
        ({"k": 2, "solver": "greedy", "swap": "no"}, "swap"),
        ({"k": 2, "random_state": "a"}, "random_state"),
        ({"k": 2, "n_jobs": 1.5}, "n_jobs"),
        ({"k": 2, "solver": "threshold", "vector": "z"}, "'x', 'y' or 'best'"),
    ],
)
def test_wrong_use(pencil: es.Pencil, arguments: dict, says: str) -> None:
    with pytest.raises(InputError, match=says):
        es.solve(pencil, **arguments)


def test_solve_needs_a_pencil() -> None:
    with pytest.raises(InputError, match="expected a Pencil"):
        es.solve(np.eye(3), 2)
    with pytest.raises(OptionError, match="empty"):
        es.solve_path(es.Pencil(np.eye(3)), [])
    with pytest.raises(OptionError, match="must list cardinalities"):
        es.solve_path(es.Pencil(np.eye(3)), 2)
    with pytest.raises(InputError, match="feature indices"):
        es.solve_path(es.Pencil(np.eye(3)), [2], exclude=["a"])
    big = es.Pencil(np.eye(100))
    assert es.solve_path(big, include=range(60)).ks == list(range(60, 101))


def test_a_solution_cannot_be_changed_by_accident(solution: es.Solution) -> None:
    with pytest.raises(ValueError, match="read-only"):
        solution.support[0] = 3


def test_callback_hears_of_progress() -> None:
    rng = np.random.default_rng(1)
    pencil = es.lda_pencil(rng.normal(size=(60, 800)), np.arange(60) % 2)
    events = []
    es.solve(pencil, 30, callback=events.append)
    assert events
    assert {e.solver for e in events} == {"greedy"}
    assert all(b.seconds - a.seconds >= 0.099 for a, b in itertools.pairwise(events))


def test_ctrl_c_returns_the_best_so_far() -> None:
    """SIGINT in the middle of a long search: an answer, and the handler is restored."""
    rng = np.random.default_rng(2)
    pencil = es.Pencil(np.cov(rng.normal(size=(30, 40)).T))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    before = signal.getsignal(signal.SIGINT)
    timer.start()
    start = time.perf_counter()
    solution = es.solve(pencil, 5, solver="exhaustive")  # 658,008 sets: seconds
    timer.join()
    assert solution.status is Status.INTERRUPTED
    assert time.perf_counter() - start < 2.0
    assert np.isinf(solution.bound)
    solution.verify(pencil)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_foreign_signal_handler_is_left_alone() -> None:
    mine = lambda signum, frame: None  # noqa: E731
    before = signal.signal(signal.SIGINT, mine)
    try:
        with Budget().interruptible():
            assert signal.getsignal(signal.SIGINT) is mine
    finally:
        signal.signal(signal.SIGINT, before)
