"""Gene expression as the papers take it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

LOGARITHM = {"colon": np.log10, "nakayama": np.log2}
Data = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="session")
def load(
    load_data: Callable[[str], tuple[np.ndarray, np.ndarray, np.ndarray]],
) -> Callable[[str], Data]:
    """X on a logarithmic scale, and y."""

    @cache
    def read(name: str) -> Data:
        X, y, _ = load_data(name)
        return LOGARITHM.get(name, np.asarray)(X), y

    return read
