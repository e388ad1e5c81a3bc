"""Centred rows of sparse tables answer as the array that they stand for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from eigensieve import ClassStats
from eigensieve.pencil.row_factor import TurnedRows, turn_rows
from eigensieve.tables.operators import centred_rows
from eigensieve.tables.operators.centred_rows import CentredRows, join_columns, stack_rows
from tests.oracles.sparse_tables import awkward_table


@pytest.fixture(params=[(25, 60, 0.05), (25, 60, 0.4), (60, 25, 0.02)], ids=str)
def pair(request) -> tuple[CentredRows, np.ndarray]:
    n, p, density = request.param
    X, y = awkward_table(n, p, density, seed=p), np.arange(n) % 4
    X[:, 2] -= 1e6  # the test is about products here, not about digits
    X[:, 3] /= 1e6
    rows = ClassStats.from_data(sparse.csr_array(X), y, form="rows").rows
    means = np.array([X[y == k].mean(axis=0) for k in range(4)])
    return rows, X - means[y]


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(3)


def same(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, atol=1e-11)


def test_products(pair, rng) -> None:
    R, D = pair
    n, p = D.shape
    V, X, w = rng.normal(size=(n, 3)), rng.normal(size=(p, 2)), rng.random(p)
    same(R.T @ V, D.T @ V)
    same(R @ X, D @ X)
    same(R @ X[:, 0], D @ X[:, 0])
    same(V[:, 0] @ R, V[:, 0] @ D)
    same(R.gram(), D @ D.T)
    same(R.gram(w), (D * w) @ D.T)
    same(R.inner(), D.T @ D)
    same(R.squares(), np.square(D).sum(axis=0))
    G = V @ V.T
    same(R.quadratic_forms(G), np.einsum("ij,ik,kj->j", D, G, D))


def test_columns(pair) -> None:
    R, D = pair
    for index in ([3, 1, 1, 7], slice(2, 9), np.array([], dtype=int), D[0] > 0):
        same(R[:, index], D[:, index])
    same(R[:, 4], D[:, 4])


def test_other_rows_from_these(pair, rng) -> None:
    R, D = pair
    n, p = D.shape
    scale, row_scale = rng.normal(size=p), rng.random(n) + 0.5
    left, right = rng.normal(size=(n, 2)), rng.normal(size=(2, p))
    order, index = rng.permutation(n), rng.permutation(p)[: p // 2]
    made = {
        "columns scaled": (R * scale, D * scale),
        "divided": (R / 3.0, D / 3.0),
        "rows scaled": (R * row_scale[:, None], D * row_scale[:, None]),
        "from the left": (row_scale[:, None] * R, D * row_scale[:, None]),
        "with a product": (R.plus(left, right), D + left @ right),
        "with rows beneath": (R.above(right), np.vstack([D, right])),
        "in another order": (R.of_rows(order), D[order]),
        "stacked": (stack_rows([R, right, R]), np.vstack([D, right, D])),
        "side by side": (
            join_columns(R, D[:, :4]),
            np.block([[D, np.zeros((n, 4))], [np.zeros((n, p)), D[:, :4]]]),
        ),
        "turned": (turn_rows(left.T, R), left.T @ D),
        "some of the turned": (turn_rows(left.T, R).take(index), (left.T @ D)[:, index]),
    }
    for what, (found, expected) in made.items():
        assert found.shape == expected.shape, what
        np.testing.assert_allclose(found[:, :], expected, atol=1e-11, err_msg=what)
        if isinstance(found, CentredRows | TurnedRows):
            same(found.squares(), np.square(expected).sum(axis=0))
            same(found.gram(), expected @ expected.T)
    same(R[:, :], D)  # as they were


def test_products_of_two(pair, rng) -> None:
    R, D = pair
    other, right = R.plus(rng.normal(size=(len(D), 1)), rng.normal(size=(1, D.shape[1]))), None
    right = other[:, :]
    w = rng.random(D.shape[1])
    same(R.cross(other, w), (D * w) @ right.T)
    same(R.inner(other), D.T @ right)


def test_few_columns_are_taken_as_an_array(pair, monkeypatch) -> None:
    R, D = pair
    index = np.array([5, 2, 9])
    assert isinstance(R.take(index), np.ndarray)
    monkeypatch.setattr(centred_rows, "MAX_DENSE_ENTRIES", 0)
    part = R.take(index)
    assert isinstance(part, CentredRows)
    same(part[:, :], D[:, index])
    same(part.gram(), D[:, index] @ D[:, index].T)


def test_arrays_are_stacked_as_arrays(rng) -> None:
    A, B = rng.normal(size=(2, 3)), rng.normal(size=(1, 3))
    np.testing.assert_array_equal(stack_rows([A, B]), np.vstack([A, B]))
