"""The columns of a sheet (its rows, if it was turned), found by their names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

from eigensieve.errors import TableError

from ..pencil.names import close_names, listed
from ._names import filled_names, unique_names
from ._sheet import Sheet

_MARKS = {",": "a comma", ";": "a semicolon", "\t": "a tab"}


class Columns:
    """Names of a sheet's columns, and errors that help where a name is not there.

    Parameters
    ----------
    sheet : Sheet
    transpose : bool
        What is a column here was a row of the file; the messages say so.
    """

    def __init__(self, sheet: Sheet, transpose: bool) -> None:
        self.sheet = sheet
        self.kind, self.other_kind = ("row", "column") if transpose else ("column", "row")
        self.raw = [name.strip() for name in sheet.names]
        self.given = filled_names(self.raw)
        self.names, self.renamed = unique_names(self.given)

    @property
    def repeated(self) -> frozenset[str]:
        """The unique names of all columns that share their name with another."""
        counts = Counter(self.given)
        return frozenset(n for n, given in zip(self.names, self.given) if counts[given] > 1)

    def find(self, name: str, role: str) -> int:
        """The one column of this name; role ("the target") is for the messages."""
        found = [j for j, raw in enumerate(self.raw) if raw == name]
        if len(found) == 1:
            return found[0]
        if found:
            raise TableError(
                f"{len(found)} {self.kind}s are named {name!r}, {role}; rename all but one"
            )
        if name in self._crosswise():
            hint = f"a {self.other_kind} has that name: {self._turn}"
        elif close := close_names(name, self.names):
            hint = f"close: {listed(close)}"
        else:
            hint = f"the first {self.kind}s are {listed(self.names[:5])}"
        raise TableError(
            f"no {self.kind} is named {name!r}, {role}; {hint}{self.about_the_delimiter()}"
        )

    def find_ignored(self, ignore: Collection[str]) -> set[int]:
        """A repeated name stands for all columns of that name."""
        unknown = set(ignore).difference(self.raw, self.names)
        if unknown:
            raise TableError(
                f"to ignore, but not in the table: {self._with_close(sorted(unknown))}; "
                f"the first {self.kind}s are {listed(self.names[:5])}"
            )
        pairs = enumerate(zip(self.raw, self.names))
        return {j for j, (raw, name) in pairs if raw in ignore or name in ignore}

    def find_all(self, wanted: Sequence[str], taken: Collection[int]) -> list[int]:
        """The columns of these names, in their order; those taken are not to be had."""
        where = {name: j for j, name in enumerate(self.names) if j not in taken}
        missing = [name for name in wanted if name not in where]
        if missing:
            found = not set(self._crosswise()).isdisjoint(missing)
            hint = (
                f"{self.other_kind}s have such names: {self._turn}"
                if found
                else "rename or add them"
            )
            raise TableError(
                f"{len(missing)} of the {len(wanted)} {self.kind}s needed are missing: "
                f"{self._with_close(missing)}; {hint}{self.about_the_delimiter()}"
            )
        if not wanted:
            raise TableError("the list of columns to read is empty; name at least one")
        found_at = [where[name] for name in wanted]
        self._check_unambiguous(found_at)
        return found_at

    def about_the_delimiter(self) -> str:
        """A hint where the file has one column: it may be delimited by some other character."""
        width = len(self.names) if self.kind == "column" else 1 + len(self.sheet.rows or [])
        if width > 1 or self.sheet.delimiter is None:
            return ""
        return about_one_column(self.sheet.delimiter)

    def _crosswise(self) -> Collection[str]:
        """What would be names of features if the table were read the other way round."""
        if self.kind == "row":
            return self.sheet.rows or []
        return self.sheet.rows or self.sheet.texts.get(0, [])

    @property
    def _turn(self) -> str:
        return f"read the table {'without' if self.kind == 'row' else 'with'} --transpose"

    def _check_unambiguous(self, wanted: Iterable[int]) -> None:
        """Repeated names differ by their order only, and that may be another in a new table."""
        counts = Counter(self.given)
        for j in wanted:
            if counts[self.given[j]] > 1:
                raise TableError(
                    f"{counts[self.given[j]]} {self.kind}s are named {self.given[j]!r}, and it "
                    f"cannot be told which of them is the {self.names[j]!r} that is needed; rename "
                    "them, and if the table of the fit repeats the name, do so there and fit again"
                )

    def _with_close(self, missing: Sequence[str]) -> str:
        """Up to ten names, the first three with those of the table that look alike."""
        parts = [repr(name) for name in missing[:10]]
        for i, name in enumerate(missing[:3]):
            if close := close_names(name, self.names):
                parts[i] += f" (close: {listed(close)})"
        return ", ".join(parts) + (", ..." if len(missing) > 10 else "")


def about_one_column(delimiter: str) -> str:
    """A hint for a text file whose header is one column."""
    return (
        f"; the header is one column, with {_MARKS[delimiter]} as the delimiter: "
        "a .csv needs commas, semicolons or tabs, a .tsv or .txt needs tabs"
    )
