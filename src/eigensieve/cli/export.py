"""``eigensieve export``: a model file as an ONNX model, for use outside Python."""

from __future__ import annotations

from pathlib import Path

import click

from . import _common as common
from ._common import echo_json
from ._destinations import check_file, write_atomically
from ._guard import force_option
from ._outputs import find_model


@click.command("export")
@common.model_argument
@click.argument("file", type=common.DESTINATION)
@click.option("--float32", is_flag=True, help="Single precision, for runtimes without float64.")
@force_option
@common.json_option
def export_command(model: Path, file: Path, float32: bool, as_json: bool) -> None:
    """Write a model file as an ONNX model, for use outside Python.

    FILE takes a table with the model's k features, in the order of its metadata, and gives label,
    probabilities and projection. Needs: pip install 'eigensieve[onnx]'
    """
    from ..io.model import load_model
    from ..io.onnx_export import to_onnx
    from ..pencil.wording import counted

    model = find_model(model)
    check_file(file, "FILE")
    rule, dtype = load_model(model), "float32" if float32 else "float64"
    write_atomically(file, to_onnx(rule, dtype=dtype).SerializeToString(), "FILE")
    if as_json:
        features, classes = list(rule.features), list(rule.classes)
        echo_json({"file": str(file), "dtype": dtype, "features": features, "classes": classes})
    else:
        size = counted(len(rule.features), "feature")
        click.echo(f"{file}: {size}, {len(rule.classes)} classes, {dtype}")
