"""Where an exact search starts from: greedy passes and many local searches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ...pencil.budget import Budget
from ...pencil.criteria import TINY
from ...pencil.problem import Problem
from ..moves import starting_supports, top_k
from .backward import backward_is_cheap, backward_pass
from .forward import forward_pass
from .limited import LimitedSearch
from .swap import swap_refine

# With more features than this a local search costs more than what other starts bring.
MAX_FEATURES_MANY_STARTS = 200
N_STARTS = 7


def find_start(
    problem: Problem,
    budget: Budget,
    solver: str,
    *,
    given: Sequence[int] | None = None,
    n_starts: int | None = None,
    random_state: int | None = None,
) -> np.ndarray:
    """The best set that local search finds from the given one, greedy passes and other starts.

    ``given`` may have any size: it is cut or filled up. ``n_starts`` is by default 7 up to 200
    features, none above.
    """
    if n_starts is None:
        n_starts = N_STARTS if problem.pencil.size <= MAX_FEATURES_MANY_STARTS else 0
    if problem.limits is not None:
        first = None if given is None else resize(problem, np.asarray(given, dtype=np.intp))
        return LimitedSearch(problem, budget).run(n_starts, random_state, first)
    starts = _starts(problem, budget, solver, given, n_starts, random_state)
    return best_of(problem, budget, _refined(problem, budget, starts))


def best_of(problem: Problem, budget: Budget, supports: Iterable[np.ndarray]) -> np.ndarray:
    """The best of some sets, of the first ones if time is short."""
    best, value = None, -np.inf
    for support in supports:
        score = problem.score(support)
        if best is None or score > value:
            best, value = support, score
        if budget.stop() is not None:
            break
    assert best is not None
    return best


def _refined(
    problem: Problem, budget: Budget, starts: Iterable[np.ndarray]
) -> Iterator[np.ndarray]:
    seen = set()
    for support in starts:
        if tuple(support) not in seen:
            refined, _, _ = swap_refine(problem, support, budget)
            seen |= {tuple(support), tuple(refined)}
            yield refined


def _starts(
    problem: Problem,
    budget: Budget,
    solver: str,
    given: Sequence[int] | None,
    n_starts: int,
    random_state: int | None,
) -> Iterator[np.ndarray]:
    if given is not None:
        yield resize(problem, np.asarray(given, dtype=np.intp))
    k = problem.k
    yield np.sort(forward_pass(problem, budget, solver)[k])
    if backward_is_cheap(problem):
        sets = backward_pass(problem, [k], budget, solver)
        if k in sets:
            yield np.sort(sets[k])
    rng = np.random.default_rng(random_state)
    yield from starting_supports(problem, n_starts, rng, budget)


def resize(problem: Problem, support: np.ndarray) -> np.ndarray:
    """A set of k features, with the include list, quotas and limits, made from one of any size."""
    is_complete = support.size == problem.k and np.isin(problem.include, support).all()
    if is_complete and problem.allows(support):
        return np.sort(support)
    ratio = problem.pencil.diag_A / problem.pencil.diag_B
    scores = ratio / max(float(np.abs(ratio).max()), TINY)
    scores[support] += 3.0  # what was there comes first
    return top_k(problem, scores)
