"""The rows of Q-alpha class by class: R_g (samples of class g x features) for every g.

Lists have an entry per class; what has a row per feature lies where the data are.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ..tables.operators.any_rows import join_arrays
from ..tables.operators.table_rows import TableRows
from .passes import turn, weigh


class ClassRows:
    """The samples of each class as rows of their own; all classes in one pass over a table.

    Attributes
    ----------
    rows : all samples
    sizes : how many samples each class has
    """

    def __init__(self, rows: TableRows, members: list[np.ndarray]) -> None:
        self.rows, self.members = rows, members
        self.sizes = [samples.size for samples in members]

    def _split(self, rows: TableRows) -> list[TableRows]:
        return [rows.of_rows(samples) for samples in self.members]

    @cached_property
    def parts(self) -> list[TableRows]:
        """R_g of every class, made when asked for: they may be copies."""
        return self._split(self.rows)

    def _pieces(self) -> Iterable[tuple[slice, list[TableRows]]]:
        """Some features of every class."""
        if not self.rows.is_streamed:
            return [(np.s_[:], self.parts)]
        return ((where, self._split(piece)) for where, piece in self.rows.pieces())

    def project(self, B: list[np.ndarray]) -> list[Any]:
        """R_g'B_g."""
        found = [[part.rmatmat(b) for part, b in zip(parts, B)] for _, parts in self._pieces()]
        return [join_arrays(pieces) for pieces in zip(*found)]

    def turn(self, x: Any, U: list[Any]) -> list[np.ndarray]:
        """R_g(x U_g)."""
        out = [np.zeros((q, u.shape[1]), dtype=self.rows.dtype) for q, u in zip(self.sizes, U)]
        for where, parts in self._pieces():
            for total, part, u in zip(out, parts, U):
                total += turn(part, x[where], u[where, :])
        return out

    def weigh(self, U: list[Any], Z: list[np.ndarray]) -> Any:
        """The row sums of U_g * R_g'Z_g, over all g."""
        found = [
            sum(weigh(part, u[where, :], z) for part, u, z in zip(parts, U, Z))
            for where, parts in self._pieces()
        ]
        return join_arrays(found)

    def affinity(self) -> list[list[np.ndarray]]:
        """R_g R_h' for every pair."""
        A = self.rows.gram()
        return [[A[np.ix_(g, h)] for h in self.members] for g in self.members]

    def express(self, bases: list[np.ndarray]) -> list[np.ndarray]:
        """Bases (q_h, k) in terms of the samples of the table."""
        return bases
