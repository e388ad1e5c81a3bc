"""``eigensieve predict``: classify new rows with a model file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from . import _common as common
from ._common import echo_json, echo_notes, printable
from ._destinations import check_file, write_atomically
from ._guard import force_option
from ._outputs import csv_text, read_model
from ._tables import read_for_model

if TYPE_CHECKING:
    import numpy as np

    from ..io.model import LinearModel


@click.command("predict")
@common.model_argument
@common.table_argument
@click.option(
    "--out",
    type=common.DESTINATION,
    metavar="FILE",
    help="Write the .csv here, not to stdout.",
)
@force_option
@common.transpose_option
@common.layer_option
@common.json_option
def predict_command(
    model: Path, table: Path, out: Path | None, transpose: bool, layer: str | None, as_json: bool
) -> None:
    """Classify the rows of a table with a model file.

    TABLE must have the model's features, by name and in any order; other columns are ignored. Of an
    .h5ad file the layer is that of the fit, unless another is named.
    """
    rule = read_model(model)
    if out is not None:
        check_file(out)
    known = rule.info.get("target")  # labels do not say which row it is
    labels_of_fit = [known] if isinstance(known, str) else []
    data = read_for_model(rule, table, layer, transpose=transpose, not_rows=labels_of_fit)
    echo_notes(data.notes)
    labels, chances = rule.predict(data.X).tolist(), rule.predict_proba(data.X)
    if out is not None:
        write_atomically(out, predictions_csv(rule, data.rows, labels, chances))
    if as_json:
        echo_json(predictions_plain(rule, data.rows, labels, chances, out))
    elif out is None:
        click.echo(predictions_csv(rule, data.rows, labels, chances), nl=False)
    else:
        counts = Counter(labels)
        found = ", ".join(f"{printable(c)}: {counts[c]}" for c in rule.classes if counts[c])
        click.echo(f"{len(labels)} predictions in {out}: {found}")


def predictions_csv(
    rule: LinearModel, rows: list[str], labels: list[str], chances: np.ndarray
) -> str:
    """One line per row of the table."""
    header = ["row", "predicted", *(f"prob_{label}" for label in rule.classes)]
    lines = (
        [row, label, *(f"{p:.6g}" for p in each)]
        for row, label, each in zip(rows, labels, chances.tolist())
    )
    return csv_text(header, lines)


def predictions_plain(
    rule: LinearModel, rows: list[str], labels: list[str], chances: np.ndarray, out: Path | None
) -> dict[str, Any]:
    """The same as JSON values."""
    return {
        "classes": list(rule.classes),
        "features": list(rule.features),
        "predictions": [
            {"row": row, "predicted": label, "probabilities": dict(zip(rule.classes, each))}
            for row, label, each in zip(rows, labels, chances.tolist())
        ],
        "file": None if out is None else str(out),
    }
