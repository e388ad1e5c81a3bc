"""Parquet files that polars and pyarrow write are read like a table of plain numbers."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eigensieve.io.tables import read_table

A, KIND = [0.5, 1.5, -2.0, 4.0], ["u", "v", "u", "v"]
DECIMALS = [Decimal("1.25"), Decimal("-3"), Decimal("0.5"), Decimal("8")]

# what is beside A, and the numbers that must come out
COLUMNS: dict[str, tuple[Any, Any, list[float]]] = {
    "decimals": (pl.Series(DECIMALS), pa.array(DECIMALS), [1.25, -3, 0.5, 8]),
    "truth values": (pl.Series([True, False] * 2), pa.array([True, False] * 2), [1, 0, 1, 0]),
    "small integers": (
        pl.Series([1, 2, 3, 4], dtype=pl.Int8), pa.array([1, 2, 3, 4], pa.uint8()), [1, 2, 3, 4],
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", COLUMNS)
@pytest.mark.parametrize("library", ["polars", "arrow"])
def test_columns_of_numbers(tmp_path: Path, case: str, library: str) -> None:
    of_polars, of_arrow, expected = COLUMNS[case]
    path = tmp_path / "t.parquet"
    if library == "polars":
        pl.DataFrame({"a": A, "odd": of_polars, "kind": KIND}).write_parquet(path)
    else:
        pq.write_table(pa.table({"a": A, "odd": of_arrow, "kind": KIND}), path)
    table = read_table(path, "kind")
    assert table.names == ["a", "odd"]
    np.testing.assert_array_equal(table.X, np.column_stack([A, expected]))
    assert table.target is not None
    assert table.target.tolist() == KIND


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (lambda: pl.Series(KIND, dtype=pl.Categorical), KIND),
        (lambda: pl.Series(KIND, dtype=pl.Enum(["v", "u"])), KIND),
        (lambda: pl.Series([1, 2, 1, 2], dtype=pl.UInt8), ["1", "2", "1", "2"]),
        (lambda: pl.Series([Decimal("1.50"), Decimal("2.25")] * 2), ["1.50", "2.25"] * 2),
    ],
    ids=["categories", "enum", "integers", "decimals"],
)
def test_labels(tmp_path: Path, labels: Callable[[], Any], expected: list[str]) -> None:
    path = tmp_path / "t.parquet"
    pl.DataFrame({"a": A, "kind": labels()}).write_parquet(path)
    target = read_table(path, "kind").target
    assert target is not None
    assert target.tolist() == expected
