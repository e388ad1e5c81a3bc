"""What the classes count, from what the user says."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import InputError, OptionError
from ..pencil.checks import check_number

# Weights of classes further apart than this say nothing, and their squares would vanish.
LARGEST_WEIGHT = 1e30


def shares_of_classes(class_weight: Any, classes: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """pi (K,), proportional to weight times count, sum 1."""
    if isinstance(class_weight, str) and class_weight == "balanced":
        return np.full(classes.size, 1.0 / classes.size)
    if not isinstance(class_weight, Mapping):
        raise OptionError(
            f"class_weight is {class_weight!r}; it must be None, 'balanced' or a dict of "
            "class: weight"
        )
    index = {label: i for i, label in enumerate(classes.tolist())}
    weights = np.ones(classes.size)
    for label, weight in class_weight.items():
        if label not in index:
            known = ", ".join(map(repr, index))
            raise InputError(f"class_weight names the class {label!r}; the classes are {known}")
        low, high = 1 / LARGEST_WEIGHT, LARGEST_WEIGHT
        allowed = f"a number > 0 (from {low:.0e} to {high:.0e})"
        weights[index[label]] = check_number(
            weight, f"class_weight of class {label!r}", low, high, allowed
        )
    shares = weights * counts
    return shares / shares.sum()
