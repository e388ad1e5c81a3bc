"""Features by name: what the columns of a table are called, and where they stand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..pencil.names import close_names, listed
from .kinds.frames import column_names
from .kinds.opening import as_big_table

MAX_NAMES_LISTED = 10


def feature_names(X: Any, given: Iterable[str] | None) -> tuple[str, ...] | None:
    """Those that are given, or else those of the table, if it has any."""
    if given is not None:
        return tuple(str(name) for name in given)
    table = as_big_table(X)
    if table is None or table.names is None:
        return column_names(X)
    return tuple(str(name) for name in table.names)


def find_columns(wanted: Any, names: Sequence[str] | None, what: str) -> Any:
    """Positions in place of names; numbers stay, and are not checked here."""
    if isinstance(wanted, str):
        raise InputError(f"{what} must be a list of names or indices, not {wanted!r}")
    try:
        given = list(wanted)
    except TypeError:  # a single number, say: left to the checks of indices
        return wanted
    texts = [each for each in given if isinstance(each, str)]
    if not texts:
        return wanted
    if names is None:
        raise InputError(
            f"{what} must list feature indices: {texts[0]!r} is a name, and the features have no "
            "names; give all of them by names="
        )
    times = Counter(names)
    for name in texts:
        if times[name] > 1:
            raise InputError(f"{what}: {times[name]} features are called {name!r}; give indices")
    places = iter(find_names(texts, names, what).tolist())
    return [next(places) if isinstance(each, str) else each for each in given]


def find_names(wanted: Sequence[str], names: Sequence[str] | np.ndarray, what: str) -> np.ndarray:
    """Positions of some names; an error lists those that are missing, with near ones."""
    place = {name: j for j, name in enumerate(names)}
    missing = [name for name in wanted if name not in place]
    if missing:
        raise InputError(
            f"{what}: {len(missing)} of {len(wanted)} names not found: {_with_near(missing, names)}"
        )
    return np.array([place[name] for name in wanted], dtype=np.intp)


def _with_near(missing: Sequence[str], names: Sequence[str] | np.ndarray) -> str:
    """The first of the names, the very first with those that look alike."""
    known = [str(name) for name in names]
    parts = [repr(name) for name in missing[:MAX_NAMES_LISTED]]
    for i, name in enumerate(missing[:3]):
        if close := close_names(str(name), known):
            parts[i] += f" (close: {listed(close)})"
    return ", ".join(parts) + (", ..." if len(missing) > MAX_NAMES_LISTED else "")
