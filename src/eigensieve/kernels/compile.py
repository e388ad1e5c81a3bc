"""The one way kernels are compiled: cached on disk, without the GIL, no fastmath."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])
logger = logging.getLogger(__name__)
logger.addHandler(logging.NullHandler())  # here, not at import eigensieve: logging costs 12 ms


def jit(function: F) -> F:
    """Compile on first call; the machine code is kept for later processes."""
    try:
        return numba.njit(cache=True, nogil=True)(function)  # type: ignore[return-value]
    except RuntimeError as reason:  # no folder can be written: slower to start, not broken
        logger.warning("kernels are compiled anew in every process: %s", reason)
        return numba.njit(nogil=True)(function)  # type: ignore[return-value]
