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
# Rounds of the game at the root.
ROUNDS = 4
# Of what D brings in all: the part that log det(S - D) has, and the part that is spread evenly.
BARRIER, EVEN = 0.3, 0.02
# How near to its maximum a relaxation is taken on the way.
SOLVED, MAX_ITER = 1e-5, 60


def tuned_diagonal(
    problem: WeightProblem, weights: np.ndarray, gradient: np.ndarray, budget: Budget
) -> np.ndarray:
    """The best of some diagonals for weights near the maximum, and their prices, of the free."""
    with one_blas_thread():
        hot = HotPart(problem, gradient)
        return _play(problem, hot, weights, budget) if hot.is_sound else problem.D


def _play(
    problem: WeightProblem, hot: HotPart, weights: np.ndarray, budget: Budget
) -> np.ndarray:
    best, weights, pull = np.inf, weights.copy(), np.zeros(weights.size)
    gradient, tuned, D = pull, problem.D, hot.D
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
    return tuned


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
        self.D[self.places] = D[self.places]  # which is no more than there is room for
        self.S = self._eliminate_cold(problem.B)

    def _eliminate_cold(self, B: np.ndarray) -> np.ndarray | None:
        cold = np.setdiff1d(np.arange(self.D.size), self.places)
        M = np.asfortranarray(B[np.ix_(cold, cold)])
        M.flat[:: cold.size + 1] -= (1 + SAFE) * self.D[cold]
        U, failed = linalg.lapack.dpotrf(M, overwrite_a=True)
        if failed:
            return None
        C = linalg.solve_triangular(U, B[np.ix_(cold, self.places)], trans="T", check_finite=False)
        return np.ascontiguousarray(B[np.ix_(self.places, self.places)] - C.T @ C)

    @property
    def is_sound(self) -> bool:
        """Whether B - diag(D) of the cold is positive definite beyond rounding."""
        return self.S is not None

    def answer(
        self, problem: WeightProblem, gradient: np.ndarray, pull: np.ndarray
    ) -> np.ndarray:
        """D after a sweep for more of pull'D; as it was if rounding leaves the new one in doubt."""
        assert self.S is not None
        prices, pulls = np.zeros((2, problem.D.size))
        prices[problem.free] = gradient / (NEAR_HOT * _kth(problem, gradient))
        pulls[problem.free] = pull + EVEN * pull.sum() / self.places.size
        now, pull = problem.D[self.places], pulls[self.places]
        low = np.minimum(np.maximum(now * prices[self.places], self.least), now)
        new = now.copy()
        problem.work[0] += float(now.size) ** 3
        P = np.linalg.inv(self._room(now))
        is_done = improve_diagonal(P, new, low, pull, BARRIER * float(pull @ now) / now.size)
        if not is_done or linalg.lapack.dpotrf(self._room((1 + SAFE) * new))[1]:
            return problem.D
        D = problem.D.copy()
        D[self.places] = new
        return D

    def _room(self, D: np.ndarray) -> np.ndarray:
        room = self.S.copy()
        room.flat[:: D.size + 1] -= D
        return room


def _kth(problem: WeightProblem, gradient: np.ndarray) -> float:
    """The price of the last that is chosen."""
    return float(np.partition(gradient, -problem.need)[-problem.need])
