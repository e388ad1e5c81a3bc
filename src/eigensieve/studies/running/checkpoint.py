"""A file that keeps what a study has found so far, so that a killed run can go on."""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from ...errors import BusyCheckpointError, InputError, OtherStudyError
from ..jobs import Findings

FORMAT, VERSION = "eigensieve-checkpoint", 1
_OPENING = b'{"digest": "'


class Checkpoint:
    """One line per finished job, each with a digest of its own.

    A process that is killed leaves at most one broken line, at the end: it is cut off when the
    file is opened again. A file of another study (other data or settings) is refused, or, with
    ``replace``, begun anew. A file that is no checkpoint is never touched.

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
        self.found: dict[str, Findings] = {}

    def __enter__(self) -> Checkpoint:
        with ExitStack() as stack:
            try:
                self._file: IO[bytes] = stack.enter_context(open(self.path, "a+b"))
            except OSError as error:
                raise InputError(f"{self.path}: cannot be written ({error.strerror})") from error
            if not self.path.is_file():
                raise InputError(f"{self.path}: is no plain file; name another one")
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
        with suppress(OSError):  # of a full disk it was told before
            self._file.close()

    def add(self, key: str, outcome: Findings) -> None:
        """Keep a result; from now on it survives this process."""
        self.found[key] = outcome
        self._write({"key": key, "outcome": outcome})

    def _read(self) -> None:
        self._file.seek(0)
        good = self._read_head()
        for line in self._file if good else ():
            content = _open_line(line)
            if content is None or "key" not in content:
                break
            self.found[content["key"]] = content["outcome"]
            good += len(line)
        self._file.truncate(good)
        if good == 0:
            self._write(self._head)

    @property
    def _head(self) -> dict[str, Any]:
        return {"format": FORMAT, "version": VERSION, "study": self.study}

    def _read_head(self) -> int:
        """The length of the first line; 0 if the file is to be begun anew."""
        line = self._file.readline()
        head = _open_line(line)
        if head == self._head:
            return len(line)
        if head is None or head.get("format") != FORMAT:
            # a run that was killed at once leaves a piece of one line; anything else is not ours
            if line.endswith(b"\n") or not _is_piece(line):
                raise InputError(f"{self.path}: is no checkpoint of a study; name another file")
        elif not self.replace:
            raise OtherStudyError(
                f"{self.path}: holds the results of another study (other data, settings or "
                "version); delete it, or name another file"
            )
        return 0

    def _write(self, content: dict[str, Any]) -> None:
        text = json.dumps(content)
        line = f'{{"digest": "{_digest(text)}", "content": {text}}}\n'
        try:
            self._file.write(line.encode("ascii"))
            self._file.flush()
        except OSError as error:  # the disk is full: say which file, the results so far are there
            raise OSError(error.errno, error.strerror, str(self.path)) from error


def _lock(file: IO[bytes], path: Path) -> None:
    """Two runs must not write to one file; where there are no locks they are not kept apart."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise BusyCheckpointError(f"{path}: another run is writing to it; wait for it") from error


def _is_piece(line: bytes) -> bool:
    """Whether it may be the beginning of a line of ours."""
    return line.startswith(_OPENING) or _OPENING.startswith(line)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _open_line(line: bytes) -> dict[str, Any] | None:
    """The content of a line, or None if it is not whole."""
    try:
        entry = json.loads(line)
        content = entry["content"]
        whole = line.endswith(b"\n") and entry["digest"] == _digest(json.dumps(content))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return content if whole and isinstance(content, dict) else None
