"""Frames of three libraries become frames of numbers, or an error that names the column."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from eigensieve.errors import InputError
from eigensieve.tables.kinds.frames import plain_frame

ROWS = np.array([[1.5, 2.0], [-3.0, 4.0], [0.25, 8.0]])
PLAIN = {
    "pandas": pd.DataFrame(ROWS, columns=["a", "b"], index=["r", "s", "t"]),
    "polars": pl.DataFrame(ROWS, schema=["a", "b"]),
    "arrow": pa.table({"a": ROWS[:, 0], "b": ROWS[:, 1]}),
    "batch": pa.record_batch({"a": ROWS[:, 0], "b": ROWS[:, 1]}),
}


def with_column(library: str, values: Any) -> Any:
    """The plain frame of a library, and a column "odd" beside its two."""
    if library == "pandas":
        return PLAIN["pandas"].assign(odd=values)
    if library == "polars":
        return PLAIN["polars"].with_columns(pl.Series("odd", values))
    return PLAIN["arrow"].append_column("odd", values)


@pytest.mark.parametrize("library", PLAIN)
def test_numbers_and_names_stay(library: str) -> None:
    frame = plain_frame(PLAIN[library])
    assert isinstance(frame, pd.DataFrame)
    assert frame.columns.tolist() == ["a", "b"]
    np.testing.assert_array_equal(frame.to_numpy(), ROWS)


def test_a_plain_frame_of_pandas_is_not_copied() -> None:
    assert plain_frame(PLAIN["pandas"]) is PLAIN["pandas"]


@pytest.mark.parametrize("X", [ROWS, [[1.0, 2.0]], None, "text", pd.Series([1.0])])
def test_what_is_no_frame_goes_through(X: Any) -> None:
    assert plain_frame(X) is X


READ_AS_NUMBERS: dict[str, tuple[str, Any, list[float]]] = {
    "bool": ("pandas", [True, False, True], [1, 0, 1]),
    "boolean": ("pandas", pd.array([True, None, False], dtype="boolean"), [1, np.nan, 0]),
    "Int64": ("pandas", pd.array([1, None, 3], dtype="Int64"), [1, np.nan, 3]),
    "Float32": ("pandas", pd.array([1, None, 3], dtype="Float32"), [1, np.nan, 3]),
    "arrow": ("pandas", pd.array([1, None, 3], dtype="int64[pyarrow]"), [1, np.nan, 3]),
    "decimals": ("pandas", [Decimal("1.5"), None, Decimal("2")], [1.5, np.nan, 2]),
    "objects": ("pandas", np.array([1, 2.5, None], dtype=object), [1, 2.5, np.nan]),
    "NA in objects": ("pandas", np.array([1, pd.NA, 3], dtype=object), [1, np.nan, 3]),
    "text of numbers": ("pandas", ["1", "2.5", "-3e2"], [1, 2.5, -300]),
    "categories": ("pandas", pd.Categorical([3, 1, 3]), [3, 1, 3]),
    "categories, gap": ("pandas", pd.Categorical([2.5, None, 3]), [2.5, np.nan, 3]),
    "sparse bool": ("pandas", pd.arrays.SparseArray([True, False, True]), [1, 0, 1]),
    "pl null": ("polars", [1, None, 3], [1, np.nan, 3]),
    "pl bool": ("polars", [True, None, False], [1, np.nan, 0]),
    "pl decimal": ("polars", [Decimal("1.5"), None, Decimal("2")], [1.5, np.nan, 2]),
    "pl text": ("polars", ["1", "2.5", None], [1, 2.5, np.nan]),
    "pl int8": ("polars", pl.Series([1, -2, 3], dtype=pl.Int8), [1, -2, 3]),
    "pl empty": ("polars", pl.Series([None, None, None]), [np.nan] * 3),
    "pa null": ("arrow", pa.array([1, None, 3]), [1, np.nan, 3]),
    "pa bool": ("arrow", pa.array([True, None, False]), [1, np.nan, 0]),
    "pa decimal": ("arrow", pa.array([Decimal("1.5"), None, Decimal("2")]), [1.5, np.nan, 2]),
    "pa text": ("arrow", pa.array(["1", "2.5", None]), [1, 2.5, np.nan]),
    "pa dictionary": ("arrow", pa.array([3, 1, 3]).dictionary_encode(), [3, 1, 3]),
    "pa chunks": ("arrow", pa.chunked_array([[1, None], [3]]), [1, np.nan, 3]),
    "pa half": ("arrow", pa.array(np.float16([1, 2, 3])), [1, 2, 3]),
    "pa empty": ("arrow", pa.nulls(3), [np.nan] * 3),
}


@pytest.mark.parametrize("case", READ_AS_NUMBERS)
def test_what_can_be_read_as_numbers(case: str) -> None:
    library, values, expected = READ_AS_NUMBERS[case]
    frame = plain_frame(with_column(library, values))
    numbers = frame.to_numpy(dtype=np.float64)
    np.testing.assert_array_equal(numbers, np.column_stack([ROWS, expected]))
    assert frame.columns.tolist() == ["a", "b", "odd"]
    assert all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in frame.dtypes)


REFUSED: dict[str, tuple[str, Any, str]] = {
    "text": ("pandas", ["1", "b", "2"], "'b'"),
    "categories": ("pandas", pd.Categorical(["u", "v", "u"]), "category"),
    "times": ("pandas", pd.date_range("2020", periods=3), "datetime64"),
    "zoned": ("pandas", pd.date_range("2020", periods=3, tz="UTC"), "UTC"),
    "durations": ("pandas", pd.to_timedelta([1, 2, 3], unit="D"), "timedelta"),
    "periods": ("pandas", pd.period_range("2020", periods=3, freq="D"), "period"),
    "lists": ("pandas", [[1], [2], [3]], "object"),
    "pl text": ("polars", ["1", "b", "2"], "String"),
    "pl categories": ("polars", pl.Series(["u", "v", "u"], dtype=pl.Categorical), "Categorical"),
    "pl times": ("polars", pd.date_range("2020", periods=3).to_list(), "Datetime"),
    "pl lists": ("polars", [[1], [2], [3]], "List"),
    "pl records": ("polars", [{"u": 1}, {"u": 2}, {"u": 3}], "Struct"),
    "pa text": ("arrow", pa.array(["1", "b", "2"]), "string"),
    "pa dictionary": ("arrow", pa.array(["u", "v", "u"]).dictionary_encode(), "dictionary"),
    "pa times": ("arrow", pa.array(pd.date_range("2020", periods=3)), "timestamp"),
    "pa lists": ("arrow", pa.array([[1], [2], [3]]), "list"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_number_is_refused_by_name(case: str) -> None:
    library, values, said = REFUSED[case]
    with pytest.raises(InputError, match="M must hold numbers only: column 'odd' is of") as caught:
        plain_frame(with_column(library, values), "M")
    assert said in str(caught.value)
    assert str(caught.value).endswith("drop it, or encode it as numbers first")
    assert "\n" not in str(caught.value)


def test_a_lazy_frame_has_no_values() -> None:
    with pytest.raises(InputError, match=r"X is a polars LazyFrame.*X\.collect\(\)"):
        plain_frame(PLAIN["polars"].lazy())


@pytest.mark.parametrize(
    "make",
    [
        lambda: pl.DataFrame(ROWS.astype(np.float32), schema=["a", "b"]),
        lambda: pa.table(dict(zip("ab", ROWS.T.astype(np.float32)))),
        lambda: pd.DataFrame(ROWS.astype(np.float32), columns=["a", "b"]),
    ],
    ids=["polars", "arrow", "pandas"],
)
def test_single_precision_stays(make: Callable[[], Any]) -> None:
    assert plain_frame(make()).to_numpy().dtype == np.float32


def test_repeated_names_are_kept_for_those_who_refuse_them() -> None:
    twice = pa.table([pa.array([1.0]), pa.array([True])], names=["a", "a"])
    assert plain_frame(twice).columns.tolist() == ["a", "a"]
    frame = pd.DataFrame([[1.0, True]], columns=["a", "a"]).astype(object)
    assert plain_frame(frame).to_numpy().tolist() == [[1.0, 1.0]]


def test_rows_keep_their_names() -> None:
    frame = plain_frame(with_column("pandas", [True, False, True]))
    assert frame.index.tolist() == ["r", "s", "t"]


def test_complex_numbers_are_left_to_those_who_refuse_them() -> None:
    frame = pd.DataFrame({"a": [1 + 2j]})
    assert plain_frame(frame) is frame
