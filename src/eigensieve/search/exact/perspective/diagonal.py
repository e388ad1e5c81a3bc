"""A diagonal below B that suits the relaxation of many features.

The larger D the tighter the relaxation, where there is weight; and where there is none D may be
so small that the price only just stays unattractive. So the features fall in two. What is *cold*
gives D up, which leaves B - diag(D) room: D of the *hot* may grow, up to the Schur complement of
the cold ones. Where rows outnumber columns, or nearly so, that is a good deal; where columns are
many times the rows it is next to nothing.

A game: the weights answer the diagonal, and the diagonal the weights. Whoever ends it has a valid
bound.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ....pencil.budget import Budget
from .moves_kernel import improve_diagonal
from .relax_kernel import relax_in_parts
from .relaxation import SAFE, one_blas_thread
from .weights import WeightProblem

# The features that may get a larger D: those with the largest prices.
HOT = 700
# So near to that of the last chosen may a price come, of the cold and of the hot without weight;
# and what share of D a cold one keeps.
NEAR_COLD, NEAR_HOT = 0.75, 0.9
LEAST, MOST = 0.05, 0.9
# The hot begin with a little less than they had, which may be all that there is room for.
START = 0.99
# Rounds of the game.
ROUNDS = 4
# Of what D brings in all: the part that log det(S - D) has, and the part that is spread evenly.
BARRIER, EVEN = 0.3, 0.02
# What is given up makes it harder to sort features out: so much of the gap must be gained by it.
WORTH = 0.1
# Arithmetic of LAPACK in units of `Budget.spend`.
PRODUCT = 0.1
# How near to its maximum a relaxation is taken on the way.
SOLVED, MAX_ITER = 1e-5, 60


class Relaxed(NamedTuple):
    """A bound on a relaxation, and weights and prices of the free features."""

    bound: float
    weights: np.ndarray
    gradient: np.ndarray


def work_of_tuning(size: int) -> float:
    """Of so many features, less that of the relaxations, which count their own."""
    hot = float(min(size, HOT))
    cold = size - hot
    elimination = cold**2 * (cold / 3.0 + hot) + size**3 / 3.0  # and once more from scratch
    return PRODUCT * elimination + ROUNDS * (0.5 + 2.0 * PRODUCT) * hot**3


def tuned_diagonal(
    problem: WeightProblem, maximum: Relaxed, cut: float, budget: Budget
) -> np.ndarray:
    """The best of some diagonals, or that of the problem if none takes much of the gap.

    ``maximum`` is about that of the relaxation with the diagonal of the problem.
    """
    with one_blas_thread():
        hot = HotPart(problem, maximum.gradient)
        if not hot.is_sound:
            return problem.D
        tuned, bound = _play(problem, hot, maximum, budget)
        is_worth_it = maximum.bound - bound > WORTH * (maximum.bound - cut)
        return tuned if is_worth_it and _is_below(problem.B, tuned) else problem.D


def _play(
    problem: WeightProblem, hot: HotPart, maximum: Relaxed, budget: Budget
) -> tuple[np.ndarray, float]:
    best, tuned, D = np.inf, hot.D, hot.D
    weights, gradient, pull = maximum.weights.copy(), maximum.gradient, np.zeros(problem.free.size)
    for i in range(ROUNDS):
        now = problem._replace(D=D)
        bound, _, gradient, latest = relax_in_parts(
            now, weights, gradient, -np.inf, MAX_ITER, SOLVED, 0.0
        )
        if bound < best:
            best, tuned = bound, D
        if budget.stop() is not None:
            break
        pull = pull + (latest - pull) / (i + 1.0)
        D = hot.answer(now, gradient, pull)
    return tuned, best


def _is_below(B: np.ndarray, D: np.ndarray) -> bool:
    """Whether B - diag(D) is positive definite: from scratch, for all that follows rests on it."""
    return not linalg.lapack.dpotrf(_less(B, (1 + SAFE) * D), overwrite_a=True)[1]


def _less(B: np.ndarray, D: np.ndarray) -> np.ndarray:
    """B - diag(D), by columns."""
    M = np.array(B, order="F")
    M[np.diag_indices_from(M)] -= D
    return M


class HotPart:
    """The hot features, and what B - diag(D) leaves of B there once the cold are eliminated."""

    def __init__(self, problem: WeightProblem, gradient: np.ndarray) -> None:
        """From prices of the free features; the forced need no D."""
        D, free = problem.D, problem.free
        hot = np.argsort(-gradient, kind="stable")[:HOT]
        share = np.full(D.size, LEAST)
        share[free] = np.clip(gradient / (NEAR_COLD * _kth(problem, gradient)), LEAST, MOST)
        self.places = np.sort(free[hot])
        self.least = LEAST * D[self.places]
        self.D = share * D
        self.D[self.places] = START * D[self.places]
        self.S = self._eliminate_cold(problem)

    def _eliminate_cold(self, problem: WeightProblem) -> np.ndarray | None:
        B = problem.B
        cold = np.setdiff1d(np.arange(self.D.size), self.places)
        U, failed = linalg.lapack.dpotrf(_less(B[np.ix_(cold, cold)], self.D[cold]))
        if failed:
            return None
        C = linalg.solve_triangular(U, B[np.ix_(cold, self.places)], trans="T", check_finite=False)
        return np.ascontiguousarray(B[np.ix_(self.places, self.places)] - C.T @ C)

    @property
    def is_sound(self) -> bool:
        """Whether B - diag(D) of the cold is positive definite beyond rounding."""
        return self.S is not None

    def answer(self, problem: WeightProblem, gradient: np.ndarray, pull: np.ndarray) -> np.ndarray:
        """D after a sweep for more of pull'D; as it was if rounding spoils it."""
        assert self.S is not None
        prices, pulls = np.zeros((2, problem.D.size))
        prices[problem.free] = gradient / (NEAR_HOT * _kth(problem, gradient))
        pulls[problem.free] = pull + EVEN * pull.sum() / self.places.size
        now, pull = problem.D[self.places], pulls[self.places]
        low = np.minimum(np.maximum(now * prices[self.places], self.least), now)
        new = now.copy()
        P = np.linalg.inv(_less(self.S, now))
        is_done = improve_diagonal(P, new, low, pull, BARRIER * float(pull @ now) / now.size)
        if not is_done:
            return problem.D
        D = problem.D.copy()
        D[self.places] = new
        return D


def _kth(problem: WeightProblem, gradient: np.ndarray) -> float:
    """The price of the last that is chosen."""
    return float(np.partition(gradient, -problem.need)[-problem.need])
