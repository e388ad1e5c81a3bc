"""``eigensieve panels``: every set of k features that is nearly as good as the best one."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..pencil.wording import counted
from . import _common as common
from . import _types as types
from ._common import echo_json, echo_notes, finite_or_none, printable
from ._destinations import check_file, check_folder, drafted, staged
from ._limits import LimitOptions, echo_limits, in_words, limit_options
from ._outputs import PANEL_FEATURES, PANELS, PANELS_PAGE, panel_features_csv, panels_csv
from ._study import find_features
from ._summary import echo_panels, plain_panels
from ._tables import StudyTable, read_study_table, whole_table_options
from .certify import ask_proof, check_provable, filled

if TYPE_CHECKING:
    from ..search.near_optimal.sets import NearOptimalSets
    from ..tables.builders import LDAProblem

FILES = (PANELS, PANEL_FEATURES, PANELS_PAGE)


@dataclass(frozen=True, eq=False)
class Listing:
    """A list of panels, and the table and the problem that it is about."""

    found: NearOptimalSets
    problem: LDAProblem
    data: StudyTable
    limits: list[str]
    out: Path
    proof: Path | None

    @property
    def is_interrupted(self) -> bool:
        """Whether Ctrl-C ended the search."""
        from ..pencil.solution import Status

        return self.found.status is Status.INTERRUPTED

    @property
    def settings(self) -> str:
        """The measure of a panel."""
        return f"{self.found.criterion}, shrinkage {self.problem.shrinkage:.3g}"


@click.command("panels")
@common.table_argument
@common.target_option
@click.option(
    "--k",
    type=click.IntRange(min=1),
    required=True,
    metavar="N",
    help="How many features a panel has.",
)
@click.option(
    "--within",
    type=types.Percent(),
    metavar="P%",
    default="1%",
    show_default=True,
    help="How far below the best a panel may be: 1%, or 0.01.",
)
@click.option(
    "--max-sets",
    type=click.IntRange(min=1),
    metavar="N",
    default=1000,
    show_default=True,
    help="How many panels are listed at most: the best ones, where there are more.",
)
@common.criterion_option
@common.shrinkage_option
@common.names_option("--include", "Features that every panel must have.")
@common.names_option("--exclude", "Features that no panel may have.")
@limit_options()
@click.option(
    "--time-limit",
    type=types.Positive(),
    metavar="SECONDS",
    help="For the search; what is known by then is written.",
)
@click.option(
    "--effort",
    metavar="quick|normal|high|N",
    type=types.NumberOr("quick", "normal", "high"),
    default="high",
    show_default=True,
    help="How much work the search may do: about .3, 3 or 30 seconds, counted so that the result "
    "is the same on every machine.",
)
@whole_table_options
@common.jobs_option
@click.option(
    "--proof",
    type=common.DESTINATION,
    metavar="FILE",
    help='Write a proof that no panel is missing, which "eigensieve check-proof" verifies.',
)
@common.out_option("eigensieve-panels", f"Folder for {PANELS}, {PANEL_FEATURES} and {PANELS_PAGE}.")
@common.json_option
def panels_command(
    table: Path, target: str, out: Path, proof: Path | None, as_json: bool, **options: Any
) -> None:
    """All panels (sets of k features) that are nearly as good as the best one.

    "Which 10 genes?" seldom has one answer. This lists every other choice from TABLE whose class
    separation is within 1 % of the best, says which features all of them share and which are in
    none, and what it costs to do without a feature. The list is proved to be complete, unless a
    limit ended the search. Where only some panels are wanted (no two features of a pathway, say)
    the best one of these is what the others are compared with.
    """
    check_folder(out, FILES)
    listing = list_panels(table, target, out, proof, **options)
    if listing.is_interrupted and (out / PANELS).exists():
        raise KeyboardInterrupt(f"nothing was written: {out} keeps the list of an earlier run")
    with staged(out) as stage:
        write_panels(stage, listing, target)
    if as_json:
        echo_json(as_plain(listing))
    else:
        echo_listing(listing)
    if listing.is_interrupted:
        raise KeyboardInterrupt(f"what was found until then is in {out}")


def list_panels(
    table: Path, target: str, out: Path, proof: Path | None, *, k: int, within: float,
    max_sets: int, criterion: str, shrinkage: float | str, include: list[str],
    exclude: list[str], limits: LimitOptions, time_limit: float | None, effort: float | str,
    jobs: int | None, **reading: Any,
) -> Listing:  # fmt: skip
    """Read the table and search."""
    from ..search.near_optimal.near_optimal import near_optimal
    from ..tables.builders import lda_problem

    if proof is not None:
        check_provable(reading)
        check_file(proof, "--proof")
    data = read_study_table(table, target, **reading)
    wanted = limits.read(data)
    asked: dict[str, Any] = {
        "criterion": criterion,
        "include": find_features(include, data.names, "--include", target),
        "exclude": find_features(exclude, data.names, "--exclude", target),
        **wanted,
    }
    X = filled(data)
    echo_notes(data.notes)
    problem = lda_problem(X, data.y, shrinkage, names=data.names)
    draft = nullcontext() if proof is None else drafted(proof, "--proof")
    with draft as path, common.progress_bar() as progress:
        found = near_optimal(
            problem.pencil,
            k,
            within,
            max_sets,
            time_limit=time_limit,
            effort=effort,
            n_jobs=common.count_jobs(jobs),
            callback=common.show_search(progress),
            proof=None if path is None else ask_proof(path, table, target, data, reading),
            names=data.names,
            **asked,
        )
    return Listing(found, problem, data, in_words(wanted), out, proof)


def write_panels(stage: Path, listing: Listing, target: str) -> None:
    """The tables and the page."""
    from ..report.panels import render_panels
    from ..report.shared import write_report
    from ..search.near_optimal.words import within
    from ._outputs import command_line

    found, y = listing.found, listing.data.y
    for name, text in ((PANELS, panels_csv(found)), (PANEL_FEATURES, panel_features_csv(found))):
        (stage / name).write_text(text, encoding="utf-8", newline="")
    about = [
        ("Samples", common.describe_classes(y)),
        ("Target", target),
        ("Score", listing.settings),
        *[("Limits", "; ".join(listing.limits))][: len(listing.limits)],
        ("Search", f"{counted(found.n_nodes, 'node')}; {end_of(found)}"),
        ("Command", command_line()),
    ]
    title = f"“{target}”: panels of {counted(found.k, 'feature')} {within(found)}"
    html = render_panels(found, title=title, about=about, notes=listing.data.notes)
    write_report(html, stage / PANELS_PAGE)


def as_plain(listing: Listing) -> dict[str, Any]:
    """The result as JSON values."""
    found = listing.found
    return {
        "k": found.k,
        **plain_panels(found),
        "bound": finite_or_none(found.bound),
        "limits": listing.limits,
        "criterion": found.criterion,
        "shrinkage": listing.problem.shrinkage,
        "n_nodes": found.n_nodes,
        "seconds": found.seconds,
        "n_samples": len(listing.data.y),
        "n_features": found.n_features,
        "files": {Path(name).name: str(listing.out / name) for name in FILES},
        "proof": None if listing.proof is None else str(listing.proof),
        "notes": listing.data.notes,
    }


def end_of(found: NearOptimalSets) -> str:
    """How the search ended."""
    from ..pencil.solution import Status

    if found.is_complete:
        return "finished"
    if found.status is not Status.GAP_LIMIT:
        return str(found.status)
    return "ended at --max-sets" if found.is_capped else "ended at --effort"


def echo_listing(listing: Listing) -> None:
    """What the list says, and where it is."""
    found = listing.found
    classes = common.describe_classes(listing.data.y)
    click.echo(f"{found.k} of {found.n_features:,} features, {classes}\n")
    echo_panels(found)
    best = ", ".join(found.name_of(j) for j in found.sets[0].tolist())
    click.echo(f"\nbest    {printable(best)}")
    click.echo(f"score   {found.best.objective:.6g} ({listing.settings})")
    echo_limits(listing.limits)
    click.echo(f"search  {counted(found.n_nodes, 'node')}, {found.seconds:.1f} s; {end_of(found)}")
    click.echo(f"files   {', '.join(FILES)} in {listing.out}")
    if listing.proof is not None:
        click.echo(f"proof   {printable(str(listing.proof))}; eigensieve check-proof verifies it")
