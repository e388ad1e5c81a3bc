"""``eigensieve reproduce``: the papers' tables and figures, judged cell by cell."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import _common as common
from ._common import echo_json, echo_notes, echo_table
from ._destinations import check_folder, staged
from ._outputs import REPORT, command_line, is_finished, protect

if TYPE_CHECKING:
    from ..experiments.judge import Cell
    from ..experiments.protocol import Experiment
    from ..experiments.runner import Result
    from ..studies.running.runner import StageProgress

RESULTS, FIGURES, CACHE = "results.json", "figures", "cache"
FILES = (REPORT, RESULTS)


@click.command("reproduce")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--list", "as_list", is_flag=True, help="List the experiments, and run none.")
@click.option(
    "--quick", is_flag=True, help="Fewer repetitions: minutes for everything, not half an hour."
)
@click.option("--fresh", is_flag=True, help="Run everything anew, whatever earlier runs have kept.")
@click.option(
    "--all", "show_all", is_flag=True, help="Show figures, too, for which nothing is published."
)
@common.jobs_option
@common.out_option(
    "eigensieve-reproduce",
    f"Folder for {', '.join(FILES)}, {FIGURES}/ and what is kept for the next run ({CACHE}/).",
)
@common.json_option
def reproduce_command(names: Sequence[str], as_list: bool, out: Path, **options: Any) -> None:
    """The papers' tables and figures, regenerated and judged cell by cell.

    NAME is a paper (moghaddam2006) or one of its tables and figures (moghaddam2006/figure1);
    without a name everything is run. Every cell is said to match or to differ, or that it cannot
    be told or had, by the rule that is stated with the experiment. The data sets are the .npz
    files of the folder that the variable EIGENSIEVE_DATA names.
    """
    from ..experiments.catalogue import find_experiments

    wanted = find_experiments(names)
    if as_list:
        list_experiments(wanted, options["as_json"])
        return
    check_places(out)
    check_folder(out, (*FILES, *(f"{FIGURES}/{figure_file(e.name)}" for e in wanted)))
    start = time.perf_counter()
    results, interrupted = run_all(wanted, out, options)
    seconds = time.perf_counter() - start
    left = [experiment.name for experiment in wanted[len(results) :]]
    unfinished = [f"{len(results)} of {len(wanted)} experiments done"] if interrupted else []
    measured = any(result.measured for result in results)
    if measured:
        protect(out, unfinished, is_finished(out / RESULTS))
        results = write_results(out, results, seconds, left)
    finish(results, left, out, seconds, options)
    if interrupted:
        where = out if measured else out / CACHE
        raise KeyboardInterrupt(
            f"{unfinished[0]}; what is done is in {where}; the same command goes on from there"
        )
    close(results)


def close(results: Sequence[Result]) -> None:
    """Exit as an error where an experiment failed, or none could be run."""
    failed = [result for result in results if result.trouble]
    if click.get_current_context().find_root().params.get("debug"):
        for result in failed:
            click.echo(result.details, err=True)
    if failed:
        names = ", ".join(result.experiment.name for result in failed)
        click.echo(f"failed: {names} (eigensieve --debug shows where)", err=True)
        raise click.exceptions.Exit(1)
    if all(result.missing for result in results):
        raise InputError(missing_text(results))


def check_places(out: Path) -> None:
    """Find out before the work that a file lies where a folder is needed."""
    for place in (out / FIGURES, out / CACHE):
        if place.exists() and not place.is_dir():
            raise InputError(f"{place}: is a file, and a folder is needed; choose another --out")


def list_experiments(wanted: Sequence[Experiment], as_json: bool) -> None:
    """One line each."""
    from ..experiments.data import missing_files

    if as_json:
        echo_json({
            "experiments": [
                {"name": e.name, "title": e.title, "kind": e.kind, "data": list(e.data),
                 "missing": missing_files(e.data)}
                for e in wanted
            ]
        })  # fmt: skip
        return
    rows = [[e.name, e.title, ", ".join(missing_files(e.data))] for e in wanted]
    some = any(row[2] for row in rows)
    header = ["name", "what", "missing"] if some else ["name", "what"]
    echo_table(header, [row[: len(header)] for row in rows], left={0, 1, 2})


def run_all(
    wanted: Sequence[Experiment], out: Path, options: dict[str, Any]
) -> tuple[list[Result], bool]:
    """One after the other, each on all cores; and whether Ctrl-C cut it short."""
    from ..experiments.cache import Cache
    from ..experiments.runner import run_experiment

    cache = Cache(out / CACHE, fresh=options["fresh"])
    level, n_jobs = "quick" if options["quick"] else "full", common.count_jobs(options["jobs"])
    results: list[Result] = []
    try:
        for i, experiment in enumerate(wanted, start=1):
            # A bar each: while one is shown, nothing may be written to stdout.
            with common.progress_bar() as progress:
                result = run_experiment(
                    experiment, level, cache=cache, n_jobs=n_jobs,
                    progress=prefixed(progress, f"{i} of {len(wanted)}, "),
                )  # fmt: skip
            results.append(result)
            if not options["as_json"]:
                echo_result(result, options["show_all"])
    except KeyboardInterrupt:
        return results, True
    return results, False


def prefixed(progress: StageProgress, prefix: str) -> StageProgress:
    """The same bar with more words."""
    return lambda stage, done, total: progress(f"{prefix}{stage}", done, total)


def echo_result(result: Result, show_all: bool) -> None:
    """The cells of one experiment that are judged, or all of them."""
    from ..experiments.judge import Verdict
    from ..experiments.words import changes_text, count_text

    experiment = result.experiment
    click.echo(f"\n{experiment.name}: {experiment.title}")
    if result.missing:
        click.echo(f"  {missing_text([result])}")
        return
    if result.trouble:
        click.echo(f"  failed: {result.trouble}")
        return
    silent = (Verdict.UNPUBLISHED, Verdict.NOT_RUN)
    judged = [c for c in result.cells if c.verdict not in silent or c.confirms is not None]
    echo_cells(result.cells if show_all or not judged else judged)
    for note in () if result.measured is None else result.measured.notes:
        click.echo(f"  - {note}")
    for text in dict.fromkeys(cell.why for cell in result.cells if cell.why):
        places = [f"{c.row}, {c.column}".strip(", ") for c in result.cells if c.why == text]
        click.echo(f"  why ({common.shorten('; '.join(places), 60)}): {text}")
    if changes_text(result):
        click.echo(f"  this run: {changes_text(result)}")
    kept = f", {result.n_cached} of {result.n_tasks} parts kept from before"
    cost = f"{result.seconds:.0f} s of CPU time{kept if result.n_cached else ''}"
    click.echo(f"  {count_text([result])}; {cost}")


def echo_cells(cells: Sequence[Cell]) -> None:
    """The verdict first: it must not fall off a narrow terminal."""
    from ..experiments.words import AGREES, ours_text, printed_text, shown_readings, value_text

    rows, last = [], None
    for cell in cells:
        mark = {None: "", True: " (confirmed)", False: " (not so)"}[cell.confirms]
        rows.append([
            str(cell.verdict), "" if cell.row == last else cell.row, cell.column, ours_text(cell),
            printed_text(cell.published), printed_text(cell.checked) + mark,
        ])  # fmt: skip
        last = cell.row
        rows += [
            [
                "",
                "",
                f"- {common.shorten(reading.name, 48)}",
                value_text(reading.ours, cell),
                AGREES[reading.agrees],
                "",
            ]
            for reading in shown_readings(cell)
        ]
    header = ["verdict", "", "what", "ours", "published", "earlier run"]
    used = [j for j in range(len(header)) if any(row[j] for row in rows)]
    left = {i for i, j in enumerate(used) if j < 3}
    echo_table([header[j] for j in used], [[row[j] for j in used] for row in rows], left=left)


def write_results(
    out: Path, results: Sequence[Result], seconds: float, left: Sequence[str]
) -> list[Result]:
    """Page, JSON and figures; an experiment whose figure cannot be drawn has failed."""
    from ..report.reproduction import draw_figures, render_reproduction
    from ..report.shared import write_report

    results, figures = draw_figures(results)
    html = render_reproduction(
        results, figures, command=command_line(), seconds=seconds, unfinished=left
    )
    with staged(out) as stage:
        write_report(html, stage / REPORT)
        text = json.dumps(as_plain(results, left, out), indent=2, allow_nan=False) + "\n"
        (stage / RESULTS).write_text(text, encoding="utf-8", newline="")
    if figures:
        with staged(out / FIGURES) as stage:
            for name, drawing in figures.items():
                write_report(drawing.standalone, stage / figure_file(name))
    return results


def figure_file(experiment: str) -> str:
    """Where the figure of an experiment goes, if it has one."""
    return f"{experiment.replace('/', '-')}.svg"


def as_plain(results: Sequence[Result], left: Sequence[str], out: Path) -> dict[str, Any]:
    """The results as JSON values."""
    from ..experiments.words import as_data

    measured = any(result.measured for result in results)
    names = {"report": REPORT, "results": RESULTS} if measured else {}
    return {
        "experiments": [as_data(result) for result in results],
        "unfinished": list(left),
        "files": {key: str(out / name) for key, name in names.items()},
    }


def finish(
    results: Sequence[Result], left: Sequence[str], out: Path, seconds: float,
    options: dict[str, Any],
) -> None:  # fmt: skip
    """What came out of it all."""
    from ..experiments.words import confirmed_text, count_text

    if options["as_json"]:
        echo_json(as_plain(results, left, out))
        return
    if all(result.measured is None for result in results):
        return
    if len(results) > 1:
        click.echo("")
        echo_overview(results)
    n = f"{len(results)} experiment{'' if len(results) == 1 else 's'}"
    click.echo(f"\n{n}, {seconds:.0f} s: {count_text(results)}")
    if confirmed_text(results):
        click.echo(confirmed_text(results))
    click.echo(f"\nreport:  {out / REPORT}\nresults: {out / RESULTS}")
    if options["quick"]:
        echo_notes(["this was a quick run: verdicts rest on few repetitions"])


def echo_overview(results: Sequence[Result]) -> None:
    """One line per experiment."""
    from ..experiments.judge import Verdict
    from ..experiments.words import count_verdicts

    shown = (Verdict.MATCHES, Verdict.DIFFERS, Verdict.OPEN, Verdict.CANNOT)
    rows = [
        [r.experiment.name, *(str(count_verdicts([r])[verdict] or "") for verdict in shown),
         "{} of {}".format(*r.n_confirmed) if r.n_confirmed[1] else ""]
        for r in results
    ]  # fmt: skip
    echo_table(["", *map(str, shown), "earlier run confirmed"], rows, left={0})


def missing_text(results: Sequence[Result]) -> str:
    """Which files are missing, and what to do."""
    from ..datasets.loader import VARIABLE

    files = ", ".join(sorted({file for result in results for file in result.missing}))
    folder = os.environ.get(VARIABLE)
    if folder:
        return f"missing in {folder}: {files}; {VARIABLE} names the folder with the data sets"
    return f"missing: {files}; set {VARIABLE} to the folder with the data sets"
