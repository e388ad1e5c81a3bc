"""Perspective branch and bound: what the first relaxations leave behind when time is up."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import eigensieve as es
from eigensieve.pencil.budget import Budget
from eigensieve.pencil.problem import make_problem
from eigensieve.pencil.solution import Status
from eigensieve.search.exact.perspective import perspective, relaxation


class Looks(Budget):
    """Time is up after some looks at the clock."""

    looks = 0
    most = 10_000

    def stop(self) -> Status | None:
        self.looks += 1
        return Status.TIME_LIMIT if self.looks > self.most else None


def test_more_time_never_gives_a_worse_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that time ran out for keeps its bound."""
    monkeypatch.setattr(relaxation, "STEP_WORK", 1)  # look at the clock after every step
    rng = np.random.default_rng(0)
    y = np.arange(30) % 2
    X = rng.normal(size=(30, 300))
    X[:, :20] += 0.5 * y[:, None]
    pencil = es.lda_pencil(X, y, shrinkage=0.3)
    problem = make_problem(pencil, 5, "trace")

    def look(most: int) -> tuple[es.Solution, int]:
        budget = Looks()
        budget.most = most
        solution = perspective.SOLVER.solve(problem, budget, random_state=0)
        solution.verify(pencil)
        return solution, budget.looks

    optimum, looks = look(10_000)
    assert optimum.is_certified
    solutions = [look(most)[0] for most in range(looks - 75, looks, 5)]
    assert len({s.n_nodes for s in solutions}) > 5  # ended at many places of the tree
    for short, longer in itertools.pairwise(solutions):
        assert short.objective <= longer.objective * (1 + 1e-9)
        assert optimum.objective <= longer.bound <= short.bound * (1 + 1e-12)
