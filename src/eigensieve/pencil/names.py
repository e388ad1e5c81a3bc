"""Names in messages: those that look alike, and lists of a few."""

from __future__ import annotations

import difflib
import itertools
from collections.abc import Iterable, Sequence


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
