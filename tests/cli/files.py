"""What `fit` leaves in its folder, and how a refusal must look."""

from __future__ import annotations

import re
from pathlib import Path

FILES = {"report.html", "model.json", "selected.csv", "cv.csv", "stability.csv", "panels.csv"}
CHECKPOINT = ".eigensieve-checkpoint.jsonl"
LIST = ".eigensieve-files.jsonl"  # beside every result, so that it is known again


def contents(folder: Path) -> set[str]:
    """The names of what is there, but for the list of files."""
    return all_contents(folder) - {LIST}


def all_contents(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def without_progress(stderr: str) -> list[str]:
    """The lines of what a command said, but for those that tell how far it is: "[0:05] ..."."""
    return [line for line in stderr.splitlines() if not re.match(r"\[\d+:\d\d\] ", line)]


def refused(run, tmp_path: Path, *args: object, command: str = "fit") -> str:
    """A command that must end with one line, exit code 2 and no trace on disk."""
    before = all_contents(tmp_path)
    result = run(command, *args, "--out", "out", code=2)
    assert result.stdout == ""
    *notes, line = without_progress(result.stderr)
    assert all(note.startswith("note:") for note in notes)
    assert line.startswith("error: ")
    assert all_contents(tmp_path) == before
    return line
