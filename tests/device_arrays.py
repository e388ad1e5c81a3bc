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


# torch is in no extra: it would bring gigabytes of CUDA libraries to all who test
HOW = {"torch": "pip install torch==2.13.0"}


def library(name: str) -> Any:
    """The module; without it the test skips, and the end of the session says so aloud."""
    how = HOW.get(name, "pip install 'eigensieve[dev]'")
    said = name.replace("_", "-")
    return pytest.importorskip(name, reason=f"NO {said.upper()}: {said} is not installed ({how})")


def sender(kind: str) -> Send:
    """What puts a copy of a numpy array there."""
    library("array_api_compat")
    xp = library(kind)
    return lambda array: xp.asarray(np.array(array))
