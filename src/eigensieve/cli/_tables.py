"""The options about the table of a study, and the table they lead to."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from . import _common as common

if TYPE_CHECKING:
    import numpy as np

    from ..io.model import LinearModel
    from ..io.tables import Table

groups_option = click.option(
    "--groups",
    metavar="COLUMN",
    help="The column that says which samples belong together (one patient): they stay together.",
)
copies_option = click.option(
    "--group-copies",
    is_flag=True,
    help="Rows that are copies of each other (equal, or nearly so) stay together, as in --groups.",
)
missing_option = click.option(
    "--missing",
    type=click.Choice(["error", "median"]),
    default="error",
    show_default=True,
    help="Missing values: an error, or the median of the column (in each training part anew).",
)
log2_option = click.option(
    "--log2",
    is_flag=True,
    help="Take log2 of all features first; the model does the same to new rows.",
)
_ALL = (
    common.target_option,
    groups_option,
    copies_option,
    missing_option,
    common.ignore_option,
    common.transpose_option,
    common.layer_option,
    log2_option,
    common.log2_floor_option,
)


# of commands that take the table as a whole: nothing is left out and predicted
_OF_WHOLE = (
    click.option(
        "--groups",
        metavar="COLUMN",
        help="The column that says which samples belong together, as in fit: it is no feature.",
    ),
    click.option(
        "--missing",
        type=click.Choice(["error", "median"]),
        default="error",
        show_default=True,
        help="Missing values: an error, or the median of the column.",
    ),
    common.ignore_option,
    common.transpose_option,
    common.layer_option,
    click.option("--log2", is_flag=True, help="Take log2 of all features first."),
    common.log2_floor_option,
)


def table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """All options about the table."""
    return _with(_ALL, command)


def whole_table_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but for the target, where a table is not cut into parts."""
    return _with(_OF_WHOLE, command)


def _with(options: Iterable[Callable[..., Any]], command: Callable[..., Any]) -> Callable[..., Any]:
    for option in reversed([*options]):
        command = option(command)
    return command


@dataclass(eq=False)
class StudyTable:
    """A table as a study takes it; ``source`` is what the report says of its origin.

    ``gaps`` are notes on missing values, which a study says in its own words; ``repeated`` are
    names that more than one column of the file had; ``repeating`` is the column of row
    identifiers, if its entries repeat; ``rows`` are these, or numbers.
    """

    X: Any  # an array; a csr matrix, where the file has one
    y: np.ndarray
    names: list[str]
    groups: np.ndarray | None
    notes: list[str]
    gaps: list[str]
    repeated: frozenset[str]
    repeating: str | None
    rows: list[str]
    source: dict[str, Any] = field(default_factory=dict)


def read_study_table(
    path: Path,
    target: str,
    groups: str | None,
    missing: str,
    ignore: list[str],
    transpose: bool,
    log2: bool,
    log2_floor: float | None,
    layer: str | None = None,
) -> StudyTable:
    """Read it, and take logarithms if wanted."""
    from ..io.tables import read_table

    floor = resolve_floor(log2, log2_floor)
    data = read_table(
        path, target, transpose=transpose, ignore=ignore, groups=groups,
        missing="keep" if missing == "median" else "error", layer=layer,
    )  # fmt: skip
    assert data.target is not None
    notes = data.notes_but_missing
    gaps = [note for note in data.notes if note not in notes]
    X, names = without_empty(data.X, data.names, notes) if gaps else (data.X, data.names)
    X = X if floor is None else take_log2(X, floor, notes)
    repeating = data.identifier if len(set(data.rows)) < len(data.rows) else None
    return StudyTable(
        X, data.target, names, data.groups, notes, gaps, data.repeated, repeating,
        data.rows, {"log2_floor": floor, "layer": layer},
    )  # fmt: skip


def read_for_study(path: Path, target: str, options: dict[str, Any]) -> StudyTable:
    """Read it by the options of a command that splits the samples."""
    names = ("groups", "missing", "ignore", "transpose", "log2", "log2_floor", "layer")
    table = read_study_table(path, target, **{name: options[name] for name in names})
    table.notes += about_groups(table, options["groups"])
    if options["group_copies"]:
        join_copies(table)
    return table


def read_for_model(rule: LinearModel, path: Path, layer: str | None, **options: Any) -> Table:
    """New rows of a model; of an .h5ad file the layer of the fit, unless another is named."""
    from ..io.tables import read_table

    fitted = rule.info.get("layer")
    if not layer and path.suffix.lower() == ".h5ad" and isinstance(fitted, str):
        layer = fitted
    missing: Any = "error" if rule.fill is None else "keep"  # the model knows how to fill them
    return read_table(path, columns=rule.features, missing=missing, layer=layer, **options)


def without_empty(X: Any, names: list[str], notes: list[str]) -> tuple[Any, list[str]]:
    """A column without any value has no median: it goes, with a note."""
    import numpy as np
    from scipy import sparse

    if sparse.issparse(X):
        gaps = np.bincount(X.indices[np.isnan(X.data)], minlength=X.shape[1])
    else:
        gaps = np.isnan(X).sum(axis=0)
    keep = np.flatnonzero(gaps < X.shape[0])
    if keep.size == X.shape[1]:
        return X, names
    if not keep.size:
        raise InputError("no feature has any value; fill them in")
    n_left_out = X.shape[1] - keep.size
    notes.append(f"{n_left_out} feature(s) without any value were left out.")
    part = X[:, keep]
    return np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part, [
        names[j] for j in keep.tolist()
    ]


def about_groups(table: StudyTable, groups: str | None) -> list[str]:
    """Are there groups, or should there be?"""
    if groups is not None:
        assert table.groups is not None
        if len(set(table.groups.tolist())) < len(table.groups):
            return []
        return [f"All entries of {groups!r} are different: --groups keeps no samples together."]
    if table.repeating is None:
        return []
    name = shlex.quote(table.repeating)
    who = f"If samples with the same entry in {table.repeating!r} belong together"
    return [f"{who} (are of one patient, say), fit with --groups {name}."]


def join_copies(table: StudyTable) -> None:
    """Groups, those there are and more: rows that are copies of each other."""
    from ..studies.data import copy_groups

    before = len(table.rows) if table.groups is None else len(set(table.groups.tolist()))
    table.groups = copy_groups(table.X, table.groups)
    after = len(set(table.groups.tolist()))
    if before == after:
        table.notes.append("--group-copies has no effect: no row is a copy of one kept apart.")
    else:
        table.notes.append(f"Rows that are copies of each other stay together: {after:,} groups.")


def add_annotations(table: StudyTable, path: Path | None) -> None:
    """What a file says about the features goes along with the table."""
    if path is None:
        return
    from ..io.annotations import read_annotations

    found = read_annotations(path, table.names, table.repeated)
    table.notes += found.notes
    table.source |= {"annotation_columns": found.columns, "annotations": found.rows}


def without_features(table: StudyTable, names: list[str], option: str) -> None:
    """Take columns out of the table, for methods that cannot be told to pass over them."""
    import numpy as np

    from ._study import find_features

    gone = set(find_features(names, table.names, option))
    keep = [j for j in range(len(table.names)) if j not in gone]
    if not keep:
        raise InputError(f"{option} leaves no feature to select; exclude fewer")
    part = table.X[:, keep]
    table.X = np.ascontiguousarray(part) if isinstance(part, np.ndarray) else part
    table.names = [table.names[j] for j in keep]


def resolve_floor(log2: bool, floor: float | None) -> float | None:
    """What values are raised to before log2; None without --log2."""
    if floor is not None and not log2:
        raise click.UsageError("--log2-floor needs --log2.")
    return (floor or 1.0) if log2 else None


def take_log2(X: Any, floor: float, notes: list[str]) -> Any:
    """log2 of the features, and a note if values had to be raised.

    A sparse matrix stays sparse with the floor 1, whose logarithm is 0; otherwise it is filled in.
    """
    import numpy as np
    from scipy import sparse

    n_values = int(np.prod(X.shape))
    stored = X.data if sparse.issparse(X) else X
    low = int(np.less(stored, floor).sum()) + (n_values - stored.size)
    if low:
        raised = f"{low} of {n_values} values lie below {floor:g} and were raised to it (log2)."
        notes.append(raised)
    if not sparse.issparse(X):
        return np.log2(np.maximum(X, floor))
    if floor == 1:
        logs = np.log2(np.maximum(X.data, floor))
        return sparse.csr_array((logs, X.indices, X.indptr), shape=X.shape)
    notes.append(
        f"The matrix is sparse, and log2 with the floor {floor:g} has no zeros: it was filled in."
    )
    return np.log2(np.maximum(X.toarray(), floor))
