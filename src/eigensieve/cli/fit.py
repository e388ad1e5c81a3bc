"""``eigensieve fit``: from a table to a model and a report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _common as common
from . import _types as types
from ._common import echo_json, echo_notes
from ._outputs import check_folder, is_complete, make_model, protect, staged, write_study
from ._resume import resumable
from ._study import FitRequest, about_sizes, check_request, find_features, run_request
from ._summary import as_plain, echo_summary
from ._tables import (
    StudyTable,
    about_groups,
    add_annotations,
    annotations_option,
    read_study_table,
    table_options,
    without_features,
)

if TYPE_CHECKING:
    from ..studies.methods import Method
    from ..studies.result import Study


@click.command("fit")
@common.table_argument
@table_options
@click.option(
    "--k",
    metavar="N|auto",
    type=types.WholeOr("auto"),
    default="auto",
    show_default=True,
    help="How many features; auto: the 1-SE rule of cross-validation.",
)
@common.ks_option("1,2,3,5,7,10,15,20,30,50")
@common.method_option
@click.option(
    "--solver",
    metavar="NAME",
    help="How the features are searched; an unknown NAME lists those of the method.  "
    "[default: greedy for sparse-lda]",
)
@common.criterion_option
@click.option(
    "--shrinkage",
    metavar="S[,S]",
    type=types.Shares(),
    help="Weight of the diagonal in the within-class scatter: auto, or 0 to 1; of several, "
    "separated by commas, the best is chosen along with k.  [default: auto]",
)
@common.balanced_option
@click.option(
    "--include",
    multiple=True,
    metavar="A,B",
    callback=common.split_names,
    help="Features that must be selected.",
)
@click.option(
    "--exclude",
    multiple=True,
    metavar="A,B",
    callback=common.split_names,
    help="Features that must not be selected.",
)
@annotations_option
@common.cv_option
@common.repeats_option(5)
@click.option(
    "--permutations",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    show_default=True,
    help="Do it all again with permuted labels N times (100, say), for a p-value.",
)
@common.seed_option
@common.jobs_option
@click.option(
    "--time-limit",
    type=types.Positive(),
    metavar="SECONDS",
    help="For each search, also those of cross-validation; the best set so far is taken.",
)
@click.option(
    "--out",
    type=common.FILE,
    default="eigensieve-out",
    show_default=True,
    metavar="DIR",
    help="Folder for report.html, model.json, selected.csv, cv.csv and stability.csv.",
)
@common.json_option
def fit_command(
    table: Path, target: str, out: Path, as_json: bool, annotations: Path | None,
    groups: str | None, missing: str, ignore: list[str], transpose: bool, layer: str | None,
    log2: bool, log2_floor: float | None, **options: Any,
) -> None:  # fmt: skip
    """Select features from TABLE, estimate the error, write model and report.

    TABLE is a .csv, .tsv, .txt (also .gz), .parquet or .npz file with one row per sample. All
    columns but the target, and a column of row names, must hold numbers. Of an .h5ad file (AnnData)
    the target is a column of .obs, and the features are the genes.
    """
    from dataclasses import replace

    from ..studies.methods import find_method

    find_method(options["method"]).check_solver(options["solver"])
    check_folder(out)
    data = read_study_table(
        table, target, groups, missing, ignore, transpose, log2, log2_floor, layer
    )
    data.notes += about_groups(data, groups)
    add_annotations(data, annotations)
    request = make_request(data, target.strip(), missing, options)
    check_request(request)
    data.notes += about_sizes(request)
    echo_notes(data.notes)
    with resumable(out) as kept:
        with common.progress_bar() as progress:
            study = run_request(request, progress, kept, **data.source)
        echo_notes(study.notes)
        protect(out, study.unfinished, is_complete(out))
        remarks = about_repeated(study, data.repeated)
        study = replace(study, notes=(*data.notes, *study.notes, *remarks))
        with staged(out) as stage:
            files = write_study(stage, study, make_model(study))
        if as_json:
            echo_json(as_plain(study, out, files))
        else:
            echo_summary(study, out, files)
        echo_notes(remarks)
        if study.interrupted:
            raise KeyboardInterrupt(
                f"{'; '.join(study.unfinished)}; the best model so far is in {out}; the same "
                "command goes on from there"
            )


def about_repeated(study: Study, repeated: frozenset[str]) -> list[str]:
    """Say it where the model cannot be applied to the very table it comes from."""
    names = [feature.name for feature in study.selected if feature.name in repeated]
    if not names:
        return []
    note = f"{len(names)} selected feature(s) had repeated names: {', '.join(map(repr, names))}; "
    return [f"{note}predict cannot tell them apart: rename the columns and fit again."]


def make_request(
    table: StudyTable, target: str, missing: str, options: dict[str, Any]
) -> FitRequest:
    """The options in the words of the library."""
    from ..studies.methods import find_method

    method = find_method(options["method"])
    if options["exclude"] and not method.has("exclude"):
        without_features(table, options["exclude"], "--exclude")
        options = {**options, "exclude": []}
    settings = make_settings(method, table.names, options)
    return FitRequest(
        table.X,
        table.y,
        table.names,
        target,
        options["k"],
        settings,
        seed=options["seed"],
        n_jobs=common.count_jobs(options["jobs"]),
        groups=table.groups,
        missing=missing,
        score="balanced_error" if options["balanced"] else "error",
        cv=options["cv"],
        n_repeats=options["repeats"],
        n_permutations=options["permutations"],
        ks=options["ks"],
    )


def make_settings(method: Method, names: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """The estimator by name; one for each value of --shrinkage."""
    given = {
        "solver": options["solver"],
        "criterion": None if options["criterion"] == "auto" else options["criterion"],
        "class_weight": "balanced" if options["balanced"] else None,
        "include": find_features(options["include"], names, "--include"),
        "exclude": find_features(options["exclude"], names, "--exclude"),
        "time_limit": options["time_limit"],
    }
    values = options["shrinkage"] or [None]
    seed = options["seed"]
    if len(values) == 1:
        return {method.name: method.make(seed, shrinkage=values[0], **given)}
    return {
        f"{method.name}, shrinkage {value}": method.make(seed, shrinkage=value, **given)
        for value in values
    }
