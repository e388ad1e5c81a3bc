"""``eigensieve certify``: what can be proved of a list of features, whoever chose it."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import _common as common
from . import _types as types
from ._common import echo_json, echo_notes, echo_table, finite_or_none, printable
from ._destinations import check_file, drafted
from ._guard import InputFile, force_option
from ._limits import LimitOptions, echo_limits, in_words, limit_options
from ._study import find_features
from ._tables import StudyTable, read_study_table, whole_table_options

if TYPE_CHECKING:
    import numpy as np

    from ..search.certificate import Certificate
    from ..search.proof.proof import ProofRequest
    from ..tables.builders import LDAProblem

MAX_FEATURES_SHOWN = 30


def check_noun(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """The sentence needs a word there."""
    if not value.strip():
        raise click.BadParameter("is empty; say what the features are, in the plural: genes, say.")
    return value.strip()


@dataclass(frozen=True, eq=False)
class Claim:
    """A certificate, and the table and the problem that it is about."""

    certificate: Certificate
    problem: LDAProblem
    data: StudyTable
    limits: list[str]
    noun: str
    proof: Path | None

    @property
    def sentence(self) -> str:
        return self.certificate.explain(self.noun)

    def names(self, support: np.ndarray) -> list[str]:
        return [self.data.names[j] for j in support]


@click.command("certify")
@common.table_argument
@common.target_option
@click.option(
    "--features",
    multiple=True,
    metavar="A,B",
    callback=common.split_names,
    help="The features of the set, by name; a name with a comma in double quotes.",
)
@click.option(
    "--features-file", type=InputFile(), metavar="FILE", help="The same, one name a line."
)
@common.criterion_option
@common.shrinkage_option
@limit_options()
@click.option(
    "--time-limit",
    type=types.NotNegative(),
    metavar="SECONDS",
    default=10.0,
    show_default=True,
    help="For the search; the longer, the closer the bound. 0: the first bound only.",
)
@whole_table_options
@common.jobs_option
@click.option(
    "--noun",
    default="features",
    show_default=True,
    callback=check_noun,
    help="What the features are, in the plural: genes, say.",
)
@click.option(
    "--proof",
    type=common.DESTINATION,
    metavar="FILE",
    help='Write a proof of the bound, which "eigensieve check-proof" verifies.',
)
@force_option
@common.json_option
def certify_command(
    table: Path, target: str, features: list[str], features_file: Path | None, as_json: bool,
    **options: Any,
) -> None:  # fmt: skip
    """How far from optimal is a set of features that any tool has chosen?

    The rivals are all sets of as many columns of TABLE, those of --groups and --ignore left out;
    of limits on sets, all that keep them, as the given set must, too.
    The score is the class separation that "fit" maximises; how well a classifier does on new
    samples is another question.
    """
    wanted = [*features, *([] if features_file is None else read_names(features_file))]
    if not wanted:
        raise click.UsageError("Name the set: --features a,b,c or --features-file FILE.")
    claim = make_claim(table, target, wanted, **options)
    if as_json:
        echo_json(as_plain(claim))
    else:
        echo_claim(claim)
    if str(claim.certificate.status) == "interrupted":
        raise KeyboardInterrupt("what was proved until then is printed")


def read_names(path: Path) -> list[str]:
    """One name a line, in double quotes or without; empty lines do not count."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not a text file in UTF-8") from None
    names = [line.strip() for line in lines]
    quoted = [len(name) > 2 and name[0] == name[-1] == '"' for name in names]
    return [name[1:-1] if q else name for name, q in zip(names, quoted) if name]


def make_claim(
    table: Path, target: str, wanted: list[str], *, criterion: str, shrinkage: float | str,
    limits: LimitOptions, time_limit: float, jobs: int | None, noun: str, proof: Path | None,
    **reading: Any,
) -> Claim:  # fmt: skip
    """Read the table and search from the set that was named."""
    from ..search.certify import certify
    from ..tables.builders import lda_problem

    if proof is not None:
        check_provable(reading)
        check_file(proof, "--proof")
    data = read_study_table(table, target, **reading)
    chosen = find_features(wanted, data.names, "the list of features", target)
    data.notes += [*about_columns(reading["groups"]), *about_repeats(wanted, len(chosen))]
    asked = limits.read(data)
    X = filled(data)
    echo_notes(data.notes)
    problem = lda_problem(X, data.y, shrinkage, names=data.names)
    draft = nullcontext() if proof is None else drafted(proof, "--proof")
    with draft as path, common.progress_bar() as progress:
        certificate = certify(
            problem.pencil,
            chosen,
            criterion,
            time_limit,
            n_jobs=common.count_jobs(jobs),
            callback=common.show_search(progress),
            random_state=0,
            proof=None if path is None else ask_proof(path, table, target, data, reading),
            **asked,
        )
    return Claim(certificate, problem, data, in_words(asked), noun, proof)


def check_provable(reading: dict[str, Any]) -> None:
    """A proof is about the main matrix of the file, as it is."""
    if reading["layer"] is not None:
        raise click.UsageError(
            "--layer does not go with --proof, which is about the main matrix of the file."
        )
    if reading["missing"] == "median":
        raise click.UsageError(
            "--missing median does not go with --proof: a proof is about the numbers in the file; "
            "fill the gaps there first."
        )


def ask_proof(
    path: Path, table: Path, target: str, data: StudyTable, reading: dict[str, Any]
) -> ProofRequest:
    """The proof is to say how the table was read, so that check-proof reads it alike."""
    from ..search.proof.proof import ProofRequest

    groups = reading["groups"]
    # elsewhere the groups are no column among the features, which check-proof must pass over
    is_sheet = table.suffix.lower() not in (".npz", ".h5ad")
    how = {
        "target": target,
        "transpose": reading["transpose"],
        "ignore": [*reading["ignore"], *([groups] if groups and is_sheet else [])],
        "log2_floor": data.source["log2_floor"],
    }
    return ProofRequest(path, data.names, how)


def about_columns(groups: str | None) -> list[str]:
    """Nothing is split here: groups only say which column is no feature."""
    if groups is None:
        return []
    return [f"The column {groups!r} holds the groups: it is no feature, and no rival."]


def about_repeats(wanted: list[str], size: int) -> list[str]:
    """Say it where the set is smaller than the list."""
    if size == len(wanted):
        return []
    twice = next(name for name in wanted if wanted.count(name) > 1)
    features = f"{size} feature{'' if size == 1 else 's'}"
    return [f"{twice!r} is named more than once; the set has {features}."]


def filled(data: StudyTable) -> Any:
    """The features, gaps filled with the medians of their columns, as in the final fit."""
    import numpy as np

    from ..studies.standardize import fill_gaps, find_medians, has_gaps, stored_numbers

    gaps = has_gaps(data.X)
    if not gaps.any():
        return data.X
    n_missing = int(np.isnan(stored_numbers(data.X)).sum())
    data.notes.append(
        f"{n_missing:,} missing values in {int(gaps.sum()):,} columns were filled with the median "
        "of the column."
    )
    return fill_gaps(data.X, find_medians(data.X))


def as_plain(claim: Claim) -> dict[str, Any]:
    """The result as JSON values."""
    found, better = claim.certificate, claim.certificate.better
    return {
        "k": found.k,
        "features": claim.names(found.support),
        "sentence": claim.sentence,
        "objective": found.objective,
        "bound": finite_or_none(found.bound),
        "gap": finite_or_none(found.gap),
        "status": str(found.status),
        "better": None
        if better is None
        else {
            "features": claim.names(better.support),
            "objective": better.objective,
            "optimal": better.is_certified,
        },
        "swaps": [
            {
                "leaving": claim.data.names[swap.leaving],
                "entering": claim.data.names[swap.entering],
                "objective": swap.objective,
            }
            for swap in found.swaps
        ],
        "solver": found.solver,
        "limits": claim.limits,
        "criterion": found.criterion,
        "shrinkage": claim.problem.shrinkage,
        "n_nodes": found.n_nodes,
        "seconds": found.seconds,
        "n_samples": len(claim.data.y),
        "n_features": found.n_features,
        "proof": None if claim.proof is None else str(claim.proof),
        "notes": claim.data.notes,
    }


def echo_claim(claim: Claim) -> None:
    """The features, what is proved of them, and what leads to a better set if there is one."""
    found = claim.certificate
    classes = common.describe_classes(claim.data.y)
    click.echo(f"{found.k} of {found.n_features} {printable(claim.noun)}, {classes}\n")
    echo_features(claim)
    sentence = printable(claim.sentence)
    click.echo(f"{sentence[:1].upper()}{sentence[1:]}.\n")
    echo_swaps(found)
    settings = f"{found.criterion}, shrinkage {claim.problem.shrinkage:.3g}"
    click.echo(f"score   {found.objective:.6g} ({settings})")
    click.echo(f"bound   {found.describe_bound()}")
    echo_limits(claim.limits)
    click.echo(f"search  {describe_search(found)}")
    if found.better is not None:
        click.echo(f"better  {found.better.objective:.6g}; {found.better.status}")
    if claim.proof is not None:
        click.echo(f"proof   {printable(str(claim.proof))}; eigensieve check-proof verifies it")


def echo_swaps(found: Certificate) -> None:
    """What to replace by what, where a better set was found."""
    lines = found.describe_swaps()
    if not lines:
        return
    for line in lines[:MAX_FEATURES_SHOWN]:
        click.echo(f"  {printable(line)}")
    more = len(lines) - MAX_FEATURES_SHOWN
    click.echo(f"  ... and {more} more\n" if more > 0 else "")


def describe_search(found: Certificate) -> str:
    """What was searched, and how it ended."""
    from ..pencil.solution import GIVEN

    if found.solver == GIVEN:
        return "not needed"
    nodes = f"{found.n_nodes:,} node{'' if found.n_nodes == 1 else 's'}"
    end = str(found.status) if found.status.is_early or found.better is None else "finished"
    return f"{found.solver}, {nodes}, {found.seconds:.1f} s; {end}"


def echo_features(claim: Claim) -> None:
    """What each feature scores alone, and what the set loses without it."""
    import numpy as np

    from ..pencil.problem import make_problem

    found = claim.certificate
    S = found.support
    score = make_problem(claim.problem.pencil, 1, found.criterion).score
    rows = []
    for j in S[:MAX_FEATURES_SHOWN].tolist():
        left = score(np.setdiff1d(S, j)) if found.k > 1 else 0.0
        share = common.percent(1 - left / found.objective) if found.objective > 0 else "-"
        rows.append([claim.data.names[j], f"{score([j]):.4g}", share])
    echo_table(["feature", "alone", "lost without it"], rows, left={0})
    more = found.k - MAX_FEATURES_SHOWN
    click.echo(f"  ... and {more} more\n" if more > 0 else "")
