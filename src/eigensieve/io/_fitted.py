"""What a fitted estimator says of itself, as JSON values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError

FACTS = ("objective", "bound", "gap", "criterion", "status", "solver")  # of a search


def describe_search(estimator: Any) -> dict[str, Any]:
    """What is known of its search, if it has one; nothing that is infinite."""
    facts: dict[str, Any] = {}
    solution = getattr(estimator, "solution_", None)
    for name in FACTS:
        value = getattr(solution, name, None)
        if isinstance(value, float | np.floating):
            if np.isfinite(value):
                facts[name] = float(value)
        elif value is not None:
            facts[name] = str(value)
    return facts


def describe(estimator: Any) -> dict[str, Any]:
    """Which method it is, and what is known of its search."""
    kind = {"method": type(estimator).__name__, "eigensieve": __version__}
    return {**kind, **describe_search(estimator)}


def check_linear(estimator: Any) -> None:
    """Raise unless a model file can hold it."""
    if hasattr(estimator, "coef_") and hasattr(estimator, "get_support"):
        return
    name = type(estimator).__name__
    if hasattr(estimator, "fit") and not hasattr(estimator, "n_features_in_"):
        raise InputError(f"{name} is not fitted; call fit first")
    lacking = "coef_" if hasattr(estimator, "get_support") else "get_support"
    raise InputError(
        f"{name} has no {lacking}: a model file holds classifiers of the package with linear rules "
        "only (rule='centroid' or 'lda' for uncorrelated LDA), alone or in a PreparedClassifier, "
        "which standardises for them"
    )


def plain_labels(labels: Any) -> tuple[Any, ...]:
    """Text, numbers and truth values as JSON has them; text of anything else."""
    plain = np.asarray(labels).tolist()
    kinds = {type(label) for label in plain}
    is_plain = len(kinds) == 1 and kinds <= {int, float, bool}
    return tuple(plain) if is_plain else tuple(str(label) for label in plain)
