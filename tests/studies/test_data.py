"""The table of a study: what is taken, what is refused, and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from eigensieve.errors import InputError, OptionError
from eigensieve.studies.data import StudyData, check_data
from eigensieve.studies.standardize import Standardizer, find_medians

rng = np.random.default_rng(0)
X = rng.normal(size=(12, 4))
y = np.repeat(["a", "b", "c"], 4)
FRAME = pd.DataFrame(X, columns=["one", "two", "three", "four"])


def check(X: Any = X, y: Any = y, **options: Any) -> StudyData:
    return check_data(X, y, **{"groups": None, "names": None, "missing": "error", **options})


# ---------------------------------------------------------------- what is taken


@pytest.mark.parametrize(
    "rows", [X, X.tolist(), FRAME, FRAME.astype("Float64"), np.asfortranarray(X)]
)
def test_tables(rows) -> None:
    np.testing.assert_array_equal(check(rows).X, X)
    assert check(rows).X.dtype == np.float64


def test_numbers_of_other_kinds() -> None:
    np.testing.assert_array_equal(check(X.astype(np.float32)).X, X.astype(np.float32))
    np.testing.assert_array_equal(check(X > 0).X, (X > 0).astype(float))
    frame = FRAME.assign(two=np.arange(12), three=FRAME["three"] > 0)
    np.testing.assert_array_equal(check(frame).X[:, 1], np.arange(12))


@pytest.mark.parametrize(
    "labels",
    [y, y.tolist(), pd.Series(y), pd.Series(y, index=range(50, 62)), pd.Categorical(y),
     pd.Series(y, dtype="string"), y.astype(object)],
)  # fmt: skip
def test_labels(labels) -> None:
    assert check(y=labels).y.tolist() == y.tolist()


@pytest.mark.parametrize(
    "labels", [np.repeat([0, 1], 6), np.repeat([True, False], 6), np.repeat([1.0, 2.0], 6),
               pd.Series(np.repeat([0, 1], 6), dtype="Int64")]
)  # fmt: skip
def test_labels_that_are_numbers(labels) -> None:
    np.testing.assert_array_equal(check(y=labels).y, np.asarray(labels))


def test_names_and_groups() -> None:
    assert check().names == ["x0", "x1", "x2", "x3"]
    assert check(FRAME).names == list(FRAME)
    assert check(FRAME, names=list("abcd")).names == list("abcd")
    assert check(pd.DataFrame(X)).names == ["0", "1", "2", "3"]
    assert check(names=np.array([1, 2, 3, 4])).names == ["1", "2", "3", "4"]
    groups = check(groups=np.arange(12) // 2).groups
    assert groups is not None
    assert groups.tolist() == [str(i // 2) for i in range(12)]


def test_columns_are_names_as_scikit_learn_sees_them() -> None:
    assert check(FRAME, names=list("abcd")).columns == list(FRAME)
    assert check(names=list("abcd")).columns is None
    assert check(pd.DataFrame(X)).columns is None


def test_gaps() -> None:
    holes = X.copy()
    holes[0, 0] = holes[3, 2] = np.nan
    assert check(holes, missing="median").n_missing == 2
    frame = FRAME.astype("Float64")
    frame.iloc[0, 0] = frame.iloc[3, 2] = pd.NA
    np.testing.assert_array_equal(check(frame, missing="median").X, holes)
    holes[:, 1] = np.nan
    assert check(holes, missing="median").n_missing == 14


# ---------------------------------------------------------------- what is refused


HOLE, INFINITE = X.copy(), X.copy()
HOLE[2, 1], INFINITE[2, 1] = np.nan, np.inf
REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "gaps": ({"X": HOLE}, r"X has 1 missing values; fill them, or say missing='median'"),
    "NA": ({"X": FRAME.astype("Float64").mask(FRAME > 1)}, "missing values; fill them"),
    "infinity": ({"X": INFINITE}, "X has infinite values; drop them"),
    "infinity beside gaps": ({"X": INFINITE, "missing": "median"}, "X has infinite values"),
    "words": ({"X": FRAME.assign(two="x")}, "X must hold numbers only: .*'x'"),
    "dates": ({"X": FRAME.assign(two=pd.Timestamp("2020"))}, "X must hold numbers only"),
    "ragged": ({"X": [[1.0], [1.0, 2.0]]}, "X must hold numbers only"),
    "complex": ({"X": X + 1j}, "X must hold numbers only: it has complex ones"),
    "sparse gaps": ({"X": sparse.csr_array(HOLE)}, "X has 1 missing values; fill them"),
    "one row of numbers": ({"X": X[:, 0]}, r"X has shape \(12,\); need \(n, p\)"),
    "no rows": ({"X": X[:0], "y": y[:0]}, r"X has shape \(0, 4\)"),
    "no columns": ({"X": X[:, :0]}, r"X has shape \(12, 0\)"),
    "a number": ({"X": 5.0}, r"X has shape \(\)"),
    "constants": ({"X": np.ones((12, 3))}, "no column varies"),
    "nothing but gaps": ({"X": X * np.nan, "missing": "median"}, "no column varies"),
    "too large": ({"X": X * [1, 1e200, 1, 1]}, r"column 'x1' has values of size .*; rescale it"),
    "too small": ({"X": FRAME * [1, 1, 1e-200, 1]}, r"column 'three' has values .*; rescale it"),
    "few labels": ({"y": y[:5]}, r"X has 12 rows and y the shape \(5,\); one label per row"),
    "no labels": ({"y": None}, r"y the shape \(\)"),
    "a table of labels": ({"y": y[:, None]}, r"y the shape \(12, 1\)"),
    "NaN as label": ({"y": np.r_[np.nan, np.ones(11)]}, "y has missing labels"),
    "None as label": ({"y": [None, *y[1:]]}, "y has missing labels"),
    "NA as label": ({"y": pd.Series([pd.NA, *y[1:]])}, "y has missing labels"),
    "measurements": ({"y": X[:, 0]}, "y holds no classes; make the labels text .*continuous"),
    "labels of two types": ({"y": np.array([1, *y[1:]], dtype=object)}, "labels of several types"),
    "few groups": ({"groups": [1, 2]}, r"groups has shape \(2,\); X has 12 rows"),
    "NaN as group": ({"groups": np.r_[np.nan, np.ones(11)]}, "groups has missing values"),
    "few names": ({"names": ["a"]}, "there are 1 names for 4 columns"),
    "a name twice": ({"names": list("abca")}, "the name 'a' occurs more than once"),
    "one text twice": ({"names": [1, "1", 2, 3]}, "the name '1' occurs more than once"),
    "a column twice": ({"X": FRAME.rename(columns={"two": "one"})}, "'one' occurs more than once"),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case) -> None:
    options, words = REFUSED[case]
    with pytest.raises(InputError, match=words):
        check(**options)


@pytest.mark.parametrize("missing", ["mean", None, 0])
def test_missing_is_an_option(missing) -> None:
    with pytest.raises(OptionError, match=r"missing is .*; it must be one of error, median"):
        check(missing=missing)


# ---------------------------------------------------------------- digests and standardising


def test_fingerprints_tell_tables_apart() -> None:
    other = X.copy()
    other[0, 0] = np.nextafter(other[0, 0], 9)
    numbers = np.repeat([1, 2, 3], 4)
    tables = [
        check(), check(other), check(X[::-1]), check(names=list("abcd")), check(y=y[::-1]),
        check(groups=np.arange(12)), check(y=numbers), check(y=numbers.astype(str)),
    ]  # fmt: skip
    assert len({data.fingerprint for data in tables}) == len(tables)
    assert check(FRAME).fingerprint == check(X, names=list(FRAME)).fingerprint
    assert check(np.asfortranarray(X)).fingerprint == check().fingerprint


def test_medians_and_scales_by_hand() -> None:
    rows = np.array([[1.0, np.nan, 4.0, np.nan], [3.0, np.nan, 4.0, 2.0], [8.0, np.nan, 4.0, 6.0]])
    np.testing.assert_array_equal(find_medians(rows), [3.0, 0.0, 4.0, 4.0])
    scaler = Standardizer.fit(rows, "median")
    np.testing.assert_allclose(scaler.center, [4.0, 0.0, 4.0, 4.0])
    np.testing.assert_allclose(scaler.scale, [np.sqrt(26 / 3), 1.0, 1.0, np.sqrt(8 / 3)])
    np.testing.assert_allclose(scaler.apply(np.full((1, 4), np.nan))[0, 1:], 0.0)
    np.testing.assert_allclose(scaler.apply(np.array([[4.0, 9.0, 5.0, 4.0]])), [[0, 9, 1, 0]])
    assert Standardizer.fit(rows[:, :1]).fill is None


def test_round_off_is_no_variation() -> None:
    column = np.full((7, 1), 0.1) * 3.0
    column[0] = np.nextafter(column[0], 1)
    assert Standardizer.fit(column).scale.tolist() == [1.0]
