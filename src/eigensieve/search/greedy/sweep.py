"""A symmetric positive definite matrix, swept by a growing and shrinking set.

For a matrix M and a set S (k slots) the sweep keeps, for all p features at once,

* C = M[:, S] M_S^-1, the regression of every feature on the set (p x k),
* v = diag(M) - rowsum(C * M[:, S]), what the set leaves of every feature,
* P = M_S^-1.

Adding a feature or freeing a slot costs O(p (n + k)): one column of M and one
rank-one update. Forward steps and swaps read their scores off these arrays. On a device they are
formed anew for every set: there that costs less than keeping them up to date.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import linalg

from ...pencil.criteria import spd_inverse, unit_cholesky
from ...pencil.pencil import Pencil
from ...tables.kinds.arrays import is_device_array, like, namespace, scatter, to_numpy
from .inverse import lifted

# A feature of which the set leaves less than this share is taken to be a combination of it.
DEPENDENT = 1e-13
BLOCK = 4096
MAX_SINGLE_COLUMNS = 8

Columns = Callable[[np.ndarray], np.ndarray]


def own_sweep(pencil: Pencil, slots: int) -> Sweep:
    """The sweep of B, where the pencil lies."""
    here = pencil.working
    if is_device_array(here.diag_B):
        return DeviceSweep([here.W], here.diag_B, lambda S: pencil.restrict(S).B, slots)
    return Sweep(pencil.columns_B, pencil.diag_B, slots)


def total_sweep(pencil: Pencil, slots: int) -> Sweep:
    """The sweep of T = A + B, where the pencil lies."""
    here = pencil.working
    diagonal = here.diag_A + here.diag_B
    if is_device_array(diagonal):
        return DeviceSweep([here.factor_A, here.W], diagonal, lambda S: _total(pencil, S), slots)
    return Sweep(lambda index: pencil.columns_A(index) + pencil.columns_B(index), diagonal, slots)


def _total(pencil: Pencil, S: np.ndarray) -> np.ndarray:
    small = pencil.restrict(S)
    return small.A + small.B


class Sweep:
    """The state described above.

    Parameters
    ----------
    columns : function of an index array, the columns of M
    diagonal : array (p,)
    slots : int, the largest set that will be held
    """

    # on a device: all but P and the members
    C: Any
    v: Any

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
        M = lifted(self.C[S, :k].copy())
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

    def exchange(self, slot: int, feature: int) -> None:
        """Put a feature into a slot that another one has."""
        self.free(slot)
        self.add(feature, slot)

    def room(self, slot: int) -> Any:
        """P_ii v_j + C_ji^2 for all j: what the others of the set leave of j, times P_ii."""
        c = self.C[:, slot]
        return float(self.P[slot, slot]) * self.v + c * c

    def independence(self) -> float:
        """The least share of a feature that the (other) features of the set leave of it."""
        S, xp = self.support, namespace(self.v)
        diagonal = to_numpy(xp.take(self.diagonal, like(S, self.v)))
        inside = 1.0 / (np.diag(self.P)[self.members >= 0] * diagonal)
        outside = self.v / self.diagonal
        scatter(outside, S, np.ones(S.size))
        return min(float(inside.min(initial=1.0)), float(xp.min(outside)))

    def _span(self, held: np.ndarray) -> int:
        return int(held[-1]) + 1 if held.size else 0

    def _rank_one(self, alpha: float, x: np.ndarray, y: np.ndarray, last: int) -> None:
        """C[:, :last] += alpha x y', in place: C is Fortran-ordered, so no copy is made."""
        if last:
            linalg.blas.dger(alpha, x, y[:last], a=self.C[:, :last], overwrite_a=True)


class DeviceSweep(Sweep):
    """The same for M = F'F + diag(d) on a device; rows of C and v in the set mean nothing.

    Parameters
    ----------
    factors : the parts of F, device arrays (m_i, p)
    diagonal : device array (p,), the diagonal of M
    restricted : function of an index array, M on these features, on the host
    slots : as in `Sweep`
    """

    def __init__(self, factors: list[Any], diagonal: Any, restricted: Columns, slots: int) -> None:
        self.factors, self.diagonal, self.restricted = factors, diagonal, restricted
        self.members = np.full(slots, -1, dtype=np.intp)

    def load(self, support: Sequence[int] | np.ndarray) -> None:
        self.members[:] = support
        L, scale = unit_cholesky(lifted(self.restricted(self.members)))
        root = linalg.solve_triangular(L, np.diag(scale), lower=True)  # root M root' = I
        self.P = root.T @ root
        xp, index = namespace(self.diagonal), like(self.members, self.diagonal)
        rotate = like(np.ascontiguousarray(root.T), self.diagonal)
        white = sum(F.T @ (xp.take(F, index, axis=1) @ rotate) for F in self.factors)
        self.v = self.diagonal - xp.sum(white * white, axis=1)
        self.C = white @ like(root, self.diagonal)

    def exchange(self, slot: int, feature: int) -> None:
        S = self.members.copy()
        S[slot] = feature
        self.load(S)
