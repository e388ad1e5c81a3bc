"""Names in a table: made unique, and what they tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

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
