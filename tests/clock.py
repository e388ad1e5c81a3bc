"""Time limits: kept, if other processes leave the machine alone; and reached at a given look."""

from __future__ import annotations

import time
from typing import Any

import pytest

import eigensieve as es
from eigensieve.pencil.budget import Budget

TRIES = 5


def solve_in_time(pencil: es.Pencil, k: int, *, time_limit: float, **options: Any) -> es.Solution:
    """`es.solve`, which keeps its limit within 10 % or .2 s in one of a few tries at least."""
    taken = []
    for _ in range(TRIES):
        start = time.perf_counter()
        solution = es.solve(pencil, k, time_limit=time_limit, **options)
        taken.append(time.perf_counter() - start)
        if taken[-1] <= max(1.1 * time_limit, time_limit + 0.2):
            return solution
    raise AssertionError(f"a limit of {time_limit} s took {', '.join(f'{t:.2f}' for t in taken)} s")


def stop_after(
    monkeypatch: pytest.MonkeyPatch, looks: int, status: es.Status = es.Status.TIME_LIMIT
) -> None:
    """A clock that does not depend on the machine: every search is told to stop at this look."""
    asked = iter(range(looks))
    monkeypatch.setattr(
        Budget, "stop", lambda budget: status if next(asked, None) is None else None
    )
