"""Checks of what a model holds, whether it comes from a fit or from a file."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from eigensieve.errors import InputError

from ._model_file import parse_json

NUMBERS = {bool: "b", int: "iu", float: "f"}  # as numpy holds them


def shapes_of(
    features: Sequence[str], classes: Sequence[str], m: int
) -> dict[str, tuple[int, ...]]:
    """The shape of each array, for k features, K classes and m directions."""
    k, n_classes = len(features), len(classes)
    return {
        "coef": (n_classes, k),
        "intercept": (n_classes,),
        "center": (k,),
        "scale": (k,),
        "scalings": (k, m),
        "offset": (m,),
    }


def checked_names(field: str, values: Sequence[str], least: int) -> tuple[str, ...]:
    """Different strings, at least so many."""
    if isinstance(values, str) or not all(isinstance(value, str) for value in values):
        raise InputError(f"{field} must be a list of strings")
    if len(values) < least:
        raise InputError(f"{field} has {len(values)} entries; at least {least} needed")
    if len(set(values)) < len(values):
        twice = Counter(values).most_common(1)[0][0]
        raise InputError(f"{field} has {twice!r} more than once")
    return tuple(str(value) for value in values)


def checked_classes(values: Sequence[Any]) -> tuple[Any, ...]:
    """At least two different labels: strings, or numbers of one kind that numpy can hold."""
    if isinstance(values, list | tuple) and all(isinstance(v, str) for v in values):
        return checked_names("classes", values, 2)
    kinds = {type(value) for value in values}
    held = NUMBERS.get(kinds.pop()) if len(kinds) == 1 else None
    if held is None:
        raise InputError("classes must be a list of strings, or of numbers of one kind")
    array = np.array(values)
    if array.dtype.kind not in held or not np.isfinite(array).all():
        raise InputError("classes must be finite numbers of 64 bits")
    if len(set(values)) < max(len(values), 2):
        raise InputError("classes must be at least two different labels")
    return tuple(values)


def checked_array(field: str, value: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A copy with finite numbers, read-only."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(f"{field} must hold numbers ({error})") from error
    if array.shape != shape or 0 in shape:
        raise InputError(f"{field} has shape {array.shape}; expected {shape}, none of them 0")
    if not np.isfinite(array).all():
        raise InputError(f"{field} has values that are not finite")
    array.setflags(write=False)
    return array


def checked_info(info: dict[str, Any]) -> dict[str, Any]:
    """Send info through JSON now, so that a reloaded model has the very same dict."""
    if not isinstance(info, dict):
        raise InputError(f"info must be a dict, not {type(info).__name__}")
    try:
        return dict(parse_json(json.dumps(info, allow_nan=False)))
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"info must hold finite JSON values only ({error})") from error


def check_numbers(name: str, value: Any, shape: tuple[int, ...]) -> None:
    """Nested lists of this shape; numpy alone would also take "1.5", true or null."""
    if not shape:
        if type(value) not in (int, float):
            raise InputError(f"{name} must hold numbers only, found {value!r:.40}")
    elif not isinstance(value, list) or len(value) != shape[0]:
        raise InputError(f"{name} does not have the shape that features and classes ask for")
    else:
        for item in value:
            check_numbers(name, item, shape[1:])
