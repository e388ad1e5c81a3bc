"""Inverses of a matrix restricted to a shrinking set of features.

``diagonal`` is diag(M_S^-1); ``delete(j)`` takes a feature out of the set and returns the
column of the inverse that belonged to it. Dense: O(p^2) a deletion. M = W'W + diag(d)
with n rows in W: O(p n), by Woodbury, p x p never formed.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...errors import PencilError
from ...pencil.criteria import EPS, spd_inverse, unit_cholesky
from .downdate_kernel import delete_from_inverse


def lifted(M: np.ndarray) -> np.ndarray:
    """M, with a diagonal of round-off added where rounding has left it no longer definite.

    Features are then dependent to working precision, and which of them is taken is a guess.
    """
    try:
        unit_cholesky(M)
        return M
    except PencilError:
        return M + np.diag(8 * len(M) * EPS * np.diag(M))


# A share of 1 that says that rounding has taken the rest.
USED_UP = 0.5


class ShrinkingInverse(Protocol):
    """What a backward pass needs."""

    @property
    def diagonal(self) -> np.ndarray:
        """diag of the inverse; meaningless where a feature has been deleted."""

    def delete(self, j: int) -> np.ndarray:
        """Delete feature j; returns column j of the inverse before the deletion."""

    def apply(self, V: np.ndarray) -> np.ndarray:
        """The inverse times V."""

    def keep(self, alive: np.ndarray) -> None:
        """Forget deleted features, renumber the rest, and recompute from scratch."""


class DenseInverse:
    """M_S^-1 held as a matrix."""

    def __init__(self, M: np.ndarray) -> None:
        self.M = M
        self._refresh()

    def _refresh(self) -> None:
        self.alive = np.ones(len(self.M), dtype=bool)
        self.P = np.ascontiguousarray(spd_inverse(lifted(self.M)))

    @property
    def diagonal(self) -> np.ndarray:
        return np.diag(self.P)

    def delete(self, j: int) -> np.ndarray:
        column = self.P[:, j].copy()
        self.alive[j] = False
        left = np.flatnonzero(self.alive)
        delete_from_inverse(self.P, left, j)
        # (M^-1)_ii is never below 1 / M_ii: where it has come down to less its digits are used up
        if not np.all(self.diagonal[left] * np.diag(self.M)[left] >= USED_UP):
            place = np.ix_(left, left)
            self.P[place] = spd_inverse(lifted(self.M[place]))
        return column

    def apply(self, V: np.ndarray) -> np.ndarray:
        return self.P @ V

    def keep(self, alive: np.ndarray) -> None:
        self.M = self.M[np.ix_(alive, alive)]
        self._refresh()


class FactorInverse:
    """(W'W + diag(d))_S^-1 through K = I + X X', X = W / sqrt(d), an n x n matrix."""

    def __init__(self, W: np.ndarray, d: np.ndarray) -> None:
        self.X = W / np.sqrt(d)
        self.d = d
        self._refresh()

    def _refresh(self) -> None:
        K = self.X @ self.X.T
        K[np.diag_indices_from(K)] += 1.0
        self.K_inverse = spd_inverse(K) if len(K) else K
        self.leverage = np.einsum("ij,ij->j", self.X, self.K_inverse @ self.X)
        # of M_jj (M^-1)_jj >= 1 again: what rounding must not take from 1 - leverage
        self.least = 1.0 / (1.0 + np.einsum("ij,ij->j", self.X, self.X))
        self.n_deleted = 0

    @property
    def diagonal(self) -> np.ndarray:
        return np.maximum(1.0 - self.leverage, self.least) / self.d

    def delete(self, j: int) -> np.ndarray:
        z = self.K_inverse @ self.X[:, j]
        overlap = self.X.T @ z
        left = max(1.0 - self.leverage[j], self.least[j])
        column = -overlap / np.sqrt(self.d * self.d[j])
        column[j] = left / self.d[j]
        self.leverage += overlap * overlap / left
        self.K_inverse += np.outer(z, z / left)
        self.X[:, j] = 0.0
        self.leverage[j] = 0.0
        self.n_deleted += 1
        if self.n_deleted >= max(len(self.X), 64):  # rank-one updates drift
            self._refresh()
        return column

    def apply(self, V: np.ndarray) -> np.ndarray:
        root = np.sqrt(self.d)[:, None]
        scaled = V / root
        return (scaled - self.X.T @ (self.K_inverse @ (self.X @ scaled))) / root

    def keep(self, alive: np.ndarray) -> None:
        self.X = np.ascontiguousarray(self.X[:, alive])
        self.d = self.d[alive]
        self._refresh()
