"""A matrix that is not positive semidefinite is never taken for one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eigensieve.proofs.balls import Ball
from eigensieve.proofs.definite import Shown, show_bordered, show_semidefinite
from eigensieve.proofs.rational import is_definite, is_semidefinite


def with_last_pivot(n: int, pivot: Fraction, seed: int) -> np.ndarray:
    """L diag(1, ..., 1, pivot) L' with small whole numbers in L: exact in doubles."""
    rng = np.random.default_rng(seed)
    L = np.tril(rng.integers(-2, 3, size=(n, n)), -1).tolist()
    rows = [[Fraction(x) for x in row] for row in L]
    pivots = [Fraction(1)] * (n - 1) + [pivot]
    for i in range(n):
        rows[i][i] = Fraction(1)
    exact = [
        [sum((a * d * b for a, d, b in zip(x, pivots, y)), Fraction(0)) for y in rows] for x in rows
    ]
    found = np.array([[float(x) for x in row] for row in exact])
    assert all(Fraction(a) == b for x, y in zip(found.tolist(), exact) for a, b in zip(x, y))
    return found


@pytest.mark.parametrize("n", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("power", [0, 10, 20, 30, 40, 44])
def test_one_negative_pivot(n: int, power: int) -> None:
    for seed in range(4):
        M = with_last_pivot(n, -Fraction(1, 2**power), seed)
        assert show_semidefinite(Ball.exact(M)) is not Shown.TRUE
        assert not is_semidefinite([[Fraction(x) for x in row] for row in M.tolist()])


@pytest.mark.parametrize("n", [2, 3, 8, 20])
def test_a_singular_matrix_is_left_open_and_decided_exactly(n: int) -> None:
    M = with_last_pivot(n, Fraction(0), 1)
    rows = [[Fraction(x) for x in row] for row in M.tolist()]
    assert show_semidefinite(Ball.exact(M)) is Shown.OPEN
    assert is_semidefinite(rows)
    assert not is_definite(rows)


@pytest.mark.parametrize("n", [1, 2, 8, 60, 200])
def test_well_conditioned_matrices_pass(n: int) -> None:
    G = np.random.default_rng(n).normal(size=(n, 2 * n))
    assert show_semidefinite(Ball.exact(G) @ Ball.exact(G.T)) is Shown.TRUE


def test_hopeless_matrices_are_called_false() -> None:
    assert show_semidefinite(Ball.exact(np.diag([1.0, -1.0]))) is Shown.FALSE
    assert show_semidefinite(Ball.exact(np.array([[1.0, 2.0], [2.0, 1.0]]))) is Shown.FALSE
    assert show_semidefinite(Ball.exact(np.array([[-1.0]]))) is Shown.FALSE


def test_all_of_the_enclosure_counts() -> None:
    mid = np.eye(2)
    assert show_semidefinite(Ball(mid, np.full((2, 2), 0.4))) is Shown.TRUE
    # [[0.5, 0.51], [0.51, 0.5]] is within
    assert show_semidefinite(Ball(mid, np.full((2, 2), 0.51))) is not Shown.TRUE
    for odd in (np.nan, np.inf):
        assert show_semidefinite(Ball(mid, np.full((2, 2), odd))) is not Shown.TRUE
        assert show_semidefinite(Ball(np.full((2, 2), odd), mid)) is not Shown.TRUE


@pytest.mark.parametrize("core_size", [0, 1, 4])
def test_bordered_matrices_one_by_one(core_size: int) -> None:
    rng = np.random.default_rng(core_size)
    n = core_size + 60
    C = rng.integers(-2, 3, size=(core_size, core_size + 3)).astype(float)
    core = C @ C.T + np.eye(core_size)
    sides = rng.integers(-2, 3, size=(core_size, 60)).astype(float)
    need = np.einsum("ij,ij->j", sides, np.linalg.solve(core, sides)) if core_size else np.zeros(60)
    corners = need + rng.choice([-1.0, -1e-6, -1e-13, 0.0, 1e-13, 1e-6, 1.0], size=60)
    shown = show_bordered(Ball.exact(core), Ball.exact(sides), Ball.exact(corners))
    for j in range(60):
        M = np.block([[core, sides[:, [j]]], [sides[:, [j]].T, corners[None, [j]]]])
        rows = [[Fraction(x) for x in row] for row in M.tolist()]
        if shown[j]:
            assert is_semidefinite(rows)
        if corners[j] > need[j] + 1e-9:
            assert shown[j]
    assert n == len(corners) + core_size


def test_bordered_with_an_indefinite_core_shows_nothing() -> None:
    core = np.array([[1.0, 2.0], [2.0, 1.0]])
    shown = show_bordered(Ball.exact(core), Ball.exact(np.zeros((2, 3))), Ball.exact(np.ones(3)))
    assert not shown.any()
