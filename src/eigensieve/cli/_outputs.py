"""The files of a study: their names, what is in them, and whether they are complete."""

from __future__ import annotations

import csv
import io
import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import EigensieveError, InputError
from ._common import ARGS, finite_or_none
from ._guard import add_input

if TYPE_CHECKING:
    import numpy as np

    from ..io.model import LinearModel
    from ..pencil.solution import Solution
    from ..search.near_optimal.sets import NearOptimalSets
    from ..studies.estimates import ErrorEstimate
    from ..studies.result import Study

REPORT, MODEL, SELECTED, CV = "report.html", "model.json", "selected.csv", "cv.csv"
STABILITY = "stability.csv"
PANELS, PANEL_FEATURES, PANELS_PAGE = "panels.csv", "features.csv", "panels.html"
PROOF = "best.proof"
STUDY_FILES = (REPORT, MODEL, SELECTED, CV, STABILITY, PANELS)
COMPARISON, COMPARISON_JSON = "comparison.csv", "comparison.json"


@dataclass(frozen=True)
class WrittenProof:
    """A proof that was written: what it shows, and how to check it.

    Attributes
    ----------
    shown : the selected set with the bound that the file shows
    less : what the file shows, in words, if that is less than what is known; else None
    command : the command that checks it
    """

    shown: Solution
    less: str | None
    command: str

    @property
    def is_unfinished(self) -> bool:
        """Whether Ctrl-C ended it."""
        from ..pencil.solution import Status

        return self.shown.status is Status.INTERRUPTED

    def as_plain(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "bound": finite_or_none(self.shown.bound),
            "status": str(self.shown.status),
            "check": self.command,
        }


def find_model(path: Path) -> Path:
    """The model file; a folder stands for the one that ``fit`` has written to it."""
    if not path.is_dir():
        return path
    if not (path / MODEL).is_file():
        raise InputError(f"{path}: is a folder without a {MODEL}; name a model file")
    return add_input(path / MODEL)


def read_model(path: Path) -> LinearModel:
    """The model of a file, with its labels as tables have them: text."""
    from dataclasses import replace

    from ..io._cells import label
    from ..io.model import load_model

    rule = load_model(find_model(path))
    texts = (c if isinstance(c, str) else label(str(c)) for c in rule.classes)
    return replace(rule, classes=tuple(texts))


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


def write_study(
    stage: Path,
    study: Study,
    held_out: ErrorEstimate | None = None,
    proof: WrittenProof | None = None,
) -> list[str]:
    """Model, tables and report; the names of the files, the report first."""
    from ..report.page import render_study
    from ..report.shared import write_report

    study.save_model(stage / MODEL)
    for name, text in (
        (SELECTED, selected_csv(study)),
        (CV, cv_csv(study)),
        (STABILITY, stability_csv(study)),
        (PANELS, panels_csv(study.near_optimal, study.near_stability)),
    ):
        (stage / name).write_text(text, encoding="utf-8", newline="")
    html = render_study(study, command=command_line(), held_out=held_out, proof=proof)
    write_report(html, stage / REPORT)
    return [*STUDY_FILES, *([] if proof is None else [PROOF])]


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


def panels_csv(found: NearOptimalSets | None, stability: np.ndarray | None = None) -> str:
    """Panels as good as the best one, best first; the header only, where none were listed."""
    header = ["rank", "score", "loss", *([] if stability is None else ["stability"]), "features"]
    rows = []
    for i, members in enumerate([] if found is None else found.sets.tolist()):
        assert found is not None
        row: list[Any] = [i + 1, float(found.scores[i]), float(found.losses[i])]
        row += [] if stability is None else [float(stability[i])]
        rows.append([*row, "; ".join(map(found.name_of, members))])
    return csv_text(header, rows)


def panel_features_csv(found: NearOptimalSets) -> str:
    """Every feature that occurs, the most frequent first, and the best panel without it.

    ``in_all``: "proved" of all panels that are near, "listed" if of those in the list only.
    """
    import numpy as np

    header = ["name", "panels", "share", "in_all", "best_without", "loss_without"]
    order = np.argsort(-found.frequency, kind="stable")
    rows = []
    for j in order[: np.count_nonzero(found.frequency)].tolist():
        place, share = found.without(j), float(found.frequency[j])
        lost = ["", ""] if place is None else [place + 1, float(found.losses[place])]
        in_all = "" if share < 1 else "proved" if j in found.core else "listed"
        rows.append([found.name_of(j), round(share * found.n_sets), share, in_all, *lost])
    return csv_text(header, rows)


def _known(value: Any) -> Any:
    """An empty cell for what is not a number."""
    return "" if isinstance(value, float) and value != value else value


def command_line() -> str:
    """The command as typed."""
    return shlex.join(["eigensieve", *click.get_current_context().meta.get(ARGS, [])])
