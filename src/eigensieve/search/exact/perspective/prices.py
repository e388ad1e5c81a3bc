"""What limits cost: prices on them that make the relaxation a bound on the sets that keep them.

For prices m >= 0 a set that keeps the limits never scores less than its criterion less its charges
(`Limits.charge`). So the relaxation of the criterion less the charges bounds all such sets, and the
best prices give the bound of the relaxation in which the limits hold: that is a convex problem, and
its gradient at m is what the weights leave of every limit.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy import optimize

from ....pencil.budget import Budget
from ....pencil.limits import Limits
from ....pencil.problem import Problem
from ...target import FREE, IN
from .relax_kernel import relax
from .relaxation import NEWTON_STEPS, Relaxation, relax_all
from .scaled_pencil import ScaledPencil
from .weights import WeightProblem

# Prices are fitted to some features, checked on all, and fitted again with those that joined.
ROUNDS, STEPS = 4, 60
# Beside those with a weight, so many with the largest prices take part.
MORE = 300
# How near to its maximum a relaxation is taken, and what a round must bring to be worth another.
SOLVED, GAIN = 1e-6, 1e-4


def relax_with_limits(
    problem: Problem,
    scaled: ScaledPencil,
    state: np.ndarray,
    weights: np.ndarray,
    *,
    cut: float = -np.inf,
    budget: Budget | None = None,
) -> tuple[Relaxation, np.ndarray]:
    """`relax_all`, and the prices of the limits with which it is best."""
    budget, limits = budget or Budget(), problem.limits
    best = relax_all(problem, scaled, state, weights, cut=cut, budget=budget)
    if limits is None:
        return best, np.zeros(0)
    prices = np.zeros(limits.most.size)
    members = best.used
    for _ in range(ROUNDS):
        if best.bound <= cut or budget.stop() is not None:
            break
        members = np.union1d(members, _promising(best, state, limits))
        part = _Part(problem, scaled, state, members)
        trial = part.fit(prices, best)
        budget.spend(float(part.work[0]))
        charge = limits.charge(trial, problem.k)
        start = part.weights(problem.pencil.size)
        found = relax_all(problem, scaled, state, start, cut=cut, budget=budget, charge=charge)
        members = np.union1d(members, found.used)
        gain = best.bound - found.bound
        if gain > 0.0:
            best, prices = found, trial
        if gain <= GAIN * abs(best.bound):
            break
    return best, prices


def _promising(relaxation: Relaxation, state: np.ndarray, limits: Limits) -> np.ndarray:
    """Features that a set may turn to where a limit binds: of every kind the most attractive."""
    attraction = np.where(state == FREE, relaxation.gradient, -np.inf)
    binding = np.zeros(limits.size, dtype=bool)
    sums = np.asarray(limits.rows @ relaxation.weights).ravel()
    for c in np.flatnonzero(sums > limits.most - limits.slack).tolist():
        features, weights = limits.row(c)
        binding[features[weights > 0.0]] = True
    chosen = []
    for kind in (binding, ~binding):
        own = np.flatnonzero(kind & (state == FREE))
        order = np.argsort(-attraction[own], kind="stable")[:MORE]
        chosen.append(own[order])
    return np.unique(np.concatenate(chosen))


class _Part:
    """The relaxation of some features, for many prices in turn."""

    def __init__(
        self, problem: Problem, scaled: ScaledPencil, state: np.ndarray, members: np.ndarray
    ) -> None:
        assert problem.limits is not None
        members, inside = members[state[members] == FREE], np.flatnonzero(state == IN)
        self.index = np.concatenate([inside, members])
        self.limits, self.k = problem.limits.take(self.index), problem.k
        self.work = np.zeros(1)
        n_in = inside.size
        self.free = np.arange(n_in, self.index.size)
        self.problem = WeightProblem(
            scaled.block(self.index),
            np.ascontiguousarray(scaled.factor(self.index)),
            scaled.diagonal(self.index),
            np.arange(n_in),
            self.free,
            problem.k - n_in,
            problem.criterion == "logdet",
            self.work,
        )
        self.w = np.full(self.free.size, self.problem.need / max(self.free.size, 1))

    def fit(self, prices: np.ndarray, start: Relaxation) -> np.ndarray:
        """The prices with the least bound."""
        if not 0 < self.problem.need < self.free.size:
            return prices
        unit = max(abs(start.bound), 1e-300) / self.k
        found = optimize.minimize(
            lambda x: self._bound(x * unit, unit),
            prices / unit,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, None)] * prices.size,
            options={"maxiter": STEPS},
        )
        return np.maximum(found.x, 0.0) * unit

    def _bound(self, prices: np.ndarray, unit: float) -> tuple[float, np.ndarray]:
        """The bound for these prices, and how it changes with them, in the unit."""
        charge = self.limits.charge(prices, self.k)
        w = np.clip(self.w, 0.0, 1.0)
        bound, _, _, _ = relax(
            self.problem._replace(charge=charge), w, -np.inf, NEWTON_STEPS, SOLVED, 0.0
        )
        self.w = w
        x = np.concatenate([np.ones(self.index.size - self.free.size), w])
        return bound / unit, self.limits.most - np.asarray(self.limits.rows @ x).ravel()

    def weights(self, size: int) -> np.ndarray:
        """The weights of the last prices, among all features."""
        weights = np.zeros(size)
        weights[self.index] = 1.0
        weights[self.index[self.free]] = self.w
        return weights


def without_quota(problem: Problem) -> Problem:
    """The same problem with its quotas as limits."""
    if problem.quota is None:
        return problem
    return replace(problem, quota=None, limits=problem.all_limits)
