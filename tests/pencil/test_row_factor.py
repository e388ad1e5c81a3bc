"""A RowFactor looks like the array that it stands for, wherever a pencil looks at it."""

from __future__ import annotations

import numpy as np
import pytest

from eigensieve.pencil.row_factor import RowFactor, column_squares, weighted_gram

M, P = 4, 9


class PlainRows(RowFactor):
    """The simplest kind: an array that is asked for what the interface allows only."""

    def __init__(self, data: np.ndarray) -> None:
        self.data, self.shape = data, data.shape

    def columns(self, index: np.ndarray) -> np.ndarray:
        return self.data[:, index]

    def pull(self, V: np.ndarray) -> np.ndarray:
        assert V.shape[0] == self.shape[0]
        return self.data.T @ V

    def push(self, X: np.ndarray) -> np.ndarray:
        assert X.shape[0] == self.shape[1]
        return self.data @ X

    def squares(self) -> np.ndarray:
        return np.square(self.data).sum(axis=0)

    def gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        return np.einsum(
            "ij,j,kj->ik", self.data, np.ones(P) if weights is None else weights, self.data
        )

    def scaled(self, scale: np.ndarray) -> RowFactor:
        return PlainRows(self.data * scale)

    def take(self, index: np.ndarray) -> RowFactor:
        return PlainRows(self.data[:, index])


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
