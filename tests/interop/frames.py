"""One table as the frames of three libraries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

NAMES = [f"gene {j}" for j in range(8)]
rng = np.random.default_rng(5)
Y = np.repeat(["a", "b", "c"], 15)
X = rng.normal(size=(45, 8))
X[15:30, :3] += 2.0
X[30:, 2:5] -= 2.0
NEW = rng.normal(size=(20, 8))


def split_arrow(rows: np.ndarray) -> pa.Table:
    """A table in two chunks."""
    whole = pa.table(dict(zip(NAMES, rows.T)))
    return pa.concat_tables([whole.slice(0, 7), whole.slice(7)])


FRAMES: dict[str, Callable[[np.ndarray], Any]] = {
    "pandas": lambda rows: pd.DataFrame(rows, columns=NAMES),
    "pandas nullable": lambda rows: pd.DataFrame(rows, columns=NAMES).astype("Float64"),
    "pandas arrow": lambda rows: pd.DataFrame(rows, columns=NAMES).astype("double[pyarrow]"),
    "polars": lambda rows: pl.DataFrame(rows, schema=NAMES),
    "polars chunks": lambda rows: pl.concat(
        [pl.DataFrame(part, schema=NAMES) for part in (rows[:5], rows[5:])], rechunk=False
    ),
    "arrow": lambda rows: split_arrow(rows),
    "arrow batch": lambda rows: pa.record_batch(dict(zip(NAMES, rows.T))),
}
LABELS: dict[str, Callable[[np.ndarray], Any]] = {
    "list": lambda y: y.tolist(),
    "pandas": lambda y: pd.Series(y),
    "pandas string": lambda y: pd.Series(y, dtype="string"),
    "pandas category": lambda y: pd.Series(y, dtype="category"),
    "polars": lambda y: pl.Series(y),
    "polars category": lambda y: pl.Series(y, dtype=pl.Categorical),
    "polars enum": lambda y: pl.Series(y, dtype=pl.Enum(["c", "b", "a"])),
    "arrow": lambda y: pa.array(y),
    "arrow chunks": lambda y: pa.chunked_array([y[:9], y[9:]]),
    "arrow dictionary": lambda y: pa.array(y).dictionary_encode(),
}
