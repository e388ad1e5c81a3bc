"""What the simulations of Wolf & Shashua share: the starts of Q-alpha, the best features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...q_alpha.qalpha import qalpha
from ..values import Place, Value

# The package's own number of starts and cycles; and one start, from the singular vectors, which may
# end in a poor local maximum (the paper says that 5 to 10 cycles are typical, and tells no more).
AUTOMATIC: dict[str, Any] = {}
ONE_START: dict[str, Any] = {"n_init": 1, "max_iter": 20, "tol": 1e-4}
STARTS = {"automatic starts": AUTOMATIC, "one start, 20 cycles": ONE_START}  # readings
Cells = dict[Place, Value]


def weigh(
    X: np.ndarray,
    n_clusters: int = 2,
    *,
    y: np.ndarray | None = None,
    setting: Mapping[str, Any] = ONE_START,
    **options: Any,
) -> np.ndarray:
    """Weights of the columns of X, recomputed from the definitions; with y, the supervised ones."""
    variant = "standard" if y is None else "supervised"
    found = qalpha(X, n_clusters, y=y, variant=variant, **setting, **options)
    found.verify(X, y)
    return found.alpha


def best(scores: np.ndarray, count: int) -> np.ndarray:
    """The features with the highest scores, the first of equals.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve.experiments.wolf2005._common import best
    >>> best(np.array([1.0, 3.0, 2.0, 3.0]), 3).tolist()
    [1, 3, 2]
    """
    return np.argsort(-scores, kind="stable")[:count]


def by_start(cells: Mapping[str, Cells]) -> tuple[Cells, dict[Place, dict[str, Value]]]:
    """The cells of the first reading, and every cell under all of them."""
    first = next(iter(cells.values()))
    return first, {place: {name: each[place] for name, each in cells.items()} for place in first}
