"""Which column identifies the rows, where several could."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from eigensieve.io.tables import read_table
from tests.io.reading import Write, fails


def test_identifiers_that_repeat_are_told(write: Write) -> None:
    path = write("the site,a,y\np0,1,u\np0,2,u\np1,3,v\np1,4,v\n,5,v\n,6,v\n")
    table = read_table(path, "y")
    assert table.identifier == "the site"
    (note,) = table.notes
    assert "'the site' was taken as row identifiers, though its entries repeat (2 diff" in note
    assert "--groups" not in note  # who splits the samples says so


def test_identifiers_beside_columns_by_name(write: Write) -> None:
    (note,) = read_table(write("patient,a\np0,1\np0,2\np1,3\n"), columns=["a"]).notes
    assert note.endswith("though its entries repeat (2 different ones).")


def test_empty_entries_do_not_repeat(write: Write) -> None:
    (note,) = read_table(write("id,a\np,1\n,2\n,3\n")).notes
    assert note == "The column 'id' was taken as row identifiers."


def test_a_known_target_does_not_identify_the_rows(write: Write) -> None:
    path = write("y,sample,a\nu,s1,1\nv,s2,2\nu,s3,3\n")
    assert read_table(path, columns=["a"]).rows == ["u", "v", "u"]
    table = read_table(path, columns=["a"], not_rows=["y"])
    assert table.rows == ["s1", "s2", "s3"]
    assert table.notes == ["The column 'sample' was taken as row identifiers."]


def test_a_known_target_need_not_be_there(write: Write) -> None:
    path = write("sample,a\ns1,1\ns2,2\n")
    assert read_table(path, columns=["a"], not_rows=["y"]).rows == ["s1", "s2"]
    path = write("y,a\nu,1\nv,2\n")
    assert read_table(path, columns=["a"], not_rows=["y"]).rows == ["1", "2"]


# ---------------------------------------------------------------- only the first column

MIDDLE = pd.DataFrame({"a": [1.5, 2], "id": ["p", "q"], "b": [3.0, 4], "y": ["u", "v"]})


def written(frame: pd.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        frame.to_csv(path, index=False, sep="," if ".csv" in path.suffixes else "\t")
    return path


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.tsv", "t.txt", "t.parquet"])
@pytest.mark.parametrize("header", ["id", "remark"])
def test_text_further_right_is_not_taken_as_row_names(
    tmp_path: Path, name: str, header: str
) -> None:
    """Even if it tells all rows apart, whatever its name; the message says what to do."""
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    frame = MIDDLE.rename(columns={"id": header})
    path = written(frame, tmp_path / name)
    said = f"1 column(s) not numeric: '{header}' (e.g. 'p'); row names must be in the first column"
    fails(path, said, f"move '{header}' there if it holds them, or use --ignore NAME", target="y")
    table = read_table(path, "y", ignore=[header])
    assert (table.names, table.rows, table.identifier) == (["a", "b"], ["1", "2"], None)
    moved = written(frame[[header, "a", "b", "y"]], tmp_path / f"moved-{name}")
    table = read_table(moved, "y")
    assert (table.names, table.rows, table.identifier) == (["a", "b"], ["p", "q"], header)


def test_text_further_right_does_not_name_the_rows_of_chosen_columns(write: Write) -> None:
    table = read_table(write("a,id,b\n1,p,2\n3,q,4\n"), columns=["b"])
    assert (table.X.tolist(), table.rows, table.notes) == ([[2], [4]], ["1", "2"], [])


def test_a_named_index_leaves_no_room_for_row_names(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    frame = MIDDLE[["id", "a", "y"]].set_index(pd.Index(["s1", "s2"], name="sample"))
    frame.to_parquet(tmp_path / "t.parquet")
    message = fails(tmp_path / "t.parquet", "1 column(s) not numeric: 'id'", target="y")
    assert "first column" not in message


def test_a_row_of_text_in_a_transposed_table(write: Write) -> None:
    path = write("name,s1,s2\na,1,2\nid,p,q\ny,u,v\n")
    message = fails(path, "1 row(s) not numeric: 'id'", target="y", transpose=True)
    assert "first column" not in message


def test_text_that_repeats_is_not_advised_to_move(write: Write) -> None:
    message = fails(write("a,sex,y\n1,m,u\n2,m,v\n"), "'sex' (e.g. 'm')", target="y")
    assert "first column" not in message


def test_labels_and_what_is_left_out_do_not_count(write: Write) -> None:
    path = write("remark,y,group,id,a\nx,u,1,p,1\nx,v,2,q,2\n")
    table = read_table(path, "y", groups="group", ignore=["remark"])
    assert (table.names, table.rows) == (["a"], ["p", "q"])
