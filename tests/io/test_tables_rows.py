"""Which column identifies the rows, where several could."""

from __future__ import annotations

from eigensieve.io.tables import read_table
from tests.io.reading import Write


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
