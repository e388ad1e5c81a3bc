"""``eigensieve fit``: from a table to a model and a report."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _common as common
from ._common import describe_error, echo_json, echo_notes, echo_table, percent
from ._outputs import MODEL, SELECTED, check_folder, make_model, staged, write_fit
from ._study import Task, check_task, find_features, run_task

if TYPE_CHECKING:
    import numpy as np

    from ..studies.fitting import FitResult

MOST_SHOWN = 20


def check_solver(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """One of the solvers there are; asked for only when a command runs."""
    from ..solvers.dispatch import available_solvers

    solvers = available_solvers()
    if value not in solvers:
        raise click.BadParameter(f"{value!r} is not one of {', '.join(solvers)}.")
    return value


@click.command("fit")
@common.table_argument
@common.target_option
@click.option(
    "--k",
    metavar="N|auto",
    type=common.WholeOrAuto(),
    default="auto",
    show_default=True,
    help="How many features; auto: the 1-SE rule of cross-validation.",
)
@click.option(
    "--method",
    type=click.Choice(["sparse-lda"]),
    default="sparse-lda",
    show_default=True,
    help="What is fitted.",
)
@click.option(
    "--solver",
    default="greedy",
    show_default=True,
    callback=check_solver,
    metavar="NAME",
    help="How the features are searched; an unknown NAME lists those there are.",
)
@common.criterion_option
@common.shrinkage_option
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
@common.ignore_option
@common.transpose_option
@click.option(
    "--log2",
    is_flag=True,
    help="Take log2 of all features first; the model does the same to new rows.",
)
@common.log2_floor_option
@common.seed_option
@common.jobs_option
@click.option(
    "--time-limit",
    type=common.Positive(),
    metavar="SECONDS",
    help="For each search, also those of cross-validation; the best set so far is taken.",
)
@click.option(
    "--out",
    type=common.FILE,
    default="eigensieve-out",
    show_default=True,
    metavar="DIR",
    help="Folder for report.html, model.json, selected.csv and cv.csv.",
)
@common.json_option
def fit_command(
    table: Path, target: str, out: Path, as_json: bool, transpose: bool, ignore: list[str],
    log2: bool, log2_floor: float | None, **wishes: Any,
) -> None:  # fmt: skip
    """Select features from TABLE, estimate the error, write model and report.

    TABLE is a .csv, .tsv, .txt (also .gz), .parquet or .npz file with one row per sample. All
    columns but the target, and a column of row names, must hold numbers.
    """
    from ..io.tables import read_table

    floor = resolve_floor(log2, log2_floor)
    check_folder(out)
    data = read_table(table, target, transpose=transpose, ignore=ignore)
    assert data.target is not None
    notes = list(data.notes)
    X = data.X if floor is None else take_log2(data.X, floor, notes)
    task = make_task(X, data.target, data.names, target.strip(), wishes)
    check_task(task)
    echo_notes(notes)
    with common.progress_bar() as progress:
        result = run_task(task, progress)
    echo_notes(result.notes)
    result = replace(result, notes=notes + result.notes, log2_floor=floor)
    with staged(out) as stage:
        files = write_fit(stage, result, make_model(result, floor))
    if as_json:
        echo_json(as_plain(result, out, files))
    else:
        echo_summary(result, out, files)
    if result.interrupted:
        raise KeyboardInterrupt(f"the best model so far is in {out}")


def resolve_floor(log2: bool, floor: float | None) -> float | None:
    """What values are raised to before log2; None without --log2."""
    if floor is not None and not log2:
        raise click.UsageError("--log2-floor needs --log2.")
    return (floor or 1.0) if log2 else None


def take_log2(X: np.ndarray, floor: float, notes: list[str]) -> np.ndarray:
    """log2 of the features, and a note if values had to be raised."""
    import numpy as np

    low = int(np.less(X, floor).sum())
    if low:
        notes.append(f"{low} of {X.size} values lie below {floor:g} and were raised to it (log2).")
    return np.log2(np.maximum(X, floor))


def make_task(
    X: np.ndarray, y: np.ndarray, names: list[str], target: str, wishes: dict[str, Any]
) -> Task:
    """The options in the words of the library."""
    import joblib

    from ..estimators.sparse_lda import SparseLDA

    estimator = SparseLDA(
        solver=wishes["solver"],
        criterion=wishes["criterion"],
        shrinkage=wishes["shrinkage"],
        include=find_features(wishes["include"], names, "--include"),
        exclude=find_features(wishes["exclude"], names, "--exclude"),
        time_limit=wishes["time_limit"],
        random_state=wishes["seed"],
    )
    jobs = wishes["jobs"] or joblib.cpu_count()
    return Task(X, y, names, target, wishes["k"], estimator, wishes["seed"], jobs)


def as_plain(result: FitResult, out: Path, files: Sequence[str]) -> dict[str, Any]:
    """The result as JSON values."""
    solution, error = result.estimator.solution_, result.error
    return {
        "k": result.k,
        "k_rule": result.k_rule,
        "features": [feature.name for feature in result.selected],
        "error": None if error is None else error.error,
        "interval": None if error is None else [error.low, error.high],
        "error_from": None if error is None else error.how,
        "balanced_error": result.balanced_error,
        "objective": solution.objective,
        "bound": common.finite_or_none(solution.bound),
        "gap": common.finite_or_none(solution.gap),
        "status": str(solution.status),
        "solver": solution.solver,
        "criterion": solution.criterion,
        "shrinkage": float(result.estimator.shrinkage_),
        "n_samples": result.n_samples,
        "n_features": len(result.names),
        "notes": result.notes,
        "files": {Path(name).stem: str(out / name) for name in files},
    }


def echo_summary(result: FitResult, out: Path, files: Sequence[str]) -> None:
    """What was selected, how good it is, and where it is."""
    classes = common.describe_classes(result.labels)
    click.echo(f"{result.k} of {len(result.names)} features selected, from {classes}\n")
    echo_features(result)
    click.echo(f"k      {result.k}: {result.k_rule}")
    if result.error is None:
        click.echo("error  not estimated")
    else:
        click.echo(f"error  {describe_error(result.error)}, {result.error.how}")
    if result.balanced_error is not None:
        click.echo(f"       balanced error {percent(result.balanced_error)} (cross-validation)")
    click.echo(f"search {describe_search(result)}")
    click.echo(f"files  {', '.join(files)} in {out}")
    click.echo(f"next   eigensieve predict {shlex.quote(str(out / MODEL))} NEW_TABLE")


def echo_features(result: FitResult) -> None:
    """The selected features, heaviest first, with at most three loadings each."""
    m = min(3, len(result.selected[0].loadings))
    loadings = ["loading"] if m == 1 else [f"loading {d + 1}" for d in range(m)]
    rows = (
        [str(s.rank), s.name, f"{s.weight:.3f}", *(f"{x:+.3f}" for x in s.loadings[:m])]
        for s in result.selected[:MOST_SHOWN]
    )
    echo_table(["rank", "feature", "weight", *loadings], rows, left={1})
    more = len(result.selected) - MOST_SHOWN
    click.echo(f"  ... and {more} more in {SELECTED}\n" if more > 0 else "")


def describe_search(result: FitResult) -> str:
    """Solver, criterion and what is known of the optimum, in a line."""
    solution = result.estimator.solution_
    wishes = [*result.estimator.include, *result.estimator.exclude]
    status = "" if solution.is_certified else f"{solution.status}, "
    return (
        f"{solution.solver}, {solution.criterion} {solution.objective:.4g}, "
        f"shrinkage {result.estimator.shrinkage_:.3g}; {status}"
        f"{common.describe_bound(solution, constrained=bool(wishes))}"
    )
