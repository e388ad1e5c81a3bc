"""``eigensieve check-proof``: verify what the exact solver wrote, with code it does not share."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..pencil.wording import counted
from . import _common as common
from ._common import echo_json, echo_notes, printable
from ._guard import InputFile
from ._tables import resolve_floor, take_log2

if TYPE_CHECKING:
    import numpy as np

    from ..io.tables import Table
    from ..proofs.header import Header
    from ..proofs.verdict import Verdict

REJECTED, BROKEN = 1, 3
MAX_FEATURES_SHOWN, MAX_LIMITS_SHOWN = 30, 12


@dataclass(frozen=True)
class Reading:
    """How to read a table."""

    target: str | None
    transpose: bool
    log2_floor: float | None
    ignore: list[str]

    def completed_by(self, claim: Header, path: Path) -> Reading:
        """What the proof says of the table, unless an option says otherwise."""
        told = claim.table or {}
        target = self.target or told.get("target")
        if target is None and claim.recipe.kind == "lda":
            if path.suffix != ".npz":
                raise click.UsageError(
                    "The proof does not name the column of labels: add --target."
                )
            target = "y"
        return Reading(
            target,
            self.transpose or told.get("transpose", False),
            told.get("log2_floor") if self.log2_floor is None else self.log2_floor,
            self.ignore or told.get("ignore", []),
        )

    def table(self, path: Path, target: str | None) -> Table:
        from ..io.tables import read_table

        return read_table(path, target, transpose=self.transpose, ignore=self.ignore)

    def numbers(self, data: Table, notes: list[str]) -> np.ndarray:
        """The table as plain doubles."""
        import numpy as np
        from scipy import sparse

        X = data.X if self.log2_floor is None else take_log2(data.X, self.log2_floor, notes)
        return X.toarray() if sparse.issparse(X) else np.asarray(X)


@click.command("check-proof")
@click.argument("proof", metavar="FILE", type=InputFile())
@common.table_argument
@click.option("--target", metavar="COLUMN", help="The column of labels, if not as in the proof.")
@click.option("--second", type=InputFile(), metavar="TABLE2", help="The second table of a CCA.")
@common.ignore_option
@common.transpose_option
@click.option("--log2", is_flag=True, help="Take log2 of all features first.")
@common.log2_floor_option
@common.json_option
def check_proof_command(
    proof: Path, table: Path, target: str | None, second: Path | None, ignore: list[str],
    transpose: bool, log2: bool, log2_floor: float | None, as_json: bool,
) -> None:  # fmt: skip
    """Verify a proof file of the exact solver, with independent code.

    TABLE is the table that the proof was made from; FILE says how it was read. For a pencil of
    matrices it is an .npz file with A and B, for a CCA one with X and Y, or two tables.
    Exit code 0: accepted, 1: rejected, 2: wrong use, 3: the check itself failed.
    """
    with failures_apart():
        asked = Reading(target, transpose, resolve_floor(log2, log2_floor), ignore)
        verdict, how = run_check(proof, table, second, asked)
        if as_json:
            echo_json(as_plain(verdict, how))
        else:
            echo_verdict(verdict, how)
    if not verdict.accepted:
        raise click.exceptions.Exit(REJECTED)


@contextmanager
def failures_apart() -> Iterator[None]:
    """Elsewhere a failure of the program exits with 1, which here means "rejected"."""
    from .main import FAILED, explain

    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit):
        raise
    except Exception as error:
        code, line = explain(error)
        if code != FAILED and not isinstance(error, BrokenPipeError):
            raise
        if click.get_current_context().find_root().params.get("debug"):
            click.echo(traceback.format_exc(), err=True, nl=False)
        click.echo(line, err=True)
        raise click.exceptions.Exit(BROKEN) from None


def run_check(
    proof: Path, table: Path, second: Path | None, asked: Reading
) -> tuple[Verdict, Reading | None]:
    """The verdict, and how the table was read if there is one."""
    from ..proofs.checker import check_proof
    from ..proofs.header import read_claim

    claim = read_claim(proof)
    if claim is None:  # the file is rejected before its table is asked for
        return check_proof(proof), None
    how = asked.completed_by(claim, table)
    arrays, notes = find_arrays(claim, table, second, how)
    echo_notes(notes)
    has_table = claim.recipe.kind in ("lda", "pca") or second is not None
    return check_proof(proof, **arrays), how if has_table else None


def find_arrays(
    claim: Header, table: Path, second: Path | None, how: Reading
) -> tuple[dict[str, Any], list[str]]:
    """What ``check_proof`` needs for this kind of proof, and notes on the tables."""
    kind = claim.recipe.kind
    if second is not None and kind != "cca":
        raise click.UsageError(f"--second is for a CCA; the proof is about {kind}.")
    if kind == "matrices":
        return load_arrays(table, {"A"}, {"B", "blocks"}), []
    if kind == "cca" and second is None:
        return load_arrays(table, {"X", "Y"}, set()), []
    notes: list[str] = []
    if kind == "cca":
        assert second is not None
        views = [how.table(path, None) for path in (table, second)]
        X, Y = (how.numbers(view, notes) for view in views)
        names = [name for view in views for name in view.names]
        if claim.names is not None and claim.names != names:
            raise InputError("the names of the two tables are not those of the proof, in order")
        return {"X": X, "Y": Y, "names": names}, notes
    data = how.table(table, how.target)
    notes += data.notes
    order = find_order(claim, data, table)
    X, names = how.numbers(data, notes)[:, order], [data.names[j] for j in order]
    return {"X": X, "y": data.target if kind == "lda" else None, "names": names}, notes


def find_order(claim: Header, data: Table, path: Path) -> list[int]:
    """The columns in the order of the proof's names; as they are, if it has none."""
    if claim.names is None:
        return list(range(len(data.names)))
    if set(claim.names) != set(data.names) or len(claim.names) != len(data.names):
        odd = next(iter(set(claim.names) ^ set(data.names)), "")
        whose = "the proof" if odd in claim.names else "the table"
        raise InputError(
            f"{path}: has not the features of the proof: {odd!r} is in {whose} only; give the "
            "table that the proof was made from, or leave columns out with --ignore"
        )
    place = {name: j for j, name in enumerate(data.names)}
    return [place[name] for name in claim.names]


def load_arrays(path: Path, needed: set[str], allowed: set[str]) -> dict[str, Any]:
    """Arrays of an .npz file without pickled objects."""
    import numpy as np

    advice = f"an .npz file with the arrays {' and '.join(sorted(needed))} is needed"
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            found = {name: archive[name] for name in archive.files if name in needed | allowed}
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}; {advice}") from error
    except Exception as error:  # damaged bytes raise nearly anything
        raise InputError(f"{path}: is not a readable .npz file; {advice}") from error
    if missing := sorted(needed - set(found)):
        raise InputError(f"{path}: has no array {missing[0]}; {advice}")
    return found


def as_plain(verdict: Verdict, how: Reading | None) -> dict[str, Any]:
    """The verdict as JSON values, with the problem and how its table was read."""
    return {
        "accepted": verdict.accepted,
        "sentence": verdict.explain(),
        "reason": verdict.reason,
        "line": verdict.line,
        "bound": verdict.bound,
        "objective": verdict.objective,
        "gap": None if verdict.gap is None else common.finite_or_none(verdict.gap),
        "criterion": verdict.criterion,
        "k": None if verdict.k is None else list(verdict.k),
        "n_features": verdict.n_features,
        "support": None if verdict.support is None else list(verdict.support),
        "features": None if verdict.names is None else list(verdict.names),
        "n_sets": verdict.n_sets,
        "within": verdict.within,
        "sets": None if verdict.sets is None else [list(one) for one in verdict.sets],
        "problem": verdict.problem,
        "table": None if how is None else asdict(how),
        "n_nodes": verdict.n_nodes,
        "n_leaves": verdict.n_leaves,
        "n_exact": verdict.n_exact,
        "seconds": verdict.seconds,
    }


def echo_verdict(verdict: Verdict, how: Reading | None) -> None:
    """The sentence, the problem that the file chose, then the numbers."""
    from ..pencil.wording import above

    sentence = printable(verdict.explain())
    click.echo(f"{sentence[:1].upper()}{sentence[1:]}.")
    click.echo()
    for title, text in [*problem_lines(verdict.problem or {}), *table_lines(verdict, how)]:
        click.echo(f"{title:8}{printable(text)}")
    plural = "" if verdict.n_nodes == 1 else "s"
    work = f"{verdict.n_nodes:,} record{plural}, {verdict.n_exact} of them by exact numbers"
    if not verdict.accepted:
        click.echo(f"read    {work}, {verdict.seconds:.1f} s")
        return
    assert verdict.support is not None
    assert verdict.objective is not None
    names = verdict.names or [f"feature {j}" for j in verdict.support]
    click.echo(f"set     {printable(listed(names))}")
    click.echo(f"score   {verdict.objective:.6g} ({verdict.criterion})")
    assert verdict.bound is not None
    if verdict.sets is not None:
        echo_list(verdict.sets, verdict.bound)
        click.echo(f"read    {work}, {verdict.seconds:.1f} s")
        return
    # not verdict.gap: its unit may be larger than the score
    far = f", {above(verdict.bound, verdict.objective)}" if verdict.objective > 0 else ""
    click.echo(f"bound   {verdict.bound:.6g}{far}")
    click.echo(f"read    {work}, {verdict.seconds:.1f} s")


def echo_list(sets: Sequence[Sequence[int]], bound: float) -> None:
    """What the list says of the features."""
    in_all, in_any = set(sets[0]).intersection(*sets), set().union(*sets)
    click.echo(f"bound   {bound:.6g}; no set that is not listed scores more")
    click.echo(
        f"list    {counted(len(sets), 'set')}: {counted(len(in_all), 'feature')} in all of them, "
        f"{len(in_any):,} in any"
    )


def listed(names: Sequence[object]) -> str:
    """Some names, not too many."""
    more = len(names) - MAX_FEATURES_SHOWN
    shown = ", ".join(map(str, names[:MAX_FEATURES_SHOWN]))
    return shown + (f" ... and {more} more" if more > 0 else "")


def problem_lines(problem: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What the proof is about, as the file says and the table has it."""
    if not problem:
        return
    n, sizes = problem["n_samples"], problem["block_sizes"]
    features = " + ".join(f"{size:,}" for size in sizes)
    samples = "" if n is None else f"{counted(n, 'sample')}, "
    noun = "feature" if list(sizes) == [1] else "features"
    k = " + ".join(map(str, problem["k"]))
    kind = problem["kind"]
    yield "problem", f"{kind}, {problem['criterion']}, k = {k}; {samples}{features} {noun}"
    if problem["classes"] is not None:
        yield "classes", listed([f"{label} ({count})" for label, count in problem["classes"]])
    if problem["shrinkage"] is not None:
        shares = ", ".join(f"{share:.10g}" for share in problem["shrinkage"])
        ridge = "" if problem["ridge"] is None else f", ridge {problem['ridge']:.10g}"
        yield "set by", f"shrinkage {shares}{ridge}"
    for title in ("include", "exclude"):
        named = problem[f"{title}_names"] or [f"feature {j}" for j in problem[title]]
        yield title, listed(named) if problem[title] else "none"
    limits = problem["limits"]
    for limit in limits[:MAX_LIMITS_SHOWN]:
        yield "limit", f"{limit['means']} ({limit['says']!r} in the file)"
    if len(limits) > MAX_LIMITS_SHOWN:
        yield "limit", f"... and {len(limits) - MAX_LIMITS_SHOWN} more, see --json"


def table_lines(verdict: Verdict, how: Reading | None) -> Iterator[tuple[str, str]]:
    """How the table was read."""
    if how is None or verdict.problem is None:
        return
    target = "no target" if how.target is None else f"target {how.target}"
    turned = "transposed" if how.transpose else "not transposed"
    log2 = "no log2" if how.log2_floor is None else f"log2 of {how.log2_floor:.10g} and more"
    yield "table", f"{target}, {turned}, {log2}, ignored: {listed(how.ignore) or 'none'}"
