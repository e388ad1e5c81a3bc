"""What docs/security.md says of files from strangers."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import eigensieve
from eigensieve.errors import InputError
from eigensieve.io.model import load_model
from eigensieve.io.tables import read_table
from eigensieve.studies.running.checkpoint import Checkpoint

PACKAGE = Path(eigensieve.__file__).parent
# calls that run what they read
RUNS = {"eval", "exec", "compile", "__import__"}
UNPICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve"}
LOADS = {"load", "loads", "Unpickler", "open"}
# a search tree on its way between a scheduler and its workers, who trust each other anyway
ALLOWED = {("search/exact/tree.py", "pickle.loads")}


def dangers_in(source: str) -> Iterator[str]:
    """Calls that would run code from a file."""
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        room, _, name = called.rpartition(".")
        if called in RUNS or (room.split(".")[0] in UNPICKLES and name in LOADS):
            yield called
        if any(k.arg == "allow_pickle" and ast.unparse(k.value) != "False" for k in node.keywords):
            yield f"{called}(allow_pickle=...)"
        if called in {"np.load", "numpy.load"} and "allow_pickle=False" not in ast.unparse(node):
            yield f"{called} without allow_pickle=False"


def test_nothing_that_is_read_is_run() -> None:
    found = {
        (path.relative_to(PACKAGE).as_posix(), danger)
        for path in PACKAGE.rglob("*.py")
        for danger in dangers_in(path.read_text(encoding="utf-8"))
    }
    assert found == ALLOWED


@pytest.mark.parametrize(
    "source",
    ["pickle.load(f)", "eval(x)", "np.load(p)", "f(p, allow_pickle=True)", "joblib.load(p)"],
)
def test_dangers_are_seen(source: str) -> None:
    assert list(dangers_in(source))


class Bomb:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (self.path,)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    return tmp_path / "it was run"


def test_the_bomb_works(mark: Path) -> None:
    pickle.loads(pickle.dumps(Bomb(mark)))
    assert mark.exists()


@pytest.mark.parametrize("name", ["X", "feature_names", "y"])
def test_an_array_of_objects_is_not_unpickled(tmp_path: Path, mark: Path, name: str) -> None:
    arrays = {"X": np.eye(4), "feature_names": np.array(list("abcd")), "y": np.array(list("uvuv"))}
    arrays[name] = np.array([Bomb(mark)] * 4, dtype=object)
    np.savez(tmp_path / "t.npz", **arrays)
    with pytest.raises(InputError, match="an array of objects"):
        read_table(tmp_path / "t.npz", "y")
    assert not mark.exists()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".npz", ".parquet", ".json"])
def test_a_pickle_by_another_name_is_not_unpickled(tmp_path: Path, mark: Path, suffix: str) -> None:
    path = tmp_path / f"t{suffix}"
    path.write_bytes(pickle.dumps(Bomb(mark)))
    with pytest.raises(InputError):
        load_model(path) if suffix == ".json" else read_table(path, "y")
    assert not mark.exists()


def test_a_pickle_is_no_checkpoint(tmp_path: Path, mark: Path) -> None:
    path = tmp_path / "c"
    content = pickle.dumps(Bomb(mark)) + b"\n"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is no checkpoint"), Checkpoint(path, "study"):
        pass
    assert path.read_bytes() == content
    assert not mark.exists()
