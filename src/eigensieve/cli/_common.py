"""What several commands share: options, option types, and how things are said."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..studies.running.progress import progress_bar as progress_bar  # for the commands
from ..studies.running.progress import show_search as show_search
from ._guard import InputFile, force_option
from ._types import Positive, ShareOrAuto, WholeNumbers, WholeOr

if TYPE_CHECKING:
    import numpy as np

    from ..pencil.solution import Solution
    from ..studies.estimates import ErrorEstimate

F = TypeVar("F", bound=Callable[..., Any])

ARGS = "eigensieve.args"  # where the context keeps the arguments as typed
DESTINATION = click.Path(path_type=Path)


# ---------------------------------------------------------------- options

table_argument = click.argument("table", type=InputFile())
model_argument = click.argument("model", type=InputFile())
target_option = click.option(
    "--target", required=True, metavar="COLUMN", help="The column that holds the class labels."
)
transpose_option = click.option(
    "--transpose", is_flag=True, help="The table has features in rows and samples in columns."
)
layer_option = click.option(
    "--layer", metavar="NAME", help="The layer of an .h5ad file to read, in place of its X."
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


def split_names(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> list[str]:
    """``a,b`` is two names; a name with a comma is put in double quotes."""
    return [name.strip() for row in csv.reader(values) for name in row if name.strip()]


def names_option(flag: str, text: str) -> Callable[[F], F]:
    """An option that takes names, separated by commas, and may be given again."""
    return click.option(flag, multiple=True, metavar="A,B", callback=split_names, help=text)


def out_option(default: str, text: str) -> Callable[[F], F]:
    """The folder that a command writes to, and --force."""
    option = click.option(
        "--out", type=DESTINATION, default=default, show_default=True, metavar="DIR", help=text
    )
    return lambda command: option(force_option(command))


criterion_option = click.option(
    "--criterion",
    type=click.Choice(["auto", "lambda_max", "trace", "logdet"]),
    default="auto",
    show_default=True,
    help="Measure of class separation; auto: logdet (Wilks), fair to many classes (lambda_max for "
    "solvers that seek one direction, such as dc).",
)


def check_method(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """One of the methods there are; asked for only when a command runs."""
    from ..errors import OptionError
    from ..studies.methods import find_method

    try:
        return find_method(value).name
    except OptionError as error:
        raise click.BadParameter(f"{error}.") from error


method_option = click.option(
    "--method",
    default="sparse-lda",
    callback=check_method,
    show_default=True,
    metavar="NAME",
    help="What is fitted: sparse-lda, gloss, gloss-d, sulda, plda, slda, qalpha, or a classical "
    "ranking: pearson, anova, snr, svm-rfe, l1.",
)
balanced_option = click.option(
    "--balanced",
    is_flag=True,
    help="Every class counts alike, in the fit and in the choice of k, whatever its size.",
)
cv_option = click.option(
    "--cv",
    metavar="N|loo",
    type=WholeOr("loo", least=2),
    default=5,
    show_default=True,
    help="Folds of the cross-validation; loo: leave one sample (one group) out.",
)
shrinkage_option = click.option(
    "--shrinkage",
    metavar="0..1|auto",
    type=ShareOrAuto(),
    default="auto",
    show_default=True,
    help="Weight of the diagonal in the within-class scatter.",
)
ignore_option = names_option("--ignore", "Columns to leave out of the table.")
log2_floor_option = click.option(
    "--log2-floor",
    type=Positive(),
    metavar="X",
    help="Values below are raised to X before log2.  [default: 1.0]",
)
jobs_option = click.option(
    "--jobs",
    type=click.IntRange(min=1),
    metavar="N",
    help="Cores to use; the result does not depend on it.  [default: all cores]",
)


def score_of(options: dict[str, Any]) -> str:
    """What k is chosen by."""
    return "balanced_error" if options["balanced"] else "error"


def repeats_option(default: int) -> Callable[[F], F]:
    """How often cross-validation is repeated with other folds."""
    return click.option(
        "--repeats",
        type=click.IntRange(min=1),
        metavar="N",
        default=default,
        show_default=True,
        help="How often the cross-validation is repeated with other folds.",
    )


def ks_option(default: str) -> Callable[[F], F]:
    """The numbers of features to try."""
    return click.option(
        "--ks",
        metavar="N,N",
        type=WholeNumbers(),
        help=f"The numbers of features to try.  [default: {default}]",
    )


def count_jobs(wanted: int | None) -> int:
    """The number of cores to use: all, unless another number is given."""
    import joblib

    return wanted or int(joblib.cpu_count())


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


def shorten(text: str, most: int = 30) -> str:
    """At most so many characters; the middle goes, as long names often differ at the end."""
    text = printable(text)
    tail = most // 3
    return text if len(text) <= most else f"{text[: most - tail - 1]}…{text[-tail:]}"


def percent(rate: float) -> str:
    """0.0439 is 4.4 %."""
    from ..pencil.wording import percent as in_words

    return in_words(rate)


def describe_error(error: ErrorEstimate) -> str:
    """Rate and interval in words."""
    return f"{percent(error.error)} (95 % interval {percent(error.low)} to {percent(error.high)})"


def describe_classes(labels: np.ndarray) -> str:
    """How many samples there are, and of which classes."""
    import numpy as np

    classes, counts = np.unique(labels, return_counts=True)
    sizes = ", ".join(f"{printable(c)}: {n}" for c, n in zip(classes[:8].tolist(), counts))
    more = ", ..." if len(classes) > 8 else ""
    return f"{len(labels)} samples in {len(classes)} classes ({sizes}{more})"


def describe_bound(solution: Solution, constrained: bool) -> str:
    """What is known of the best set with as many features."""
    from ..pencil.wording import at_least, rounded_up

    if solution.is_certified:
        return "proved best"
    if solution.bound == math.inf:
        return "distance to the optimum not computed"
    features = f"{solution.k} feature{'' if solution.k == 1 else 's'}"
    rivals = f"no {'allowed ' if constrained else ''}set of {features} can score more than"
    if solution.objective <= 0:
        return f"{rivals} {at_least(solution.bound)}"
    # not solution.gap: its unit may be larger than the score itself
    excess = 100 * (solution.bound / solution.objective - 1)
    return f"{rivals} {rounded_up(excess)} % above this one"


def finite_or_none(value: float) -> float | None:
    """JSON knows no infinity."""
    return value if math.isfinite(value) else None
