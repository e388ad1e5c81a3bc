"""The perspective relaxation of a whole problem: columns are brought in as they are needed.

See relax_kernel.pyx for the relaxation itself. Here the thousands of features that never
matter are kept out of it: a small working set is solved, all features are priced in O(p n),
those that could matter join, and so on. The result bounds every set of k features. The pricing is
done where the pencil's rows lie, on a device or in memory; the working set comes to the host.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from ....pencil.budget import Budget
from ....pencil.criteria import EPS
from ....pencil.factor_pencil import quadratic_forms
from ....pencil.problem import Problem
from ....tables.kinds.arrays import (
    largest_values,
    like,
    namespace,
    scatter,
    to_numpy,
)
from ...target import FREE, IN, OUT, decide_by_gains
from .relax_kernel import relax
from .scaled_pencil import ScaledPencil, evaluate
from .weights import WEIGHTLESS, WeightProblem

# Columns that the working set starts with, and how many join at a time.
WORKING_SET = 200
JOIN = 150
MAX_ROUNDS = 30
# The bound is to come this close to the value, relatively, in so many of Newton's steps at most.
SOLVED = 1e-6
NEWTON_STEPS = 100
# About how much arithmetic there may be between two looks at the clock.
STEP_WORK = 3e8
# While the bound on all is not near the value, relatively, the working set is solved roughly.
NEAR = 0.3
ROUGH = 0.03
# Relative rounding of a bound.
MARGIN = 1e-11
# What it takes to copy an entry, in units of `Budget.spend`.
WORK_OF_ENTRY = 10.0


@dataclass
class Relaxation:
    """What the relaxation says of all the features.

    Attributes
    ----------
    bound : no set scores more
    used : the features with a weight
    used_weights : their weights w at the maximum; 1 for the forced
    prices : array (p,) where the pencil lies, the gradient; exchanging j for i changes the bound
        by prices_i - prices_j
    kth : the smallest of the largest gradients, as many as there are FREE features to choose
    """

    bound: float
    used: np.ndarray
    used_weights: np.ndarray
    prices: Any
    kth: float

    @cached_property
    def weights(self) -> np.ndarray:
        """w (p,) of all features."""
        weights = np.zeros(self.gradient.size)
        weights[self.used] = self.used_weights
        return weights

    @cached_property
    def gradient(self) -> np.ndarray:
        """The prices in the memory of the host."""
        return to_numpy(self.prices)

    def fixed(self, cut: float, state: np.ndarray, k: int) -> np.ndarray:
        """The state (FREE, IN or OUT) with all that a set above ``cut`` must or cannot have."""
        new = state.copy()
        free = np.flatnonzero(state == FREE)
        need = k - int(np.count_nonzero(state == IN))
        if 0 < need < free.size:
            must, cannot = decide_by_gains(self.gradient[free], need, self.bound, cut)
            new[free[must]], new[free[cannot]] = IN, OUT
        return new


def relax_all(
    problem: Problem,
    scaled: ScaledPencil,
    state: np.ndarray,
    weights: np.ndarray,
    *,
    cut: float = -np.inf,
    budget: Budget | None = None,
    charge: np.ndarray | None = None,
) -> Relaxation:
    """Solve the relaxation over all FREE features, from weights that sum to k (1 where IN).

    It may end early: once the bound is at or below ``cut``, or by the budget. With a ``charge``
    (see `Limits.charge`) it bounds the sets that keep the limits.
    """
    budget = budget or Budget()
    single = scaled.single()
    xp, is_free = namespace(single), like(state == FREE, single)
    if charge is not None:
        single = single - like(charge, single)
    first, _ = largest_places(xp.where(is_free, single, -np.inf), max(WORKING_SET, 10 * problem.k))
    working = WorkingSet(problem, scaled, state, charge)
    working.join(np.union1d(first, np.flatnonzero((state == IN) | (weights != 0.0))), weights)
    best, solved = None, SOLVED
    for _ in range(MAX_ROUNDS):
        with one_blas_thread():
            working.improve(cut, solved, budget)
        value, now, late = working.price(is_free)
        budget.spend(scaled.pass_work(now.used.size) + working.take_work())
        if best is None or now.bound < best.bound:
            best = now
        if best.bound <= cut or budget.stop() is not None:
            break
        joining, prices = largest_places(late, JOIN)
        if np.any(prices >= now.kth):
            with one_blas_thread():
                working.join(joining)
        elif solved == SOLVED:
            break
        solved = SOLVED if now.bound - value <= NEAR * abs(now.bound) else ROUGH
    assert best is not None
    return best


class WorkingSet:
    """Some features, with their weights and their part of the scaled pencil, on the host."""

    def __init__(
        self,
        problem: Problem,
        scaled: ScaledPencil,
        state: np.ndarray,
        charge: np.ndarray | None = None,
    ) -> None:
        self.scaled, self.state, self.k, self.charge = scaled, state, problem.k, charge
        self.need = problem.k - int(np.count_nonzero(state == IN))
        self.logdet = problem.criterion == "logdet"
        self.index = np.empty(0, dtype=np.intp)
        self.w, self.B = np.empty(0), np.empty((0, 0))
        self.W = scaled.columns(self.index)
        self.work = np.zeros(1)

    def take_work(self) -> float:
        """The work since it was last taken."""
        work, self.work[0] = float(self.work[0]), 0.0
        return work

    def join(self, index: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Take in more features, with weights of theirs among all or with none."""
        old, scaled = self.index.size, self.scaled
        self.index = np.concatenate([self.index, index])
        new = scaled.columns(index)
        if new is None or self.W is None:
            strip = scaled.rows(index, self.index)
        else:
            self.W = np.concatenate([self.W, new], axis=1)
            strip = new.T @ self.W
        self.work[0] += strip.size * (WORK_OF_ENTRY + 0.3 * (0 if self.W is None else len(self.W)))
        B = np.empty((self.index.size, self.index.size))
        B[:old, :old], B[:old, old:], B[old:] = self.B, strip[:, :old].T, strip
        B.flat[:: len(B) + 1] = 1.0
        self.B = B
        self.H = np.ascontiguousarray(scaled.factor(self.index))
        self.D = scaled.diagonal(self.index)
        w = np.zeros(index.size) if weights is None else weights[index]
        self.w = np.concatenate([self.w, np.where(self.state[index] == IN, 1.0, w)])
        self.is_free = self.state[self.index] == FREE

    def improve(self, cut: float, solved: float, budget: Budget) -> None:
        """Solve for the weights of the FREE features."""
        if not self.need:
            return
        free, forced = np.flatnonzero(self.is_free), np.flatnonzero(~self.is_free)
        problem = WeightProblem(
            self.B, self.H, self.D, forced, free, self.need, self.logdet, self.work
        )
        if self.charge is not None:
            problem = problem._replace(charge=self.charge[self.index])
        self.w[free] = maximise(problem, self.w[free], cut, solved, budget)

    def price(self, is_free: Any) -> tuple[float, Relaxation, Any]:
        """The value, what the weights say of all features, and the prices of those not here.

        The latter are -inf for the features that are here or not FREE.
        """
        T = np.flatnonzero(self.w > WEIGHTLESS)
        used, w, D, H = self.index[T], self.w[T], self.D[T], self.H[:, T]
        value, G, X = evaluate(self.B[np.ix_(T, T)], H, D, w, self.logdet)
        own = own_gradient(X, G, D, w)
        prices = self.scaled.prices(used, None if self.W is None else self.W[:, T], X, G)
        if self.charge is not None:
            value -= float(self.charge[used] @ w)
            own = own - self.charge[used]
            prices = prices - like(self.charge, prices)
        scatter(prices, used, own)
        late = namespace(prices).where(is_free, prices, -np.inf)
        top = largest_values(late, self.need)
        scatter(late, self.index, np.full(self.index.size, -np.inf))
        here = float(own[self.is_free[T]] @ w[self.is_free[T]])
        margin = 8 * self.k * EPS / float(D.min())
        bound = value - here + float(top.sum())
        bound += (
            (MARGIN + margin) * abs(bound)
            + margin * self.scaled.cancellation
            + self.k * self.scaled.left_out
        )
        return value, Relaxation(bound, used, w, prices, top.min(initial=np.inf)), late


def maximise(
    problem: WeightProblem, w: np.ndarray, cut: float, solved: float, budget: Budget
) -> np.ndarray:
    """Weights near the maximum, from given ones; whatever it finds, they give a valid bound.

    Ends when the bound is within ``solved`` of the value, or at or below ``cut``.
    """
    w = w.copy()
    # a large step takes some tenths of a second: look at the clock in between
    steps = int(np.clip(STEP_WORK / (len(problem.H) + len(problem.B)) ** 3, 1, NEWTON_STEPS))
    for _ in range(0, NEWTON_STEPS, steps):
        bound, value, _, _ = relax(problem, w, cut, steps, solved, 0.0)
        if not bound - value > solved * abs(bound) or bound <= cut or budget.stop() is not None:
            break
    return w


def own_gradient(X: np.ndarray, G: np.ndarray, D_T: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient on T by the equation of X, without cancellation."""
    return quadratic_forms(X, G) * D_T / np.square(w)


def largest_places(values: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and values of the largest above -inf; ties go to the lowest index."""
    least = float(largest_values(values, min(count, values.shape[0])).min())
    is_large = (values >= least) & (values > -np.inf)
    xp = namespace(values)
    index = xp.nonzero(is_large)[0]
    index, found = to_numpy(index), to_numpy(xp.take(values, index))
    order = np.argsort(-found, kind="stable")[:count]
    return index[order], found[order]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looks at all libraries that are loaded: once


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which linear algebra is done by the calling thread alone."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit
