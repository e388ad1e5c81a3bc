"""The sentences of the page of reproductions."""

from __future__ import annotations

from collections.abc import Sequence

from ..experiments.judge import Verdict
from ..experiments.runner import Result
from ..experiments.words import confirmed_text

KINDS = {
    "reproduction": "",
    "analogue": "an analogue: the paper's data cannot be had, ours stand for them",
    "own": "our own question",
}
LEVELS = {
    "full": "full protocol",
    "quick": "quick run: fewer repetitions",
    "smoke": "smoke test: as little as possible",
}


def protocol_of(results: Sequence[Result]) -> str:
    """Which protocol was run."""
    return LEVELS[results[0].level]


def lead(results: Sequence[Result]) -> list[str]:
    """The result in a sentence or two."""
    papers = [result for result in results if result.experiment.kind == "reproduction"]
    match, differ = (
        sum(r.count(verdict) for r in papers) for verdict in (Verdict.MATCHES, Verdict.DIFFERS)
    )
    if match + differ == 0:
        return ["No published figure could be judged."]
    share = round(100 * match / (match + differ))
    checked = f"Of {match + differ:,} published figures and claims that could be judged"
    return [
        f"{checked}, {match:,} ({share}\u00a0%) come out again and {differ:,} do not.",
        "Every verdict is computed, by the tolerance stated with the experiment.",
    ]


def findings(results: Sequence[Result]) -> list[str]:
    """What else to know at once."""
    sentences = [
        "Cells are no independent witnesses: one sentence of a paper may be judged in several."
    ]
    confirmed = confirmed_text(results)
    if confirmed:
        sentences.append(f"{confirmed}.")
    if results[0].level != "full":
        sentences.append(
            f"This is a {LEVELS[results[0].level]}; its verdicts are provisional. Without --quick "
            "the papers\u2019 own protocols are run."
        )
    failed = [result.experiment.name for result in results if result.trouble]
    if failed:
        sentences.append(f"Failed: {', '.join(failed)}.")
    missing = sorted({file for result in results for file in result.missing})
    if missing:
        sentences.append(f"Data files that are missing: {', '.join(missing)}.")
    return sentences


def tolerances(result: Result) -> list[tuple[str, str]]:
    """What may be how far away, in words."""
    given = result.experiment.tolerances
    shown = {cell.column for cell in result.cells}
    rows = [(column, value.text) for column, value in given.items() if column in shown]
    return [*rows, ("all other columns" if rows else "all columns", given["default"].text)]
