"""``eigensieve data``: the tables at hand."""

from __future__ import annotations

import os
import shlex
from collections import Counter
from typing import TYPE_CHECKING

import click

from ..errors import InputError
from ._common import echo_table, printable

if TYPE_CHECKING:
    from ..datasets.loader import NamedTable


@click.group("data")
def data_command() -> None:
    """List and describe the tables at hand.

    Embedded are four small tables; further ones are the .npz files (arrays X, y and
    feature_names) of the folder that the variable EIGENSIEVE_DATA names.
    """


@data_command.command("list")
def list_command() -> None:
    """One line per table."""
    from ..datasets.loader import VARIABLE, load_table, table_names

    rows = []
    for name, source in table_names():
        try:
            table = load_table(name)
        except InputError:
            rows.append([name, "-", "-", "-", f"no X and y: {source}"])
            continue
        n, p = table.X.shape
        rows.append([name, str(n), str(p), str(len(set(table.y.tolist()))), source])
    echo_table(["name", "samples", "features", "classes", "source"], rows, left={0, 4})
    if not os.environ.get(VARIABLE):
        click.echo(f"\nFor more, set {VARIABLE} to a folder of .npz files.", err=True)


@data_command.command("show")
@click.argument("name")
def show_command(name: str) -> None:
    """Samples, features and classes of the table NAME."""
    from ..datasets.loader import load_table

    table = load_table(name)
    for word, text in describe_table(table).items():
        click.echo(f"{word:<9} {printable(text)}")
    if table.source.endswith(".npz"):
        click.echo(f"\nfit it:   eigensieve fit {shlex.quote(table.source)} --target y")


def describe_table(table: NamedTable) -> dict[str, str]:
    """What one should know before fitting, in words."""
    import numpy as np

    from ..pencil.wording import counted

    n, p = table.X.shape
    counts = Counter(table.y.tolist())
    repeated = p - len(set(table.names))
    constant = int(np.count_nonzero(table.X.max(axis=0) == table.X.min(axis=0)))
    first = ", ".join(table.names[:5]) + (", ..." if p > 5 else "")
    return {
        "table": f"{table.name} ({table.source})",
        "size": f"{n} samples x {p} features",
        "classes": ", ".join(f"{label} {count}" for label, count in counts.most_common()),
        "features": first + (f" ({counted(repeated, 'repeated name')})" if repeated else ""),
        "values": f"{table.X.min():g} to {table.X.max():g}"
        + (f", {counted(constant, 'constant column')}" if constant else ""),
    }
