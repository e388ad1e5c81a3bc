"""``eigensieve fit``: from a table to a model and a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _common as common
from . import _types as types
from ._common import echo_json, echo_notes
from ._destinations import check_folder, staged
from ._limits import LimitOptions, limit_options
from ._outputs import PROOF, STUDY_FILES, is_complete, protect, write_study
from ._proof import check_proof_wanted, write_proof
from ._resume import resumable
from ._study import (
    TO_CHOOSE,
    TO_PREFER,
    about_sizes,
    check_classes,
    find_features,
    run_watched,
    sizes_to_try,
)
from ._summary import as_plain, echo_summary
from ._tables import (
    StudyTable,
    read_for_study,
    table_options,
    without_features,
)

if TYPE_CHECKING:
    from ..studies.data import StudyData
    from ..studies.methods import Method
    from ..studies.plan import StudyPlan
    from ..studies.result import Study

PREFERENCES = ("stable", "cheap")
DEFAULT = "sparse-lda"


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
    "[default: auto for sparse-lda]",
)
@click.option(
    "--effort",
    metavar="quick|normal|high|N",
    type=types.NumberOr("quick", "normal", "high"),
    help="How much work --solver auto may do to prove the final sets best: about .3, 3 or 30 "
    "seconds each, counted so that the result is the same on every machine; 0: a quick bound "
    "only.  [default: normal]",
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
@common.names_option("--include", "Features that must be selected.")
@common.names_option("--exclude", "Features that must not be selected.")
@limit_options(shows_annotations=True)
@click.option(
    "--prefer",
    type=click.Choice(PREFERENCES),
    help="Which set is taken, of those that are nearly as good as the best: the one whose features "
    "are selected most often in cross-validation, or the cheapest by --costs.  [default: the best]",
)
@click.option(
    "--within",
    type=types.Percent(),
    metavar="P%",
    default="1%",
    show_default=True,
    help="How far below the best a set may be that is nearly as good: these are listed as panels.",
)
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
    "--proof",
    is_flag=True,
    help="Also write best.proof, which shows what is proved of the selected set: "
    '"eigensieve check-proof" verifies it.',
)
@common.out_option(
    "eigensieve-out",
    "Folder for report.html, model.json, selected.csv, cv.csv, stability.csv and panels.csv.",
)
@common.json_option
def fit_command(
    table: Path, target: str, out: Path, as_json: bool, limits: LimitOptions, proof: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Select features from TABLE, estimate the error, write model and report.

    TABLE is a .csv, .tsv, .txt (also .gz), .parquet or .npz file with one row per sample. All
    columns but the target, and a first column of row names, must hold numbers. Of an .h5ad file
    (AnnData) the target is a column of .obs, and the features are the genes.
    """
    from dataclasses import replace

    from ..studies.methods import find_method

    method = find_method(options["method"])
    method.check_solver(options["solver"])
    limits.check_method(method)
    if options["prefer"] is not None and method.name != DEFAULT:
        raise click.UsageError(f"--prefer is for method {DEFAULT}, which can list such sets.")
    if options["effort"] is not None and options["solver"] not in (None, "auto"):
        raise click.UsageError(
            f"--effort is about --solver auto; {options['solver']} does not use it."
        )
    check_folder(out, [*STUDY_FILES, *([PROOF] if proof else [])])
    read = read_for_study(table, target, options)
    if proof:
        check_proof_wanted(read, options)
    options["constraints"] = limits.read(read)
    is_cheap = options["prefer"] == "cheap"
    options["prices"] = limits.read_costs(read) if is_cheap else None
    data, plan = plan_study(read, target.strip(), options)
    read.notes += about_sizes(plan.settings, len(data.names), options["ks"])
    echo_notes([*read.notes, *data.about_rows])
    n_jobs = common.count_jobs(options["jobs"])
    with resumable(out) as kept:
        with common.progress_bar() as progress:
            study = run_watched(data, plan, n_jobs, progress, kept, **read.source)
        echo_notes(note for note in study.notes if note not in data.about_rows)
        protect(out, study.unfinished, is_complete(out))
        remarks = about_repeated(study, read.repeated)
        study = replace(study, notes=(*read.notes, *study.notes, *remarks))
        with staged(out) as stage:
            written = None
            if proof and not study.interrupted:
                written = write_proof(stage / PROOF, out, table, read, study, options)
            files = write_study(stage, study, proof=written)
        if as_json:
            echo_json(as_plain(study, out, files, written))
        else:
            echo_summary(study, out, files, written)
        echo_notes(about_old_proof(out, files))
        echo_notes(remarks)
        if study.interrupted:
            raise KeyboardInterrupt(
                f"{'; '.join(study.unfinished)}; the best model so far is in {out}; the same "
                "command goes on from there"
            )
        if written is not None and written.is_unfinished:
            raise KeyboardInterrupt(
                f"{PROOF} shows what was proved by then; the same command writes it anew"
            )


def about_old_proof(out: Path, files: Sequence[str]) -> list[str]:
    """Say it where an earlier run has left a proof of another model."""
    if PROOF in files or not (out / PROOF).exists():
        return []
    return [f"{out / PROOF} is of an earlier run, not about this model; --proof writes it anew."]


def about_repeated(study: Study, repeated: frozenset[str]) -> list[str]:
    """Say it where the model cannot be applied to the very table it comes from."""
    names = [feature.name for feature in study.selected if feature.name in repeated]
    if not names:
        return []
    note = f"{len(names)} selected feature(s) had repeated names: {', '.join(map(repr, names))}; "
    return [f"{note}predict cannot tell them apart: rename the columns and fit again."]


def plan_study(
    table: StudyTable, target: str, options: dict[str, Any]
) -> tuple[StudyData, StudyPlan]:
    """The table and the options in the words of the library, checked."""
    from ..studies.data import check_data
    from ..studies.methods import find_method
    from ..studies.plan import make_plan

    method, k = find_method(options["method"]), options["k"]
    if options["exclude"] and not method.has("exclude"):
        without_features(table, options["exclude"], "--exclude")
        options = {**options, "exclude": []}
    settings = make_settings(method, table.names, options)
    purpose = TO_PREFER if options["prefer"] == "stable" else None
    if k == "auto" or len(settings) > 1:
        purpose = TO_CHOOSE
    check_classes(table.y, target, None if options["cv"] == "loo" else purpose)
    ks = sizes_to_try(settings, len(table.names), k, options["ks"])
    given = table.X, table.y, table.groups, table.names
    data = check_data(*given, options["missing"], target, table.rows)
    plan = make_plan(
        data, settings, ks=ks, k=k, cv=options["cv"], n_repeats=options["repeats"],
        n_permutations=options["permutations"], score=common.score_of(options),
        random_state=options["seed"], prefer=options["prefer"], within=options["within"],
        costs=options["prices"], flag="--",
    )  # fmt: skip
    return data, plan


def make_settings(method: Method, names: list[str], options: dict[str, Any]) -> dict[str, Any]:
    """The estimator by name; one for each value of --shrinkage."""
    given = {
        "solver": options["solver"],
        "effort": options["effort"],
        "criterion": None if options["criterion"] == "auto" else options["criterion"],
        "class_weight": "balanced" if options["balanced"] else None,
        "include": find_features(options["include"], names, "--include"),
        "exclude": find_features(options["exclude"], names, "--exclude"),
        "constraints": options["constraints"],
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
