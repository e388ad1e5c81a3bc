"""A diagonal below B that suits the relaxation of many features.

The larger D the tighter the relaxation, where there is weight; and where there is none D may be
so small that the price only just stays unattractive. So the features fall in two. What is *cold*
gives D up, which leaves B - diag(D) room: D of the *hot* may grow, up to the Schur complement of
the cold ones. Where rows outnumber columns, or nearly so, that is a good deal; where columns are
many times the rows it is next to nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ....pencil.budget import Budget
from .moves_kernel import improve_diagonal
from .relax_kernel import relax_in_parts
from .relaxation import SAFE
from .weights import WeightProblem

# The features that may get a larger D: those with the largest prices.
HOT = 700
# So near to that of the last chosen may a price come, of the cold and of the hot without weight;
# and what share of D a cold one keeps.
NEAR_COLD, NEAR_HOT = 0.75, 0.9
LEAST, MOST = 0.05, 0.9
# Rounds of the game between weights and diagonal.
ROUNDS = 4
# Of what D brings in all: the part that log det(S - D) has, and the part that is spread evenly.
BARRIER, EVEN = 0.3, 0.02
# How near to its maximum a relaxation is taken on the way.
SOLVED, MAX_ITER = 1e-5, 60


class Tuned(NamedTuple):
    """A diagonal, and the relaxation that goes with it: bound, weights and gradient of the free."""

    D: np.ndarray
    bound: float
    weights: np.ndarray
    gradient: np.ndarray


def tuned_diagonal(
    problem: WeightProblem, weights: np.ndarray, gradient: np.ndarray, budget: Budget
) -> Tuned | None:
    """The best of some diagonals, from the maximum of the relaxation with the present one.

    Weights and gradient are those of the free features. None if rounding or the budget ends it.
    A game: the weights answer the diagonal, the diagonal what they pulled at on average so far.
    """
    hot, D = _give_up(problem, gradient)
    places = problem.free[hot]
    S = _hot_part(problem.B, D, places)
    if S is None:
        return None
    D[places] = problem.D[places]  # S - diag(D) is as B - diag(D), or better
    best, weights, pull = None, weights.copy(), np.zeros(hot.size)
    for i in range(ROUNDS):
        now = problem._replace(D=D.copy())
        bound, _, gradient, pulls = relax_in_parts(
            now, weights, gradient.copy(), -np.inf, MAX_ITER, SOLVED, 0.0
        )
        if best is None or bound < best.bound:
            best = Tuned(now.D, bound, weights.copy(), gradient)
        if budget.stop() is not None:
            break
        pull += (pulls[hot] - pull) / (i + 1.0)
        kth = np.partition(gradient, -problem.need)[-problem.need]
        low = np.minimum(D[places] * np.maximum(gradient[hot] / (NEAR_HOT * kth), LEAST), D[places])
        new = _answer(S, D[places], low, pull + EVEN * pull.mean())
        if new is None:
            break
        D[places] = new
    return best


def _give_up(problem: WeightProblem, gradient: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of the free are hot, and a diagonal with what the others keep; the forced need none."""
    hot = np.sort(np.argsort(-gradient, kind="stable")[:HOT])
    kth = np.partition(gradient, -problem.need)[-problem.need]
    share = np.full(problem.D.size, LEAST)
    share[problem.free] = np.clip(gradient / (NEAR_COLD * kth), LEAST, MOST)
    return hot, share * problem.D


def _hot_part(B: np.ndarray, D: np.ndarray, hot: np.ndarray) -> np.ndarray | None:
    """What B - diag(D) leaves of B on the hot features, once the others are eliminated."""
    is_cold = np.ones(D.size, dtype=bool)
    is_cold[hot] = False
    cold = np.flatnonzero(is_cold)
    M = np.asfortranarray(B[np.ix_(cold, cold)])
    M.flat[:: cold.size + 1] -= (1 + SAFE) * D[cold]
    U, failed = linalg.lapack.dpotrf(M, overwrite_a=True)
    if failed:
        return None
    C = linalg.solve_triangular(U, B[np.ix_(cold, hot)], trans="T", check_finite=False)
    return np.ascontiguousarray(B[np.ix_(hot, hot)] - C.T @ C)


def _answer(S: np.ndarray, D: np.ndarray, low: np.ndarray, pull: np.ndarray) -> np.ndarray | None:
    """D after a sweep of coordinate ascent for pull'D below S; None if that is not sure."""
    room = S.copy()
    room.flat[:: len(S) + 1] -= D
    P, new = np.linalg.inv(room), D.copy()
    if not improve_diagonal(P, new, low, pull, BARRIER * float(pull @ D) / D.size):
        return None
    room = S.copy()
    room.flat[:: len(S) + 1] -= (1 + SAFE) * new
    _, failed = linalg.lapack.dpotrf(room, overwrite_a=True)
    return None if failed else new
