"""Names in a table: made unique, compared, listed."""

from __future__ import annotations

import difflib
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence

# What pandas and R leave of an index that has no name.
_NONE = re.compile(r"(unnamed: \d+)?", re.IGNORECASE)
_OF_ROWS = re.compile(
    r"id|.*[\W_]id|(sample|patient|subject).*|barcode|accession|row[\W_]?names?|index",
    re.IGNORECASE,
)


def has_no_name(name: str) -> bool:
    """Empty, or what pandas makes of that."""
    return _NONE.fullmatch(name) is not None


def names_rows(name: str) -> bool:
    """Does the name of a column say that it tells rows apart?"""
    return _OF_ROWS.fullmatch(name) is not None


def filled_names(raw: Sequence[str]) -> list[str]:
    """The position in place of a name that is empty."""
    return [name or f"column_{j + 1}" for j, name in enumerate(raw)]


def unique_names(given: Sequence[str]) -> tuple[list[str], list[str]]:
    """Names that are all different, and a note on what was changed."""
    names = list(given)
    taken = set(names)
    seen: Counter[str] = Counter()
    renamed: list[tuple[str, str]] = []
    for j, name in enumerate(names):
        seen[name] += 1
        if seen[name] == 1:
            continue
        while (fresh := f"{name}_{seen[name]}") in taken:
            seen[name] += 1
        taken.add(fresh)
        names[j] = fresh
        renamed.append((name, fresh))
    if not renamed:
        return names, []
    old, new = renamed[0]
    note = (
        f"{len(renamed)} repeated name(s) made unique (the second {old!r} is now {new!r}); a model "
        "that selects such a column cannot be applied to a table that repeats the name."
    )
    return names, [note]


def close_names(name: str, names: Sequence[str]) -> list[str]:
    """Up to three names that look like this one."""
    same = [other for other in names if other.casefold() == name.casefold()]
    # difflib takes seconds on 50,000 names: show it those of similar length and start only.
    alike = (
        other
        for other in names
        if abs(len(other) - len(name)) <= 3 and other[:1].casefold() == name[:1].casefold()
    )
    return same[:3] or difflib.get_close_matches(name, list(itertools.islice(alike, 5000)))


def hint_at(name: str, known: Iterable[object], if_none: str = "there are none") -> str:
    """What may have been meant by a name that is not known: those that look alike, or some."""
    names = [str(each) for each in known]
    if close := close_names(name, names):
        return f"close: {listed(close)}"
    return f"there are {listed(names)}" if names else if_none


def listed(names: Sequence[str]) -> str:
    """At most five names, in quotes."""
    return ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
