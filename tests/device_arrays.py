"""Arrays that stand for those of a GPU: torch's on the CPU, and those of array-api-strict.

The latter refuse all that the array API standard does not promise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

DEVICES = ("torch", "array_api_strict")
Send = Callable[[np.ndarray], Any]


def sender(kind: str) -> Send:
    """What puts a copy of a numpy array there; without the library the test skips, loudly."""
    pytest.importorskip("array_api_compat", reason="NO GPU TESTS: array-api-compat is missing")
    library = pytest.importorskip(kind, reason=f"NO GPU TESTS: {kind} is missing")
    return lambda array: library.asarray(np.array(array))
