"""Groups of samples: a column that is no feature and no identifier."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eigensieve.io.tables import Table, read_table
from tests.io.reading import Write, fails

TEXT = "id,patient,a,b,y\ns1,p1,1,2.5,u\ns2,p2,-3,4e1,v\ns3,p1,5,6,v\n"


def check(table: Table, groups: list[str], rows: list[str]) -> None:
    assert table.groups is not None
    assert table.groups.dtype.kind == "U"
    assert table.groups.tolist() == groups
    assert table.rows == rows
    assert table.names == ["a", "b"]
    assert table.X.tolist() == [[1, 2.5], [-3, 40], [5, 6]]
    assert table.target is not None
    assert table.target.tolist() == ["u", "v", "v"]


def test_text(write: Write, careful: Callable[[], None]) -> None:
    path = write(TEXT)
    for switch in (lambda: None, careful):
        switch()
        check(read_table(path, "y", groups=" patient "), ["p1", "p2", "p1"], ["s1", "s2", "s3"])
    assert read_table(path, "y", ignore=["patient"]).groups is None


@pytest.mark.parametrize("cells", [("7", "08", "7"), ("7", "8.5", "7.0"), ("-1", "x", "-1.")])
def test_numbers(write: Write, cells: tuple[str, ...]) -> None:
    text = TEXT
    for old, new in zip(("p1", "p2", "p1"), cells):
        text = text.replace(old, new, 1)
    check(
        read_table(write(text), "y", groups="patient"),
        [cells[0], cells[1], cells[0]],
        ["s1", "s2", "s3"],
    )


def test_transposed(write: Write, careful: Callable[[], None]) -> None:
    path = write("gene,s1,s2,s3\npatient,7,8,7\na,1,-3,5\ny,u,v,v\nb,2.5,40,6\n")
    for switch in (lambda: None, careful):
        switch()
        table = read_table(path, "y", groups="patient", transpose=True)
        check(table, ["7", "8", "7"], ["s1", "s2", "s3"])
    fails(path, "no row is named 'Patient', the groups", groups="Patient", transpose=True)


def test_parquet_and_npz(tmp_path: Path) -> None:
    frame = pd.DataFrame(
        {"patient": [1, 2, 1], "a": [1, -3, 5], "b": [2.5, 40, 6], "y": list("uvv")},
        index=["s1", "s2", "s3"],
    )
    path = tmp_path / "t.parquet"
    frame.to_parquet(path)
    check(read_table(path, "y", groups="patient"), ["1", "2", "1"], ["s1", "s2", "s3"])
    frame.set_index("patient").to_parquet(path)
    check(read_table(path, "y", groups="patient"), ["1", "2", "1"], ["1", "2", "3"])
    X = frame[["a", "b"]].to_numpy()
    rest = {"y": list("uvv"), "patient": [1.0, 2.0, 1.0], "feature_names": ["a", "b"]}
    np.savez(tmp_path / "t.npz", X=X, **{key: np.array(value) for key, value in rest.items()})
    table = read_table(tmp_path / "t.npz", "y", groups="patient")
    check(table, ["1", "2", "1"], ["1", "2", "3"])


def test_the_identifier_column_may_be_the_groups(write: Write) -> None:
    path = write("id,a,b,y\np1,1,2.5,u\np2,-3,40,v\np1,5,6,v\n")
    check(read_table(path, "y", groups="id"), ["p1", "p2", "p1"], ["1", "2", "3"])
    assert read_table(path, "y").rows == ["p1", "p2", "p1"]
    path = write("patient,sample,a,b,y\n1,9,1,2.5,u\n2,8,-3,40,v\n1,7,5,6,v\n")
    check(read_table(path, "y", groups="patient"), ["1", "2", "1"], ["9", "8", "7"])
    path = write("patient,label,a,b,y\n1,x,1,2.5,u\n2,z,-3,40,v\n1,w,5,6,v\n")
    check(read_table(path, "y", groups="patient"), ["1", "2", "1"], ["x", "z", "w"])


def test_text_behind_the_groups_is_no_identifier_by_its_place(write: Write) -> None:
    path = write("patient,sex,a,y\np1,m,1,u\np2,f,2,v\np1,m,3,v\n")
    fails(path, "1 column(s) not numeric: 'sex' (e.g. 'm')", target="y", groups="patient")
    path = write("patient,sample,a,b,y\n1,x,1,2.5,u\n2,x,-3,40,v\n1,w,5,6,v\n")
    check(read_table(path, "y", groups="patient"), ["1", "2", "1"], ["x", "x", "w"])


def test_with_columns_and_gaps(write: Write) -> None:
    path = write("patient,a,b\np,,2\nq,1,3\n")
    table = read_table(path, columns=["b", "a"], groups="patient", missing="keep")
    np.testing.assert_array_equal(table.X, [[2, np.nan], [3, 1]])
    assert table.groups is not None
    assert table.groups.tolist() == ["p", "q"]
    fails(path, "1 of the 2", "'patient'", columns=["patient", "b"], groups="patient")


@pytest.mark.parametrize("word", ["", "NA", " "])
def test_every_sample_needs_a_group(write: Write, word: str) -> None:
    path = write(TEXT.replace("p2", word))
    said = "1 sample(s) have no group in 'patient': 's2'; drop them or fill the groups in"
    fails(path, said, target="y", groups="patient")


def test_errors(write: Write) -> None:
    path = write(TEXT)
    fails(path, "'y' is the target, and cannot be the groups", target="y", groups=" y")
    fails(
        path, "'patient' holds the groups, and cannot be ignored",
        target="y", groups="patient", ignore=["patient"],
    )  # fmt: skip
    fails(path, "no column is named 'Patient', the groups; close: 'patient'", groups="Patient")
    twice = write("p,p,a\n1,2,3\n")
    fails(twice, "2 columns are named 'p', the groups; rename all but one", groups="p")
