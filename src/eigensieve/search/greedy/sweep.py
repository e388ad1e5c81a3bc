"""A symmetric positive definite matrix, swept by a growing and shrinking set.

For a matrix M and a set S (k slots) the sweep keeps, for all p features at once,

* C = M[:, S] M_S^-1, the regression of every feature on the set (p x k),
* v = diag(M) - rowsum(C * M[:, S]), what the set leaves of every feature,
* P = M_S^-1.

Adding a feature or freeing a slot costs O(p (n + k)): one column of M and one
rank-one update. Forward steps and swaps read their scores off these arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy import linalg

from ...pencil.criteria import spd_inverse, unit_cholesky
from ...pencil.pencil import Pencil

# A feature of which the set leaves less than this share is taken to be a combination of it.
DEPENDENT = 1e-13
BLOCK = 4096
MAX_SINGLE_COLUMNS = 8

Columns = Callable[[np.ndarray], np.ndarray]


def total_sweep(pencil: Pencil, slots: int) -> Sweep:
    """The sweep of T = A + B."""
    return Sweep(
        lambda index: pencil.columns_A(index) + pencil.columns_B(index),
        pencil.diag_A + pencil.diag_B,
        slots,
    )


class Sweep:
    """The state described above.

    Parameters
    ----------
    columns : function of an index array, the columns of M
    diagonal : array (p,)
    slots : int, the largest set that will be held
    """

    def __init__(self, columns: Columns, diagonal: np.ndarray, slots: int) -> None:
        self.columns = columns
        self.diagonal = diagonal
        self.C = np.zeros((diagonal.size, slots), order="F")
        self.P = np.zeros((slots, slots))
        self.v = diagonal.copy()
        self.members = np.full(slots, -1, dtype=np.intp)

    @property
    def support(self) -> np.ndarray:
        """The features held, in slot order."""
        return self.members[self.members >= 0]

    def load(self, support: Sequence[int] | np.ndarray) -> None:
        """Set the state from scratch: O(p k (n + k))."""
        S = np.asarray(support, dtype=np.intp)
        k = S.size
        self.members[:] = -1
        self.members[:k] = S
        self.C[:] = 0.0
        for slot in range(
            0, k, MAX_SINGLE_COLUMNS
        ):  # a few columns at a time: no second p x k array
            self.C[:, slot : min(slot + MAX_SINGLE_COLUMNS, k)] = self.columns(
                S[slot : slot + MAX_SINGLE_COLUMNS]
            )
        M = self.C[S, :k].copy()
        self.P[:] = 0.0
        self.P[:k, :k] = spd_inverse(M)
        L, scale = unit_cholesky(M)
        for start in range(0, self.v.size, BLOCK):  # no further p x k array
            columns = self.C[start : start + BLOCK, :k]
            # v by the Cholesky factor: with a near-singular M_S the product C * M[:, S] cancels
            white = linalg.solve_triangular(L, (columns * scale).T, lower=True, check_finite=False)
            part = self.diagonal[start : start + BLOCK]
            self.v[start : start + BLOCK] = part - np.einsum("ij,ij->j", white, white)
            self.C[start : start + BLOCK, :k] = columns @ self.P[:k, :k]
        self.v[S] = 0.0

    def add(self, feature: int, slot: int) -> np.ndarray:
        """Put a feature into a free slot; returns g, its regression column (p,)."""
        column = self.columns(np.array([feature]))[:, 0]
        held = np.flatnonzero(self.members >= 0)
        weights = np.zeros(self.members.size)
        weights[held] = column[self.members[held]]
        last = self._span(held)
        residual = column - self.C[:, :last] @ weights[:last]
        left = max(float(residual[feature]), DEPENDENT * self.diagonal[feature])
        g = residual / left
        row = self.C[feature].copy()
        self._rank_one(-1.0, g, row, last)
        self.C[:, slot] = g
        self.v -= residual * g
        self.v[feature] = 0.0
        row = -row
        row[slot] = 1.0
        self.P += np.outer(row, row / left)
        self.members[slot] = feature
        return g

    def free(self, slot: int) -> None:
        """Empty a slot."""
        pivot = self.P[slot, slot]
        column = self.C[:, slot].copy()
        row = self.P[slot].copy()
        last = self._span(np.flatnonzero(self.members >= 0))
        self.v += column * column / pivot
        self._rank_one(-1.0 / pivot, column, row, last)
        self.P -= np.outer(row, row / pivot)
        self.C[:, slot] = 0.0
        self.P[slot] = self.P[:, slot] = 0.0
        self.members[slot] = -1

    def independence(self) -> float:
        """The least share of a feature that the (other) features of the set leave of it."""
        held = self.members >= 0
        inside = 1.0 / (np.diag(self.P)[held] * self.diagonal[self.members[held]])
        outside = self.v / self.diagonal
        outside[self.members[held]] = 1.0
        return float(min(inside.min(initial=1.0), outside.min(initial=1.0)))

    def _span(self, held: np.ndarray) -> int:
        return int(held[-1]) + 1 if held.size else 0

    def _rank_one(self, alpha: float, x: np.ndarray, y: np.ndarray, last: int) -> None:
        """C[:, :last] += alpha x y', in place: C is Fortran-ordered, so no copy is made."""
        if last:
            linalg.blas.dger(alpha, x, y[:last], a=self.C[:, :last], overwrite_a=True)
