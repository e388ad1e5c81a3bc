"""What a growing set leaves of every feature of M = F'F + diag(d), by Cholesky rows.

The Cholesky row of an outsider j is l(j) = f_j' tau, where tau is what the features taken before
leave of the newcomer's column of F. So a step is one product F' tau: nothing of size p x k is
kept. F may lie in memory, on a device, or anywhere that a `RowFactor` reads it from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...pencil.row_factor import column_squares
from ...tables.kinds.arrays import like, namespace, to_numpy
from .sweep import DEPENDENT


class CholeskyRows:
    """The part of a `Sweep` that a forward pass needs: ``v``, and the regressions on the newcomer.

    Parameters
    ----------
    factors : the parts of F, (m_i, p) each: arrays, device arrays or RowFactors
    d, diagonal : arrays (p,), d and the diagonal of M, where the arithmetic is done
    slots : int, the largest set that will be held

    Attributes
    ----------
    v : array (p,)
        What the set leaves of every feature; 0 for its members.
    """

    def __init__(self, factors: Sequence[Any], d: Any, diagonal: Any, slots: int) -> None:
        self.factors = [F for F in factors if F.shape[0]]
        self.d, self.diagonal = d, diagonal
        self.v = diagonal * 1.0
        self._outside = namespace(diagonal).ones_like(diagonal)
        self._length = sum(F.shape[0] for F in self.factors)
        # the taus, beneath them their entries in the rows that diag(sqrt(d)) adds to F
        self._taus = np.zeros((self._length + slots, slots), order="F")

    def add(self, feature: int, slot: int) -> Any:
        """Take a feature, the slot-th; returns g, its regression column (p,)."""
        rest = self._residual(feature, slot)
        # this is v of the feature, in which digits have cancelled
        left = max(float(rest @ rest), DEPENDENT * float(self.diagonal[feature]))
        self._taus[:, slot] = rest / np.sqrt(left)
        g = self._products(rest[: self._length] / left)
        g *= self._outside  # what the features of the set are to each other is settled
        g[feature] = 1.0
        self.v -= left * g * g
        self.v[feature] = 0.0
        self._outside[feature] = 0.0
        return g

    def _residual(self, feature: int, slot: int) -> np.ndarray:
        """The newcomer's column less its part in the span of the taus, taken out twice."""
        rest = np.zeros(len(self._taus))
        columns = [to_numpy(F[:, feature]) for F in self.factors]
        rest[: self._length] = np.concatenate(columns) if columns else 0.0
        rest[self._length + slot] = np.sqrt(float(self.d[feature]))
        taus = self._taus[:, :slot]
        for _ in range(2):
            rest -= taus @ (taus.T @ rest)
        return rest

    def _products(self, tau: np.ndarray) -> Any:
        """F' tau for all features."""
        g, first = namespace(self.v).zeros_like(self.v), 0
        for F in self.factors:
            part = tau[first : first + F.shape[0]]
            g += F.T @ like(part, F)
            first += F.shape[0]
        return g


def sum_of_squares(rows: Any) -> Any:
    """The sum of squares of every column (p,), where the rows lie."""
    if namespace(rows) is np:
        return column_squares(rows)
    return namespace(rows).sum(rows * rows, axis=0)
