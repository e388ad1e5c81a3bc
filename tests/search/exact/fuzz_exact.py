"""Exact solvers against brute force, as many random problems as wanted.

``python -m tests.search.exact.fuzz_exact --count 50000 [--seed0 N] [--jobs 2]``: by hand, before a
release; with ``--targeted`` on problems made to deceive double precision. `run_instance` is also
what test_exact_against_brute_force.py calls.
"""
# ruff: noqa: T201

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

import eigensieve as es
from eigensieve.pencil.problem import Problem, make_problem
from eigensieve.search.moves import top_k
from eigensieve.search.solve import find_solvers
from tests.oracles.exact import Truth, judge
from tests.oracles.instances import KINDS, Instance, random_instance
from tests.oracles.targeted import TARGETED, targeted_instance

ALGORITHMS = ("exact", "leaps", "levelset", "dominance", "perspective", "direction", "interlacing")
STARTS = ("find_start", "find_level_start", "power_start")
# All that may prove anything: for k = 1, or where there is one set only, that is every solver.
EVERYBODY = (*ALGORITHMS, "exhaustive", "greedy", "dc", "dspca", "threshold")
GAPS = (1e-6, 1e-6, 1e-6, 1e-3, 0.05, 1e-6, 0.0)
BATCH = 250


@dataclass
class Tally:
    """What came of some instances: runs and certificates by kind and by solver, failures."""

    runs: Counter = field(default_factory=Counter)
    certified: Counter = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    seconds: Counter = field(default_factory=Counter)

    def add(self, other: Tally) -> None:
        """Take over another tally."""
        self.runs += other.runs
        self.certified += other.certified
        self.seconds += other.seconds
        self.failures += other.failures


def solvers_for(instance: Instance, wanted: Iterable[str] = ALGORITHMS) -> list[str]:
    """ "exact" and the algorithms by name that take on the problem."""
    known = find_solvers()
    problem = make_problem(
        instance.pencil, instance.k, instance.criterion, instance.include, instance.exclude
    )
    names = []
    for name in wanted:
        solver = known.get(name)
        if solver is None or instance.criterion not in solver.criteria:
            continue
        if solver.refuses is None or solver.refuses(problem) is None:
            names.append(name)
    return names


@contextmanager
def poor_starts() -> Iterator[None]:
    """Let every search start from a set that is about the worst there is.

    Multi-start local search finds nearly every optimum of small problems by itself; only from
    a poor start does the search have to find anything.
    """
    solvers = [find_solvers()[name] for name in ALGORITHMS]
    functions = [solver.search or solver.solve for solver in solvers]
    modules = [sys.modules[function.__module__] for function in functions if function]
    with ExitStack() as patches:
        for module in modules:
            for name in STARTS:
                if hasattr(module, name):
                    patches.enter_context(patch.object(module, name, _worst_first))
        yield


def _worst_first(problem: Problem, *_: object, **__: object) -> np.ndarray:
    return top_k(problem, -problem.pencil.diag_A / problem.pencil.diag_B)


def solve(instance: Instance, name: str, **options: object) -> es.Solution:
    """The solution that a solver gives."""
    return es.solve(
        instance.pencil,
        instance.k,
        solver=name,
        criterion=instance.criterion,
        include=instance.include,
        exclude=instance.exclude,
        random_state=0,
        **options,  # type: ignore[arg-type]
    )


def run_instance(
    seed: int,
    wanted: Iterable[str] = ALGORITHMS,
    audit: bool = True,
    draw: Callable[[int], Instance] = random_instance,
) -> Tally:
    """Let every solver that can take on this instance solve it, and judge them.

    Every other instance of a kind starts from a poor set; some are stopped on their way too,
    and then the bound must be valid all the same.
    """
    tally = Tally()
    instance = draw(seed)
    truth, turn = Truth(instance), seed // len(KINDS if draw is random_instance else TARGETED)
    gap_tol = GAPS[turn % len(GAPS)]
    limits: dict[str, float] = {"time_limit": 0.0} if turn % 8 == 3 else {"max_nodes": 1 + turn % 9}
    with poor_starts() if turn % 2 else nullcontext():
        for name in solvers_for(instance, wanted):
            options: dict[str, float] = {"gap_tol": gap_tol}
            if audit and name in ALGORITHMS:
                options["audit"] = True
            _run_solver(instance, name, truth, tally, options)
            if turn % 4 == 3 and name in ALGORITHMS:
                _run_solver(instance, name, truth, tally, options | limits)
    return tally


def _run_solver(
    instance: Instance, name: str, truth: Truth, tally: Tally, options: dict[str, float]
) -> None:
    start, gap_tol = time.perf_counter(), options["gap_tol"]
    stopped = not {"time_limit", "max_nodes"}.isdisjoint(options)
    certified = False
    try:
        solution = solve(instance, name, **options)
        complaints = judge(instance, solution, truth)
        certified = solution.is_certified
        # a tolerance that doubles can keep must be kept; with the targeted kinds they may not
        is_able = find_solvers()[name].certifies and instance.kind in KINDS
        if is_able and not (certified or stopped or truth.is_doubtful) and gap_tol >= 1e-6:
            complaints.append(f"gives up: {solution!r}")
    except Exception as error:  # a crash is a failure like any other
        where = traceback.extract_tb(error.__traceback__)[-1]
        complaints = [f"{type(error).__name__}: {error} ({where.filename}:{where.lineno})"]
    place = instance.kind, name + " stopped" if stopped else name
    tally.seconds[place[1]] += time.perf_counter() - start
    tally.runs[place] += 1
    tally.certified[place] += certified
    tally.failures += [f"{name} {options}: {c}\n    {instance!r}" for c in complaints]


def run_batch(
    first: int,
    count: int,
    wanted: Iterable[str] = ALGORITHMS,
    audit: bool = True,
    draw: Callable[[int], Instance] = random_instance,
) -> Tally:
    """The tally of ``count`` instances from ``first`` on."""
    tally = Tally()
    for seed in range(first, first + count):
        tally.add(run_instance(seed, wanted, audit, draw))
    return tally


def print_summary(tally: Tally) -> None:
    """Runs and certificates: a row for every kind, a column for every solver."""
    kinds = sorted({kind for kind, _ in tally.runs})
    names = sorted({name for _, name in tally.runs})
    print(f"{'certified / runs':20s}" + "".join(f"{name:>20s}" for name in names))
    for kind in kinds:
        cells = [f"{tally.certified[kind, n]:,} / {tally.runs[kind, n]:,}" for n in names]
        print(f"{kind:20s}" + "".join(f"{cell:>20s}" for cell in cells))
    print(f"{'CPU seconds':20s}" + "".join(f"{tally.seconds[n]:20.1f}" for n in names))


def main() -> int:
    """Run, print failures as they come, and the summary."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=50_000)
    parser.add_argument("--seed0", type=int, default=1_000_000)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--solvers", nargs="+", default=list(ALGORITHMS))
    parser.add_argument("--targeted", action="store_true", help="by every solver there is")
    parser.add_argument("--no-audit", action="store_true")
    given = parser.parse_args()
    start, total = time.perf_counter(), Tally()
    firsts = range(given.seed0, given.seed0 + given.count, BATCH)
    end, audit = given.seed0 + given.count, not given.no_audit
    work = partial(_batch, end=end, wanted=given.solvers, audit=audit)
    if given.targeted:
        work = partial(_batch, end=end, wanted=EVERYBODY, audit=audit, draw=targeted_instance)
    with ProcessPoolExecutor(given.jobs) as pool:
        for tally in pool.map(work, firsts):
            for failure in tally.failures:
                print("FAILED", failure, flush=True)
            total.add(tally)
    print_summary(total)
    print(f"{given.count:,} instances, {total.runs.total():,} runs, ", end="")
    print(f"{len(total.failures)} failures, {time.perf_counter() - start:.0f} s")
    return 1 if total.failures else 0


def _batch(first: int, end: int, **how: Any) -> Tally:
    return run_batch(first, min(BATCH, end - first), **how)


if __name__ == "__main__":
    sys.exit(main())
