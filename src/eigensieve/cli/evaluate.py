"""``eigensieve evaluate``: a model file against a table with known labels."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import _common as common
from ._common import describe_error, echo_json, echo_notes, echo_table, percent
from ._outputs import read_model
from ._tables import read_for_model

if TYPE_CHECKING:
    import numpy as np

    from ..io.model import LinearModel
    from ..studies.estimates import ErrorEstimate


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Counts of true against predicted classes, the error they make, and the probabilities.

    A class without samples has no recall (None), and no part in the balanced error.
    """

    classes: tuple[str, ...]
    confusion: np.ndarray
    error: ErrorEstimate
    log_loss: float
    brier: float

    @property
    def recall(self) -> list[float | None]:
        rows = zip(self.confusion.diagonal().tolist(), self.confusion.sum(axis=1).tolist())
        return [right / n if n else None for right, n in rows]

    @property
    def balanced_error(self) -> float:
        known = [rate for rate in self.recall if rate is not None]
        return 1.0 - sum(known) / len(known)


@click.command("evaluate")
@common.model_argument
@common.table_argument
@common.target_option
@common.transpose_option
@common.layer_option
@common.json_option
def evaluate_command(
    model: Path, table: Path, target: str, transpose: bool, layer: str | None, as_json: bool
) -> None:
    """How well a model file does on a table with known labels.

    The table must be new to the model: on the samples it was fitted on, the error is too small.
    """
    rule = read_model(model)
    check_target(rule, target.strip())
    data = read_for_model(rule, table, layer, target=target, transpose=transpose)
    assert data.target is not None
    echo_notes(data.notes)
    found = evaluate_model(rule, data.X, data.target, str(table))
    if as_json:
        echo_json(as_plain(found))
    else:
        echo_evaluation(found)


def check_target(rule: LinearModel, target: str) -> None:
    """A mix-up that would otherwise read as a feature missing from the table."""
    if target in rule.features:
        fitted = rule.info.get("target")
        was = f"; it was fitted to predict {fitted!r}" if isinstance(fitted, str) else ""
        raise InputError(f"--target {target!r} is a feature of the model, not its target{was}")


def evaluate_model(rule: LinearModel, X: np.ndarray, y: np.ndarray, how: str) -> Evaluation:
    """Compare the model's predictions with the truth."""
    import numpy as np

    from ..studies.calibration import brier_score, log_loss
    from ..studies.estimates import error_estimate

    unseen = sorted(set(y.tolist()).difference(rule.classes))
    if unseen:
        shown = ", ".join(map(repr, unseen[:5])) + (", ..." if len(unseen) > 5 else "")
        raise InputError(
            f"the model has never seen the label(s) {shown}; it knows "
            f"{', '.join(map(repr, rule.classes[:10]))}: rename them, or leave these rows out"
        )
    place = {label: i for i, label in enumerate(rule.classes)}
    predicted = rule.predict(X)
    confusion = np.zeros((len(place), len(place)), dtype=int)
    for truth, guess in zip(y.tolist(), predicted.tolist()):
        confusion[place[truth], place[guess]] += 1
    wrong = int(np.count_nonzero(predicted != y))
    log_proba, code = rule.predict_log_proba(X), np.array([place[label] for label in y.tolist()])
    return Evaluation(
        rule.classes,
        confusion,
        error_estimate(wrong, len(y), how),
        log_loss(log_proba, code),
        brier_score(np.exp(log_proba), code),
    )


def as_plain(found: Evaluation) -> dict[str, Any]:
    """The result as JSON values."""
    return {
        "n_samples": found.error.n_samples,
        "error": found.error.error,
        "interval": [found.error.low, found.error.high],
        "balanced_error": found.balanced_error,
        "log_loss": found.log_loss,
        "brier": found.brier,
        "recall": dict(zip(found.classes, found.recall)),
        "classes": list(found.classes),
        "confusion": found.confusion.tolist(),
    }


def echo_evaluation(found: Evaluation) -> None:
    """Error, and true (rows) against predicted (columns) classes."""
    click.echo(f"samples         {found.error.n_samples}")
    click.echo(f"error           {describe_error(found.error)}")
    click.echo(f"balanced error  {percent(found.balanced_error)}")
    click.echo(f"probabilities   log-loss {found.log_loss:.3f}, Brier score {found.brier:.3f}\n")
    click.echo("True classes in rows, predicted classes in columns:\n")
    rows = (
        [label, *map(str, counts), "-" if recall is None else percent(recall)]
        for label, counts, recall in zip(found.classes, found.confusion.tolist(), found.recall)
    )
    labels = [common.printable(label) for label in found.classes]
    echo_table(["", *labels, "recall"], rows, left={0})
