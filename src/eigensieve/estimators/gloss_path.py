"""The path of group-lasso optimal scoring (GLOSS), for users."""

from __future__ import annotations

import warnings
from typing import Any

from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning

from ..pencil.budget import Budget, Callback
from ..pencil.checks import check_k
from ..scoring.gloss import GlossPath, follow_path
from ..scoring.options import check_alphas, check_method
from ..scoring.scoring import ScoringProblem
from ..scoring.solution import TOL


def gloss_path(
    X: Any,
    y: ArrayLike,
    alphas: ArrayLike | None = None,
    *,
    within: str = "full",
    weights: ArrayLike | str | None = None,
    ridge: Any = 0.0,
    max_features: int | None = None,
    solver: str = "auto",
    tol: float = TOL,
    time_limit: float | None = None,
    callback: Callback | None = None,
) -> GlossPath:
    """Group-lasso optimal scoring (GLOSS) at a range of penalties, each from the one before.

    Parameters
    ----------
    X : array (n, p), scipy.sparse matrix, or a table that is read in blocks (dask, zarr, ...)
    y : array (n,), class labels
    alphas : penalties as shares of lambda_max, 1e-9 to 1; solved in descending order
        By default 15, from 1 to 1/128, each 1 / sqrt(2) of the one before.
    within, weights, ridge, solver, tol : as in `GroupLassoLDA`
    max_features : end the path before the first penalty at which more features are used
    time_limit : seconds; the path then ends where it is, with a warning
    callback : called with progress events

    Returns
    -------
    GlossPath
        With a ConvergenceWarning if a solution is not proved optimal.

    Examples
    --------
    >>> import numpy as np, eigensieve as es
    >>> rng = np.random.default_rng(0)
    >>> X, y = rng.normal(size=(60, 200)), np.arange(60) % 3
    >>> X[y == 1, :3] += 2
    >>> path = es.gloss_path(X, y, [0.8, 0.5, 0.2])
    >>> path.n_selected.tolist(), path[1].support.tolist()
    ([2, 3, 13], [0, 1, 2])
    >>> V, values = path.directions(1)
    >>> V.shape
    (200, 2)
    """
    budget = Budget(time_limit, callback=callback)
    most = None if max_features is None else check_k(max_features, "max_features")
    shares = check_alphas(alphas)
    tolerance = check_method(solver, tol)
    problem = ScoringProblem.from_data(X, y, within=within, weights=weights, ridge=ridge)
    path = follow_path(problem, shares, solver, tolerance, most, budget)
    open_ones = [s for s in path.solutions if s.status.is_early]
    if open_ones:
        worst = max(open_ones, key=lambda s: s.gap)
        warnings.warn(
            f"{len(open_ones)} of {len(path)} solutions are not optimal; the worst: {worst}",
            ConvergenceWarning,
            stacklevel=2,
        )
    elif len(path) < len(shares) and (stopped := budget.stop()) is not None:
        warnings.warn(
            f"the path ended early ({stopped}), after {len(path)} of {len(shares)} penalties",
            ConvergenceWarning,
            stacklevel=2,
        )
    return path
