"""Class statistics of a table on a device (torch, cupy): the residuals stay there."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..errors import InputError
from ..pencil.magnitudes import ROUND_OFF, refuse_extremes
from .kinds.arrays import like, namespace, to_numpy

# Entries of a block of rows that is centred at a time: no second copy of the table.
BLOCK_ENTRIES = 2**25


def _own_copy(X: Any) -> Any:
    xp = namespace(X)
    if not xp.isdtype(X.dtype, ("bool", "integral", "real floating")):
        raise InputError(f"X must hold real numbers; its dtype is {X.dtype}")
    return xp.astype(X.detach() if hasattr(X, "detach") else X, xp.float64, copy=True)


def centre_on_device(
    X: Any, code: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Any]:
    """What stats.py does in memory, step by step the same.

    Row i of the device array X is of class ``code[i]``, which has ``counts[code[i]]`` rows. The
    residuals (n, p) are a device array of float64, the means and their tails (K, p) are numpy.
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
    left = _ends(rows)
    flat = np.maximum(left[0], -left[1]) <= ROUND_OFF * magnitude
    if flat.any():
        rows *= like(np.where(flat, 0.0, 1.0), rows)
    constant = high == low
    means[:, constant], tails[:, constant] = high[constant], 0.0
    return means, tails, rows


def _ends(rows: Any) -> tuple[np.ndarray, np.ndarray]:
    """The largest and the smallest entry of every column; NaN where there is one."""
    xp = namespace(rows)
    return to_numpy(xp.max(rows, axis=0)), to_numpy(xp.min(rows, axis=0))


def _subtract_class_rows(rows: Any, shift: Any, code: np.ndarray) -> None:
    """rows -= shift[code], in blocks."""
    xp = namespace(rows)
    for block in _row_blocks(rows):
        own = like(np.asarray(code[block], dtype=np.int64), rows)
        rows[block, :] -= xp.take(shift, own, axis=0)


def _row_blocks(rows: Any) -> Iterator[slice]:
    n, p = rows.shape
    step = max(1, BLOCK_ENTRIES // p)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
