"""The pencil of a wide table on disk: diagonals in memory, columns as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import PencilError
from ..pencil.factor_pencil import FactorPencil
from ..pencil.row_factor import is_small
from .operators.streamed_rows import StreamedRows

# So many entries of a table are taken into memory for a search (256 MB).
LOADED_ENTRIES = 2**25


class StreamedPencil(FactorPencil):
    """A factor pencil of which H or W is on disk.

    What every search may ask is answered: sums over all features by a pass over the table, few
    columns by reading them. `load` and `parts` give ordinary pencils in memory.

    Parameters
    ----------
    H, W : array or StreamedRows (c, p), (m, p); one of them is on disk. W may be None
    d : array (p,), positive
    core : see `FactorPencil`
    diag_A, diag_B : arrays (p,), where they are known already
    """

    def __init__(
        self,
        H: np.ndarray | StreamedRows,
        W: np.ndarray | StreamedRows | None,
        d: np.ndarray,
        *,
        core: np.ndarray | None = None,
        diag_A: np.ndarray | None = None,
        diag_B: np.ndarray | None = None,
    ) -> None:
        self.H: Any = H
        self.W: Any = np.empty((0, H.shape[1])) if W is None else W
        self.d, self.core, self.blocks = d, core, None
        on_disk = [rows for rows in (self.H, self.W) if isinstance(rows, StreamedRows)]
        if len(on_disk) != 1:
            raise PencilError(f"one of H and W must be on disk, not {len(on_disk)} of them")
        self.rows = on_disk[0]
        self.has_A_on_disk = self.rows is self.H
        for name, diagonal in (("diag_A", diag_A), ("diag_B", diag_B)):
            if diagonal is not None:
                self.__dict__[name] = diagonal

    in_memory = False

    def in_memory_if_small(self) -> FactorPencil:
        return self.load_all() if is_small(len(self.rows), self.size) else self

    def can_load(self, n_features: int) -> bool:
        """Whether so many features fit into memory."""
        return n_features * len(self.rows) <= LOADED_ENTRIES

    def load(self, index: np.ndarray) -> FactorPencil:
        """The pencil of some features, in memory."""
        index = np.asarray(index, dtype=np.intp)
        part = FactorPencil(self.H[:, index], self.W[:, index], self.d[index], core=self.core)
        part.criterion = self.criterion
        return self._with_diagonals(part, index)

    def load_all(self) -> FactorPencil:
        """The whole pencil, in memory."""
        whole = self.load(np.arange(self.size))
        whole.recipe = self.recipe
        return whole

    def take(self, index: np.ndarray) -> FactorPencil:
        """The pencil of some features, in ascending order; in memory if they are few."""
        if is_small(len(self.rows), np.size(index)):
            return self.load(index)
        return self._with_diagonals(super().take(index), index)

    def parts(self) -> Iterator[tuple[slice, FactorPencil]]:
        """All features, some at a time, each as a pencil in memory: one pass over the table."""
        for where, rows in self.rows.column_blocks():
            H = rows if self.rows is self.H else self.H[:, where]
            W = rows if self.rows is self.W else self.W[:, where]
            part = FactorPencil(H, W, self.d[where], core=self.core)
            yield where, self._with_diagonals(part, where)

    def with_A(self, H: Any, core: np.ndarray | None) -> StreamedPencil:
        return StreamedPencil(H, self.W, self.d, core=core, diag_B=self.diag_B)

    def _alike(self, H: Any, W: Any, d: np.ndarray, core: np.ndarray | None) -> StreamedPencil:
        return StreamedPencil(H, W, d, core=core)

    def largest_entries(self, index: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        """Of some columns of A, where diag(B) = 1, the k entries of largest modulus.

        Returns
        -------
        sizes, places : arrays (m, k), descending; ties go to the lowest index
        """
        own = self.H[:, index] / np.sqrt(self.diag_B[index])
        own = own if self.core is None else self.core @ own
        sizes, places = np.full((index.size, k), -np.inf), np.zeros((index.size, k), dtype=np.intp)
        for where, part in self.parts():
            entries = np.abs(own.T @ part.H / np.sqrt(part.diag_B))
            for row, entry in enumerate(entries):
                new = np.flatnonzero(entry > sizes[row, -1])
                both = np.append(sizes[row], entry[new])
                best = np.argsort(-both, kind="stable")[:k]
                sizes[row] = both[best]
                places[row] = np.append(places[row], new + where.start)[best]
        return sizes, places

    def _with_diagonals(self, part: FactorPencil, index: Any) -> Any:
        """The part, with as much of its diagonals as is known."""
        for name in ("diag_A", "diag_B"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][index]
        return part
