"""Tables from disk: every way to be broken gives one clear error."""

from __future__ import annotations

import contextlib
import gzip
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from eigensieve.errors import TableError
from eigensieve.io.tables import read_table
from tests.io.reading import Write, fails


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


@pytest.mark.parametrize("seed", range(20))
def test_no_advice_to_run_code_from_an_npz(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "t.npz"
    path.write_bytes(np.random.default_rng(seed).bytes(500))
    assert "pickle" not in fails(path, "not a readable .npz file (no archive")
    np.savez(path, X=np.array([["a", 1.0]], dtype=object))
    assert "pickle" not in fails(path, "not a readable .npz file (an array of objects)")
    with open(path, "wb") as file:
        np.save(file, np.eye(3))
    fails(path, "not a readable .npz file (no archive")


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
