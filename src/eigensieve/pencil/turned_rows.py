"""T R for rows R that are no array: turned on paper, as R itself is not filled in."""

from __future__ import annotations

import numpy as np

from .feature_blocks import feature_slices
from .row_factor import RowFactor


class TurnedRows(RowFactor):
    """The rows T R, for an array T (m, r) and rows R (r, p)."""

    def __init__(self, T: np.ndarray, rows: RowFactor) -> None:
        self.turn, self.rows = T, rows
        self.shape = (len(T), rows.shape[1])

    def columns(self, index: np.ndarray) -> np.ndarray:
        return self.turn @ self.rows.columns(index)

    def pull(self, V: np.ndarray) -> np.ndarray:
        return self.rows.pull(self.turn.T @ V)

    def push(self, X: np.ndarray) -> np.ndarray:
        return self.turn @ self.rows.push(X)

    def squares(self) -> np.ndarray:
        squares = np.empty(self.shape[1])
        for where in feature_slices(self.shape[1], max(self.shape[0], self.rows.shape[0])):
            squares[where] = np.square(self[:, where]).sum(axis=0)
        return squares

    def gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        return self.turn @ self.rows.gram(weights) @ self.turn.T

    def scaled(self, scale: np.ndarray) -> TurnedRows:
        return TurnedRows(self.turn, self.rows.scaled(scale))

    def take(self, index: np.ndarray) -> RowFactor | np.ndarray:
        return turn_rows(self.turn, self.rows.take(index))


def turn_rows(T: np.ndarray, rows: np.ndarray | RowFactor) -> np.ndarray | RowFactor:
    """T @ rows, an array if the rows are one."""
    return TurnedRows(T, rows) if isinstance(rows, RowFactor) else T @ rows
