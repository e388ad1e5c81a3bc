"""A better diagonal below B at the root, where B allows one.

The relaxation of a problem bounds every set with any diagonal D below B (in the order of
matrices). The uniform D that the smallest eigenvalue of B gives is far from the best where B is
well conditioned but for a few columns, as where rows outnumber columns, or nearly so. D is raised
where the weights are divided, and may lose a little elsewhere: less and less, as that which matters
elsewhere comes to be known.

Of many features only the *hot*, those with the largest prices, take part in that. All others, the
*cold*, give up at once what keeps their price unattractive: room for the hot, as the Schur
complement shows.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ....pencil.criteria import EPS
from .moves_kernel import improve_diagonal
from .relax_kernel import relax_in_parts
from .relaxation import MARGIN
from .scaled_pencil import SAFE
from .weights import WeightProblem

# The features that may get a larger D.
HOT = 700
# So near to that of the last chosen may the price of a cold one come; what share of D it keeps.
NEAR = 0.75
LEAST, MOST = 0.05, 0.9
# What a hot one may lose of its D in the first step, by what that falls if the step was good or
# was not, and where it ends. A good one took off so much of what lies above the cut. With larger
# losses the bound of the root falls further, but the search below takes more nodes.
LOSS, ON_GAIN, ON_FAILURE, LAST_LOSS = 0.03, 0.8, 0.3, 5e-4
GOOD = 0.005
# Features without a weight count as if they had up to this much, the nearer they are to one.
READY = 0.1
# Sweeps of a step. Of what D brings in all, the part that log det(S - D) has in each.
BARRIERS = (0.3, 0.09)
# What is given up makes it harder to sort features out: so much of the gap must be gained by it.
WORTH = 0.1
# Arithmetic in units of `Budget.spend`: of LAPACK, and of a sweep.
PRODUCT, SWEEP = 0.1, 0.5
# How near to its maximum a relaxation is taken.
MAX_ITER, SOLVED = 60, 1e-5


class Tuned(NamedTuple):
    """A relaxation: diagonal, bound, and of its free features weights, gradient and pull.

    The pull says how fast the bound falls where D grows.
    """

    D: np.ndarray
    bound: float
    weights: np.ndarray
    gradient: np.ndarray
    pull: np.ndarray


def tune_root(
    problem: WeightProblem, weights: np.ndarray, cut: float, most_work: float = np.inf
) -> Tuned:
    """The relaxation with the best diagonal found, or with that of the problem.

    Steps are taken as long as the bound falls, is above the cut, and another would not take the
    arithmetic beyond ``most_work``.
    """
    start = _relaxed(problem, problem.D, weights, weights, cut)
    size, n_hot = problem.D.size, min(problem.free.size, HOT)
    step = n_hot**3 * (2 * PRODUCT + len(BARRIERS) * SWEEP)
    around = PRODUCT * _work_around(size, n_hot)
    if not start.bound > cut or problem.work[0] + around + step > most_work:
        return start
    problem.work[0] += around
    hot = HotPart(problem, start.gradient)
    best, loss = start, LOSS
    while loss > LAST_LOSS and best.bound > cut and not problem.stop[0]:
        if problem.work[0] + step > most_work:
            break
        problem.work[0] += step
        D = hot.answer(best, loss)
        trial = _relaxed(problem, D, best.weights, best.gradient, cut)
        is_good = best.bound - trial.bound >= GOOD * (best.bound - cut)
        loss *= ON_GAIN if is_good else ON_FAILURE
        if trial.bound < best.bound:
            best = trial
    is_worth_it = start.bound - best.bound > WORTH * (start.bound - cut)
    return best if is_worth_it and _is_below(problem.B, best.D) else start


def _work_around(size: int, n_hot: int) -> float:
    """Multiplications before and after the steps: eliminate the cold, and the proof."""
    n_cold = float(size - n_hot)
    return n_cold**2 * (n_cold / 3.0 + n_hot) + n_cold * n_hot**2 + size**3 / 3.0


def _relaxed(
    problem: WeightProblem, D: np.ndarray, weights: np.ndarray, guess: np.ndarray, cut: float
) -> Tuned:
    w = weights.copy()
    bound, _, gradient, pull = relax_in_parts(
        problem._replace(D=D), w, guess, cut, MAX_ITER, SOLVED, 0.0
    )
    k, least = problem.need + problem.forced.size, float(D[problem.free].min())
    bound += (MARGIN + 8 * k * EPS / least) * abs(bound)
    return Tuned(D, bound, w, gradient, pull)


def _is_below(B: np.ndarray, D: np.ndarray) -> bool:
    """Whether B - diag(D) is positive definite: from scratch, for all that follows rests on it."""
    return not linalg.lapack.dpotrf(_less(B, D + SAFE), overwrite_a=True)[1]


def _less(B: np.ndarray, D: np.ndarray) -> np.ndarray:
    """B - diag(D), by columns."""
    M = np.array(B, order="F")
    M[np.diag_indices_from(M)] -= D
    return M


class HotPart:
    """The hot features, and what B - diag(D) leaves of B there once the others are eliminated."""

    def __init__(self, problem: WeightProblem, gradient: np.ndarray) -> None:
        """From prices of the free features; the forced need no D."""
        D, free, self.need = problem.D, problem.free, problem.need
        # in the order of free, as sweeps are: with the hottest first these would take all
        self.hot = np.sort(np.argsort(-gradient, kind="stable")[:HOT])
        self.places = free[self.hot]
        self.least = LEAST * D[self.places]
        share = np.full(D.size, LEAST)
        share[free] = np.clip(_near(gradient, self.need) / NEAR, LEAST, MOST)
        share[self.places] = 1.0
        self.D = share * D
        self.S = self._eliminate_others(problem.B)

    def _eliminate_others(self, B: np.ndarray) -> np.ndarray:
        others = np.setdiff1d(np.arange(self.D.size), self.places)
        S = B[np.ix_(self.places, self.places)]
        if others.size:
            U, _ = linalg.lapack.dpotrf(_less(B[np.ix_(others, others)], self.D[others]))
            C = B[np.ix_(others, self.places)]
            C = linalg.solve_triangular(U, C, trans="T", check_finite=False)
            S = S - C.T @ C
        return np.ascontiguousarray(S)

    def answer(self, now: Tuned, loss: float) -> np.ndarray:
        """D after sweeps of coordinate ascent for more of pull'D."""
        near = _near(now.gradient, self.need)
        ready = READY * np.square(np.minimum(near, 1.0))
        D = self.D.copy()
        old = D[self.places] = now.D[self.places]
        pull = now.pull[self.hot] + (now.gradient * ready * (1.0 - ready))[self.hot] / old
        low = np.maximum((1.0 - loss) * old, self.least)
        new, P = low.copy(), _inverse(_less(self.S, low))
        evenly = float(pull @ old) / old.size
        if P is not None and all(
            improve_diagonal(P, new, low, pull, barrier * evenly) for barrier in BARRIERS
        ):
            D[self.places] = new
        return D


def _inverse(M: np.ndarray) -> np.ndarray | None:
    """That of a positive definite matrix; None if rounding leaves none. M is overwritten."""
    U, failed = linalg.lapack.dpotrf(M, overwrite_a=True)
    if failed:
        return None
    P = np.triu(linalg.lapack.dpotri(U, overwrite_c=True)[0])
    return P + np.triu(P, 1).T


def _near(gradient: np.ndarray, need: int) -> np.ndarray:
    """Prices in terms of that of the last that is chosen; 0 where limits make them negative."""
    kth = np.partition(gradient, -need)[-need]
    near: np.ndarray = np.maximum(gradient, 0.0) / max(kth, 1e-200)
    return near
