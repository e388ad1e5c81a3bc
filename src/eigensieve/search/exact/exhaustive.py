"""Every subset, one by one: the oracle for small problems."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator

import numpy as np

from ...errors import OptionError
from ...pencil.budget import Budget
from ...pencil.criteria import EPS
from ...pencil.grading import is_graded
from ...pencil.problem import Problem
from ...pencil.solution import Solution, Status
from ..greedy.start import resize
from ..score_sets import score_places
from ..secular import TIE, first_max
from ..solver import Solver
from ..target import LARGEST_EXPONENT

MAX_SUBSETS = 20_000_000
BATCH = 4096


def solve_exhaustive(problem: Problem, budget: Budget) -> Solution:
    """Evaluate all sets of k features; the lexicographically first of equals wins."""
    choose = np.setdiff1d(problem.features, problem.include)
    r = problem.k - problem.include.size
    count = math.comb(choose.size, r)
    if count > MAX_SUBSETS:
        raise OptionError(
            f"exhaustive search would visit {count:.3g} sets (limit {MAX_SUBSETS:.0e}); "
            "use a smaller k or another solver"
        )
    A, B = _unit_diagonal(problem)
    at_most = _ceilings(problem)
    best, best_set, seen, status, ceiling = -np.inf, None, 0, None, -np.inf
    for batch in _batches(problem, choose, r):
        n_visited, batch = len(batch), _allowed(problem, batch)
        scores = score_places(A, B, batch, problem.criterion)
        i = first_max(scores) if scores.size else -1
        if scores.size and (best_set is None or scores[i] > best + TIE * abs(best)):
            best, best_set = float(scores[i]), batch[i]
        # even the order of the sets may be hidden by round-off, of some more than of others
        for j in np.argsort(-scores, kind="stable"):
            if at_most(scores[j]) <= ceiling:
                break
            ceiling = max(ceiling, problem.ceiling(batch[j]))
        seen += n_visited
        budget.report("exhaustive", "search", seen, total=count, objective=best)
        status = budget.stop()
        if status is not None:
            break
    return problem.solution(
        resize(problem, problem.include) if best_set is None else best_set,
        budget,
        status=status or Status.GAP_LIMIT,
        solver="exhaustive",
        n_nodes=seen,
        bound=np.inf if status is not None else ceiling,
    )


def _ceilings(problem: Problem) -> Callable[[float], float]:
    """What a set with a given score may at most be worth, round-off included."""
    pencil, k, is_log = problem.pencil, problem.k, problem.criterion == "logdet"
    if is_log and is_graded(pencil.diag_A, pencil.diag_B):
        return lambda score: np.inf
    share = 16 * k * EPS / pencil.least_B
    size = pencil.scale + is_log  # a difference of log-dets is no more exact than those are
    others = (pencil.factor_error + 8 * k * EPS * size) / pencil.least_B

    def at_most(score: float) -> float:
        largest = np.expm1(min(score, LARGEST_EXPONENT)) if is_log else abs(score)
        error = share * largest + others
        return score + k * float(np.log1p(error) if is_log else error)

    return at_most


def _unit_diagonal(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    d = 1.0 / np.sqrt(problem.pencil.diag_B)
    return problem.pencil.A * np.outer(d, d), problem.pencil.B * np.outer(d, d)


def _batches(problem: Problem, choose: np.ndarray, r: int) -> Iterator[np.ndarray]:
    subsets = itertools.combinations(choose.tolist(), r)
    forced = problem.include.tolist()
    while True:
        batch = [sorted(forced + list(s)) for s in itertools.islice(subsets, BATCH)]
        if not batch:
            return
        yield np.array(batch, dtype=np.intp)


def _allowed(problem: Problem, sets: np.ndarray) -> np.ndarray:
    """Those that keep quotas and limits."""
    if problem.quota is not None:
        sets = sets[[problem.fills_quota(s) for s in sets]]
    return sets if problem.limits is None else sets[problem.limits.allows_each(sets)]


SOLVER = Solver(
    name="exhaustive",
    summary="every subset, one by one; proves optimality; for small problems",
    solve=solve_exhaustive,
    certifies=True,
    takes_limits=True,
    max_features=500,
)
