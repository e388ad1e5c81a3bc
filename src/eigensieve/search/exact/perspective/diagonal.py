"""A better diagonal below B at the root, where B allows one.

The relaxation of a problem bounds every set with any diagonal D below B, and its bound is convex
in D. The uniform D that the smallest eigenvalue of B gives is far from the best where B is well
conditioned but for a few columns. D is raised where the weights are divided, and may lose a little
elsewhere: less and less, as that which matters elsewhere comes to be known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....pencil.criteria import EPS
from .moves_kernel import schur, tune_diagonal
from .relax_kernel import relax
from .relaxation import MARGIN
from .weights import WeightProblem

# Up to this many undecided features; a step takes about u^3 times this much, see `Budget.spend`.
TUNED = 400
STEP_WORK = 1.5
# The share of a limited effort that all steps may take.
SHARE = 0.5
# What an entry may lose of itself in the first step, by what that falls if the step was worth it
# or was not, and where it ends. It was if it took off so much of what lies above the cut.
WORTH = 0.005
LOSS, ON_GAIN, ON_FAILURE, LAST_LOSS = 0.03, 0.8, 0.3, 5e-4
# Features without a weight count as if they had up to this much, the nearer they are to one.
READY = 0.1
MAX_ITER, SOLVED = 60, 1e-5


class Tuned(NamedTuple):
    """A relaxation: diagonal, bound, and weights and gradient of its free features."""

    D: np.ndarray
    bound: float
    weights: np.ndarray
    gradient: np.ndarray


def tune_root(
    problem: WeightProblem, weights: np.ndarray, cut: float, most_work: float = np.inf
) -> Tuned:
    """Steps on the diagonal of the free features as long as the bound falls.

    B must be definite with D taken off, or nothing changes. It ends below the cut, too, and before
    a step that would take it beyond ``most_work``.
    """
    free = problem.free
    best, pull = _relaxed(problem, problem.D, weights, cut)
    step_work, loss = STEP_WORK * free.size**3, LOSS
    if 3 * step_work > most_work:  # what the complement counts, and one step
        return best
    S = schur(problem)
    while loss > LAST_LOSS and best.bound > cut and not problem.stop[0]:
        if problem.work[0] + step_work > most_work:
            break
        problem.work[0] += step_work
        new = tune_diagonal(S, best.D[free], pull + _readiness(problem, best), 1.0 - loss)
        if new.size:
            D = best.D.copy()
            D[free] = new
            trial, trial_pull = _relaxed(problem, D, best.weights, cut)
            gain, above = best.bound - trial.bound, best.bound - cut
            if gain > 0.0:
                best, pull = trial, trial_pull
            if gain >= WORTH * above:
                loss *= ON_GAIN
                continue
        loss *= ON_FAILURE
    return best


def _relaxed(
    problem: WeightProblem, D: np.ndarray, weights: np.ndarray, cut: float
) -> tuple[Tuned, np.ndarray]:
    w = weights.copy()
    bound, _, gradient, pull = relax(problem._replace(D=D), w, cut, MAX_ITER, SOLVED, 0.0)
    k, least = problem.need + problem.forced.size, float(D[problem.free].min())
    bound += (MARGIN + 8 * k * EPS / least) * abs(bound)
    return Tuned(D, bound, w, gradient), pull


def _readiness(problem: WeightProblem, now: Tuned) -> np.ndarray:
    """How fast the bound would fall with D where features without a weight had a small one."""
    g = now.gradient
    kth = np.partition(g, -problem.need)[-problem.need]
    w = READY * np.square(np.minimum(g / kth, 1.0)) if kth > 0.0 else np.zeros_like(g)
    slope: np.ndarray = g * w * (1.0 - w) / now.D[problem.free]
    return slope
