"""What each column of a sheet is: target, groups, identifier, feature, or left out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from eigensieve.errors import TableError

from ._cells import (
    are_distinct,
    are_distinct_integers,
    example,
    is_decimal_comma,
    is_mistyped,
    numbers_in,
)
from ._columns import Columns
from ._names import has_no_name, names_rows
from ._sheet import MISSING, Sheet


@dataclass(frozen=True)
class Asked:
    """What the caller of ``read_table`` asked for."""

    target: str | None
    groups: str | None
    ignore: frozenset[str]
    columns: Sequence[str] | None
    keep_missing: bool
    not_rows: frozenset[str] = frozenset()

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of columns that are text, whatever is in them."""
        return tuple(name for name in (self.target, self.groups) if name is not None)


@dataclass(frozen=True)
class Roles:
    """Positions in the sheet; None where there is no such column."""

    target: int | None
    groups: int | None
    identifier: int | None
    features: list[int]


def find_roles(columns: Columns, asked: Asked) -> Roles:
    """Which column is what; what was asked for by name comes first."""
    target = None if asked.target is None else columns.find(asked.target, "the target")
    groups = None if asked.groups is None else columns.find(asked.groups, "the groups")
    left_out = columns.find_ignored(asked.ignore)
    for position, name, role in (
        (target, asked.target, "is the target"),
        (groups, asked.groups, "holds the groups"),
    ):
        if position in left_out:
            raise TableError(f"{name!r} {role}, and cannot be ignored as well")
    labels = {j for j in (target, groups) if j is not None}
    others = [j for j in range(len(columns.names)) if j not in left_out | labels]
    _settle_booleans(columns.sheet, others)
    wanted = None if asked.columns is None else columns.find_all(asked.columns, labels)
    eligible = [j for j in others if columns.raw[j] not in asked.not_rows]
    identifier = _Identifier(columns, eligible, groups).find(wanted)
    return Roles(target, groups, identifier, wanted or [j for j in others if j != identifier])


def _settle_booleans(sheet: Sheet, others: Iterable[int]) -> None:
    """Text that only says true or false (or nothing) is a column of 1 and 0."""
    for j in sheet.texts.keys() & set(others):
        cells = sheet.texts[j]
        if {cell.casefold() for cell in set(cells) - MISSING} <= {"true", "false"}:
            codes = {"true": 1.0, "false": 0.0}
            sheet.numbers[:, j] = [codes.get(cell.casefold(), np.nan) for cell in cells]
            del sheet.texts[j]


class _Identifier:
    """Looks at the first column: does it say which sample a row is?

    ``others``: the columns that may do so, without those of labels and those left out.
    """

    def __init__(self, columns: Columns, others: list[int], groups: int | None) -> None:
        self.sheet, self.raw = columns.sheet, columns.raw
        self.others = others
        self.groups = groups

    def find(self, wanted: Collection[int] | None) -> int | None:
        if self.sheet.rows is not None or not self.others:
            return None
        first = self.others[0]
        if first in (wanted or ()):
            return None
        says_so = self.names_samples if first in self.sheet.texts else self.numbers_rows
        return first if says_so(first) else None

    def names_samples(self, j: int) -> bool:
        """Text that is neither numbers with slips nor, behind the groups, about something else."""
        cells = self.sheet.texts[j]
        if is_decimal_comma(example(cells)):
            return False
        # 1, 2, 2b in a column that is called id are identifiers, not slips.
        whole = self.is_named_so(j) and all(x.is_integer() for x in numbers_in(cells))
        if is_mistyped(cells) and not whole:
            return False
        # the groups stand where identifiers do
        behind_groups = self.groups is not None and self.groups < j
        return not behind_groups or self.is_named_so(j) or are_distinct(cells)

    def is_named_so(self, j: int) -> bool:
        return has_no_name(self.raw[j]) or names_rows(self.raw[j])

    def numbers_rows(self, j: int) -> bool:
        """Whole numbers, all different: as a feature they would leak the order of the rows."""
        return self.is_named_so(j) and are_distinct_integers(self.sheet.numbers[:, j])
