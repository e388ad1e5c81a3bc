"""The sets of our own question (does optimality pay?), and the rivals' ways to choose k genes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...estimators._rankers import RANKERS
from ...pencil.criteria import generalized_eigh
from ...pencil.pencil import Pencil
from ...pencil.solution import Solution
from ...plots._style import FAINT, INK, PALETTE
from ...search.solve import solve, solve_path
from ..data import load_set

OPTIMUM, GREEDY, FORWARD = "optimum", "greedy + swap", "forward greedy"
# the rankings of estimators/_rankers; for two classes ANOVA's order is that of the correlation
RANKED = {"SVM-RFE": "svm-rfe", "lasso": "l1", "SNR": "snr", "ANOVA": "anova"}
RIVALS = (GREEDY, FORWARD, *RANKED)
STYLES = {
    OPTIMUM: (INK, "*"),
    GREEDY: (PALETTE[0], "o"),
    FORWARD: (PALETTE[4], "s"),
    "SVM-RFE": (PALETTE[1], "^"),
    "lasso": (PALETTE[2], "D"),
    "SNR": (PALETTE[3], "v"),
    "ANOVA": (FAINT, "P"),
}
SAME = 1e-6  # gaps up to this are round-off, and what "proved" leaves open


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The set on its log scale: colon's file has raw intensities, the others are logarithms."""
    X, y = load_set(name)
    return (np.log2(np.maximum(X, 1.0)) if name == "colon" else X), y


def title(name: str) -> str:
    """The set, as rows begin."""
    return name.capitalize()


def find_optimum(
    pencil: Pencil, k: int, max_nodes: int, start: Sequence[int] | None = None
) -> Solution:
    """The exact search, stopped by nodes and never by the clock; checked."""
    options: dict[str, Any] = {} if start is None else {"start": list(start)}
    solution = solve(pencil, k, "exact", "lambda_max", max_nodes=max_nodes, n_jobs=1, **options)
    solution.verify(pencil)
    return solution


def limit_of(best: Solution) -> float:
    """What no set of as many features exceeds: the optimum, if it is proved, or the bound."""
    return best.objective if best.is_certified else best.bound


def choose(
    X: np.ndarray, y: np.ndarray, pencil: Pencil, ks: Sequence[int], rival: str
) -> dict[int, np.ndarray]:
    """A rival's features for every k."""
    if rival in RANKED:
        order = RANKERS[RANKED[rival]](X, y, random_state=0)
        return {k: np.sort(order[:k]) for k in ks}
    plain = rival == FORWARD
    options: dict[str, Any] = {"direction": "forward", "swap": False} if plain else {}
    path = solve_path(pencil, ks, "greedy", "lambda_max", **options)
    path.verify(pencil)
    return {k: solution.support for k, solution in path.items()}


def separation(pencil: Pencil, support: np.ndarray) -> float:
    """The criterion of a set: the largest generalized eigenvalue (two classes: the only one)."""
    small = pencil.restrict(np.asarray(support, dtype=np.intp))
    return float(generalized_eigh(small.A, small.B)[0][0])


def gap(limit: float, own: float) -> float:
    """How much more the best set may have, in per cent; round-off counts as nothing."""
    excess = limit / own - 1.0
    return 100.0 * excess if excess > SAME else 0.0
