"""What an exact search is after, what it decides of features, and what came of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..pencil.budget import Budget
from ..pencil.problem import Problem
from ..pencil.solution import Solution, Status, relative_gap
from .hadamard import hadamard_bound

# What a search knows of a feature.
FREE, IN, OUT = 0, 1, -1
# Below this relative gap double precision proves nothing.
FLOOR = 1e-9
# No log-det is larger: sizes are limited, see tables/statistics.py; a wide tolerance gets there.
LARGEST_EXPONENT = 700.0
# With a gap above this the sizes of the features alone may say more than a search could.
HOPELESS = 1.0
# What is left of gap_tol for the rounding of incumbents.
SHARE = 0.95


class Target:
    """What is searched for, and when a bound is good enough.

    With a rank-one A all criteria order the sets alike and the search works with the trace;
    ``problem`` is what the tree sees, `outward` takes a bound back to the user's criterion.
    """

    def __init__(self, problem: Problem, gap_tol: float) -> None:
        self.asked = problem
        same_order = problem.criterion != "trace" and problem.pencil.is_rank_one
        self.problem = replace(problem, criterion="trace") if same_order else problem
        self._is_log = same_order and problem.criterion == "logdet"
        self.tol = max(SHARE * gap_tol, FLOOR)

    def outward(self, value: float) -> float:
        """A value or bound of the search, in the criterion that was asked for."""
        return math.log1p(value) if self._is_log else value

    def proved(self, bound: float) -> float:
        """What a bound of the search says of the criterion that was asked for."""
        beside = self.asked.pencil.beside_rank_one if self.problem is not self.asked else 0.0
        return self.outward(bound) + beside

    def inward(self, value: float) -> float:
        """A value or bound of the criterion that was asked for, in that of the search."""
        if not self._is_log:
            return value
        return math.expm1(min(value, LARGEST_EXPONENT))

    # What a search tells a target that lists sets: see search/near_optimal/listing.py.

    @property
    def lists(self) -> bool:
        """Whether it is after all sets above the cut, not the best of them."""
        return False

    def collect(self, sets: np.ndarray) -> None:
        """Sets above the cut, by the indices of the problem, each met once."""

    def end(self, features: np.ndarray, states: Sequence[np.ndarray]) -> None:
        """The search has ended; the states of these features in the nodes that are open."""

    def report(self, budget: Budget, solver: str, value: float, bound: float, n_nodes: int) -> None:
        """Tell how far a search is."""
        objective, bound = self.outward(value), self.outward(bound)
        budget.report(solver, "search", n_nodes, objective=objective, bound=bound, n_nodes=n_nodes)

    def cut(self, value: float) -> float:
        """The largest bound that closes a node when the incumbent has this value."""
        own = self.outward(value)
        return self.inward(own + self.tol * max(abs(own), self.asked.unit))


@dataclass
class Outcome:
    """The incumbent, what is proved, and why the search ended (None: nothing is open)."""

    support: np.ndarray
    value: float
    bound: float
    n_nodes: int
    stopped: Status | None


def finish(outcome: Outcome, target: Target, budget: Budget, solver: str) -> Solution:
    """The `Solution` of a search."""
    problem, bound = target.asked, target.proved(outcome.bound)
    own = problem.score(outcome.support)
    if problem.criterion == "logdet" and relative_gap(own, bound, problem.unit) > HOPELESS:
        bound = min(bound, hadamard_bound(problem))
    return problem.solution(
        outcome.support,
        budget,
        status=outcome.stopped or Status.GAP_LIMIT,
        solver=solver,
        bound=bound,
        n_nodes=outcome.n_nodes,
    )


def start_state(problem: Problem) -> np.ndarray:
    """FREE for every feature, IN for the included ones."""
    state = np.full(problem.pencil.size, FREE, dtype=np.int8)
    state[problem.include] = IN
    return state


def decide_by_gains(
    gains: np.ndarray, need: int, value: float, cut: float
) -> tuple[np.ndarray, np.ndarray]:
    """Masks: what a set above ``cut`` must have of some features, and what it cannot have.

    No set of ``need`` of them exceeds ``value``, by the sum of the largest gains; exchanging i
    for j changes that by gains[j] - gains[i].
    """
    ordered = np.sort(gains)
    kth = ordered[-need]
    after = ordered[-need - 1] if need < gains.size else -np.inf
    is_large = gains >= kth
    return is_large & (value - gains + after <= cut), ~is_large & (value - kth + gains <= cut)
