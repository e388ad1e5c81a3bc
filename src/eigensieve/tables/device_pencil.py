"""A pencil whose rows lie on a device (torch, cupy): what is as long as the data stays there.

To every caller it is a `FactorPencil` that answers in numpy: W is a `DeviceRows`, a `RowFactor`
that copies its (small) results to the host. The arithmetic that is worth a device asks for
`working_arrays` instead, and keeps even its vectors of length p there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import PencilError
from ..pencil.factor_pencil import FactorPencil
from ..pencil.pencil import Pencil
from ..pencil.row_factor import RowFactor
from .kinds.arrays import like, namespace, to_numpy
from .operators.device_rows import DeviceRows, take_columns


class WorkingArrays:
    """A = H'H and B = W'W + diag(d) where the arithmetic on them is done.

    On the device if W lies there, else what the pencil has.
    """

    def __init__(self, pencil: FactorPencil) -> None:
        self._pencil = pencil
        on_device = isinstance(pencil.W, DeviceRows)
        self.W: Any = pencil.W.array if on_device else pencil.W
        self._model = self.W if on_device else pencil.d
        self.d = self.put(pencil.d)
        self.diag_A, self.diag_B = self.put(pencil.diag_A), self.put(pencil.diag_B)

    @cached_property
    def H(self) -> Any:
        """The factor of A, which must be semidefinite."""
        H = self._pencil.spectral_factor[0]
        return H if isinstance(H, RowFactor) else self.put(H)

    def put(self, values: np.ndarray) -> Any:
        """An array of the host there."""
        return like(values, self._model)


def working_arrays(pencil: FactorPencil) -> WorkingArrays:
    """Those of the pencil; a `DevicePencil` keeps them."""
    return pencil.working if isinstance(pencil, DevicePencil) else WorkingArrays(pencil)


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
    blocks : see `Pencil`.
    """

    W: DeviceRows

    def __init__(self, H: Any, W: Any, d: Any, *, blocks: Sequence[int] | None = None) -> None:
        xp = namespace(W)
        rows = xp.asarray(W, dtype=xp.float64)
        if not _is_finite(rows):
            raise PencilError("W has NaN or infinite entries; remove or impute them first")
        super().__init__(to_numpy(H), DeviceRows(rows), to_numpy(d), blocks=blocks)

    @cached_property
    def working(self) -> WorkingArrays:
        """The arrays on the device."""
        return WorkingArrays(self)

    def take(self, index: np.ndarray) -> Pencil:
        part = DevicePencil(self.H[:, index], take_columns(self.W.array, index), self.d[index])
        part.blocks = None if self.blocks is None else self.blocks[index]
        return part


def _is_finite(rows: Any) -> bool:
    """Whether every entry is, row by row: no second copy is made."""
    xp = namespace(rows)
    return all(bool(xp.all(xp.isfinite(rows[i, :]))) for i in range(rows.shape[0]))
