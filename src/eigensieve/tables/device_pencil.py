"""A pencil whose rows lie on a device (torch, cupy): what is as long as the data stays there.

To every caller it is a `FactorPencil` that answers in numpy: W is a `DeviceRows`, a `RowFactor`
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
from .kinds.arrays import like, namespace, to_numpy
from .operators.device_rows import DeviceRows


class WorkingArrays:
    """What lies on the device of a `DevicePencil`: see `Pencil.working`."""

    def __init__(self, pencil: DevicePencil) -> None:
        self._pencil = pencil
        self.W: Any = pencil.W.array
        self.d, self.diag_A, self.diag_B = (
            like(values, self.W) for values in (pencil.d, pencil.diag_A, pencil.diag_B)
        )

    @cached_property
    def diagonal_below(self) -> Any:
        """Of the pencil, on the device."""
        return like(self._pencil.diagonal_below, self.W)

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

    W: DeviceRows
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
        super().__init__(to_numpy(H), DeviceRows(rows), to_numpy(d), core=core, blocks=blocks)

    @cached_property
    def working(self) -> WorkingArrays:
        return WorkingArrays(self)

    def _alike(self, H: Any, W: Any, d: np.ndarray, core: np.ndarray | None) -> DevicePencil:
        return DevicePencil(H, W.array, d, core=core)


def _is_finite(rows: Any) -> bool:
    """Whether every entry is, row by row: no second copy is made."""
    xp = namespace(rows)
    return all(bool(xp.all(xp.isfinite(rows[i, :]))) for i in range(rows.shape[0]))
