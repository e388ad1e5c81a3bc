"""Table 1: the data structures.

Genes, training and test samples and classes of the five sets, counted in the files; within each
class of n_i samples ceil(n_i / 2) are for training.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..values import Measured, Value
from ._common import FILES, read_halves


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One set each."""
    return [{"data": data, "seed": protocol["seed"]} for data in FILES]


def work(data: str, seed: int) -> dict[str, int]:
    """The figures of one set; they are the same for every seed."""
    X, y, _, y_test = read_halves(data, seed)
    return {"m": X.shape[1], "n": len(y), "k": np.unique(y).size, "# Test": len(y_test)}


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """The table."""
    del protocol
    return Measured(
        {
            (data, column): Value(float(count))
            for data, counts in zip(FILES, found)
            for column, count in counts.items()
        }
    )
