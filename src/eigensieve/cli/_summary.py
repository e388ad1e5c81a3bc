"""What a fit says on the terminal, and as JSON."""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import __version__
from ..pencil.wording import ROUND_OFF, counted
from . import _common as common
from ._common import describe_error, echo_table, finite_or_none, percent, shorten
from ._limits import echo_limits
from ._outputs import MODEL, PROOF, SELECTED

if TYPE_CHECKING:
    from ..search.near_optimal.sets import NearOptimalSets
    from ..studies.calibration import Calibration
    from ..studies.null import PermutationNull
    from ..studies.result import Study
    from ._outputs import WrittenProof

MAX_FEATURES_SHOWN = 20
MAX_RATIO_IN_PERCENT = 10
MAX_EXCHANGES = 30


def as_plain(
    study: Study, out: Path, files: Sequence[str], proof: WrittenProof | None = None
) -> dict[str, Any]:
    """The result as JSON values."""
    from ..report.facts import limits

    solution, error, null = study.solution, study.honest_error, study.null
    inner = study.final_estimator.estimator_
    return {
        "method": study.setting,
        "k": study.best_k,
        "k_rule": study.k_rule,
        "features": [feature.name for feature in study.selected],
        "error": None if error is None else error.error,
        "interval": None if error is None else [error.low, error.high],
        "error_from": None if error is None else error.how,
        "balanced_error": study.balanced_error,
        "auc": None if error is None else error.auc,
        "calibration": None if study.calibration is None else plain_calibration(study.calibration),
        "classes": [str(c) for c in inner.classes_],
        # a mean over repeats; what is behind the ninth digit is noise
        "confusion": None if error is None else error.confusion.round(9).tolist(),
        "table": [{name: plain(value) for name, value in row.items()} for row in study.rows],
        "stability": [
            {name: plain(value) for name, value in asdict(index).items()} for index in study.indices
        ],
        "p_value": None if null is None else null.p_value,
        "permutations": 0 if null is None else null.n_permutations,
        "prices": [asdict(price) for price in study.prices],
        "near_optimal": None
        if study.near_optimal is None
        else plain_panels(study.near_optimal, study.near_stability),
        "objective": solution.objective,
        "bound": finite_or_none(solution.bound),
        "gap": finite_or_none(solution.gap),
        "status": str(solution.status),
        "solver": solution.solver,
        "criterion": solution.criterion,
        "claim": study.claim,
        "limits": limits(study),
        "preferred": None if study.preferred is None else study.preferred.describe(),
        "proof": None if proof is None else proof.as_plain(),
        "shrinkage": getattr(inner, "shrinkage_", None),
        "target": study.source.target,
        "seed": study.source.seed,
        "version": __version__,
        "fingerprint": study.source.fingerprint,
        "n_samples": study.n_samples,
        "n_features": len(study.names),
        "notes": list(study.notes),
        "unfinished": list(study.unfinished),
        "files": {"proof" if name == PROOF else Path(name).stem: str(out / name) for name in files},
    }


def plain_calibration(found: Calibration) -> dict[str, Any]:
    """The temperature of the probabilities, and what they are worth on new samples."""
    kinds = {"before": found.before, "after": found.after}
    return {
        "temperature": found.temperature,
        "n_samples": found.n_samples,
        "log_loss": {name: one.log_loss for name, one in kinds.items()},
        "brier": {name: one.brier for name, one in kinds.items()},
    }


def plain(value: Any) -> Any:
    """JSON knows no NaN."""
    return finite_or_none(value) if isinstance(value, float) else value


def echo_summary(
    study: Study, out: Path, files: Sequence[str], proof: WrittenProof | None = None
) -> None:
    """What was selected, how good it is, and where it is."""
    from ..report.facts import limits

    classes = common.describe_classes(study.labels)
    features = counted(len(study.names), "feature")
    click.echo(f"{len(study.selected)} of {features} selected, from {classes}\n")
    echo_features(study)
    click.echo(f"k       {study.best_k}: {study.k_rule}")
    if len(study.settings) > 1:
        least = study.score.replace("_", " ")
        click.echo(f"setting {common.printable(study.setting)}: the least {least} at this k")
    echo_error(study)
    if stability := describe_stability(study):
        click.echo(f"stable  {stability}")
    echo_limits(limits(study))
    click.echo(f"search  {describe_search(study)}")
    if study.claim:
        click.echo(f"proved  {study.claim}")
    if study.preferred is not None:
        click.echo(f"taken   {study.preferred.describe()}")
    if proof is not None:
        shows = f"{PROOF} shows it" if proof.less is None else f"{PROOF} shows less: {proof.less}"
        click.echo(f"proof   {shows}; to check it: {proof.command}")
    if study.near_optimal is not None:
        echo_panels(study.near_optimal, "panels  ")
    click.echo(f"files   {', '.join(files)} in {out}")
    click.echo(f"next    eigensieve predict {shlex.quote(str(out / MODEL))} NEW_TABLE")


def echo_error(study: Study) -> None:
    """The one figure, with what belongs to it."""
    error = study.honest_error
    if error is None:
        click.echo("error   not estimated")
        return
    click.echo(f"error   {describe_error(error.estimate)}, {error.how}")
    auc = "" if error.auc is None else f", AUC {error.auc:.3f}"
    click.echo(f"        balanced error {percent(error.balanced_error)}{auc}")
    if study.null is not None:
        click.echo(f"        {describe_null(study.null)}")
    if study.calibration is not None:
        click.echo(f"        {describe_calibration(study.calibration)}")


def describe_null(null: PermutationNull) -> str:
    """The p-value; the smallest possible one is no measure of how unlikely chance is."""
    permutations = counted(null.n_permutations, "permutation")
    text = f"p = {null.p_value:.3g} against {permutations} of the labels"
    return text if null.n_as_good else f"{text}; no smaller one is possible"


def describe_calibration(found: Calibration) -> str:
    """What the probabilities of `predict` are worth, in a line."""
    before, after = found.before, found.after
    plain = f"log-loss {before.log_loss:.3f}, Brier score {before.brier:.3f}"
    if found.temperature == 1:
        return f"probabilities: no temperature needed; {plain}"
    return (
        f"probabilities: temperature {found.temperature:.3g}, log-loss {after.log_loss:.3f}, Brier "
        f"score {after.brier:.3f} (without it: {plain})"
    )


def describe_stability(study: Study) -> str:
    """Nogueira's index at the chosen k, in words; nothing where nothing could vary."""
    index = next((i for i in study.indices if i.k == study.best_k), None)
    if index is None or math.isnan(index.index):
        return ""
    return (
        f"{index.index:.2f} on a scale from 0 (chance) to 1 (the same features in every training "
        f"part), 95 % interval {index.low:.2f} to {index.high:.2f}"
    )


def echo_features(study: Study) -> None:
    """The selected features, heaviest first, with at most three loadings each."""
    m = min(3, len(study.selected[0].loadings))
    loadings = ["loading"] if m == 1 else [f"loading {d + 1}" for d in range(m)]
    often, stand_in = frequencies(study), stand_ins(study)
    header = ["rank", "feature", "weight", *loadings, *(["selected"] if often else [])]
    left = {1, len(header)}
    header += ["could be replaced by"] if stand_in else []
    rows = []
    for s in study.selected[:MAX_FEATURES_SHOWN]:
        row = [str(s.rank), s.name, f"{s.weight:.3f}", *(f"{x + 0.0:+.3f}" for x in s.loadings[:m])]
        row += [f"{100 * often[s.index]:.0f} %"] if often else []
        rows.append([*row, *([stand_in.get(s.index, "")] if stand_in else [])])
    echo_table(header, rows, left=left)
    more = len(study.selected) - MAX_FEATURES_SHOWN
    click.echo(f"  ... and {more} more in {SELECTED}\n" if more > 0 else "")


def frequencies(study: Study) -> dict[int, float]:
    """How often the selected features were selected in cross-validation, by column."""
    if not len(study.frequency):
        return {}
    row = study.frequency[study.ks.index(study.best_k)]
    return {feature.index: float(row[feature.index]) for feature in study.selected}


def stand_ins(study: Study) -> dict[int, str]:
    """The cheapest stand-in of each selected feature, with its price, by column."""
    cheapest = {price.index: price.stand_ins[0] for price in study.prices if price.stand_ins}
    return {j: f"{shorten(one.name)} ({describe_loss(one.loss)})" for j, one in cheapest.items()}


def describe_loss(loss: float) -> str:
    """How much class separation a set has, compared with the one that was selected.

    It may have more: the set of a method that maximises something else need not be the best.
    """
    if abs(loss) <= ROUND_OFF:
        return "as good"
    if 1 - loss >= MAX_RATIO_IN_PERCENT:
        return f"{1 - loss:,.0f} times as good"
    size = percent(abs(loss)) if abs(loss) < 0.0995 else f"{100 * abs(loss):.0f} %"
    return f"{size} less" if loss > 0 else f"better by {size}"


def describe_search(study: Study) -> str:
    """Solver, criterion and what is known of the optimum, in a line."""
    from ..pencil.solution import GIVEN

    solution, inner = study.solution, study.final_estimator.estimator_
    shrinkage = getattr(inner, "shrinkage_", None)
    words = "" if shrinkage is None else f", shrinkage {shrinkage:.3g}"
    score = f"{solution.criterion} {solution.objective:.4g}{words}"
    parts = [score if solution.is_certified else f"{score}; {solution.status}"]
    if not study.claim:
        parts.append(common.describe_bound(solution, constrained=study.has_constraints))
    if solution.solver == GIVEN:  # another method, or a preference, chose the set
        parts[0] = f"class separation {score}"
        return "; ".join(parts)
    return f"{solution.solver}, {'; '.join(parts)}"


def plain_panels(found: NearOptimalSets, stability: Any = None) -> dict[str, Any]:
    """The list itself as JSON values."""
    from ..search.near_optimal.words import describe

    panels = [
        {
            "features": [found.name_of(j) for j in members],
            "score": float(found.scores[i]),
            "loss": float(found.losses[i]),
            **({} if stability is None else {"stability": float(stability[i])}),
        }
        for i, members in enumerate(found.sets.tolist())
    ]
    return {
        "within": found.within,
        "n_panels": found.n_sets,
        "complete": found.is_complete,
        "complete_within": found.complete_within,
        "status": str(found.status),
        "sentences": describe(found),
        "panels": panels,
        "core": [found.name_of(j) for j in found.core.tolist()],
        "n_never": int(found.never.size),
        "exchanges": [
            {"features": [found.name_of(e.one), found.name_of(e.other)], "pairs": e.n_pairs}
            for e in found.exchanges[:MAX_EXCHANGES]
        ],
    }


def echo_panels(found: NearOptimalSets, label: str = "") -> None:
    """Five lines or fewer."""
    from ..search.near_optimal.words import describe

    for i, sentence in enumerate(describe(found)):
        start = label if i == 0 else " " * len(label)
        click.echo(f"{start}{common.printable(sentence)}")
