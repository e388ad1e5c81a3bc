"""``eigensieve demo``: the main job on an embedded table, checked on samples kept apart."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from . import _common as common
from ._common import describe_error, percent
from ._destinations import check_folder, staged
from ._outputs import (
    CV,
    MODEL,
    PANELS,
    REPORT,
    SELECTED,
    STABILITY,
    STUDY_FILES,
    csv_text,
    is_complete,
    protect,
    write_study,
)
from ._study import run_watched
from ._summary import describe_stability, echo_features, echo_panels
from .evaluate import Evaluation, evaluate_model

if TYPE_CHECKING:
    import numpy as np

    from ..datasets.loader import NamedTable
    from ..studies.result import Study
    from ..studies.running.runner import StageProgress

TARGET, TRAINING, HELD_OUT = "diagnosis", "training.csv", "heldout.csv"


@click.command("demo")
@common.out_option("eigensieve-demo", "Folder for the report, the model and the tables.")
@common.seed_option
def demo_command(out: Path, seed: int) -> None:  # fmt: skip
    """The whole story on an embedded table: select, report, check on held-out samples.

    569 tumours of the breast with 30 measurements each. A third is held out; on the rest, the
    features are selected and the model is fitted; then the held-out third is classified.
    """
    import numpy as np
    from sklearn.model_selection import train_test_split

    from ..datasets.loader import load_table

    check_folder(out, (*STUDY_FILES, TRAINING, HELD_OUT))
    table = load_table("breast_cancer")
    rows = np.arange(len(table.y))
    train, test = train_test_split(rows, test_size=1 / 3, stratify=table.y, random_state=seed)
    train, test = np.sort(train), np.sort(test)
    click.echo(
        f"Breast cancer (Wisconsin): {len(rows)} tumours, {len(table.names)} measurements each, "
        f"benign or malignant?\n{len(test)} tumours are held out; "
        f"features and model come from the other {len(train)}.\n"
    )
    with common.progress_bar() as progress:
        result = study_part(table, train, seed, progress)
    protect(out, result.unfinished, is_complete(out), resumes=False)
    with staged(out) as stage:
        found = write_demo(stage, table, result, train, test)
    echo_story(result, found, all_features_error(table, train, test))
    echo_next(out)
    if result.interrupted:
        raise KeyboardInterrupt(f"{'; '.join(result.unfinished)}; what was done so far is in {out}")


def study_part(table: NamedTable, train: np.ndarray, seed: int, progress: StageProgress) -> Study:
    """What the command makes of the samples that are not held out."""
    from ..estimators.sparse_lda import SparseLDA
    from ..studies.data import check_data
    from ..studies.plan import make_plan

    data = check_data(table.X[train], table.y[train], None, table.names, "error", TARGET)
    plan = make_plan(data, {"sparse-lda": SparseLDA(random_state=seed)}, random_state=seed)
    return run_watched(data, plan, 2, progress)


def write_demo(
    stage: Path, table: NamedTable, result: Study, train: np.ndarray, test: np.ndarray
) -> Evaluation:
    """Every file of the demo; the held-out samples are judged by the model file as read back."""
    from ..io.model import load_model

    for name, rows in ((TRAINING, train), (HELD_OUT, test)):
        (stage / name).write_text(table_csv(table, rows), encoding="utf-8", newline="")
    result.save_model(stage / MODEL)
    rule = load_model(stage / MODEL)
    columns = [table.names.index(name) for name in rule.features]
    found = evaluate_model(rule, table.X[test][:, columns], table.y[test], "held-out samples")
    write_study(stage, result, found.error)
    return found


def table_csv(table: NamedTable, rows: np.ndarray) -> str:
    """Rows of the table as a user would have them, numbers exact."""
    lines = (
        [f"tumour_{i + 1}", *values, label]
        for i, values, label in zip(rows.tolist(), table.X[rows].tolist(), table.y[rows].tolist())
    )
    return csv_text(["sample", *table.names, TARGET], lines)


def all_features_error(table: NamedTable, train: np.ndarray, test: np.ndarray) -> float:
    """The same classifier without selection, on the same split."""
    from ..estimators.sparse_lda import SparseLDA
    from ..studies.standardize import Standardizer

    scaler = Standardizer.fit(table.X[train])
    model = SparseLDA(len(table.names)).fit(scaler.apply(table.X[train]), table.y[train])
    return 1.0 - float(model.score(scaler.apply(table.X[test]), table.y[test]))


def echo_story(result: Study, found: Evaluation, error_of_all: float) -> None:
    """Selection, error and comparison."""
    click.echo(f"Selected: {result.best_k} of {len(result.names)} features")
    click.echo(f"(k is the {result.k_rule})\n")
    echo_features(result)
    if result.claim:
        click.echo(f"{result.claim}: proved.")
    if result.near_optimal is not None:
        echo_panels(result.near_optimal)
    if stability := describe_stability(result):
        click.echo(f"Stability of the choice: {stability}")
    if result.honest_error is not None:
        estimate = result.honest_error.estimate
        click.echo(f"Error expected by cross-validation: {describe_error(estimate)}")
    click.echo(
        f"Error on the {found.error.n_samples} held-out tumours: {describe_error(found.error)}\n"
        f"With all {len(result.names)} features the same classifier has an error of "
        f"{percent(error_of_all)} on these.\n"
    )


def echo_next(out: Path) -> None:
    """Commands that work as they stand."""

    def path(name: str) -> str:
        return shlex.quote(str(out / name))

    click.echo("Try next:")
    click.echo(f"  eigensieve predict {path(MODEL)} {path(HELD_OUT)}")
    click.echo(f"  eigensieve evaluate {path(MODEL)} {path(HELD_OUT)} --target {TARGET}")
    click.echo(f"  eigensieve fit {path(TRAINING)} --target {TARGET}\n")
    files = (MODEL, SELECTED, CV, STABILITY, PANELS, TRAINING, HELD_OUT)
    click.echo(f"Written to {out}: {', '.join(files)}")
    click.echo(f"Open the report: {out / REPORT}")
