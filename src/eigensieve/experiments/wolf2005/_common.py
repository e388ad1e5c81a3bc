"""What the simulations of Wolf & Shashua share: the settings of Q-alpha, the best features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...q_alpha.qalpha import qalpha

# One start, from the singular vectors; the paper says that 5 to 10 cycles are typical. That may end
# in a poor local maximum: AUTOMATIC is the package's own number of starts and cycles.
ONE_START: dict[str, Any] = {"n_init": 1, "max_iter": 20, "tol": 1e-4}
AUTOMATIC: dict[str, Any] = {}


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
