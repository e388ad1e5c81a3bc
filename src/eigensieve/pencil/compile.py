"""The one way kernels are compiled: cached on disk, without the GIL, no fastmath."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TypeVar

import numba

F = TypeVar("F", bound=Callable[..., object])
logger = logging.getLogger(__name__)
logger.addHandler(logging.NullHandler())  # here, not at import eigensieve: logging costs 12 ms


def jit(function: F) -> F:
    """Compile on first call; the machine code is kept for later processes."""
    try:
        kernel = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError as reason:  # no folder can be written: slower to start, not broken
        logger.warning("kernels are compiled anew in every process: %s", reason)
        return numba.njit(nogil=True)(function)  # type: ignore[return-value]
    drop_stale_code(str(kernel.stats.cache_path))
    return kernel  # type: ignore[return-value]


@cache
def drop_stale_code(folder: str) -> None:
    """Empty a cache that was made from other sources.

    numba looks at the file of a kernel, not at the files of the kernels that it calls: after an
    upgrade a kernel would go on with the old code of the others.
    """
    sources = sorted(Path(__file__).parents[1].rglob("*_kernel.py"))
    digest = hashlib.sha256(b"".join(path.read_bytes() for path in sources)).hexdigest()
    mark = Path(folder) / "eigensieve-kernels.sha256"
    with suppress(OSError):
        if mark.exists() and mark.read_text() == digest:
            return
        for path in Path(folder).glob("*.nb[ic]"):
            if path.name.split(".")[0] in {source.stem for source in sources}:
                path.unlink(missing_ok=True)
        mark.write_text(digest)


def is_cached(kernel: object) -> bool:
    """Whether a kernel is compiled already, in this process or on disk."""
    stats, source = kernel.stats, kernel.py_func  # type: ignore[attr-defined]
    if kernel.signatures:  # type: ignore[attr-defined]
        return True
    stem = f"{source.__module__.rpartition('.')[2]}.{source.__qualname__}"
    return any(Path(str(stats.cache_path)).glob(f"{stem}-*.nbi"))
