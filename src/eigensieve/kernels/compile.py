"""The one way kernels are compiled: cached on disk, without the GIL, no fastmath."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])


def jit(function: F) -> F:
    """Compile on first call; the machine code is kept for later processes."""
    return numba.njit(cache=True, nogil=True)(function)  # type: ignore[return-value]
