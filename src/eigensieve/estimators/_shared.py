"""What the estimators share: cardinality, names, statuses."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..core.checks import check_k
from ..core.solution import Solution, Status
from ..errors import InputError

UNFINISHED = (Status.TIME_LIMIT, Status.ITERATION_LIMIT, Status.INTERRUPTED)


def clip_k(k: Any, p: int) -> int:
    """k as an int, at most p; more is clipped with a warning."""
    number = check_k(k, "n_features_to_select")
    if number > p:
        warnings.warn(
            f"n_features_to_select is {number}, but only {p} features may be chosen; selecting {p}",
            UserWarning,
            stacklevel=3,
        )
    return min(number, p)


def check_unique_names(X: Any) -> None:
    """Repeated column names (common in gene tables) get an error that can be understood."""
    columns = getattr(X, "columns", None)
    if columns is None:
        return
    names, counts = np.unique(np.asarray([str(c) for c in columns]), return_counts=True)
    repeated = names[counts > 1]
    if repeated.size:
        raise InputError(
            f"{repeated.size} column names occur more than once ({str(repeated[0])!r} for one); "
            "make them unique, or pass X.to_numpy()"
        )


def feature_indices(
    wanted: Sequence[Any], names: np.ndarray | None, p: int, what: str
) -> np.ndarray:
    """Indices of features given by index or, if X had names, by name."""
    if wanted is None or len(wanted) == 0:
        return np.empty(0, dtype=np.intp)
    if all(isinstance(w, int | np.integer) and not isinstance(w, bool) for w in wanted):
        index = np.asarray(wanted, dtype=np.intp)
        if index.min() < 0 or index.max() >= p:
            raise InputError(f"{what} has an index outside 0..{p - 1}")
        return index
    if names is None:
        raise InputError(f"{what} has names, but X has none; give column indices")
    place = {name: i for i, name in enumerate(names)}
    missing = [w for w in wanted if w not in place]
    if missing:
        raise InputError(f"{what}: no feature is called {missing[0]!r}")
    return np.array([place[w] for w in wanted], dtype=np.intp)


def warn_if_unfinished(solution: Solution) -> None:
    """The one place where a status becomes a warning."""
    if solution.status in UNFINISHED:
        warnings.warn(
            f"the search ended early ({solution.status}); the best set so far is kept: {solution}",
            ConvergenceWarning,
            stacklevel=3,
        )
