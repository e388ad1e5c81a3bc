"""Lists of near-optimal sets made by hand: no search has a part in them."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigensieve.pencil.solution import Solution, Status
from eigensieve.search.near_optimal.sets import NearOptimalSets

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def make_list(
    *panels: str,
    losses: Any = None,
    p: int = 8,
    within: float = 0.01,
    complete: bool = True,
    capped: bool = False,
    bound: float | None = None,
    names: Any = "letters",
    never: Any = None,
    core: Any = None,
    level: float = 0.0,
    **asked: Any,
) -> NearOptimalSets:
    """Panels as words ("abc" has the features 0, 1 and 2); the best one scores 2.

    ``bound`` is that on the score of any set that is missing, and ``level`` the least score that
    was looked for, as shares of the best.
    """
    sets = np.array([sorted(map(LETTERS.index, panel)) for panel in panels])
    losses = np.linspace(0, within, len(sets)) if losses is None else np.array(losses)
    counts = np.bincount(sets.ravel(), minlength=p)
    best = Solution(
        support=sets[0], loadings=np.eye(sets.shape[1])[:, :1], values=np.array([2.0]),
        objective=2.0, bound=2.0, status=Status.OPTIMAL, solver="by hand",
        criterion="trace", n_features=p, scale=1.0,
    )  # fmt: skip
    threshold = 2.0 * (1 - within)
    return NearOptimalSets(
        sets=sets,
        scores=2.0 * (1 - losses),
        best=best,
        within=within,
        threshold=threshold,
        level=max(threshold, 2.0 * level),
        bound=threshold if complete else 2.0 * (1.0 if bound is None else bound),
        is_complete=complete,
        is_capped=capped,
        status=Status.OPTIMAL if complete else Status.ITERATION_LIMIT,
        never=np.flatnonzero(counts == 0) if never is None else np.array(never, dtype=int),
        core=np.flatnonzero(counts == len(sets)) if core is None else np.array(core, dtype=int),
        names=tuple(LETTERS[:p]) if names == "letters" else names,
        problem={"include": (), "exclude": (), "constraints": None} | asked,
    )
