"""Along a path of penalties: to one of them, or to the one at which exactly k features are used.

For all algorithms that solve one penalty after the other, each from the answer before.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ..pencil.budget import Budget
from .scoring import ScoringProblem, row_lengths
from .solution import GroupLassoSolution

FARTHEST = 0.5  # ratio of penalties from one answer to the next start
# The search for k features.
FINER = 0.5**0.25  # ratio of penalties
MIN_ALPHA = 1e-6
UNDECIDED = 1e-6  # (F_j'F_j + R_jj) |beta_j| / (lambda w_j) up to which a feature just enters
FURTHER = 24  # penalties that are looked at after one at which k was skipped
SAME = 1e-9  # relative distance of penalties between which nothing more is looked for
SHARP = 0.01  # how well the least penalty with k features is known


class PenaltySearch(ABC):
    """Solves one problem at one penalty after the other, each from the answer before."""

    def __init__(self, problem: ScoringProblem, budget: Budget) -> None:
        self.problem, self.budget = problem, budget
        self.penalty = problem.lambda_max

    @abstractmethod
    def solve(self, penalty: float) -> GroupLassoSolution:
        """The minimiser at this penalty."""

    def settle(self, ask: Ask) -> list[GroupLassoSolution]:
        """What ``ask`` gets from this search; it may be asked several times."""
        return ask(self)


Ask = Callable[[PenaltySearch], list[GroupLassoSolution]]


def solve_path(
    search: PenaltySearch, alphas: Sequence[float] | np.ndarray, max_features: int | None = None
) -> list[GroupLassoSolution]:
    """The minimisers at descending shares of lambda_max, until time or features are spent."""

    def follow(search: PenaltySearch) -> list[GroupLassoSolution]:
        solutions: list[GroupLassoSolution] = []
        for i, alpha in enumerate(alphas):
            solution = _go_to(search, float(alpha))
            too_many = max_features is not None and solution.support.size > max_features
            if too_many or (solutions and search.budget.stop() is not None):
                break
            solutions.append(solution)
            search.budget.report("gloss", "path", i + 1, total=len(alphas))
        return solutions

    return search.settle(follow)


def solve_at(search: PenaltySearch, alpha: float) -> GroupLassoSolution:
    """The minimiser at alpha lambda_max."""
    return solve_path(search, [alpha])[0]


def solve_for(search: PenaltySearch, k: int) -> GroupLassoSolution:
    """The minimiser with k features, or the nearest number that there is."""
    return search.settle(lambda search: [_seek(search, k)])[0]


def _go_to(search: PenaltySearch, alpha: float) -> GroupLassoSolution:
    """The minimiser at alpha lambda_max, by way of penalties from the last one on."""
    goal, last = alpha * search.problem.lambda_max, search.penalty
    steps = max(1, int(np.ceil(np.log(min(goal / last, 1.0)) / np.log(FARTHEST))))
    for share in np.arange(1, steps) / steps:
        if search.budget.stop() is None:
            search.solve(last * (goal / last) ** float(share))
    return search.solve(goal)


def _seek(search: PenaltySearch, k: int) -> GroupLassoSolution:
    """The minimiser with k features, at the least penalty of an interval where there are k.

    The path is followed from lambda_max on; where it passes k the penalty is bisected. If k is
    skipped (two features enter at one penalty) the path is followed a little further; if k does not
    come, the answer is the one with the nearest number of features, the fewer of two.
    """
    top, past = search.problem.lambda_max, 0
    last = search.solve(top)
    seen: list[GroupLassoSolution] = []
    for exponent in range(1, int(np.log(MIN_ALPHA) / np.log(FINER)) + 1):
        if past > FURTHER or (seen and search.budget.stop() is not None):
            break
        found = search.solve(top * FINER**exponent)
        seen += [found, *_between(search, last, found, k)]
        if any(_is_clear(search, s) and s.support.size == k for s in seen):
            break
        past += past > 0 or _count(search, found) > k
        last = found
        n_found = min(found.support.size, k)
        search.budget.report("gloss", "features", n_found, total=k)
    used = [s for s in seen if s.support.size > 0]
    if not used:
        return found  # there was no time
    clear = [s for s in used if _is_clear(search, s)] or used
    size = min((s.support.size for s in clear), key=lambda size: (abs(size - k), size))
    best = min((s for s in clear if s.support.size == size), key=lambda s: s.penalty)
    lower = [s.penalty for s in seen if s.penalty < best.penalty]
    return _least_penalty(search, best, max(lower, default=0.0))


def _count(search: PenaltySearch, solution: GroupLassoSolution) -> int:
    """Features in use, without those that are so near to where they enter that round-off decides.

    (Of copies that share a weight, and enter at one penalty, some may be missing just below it.)
    """
    problem, S = search.problem, solution.support
    pull = problem.curvatures[S] * row_lengths(solution.rows)
    return int(np.count_nonzero(pull > UNDECIDED * solution.penalty * problem.weights[S]))


def _is_clear(search: PenaltySearch, solution: GroupLassoSolution) -> bool:
    return _count(search, solution) == solution.support.size


def _between(
    search: PenaltySearch, high: GroupLassoSolution, low: GroupLassoSolution, k: int
) -> Iterator[GroupLassoSolution]:
    """Answers at penalties between two that have k between their numbers of features."""
    above, below = _count(search, high) - k, _count(search, low) - k
    while above * below < 0:
        if high.penalty <= low.penalty * (1 + SAME) or search.budget.stop() is not None:
            break
        found = search.solve(float(np.sqrt(high.penalty * low.penalty)))
        yield found
        # k and one that just enters: k are a little above
        here = (_count(search, found) - k) or (found.support.size - k)
        if here * above > 0:
            high, above = found, here
        else:
            low, below = found, here


def _least_penalty(
    search: PenaltySearch, found: GroupLassoSolution, end: float
) -> GroupLassoSolution:
    """From ``found`` towards the penalty ``end``, as long as the number of features stays."""
    least = MIN_ALPHA * search.problem.lambda_max
    while found.penalty > max(end * (1 + SHARP), least) and search.budget.stop() is None:
        middle = float(np.sqrt(found.penalty * end))
        next_one = search.solve(max(middle, FINER * found.penalty))
        if next_one.support.size == found.support.size:
            found = next_one
        else:
            end = next_one.penalty
    return found
