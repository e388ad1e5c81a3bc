"""The files of a fitted model: all of them are written, or none."""

from __future__ import annotations

import csv
import io
import json
import os
import shlex
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from ..errors import EigensieveError, InputError, ModelFileError
from ..io.replacing import replace_file
from ._common import ARGS, echo_notes, finite_or_none

if TYPE_CHECKING:
    from ..io.model import LinearModel
    from ..studies.estimates import ErrorEstimate
    from ..studies.result import Study

REPORT, MODEL, SELECTED, CV = "report.html", "model.json", "selected.csv", "cv.csv"
STABILITY = "stability.csv"
COMPARISON, COMPARISON_JSON = "comparison.csv", "comparison.json"
HIDDEN = ".eigensieve-"  # how the name of a draft begins


def check_folder(
    folder: Path, files: Sequence[str] = (REPORT, MODEL, SELECTED, CV, STABILITY)
) -> None:
    """Find out before the work, not after it, that nothing could be written."""
    there = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    if not there.is_dir():
        raise InputError(f"{there}: is a file, and a folder is needed there; choose another --out")
    if not os.access(there, os.W_OK):
        raise InputError(f"{there}: cannot be written to; choose another --out")
    check_destinations(folder / name for name in files)


def check_destinations(paths: Iterable[Path], word: str = "--out") -> None:
    """No file may be in place before all of them can be; ``word`` is what the command calls it."""
    for path in paths:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, and a file is needed; choose another {word}")
        if path.exists() and not os.access(path, os.W_OK):
            raise InputError(f"{path}: cannot be written to; choose another {word}")


def check_file(path: Path, word: str = "--out") -> None:
    """The same as ``check_folder``, for a command that writes one file."""
    if not path.parent.is_dir():
        raise InputError(f"{path}: its folder does not exist; make it, or choose another {word}")
    check_destinations([path], word)
    device = path.exists() and not path.is_file()  # written to as it is, by no draft beside it
    if not device and not os.access(path.resolve().parent, os.W_OK):
        raise InputError(f"{path}: its folder cannot be written to; choose another {word}")


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
        replaced = move_all(stage, folder)
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


def write_atomically(path: Path, content: str | bytes) -> None:
    """The old file or the new one, never half of one; replacing a file is said."""
    check_file(path)
    existed = path.exists()
    try:
        if existed and not path.is_file():
            # A device or a pipe has nothing to keep, and a file in its place would do harm.
            path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
            return
        replace_file(path.resolve(), content)  # a link stays one
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


def is_complete(folder: Path) -> bool:
    """Whether the folder has the model of a study that came to its end."""
    from ..io.model import load_model

    try:
        return not load_model(folder / MODEL).info.get("unfinished")
    except (EigensieveError, OSError):
        return False


def is_finished(results: Path) -> bool:
    """Whether a JSON file has the results of a run that came to its end."""
    try:
        return not json.loads(results.read_bytes())["unfinished"]
    except (OSError, ValueError, KeyError, TypeError):
        return False


def protect(
    folder: Path, unfinished: Sequence[str], complete: bool, *, resumes: bool = True
) -> None:
    """Let no half of a study take the place of a whole one."""
    if unfinished and complete:
        hope = "; the same command goes on from there" if resumes else ""
        raise KeyboardInterrupt(
            f"{'; '.join(unfinished)}; nothing was written: {folder} keeps the complete results "
            f"of an earlier run{hope}"
        )


def csv_text(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Rows as comma separated values."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return buffer.getvalue()


def make_model(study: Study) -> LinearModel:
    """The model file's content: the selected features, and where they come from."""
    from dataclasses import asdict

    from ..io.model import LinearModel

    model, solution, source = study.final_estimator, study.solution, study.source
    scaler, error = model.standardizer_, study.honest_error
    info = {
        "method": study.setting,
        "k": study.best_k,
        "criterion": solution.criterion,
        "shrinkage": getattr(model.estimator_, "shrinkage_", None),
        "solver": solution.solver,
        "status": str(solution.status),
        "objective": solution.objective,
        "bound": finite_or_none(solution.bound),
        "gap": finite_or_none(solution.gap),
        "eigensieve": __version__,
        "target": source.target,
        "n_samples": study.n_samples,
        "n_features": len(study.names),
        "seed": source.seed,
        "fingerprint": source.fingerprint,
        "error": None if error is None else asdict(error.estimate),
    }
    if source.layer is not None:
        info["layer"] = source.layer
    if study.unfinished:
        info["unfinished"] = list(study.unfinished)
    return LinearModel.from_discriminant(
        model.estimator_, study.names, scaler.center, scaler.scale, source.log2_floor, info,
        fill=scaler.fill,
    )  # fmt: skip


def write_study(
    stage: Path, study: Study, model: LinearModel, held_out: ErrorEstimate | None = None
) -> list[str]:
    """Model, tables and report; the names of the files, the report first."""
    from ..io.model import save_model
    from ..report.page import render_study
    from ..report.shared import write_report

    save_model(model, stage / MODEL)
    for name, text in (
        (SELECTED, selected_csv(study)),
        (CV, cv_csv(study)),
        (STABILITY, stability_csv(study)),
    ):
        (stage / name).write_text(text, encoding="utf-8", newline="")
    html = render_study(study, command=command_line(), held_out=held_out)
    write_report(html, stage / REPORT)
    return [REPORT, MODEL, SELECTED, CV, STABILITY]


def selected_csv(study: Study) -> str:
    """The selected features, heaviest first, with all that is known about each."""
    further = range(1, len(study.selected[0].loadings))
    about = study.source.annotation_columns
    header = ["rank", "name", "loading", "weight", *(f"loading_{d + 1}" for d in further)]
    header += ["selection_frequency", "price", "stand_ins", *about]
    often = study.frequency[study.ks.index(study.best_k)] if len(study.frequency) else None
    prices = {price.index: price for price in study.prices}
    rows = []
    for s in study.selected:
        price = prices.get(s.index)
        row: list[Any] = [
            s.rank,
            s.name,
            s.loadings[0],
            s.weight,
            *(s.loadings[d] for d in further),
        ]
        row.append("" if often is None else float(often[s.index]))
        row.append("" if price is None else price.loss)
        row.append("" if price is None else "; ".join(other.name for other in price.stand_ins))
        rows.append([*row, *study.source.annotations.get(s.name, ("",) * len(about))])
    return csv_text(header, rows)


def cv_csv(study: Study) -> str:
    """The error for every k; the header only, where no class could be cross-validated."""
    header = ["k", "error", "se", "balanced_error", "auc", "n_features"]
    header += ["setting"] if len(study.settings) > 1 else []
    rows = ([_known(row[name]) for name in header] for row in study.rows)
    return csv_text(header, rows)


def stability_csv(study: Study) -> str:
    """How often each feature was selected, for every k; features never selected are left out."""
    ks = study.ks if len(study.frequency) else ()
    header = ["name", *(f"k={k}" for k in ks)]
    rows = (
        [name, *often] for name, often in zip(study.names, study.frequency.T.tolist()) if any(often)
    )
    return csv_text(header, rows)


def _known(value: Any) -> Any:
    """An empty cell for what is not a number."""
    return "" if isinstance(value, float) and value != value else value


def command_line() -> str:
    """The command as typed."""
    return shlex.join(["eigensieve", *click.get_current_context().meta.get(ARGS, [])])
