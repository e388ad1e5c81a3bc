"""Tables by name: the embedded ones, and those of a data folder."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from eigensieve.datasets.loader import EMBEDDED, VARIABLE, load_table, table_names
from eigensieve.errors import InputError, TableError

SIZES = {
    "breast_cancer": (569, 30, 2),
    "digits": (1797, 64, 10),
    "iris": (150, 4, 3),
    "wine": (178, 13, 3),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("name", EMBEDDED)
def test_embedded(name: str) -> None:
    table = load_table(name)
    assert (*table.X.shape, len(set(table.y))) == SIZES[name]
    assert table.X.dtype == np.float64
    assert table.y.dtype.kind == "U"
    assert len(table.names) == table.X.shape[1]


def test_a_file_of_the_folder(folder: Path) -> None:
    np.savez(folder / "mine.npz", X=np.ones((3, 2), np.float32), y=[1, 2, 2])
    table = load_table("mine")
    assert table.X.dtype == np.float64
    assert table.y.tolist() == ["1", "2", "2"]
    assert table.names == ["column_1", "column_2"]
    assert ("mine", str(folder / "mine.npz")) in list(table_names())


def test_an_embedded_name_comes_first(folder: Path) -> None:
    np.savez(folder / "iris.npz", X=np.ones((3, 2)), y=[1, 2, 2])
    assert load_table("iris").X.shape == (150, 4)
    assert [name for name, _ in table_names()] == list(EMBEDDED)


def test_unset_variable_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    with pytest.raises(InputError, match=f"set the variable {VARIABLE} .* colon.npz"):
        load_table("colon")


def test_missing_file_names_the_folder(folder: Path) -> None:
    with pytest.raises(InputError, match=r"looked for colon\.npz in"):
        load_table("colon")


def test_close_names_are_offered(folder: Path) -> None:
    np.savez(folder / "colon.npz", X=np.ones((3, 2)), y=[1, 2, 2])
    with pytest.raises(InputError, match="close: colon"):
        load_table("colom")


@pytest.mark.parametrize("name", ["../mine", "/etc/passwd", "", "sub/mine"])
def test_a_name_is_not_a_path(folder: Path, name: str) -> None:
    (folder / "sub").mkdir()
    np.savez(folder / "sub" / "mine.npz", X=np.ones((3, 2)), y=[1, 2, 2])
    with pytest.raises(InputError, match="no table is named"):
        load_table(name)


def test_variable_that_names_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "/no/such/folder")
    with pytest.raises(InputError, match="not a folder"):
        load_table("colon")


def test_broken_files(folder: Path) -> None:
    (folder / "a.npz").write_bytes(b"PK\x03\x04 not a zip")
    np.savez(folder / "b.npz", S=np.eye(2))
    np.savez(folder / "c.npz", X=np.ones((3, 2)), y=[1, 2])
    np.savez(folder / "d.npz", X=np.ones((3, 2)), y=np.array([1, "a", None], dtype=object))
    np.savez(folder / "e.npz", X=np.full((3, 2), "x"), y=[1, 2, 2])
    np.savez(folder / "f.npz", X=np.ones((3, 2)), y=[1, 2, 2], feature_names=["p"])
    said = {"a": "not a readable", "b": "it has S", "c": "do not make", "d": "not a readable"}
    said |= {"e": "do not make", "f": "feature_names is"}
    for name, words in said.items():
        with pytest.raises(TableError, match=words):
            load_table(name)


def test_the_data_folder(data_dir: Path) -> None:
    table = load_table("colon")
    assert table.X.shape == (62, 2000)
    assert len(table.names) == 2000
