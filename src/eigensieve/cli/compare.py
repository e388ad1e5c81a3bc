"""``eigensieve compare``: several methods side by side, under the same nested cross-validation."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..pencil.wording import counted
from . import _common as common
from ._common import echo_json, echo_notes, echo_table, percent
from ._destinations import check_folder, staged
from ._outputs import (
    COMPARISON,
    COMPARISON_JSON,
    REPORT,
    command_line,
    csv_text,
    is_finished,
    protect,
)
from ._resume import Kept, resumable
from ._study import TO_CHOOSE, about_sizes, check_classes
from ._tables import read_for_study, table_options

if TYPE_CHECKING:
    from ..studies.comparison import Comparison
    from ..studies.methods import Method
    from ..studies.running.runner import StageProgress

FILES = (REPORT, COMPARISON, COMPARISON_JSON)


@click.command("compare")
@common.table_argument
@table_options
@common.names_option(
    "--methods",
    "Which, the first being what the others are compared with; an unknown name lists those there "
    "are.  [default: all but slda, which is slow]",
)
@common.ks_option("1,2,5,10,20,50")
@common.balanced_option
@common.cv_option
@common.repeats_option(1)
@common.seed_option
@common.jobs_option
@common.out_option("eigensieve-compare", f"Folder for {', '.join(FILES)}.")
@common.json_option
def compare_command(table: Path, target: str, out: Path, as_json: bool, **options: Any) -> None:
    """The package's methods and classical ones side by side, under the same nested CV.

    Every method gets the same folds and chooses its number of features inside them. Classical are
    rankings by correlation, ANOVA and signal-to-noise, SVM-RFE and an L1-penalised SVM, each
    followed by a shrunk LDA on the first k features.
    """
    from ..studies.methods import COMPARED, find_method

    target = target.strip()
    methods = [find_method(name) for name in options["methods"] or COMPARED]
    check_folder(out, FILES)
    data = read_for_study(table, target, options)
    settings = {method.name: make_method(method, options) for method in methods}
    check_classes(data.y, target, None if options["cv"] == "loo" else TO_CHOOSE)
    data.notes += about_sizes(settings, len(data.names), options["ks"])
    notes = [*data.notes, *about_balance(methods, settings, options["balanced"])]
    echo_notes(notes)
    with resumable(out, settings) as kept:
        with common.progress_bar() as progress:
            found = run_comparison(data, settings, target, options, kept, progress)
        echo_notes(found.notes)
        protect(out, found.unfinished, is_finished(out / COMPARISON_JSON))
        found = replace(found, notes=(*notes, *found.notes))
        write_comparison(out, found)
        if as_json:
            echo_json(as_plain(found, out))
        else:
            echo_comparison(found, out)
        if found.unfinished:
            raise KeyboardInterrupt(
                f"{'; '.join(found.unfinished)}; what is done is in {out}; the same command goes "
                "on from there"
            )


def make_method(method: Method, options: dict[str, Any]) -> Any:
    """The estimator; --balanced where the method can be told so."""
    balanced = options["balanced"] and method.has("class_weight")
    return method.make(options["seed"], class_weight="balanced" if balanced else None)


def about_balance(methods: Sequence[Method], settings: dict[str, Any], balanced: bool) -> list[str]:
    """Which methods cannot be told to count every class alike."""
    from ..studies.prepared import has_size

    choice = "; k is chosen by the balanced error all the same"
    return [
        f"{method.name}: --balanced has no effect on this method's fit"
        f"{choice if has_size(settings[method.name]) else ''}."
        for method in methods
        if balanced and not method.has("class_weight")
    ]


def run_comparison(
    data: Any,
    settings: dict[str, Any],
    target: str,
    options: dict[str, Any],
    kept: Kept,
    progress: StageProgress,
) -> Comparison:
    """All methods, one after the other."""
    from ..studies.comparison import COMPARED_KS, compare_methods
    from ..studies.methods import METHODS

    found = compare_methods(
        data.X, data.y, settings, options["ks"] or COMPARED_KS, options["cv"], data.groups,
        options["repeats"], common.count_jobs(options["jobs"]), options["seed"],
        score=common.score_of(options), missing=options["missing"],
        names=data.names, target=target, checkpoint=kept.path, progress=kept.watch(progress),
    )  # fmt: skip
    titles = {name: METHODS[name].title for name in settings}
    return replace(found, titles=titles, source=replace(found.source, **data.source))


def write_comparison(out: Path, found: Comparison) -> None:
    """Report, table and JSON."""
    from ..report.comparison import render_comparison
    from ..report.shared import write_report

    header = [name for name in found.rows[0] if name != "features"]
    rows = [["" if row[name] is None else row[name] for name in header] for row in found.rows]
    with staged(out) as stage:
        text = csv_text(header, rows)
        (stage / COMPARISON).write_text(text, encoding="utf-8", newline="")
        text = json.dumps(as_plain(found, out), indent=2, allow_nan=False) + "\n"
        (stage / COMPARISON_JSON).write_text(text, encoding="utf-8", newline="")
        write_report(render_comparison(found, command=command_line()), stage / REPORT)


def as_plain(found: Comparison, out: Path) -> dict[str, Any]:
    """The result as JSON values."""
    return {
        "methods": found.rows,
        "reference": found.reference,
        "error_from": found.how,
        "failures": dict(found.failures),
        "n_samples": len(found.source.labels),
        "n_features": len(found.source.names),
        "notes": list(found.notes),
        "unfinished": list(found.unfinished),
        "files": {
            "report": str(out / REPORT),
            "comparison": str(out / COMPARISON),
            "comparison_json": str(out / COMPARISON_JSON),
        },
    }


def echo_comparison(found: Comparison, out: Path) -> None:
    """One line per method, the smallest error first."""
    from ..report.facts import short_room

    classes = common.describe_classes(found.source.labels)
    click.echo(f"{counted(len(found.source.names), 'feature')}, {classes}\n")
    header = ["method", "error", "95 % interval", f"against {found.reference}", "balanced", "AUC",
              "features", "stability", "room"]  # fmt: skip
    rows = []
    for row in found.rows:
        rows.append([
            row["method"], known(row["error"], percent),
            "-" if row["error"] is None else f"{percent(row['low'])} to {percent(row['high'])}",
            against(row, found.reference), known(row["balanced_error"], percent),
            known(row["auc"], "{:.3f}".format), str(row["n_features"]),
            known(row["stability"], "{:.2f}".format),
            short_room(found.results[row["method"]].solution).replace("\u00a0", " "),
        ])  # fmt: skip
    echo_table(header, rows, left={0})
    for name, reason in found.failures.items():
        click.echo(f"  {name}: not fitted: {reason}")
    click.echo(f"\nerror  {found.how}; differences (± standard error) are paired by sample")
    click.echo("room   how much more class separation another set of that size could have, at most")
    click.echo(f"files  {', '.join(FILES)} in {out}")


def known(value: float | None, show: Any) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else show(value)


def against(row: dict[str, Any], reference: str) -> str:
    """The difference from the reference in points, with its standard error."""
    if row["method"] == reference:
        return "(reference)"
    if row["difference"] is None:
        return "-"
    return f"{round(100 * row['difference'], 1) + 0.0:+.1f} ± {100 * row['difference_se']:.1f}"
