"""What several commands share: options, option types, and how things are said."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from ..studies.cv_path import ErrorEstimate

F = TypeVar("F", bound=Callable[..., Any])
StageProgress = Callable[[str, int, int], None]

ARGS = "eigensieve.args"  # where the context keeps the arguments as typed
FILE = click.Path(path_type=Path)  # whether it exists is said by the reader, with advice


# ---------------------------------------------------------------- options

table_argument = click.argument("table", type=FILE)
model_argument = click.argument("model", type=FILE)
target_option = click.option(
    "--target", required=True, metavar="COLUMN", help="The column that holds the class labels."
)
transpose_option = click.option(
    "--transpose", is_flag=True, help="The table has features in rows and samples in columns."
)
json_option = click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object, and nothing else, on stdout."
)
seed_option = click.option(
    "--seed",
    type=click.IntRange(0, 2**31 - 1),
    metavar="N",
    default=0,
    show_default=True,
    help="Seed of the random splits.",
)


class WholeOrAuto(click.ParamType):
    """``auto``, or a whole number of at least one."""

    name = "N|auto"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> int | str:
        if value == "auto" or isinstance(value, int):
            return value
        try:
            number = int(value)
        except ValueError:
            number = 0
        if number < 1:
            self.fail(f"{value!r} is neither auto nor a whole number of at least 1.", param, ctx)
        return number


class ShareOrAuto(click.ParamType):
    """``auto``, or a number from 0 to 1."""

    name = "0..1|auto"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> float | str:
        if value == "auto":
            return "auto"
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number <= 1:
            self.fail(f"{value!r} is neither auto nor a number from 0 to 1.", param, ctx)
        return number


class Positive(click.ParamType):
    """A finite number above 0 (click's own range lets nan pass)."""

    name = "number"

    def convert(self, value: Any, param: Any, ctx: click.Context | None) -> float:
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 < number < math.inf:
            self.fail(f"{value!r} is not a number above 0.", param, ctx)
        return number


# ---------------------------------------------------------------- saying things


def echo_notes(notes: Iterable[str]) -> None:
    """Remarks go to stderr: they are not the result."""
    for note in notes:
        click.echo(f"note: {printable(note)}", err=True)


def echo_json(result: dict[str, Any]) -> None:
    """One JSON object on stdout."""
    click.echo(json.dumps(result, indent=2, allow_nan=False))


def echo_table(
    header: Sequence[str], rows: Iterable[Sequence[str]], *, left: Collection[int]
) -> None:
    """Aligned columns; those whose numbers are in ``left`` hold text, the others numbers."""
    from rich.cells import cell_len  # a Chinese character is two columns wide

    lines = [header, *([printable(cell) for cell in row] for row in rows)]
    widths = [max(cell_len(line[j]) for line in lines) for j in range(len(header))]
    for line in lines:
        pads = [" " * (width - cell_len(cell)) for width, cell in zip(widths, line)]
        cells = [
            cell + pad if j in left else pad + cell for j, (pad, cell) in enumerate(zip(pads, line))
        ]
        click.echo("  " + "  ".join(cells).rstrip())


def printable(text: str) -> str:
    """A name from a file, without what would move the cursor or break the line."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def percent(rate: float) -> str:
    """0.0439 is 4.4 %."""
    return f"{100 * rate:.1f} %"


def describe_error(error: ErrorEstimate) -> str:
    """Rate and interval in words."""
    return f"{percent(error.error)} (95 % interval {percent(error.low)} to {percent(error.high)})"


@contextmanager
def progress_bar() -> Iterator[StageProgress]:
    """A bar per stage on stderr, where stderr is a terminal; otherwise nothing."""
    if not sys.stderr.isatty():
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    tasks = {"starting": bar.add_task("starting", total=None)}

    def show(stage: str, done: int, total: int) -> None:
        if "starting" in tasks:
            bar.remove_task(tasks.pop("starting"))
        if stage not in tasks:
            tasks[stage] = bar.add_task(stage, total=total)
        bar.update(tasks[stage], completed=done, total=total)

    with bar:
        yield show
