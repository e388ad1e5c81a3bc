"""Class statistics of a dense table, in memory or on a device: the residuals stay there."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from ..pencil.magnitudes import ROUND_OFF, refuse_extremes
from .kinds.arrays import is_device_array, like, namespace, to_numpy
from .kinds.big_table import equal_blocks

# Entries of a block of rows that is centred at a time: no second copy of wide data.
BLOCK_ENTRIES, DEVICE_BLOCK_ENTRIES = 2**18, 2**25


def centre_dense(
    X: Any, code: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Any]:
    """Class means with their tails (K, p), residuals (n, p); exact zeros for constants.

    Row i of the array X is of class ``code[i]``, which has ``counts[code[i]]`` rows. The residuals
    are float64 and lie where X does, the means and their tails are numpy.
    """
    rows = _own_copy(X)
    high, low = _ends(rows)
    if not (np.isfinite(high).all() and np.isfinite(low).all()):
        raise InputError("X contains NaN or infinity; impute or drop them first")
    magnitude = np.maximum(high, -low)
    refuse_extremes(magnitude)
    member = like(np.equal.outer(np.arange(counts.size), code) / counts[:, None], rows)
    shifts = []
    for _ in range(2):  # the second pass removes the round-off of a large common offset
        shift = member @ rows
        _subtract_class_rows(rows, shift, code)
        shifts.append(to_numpy(shift))
    means = shifts[0] + shifts[1]
    tails = (shifts[0] - means) + shifts[1]
    # max and min, not abs: no second copy of wide data
    left = _ends(rows)
    flat = np.maximum(left[0], -left[1]) <= ROUND_OFF * magnitude
    if not is_device_array(rows):
        rows[:, flat] = 0.0
    elif flat.any():
        rows *= like(np.where(flat, 0.0, 1.0), rows)
    constant = high == low
    means[:, constant], tails[:, constant] = high[constant], 0.0
    return means, tails, rows


def _own_copy(X: Any) -> Any:
    """float64, to be written on."""
    if not is_device_array(X):
        try:
            return np.array(X, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"X must hold numbers only: {error}") from error
    xp = namespace(X)
    if not xp.isdtype(X.dtype, ("bool", "integral", "real floating")):
        raise InputError(f"X must hold real numbers; its dtype is {X.dtype}")
    return xp.astype(X.detach() if hasattr(X, "detach") else X, xp.float64, copy=True)


def _ends(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """The largest and the smallest entry of every column; NaN where there is one."""
    xp = namespace(rows)
    return to_numpy(xp.max(rows, axis=0)), to_numpy(xp.min(rows, axis=0))


def _subtract_class_rows(rows: Any, shift: Any, code: np.ndarray) -> None:
    """rows -= shift[code], in blocks."""
    xp = namespace(rows)
    entries = BLOCK_ENTRIES if xp is np else DEVICE_BLOCK_ENTRIES
    for block in equal_blocks(len(code), max(1, entries // rows.shape[1])):
        own = like(np.asarray(code[block], dtype=np.int64), rows)
        rows[block, :] -= xp.take(shift, own, axis=0)
