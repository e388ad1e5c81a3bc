"""Tables from disk: which column is what, and what is said where that is not clear."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from eigensieve.io.tables import read_table
from tests.io.reading import BASIC, Write, fails

# ---------------------------------------------------------------- row numbers


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
@pytest.mark.parametrize("rows", [["0", "1", "2"], ["1", "2", "3"], ["7", "9", "30"], list("203")])
def test_unnamed_counter_is_no_feature(write: Write, name: str, rows: list[str]) -> None:
    lines = "".join(f"{row},{i}.5,{'uv'[i % 2]}\n" for i, row in enumerate(rows))
    table = read_table(write(f"{name},a,y\n{lines}"), "y")
    assert table.names == ["a"]
    assert table.rows == rows
    assert "taken as row identifiers" in table.notes[0]


@pytest.mark.parametrize("cells", [["1", "1", "2"], ["0.5", "1", "2"]])
def test_unnamed_numbers_that_tell_no_rows_apart_are_a_feature(
    write: Write, cells: list[str]
) -> None:
    lines = "".join(f"{cell},{i}.5\n" for i, cell in enumerate(cells))
    assert read_table(write(f",a\n{lines}")).names == ["column_1", "a"]


@pytest.mark.parametrize(
    "name",
    ["id", "ID", "case_id", "case ID", "Sample", "sample.no", "PatientID", "subject", "Barcode",
     "accession", "rownames", "row.names", "index"],
)  # fmt: skip
def test_whole_numbers_named_as_identifiers_are_identifiers(write: Write, name: str) -> None:
    path = write(f"{name},a,y\n30,1.5,u\n10,2,v\n20,3,v\n")
    table = read_table(path, "y")
    assert table.names == ["a"]
    assert table.rows == ["30", "10", "20"]
    assert table.notes == [f"The column {name!r} was taken as row identifiers."]
    assert read_table(path, "y", columns=[name]).X.tolist() == [[30], [10], [20]]


def test_the_identifier_may_stand_after_the_target(write: Write) -> None:
    table = read_table(write("y,patient_id,a\nu,7,1\nv,5,1\n"), "y")
    assert (table.names, table.rows) == (["a"], ["7", "5"])


@pytest.mark.parametrize("name", ["acid", "idh1", "bid", "age", "indexed"])
def test_other_names_are_features(write: Write, name: str) -> None:
    table = read_table(write(f"{name},a\n30,1.5\n10,2\n20,3\n"))
    assert table.names == [name, "a"]
    assert table.notes == []


@pytest.mark.parametrize(("step", "word"), [(3, "increasing"), (-1, "decreasing")])
def test_numbers_in_order_are_a_feature_with_a_note(write: Write, step: int, word: str) -> None:
    def text(n: int, jump: int = 0) -> str:
        rows = (f"{100 + step * i + jump * (i == 5)},{i % 3}\n" for i in range(n))
        return "my no,a\n" + "".join(rows)

    table = read_table(write(text(10)))
    assert table.names == ["my no", "a"]
    (note,) = table.notes
    assert note.startswith(f"The column 'my no' holds distinct {word} whole numbers, as a row")
    assert note.endswith("if it is one, leave it out with --ignore 'my no'.")
    assert read_table(write(text(9))).notes == []
    assert read_table(write(text(10, jump=50))).notes == []
    assert read_table(write(text(10)), columns=["my no"]).notes == []


def test_identifiers_that_stay_features_are_noted(write: Write) -> None:
    lines = "".join(f"{i % 3}.5,{7 + i // 2},{i % 2},{'uv'[i % 2]}\n" for i in range(12))
    table = read_table(write("a,patient_id,sample_type,y\n" + lines), "y")
    assert table.names == ["a", "patient_id", "sample_type"]
    (note,) = table.notes
    assert "'patient_id'; if they identify samples" in note


# ---------------------------------------------------------------- identifiers and other text


def test_no_identifiers(write: Write) -> None:
    table = read_table(write("a,y\n1,u\n2,v\n"), "y")
    assert table.rows == ["1", "2"]
    assert table.notes == []


def test_target_first_then_identifier(write: Write) -> None:
    table = read_table(write("y,id,a\nu,p,1\nv,p,2\n"), "y")
    assert table.rows == ["p", "p"]
    assert table.names == ["a"]


@pytest.mark.parametrize("slip", ["<0.01", "1.5?", "n.d."])
@pytest.mark.parametrize("name", ["g0", "sample_weight"])
def test_numbers_with_a_slip_are_no_identifiers(write: Write, slip: str, name: str) -> None:
    rows = ["0.5,1,u", f"{slip},2,v", "0.7,3,u", "NA,4,v"]
    message = f"1 column(s) not numeric: '{name}' ({slip!r} in sample '2')"
    fails(write(f"{name},b,y\n" + "\n".join(rows)), message, target="y")
    fails(write(f"b,{name},y\n3,0.1,u\n2,{slip},v\n"), message, target="y")
    named = write(f"id,{name},b,y\n" + "\n".join(f"s{i},{row}" for i, row in enumerate(rows)))
    fails(named, f"1 column(s) not numeric: '{name}' ({slip!r} in sample 's1')", target="y")
    fails(named, f"({slip!r} in sample 's1')", "numbers are needed", columns=[name])


def test_a_slip_does_not_hide_the_identifiers(write: Write) -> None:
    path = write("id,a,sex,y\np,1,m,u\nq,x,m,v\nr,3,m,v\n")
    message = fails(path, "2 column(s)", "'a' ('x' in sample 'q')", "'sex' (e.g. 'm')", target="y")
    assert "'id'" not in message


def test_transposed_slip(write: Write) -> None:
    path = write("g,s1,s2\na,1,<2\n")
    fails(path, "1 row(s) not numeric: 'a' ('<2' in sample 's2')", transpose=True)


def test_empty_identifier_becomes_the_row_number(write: Write) -> None:
    assert read_table(write("id,a\np,1\n,2\n")).rows == ["p", "2"]


def test_text_columns_are_named(write: Write) -> None:
    names = [f"t{j}" for j in range(7)]
    path = write(f"id,a,{','.join(names)}\np,1,{','.join('x' * 7)}\np,2,{','.join('x' * 7)}\n")
    message = fails(path, "7 column(s)", "'t0' (e.g. 'x')", "'t4'", "--ignore NAME")
    assert "t5" not in message
    assert read_table(path, ignore=names).names == ["a"]


def test_ignored_first_column_is_no_identifier(write: Write) -> None:
    table = read_table(write("id,a\np,1\nq,2\n"), ignore=["id"])
    assert table.rows == ["1", "2"]


def test_unknown_ignore(write: Write) -> None:
    fails(write(BASIC), "'B'", "close: 'b'", ignore=["B"])


def test_ignore_by_repeated_and_by_new_name(write: Write) -> None:
    path = write("a,a,b\n1,2,3\n")
    assert read_table(path, ignore=["a"]).names == ["b"]
    assert read_table(path, ignore=["a_2"]).X.tolist() == [[1, 3]]


def test_the_target_cannot_be_ignored(write: Write) -> None:
    fails(write(BASIC), "'y' is the target, and cannot be ignored", target="y", ignore=["y"])


def test_booleans(write: Write) -> None:
    path = write("a,b,y\nTrue,1,u\nfalse,2,v\nTRUE,3,v\n")
    table = read_table(path, "y")
    assert table.X[:, 0].tolist() == [1, 0, 1]
    fails(write("a,y\nTrue,u\nNA,v\n"), "'a' (1)", target="y")
    turned = read_table(write("g,s,t\na,True,False\n"), transpose=True)
    assert turned.X.tolist() == [[1], [0]]


def test_decimal_comma(write: Write) -> None:
    fails(write("a;b;y\n1,5;2,5;u\n2,5;3;v\n"), "write 1.5", "'a'", "'b'", target="y")
    fails(write("a;y\n1,5;u\n2,5;v\n"), "write 1.5", columns=["a"])


# ---------------------------------------------------------------- columns


def test_columns_in_the_order_asked(write: Write) -> None:
    path = write("id,a,junk,b,y\ns1,1,?,2,u\ns2,3,NA,4,v\n")
    table = read_table(path, columns=["b", "a"])
    assert table.X.tolist() == [[2, 1], [4, 3]]
    assert table.names == ["b", "a"]
    assert table.rows == ["s1", "s2"]
    assert table.target is None
    labels = read_table(path, "y", columns=["b"]).target
    assert labels is not None
    assert labels.tolist() == ["u", "v"]


def test_columns_missing(write: Write) -> None:
    path = write("gene_a,gene_b\n1,2\n")
    wanted = ["Gene_A", "gene_bb", *(f"z{j}" for j in range(12)), "gene_a"]
    message = fails(path, "14 of the 15", "close: 'gene_a'", "close: 'gene_b'", columns=wanted)
    assert "'z7'" in message
    assert "'z8'" not in message
    fails(path, "empty", columns=[])


@pytest.mark.parametrize("name", ["a", "a_2", "a_3"])
def test_columns_of_a_repeated_name_are_refused(write: Write, name: str) -> None:
    path = write("a,a,b,a\n1,2,3,4\n")
    fails(path, "3 columns are named 'a'", f"the {name!r} that is needed", columns=["b", name])
    table = read_table(path, columns=["b"])
    assert table.X.tolist() == [[3]]
    assert table.notes == []
    turned = write("g,s\na,1\na,2\n")
    fails(turned, "2 rows are named 'a'", columns=["a"], transpose=True)


def test_columns_that_only_look_like_repeated_ones(write: Write) -> None:
    assert read_table(write("a,a_2\n1,2\n"), columns=["a_2", "a"]).X.tolist() == [[2, 1]]
    path = write("a,a_2,a\n1,2,3\n")
    assert read_table(path, columns=["a_2"]).X.tolist() == [[2]]
    fails(path, "2 columns are named 'a'", columns=["a_3"])


def test_columns_in_the_other_direction(write: Write, tmp_path: Path) -> None:
    turned = write("gene,s1,s2\na,1,-3\nb,2.5,4\n")
    fails(turned, "missing: 'a', 'b'", "with --transpose", columns=["a", "b"])
    fails(write(BASIC), "without --transpose", columns=["a"], transpose=True)
    frame = pd.DataFrame({"s1": [1.0, 2.0]}, index=["a", "b"])
    frame.to_parquet(tmp_path / "t.parquet")
    fails(tmp_path / "t.parquet", "with --transpose", columns=["a"])
    fails(tmp_path / "t.parquet", "with --transpose", target="a")


def test_columns_of_one_row_leave_the_label_alone(write: Write) -> None:
    table = read_table(write("a,b,cls\n1,2,c0\n"), columns=["a"])
    assert (table.rows, table.notes) == (["1"], [])
    assert read_table(write("sample,a,cls\np,1,c0\n"), columns=["a"]).rows == ["p"]
    assert read_table(write("name,a,cls\np,1,c0\n"), columns=["a"]).rows == ["p"]
    assert read_table(write(",a,cls\np,1,c0\n"), columns=["a"]).rows == ["p"]


def test_columns_of_text_or_gaps(write: Write) -> None:
    path = write("id,a,b\np,x,1\nq,y,NA\n")
    fails(path, "'a' (e.g. 'x')", "numbers are needed", columns=["a"])
    assert "--ignore" not in fails(path, "'b' (1)", columns=["b"])
    fails(path, "'id'", columns=["id"])
    fails(path, "missing", target="b", columns=["b"])


# ---------------------------------------------------------------- target


def test_target_not_found(write: Write) -> None:
    fails(write(BASIC), "no column is named 'Y'", "close: 'y'", target="Y")
    fails(write(BASIC), "the first columns are 'id', 'a', 'b', 'y'", target="stage")


@pytest.mark.parametrize(
    ("name", "mark"), [("t.csv", "a comma"), ("t.txt", "a tab"), ("t.tsv", "a tab")]
)
def test_some_other_delimiter(write: Write, name: str, mark: str) -> None:
    path = write("a|b|y\n1|2|u\n", name)
    said = f"the header is one column, with {mark} as the delimiter"
    fails(path, said, target="y")
    fails(path, said, columns=["a"])
    fails(path, said, transpose=True)
    assert "as the delimiter" not in fails(write("a,b\n1,2\n"), target="y")


def test_target_twice(write: Write) -> None:
    fails(write("a,y,y\n1,u,v\n"), "2 columns are named 'y'", target="y")


def test_missing_labels(write: Write) -> None:
    for word in ("", "NA", " "):
        path = write(f"id,a,y\ns1,1,{word}\ns2,2,v\n")
        fails(path, "1 sample(s)", "'s1'", target="y")


def test_numeric_labels(write: Write) -> None:
    table = read_table(write("a,y\n1,0\n2,1.0\n3,1.5\n4,-2.\n5,01\n"), "y")
    assert table.target is not None
    assert table.target.tolist() == ["0", "1", "1.5", "-2", "01"]
    assert table.target.dtype.kind == "U"


# ---------------------------------------------------------------- values and names


def test_infinite_values_and_long_lists(write: Write) -> None:
    header = ",".join(f"c{j}" for j in range(8))
    path = write(f"{header}\n{','.join(['inf'] * 7)},1\n{','.join(['1'] * 8)}\nnan,1,1,1,1,1,1,1\n")
    message = fails(path, "8 missing or infinite value(s) in 7 of 8 features", "'c0' (2)")
    assert "'c5'" not in message


def test_duplicate_names(write: Write) -> None:
    table = read_table(write("a,a,a_2,a,b\n1,2,3,4,5\n"))
    assert table.names == ["a", "a_3", "a_2", "a_4", "b"]
    assert table.repeated == {"a", "a_3", "a_4"}
    assert table.X.tolist() == [[1, 2, 3, 4, 5]]
    (note,) = table.notes
    assert note.startswith("2 repeated name(s) made unique (the second 'a' is now 'a_3'); a model")
    assert note.endswith("cannot be applied to a table that repeats the name.")


def test_duplicates_after_stripping_and_empty_names(write: Write) -> None:
    table = read_table(write("a, a ,,column_3\n1,2,3,4\n"))
    assert table.names == ["a", "a_2", "column_3", "column_3_2"]
    assert any("without a name: now 'column_3'" in note for note in table.notes)


def test_strange_names_survive(write: Write) -> None:
    names = ["β-actin", "a,b", '<script>alert("x")</script>', "a.1", "=1+1", "#c", "日本"]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    table = read_table(write(f"{header}\n1,2,3,4,5,6,7\n"))
    assert table.names == names
