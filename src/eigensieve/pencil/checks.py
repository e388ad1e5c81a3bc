"""Numbers that users give: one place for their limits and their error messages."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from ..errors import InputError, OptionError


def check_number(value: Any, name: str, low: float, high: float, allowed: str) -> float:
    """The value as a float if it is a real number in [low, high]; ``allowed`` in words."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real | np.number):
        raise OptionError(f"{name} is {value!r}; it must be {allowed}")
    number = float(value)
    if not low <= number <= high:
        raise OptionError(f"{name} is {value!r}; it must be {allowed}")
    return number


def check_choice(value: Any, name: str, known: Sequence[str]) -> None:
    """Raise unless the value is one of the names that are known."""
    if not isinstance(value, str) or value not in known:
        raise OptionError(f"{name} is {value!r}; it must be one of {', '.join(known)}")


def check_labels(labels: np.ndarray) -> None:
    """Refuse missing labels, which would otherwise be a class of their own, and mixed types."""
    if labels.ndim == 0:
        return  # no y at all: what validates it says so
    if any(map(_is_missing, labels.ravel())) if labels.dtype.kind == "O" else _has_nan(labels):
        raise InputError("y has missing labels; drop those rows first")
    if labels.dtype.kind == "O":
        try:
            np.unique(labels)
        except TypeError as error:  # they cannot be put in order
            raise InputError("y has labels of several types; make all of them text") from error


def _has_nan(labels: np.ndarray) -> bool:
    return labels.dtype.kind == "f" and bool(np.isnan(labels).any())


def _is_missing(label: Any) -> bool:
    """None, NaN, or pandas' NA, which is not even unequal to itself."""
    if label is None:
        return True
    try:
        return bool(label != label)
    except TypeError:
        return True


def check_k(k: Any, name: str = "k") -> int:
    """A cardinality, or another count, as an int >= 1."""
    wrong = InputError(f"{name} is {k!r}; it must be a whole number, at least 1")
    if isinstance(k, bool | np.bool_):
        raise wrong
    try:
        number = operator.index(k)
    except TypeError:
        raise wrong from None
    if number < 1:
        raise wrong
    return number
