"""The rows of Q-alpha of a tall table: all that counts are inner products of features.

One pass over the samples gives the scatter of each class, and with it the inner products of the
scaled features, M M' = R'R. R has the weights of M, and as few samples as there are features. A
basis of the table's own samples takes a second pass.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from ..tables.kinds.big_table import BigTable
from ..tables.operators.scaling import Measures, Scaling, make_scaling, working_dtype
from ..tables.operators.table_rows import ArrayRows
from ..tables.statistics import ClassStats
from .class_rows import ClassRows


class TallRows(ArrayRows):
    """R in place of the table; the class of every sample is known where it matters."""

    def __init__(
        self, table: BigTable, code: np.ndarray | None, *, center: bool, scale: bool, offset: float
    ) -> None:
        self.table = table
        self.code = np.zeros(table.shape[0], dtype=np.intp) if code is None else code
        stats = ClassStats.from_table(table, self.code, form="grams")
        dtype = working_dtype(table)
        measures = _measure(stats, center)
        self.scaling = make_scaling(
            measures, table.shape[0], dtype, center=center, scale=scale, offset=offset
        )
        self.roots = [Root(gram) for gram in _scaled_grams(stats, self.scaling)]
        self.whole = self.roots[0] if len(self.roots) == 1 else None
        super().__init__(np.vstack([root.R for root in self.roots]).astype(dtype))

    def express(self, basis: np.ndarray) -> np.ndarray:
        """M'C, where C gives the basis in terms of features."""
        assert self.whole is not None
        return self.combine([self.whole.solve(basis)])

    def combine(self, C: list[np.ndarray]) -> np.ndarray:
        """Combinations of the scaled features, those of its class for every sample: one pass."""
        make = partial(_combine_block, self.scaling, self.code, C)
        pieces = self.table.reduce_rows(make, _gather)
        return np.concatenate([pieces[start] for start in sorted(pieces)]).astype(self.dtype)


class TallClassRows(ClassRows):
    """A root per class."""

    def __init__(self, rows: TallRows) -> None:
        ends = np.cumsum([len(root.R) for root in rows.roots])
        super().__init__(rows, np.split(np.arange(ends[-1]), ends[:-1]))
        self.tall = rows

    def express(self, bases: list[np.ndarray]) -> list[np.ndarray]:
        wide = max(basis.shape[1] for basis in bases)
        C = [root.solve(basis) for root, basis in zip(self.tall.roots, bases)]
        padded = [np.pad(c, ((0, 0), (0, wide - c.shape[1]))) for c in C]
        found = self.tall.combine(padded)
        return [found[self.tall.code == h, : c.shape[1]] for h, c in enumerate(C)]


class Root:
    """R (r, n) of full rank with R'R a positive semidefinite matrix: Cholesky with pivots.

    ``order`` has the features on which the others depend first.
    """

    def __init__(self, gram: np.ndarray) -> None:
        factor, order, rank, _ = lapack.dpstrf(gram)
        self.rank, self.order = rank, order - 1
        self.R = np.zeros((max(1, rank), len(gram)))  # a class of zeros has a row of zeros
        self.R[:rank, self.order] = np.triu(factor)[:rank]

    def solve(self, basis: np.ndarray) -> np.ndarray:
        """C (n, k) with RC = basis, of the first features only."""
        first = self.order[: self.rank]
        C = np.zeros((self.R.shape[1], basis.shape[1]))
        if self.rank:
            R = self.R[: self.rank, first]
            C[first] = linalg.solve_triangular(R, basis[: self.rank].astype(np.float64))
        return C


def _measure(stats: ClassStats, center: bool) -> Measures:
    shift = stats.mean if center else np.zeros(stats.n_features)
    assert stats.moments is not None
    squares = np.einsum("kii->i", stats.moments.grams)
    squares = squares + stats.counts @ np.square((stats.means - shift) + stats.tails)
    deviation = np.sqrt(squares / stats.n_samples)
    size = np.maximum(np.abs(shift), deviation)
    size = np.where(size > 0, size, 1.0)
    return Measures(shift, size, np.sqrt(stats.n_samples) * deviation / size)


def _scaled_grams(stats: ClassStats, scaling: Scaling) -> Any:
    """The inner products of the scaled features over the samples of each class."""
    assert stats.moments is not None
    f = scaling.factor
    for count, mean, tail, gram in zip(stats.counts, stats.means, stats.tails, stats.moments.grams):
        centre = f * ((mean - scaling.shift) + tail) + scaling.lift
        yield gram * f[:, None] * f + count * np.outer(centre, centre)


def _combine_block(
    scaling: Scaling, code: np.ndarray, C: list[np.ndarray], where: slice, block: np.ndarray
) -> dict[int, np.ndarray]:
    rows, labels = scaling.apply(block), code[where]
    out = np.empty((len(rows), C[0].shape[1]))
    for g, c in enumerate(C):
        out[labels == g] = rows[labels == g] @ c
    return {where.start: out}


def _gather(some: dict[int, np.ndarray], others: dict[int, np.ndarray]) -> dict[int, np.ndarray]:
    return some | others
