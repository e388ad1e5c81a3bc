"""Many local searches where there are few features: there they cost next to nothing each."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, islice

import numpy as np

from ...pencil.budget import Budget
from ...pencil.factor_pencil import dense_rows
from ...pencil.problem import Problem
from ..moves import starting_supports, top_k
from ..secular import TIE
from .small_kernel import climb

MAX_FEATURES = 500
# Arithmetic of one local search, at most, and of all that nobody asked for: about .1 s.
MAX_WORK = 2e7
TOTAL_WORK = 6e7
N_STARTS = 60
MIN_STARTS = 4
# Part of a set that is exchanged at random before the next local search.
KICK = 1 / 3
# Sets that are improved by truncated power steps first, and by how many at most.
N_POWERED = 3
MAX_POWER_STEPS = 20
KINDS = {"trace": 0, "logdet": 1, "lambda_max": 2}


def is_small(problem: Problem) -> bool:
    """Whether `best_of_many` is made for the problem."""
    return (
        problem.pencil.in_memory
        and problem.pencil.size <= MAX_FEATURES
        and _climb_work(problem) <= MAX_WORK
    )


def default_starts(problem: Problem) -> int:
    """As many local searches as take about a tenth of a second at most."""
    return int(np.clip(TOTAL_WORK / max(_climb_work(problem), 1.0), MIN_STARTS, N_STARTS))


def _climb_work(problem: Problem) -> float:
    """About what a local search costs: an exchange for every feature of the smaller part."""
    p, k = problem.pencil.size, problem.k
    scan = p * k * (k + 0.0)
    if problem.working_criterion == "trace":
        scan += p * k * min(problem.pencil.max_rank, p)
    elif problem.working_criterion == "lambda_max":
        scan *= max(k / 4, 1.0)
    return scan * min(k, p - k)


def best_of_many(
    problem: Problem,
    budget: Budget,
    supports: Iterable[np.ndarray],
    *,
    n_starts: int,
    seed: int | None,
) -> np.ndarray:
    """The best set of local searches: from these sets, and from so many others.

    Half of those are sets as for any problem, the leading ones improved by truncated power steps;
    the other half is the best set so far with a third of it exchanged at random. It is for
    `swap_refine` to confirm that no exchange improves the result.
    """
    search = _Search(problem)
    rng = np.random.default_rng([seed or 0, problem.k])
    n_kicks = n_starts // 2
    others = starting_supports(problem, n_starts - n_kicks, rng, budget)
    powered = (truncated_power(problem, S) for S in islice(others, N_POWERED))
    for support in chain(supports, powered, others):
        search.start_from(support)
        if budget.stop() is not None:
            break
    for _ in range(n_kicks):
        if budget.stop() is not None:
            break
        search.start_from(_kicked(problem, search.best, rng))
    return search.with_first_copies()


class _Search:
    """The best set so far, and the matrices that a local search needs, where diag(B) = 1."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.best, self.value = problem, problem.include, -np.inf
        self.kind = KINDS[problem.working_criterion]
        pencil = problem.pencil.restrict(problem.features)
        d = 1.0 / np.sqrt(pencil.diag_B)
        self.A, self.B = pencil.A * np.outer(d, d), pencil.B * np.outer(d, d)
        self.H = np.empty((0, d.size))
        if self.kind == KINDS["trace"]:
            rows = dense_rows(problem.pencil.spectral_factor[0], "a search by the trace")
            self.H = np.ascontiguousarray(rows * d)
        elif self.kind == KINDS["logdet"]:
            self.A += self.B
        self.group = np.zeros(d.size, dtype=np.int64)
        if problem.quota is not None:
            assert problem.pencil.blocks is not None
            self.group[:] = problem.pencil.blocks
        self.group[problem.include] = -1
        self.starts: set[bytes] = set()
        self.ends: set[bytes] = set()

    def start_from(self, support: np.ndarray) -> None:
        """Search from a set, unless that was done before."""
        S = np.sort(support).astype(np.int64)
        if self._is_known(S, self.starts):
            return
        climb(self.A, self.B, self.H, self.kind, S, self.group)
        S.sort()
        if not self._is_known(S, self.ends):
            score = self.problem.score(S)
            # by more than round-off: among equals the first one stays
            if self.value == -np.inf or score > self.value + TIE * abs(self.value):
                self.best, self.value = S.astype(np.intp), score

    def with_first_copies(self) -> np.ndarray:
        """The best set, where of identical features the first one stands for the others."""
        A, B = np.square(self.A), np.square(self.B)
        marks = np.column_stack([np.diag(self.A), A.sum(axis=1), B.sum(axis=1)])
        S = self.best.copy()
        for slot in range(S.size - 1, -1, -1):
            j = S[slot]
            alike = np.all(np.isclose(marks[:j], marks[j], rtol=1e-9, atol=0.0), axis=1)
            alike &= self.group[:j] == self.group[j]
            for i in np.setdiff1d(np.flatnonzero(alike), S):
                T = S.copy()
                T[slot] = i
                if self.group[j] >= 0 and self.problem.score(T) >= self.value * (1 - TIE):
                    S = T
                    break
        return np.sort(S)

    def _is_known(self, S: np.ndarray, known: set[bytes]) -> bool:
        is_known = S.tobytes() in known
        known.add(S.tobytes())
        return is_known


def truncated_power(problem: Problem, support: np.ndarray) -> np.ndarray:
    """The set that truncated power steps lead to: x <- the k largest entries of A x.

    With x the best vector of the set, where diag(B) = 1; as long as the set gets better.
    """
    root, value = np.sqrt(problem.pencil.diag_B), problem.score(support)
    for _ in range(MAX_POWER_STEPS):
        x = np.zeros(root.size)
        x[support] = problem.pencil.restrict(support).eigh()[1][:, 0]
        new = top_k(problem, np.abs(problem.pencil.apply_A(x)) / root)
        score = problem.score(new)
        if score <= value:
            break
        support, value = new, score
    return support


def _kicked(problem: Problem, support: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The set with a part of it left out, and filled up at random."""
    removable = np.setdiff1d(support, problem.include)
    count = max(2, int(np.ceil(KICK * support.size)))
    lost = rng.permutation(removable)[:count]
    scores = rng.random(problem.pencil.size)
    scores[lost] -= 1.0  # they come back only where there is nothing else
    return top_k(problem, scores, np.setdiff1d(support, lost))
