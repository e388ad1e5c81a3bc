"""Tables from disk: every format and every habit of real files, read by either reader."""

from __future__ import annotations

import gzip
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eigensieve.errors import MissingExtraError
from eigensieve.io import _text
from eigensieve.io.tables import read_table
from tests.io.reading import BASIC, Write, check_basic, fails

# ---------------------------------------------------------------- text


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


# ---------------------------------------------------------------- parquet and npz


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
    peer = pd.read_csv(path, dtype=str)  # pandas 2 reads fewer digits of numbers by itself
    assert np.array_equal(peer[names].to_numpy(dtype=float), X)
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
