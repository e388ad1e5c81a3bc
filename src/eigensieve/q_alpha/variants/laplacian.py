"""Q-alpha on the Laplacian spectrum (definition 5, corrected).

L_i = m_i m_i' + diag(e_i) with e_i = d_i 1 - s_i m_i, s_i = m_i'1, takes the place of m_i m_i', and
F_ij = trace(Q'L_i'L_j Q) that of G. Centred features have s_i = 0, and then this is the standard
form: the features must not be centred. In the first cycle d_i is the largest entry of s_i m_i, so
that every L_i is positive semidefinite (the paper's max diag(m_i m_i') does not do that); then one
d for all, the largest entry of diag(A_alpha 1) over sum(alpha). d changes, so the value may fall.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...tables.operators.table_rows import TableRows
from ..relevance import StandardForm, orthonormal, point_up, start_basis


@dataclass(frozen=True, eq=False)
class LaplacianBasis:
    """Q, and the d of this cycle, one per feature."""

    Q: np.ndarray
    d: np.ndarray


class LaplacianForm(StandardForm):
    """F at one basis; positive semidefinite."""

    def __init__(
        self, rows: TableRows, basis: LaplacianBasis, sums: np.ndarray, live: np.ndarray
    ) -> None:
        super().__init__(rows, basis.Q)
        self.d, self.sums, self.live = basis.d, sums, live

    def turned(self, x: np.ndarray) -> np.ndarray:
        """Z = L_x Q."""
        if self._turned is None or self._turned[0] is not x:
            both = np.column_stack([x[:, None] * self.U, x * self.sums])
            found = self.rows.matmat(both)
            diagonal = self.d @ x - found[:, -1]
            self._turned = (x, found[:, :-1] + diagonal[:, None] * self.Q)
        return self._turned[1]

    def weigh(self, Z: np.ndarray) -> np.ndarray:
        w = np.einsum("ij,ij->i", self.Q, Z)
        found = self.rows.rmatmat(np.column_stack([Z, w]))
        outer = np.einsum("ij,ij->i", self.U, found[:, :-1])
        return outer + self.d * w.sum() - self.sums * found[:, -1]

    def weigh_and_turn(self, Z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        y = self.weigh(Z)
        return y, self.turned(y)

    def step(self, x: np.ndarray) -> np.ndarray:
        return point_up(self.apply(x))

    def turn(self, alpha: np.ndarray) -> LaplacianBasis:
        row_sums = self.rows.matmat((alpha * self.sums)[:, None])[:, 0]
        total = float(alpha.sum())
        # weights that cancel have no Laplacian of their own: the d of before remains. A feature of
        # zeros would be d I, which says nothing about the samples: its d stays 0.
        d = self.live * (row_sums.max() / total) if total > 0 else self.d
        following = LaplacianForm(self.rows, LaplacianBasis(self.Q, d), self.sums, self.live)
        return LaplacianBasis(orthonormal(following.turned(alpha)), d)

    def root_blocks(self) -> Any:
        for where, block in self.rows.array_blocks():
            M = block.T
            extra = self.d[where, None] - self.sums[where, None] * M
            root = M[:, :, None] * self.U[where, None, :] + extra[:, :, None] * self.Q
            yield where, root.reshape(len(M), -1)


class Laplacian:
    """Definition 5; the rows are scaled, not centred."""

    def __init__(self, rows: TableRows, k: int) -> None:
        self.rows, self.k = rows, k
        ones = np.ones((rows.n_samples, 1), dtype=rows.dtype)
        self.sums = rows.rmatmat(ones)[:, 0]
        least, most = rows.limits()
        self.live = ((least != 0) | (most != 0)).astype(rows.dtype)
        self.first = np.maximum(self.sums * least, self.sums * most)

    @property
    def cost(self) -> int:
        return self.rows.n_entries * (self.k + 1)

    def start(self, rng: np.random.Generator | None) -> LaplacianBasis:
        return LaplacianBasis(start_basis(self.rows, self.k, rng), self.first)

    def at(self, basis: LaplacianBasis, alpha: np.ndarray | None = None) -> LaplacianForm:
        return LaplacianForm(self.rows, basis, self.sums, self.live)

    def express(self, basis: LaplacianBasis) -> np.ndarray:
        return basis.Q
