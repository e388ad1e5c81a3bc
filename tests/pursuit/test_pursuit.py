"""Basis pursuit without its solvers: what `verify` catches, orthonormal rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import InputError, OptionError, VerificationError
from eigensieve.pencil.solution import Status
from eigensieve.pursuit.solution import (
    OrthonormalForm,
    PursuitSolution,
    judge,
    penalty_terms,
    relative_residual,
)

A = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]])
b = np.array([2.0, 3.0])  # least by hand: 2 of the third column, 1 of the second
TRUE = PursuitSolution(
    x=np.array([0.0, 1.0, 2.0]),
    y=np.array([0.0, 1.0]),
    objective=3.0,
    bound=3.0,
    residual=0.0,
    penalty="l1",
    solver="simplex",
    status=Status.OPTIMAL,
)


def test_a_true_solution_passes() -> None:
    TRUE.verify(A, b)
    TRUE.verify(A.tolist(), b.tolist())
    assert TRUE.is_certified
    assert TRUE.gap == 0.0
    assert TRUE.support.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("lies", "message"),
    [
        ({"objective": 3.0 + 1e-6}, "the norm of x is 3.0"),
        ({"objective": 3.0 - 1e-6}, "the norm of x is 3.0"),
        ({"objective": np.nan}, "the norm of x is 3.0"),
        ({"bound": 3.0 + 1e-6}, "b'y is 3.0"),
        ({"bound": 3.0 - 1e-6}, "b'y is 3.0"),
        ({"bound": np.nan}, "b'y is 3.0"),
        ({"residual": 1e-6}, "the residual is 0.00e"),
        ({"residual": np.nan}, "the residual is 0.00e"),
        ({"x": np.array([0.0, 1.0, 2.001])}, "the norm of x is 3.001"),
        ({"x": np.array([0.0, 1.001, 1.999])}, "the residual is"),
        ({"x": np.array([0.0, 1.0, np.nan])}, "the norm of x is nan"),
        ({"y": np.array([0.3, 0.8])}, "no certificate"),
        ({"y": np.array([-2.0, 7 / 3])}, "no certificate"),
        ({"y": np.array([np.nan, 1.0])}, "b'y is nan"),
        ({"y": np.array([0.0, 0.5])}, "b'y is 1.5"),
        ({"y": np.array([0.0, 0.5]), "bound": 1.5}, "optimal, with a gap"),
        ({"x": np.zeros(3), "objective": 0.0, "residual": 1.0}, "optimal, with a gap|b'y is"),
        ({"x": TRUE.x * (1 + 1e-6), "objective": 3 + 3e-6, "residual": 1e-6}, "optimal, with a"),
        ({"x": np.array([2.0, 3.0, 0.0]), "objective": 5.0}, "optimal, with a gap"),
    ],
)
def test_every_falsification_is_caught(lies: dict[str, Any], message: str) -> None:
    with pytest.raises(VerificationError, match=message):
        replace(TRUE, **lies).verify(A, b)


@pytest.mark.parametrize("status", [Status.TIME_LIMIT, Status.CONVERGED, Status.FEASIBLE])
def test_an_open_gap_may_not_be_called_optimal(status: Status) -> None:
    honest = replace(TRUE, y=np.array([0.0, 0.5]), bound=1.5, status=status)
    honest.verify(A, b)
    assert not honest.is_certified
    with pytest.raises(VerificationError, match="optimal, with a gap"):
        replace(honest, status=Status.OPTIMAL).verify(A, b)


def test_a_solution_of_other_data_is_caught() -> None:
    for matrix, target in ((A, 1.001 * b), (1.001 * A, b), (A[:, ::-1], b), (A, b[::-1])):
        with pytest.raises(VerificationError):
            TRUE.verify(matrix, target)


@pytest.mark.parametrize(
    ("matrix", "target"),
    [
        (A[:, :2], b),
        (A, b[:, None]),
        (A, np.append(b, 0.0)),
        (np.vstack([A, A]), b),
        (A[0], b),
        (A, np.column_stack([b, b])),
    ],
)
def test_wrong_shapes_are_caught(matrix: np.ndarray, target: np.ndarray) -> None:
    with pytest.raises(VerificationError, match="not of this A and b"):
        TRUE.verify(matrix, target)


def test_an_x_with_other_columns_than_b_is_caught() -> None:
    wide = replace(TRUE, x=np.column_stack([TRUE.x, np.zeros(3)]))
    with pytest.raises(VerificationError, match="not of this A and b"):
        wide.verify(A, b)


def test_the_tolerance_of_verify() -> None:
    nearly = replace(TRUE, objective=3.0 + 1e-6, status=Status.CONVERGED)
    nearly.verify(A, b, tol=1e-5)
    with pytest.raises(VerificationError):
        nearly.verify(A, b, tol=1e-7)


def test_rows_are_measured_by_their_length() -> None:
    B = np.column_stack([b, b])
    x, y = np.column_stack([TRUE.x, TRUE.x]), np.column_stack([TRUE.y, TRUE.y])
    shared = replace(
        TRUE, x=x, y=y / np.sqrt(2), objective=3 * np.sqrt(2), bound=3 * np.sqrt(2), penalty="l21"
    )
    shared.verify(A, B)
    assert shared.support.tolist() == [1, 2]
    apart = replace(TRUE, x=x, y=y, objective=6.0, bound=6.0)
    apart.verify(A, B)
    with pytest.raises(VerificationError, match="no certificate"):  # |A'y| is 2^1/2 by rows
        replace(shared, y=y, bound=6.0).verify(A, B)
    with pytest.raises(VerificationError, match="the norm of x is 6"):
        replace(shared, penalty="l1").verify(A, B)


def test_the_gap_is_a_share_of_the_objective() -> None:
    half = replace(TRUE, y=np.array([0.0, 0.5]), bound=1.5, status=Status.TIME_LIMIT)
    assert half.gap == pytest.approx(0.5)
    assert replace(half, y=np.zeros(2), bound=0.0).gap == pytest.approx(1.0)


def test_judge_scales_y_until_it_is_a_certificate() -> None:
    judged = judge(A, b, TRUE.x, 5.0 * TRUE.y, "l1", "simplex")
    judged.verify(A, b)
    assert judged.is_certified
    assert judged.bound == pytest.approx(3.0, rel=1e-15)
    short = judge(A, b, TRUE.x, 0.5 * TRUE.y, "l1", "simplex")
    short.verify(A, b)
    assert short.status is Status.FEASIBLE
    assert short.bound == 1.5


def test_judge_keeps_the_reason_why_a_search_stopped() -> None:
    for reason in (Status.TIME_LIMIT, Status.INTERRUPTED):
        assert judge(A, b, TRUE.x, TRUE.y, "l1", "simplex", reason).status is reason


def test_judge_does_not_call_a_wrong_x_optimal() -> None:
    """A bound above the norm: x does not satisfy the constraint."""
    judged = judge(A, b, 0.9 * TRUE.x, TRUE.y, "l1", "simplex")
    assert not judged.is_certified
    assert judged.residual == pytest.approx(0.1)


def test_lengths_of_rows() -> None:
    x = np.array([[3.0, -4.0], [0.0, 0.0]])
    np.testing.assert_array_equal(penalty_terms(x, "l21"), [5.0, 0.0])
    np.testing.assert_array_equal(penalty_terms(x, "l1"), [[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_array_equal(penalty_terms(x[0], "l21"), [3.0, 4.0])


def test_the_residual_is_a_share_of_b() -> None:
    assert relative_residual(A, np.array([0.0, 1.0, 1.0]), b) == pytest.approx(np.sqrt(2 / 13))
    assert relative_residual(A, np.zeros(3), np.zeros(2)) == 0.0


@pytest.mark.parametrize("penalty", ["l2", "L1", None, 1])
def test_an_unknown_penalty_is_refused(penalty: Any) -> None:
    with pytest.raises(OptionError, match="must be one of l1, l21"):
        es.basis_pursuit(A, b, penalty=penalty)


@pytest.mark.parametrize(
    ("m", "p", "rank"), [(4, 9, 4), (6, 6, 6), (7, 4, 4), (6, 9, 3), (1, 5, 1)]
)
def test_the_orthonormal_form_has_the_same_solutions_and_duals(m: int, p: int, rank: int) -> None:
    for seed in range(10):
        rng = np.random.default_rng([seed, m, p])
        matrix = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, p))
        matrix *= 10.0 ** rng.uniform(-6, 6, size=(m, 1))
        x = rng.normal(size=(p, 2))
        form = OrthonormalForm.of(matrix, matrix @ x, 1e-12)
        assert form.rows.shape == (rank, p)
        np.testing.assert_allclose(form.rows @ form.rows.T, np.eye(rank), atol=1e-14)
        np.testing.assert_allclose(form.rows @ x, form.target, atol=1e-10)
        dual = rng.normal(size=(rank, 2))
        np.testing.assert_allclose(matrix.T @ (form.back @ dual), form.rows.T @ dual, atol=1e-10)
        assert np.sum(matrix @ x * (form.back @ dual)) == pytest.approx(
            np.sum(form.target * dual), abs=1e-9
        )


def test_what_nothing_satisfies_is_refused() -> None:
    with pytest.raises(InputError, match="no x satisfies"):
        OrthonormalForm.of(np.ones((2, 3)), np.array([[1.0], [2.0]]), 1e-12)


def test_the_rank_follows_its_tolerance() -> None:
    nearly = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0 + 1e-7]])
    assert len(OrthonormalForm.of(nearly, nearly @ np.ones((3, 1)), 1e-12).rows) == 2
    assert len(OrthonormalForm.of(nearly, nearly @ np.ones((3, 1)), 1e-6).rows) == 1


@pytest.mark.parametrize("shape", [(4, 9), (4, 4), (7, 4)])
def test_a_rank_tolerance_of_zero_is_no_contradiction(shape: tuple[int, int]) -> None:
    matrix = np.random.default_rng(6).normal(size=shape)
    target = matrix @ np.ones(shape[1])
    assert es.basis_pursuit(matrix, target, rank_tol=0.0).is_certified


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_the_residual_is_relative_at_any_scale(scale: float) -> None:
    matrix, target = np.eye(2, 3), scale * np.array([3.0, 4.0])
    missed = judge(matrix, target, scale * np.array([3.0, 0.0, 0.0]), np.zeros(2), "l1", "simplex")
    assert missed.residual == pytest.approx(0.8, rel=1e-14)
    assert missed.gap == 1.0
