"""A pencil whose rows lie on a device (torch, cupy): what is as long as the data stays there.

To every caller it is a `FactorPencil` that answers in numpy: W is a `DeviceFactor`, a `RowFactor`
that copies its (small) results to the host. The arithmetic that is worth a device asks for
`Pencil.working` instead, and keeps even its vectors of length p there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import PencilError
from ..pencil.factor_pencil import FactorPencil
from ..pencil.row_factor import RowFactor
from .kinds.arrays import like, namespace, to_numpy
from .operators.any_rows import row_squares

# Columns of a device array that a product is formed for at a time.
BLOCK = 2**17


class DeviceFactor(RowFactor):
    """Rows (m, p) on a device; ``array`` is what lies there.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve.tables.device_pencil import DeviceFactor
    >>> rows = DeviceFactor(np.arange(6.0).reshape(2, 3))  # numpy counts as a device of its own
    >>> rows.squares().tolist()
    [9.0, 17.0, 29.0]
    """

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape = (int(array.shape[0]), int(array.shape[1]))

    def columns(self, index: np.ndarray) -> np.ndarray:
        return to_numpy(take_columns(self.array, index))

    def pull(self, V: np.ndarray) -> np.ndarray:
        return to_numpy(self.array.T @ like(V, self.array))

    def push(self, X: np.ndarray) -> np.ndarray:
        return to_numpy(self.array @ like(X, self.array))

    def squares(self) -> np.ndarray:
        return row_squares(self.array)

    def gram(self, weights: np.ndarray | None = None) -> np.ndarray:
        size = self.shape[1]
        total = 0.0
        for start in range(0, size, BLOCK):
            block = slice(start, min(start + BLOCK, size))
            part = self.array[:, block]
            other = part if weights is None else part * like(weights[block], part)
            total = total + other @ part.T
        return to_numpy(total)

    def scaled(self, scale: np.ndarray) -> DeviceFactor:
        return DeviceFactor(self.array * like(np.ascontiguousarray(scale), self.array))

    def take(self, index: np.ndarray) -> DeviceFactor:
        return DeviceFactor(take_columns(self.array, index))


def take_columns(array: Any, index: np.ndarray) -> Any:
    """Some columns of a device array, on its device."""
    place = like(np.asarray(index, dtype=np.int64), array)
    return namespace(array).take(array, place, axis=1)


class WorkingArrays:
    """What lies on the device of a `DevicePencil`: see `Pencil.working`."""

    def __init__(self, pencil: DevicePencil) -> None:
        self._pencil = pencil
        self.W: Any = pencil.W.array
        self.d, self.diag_A, self.diag_B = (
            like(values, self.W) for values in (pencil.d, pencil.diag_A, pencil.diag_B)
        )

    @cached_property
    def factor_A(self) -> Any:
        """H with A = H'H; its few rows are held on both sides."""
        return like(self._pencil.factor_A, self.W)


class DevicePencil(FactorPencil):
    """A = H'H and B = W'W + diag(d) with the rows of W on a device, in float64.

    Greedy forward and swaps for the trace and log-det criteria and the perspective bound work
    on the device; everything else takes what it needs to the host.

    Parameters
    ----------
    H : array (c, p), on the device or not
        Its few rows are held on both sides.
    W : device array (m, p)
    d : array (p,), positive, on the device or not
    core, blocks : see `FactorPencil`.
    """

    W: DeviceFactor
    speed = 50.0

    def __init__(
        self,
        H: Any,
        W: Any,
        d: Any,
        *,
        core: np.ndarray | None = None,
        blocks: Sequence[int] | None = None,
    ) -> None:
        xp = namespace(W)
        rows = xp.asarray(W, dtype=xp.float64)
        if not _is_finite(rows):
            raise PencilError("W has NaN or infinite entries; remove or impute them first")
        super().__init__(to_numpy(H), DeviceFactor(rows), to_numpy(d), core=core, blocks=blocks)

    @cached_property
    def working(self) -> WorkingArrays:
        return WorkingArrays(self)

    def _alike(self, H: Any, W: Any, d: np.ndarray, core: np.ndarray | None) -> DevicePencil:
        return DevicePencil(H, W.array, d, core=core)


def _is_finite(rows: Any) -> bool:
    """Whether every entry is, row by row: no second copy is made."""
    xp = namespace(rows)
    return all(bool(xp.all(xp.isfinite(rows[i, :]))) for i in range(rows.shape[0]))
