"""The rows of Q-alpha class by class: M_g (features x samples of class g) for every g.

Lists have an entry per class; what has a row per feature lies where the data are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .feature_rows import FeatureRows


class ClassRows:
    """The samples of each class as rows of their own.

    Attributes
    ----------
    rows : all samples
    sizes : how many samples each class has
    """

    def __init__(self, rows: FeatureRows, members: list[np.ndarray]) -> None:
        self.rows, self.members = rows, members
        self.sizes = [samples.size for samples in members]
        self._parts: list[FeatureRows] | None = None

    @property
    def parts(self) -> list[FeatureRows]:
        """M_g of every class, made when asked for: they may be copies."""
        if self._parts is None:
            self._parts = [self.rows.of_samples(samples) for samples in self.members]
        return self._parts

    def times(self, B: list[np.ndarray]) -> list[Any]:
        """M_g B_g."""
        return [part.times(b) for part, b in zip(self.parts, B)]

    def pull(self, x: Any, U: list[Any]) -> list[np.ndarray]:
        """M_g'(x U_g)."""
        return [part.pull(x, u) for part, u in zip(self.parts, U)]

    def push(self, U: list[Any], Z: list[np.ndarray]) -> Any:
        """The row sums of U_g * M_g Z_g, over all g."""
        return sum(part.push(u, z) for part, u, z in zip(self.parts, U, Z))

    def affinity(self) -> list[list[np.ndarray]]:
        """M_g'M_h for every pair."""
        A = self.rows.affinity()
        return [[A[np.ix_(g, h)] for h in self.members] for g in self.members]

    def express(self, bases: list[np.ndarray]) -> list[np.ndarray]:
        """Bases (q_h, k) in terms of the samples of the table."""
        return bases
