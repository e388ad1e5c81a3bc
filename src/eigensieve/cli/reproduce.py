"""``eigensieve reproduce``: the papers' tables and figures, judged cell by cell."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import _common as common
from ._common import echo_json, echo_notes, echo_table
from ._outputs import REPORT, check_folder, command_line, staged

if TYPE_CHECKING:
    from ..experiments.protocol import Experiment
    from ..experiments.runner import Result

RESULTS, FIGURES, CACHE = "results.json", "figures", "cache"
FILES = (REPORT, RESULTS)


@click.command("reproduce")
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option("--list", "as_list", is_flag=True, help="List the experiments, and run none.")
@click.option(
    "--quick", is_flag=True, help="Fewer repetitions: minutes for everything, not an hour."
)
@click.option("--fresh", is_flag=True, help="Run everything anew, whatever earlier runs have kept.")
@common.jobs_option
@click.option(
    "--out",
    type=common.FILE,
    default="eigensieve-reproduce",
    show_default=True,
    metavar="DIR",
    help=f"Folder for {', '.join(FILES)}, {FIGURES}/ and what is kept for the next run ({CACHE}/).",
)
@common.json_option
def reproduce_command(
    names: Sequence[str], as_list: bool, quick: bool, fresh: bool, jobs: int | None, out: Path,
    as_json: bool,
) -> None:  # fmt: skip
    """The papers' tables and figures, regenerated and judged cell by cell.

    NAME is a paper (moghaddam2006) or one of its tables and figures (moghaddam2006/figure1);
    without a name everything is run. Every cell is said to match, to differ, or not to be had,
    by a tolerance that was stated beforehand. The data sets are the .npz files of the folder that
    the variable EIGENSIEVE_DATA names.
    """
    from ..experiments.catalogue import find_experiments

    wanted = find_experiments(names)
    if as_list:
        list_experiments(wanted, as_json)
        return
    check_folder(out, FILES)
    level = "quick" if quick else "full"
    start = time.perf_counter()
    results, interrupted = run_all(wanted, level, out, fresh, jobs, as_json)
    seconds = time.perf_counter() - start
    if results:
        write_results(out, results, seconds, unfinished=wanted[len(results) :])
    finish(results, out, seconds, as_json)
    if interrupted:
        done = f"{len(results)} of {len(wanted)} experiments are in {out}" if results else (
            f"what is done is kept in {out / CACHE}")  # fmt: skip
        raise KeyboardInterrupt(f"{done}; the same command goes on from there")
    failed = [result.experiment.name for result in results if result.trouble]
    if failed:
        raise RuntimeError(f"{', '.join(failed)} did not come to an end")
    if all(result.missing for result in results):
        raise InputError(missing_text(results))


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
    rows = [
        [e.name, e.title, ", ".join(f"{f} is missing" for f in missing_files(e.data))]
        for e in wanted
    ]
    some = any(row[2] for row in rows)
    header = ["name", "what", "data"] if some else ["name", "what"]
    echo_table(header, [row[: len(header)] for row in rows], left={0, 1, 2})


def run_all(
    wanted: Sequence[Experiment], level: str, out: Path, fresh: bool, jobs: int | None, quiet: bool
) -> tuple[list[Result], bool]:
    """One after the other, each on all cores; and whether Ctrl-C cut it short."""
    from ..experiments.cache import Cache
    from ..experiments.runner import run_experiment

    cache = Cache(out / CACHE)
    if fresh:
        cache.forget(wanted)
    n_jobs = common.count_jobs(jobs)
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
            if not quiet:
                echo_result(result)
    except KeyboardInterrupt:
        return results, True
    return results, False


def prefixed(progress: common.StageProgress, prefix: str) -> common.StageProgress:
    """The same bar with more words."""
    return lambda stage, done, total: progress(f"{prefix}{stage}", done, total)


def echo_result(result: Result) -> None:
    """The cells of one experiment."""
    from ..experiments.words import count_text, ours_text, printed_text

    experiment = result.experiment
    click.echo(f"\n{experiment.name}: {experiment.title}")
    if result.missing:
        click.echo(f"  {missing_text([result])}")
        return
    if result.trouble:
        click.echo(f"  failed: {result.trouble}")
        return
    rows, last = [], None
    for cell in result.cells:
        mark = "" if cell.confirms is None else " (confirmed)" if cell.confirms else " (not so)"
        rows.append([
            "" if cell.row == last else cell.row, cell.column, printed_text(cell.published),
            printed_text(cell.checked) + mark, ours_text(cell), str(cell.verdict),
        ])  # fmt: skip
        last = cell.row
    header = ["", "what", "published", "earlier run", "ours", "verdict"]
    used = [j for j in range(len(header)) if any(row[j] for row in rows)]
    left = {i for i, j in enumerate(used) if j in (0, 1, 5)}
    echo_table([header[j] for j in used], [[row[j] for j in used] for row in rows], left=left)
    for note in () if result.measured is None else result.measured.notes:
        click.echo(f"  - {note}")
    for text in dict.fromkeys(cell.why for cell in result.cells if cell.why):
        places = [f"{c.row}, {c.column}".strip(", ") for c in result.cells if c.why == text]
        click.echo(f"  why ({common.shorten('; '.join(places), 60)}): {text}")
    click.echo(f"  {count_text([result])}; {result.seconds:.0f} s of CPU time")


def write_results(
    out: Path, results: Sequence[Result], seconds: float, unfinished: Sequence[Experiment]
) -> None:
    """Page, JSON and figures."""
    from ..experiments.words import as_data
    from ..report.reproduction import draw_figures, render_reproduction
    from ..report.shared import write_report

    figures = draw_figures(results)
    names = [experiment.name for experiment in unfinished]
    html = render_reproduction(
        results, figures, command=command_line(), seconds=seconds, unfinished=names
    )
    data = {"experiments": [as_data(result) for result in results], "unfinished": names}
    with staged(out) as stage:
        write_report(html, stage / REPORT)
        text = json.dumps(data, indent=2, allow_nan=False) + "\n"
        (stage / RESULTS).write_text(text, encoding="utf-8", newline="")
    for name, svg in figures.items():
        path = out / FIGURES / f"{name.replace('/', '-')}.svg"
        path.parent.mkdir(exist_ok=True)
        write_report(svg.standalone, path)


def finish(results: Sequence[Result], out: Path, seconds: float, as_json: bool) -> None:
    """What came out of it all."""
    from ..experiments.words import as_data, confirmed_text, count_text

    if as_json:
        files: dict[str, Any] = {"report": str(out / REPORT), "results": str(out / RESULTS)}
        echo_json({"experiments": [as_data(result) for result in results], "files": files})
        return
    if not results:
        return
    ran = [result for result in results if not result.missing and not result.trouble]
    n = f"{len(ran)} experiment{'' if len(ran) == 1 else 's'}"
    click.echo(f"\n{n}, {seconds:.0f} s: {count_text(ran)}")
    if confirmed_text(ran):
        click.echo(confirmed_text(ran))
    click.echo(f"\nreport:  {out / REPORT}\nresults: {out / RESULTS}")
    if any(result.level == "quick" for result in results):
        echo_notes(["this was a quick run: verdicts rest on few repetitions"])


def missing_text(results: Sequence[Result]) -> str:
    """Which files are missing, and what to do."""
    from ..datasets.loader import VARIABLE

    files = sorted({file for result in results for file in result.missing})
    return f"missing: {', '.join(files)}; set {VARIABLE} to the folder that holds them"
