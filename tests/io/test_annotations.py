"""Annotations: text about features, found by their names."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from eigensieve.errors import TableError
from eigensieve.io.annotations import read_annotations
from tests.io.reading import Write

TEXT = "probe,symbol,chromosome\n1007_s_at, DDR1 ,6\n1053_at,RFC2,7\n117_at,HSPA6,1\n"


def fails(path: Path, names: list[str], *words: str) -> None:
    with pytest.raises(TableError) as caught:
        read_annotations(path, names)
    for word in (str(path), *words):
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("name", "mark"),
    [("a.csv", ","), ("a.csv", ";"), ("a.csv", "\t"), ("a.tsv", "\t"), ("a.txt", "\t"),
     ("a.csv.gz", ","), ("a.txt.gz", "\t")],
)  # fmt: skip
def test_formats(write: Write, name: str, mark: str) -> None:
    data = ("\ufeff" + TEXT.replace(",", mark)).encode()
    path = write(gzip.compress(data) if name.endswith(".gz") else data, name)
    found = read_annotations(str(path), ["117_at", "1007_s_at", "1053_at"])
    assert found.columns == ("symbol", "chromosome")
    assert found.rows == {
        "1007_s_at": ("DDR1", "6"),
        "1053_at": ("RFC2", "7"),
        "117_at": ("HSPA6", "1"),
    }
    assert found.notes == []


def test_features_without_annotation(write: Write) -> None:
    found = read_annotations(write(TEXT), ["x", "1053_at", "z"])
    assert found.rows == {"1053_at": ("RFC2", "7")}
    assert found.notes == ["2 of 3 features have no annotation."]


def test_the_first_of_repeated_lines_counts(write: Write) -> None:
    path = write("g,s\na,1\nb,2\na,3\na,4\nother,5\nother,6\n")
    found = read_annotations(path, ["a", "b"])
    assert found.rows == {"a": ("1",), "b": ("2",)}
    (note,) = found.notes
    assert note == "1 feature(s) have more than one annotation, and the first one counts: 'a'."


def test_a_line_is_about_all_columns_of_its_name(write: Write) -> None:
    path = write("g,s\na,1\nb_2,2\nb,3\nc,4\n")
    names = ["a", "a_2", "b", "b_2", "c", "c_2", "d_2", "d"]
    found = read_annotations(path, names, {"a", "a_2", "b", "b_2", "d", "d_2"})
    assert found.rows == {"a": ("1",), "a_2": ("1",), "b": ("3",), "b_2": ("2",), "c": ("4",)}
    assert found.notes == ["3 of 8 features have no annotation."]


def test_names_of_numbers_and_quotes(write: Write) -> None:
    path = write('g,description\n1,"kinase, ""fast"""\n2.50,"two\nlines"\n,nobody\n')
    found = read_annotations(path, ["1", "2.50"])
    assert found.rows == {"1": ('kinase, "fast"',), "2.50": ("two\nlines",)}


def test_header_of_r_and_odd_headers(write: Write) -> None:
    path = write('"symbol"\t"chr"\n"a"\t"S"\t"6"\n', "t.txt")
    assert read_annotations(path, ["a"]).columns == ("symbol", "chr")
    found = read_annotations(write("g,,s,s\na,1,2,3\n"), ["a"])
    assert found.columns == ("column_2", "s", "s_2")


def test_many_lines_agree_with_pandas(tmp_path: Path) -> None:
    frame: Any = pd.DataFrame(
        {"g": [f"g{i}" for i in range(60_000)], "s": [f"S, {i % 977}" for i in range(60_000)]}
    )
    frame.to_csv(tmp_path / "a.csv", index=False)
    names = [f"g{i}" for i in range(0, 70_000, 7)]
    found = read_annotations(tmp_path / "a.csv", names)
    peer = frame[frame["g"].isin(names)]
    assert found.rows == {g: (s,) for g, s in zip(peer["g"], peer["s"])}
    assert found.notes == [f"{len(names) - len(peer)} of {len(names)} features have no annotation."]


def test_no_name_matches(write: Write) -> None:
    words = ("none of its names", "'1007_s_at', '1053_at', '117_at'", "'DDR1', 'RFC2'")
    fails(write(TEXT), ["DDR1", "RFC2"], *words)


def test_bad_files(write: Write, tmp_path: Path) -> None:
    names = ["a"]
    fails(write(""), names, "is empty")
    fails(write("\n  \n"), names, "is empty")
    fails(write("g,s\n"), names, "header but no rows")
    fails(write("g\na\n"), names, "one column only", "with a comma as the delimiter")
    fails(write("g|s\na|b\n", "t.tsv"), names, "one column only", "with a tab as the delimiter")
    fails(write("g,s\na,b,c,d\n"), names, "line 2 has 4 fields, the header has 2")
    fails(write('g,s\na,"b\n'), names, "a quotation mark that is opened on line 2 is not closed")
    fails(write(b"g,s\na,\xff\n"), names, "UTF-8")
    fails(write(gzip.compress(TEXT.encode())[:40], "t.csv.gz"), names, "damaged or cut off")
    fails(tmp_path / "none.csv", names, "no such file")
    fails(tmp_path, names, "is a directory")
    for name in ("t.parquet", "t.xlsx", "t"):
        fails(write(TEXT, name), names, "unknown kind of file", ".csv, .tsv, .txt")
