"""A RowFactor looks like the array that it stands for, wherever a pencil looks at it."""

from __future__ import annotations

import numpy as np
import pytest

from eigensieve.pencil import row_factor
from eigensieve.pencil.row_factor import RowFactor, column_squares, weighted_gram

M, P = 4, 9


class PlainRows(RowFactor):
    """The simplest kind: what a kind must give, and every product by blocks of columns."""

    def __init__(self, data: np.ndarray) -> None:
        self.data, self.shape = data, data.shape

    def columns(self, index: np.ndarray) -> np.ndarray:
        return self.data[:, index]

    def scaled(self, scale: np.ndarray) -> RowFactor:
        return PlainRows(self.data * scale)

    def take(self, index: np.ndarray) -> RowFactor:
        return PlainRows(self.data[:, index])


@pytest.fixture(autouse=True, params=[2_000_000, 2 * M, 1])
def entries(request, monkeypatch) -> None:
    monkeypatch.setattr(row_factor, "FEATURE_ENTRIES", request.param)


@pytest.fixture
def data() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(M, P))


def test_it_answers_like_an_array(data) -> None:
    rng = np.random.default_rng(1)
    R, V, X = PlainRows(data), rng.normal(size=(M, 3)), rng.normal(size=(P, 2))
    assert len(R) == M
    assert R.T.shape == (P, M)
    np.testing.assert_allclose(R.T @ V, data.T @ V)
    np.testing.assert_allclose(R.T @ V[:, 0], data.T @ V[:, 0])
    np.testing.assert_allclose(V.T @ R, V.T @ data)
    np.testing.assert_allclose(V[:, 0] @ R, V[:, 0] @ data)
    np.testing.assert_allclose(R @ X, data @ X)
    np.testing.assert_allclose(R @ X[:, 0], data @ X[:, 0])
    np.testing.assert_allclose(X.T @ R.T, X.T @ data.T)
    np.testing.assert_allclose(X[:, 0] @ R.T, X[:, 0] @ data.T)


def test_columns_by_every_kind_of_index(data) -> None:
    R = PlainRows(data)
    mask = np.arange(P) % 2 == 0
    for index in ([3, 1], np.array([8, 0, 0]), mask, slice(2, 5), slice(None)):
        np.testing.assert_array_equal(R[:, index], data[:, index])
    np.testing.assert_array_equal(R[:, 4], data[:, 4])
    with pytest.raises(TypeError, match="whole columns"):
        R[0, 1]


def test_scaling_is_of_columns(data) -> None:
    scale = np.linspace(1.0, 2.0, P)
    for made, wanted in [
        (PlainRows(data) * scale, data * scale),
        (scale * PlainRows(data), data * scale),
        (PlainRows(data) / scale, data / scale),
        (PlainRows(data) * 2.0, data * 2.0),
    ]:
        assert isinstance(made, RowFactor)
        np.testing.assert_allclose(made[:, :], wanted)


def test_squares_and_gram_of_both_kinds(data) -> None:
    weights = np.linspace(-1.0, 2.0, P)
    for rows in (data, PlainRows(data)):
        np.testing.assert_allclose(column_squares(rows), (data**2).sum(axis=0))
        np.testing.assert_allclose(weighted_gram(rows), data @ data.T)
        np.testing.assert_allclose(weighted_gram(rows, weights), data @ np.diag(weights) @ data.T)


def test_forms_and_products_of_two(data) -> None:
    rng = np.random.default_rng(2)
    R, other, G, w = (
        PlainRows(data),
        rng.normal(size=(2, P)),
        rng.normal(size=(M, M)),
        rng.random(P),
    )
    np.testing.assert_allclose(R.quadratic_forms(G), np.diag(data.T @ G @ data))
    for rows in (other, PlainRows(other)):
        np.testing.assert_allclose(R.cross(rows, w), (data * w) @ other.T)
