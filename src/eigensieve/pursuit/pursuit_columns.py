"""Basis pursuit on columns that do not lie in memory: a working set, and passes over all columns.

On a working set of columns the problem is solved in memory. One pass then prices all others: those
with |u_j'y| > 1 (a row's length, for "l21") violate the dual and join. When there are none, y
proves that no column left out could have made the norm smaller.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy import linalg

from ..pencil.budget import Budget
from ..tables.operators.column_passes import largest
from .dual import penalty_terms
from .solution import Answer, OrthonormalForm

SET_ENTRIES = 2**21  # of the first working set (16 MB), and of what joins it at once
MIN_COLUMNS = 4  # times the rank
# Columns this near to their bound join, too: copies of a used one are among them, and the first
# of copies must be there to be taken.
NEAR = 1e-9
RANK_TOL = 1e-12
# Directions that a working set reaches less than this need better columns, if there are any.
WEAK = 1e-3
MAX_TRIES = 5

Found = TypeVar("Found", bound=Answer)
Pursue = Callable[[np.ndarray, np.ndarray, Budget], Answer]


def pursue_by_columns(
    rows: Any,
    target: np.ndarray,
    penalty: str,
    budget: Budget,
    pursue: Callable[[np.ndarray, np.ndarray, Budget], Found],
) -> Found:
    """x (p, q) of least norm with rows x = target, for rows (g, p) that are a `RowFactor`.

    ``pursue`` solves it for orthonormal rows that are an array.
    """
    most = max(MIN_COLUMNS * len(rows), SET_ENTRIES // len(rows))
    working, columns = _first_set(rows, target, penalty, most)
    steps = 0
    while True:
        form = OrthonormalForm.of(columns, target, RANK_TOL)
        found = pursue(form.rows, form.target, budget)
        y, steps = form.back @ found.y, steps + found.n_iter
        over = _steepest(rows, y, penalty)
        over[working] = 0.0
        joining = np.flatnonzero(over >= 1.0 - NEAR)
        if joining.size == 0 or found.stopped is not None:
            break
        working = np.union1d(working, joining[largest(over[joining], most)])
        columns = rows[:, working]
    x = np.zeros((rows.shape[1], target.shape[1]))
    x[working] = found.x
    return replace(found, x=x, y=y, n_iter=steps)


def _steepest(rows: Any, y: np.ndarray, penalty: str) -> np.ndarray:
    """|u_j'y| (p,), the largest over the columns of y or their length."""
    sums = penalty_terms(rows.T @ y, penalty)
    return sums if sums.ndim == 1 else sums.max(axis=1)


def _first_set(
    rows: Any, target: np.ndarray, penalty: str, most: int
) -> tuple[np.ndarray, np.ndarray]:
    """The columns that y meets first on its way along the target, and such as reach all rows."""
    unit = target / np.abs(target).max(axis=0)
    working = largest(_steepest(rows, unit, penalty), most)
    for _ in range(MAX_TRIES):
        columns = rows[:, working]
        sizes, left = linalg.eigh(columns @ columns.T)
        missing = left[:, sizes <= WEAK**2]
        if missing.shape[1] == 0:
            break
        more = largest(_steepest(rows, missing, "l21"), MIN_COLUMNS * missing.shape[1])
        if np.isin(more, working).all():
            break
        working = np.union1d(working, more)
    return working, rows[:, working] if columns.shape[1] < working.size else columns
