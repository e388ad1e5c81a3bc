"""The guard of all commands: none replaces a file that it reads, or that it has not made.

Every file that a command writes is noted in a hidden list beside it, with a digest: tables stay
plain, and a file that somebody has edited since is no longer taken for the command's own.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click

LIST = ".eigensieve-files.jsonl"
INPUTS, FORCE = "eigensieve.inputs", "eigensieve.force"  # where the context keeps them


class InputFile(click.Path):
    """A file that the command reads; whether it exists is said by the reader, with advice."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> Any:
        path = super().convert(value, param, ctx)
        if ctx is not None:
            ctx.meta.setdefault(INPUTS, []).append(path)
        return path


def add_input(path: Path) -> Path:
    """A file that is read though no option names it."""
    _meta().setdefault(INPUTS, []).append(path)
    return path


def _keep_force(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    ctx.meta[FORCE] = value


force_option = click.option(
    "--force",
    is_flag=True,
    expose_value=False,
    callback=_keep_force,
    help="Replace files, too, that this command has not made; never one that it reads.",
)


def check_replaceable(paths: Sequence[Path], word: str) -> None:
    """Refuse what must not be replaced; ``word`` is what the command calls the destination.

    As an OSError: after long work it is no reason to throw the kept progress away.
    """
    meta = _meta()
    for path in paths:  # first of all: --force would not help
        if any(_is_same(path, other) for other in meta.get(INPUTS, ())):
            raise _refusal(path, f"is an input of this command; choose another {word}")
        if path.name == LIST:
            raise _refusal(path, f"is for the list of files made here; choose another {word}")
    for path in paths:
        noted = _noted(path.with_name(LIST))
        if not os.path.lexists(path) or _is_empty(path) or meta.get(FORCE):
            continue
        makers = _makers(path, noted)
        if _command() not in makers:
            whose = "not made by this command, or changed since"
            if makers:
                whose = f"made by eigensieve {makers[-1]}"
            advice = f"choose another {word}, or add --force to replace it"
            raise _refusal(path, f"is there already, {whose}; {advice}")


def note_made(folder: Path, files: Iterable[tuple[str, Path]]) -> bool:
    """Note names and contents of files that are about to be put into a folder.

    By one write at the end of the list: runs beside this one do the same, and what a killed run
    has noted and not done does no harm. False if the list is somebody else's, as in /tmp.
    """
    lines = [
        json.dumps({"file": name, "sha256": _digest(path), "command": _command()})
        for name, path in files
    ]
    try:
        with open(folder / LIST, "ab") as file:
            # a line that was cut off by a full disk must not spoil the next one
            file.write("".join(f"\n{line}\n" for line in lines).encode("ascii"))
            file.flush()
            os.fsync(file.fileno())
    except PermissionError:
        return False
    return True


def _meta() -> dict[str, Any]:
    ctx = click.get_current_context(silent=True)
    return {} if ctx is None else ctx.meta


def _command() -> str:
    ctx = click.get_current_context(silent=True)
    return "" if ctx is None else str(ctx.info_name)


def _makers(path: Path, noted: list[dict[str, Any]]) -> list[str]:
    """The commands that have made the file as it is."""
    if path.is_symlink() or not path.is_file():
        return []
    noted = [note for note in noted if note["file"] == path.name]
    digest = _digest(path) if noted else ""
    return [str(note["command"]) for note in noted if note["sha256"] == digest]


def _noted(place: Path) -> list[dict[str, Any]]:
    """The lines of a list that are whole."""
    lines: list[bytes] = []
    with suppress(FileNotFoundError, PermissionError):
        lines = place.read_bytes().split(b"\n")
    notes = list(_parsed(lines))
    if place.is_symlink() or (not notes and any(lines)):
        raise _refusal(place, "is no list of files made by eigensieve; move it away")
    return notes


def _parsed(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    for line in lines:
        try:
            note = json.loads(line)
        except ValueError:
            continue
        if isinstance(note, dict) and {"file", "sha256", "command"} <= note.keys():
            yield note


def _digest(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _is_same(path: Path, other: Path) -> bool:
    """One file, whatever it is called: a link, another case, another way to it."""
    try:
        return os.path.samefile(path, other)
    except OSError:  # not there
        return False


def _is_empty(path: Path) -> bool:
    """A file without content has nothing to lose: a script may have made it to have its name."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size == 0


def _refusal(path: Path, reason: str) -> FileExistsError:
    return FileExistsError(errno.EEXIST, reason, str(path))
