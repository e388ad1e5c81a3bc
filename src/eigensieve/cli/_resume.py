"""A run that goes on where an earlier one stopped: its progress lies beside its results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import BusyCheckpointError, EigensieveError, InputError, OtherStudyError
from ..pencil.wording import counted
from ._common import echo_notes
from ._destinations import made_folder

if TYPE_CHECKING:
    from ..studies.running.runner import StageProgress

CHECKPOINT = ".eigensieve-checkpoint"


@dataclass(frozen=True)
class Kept:
    """Where a run keeps its progress."""

    path: Path

    def watch(self, progress: StageProgress) -> StageProgress:
        """The same, but a note says how many results of an earlier run are used."""
        from ..studies.running.runner import KeptStage

        n_kept = 0

        def tell(stage: str, done: int, total: int) -> None:
            nonlocal n_kept
            if isinstance(stage, KeptStage):
                n_kept += 1
            elif n_kept:
                echo_notes([f"going on from an earlier run: {counted(n_kept, 'result')}"])
                n_kept = 0
            progress(stage, done, total)

        return tell


@contextmanager
def resumable(folder: Path, methods: Iterable[str] = ()) -> Iterator[Kept]:
    """Where a command keeps its progress: a hidden file beside its results, or, of several methods,
    a hidden folder with a file of each.

    After success it goes, and after an error that the same input would give again, if it is this
    run's own; after a crash or Ctrl-C it stays, and the same command goes on from there. The
    progress of another command is never touched.
    """
    names = {f"{method}.jsonl" for method in methods}
    place = folder / (CHECKPOINT if names else f"{CHECKPOINT}.jsonl")
    with made_folder(folder):
        is_own = begin(place, is_folder=bool(names))
        try:
            if place.is_dir() and not {file.name for file in place.iterdir()} <= names:
                raise OtherStudyError(f"{place}: holds the results of other methods")
            yield Kept(place)
        except EigensieveError as error:
            if is_own and not isinstance(error, BusyCheckpointError):
                discard(place, names)  # a busy one is another run's by now, whoever made it
            if not isinstance(error, OtherStudyError):
                raise
            raise InputError(
                f"{place} holds the progress of another run (other data, options or version): run "
                f"that command again to finish it, delete the {'folder' if names else 'file'}, "
                "or choose another --out"
            ) from error
    discard(place, names)


def begin(place: Path, *, is_folder: bool) -> bool:
    """Make the file or folder; False if there is one, which a run beside this one may own."""
    try:
        if is_folder:
            place.mkdir()
        else:
            place.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def discard(place: Path, names: Iterable[str]) -> None:
    """Delete the file, or the folder with these files."""
    if not place.is_dir():
        place.unlink(missing_ok=True)
        return
    for name in names:
        (place / name).unlink(missing_ok=True)
    with suppress(OSError):  # somebody else has put a file there
        place.rmdir()
