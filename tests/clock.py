"""Is a time limit kept? Other processes may take the machine away for a moment: try again, then."""

from __future__ import annotations

import time
from typing import Any

import eigensieve as es

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
