"""One BLAS thread for small matrices: on many cores their threads mostly wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looks at all libraries that are loaded: once


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which linear algebra is done by the calling thread alone."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit
