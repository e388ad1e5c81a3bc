"""Where commands write: all files of a run are put in place, or none."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import InputError, ModelFileError
from ._common import echo_notes
from ._guard import LIST, check_replaceable, note_made

HIDDEN = ".eigensieve-"  # how the name of a draft begins


def check_folder(folder: Path, files: Sequence[str]) -> None:
    """Find out before the work, not after it, that nothing could be written."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise InputError(f"{there}: is a file, and a folder is needed there; choose another --out")
    if not os.access(there, os.W_OK):
        raise InputError(f"{there}: cannot be written to; choose another --out")
    check_destinations([folder / name for name in files])


def check_destinations(paths: Sequence[Path], word: str = "--out") -> None:
    """No file may be in place before all of them can be; ``word`` is what the command calls it."""
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, and a file is needed; choose another {word}")
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"{path}: cannot be written to; choose another {word}")
    check_replaceable(paths, word)


def check_file(path: Path, word: str = "--out") -> None:
    """The same as ``check_folder``, for a command that writes one file."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: its folder does not exist; make it, or choose another {word}")
    if is_device(path):
        return
    real = path.resolve()
    if not os.access(real.parent, os.W_OK):
        raise InputError(f"{path}: its folder cannot be written to; choose another {word}")
    check_destinations([real if path.is_symlink() else path], word)


def is_device(path: Path) -> bool:
    """A device or a pipe has nothing to keep, and a file in its place would do harm."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """A folder to write to, made if need be; after an error it goes again, unless it has files."""
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for path in created:
            with suppress(OSError):  # not made yet, or there is a file, ours or somebody else's
                path.rmdir()
        raise


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A hidden folder to write to; its files move to ``folder`` if all went well.

    Files of the same name are replaced, and that is said; no other file is touched.
    """
    with made_folder(folder), hidden_folder(folder) as stage:
        yield stage
        drafts = sorted(stage.iterdir())
        replaced = put_in_place([(draft, folder / draft.name) for draft in drafts])
    if replaced:
        echo_notes([f"replaced in {folder}: {', '.join(path.name for path in replaced)}"])


@contextmanager
def hidden_folder(folder: Path) -> Iterator[Path]:
    """A place for drafts in a folder; what goes wrong there is said of the files themselves."""
    try:
        with tempfile.TemporaryDirectory(
            prefix=HIDDEN, dir=folder, ignore_cleanup_errors=True
        ) as stage:
            try:
                yield Path(stage)
            except ModelFileError as error:
                text = str(error).replace(stage, str(folder))
                raise ModelFileError(text) from error.__cause__
    except OSError as error:
        draft = "" if error.filename is None else str(error.filename)
        if error.errno is None or (draft and HIDDEN not in draft):
            raise  # some other file
        name = Path(draft).name
        real = folder if name.startswith(HIDDEN) else folder / name
        raise OSError(error.errno, error.strerror, str(real)) from error


@contextmanager
def drafted(path: Path, word: str = "--out") -> Iterator[Path]:
    """A hidden file to write, or not, which takes the place of ``path`` if all went well.

    A link stays one: the file that it leads to is replaced.
    """
    check_file(path, word)
    if is_device(path):
        with tempfile.TemporaryDirectory() as folder:
            draft = Path(folder, "draft")
            yield draft
            if draft.exists():
                with open(draft, "rb") as source, open(path, "wb") as device:
                    shutil.copyfileobj(source, device)
        return
    real = path.resolve()
    draft = real.with_name(f"{HIDDEN}{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield draft
        replaced = put_in_place([(draft, real)], word) if draft.exists() else []
    except OSError as error:
        if error.filename is None or HIDDEN not in str(error.filename):
            raise  # some other file
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
    if replaced:
        echo_notes([f"replaced: {path}"])


def put_in_place(moves: Sequence[tuple[Path, Path]], word: str = "--out") -> list[Path]:
    """Move drafts to where they belong, in one folder; the files that were there before.

    What was allowed before the work is asked again: somebody may have put a file there since.
    """
    check_destinations([path for _, path in moves], word)
    replaced = [path for _, path in moves if path.exists()]
    for draft, _ in moves:
        settle(draft)
    if moves:
        folder = moves[0][1].parent
        if not note_made(folder, [(path.name, draft) for draft, path in moves]):
            list_ = folder / LIST
            echo_notes([f"{list_}: cannot be written to; to replace these files will take --force"])
    try:
        move(moves)
    except KeyboardInterrupt:  # some are there: the others belong to them
        move([(draft, path) for draft, path in moves if draft.exists()])
        raise KeyboardInterrupt("all results were written by then") from None
    return replaced


def move(moves: Sequence[tuple[Path, Path]]) -> None:
    for draft, path in moves:
        os.replace(draft, path)


def settle(path: Path) -> None:
    """See to it that the content is on the disk before the name is."""
    with open(path, "rb+") as file:
        os.fsync(file.fileno())


def write_atomically(path: Path, content: str | bytes, word: str = "--out") -> None:
    """The old file or the new one, never half of one; replacing a file is said."""
    data = content.encode("utf-8") if isinstance(content, str) else content
    with drafted(path, word) as draft:
        draft.write_bytes(data)
