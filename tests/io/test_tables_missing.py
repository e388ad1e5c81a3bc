"""Missing values of a table: refused with advice, or kept and counted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eigensieve.errors import OptionError
from eigensieve.io.tables import read_table
from tests.io.reading import Write, fails

GAPS = "id,a,b,c,y\ns1,1,NA,,u\ns2,,2.5,,v\ns3,3,nan,null,v\n"
COUNT = "6 value(s) are missing, in 3 of 3 features."
EMPTY = "1 feature(s) have no value at all: 'c'."
TAKEN = "The column 'id' was taken as row identifiers."


def test_kept(write: Write, careful: Callable[[], None]) -> None:
    path = write(GAPS)
    for switch in (lambda: None, careful):
        switch()
        table = read_table(path, "y", missing="keep")
        expected = [[1, np.nan, np.nan], [np.nan, 2.5, np.nan], [3, np.nan, np.nan]]
        np.testing.assert_array_equal(table.X, expected)
        assert table.X.flags.c_contiguous
        assert table.names == ["a", "b", "c"]
        assert table.rows == ["s1", "s2", "s3"]
        assert table.notes == [TAKEN, COUNT, EMPTY]
        assert table.notes_but_missing == [TAKEN, EMPTY]


def test_kept_in_the_order_asked(write: Write) -> None:
    table = read_table(write(GAPS), columns=["b", "a"], missing="keep")
    np.testing.assert_array_equal(table.X, [[np.nan, 1], [2.5, np.nan], [np.nan, 3]])
    assert table.notes[-1] == "3 value(s) are missing, in 2 of 2 features."


def test_nothing_missing_nothing_said(write: Write) -> None:
    path = write("a,b,y\n1,2,u\n3,NA,v\n")
    assert read_table(path, "y", ignore=["b"], missing="keep").notes == []


def test_every_format_agrees_with_pandas(write: Write, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 12))
    X[rng.uniform(size=X.shape) < 0.2] = np.nan
    X[:, 3] = np.nan
    frame = pd.DataFrame(
        X, columns=[f"g{j}" for j in range(12)], index=[f"s{i}" for i in range(30)]
    )
    for rep in ("", "NA", "nan"):
        frame.to_csv(tmp_path / "t.csv", na_rep=rep)
        frame.T.to_csv(tmp_path / "turned.csv", na_rep=rep)
        for name, turn in (("t.csv", False), ("turned.csv", True)):
            table = read_table(tmp_path / name, transpose=turn, missing="keep")
            np.testing.assert_array_equal(table.X, X)
            assert table.rows == frame.index.tolist()
            assert table.notes[-2].startswith(f"{frame.isna().sum().sum()} value(s) are missing")
            assert table.notes[-1] == "1 feature(s) have no value at all: 'g3'."
    frame.to_parquet(tmp_path / "t.parquet")
    np.savez(tmp_path / "t.npz", X=X)
    for name in ("t.parquet", "t.npz"):
        np.testing.assert_array_equal(read_table(tmp_path / name, missing="keep").X, X)


def test_booleans_with_gaps(write: Write) -> None:
    table = read_table(write("a,b\nTrue,1\nNA,2\nfalse,3\n"), missing="keep")
    np.testing.assert_array_equal(table.X[:, 0], [1, np.nan, 0])


@pytest.mark.parametrize("word", ["inf", "-inf", "Infinity", "1e999"])
def test_infinite_values_are_refused_in_any_case(write: Write, word: str) -> None:
    path = write(f"a,b,c\n1,2,NA\n3,{word},1\n")
    message = fails(path, "1 infinite value(s) in 1 of 3 features: 'b' (1);", missing="keep")
    assert "--missing" not in message
    assert "--ignore NAME" in message
    fails(path, "2 missing or infinite value(s) in 2 of 3", "--missing median")
    assert "--missing" not in fails(path, "1 missing or infinite", ignore=["c"])


def test_text_is_no_missing_value(write: Write) -> None:
    fails(write("a,b\n1,2\n2,x\n3,4\n"), "'b' ('x' in sample '2')", missing="keep")


def test_labels_may_not_be_missing(write: Write) -> None:
    fails(write("a,y\n1,u\n2,\n"), "have no label", target="y", missing="keep")


def test_advice(write: Write) -> None:
    path = write(GAPS)
    fails(
        path,
        "fill them in, drop these samples, leave such columns out with --ignore NAME or let them "
        "be filled with --missing median",
        target="y",
    )
    new = fails(path, "drop these samples or fit the model with --missing median", columns=["a"])
    assert "--ignore" not in new


def test_unknown_choice(write: Write) -> None:
    choice: Any = "median"
    with pytest.raises(OptionError, match="missing is 'median'; it must be 'error' or 'keep'"):
        read_table(write(GAPS), missing=choice)
