"""Greedy search where sets must keep limits on groups and costs.

Forward passes and other starts are polished by exchanges of one feature for another. Where limits
forbid these, a whole group or two features at a time make room, and a forward pass fills it again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations, islice

import numpy as np

from ...pencil.budget import Budget
from ...pencil.limits import FREE, IN, OUT
from ...pencil.problem import Problem
from ...pencil.solution import Solution, Status
from ..moves import best_single, can_refine_many, starting_supports, top_k
from ..secular import TIE
from ..target import start_state
from .limited_forward import grow
from .swap import swap_refine, work_of_scan

# Up to so many features every start is improved by refills, of more the best one only.
FEW_FEATURES = 60
# Starts beside the forward passes.
N_STARTS_FEW, N_STARTS = 8, 2
# Groups that a forward pass begins with, or that are put into a set, at most.
MAX_GROUPS = 30
# Refills that one set may cost, and their arithmetic, at most.
MAX_REFILLS, MIN_REFILLS = 300, 10
REFILL_WORK = 1e9
# A set that was refilled is worth exchanges if it is worse than the best one by this share at most:
# those that became the best one nearly all were, and most others were not.
HOPEFUL = 0.006


def limited_path(
    problem: Problem,
    ks: Sequence[int],
    budget: Budget,
    *,
    swap: bool = True,
    n_starts: int | None = None,
    random_state: int | None = None,
) -> dict[int, Solution]:
    """One search for every k: a set that is allowed need not lie in one that is larger."""
    solutions: dict[int, Solution] = {}
    for step, k in enumerate(sorted(ks)):
        if solutions and budget.stop() is not None:
            break
        part = problem.with_k(k)
        if k == 1:
            solutions[k] = _single(part, budget)
        else:
            search = LimitedSearch(part, budget, swap)
            support = search.run(n_starts if swap else n_starts or 0, random_state)
            solutions[k] = part.solution(
                support, budget, status=search.status, solver="greedy", n_iter=search.n_iter
            )
        budget.report("greedy", "swap", step + 1, total=len(ks), objective=solutions[k].objective)
    return solutions


def _single(problem: Problem, budget: Budget) -> Solution:
    """k = 1 is enumeration, hence a proof."""
    support, bound = best_single(problem, _singles(problem))
    return problem.solution(support, budget, status=Status.CONVERGED, solver="greedy", bound=bound)


def _singles(problem: Problem) -> np.ndarray:
    """The features that are allowed alone: single rules decide all there is."""
    state = problem.all_limits.narrow(start_state(problem), 1)
    assert state is not None  # there is a set
    forced = np.flatnonzero(state == IN)
    return forced if forced.size else np.flatnonzero(state == FREE)


@dataclass
class LimitedSearch:
    """The best allowed set so far, and how the search that found it ended."""

    problem: Problem
    budget: Budget
    swap: bool = True
    value: float = -np.inf
    status: Status = Status.FEASIBLE
    n_iter: int = 0
    best: np.ndarray = field(init=False)
    seen: set[bytes] = field(default_factory=set)

    def run(
        self,
        n_starts: int | None = None,
        random_state: int | None = None,
        given: np.ndarray | None = None,
    ) -> np.ndarray:
        """The best set from all starts; among them the given one, if one is."""
        is_small = self.problem.pencil.size <= FEW_FEATURES
        if n_starts is None:
            few = N_STARTS if can_refine_many(self.problem) else 0
            n_starts = N_STARTS_FEW if is_small else few
        for start in self._starts(n_starts, random_state or 0, given):
            if self._take(start) and self.swap and is_small:
                self._refill()
            if self.budget.stop() is not None:
                break
        if self.swap and not is_small:
            self._refill()
        self.status = self.budget.stop() or self.status
        return self.best

    def _starts(self, n_starts: int, seed: int, given: np.ndarray | None) -> Iterator[np.ndarray]:
        problem, first = self.problem, self._decided()
        if problem.k == 1:
            yield best_single(problem, _singles(problem))[0]
            return
        if given is not None:
            yield given
        for group in (np.empty(0, dtype=np.intp), *(self.groups if self.swap else ())):
            state = first.copy()
            state[group] = IN
            yield self._completed(grow(problem, state, self.budget))
        if not np.any(first == FREE):
            return  # there is no other choice
        yield self._completed(problem.include)
        # of its own for every k: a path finds what a search for one k finds
        rng = np.random.default_rng([seed, problem.k])
        yield from starting_supports(problem, n_starts, rng, self.budget)

    def _decided(self) -> np.ndarray:
        """What single rules say of the features at once."""
        state = self.problem.all_limits.narrow(start_state(self.problem), self.problem.k)
        assert state is not None  # there is a set
        return state

    def _completed(self, chosen: np.ndarray) -> np.ndarray:
        """An allowed set with these features, or without them if there is none."""
        if chosen.size == self.problem.k:
            return chosen
        pencil = self.problem.pencil
        return top_k(self.problem, pencil.diag_A / pencil.diag_B, chosen)

    @cached_property
    def groups(self) -> list[np.ndarray]:
        """The groups that are taken whole, those first whose features score most alone."""
        wholes = [group for group in self.problem.all_limits.wholes if group.size > 1]
        ratio = self.problem.pencil.diag_A / self.problem.pencil.diag_B
        wholes.sort(key=lambda group: -float(ratio[group].mean()))
        return wholes[:MAX_GROUPS]

    def _take(self, start: np.ndarray) -> bool:
        """Polish a set that is new; whether it is better than the best one."""
        if start.tobytes() in self.seen:
            return False
        self.seen.add(start.tobytes())
        support, status = start, Status.FEASIBLE
        if self.swap:
            support, steps, status = swap_refine(self.problem, start, self.budget)
            self.n_iter += steps
            self.seen.add(support.tobytes())
        score = self.problem.score(support)
        if score <= self.value + TIE * abs(self.value) and np.isfinite(self.value):
            return False
        self.best, self.value, self.status = support, score, status
        return True

    def _refill(self) -> None:
        """Let parts of the best set make room for others, until that helps no more."""
        if self.problem.k == 1:
            return
        work = self.problem.k * work_of_scan(self.problem)
        left = int(np.clip(REFILL_WORK / work, MIN_REFILLS, MAX_REFILLS))
        is_better = True
        while is_better and left > 0 and self.budget.stop() is None:
            is_better = False
            for support in islice(self._refilled(self.best), left):
                left -= 1
                self.budget.spend(work)
                is_better = self._is_hopeful(support) and self._take(support)
                if is_better or self.budget.stop() is not None:
                    break

    def _is_hopeful(self, support: np.ndarray) -> bool:
        """Whether a set is worth its exchanges: it is full, and nearly as good without them."""
        if support.size < self.problem.k or support.tobytes() in self.seen:
            return False
        return self.problem.score(support) >= self.value - HOPEFUL * abs(self.value)

    def _refilled(self, S: np.ndarray) -> Iterator[np.ndarray]:
        """Sets near this one: with a group of others in it, or without a part of it.

        Those that a forward pass could not fill have fewer features.
        """
        problem, first = self.problem, self._decided()
        losses = self._losses(S)
        for group in self.groups:
            if not np.isin(group, S).all():
                yield top_k(problem, losses, np.union1d(problem.include, group))
        for part in self._parts(S, losses):
            state = first.copy()
            state[S] = IN
            state[part] = OUT
            yield grow(problem, state, self.budget)

    def _losses(self, S: np.ndarray) -> np.ndarray:
        """What the set loses without each of its features; nothing, of all others."""
        losses = np.zeros(self.problem.pencil.size)
        losses[S] = [self.value - self.problem.score(np.delete(S, i)) for i in range(S.size)]
        losses[S] += TIE * max(abs(self.value), 1.0)  # what is there comes first
        return losses

    def _parts(self, S: np.ndarray, losses: np.ndarray) -> Iterator[np.ndarray]:
        """What can make room: groups that are taken whole, then pairs that count least."""
        inside = [group for group in self.groups if np.isin(group, S).all()]
        inside = [group for group in inside if not np.isin(group, self.problem.include).any()]
        yield from inside
        bound_up = np.concatenate([self.problem.include, *inside])
        single = np.setdiff1d(S, bound_up)
        for pair in combinations(single[np.argsort(losses[single], kind="stable")].tolist(), 2):
            yield np.array(pair, dtype=np.intp)
