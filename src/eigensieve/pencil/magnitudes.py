"""How large the numbers of a column may be, and which of them are round-off."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError

# Residuals below this many units in the last place of a column are round-off: a column that is
# constant (within the classes) must have a variance of exactly zero, not 1e-34.
ROUND_OFF = 16 * np.finfo(np.float64).eps
LARGEST = 1e70


def refuse_extremes(magnitude: np.ndarray, names: Sequence[str] | None = None) -> None:
    """Squares must neither overflow nor vanish."""
    magnitude = np.asarray(magnitude, dtype=np.float64)  # LARGEST is no float32
    extreme = (magnitude > LARGEST) | ((magnitude > 0) & (magnitude < 1 / LARGEST))
    if extreme.any():
        j = int(np.argmax(extreme))
        raise InputError(
            f"column {j if names is None else repr(str(names[j]))} has values of size "
            f"{magnitude[j]:.1e}; rescale it: sizes between "
            f"{1 / LARGEST:.0e} and {LARGEST:.0e} are allowed"
        )
