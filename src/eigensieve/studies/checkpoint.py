"""A file that keeps what a study has found so far, so that a killed run can go on."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ..errors import InputError
from .jobs import Outcome

FORMAT, VERSION = "eigensieve-checkpoint", 1


class Checkpoint:
    """One line per finished job, each with a digest of its own.

    A process that is killed leaves at most one broken line, at the end: it is cut off when the
    file is opened again. A file of another study (other data or settings) is refused, or, with
    ``replace``, begun anew.

    Parameters
    ----------
    path : path-like
    study : str
        A digest of data and settings.
    replace : bool
    """

    def __init__(self, path: str | os.PathLike[str], study: str, *, replace: bool = False) -> None:
        self.path = Path(path)
        self.study = study
        self.replace = replace
        self.found: dict[str, Outcome] = {}

    def __enter__(self) -> Checkpoint:
        with ExitStack() as stack:
            try:
                self._file: IO[bytes] = stack.enter_context(open(self.path, "a+b"))
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written ({error.strerror})") from error
            _lock(self._file, self.path)
            self._read()
            stack.pop_all()  # all is well: it stays open
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def add(self, key: str, outcome: Outcome) -> None:
        """Keep a result; from now on it survives this process."""
        self.found[key] = outcome
        self._write({"key": key, "outcome": outcome})

    def discard(self) -> None:
        """Delete the file: the study is done."""
        self.path.unlink(missing_ok=True)

    def _read(self) -> None:
        self._file.seek(0)
        good, is_first = 0, True
        for line in self._file:
            content = _open_line(line)
            if content is None:
                break
            if is_first and not self._is_ours(content):
                if not self.replace:
                    raise InputError(
                        f"{self.path}: holds the results of another study (other data, settings "
                        "or version); delete it, or name another file"
                    )
                break
            if not is_first:
                self.found[content["key"]] = content["outcome"]
            is_first = False
            good += len(line)
        if good == 0 and self._file.seek(0, os.SEEK_END) > 0 and not self.replace:
            self._refuse_stranger()
        self._file.truncate(good)
        if good == 0:
            self._write({"format": FORMAT, "version": VERSION, "study": self.study})

    def _refuse_stranger(self) -> None:
        """A file whose first line is none of ours is not ours to overwrite."""
        self._file.seek(0)
        if not self._file.readline().startswith(b'{"digest": "'):
            raise InputError(f"{self.path}: is no checkpoint of a study; name another file")

    def _is_ours(self, head: dict[str, Any]) -> bool:
        wanted = {"format": FORMAT, "version": VERSION, "study": self.study}
        return all(head.get(name) == value for name, value in wanted.items())

    def _write(self, content: dict[str, Any]) -> None:
        text = json.dumps(content)
        line = f'{{"digest": "{_digest(text)}", "content": {text}}}\n'
        self._file.write(line.encode("ascii"))
        self._file.flush()


def _lock(file: IO[bytes], path: Path) -> None:
    """Two runs must not write to one file; where there are no locks they are not kept apart."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise InputError(f"{path}: another run is writing to it; wait for it") from error


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _open_line(line: bytes) -> dict[str, Any] | None:
    """The content of a line, or None if it is not whole."""
    try:
        entry = json.loads(line)
        content = entry["content"]
        whole = line.endswith(b"\n") and entry["digest"] == _digest(json.dumps(content))
    except (ValueError, KeyError, TypeError):
        return None
    return content if whole else None
