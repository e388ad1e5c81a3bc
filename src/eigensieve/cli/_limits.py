"""Limits on the sets that a command may choose: how many of a group, and what a set may cost."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from ..pencil.names import hint_at, listed
from . import _common as common
from . import _types as types
from ._guard import InputFile
from ._study import cut_at_comma
from ._tables import StudyTable, add_annotations

if TYPE_CHECKING:
    from ..studies.methods import Method

ALL = "all"
SEPARATOR = ";"  # between the groups of a feature, in a cell
Numbers = tuple[tuple[str | None, int], ...]


def limit_options(*, shows_annotations: bool = False) -> Callable[..., Any]:
    """The options about limits; the command gets them as one, ``limits``.

    ``shows_annotations``: whether the command has a use for the file without them.
    """

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def gathered(**options: Any) -> Any:
            own = {field.name: options.pop(field.name) for field in fields(LimitOptions)}
            limits = LimitOptions(**own)
            limits.check(shows_annotations, options.get("prefer"))
            return command(**options, limits=limits)

        for option in reversed(_options(shows_annotations)):
            gathered = option(gathered)
        return gathered

    return decorate


def _options(shows_annotations: bool) -> list[Callable[..., Any]]:
    """In the order of the help."""
    use = "shown with the selected, and for" if shows_annotations else "for"
    number = types.NumberOfGroup()
    return [
        click.option(
            "--annotations",
            type=InputFile(),
            metavar="FILE",
            help="A .csv or .tsv about the features, names in its first column; "
            f"{use} --feature-groups and --costs.",
        ),
        click.option(
            "--feature-groups",
            metavar="COLUMN",
            help="The column of that file with the group of each feature (a pathway, a band); "
            f"empty: none; several with {SEPARATOR!r} between them.",
        ),
        click.option(
            "--at-most",
            type=number,
            multiple=True,
            help="How many features of a group a set may have: of each group (2), or of one "
            '("kinases=2"); may be given again.',
        ),
        click.option(
            "--at-least", type=number, multiple=True, help="How many it must have; likewise."
        ),
        common.names_option(
            "--whole", f'Groups that are taken whole or not at all; "{ALL}" for each of them.'
        ),
        click.option(
            "--costs", metavar="COLUMN", help="The column of that file with what a feature costs."
        ),
        click.option(
            "--max-cost",
            type=types.NotNegative(),
            metavar="X",
            help="What the features of a set may cost together.",
        ),
    ]


@dataclass(frozen=True)
class LimitOptions:
    """The options as they were given.

    Attributes
    ----------
    annotations : the file about the features, if there is one
    feature_groups, costs : columns of it
    at_most, at_least : pairs of a group, or None for each, and a number
    whole : names of groups, or "all"
    max_cost : number
    """

    annotations: Path | None
    feature_groups: str | None
    at_most: Numbers
    at_least: Numbers
    whole: list[str]
    costs: str | None
    max_cost: float | None

    @property
    def given(self) -> list[str]:
        """The options about limits that have a value, as they are typed."""
        return [
            f"--{name.replace('_', '-')}"
            for name in (field.name for field in fields(self))
            if name != "annotations" and getattr(self, name) not in (None, (), [])
        ]

    def check(self, shows_annotations: bool, prefer: str | None) -> None:
        """Refuse what does not go without another option."""
        given, wants_costs, takes_prefer = self.given, prefer == "cheap", shows_annotations
        of_groups = [flag for flag in ("--at-most", "--at-least", "--whole") if flag in given]
        if of_groups and self.feature_groups is None:
            need = "--feature-groups, the column with the group of each feature"
            raise click.UsageError(f"{of_groups[0]} needs {need}.")
        if self.feature_groups is not None and not of_groups:
            raise click.UsageError("--feature-groups needs --at-most, --at-least or --whole.")
        if wants_costs and self.costs is None:
            raise click.UsageError("--prefer cheap needs --costs, the column with the costs.")
        if (self.costs is None) != (self.max_cost is None) and not wants_costs:
            one, other = ("--costs", "--max-cost")[:: 1 if self.max_cost is None else -1]
            hint = " (or --prefer cheap)" if takes_prefer and other == "--max-cost" else ""
            raise click.UsageError(f"{one} needs {other}{hint}: give both, or neither.")
        if given and self.annotations is None:
            raise click.UsageError(f"{given[0]} needs --annotations, the file with that column.")
        if self.annotations is not None and not given and not shows_annotations:
            raise click.UsageError("--annotations needs --feature-groups or --costs.")

    def check_method(self, method: Method) -> None:
        """Refuse limits where the method cannot keep them."""
        from ..studies.methods import METHODS

        if self.given and not method.has("constraints"):
            able = ", ".join(each.name for each in METHODS.values() if each.has("constraints"))
            raise click.UsageError(
                f"{self.given[0]} is not for method {method.name}; methods that keep limits: {able}"
            )

    def read(self, table: StudyTable) -> dict[str, Any]:
        """The limits as the library takes them, with features by index; {} if there are none."""
        add_annotations(table, self.annotations)
        found: dict[str, Any] = {}
        if self.feature_groups is not None:
            cells = self._cells(table, self.feature_groups, "--feature-groups")
            groups = _read_groups(cells, table.names)
            table.notes.append(_about_groups(groups, self.feature_groups, table.names))
            found = {
                "groups": groups,
                "at_most": _numbers(self.at_most, groups, "--at-most"),
                "at_least": _numbers(self.at_least, groups, "--at-least"),
                "whole": _whole(self.whole, groups),
            }
        if self.max_cost is not None:
            found |= {"costs": self.read_costs(table), "max_cost": self.max_cost}
        return found

    def read_costs(self, table: StudyTable) -> list[float]:
        """What every feature costs; the file about the features has been read."""
        assert self.costs is not None
        cells = self._cells(table, self.costs, "--costs")
        if missing := [name for name in table.names if name not in cells]:
            raise InputError(
                f"--costs: {len(missing):,} of {len(table.names):,} features are not in "
                f"{self.annotations} ({listed(missing)}); each one needs a cost"
            )
        return [_cost(name, cells[name], self.costs) for name in table.names]

    def _cells(self, table: StudyTable, column: str, option: str) -> dict[str, str]:
        """A column of the file, by the name of the feature."""
        columns = table.source["annotation_columns"]
        if column not in columns:
            raise InputError(
                f"{option}: {self.annotations} has no column {column!r}; {hint_at(column, columns)}"
            )
        place = columns.index(column)
        return {name: row[place] for name, row in table.source["annotations"].items()}


def in_words(limits: dict[str, Any]) -> list[str]:
    """What the limits say, rule by rule."""
    from ..pencil.constraints import Constraints

    return Constraints(**limits).in_words()


def echo_limits(said: Iterable[str]) -> None:
    """The limits in a line, if there are any."""
    if line := "; ".join(said):
        click.echo(f"limits  {common.printable(line)}")


def _read_groups(cells: dict[str, str], names: list[str]) -> dict[str, list[int]]:
    """The features of every group, in the order of the table."""
    from ..io._sheet import MISSING

    groups: dict[str, list[int]] = {}
    for j, name in enumerate(names):
        parts = [part.strip() for part in cells.get(name, "").split(SEPARATOR)]
        for group in dict.fromkeys(part for part in parts if part not in MISSING):
            groups.setdefault(group, []).append(j)
    return groups


def _about_groups(groups: dict[str, list[int]], column: str, names: list[str]) -> str:
    """How many features have a group, and how many groups there are."""
    if not groups:
        raise InputError(f"--feature-groups: no feature of the table has a group in {column!r}")
    n = len(set().union(*groups.values()))
    are = "There is 1 group" if len(groups) == 1 else f"There are {len(groups):,} groups"
    have = "features has one" if n == 1 else "features have one"
    return f"{are} in {column!r}; {n:,} of the {len(names):,} {have}."


def _numbers(given: Numbers, groups: Collection[str], option: str) -> dict[str, int]:
    """The number of every group that has one; those of all groups give way to its own."""
    asked = dict(given)
    if len(asked) < len(given):
        twice = next(name for name, _ in given if [other for other, _ in given].count(name) > 1)
        what = "all groups" if twice is None else f"{twice!r}"
        raise click.UsageError(f"{option} gives more than one number for {what}.")
    named = {name: number for name, number in asked.items() if name is not None}
    _check_names(named, groups, option)
    return {**(dict.fromkeys(groups, asked[None]) if None in asked else {}), **named}


def _whole(given: list[str], groups: Collection[str]) -> list[str]:
    if ALL in given:
        return list(groups)
    _check_names(given, groups, "--whole")
    return list(dict.fromkeys(given))


def _check_names(wanted: Iterable[str], groups: Collection[str], option: str) -> None:
    for name in wanted:
        if name not in groups:
            quoted = cut_at_comma(name, list(groups))
            comma = f"a name with a comma needs double quotes: '\"{quoted}\"'"
            hint = comma if quoted else hint_at(name, groups)
            raise InputError(f"{option}: no group is named {name!r}; {hint}")


def _cost(name: str, cell: str, column: str) -> float:
    """What a feature costs."""
    from ..io._cells import is_decimal_comma
    from ..io._sheet import parse_number

    number = parse_number(cell)
    if number is not None and 0 <= number < float("inf"):
        return number
    what = f"is {cell!r}" if cell else "is empty"
    point = ", with a decimal point" if is_decimal_comma(cell) else ""
    raise InputError(
        f"--costs: the cell of feature {name!r} in column {column!r} {what}; it must be a number "
        f"of at least 0{point}"
    )
