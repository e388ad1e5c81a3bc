"""The files of a fitted model: all of them are written, or none."""

from __future__ import annotations

import csv
import io
import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from ..errors import InputError, ModelFileError
from ._common import ARGS, echo_notes, finite_or_none

if TYPE_CHECKING:
    from ..io.model import LinearModel
    from ..studies.cv_path import ErrorEstimate
    from ..studies.fitting import FitResult

REPORT, MODEL, SELECTED, CV = "report.html", "model.json", "selected.csv", "cv.csv"
HIDDEN = ".eigensieve-"  # how the name of a draft begins


def check_folder(folder: Path) -> None:
    """Find out before the work, not after it, that nothing could be written."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise InputError(f"{there}: is a file, and a folder is needed there; choose another --out")
    if not os.access(there, os.W_OK):
        raise InputError(f"{there}: cannot be written to; choose another --out")
    check_destinations(folder / name for name in (REPORT, MODEL, SELECTED, CV))


def check_destinations(paths: Iterable[Path]) -> None:
    """No file may be in place before all of them can be."""
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, and a file is needed; choose another --out")
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"{path}: cannot be written to; choose another --out")


def check_file(path: Path) -> None:
    """The same as ``check_folder``, for a command that writes one file."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: its folder does not exist; choose another --out")
    check_destinations([path])
    device = path.exists() and not path.is_file()  # written to as it is, by no draft beside it
    if not device and not os.access(path.resolve().parent, os.W_OK):
        raise InputError(f"{path}: its folder cannot be written to; choose another --out")


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A hidden folder to write to; its files move to ``folder`` if all went well.

    Files of the same name are replaced, and that is said; no other file is touched.
    """
    created = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with hidden_folder(folder) as stage:
            yield stage
            replaced = move_all(stage, folder)
    except BaseException:
        for path in created:
            with suppress(OSError):  # not made yet, or somebody else has put a file there
                path.rmdir()
        raise
    if replaced:
        echo_notes([f"replaced in {folder}: {', '.join(replaced)}"])


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


def move_all(stage: Path, folder: Path) -> list[str]:
    """From the stage to the folder; the names of the files that were there before."""
    files = sorted(path.name for path in stage.iterdir())
    check_destinations(folder / name for name in files)
    replaced = [name for name in files if (folder / name).exists()]
    for name in files:
        os.replace(stage / name, folder / name)
    return replaced


def write_atomically(path: Path, text: str) -> None:
    """The old file or the new one, never half of one; replacing a file is said."""
    check_file(path)
    existed = path.exists()
    try:
        if existed and not path.is_file():
            # A device or a pipe has nothing to keep, and a file in its place would do harm.
            path.write_text(text, encoding="utf-8", newline="")
            return
        real = path.resolve()  # a link stays one
        with tempfile.TemporaryDirectory(prefix=HIDDEN, dir=real.parent) as stage:
            draft = Path(stage) / "draft"
            draft.write_text(text, encoding="utf-8", newline="")
            os.replace(draft, real)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
    if existed:
        echo_notes([f"replaced: {path}"])


def find_model(path: Path) -> Path:
    """The model file; a folder stands for the one that ``fit`` has written to it."""
    if not path.is_dir():
        return path
    if not (path / MODEL).is_file():
        raise InputError(f"{path}: is a folder without a {MODEL}; name a model file")
    return path / MODEL


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as comma separated values."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def make_model(result: FitResult, log2_floor: float | None = None) -> LinearModel:
    """The model file's content: the selected features, and where they come from."""
    from dataclasses import asdict

    from ..io.model import LinearModel

    solution, scaler = result.estimator.solution_, result.standardizer
    info = {
        "method": "sparse-lda",
        "k": result.k,
        "criterion": solution.criterion,
        "shrinkage": float(result.estimator.shrinkage_),
        "solver": solution.solver,
        "status": str(solution.status),
        "objective": solution.objective,
        "bound": finite_or_none(solution.bound),
        "gap": finite_or_none(solution.gap),
        "eigensieve": __version__,
        "target": result.target,
        "n_samples": result.n_samples,
        "n_features": len(result.names),
        "seed": result.seed,
        "fingerprint": result.fingerprint,
        "error": None if result.error is None else asdict(result.error),
    }
    return LinearModel.from_discriminant(
        result.estimator, result.names, scaler.center, scaler.scale, log2_floor, info
    )


def write_fit(
    stage: Path, result: FitResult, model: LinearModel, held_out: ErrorEstimate | None = None
) -> list[str]:
    """Model, tables and report; the names of the files, the report first."""
    from ..io.model import save_model
    from ..report.page import render_report
    from ..report.shared import write_report

    save_model(model, stage / MODEL)
    (stage / SELECTED).write_text(selected_csv(result), encoding="utf-8", newline="")
    (stage / CV).write_text(cv_csv(result), encoding="utf-8", newline="")
    html = render_report(result, command=command_line(), held_out=held_out)
    write_report(html, stage / REPORT)
    return [REPORT, MODEL, SELECTED, CV]


def selected_csv(result: FitResult) -> str:
    """The selected features, heaviest first."""
    further = range(1, len(result.selected[0].loadings))
    header = ["rank", "name", "loading", "weight", *(f"loading_{d + 1}" for d in further)]
    rows = (
        [s.rank, s.name, float(s.loadings[0]), s.weight, *(float(s.loadings[d]) for d in further)]
        for s in result.selected
    )
    return csv_text(header, rows)


def cv_csv(result: FitResult) -> str:
    """The error for every k; the header only, where no class could be cross-validated."""
    header = ("k", "error", "se", "balanced_error")
    table = [] if result.cv is None else result.cv.table()
    return csv_text(header, ([row[name] for name in header] for row in table))


def command_line() -> str:
    """The command as typed."""
    return shlex.join(["eigensieve", *click.get_current_context().meta.get(ARGS, [])])
