"""What the simulations of Wolf & Shashua share: one setting of Q-alpha, and the best features."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...q_alpha.qalpha import qalpha

# one start, from the singular vectors; the paper says that 5 to 10 cycles are typical
SETTING: dict[str, Any] = {"n_init": 1, "max_iter": 20, "tol": 1e-4}


def weigh(
    X: np.ndarray, n_clusters: int = 2, *, y: np.ndarray | None = None, **options: Any
) -> np.ndarray:
    """Weights of the columns of X, recomputed from the definitions; with y, the supervised ones."""
    variant = "standard" if y is None else "supervised"
    found = qalpha(X.T, n_clusters, y=y, variant=variant, **SETTING, **options)
    found.verify(X.T, y)
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
