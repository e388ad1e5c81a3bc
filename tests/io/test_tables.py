"""Tables from disk: every format, every habit of real files, every way to be broken."""

from __future__ import annotations

import contextlib
import gzip
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from eigensieve.errors import MissingExtraError, TableError
from eigensieve.io import _text, tables
from eigensieve.io.tables import read_table

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def _write(text: str | bytes, name: str = "t.csv") -> Path:
        path = tmp_path / name
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path

    return _write


@pytest.fixture
def careful(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    def switch() -> None:
        def refuse(*args: object) -> None:
            raise ValueError

        monkeypatch.setattr(_text, "_loadtxt", refuse)

    return switch


BASIC = "id,a,b,y\ns1,1,2.5,u\ns2,-3,4e1,v\n"


def fails(path: Path, *words: str, **options: Any) -> str:
    with pytest.raises(TableError) as caught:
        read_table(path, **options)
    message = str(caught.value)
    for word in (str(path), *words):
        assert word in message
    return message


# ---------------------------------------------------------------- formats


def check_basic(table: tables.Table) -> None:
    assert table.X.tolist() == [[1, 2.5], [-3, 40]]
    assert table.X.dtype == np.float64
    assert table.X.flags.c_contiguous
    assert table.names == ["a", "b"]
    assert table.rows == ["s1", "s2"]
    assert table.target is not None
    assert table.target.tolist() == ["u", "v"]


def test_csv(write: Write) -> None:
    table = read_table(write(BASIC), "y")
    check_basic(table)
    assert table.notes == ["The column 'id' was taken as row identifiers."]


@pytest.mark.parametrize("name", ["t.tsv", "t.txt", "T.TSV"])
def test_tab(write: Write, name: str) -> None:
    check_basic(read_table(str(write(BASIC.replace(",", "\t"), name)), "y"))


@pytest.mark.parametrize(("name", "mark"), [("t.csv.gz", ","), ("t.tsv.gz", "\t")])
def test_gz(write: Write, name: str, mark: str) -> None:
    check_basic(read_table(write(gzip.compress(BASIC.replace(",", mark).encode()), name), "y"))


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends(write: Write, end: str) -> None:
    check_basic(read_table(write(BASIC.replace("\n", end)), "y"))


def test_bom(write: Write) -> None:
    data = b"\xef\xbb\xbfa,y\n1,u\n"
    assert read_table(write(data), "y").names == ["a"]
    assert read_table(write(gzip.compress(data), "t.csv.gz"), "y").names == ["a"]


def test_blank_lines_are_skipped(write: Write) -> None:
    check_basic(read_table(write("\n" + BASIC.replace("s2", "\n  \ns2") + "\n\n"), "y"))


def test_semicolons(write: Write) -> None:
    check_basic(read_table(write(BASIC.replace(",", ";")), "y"))


def test_semicolons_with_a_comma_in_a_quoted_name(write: Write) -> None:
    table = read_table(write('"a, b";c;y\n1;2;u\n'), "y")
    assert table.names == ["a, b", "c"]


def test_r_header_without_a_name_for_the_row_names(write: Write) -> None:
    table = read_table(
        write('"a"\t"b"\t"y"\n"s1"\t1\t2.5\t"u"\n"s2"\t-3\t4e1\t"v"\n', "t.txt"), "y"
    )
    check_basic(table)


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


def test_parquet(tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1, -3], "b": [2.5, 40], "y": ["u", "v"]}, index=["s1", "s2"])
    frame.to_parquet(tmp_path / "index.parquet")
    check_basic(read_table(tmp_path / "index.parquet", "y"))
    frame.reset_index().to_parquet(tmp_path / "t.parquet", index=False)
    check_basic(read_table(tmp_path / "t.parquet", "y"))
    frame.set_index("y").to_parquet(tmp_path / "y.parquet")
    table = read_table(tmp_path / "y.parquet", "y")
    assert table.target is not None
    assert table.target.tolist() == ["u", "v"]


def test_parquet_kinds_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame(
        {
            "flag": [True, False],
            "nullable": pd.array([1, 2], dtype="Int64"),
            "small": np.array([0.1, 0.2], np.float32),
            "day": pd.to_datetime(["2020-01-01", "2020-01-02"]),
            "kind": pd.Categorical(["p", "p"]),
            "y": [1.0, 2.0],
        }
    )
    frame.to_parquet(path)
    table = read_table(path, "y", ignore=["day", "kind"])
    assert table.names == ["flag", "nullable", "small"]
    assert table.X[:, :2].tolist() == [[1, 1], [0, 2]]
    assert table.target is not None
    assert table.target.tolist() == ["1", "2"]
    fails(path, "'kind' (e.g. 'p')", target="y", ignore=["day"], columns=["kind"])


def test_parquet_duplicate_names(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table([[1.0], [2.0], ["u"]], names=["a", "a", "y"]), tmp_path / "t.parquet")
    table = read_table(tmp_path / "t.parquet", "y")
    assert table.names == ["a", "a_2"]
    assert table.X.tolist() == [[1, 2]]


def test_parquet_missing_values(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    pd.DataFrame({"a": [1.0, None], "z": [None, None], "y": ["u", None]}).to_parquet(path)
    fails(path, "2 missing or infinite", "'z' (2)", columns=["z"])
    fails(path, "3 missing or infinite", "'a' (1)", "'z' (2)", ignore=["y"])
    fails(path, "no label", "'2'", target="y", columns=["a"])


def test_parquet_transposed(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    frame = pd.DataFrame({"gene": ["a", "b"], "s1": [1, 2.5], "s2": [-3, 40.0]})
    frame.to_parquet(path)
    table = read_table(path, transpose=True)
    assert table.X.tolist() == [[1, 2.5], [-3, 40]]
    assert (table.names, table.rows) == (["a", "b"], ["s1", "s2"])
    text = pd.DataFrame({"s1": ["1", "u", "2.5"], "s2": ["-3", "v", "40"]}, index=["a", "y", "b"])
    text.to_parquet(path)
    table = read_table(path, "y", transpose=True)
    check_basic(table)


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "t.parquet").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"eigensieve\[parquet\]"):
        read_table(tmp_path / "t.parquet")


def test_npz(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    X = np.array([[1, 2.5], [-3, 40]])
    np.savez(path, X=X, y=np.array([0.0, 1.0]), stage=["u", "v"], feature_names=["a", "b"])
    table = read_table(path, "stage")
    assert table.target is not None
    assert table.target.tolist() == ["u", "v"]
    assert table.names == ["a", "b"]
    assert table.rows == ["1", "2"]
    assert table.X.tolist() == X.tolist()
    labels = read_table(path, "y").target
    assert labels is not None
    assert labels.tolist() == ["0", "1"]
    assert read_table(path).target is None
    assert read_table(path, columns=["b"]).X.tolist() == [[2.5], [40]]
    assert read_table(path, transpose=True).X.tolist() == X.T.tolist()
    fails(path, "'Stage'", target="Stage")
    by_feature = read_table(path, "a")
    assert by_feature.target is not None
    assert by_feature.target.tolist() == ["1", "-3"]
    assert by_feature.names == ["b"]


def test_npz_without_names(tmp_path: Path) -> None:
    np.savez(tmp_path / "t.npz", X=np.eye(3, dtype=bool))
    table = read_table(tmp_path / "t.npz")
    assert table.names == ["column_1", "column_2", "column_3"]
    assert "no feature_names" in table.notes[0]


def test_npz_wrong_content(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    np.savez(path, Z=np.eye(2))
    fails(path, "array X", "Z")
    np.savez(path, X=np.ones(2))
    fails(path, "two dimensions")
    np.savez(path, X=np.array([["a"]]))
    fails(path, "numbers")
    np.savez(path, X=np.array([[object()]], dtype=object))
    fails(path, "without objects")
    np.savez(path, X=np.eye(2), y=np.zeros(3))
    fails(path, "array y", "(3,)", target="y")
    np.savez(path, X=np.eye(2), feature_names=["a"])
    fails(path, "feature_names")


# ---------------------------------------------------------------- fast against careful


def test_fast_and_careful_and_pandas_agree(
    tmp_path: Path, careful: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30)) * 10.0 ** rng.integers(-300, 300, size=(40, 30))
    X[0, :4] = [0.1, 5e-324, -0.0, 1.7976931348623157e308]
    names = [f'g "{j}", <b>é</b>' for j in range(30)]
    frame = pd.DataFrame(X, columns=names)
    frame.insert(0, "id", [f"s,{i}" for i in range(40)])
    frame["y"] = rng.choice(["u", "v w"], size=40)
    path, turned = tmp_path / "t.csv", tmp_path / "turned.csv"
    frame.to_csv(path, index=False)
    frame.set_index("id").T.to_csv(turned)
    with monkeypatch.context() as patch:
        patch.setattr(_text, "_columns_careful", None)
        patch.setattr(_text, "sheet_of_records", None)
        fast = [read_table(path, "y"), read_table(turned, "y", transpose=True)]
    careful()
    slow = [read_table(path, "y"), read_table(turned, "y", transpose=True)]
    peer = pd.read_csv(path)
    np.testing.assert_allclose(peer[names].to_numpy(), X, rtol=1e-14)
    for table in fast + slow:
        assert table.X.tobytes() == X.tobytes()
        assert table.names == names
        assert table.rows == peer["id"].tolist()
        assert table.target is not None
        assert table.target.tolist() == peer["y"].tolist()


def test_missing_words_take_the_careful_path(write: Write) -> None:
    for word in ("NA", "NaN", "", "null"):
        path = write(f"a,b,y\n1,2,u\n3,{word},v\n")
        fails(path, "1 missing or infinite value(s) in 1 of 2 features: 'b' (1)", target="y")
        assert read_table(path, "y", columns=["a"]).X.tolist() == [[1], [3]]
        assert read_table(path, "y", ignore=["b"]).X.tolist() == [[1], [3]]


def test_text_that_comes_late(write: Write) -> None:
    path = write("a,b,y\n1,2,u\n3,x,v\n4,5,v\n6,5,v\n")
    fails(path, "'b' ('x' in sample '2')", "--ignore NAME", target="y")
    table = read_table(write("id,b,y\n1,2,u\n2b,3,v\n"), "y")
    assert table.rows == ["1", "2b"]


@pytest.mark.parametrize("transpose", [False, True])
def test_numbers_with_underscores_are_text(write: Write, transpose: bool) -> None:
    fails(write("n,a,b\nu,1,1_000\nv,1,1\nw,3,1\n"), "not numeric", transpose=transpose)


def test_hash_is_no_comment(write: Write) -> None:
    table = read_table(write("id,a,y\n#1,1,u#1\n#2,2,u#2\n"), "y")
    assert table.rows == ["#1", "#2"]
    assert table.target is not None
    assert table.target.tolist() == ["u#1", "u#2"]


def test_newline_in_quotes(write: Write, careful: Callable[[], None]) -> None:
    path = write('"i\nd",a,y\n"s\n1",1,u\ns2,2,v\n')
    tables_read = [read_table(path, "y")]
    careful()
    tables_read.append(read_table(path, "y"))
    for table in tables_read:
        assert table.rows == ["s\n1", "s2"]
        assert table.X.tolist() == [[1], [2]]


def write_large(path: Path, n_lines: int, n_fields: int, corner: str, last: str) -> None:
    fields = ",".join(f"{v:.5f}" for v in np.random.default_rng(0).normal(size=n_fields))
    with open(path, "w") as file:
        file.write(corner + "," + ",".join(f"h{j}" for j in range(n_fields)) + "\n")
        file.writelines(f"r{i},{fields}\n" for i in range(n_lines))
        file.write(last)


def test_wide_and_long_tables_read_fast(tmp_path: Path) -> None:
    """Bounds several times the measured 0.7 s: they only catch a wrong algorithm."""
    wide, turned = tmp_path / "wide.csv", tmp_path / "turned.csv"
    write_large(wide, 60, 50_000, "id", "")
    write_large(turned, 50_000, 60, "gene", "y," + ",".join("uv" * 30) + "\n")
    start = time.process_time()
    assert read_table(wide).X.shape == (60, 50_000)
    assert time.process_time() - start < 4
    start = time.process_time()
    table = read_table(turned, "y", transpose=True)
    assert time.process_time() - start < 4
    assert table.X.shape == (60, 50_000)
    assert table.target is not None
    assert table.target.tolist() == list("uv" * 30)


# ---------------------------------------------------------------- transpose


def test_transpose(write: Write, careful: Callable[[], None]) -> None:
    path = write("gene,s1,s2\na,1,-3\ny,u,v\nb,2.5,4e1\n")
    check_basic(read_table(path, "y", transpose=True))
    assert read_table(path, transpose=True, ignore=["y"]).target is None
    assert read_table(path, transpose=True, columns=["b"]).X.tolist() == [[2.5], [40]]
    careful()
    check_basic(read_table(path, "y", transpose=True))


@pytest.mark.parametrize("row", ['"y",u,v', " y ,u,v", '"y" , u ,v', "y,NA,v"])
def test_transpose_target_row_in_other_spellings(write: Write, row: str) -> None:
    path = write(f"gene,s1,s2\n{row}\na,1,-3\nb,2.5,4e1\n")
    if "NA" in row:
        fails(path, "no label", "'s1'", target="y", transpose=True)
    else:
        check_basic(read_table(path, "y", transpose=True))


def test_transpose_target_of_numbers(write: Write) -> None:
    table = read_table(write("g,s1,s2\ny,0,1.0\na,1,2\n"), "y", transpose=True)
    assert table.target is not None
    assert table.target.tolist() == ["0", "1"]
    assert table.names == ["a"]
    codes = read_table(write("g,s1,s2\n y ,01,02\na,1,2\n"), "y", transpose=True).target
    assert codes is not None
    assert codes.tolist() == ["01", "02"]


def test_transpose_header_of_r(write: Write) -> None:
    check_basic(read_table(write("s1,s2\na,1,-3\nb,2.5,4e1\ny,u,v\n"), "y", transpose=True))


def test_transpose_errors(write: Write) -> None:
    path = write("gene,s1,s2\na,1,-3\nsex,m,f\na,2,NA\n")
    fails(path, "1 row(s) not numeric: 'sex' (e.g. 'm')", "--ignore", transpose=True)
    fails(path, "'a_2' (1)", transpose=True, ignore=["sex"])
    fails(path, "no row is named 'z'", "'sex'", target="z", transpose=True)
    fails(path, "1 of the 2 rows", "'q'", columns=["a", "q"], transpose=True)
    fails(path, "2 rows are named 'a'", target="a", transpose=True)
    fails(path, "without --transpose", target="s1", transpose=True)
    fails(path, "with --transpose", target="sex")
    fails(write("gene,s1\ny,u\n"), "no feature rows", target="y", transpose=True)


def test_transpose_without_sample_names(write: Write) -> None:
    assert read_table(write("g,,s2\na,1,2\n"), transpose=True).rows == ["1", "s2"]


# ---------------------------------------------------------------- identifiers and other text


def test_no_identifiers(write: Write) -> None:
    table = read_table(write("a,y\n1,u\n2,v\n"), "y")
    assert table.rows == ["1", "2"]
    assert table.notes == []


def test_target_first_then_identifier(write: Write) -> None:
    table = read_table(write("y,id,a\nu,p,1\nv,p,2\n"), "y")
    assert table.rows == ["p", "p"]
    assert table.names == ["a"]


def test_identifier_further_right_only_if_distinct(write: Write) -> None:
    assert read_table(write("a,id,y\n1,p,u\n2,q,v\n"), "y").rows == ["p", "q"]
    fails(write("a,sex,y\n1,m,u\n2,m,v\n"), "'sex' (e.g. 'm')", target="y")


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
    path = write("a,sex,id,y\n1,m,p,u\nx,m,q,v\n3,m,r,v\n")
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
    assert read_table(write("a,sample,cls\n1,p,c0\n"), columns=["a"]).rows == ["p"]
    assert read_table(write("name,a,cls\np,1,c0\n"), columns=["a"]).rows == ["p"]
    assert read_table(write("a,,cls\n1,p,c0\n"), columns=["a"]).rows == ["p"]


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


# ---------------------------------------------------------------- broken files


def test_missing_and_directory_and_suffix(tmp_path: Path, write: Write) -> None:
    fails(tmp_path / "none.csv", "no such file")
    (tmp_path / "d.csv").mkdir()
    fails(tmp_path / "d.csv", "directory")
    fails(write("a\n1\n", "t.xlsx"), "unknown kind", ".parquet")
    fails(write(b"", "t.npz.gz"), "unknown kind")
    fails(write(b"", "t"), "unknown kind")


@pytest.mark.parametrize("transpose", [False, True])
def test_empty(write: Write, transpose: bool) -> None:
    for text in ("", "\n \n", b"\xef\xbb\xbf"):
        fails(write(text), "is empty", transpose=transpose)
    fails(write("a,b\n\n"), "header but no rows", transpose=transpose)


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a,b,c\nx,2,3\ny,5\n", "line 3 has 2 fields, the header has 3"),
        ("a,b,c\nx,2,3\ny,5,6,7\n", "line 3 has 4 fields, the header has 3"),
        ("a,b,c\nx,2,3,\n", "line 2 has 4 fields, the header has 3"),
        ("a,b,c\nx,2\n", "line 2 has 2 fields, the header has 3"),
    ],
)
def test_ragged(write: Write, text: str, words: str, transpose: bool) -> None:
    fails(write(text), words, transpose=transpose)
    fails(write(text), words, transpose=transpose, columns=["b"])


def test_header_short_of_a_name_before_numbers_is_ragged(write: Write) -> None:
    fails(write("a,b\n1,2,3\n"), "line 2 has 3 fields, the header has 2")


def test_no_features(write: Write) -> None:
    fails(write("id,y\np,u\n"), "no feature columns", target="y")


def test_undecodable(write: Write) -> None:
    fails(write("a,é\n1,2\n".encode("latin-1")), "UTF-8")
    fails(write(b"a,b\n1,2\n" + b"3,4\n" * 9000 + b"\xff,1\n"), "UTF-8")


def test_quote_not_closed(write: Write) -> None:
    fails(write('a,"b\n' + "1,2\n" * 50_000), "quotation mark that is not closed")


QUOTES = {
    "header": ('a,b,"y\n1,2,u\n3,4,v\n', 1),
    "label": ('a,b,y\n1,2,u\n1,2,"u\n3,4,v\n3,4,v\n', 3),
    "first label": ('a,b,y\r1,2,"u\r3,4,v\r', 2),
    "number": ('a,b,y\n\n1,2,u\n"3,4,v\n5,6,v\n', 4),
    "last line": ('a,b,y\n1,2,u\n3,"4,v', 3),
}


@pytest.mark.parametrize(("text", "line"), QUOTES.values(), ids=QUOTES.keys())
def test_where_a_quotation_mark_is_not_closed(write: Write, text: str, line: int) -> None:
    said = f"a quotation mark that is opened on line {line} is not closed"
    fails(write(text), said, target="y")
    fails(write(text), said, transpose=True)


def test_a_quotation_mark_closed_too_late(write: Write) -> None:
    fails(write('a,b,y\n1,"2,u\n3,4,"v\n'), "line 3 has 2", "quotation mark", target="y")


def test_quotation_marks_inside_a_cell_are_no_harm(write: Write) -> None:
    table = read_table(write('id,a,y\n5" pipe,1,u\n6" pipe,2,v"\n'), "y")
    assert table.rows == ['5" pipe', '6" pipe']


def test_truncated_gz(write: Write) -> None:
    numbers = np.random.default_rng(0).normal(size=(500, 3))
    text = "a,b,c\n" + "\n".join(",".join(map(str, row)) for row in numbers)
    data = gzip.compress(text.encode())
    for size in (0, 5, 30, len(data) // 2, len(data) - 4):
        fails(write(data[:size], "t.csv.gz"))
    fails(write(b"a,b\n1,2\n", "t.csv.gz"), "damaged")
    fails(write(data[:200] + b"\0" * 50 + data[250:], "t.csv.gz"))


@pytest.mark.parametrize("name", ["t.npz", "t.parquet"])
def test_damaged_binary(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    X = np.random.default_rng(0).normal(size=(20, 3))
    if name == "t.npz":
        np.savez_compressed(path, X=X, y=np.arange(20))
    else:
        pd.DataFrame(X, columns=list("abc")).to_parquet(path)
    data = path.read_bytes()
    for size in (0, 3, 60, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        fails(path, "not a readable")
    rng = np.random.default_rng(1)
    for _ in range(100):
        mutant = bytearray(data)
        mutant[rng.integers(len(data))] = rng.integers(256)
        path.write_bytes(mutant)
        with contextlib.suppress(TableError):
            read_table(path)


def test_wrong_magic(write: Write) -> None:
    fails(write("hello", "t.npz"), "not a readable")
    fails(write("hello", "t.parquet"), "not a readable")


def test_random_text_only_raises_table_errors(write: Write) -> None:
    rng = np.random.default_rng(0)
    pieces = [*'a1.,;\t"\n\r -\0_é', "NA", "True", "y", "1,5", "\n1,2\n"]
    read = 0
    for _ in range(400):
        path = write("".join(rng.choice(pieces, size=rng.integers(1, 25))))
        for options in ({}, {"target": "y"}, {"transpose": True}, {"columns": ["a"]}):
            with contextlib.suppress(TableError):
                read_table(path, **options)
                read += 1
    assert read > 0
