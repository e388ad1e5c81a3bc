"""Drafts and destinations: all files are written, or none, and errors name the real ones."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from eigensieve.cli import _destinations
from eigensieve.cli._destinations import check_file, check_folder, staged
from eigensieve.cli._outputs import MODEL, REPORT, STUDY_FILES
from eigensieve.errors import InputError, ModelFileError


@pytest.fixture
def read_only(monkeypatch: pytest.MonkeyPatch):
    """Make paths read-only, also for root."""
    plain, locked = os.access, set[str]()

    def access(path: str | Path, mode: int) -> bool:
        return str(path) not in locked and plain(path, mode)

    monkeypatch.setattr(os, "access", access)
    return lambda path: locked.add(str(path))


def write_both(folder: Path) -> None:
    with staged(folder) as stage:
        for name in ("a", "b"):
            (stage / name).write_text("new")


def write_on_a_full_disk(folder: Path, named: bool) -> None:
    with staged(folder) as stage:
        (stage / "x.csv").write_text("new")
        # Opening a file fails with its name, writing to it without.
        name = (str(stage / "x.csv"),) if named else ()
        raise OSError(errno.ENOSPC, "No space", *name)


def contents(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("how", ["folder", "read-only"])
def test_a_destination_that_cannot_be_leaves_the_old_set(tmp_path, read_only, how: str) -> None:
    (tmp_path / "a").write_text("old")
    if how == "folder":
        (tmp_path / "b").mkdir()
    else:
        (tmp_path / "b").write_text("old")
        read_only(tmp_path / "b")
    with pytest.raises(InputError) as caught:
        write_both(tmp_path)
    assert str(caught.value).startswith(f"{tmp_path / 'b'}: ")
    assert (tmp_path / "a").read_text() == "old"
    assert contents(tmp_path) == {"a", "b"}


def test_a_destination_that_cannot_be_is_found_before_the_work(tmp_path, read_only) -> None:
    (tmp_path / MODEL).mkdir()
    with pytest.raises(InputError, match=r"model\.json: is a folder"):
        check_folder(tmp_path, STUDY_FILES)
    (tmp_path / MODEL).rmdir()
    (tmp_path / REPORT).write_text("old")
    read_only(tmp_path / REPORT)
    with pytest.raises(InputError, match=r"report\.html: cannot be written to"):
        check_folder(tmp_path, STUDY_FILES)


@pytest.mark.parametrize("named", [True, False])
def test_a_full_disk_names_the_real_place(tmp_path: Path, named: bool) -> None:
    out = tmp_path / "a" / "b"
    with pytest.raises(OSError, match="No space") as caught:
        write_on_a_full_disk(out, named)
    assert caught.value.filename == str(out / "x.csv" if named else out)
    assert contents(tmp_path) == set()


def test_a_model_that_cannot_be_written_names_the_real_place(tmp_path: Path) -> None:
    cause = OSError(errno.ENOSPC, "No space")
    with pytest.raises(ModelFileError) as caught, staged(tmp_path) as stage:
        raise ModelFileError(f"{stage / MODEL}: cannot be written") from cause
    assert str(caught.value) == f"{tmp_path / MODEL}: cannot be written"
    assert caught.value.__cause__ is cause


def test_an_error_of_some_other_file_stays_as_it_is(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as caught, staged(tmp_path):
        (tmp_path / "none").read_text()
    assert caught.value.filename == str(tmp_path / "none")


def test_no_drafts_can_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(prefix: str, dir: Path, **options: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", f"{dir}/{prefix}xyz")

    monkeypatch.setattr(_destinations.tempfile, "TemporaryDirectory", refuse)
    with pytest.raises(PermissionError) as caught, staged(tmp_path / "a"):
        pass
    assert caught.value.filename == str(tmp_path / "a")
    assert contents(tmp_path) == set()

    def refuse_draft(path: Path, data: bytes) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(Path, "write_bytes", refuse_draft)
    with pytest.raises(PermissionError) as caught:
        _destinations.write_atomically(tmp_path / "p.csv", "new")
    assert caught.value.filename == str(tmp_path / "p.csv")


def test_a_file_in_a_read_only_folder(tmp_path: Path, read_only) -> None:
    path = tmp_path / "p.csv"
    read_only(tmp_path)
    for _ in range(2):
        with pytest.raises(InputError) as caught:
            check_file(path)
        assert str(caught.value).startswith(f"{path}: its folder cannot be written to")
        path.write_text("old")


def test_a_pipe_is_written_to_and_stays_one(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reading = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    _destinations.write_atomically(path, "row\n")
    assert os.read(reading, 100) == b"row\n"
    os.close(reading)
    assert path.is_fifo()
