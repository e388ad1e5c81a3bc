"""How often greedy search finds the best set, against exact search.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.quality [--pairs 20]`` (one core). Random pairs of
covariances as in figure 1 of Moghaddam et al. (2006), A of rank one (two classes) and of full
rank, every k from 2 to n - 1; general pencils (Wishart or indefinite A, Wishart B) of 12 features
for D.C. programming; a backward pass beside further starts on several hundred columns, and fewer
starts on thousands. Milliseconds are CPU time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

import eigensieve as es
from eigensieve.datasets.moghaddam2006 import draw_pairs

SAME = 1e-9
Options = dict[str, Any]
# The default for classes before its starts grew with the size of the problem.
PASSES: Options = {"direction": "both", "n_starts": 0}
STARTS: dict[str, tuple[str, Options]] = {
    "forward": ("greedy", {"direction": "forward", "n_starts": 0}),
    "forward and 8 starts": ("greedy", {"direction": "forward", "n_starts": 8}),
}
BACKWARD: dict[str, tuple[str, Options]] = {
    "forward and backward": ("greedy", PASSES),
    "all of them": ("greedy", {"direction": "both", "n_starts": 8}),
}


def compare(
    cases: Iterable[tuple[Callable[[], es.Pencil], int, str]],
    settings: dict[str, tuple[str, Options]],
    solver: str | None,
) -> None:
    """Share of the best value, worst ratio and time; without a solver the best found counts."""
    ratios: dict[str, list[float]] = {label: [] for label in settings}
    seconds = dict.fromkeys(settings, 0.0)
    for make, k, criterion in cases:
        found = {}
        for label, (name, options) in settings.items():
            pencil = make()  # a new one: it remembers what was computed
            start = time.process_time()
            found[label] = es.solve(pencil, k, name, criterion=criterion, **options).objective
            seconds[label] += time.process_time() - start
        best = max(found.values())
        if solver is not None:
            proved = es.solve(make(), k, solver, criterion=criterion)
            assert proved.is_certified
            best = proved.objective
        for label, value in found.items():
            ratios[label].append(value / best)
    for label, found_ratios in ratios.items():
        r = np.array(found_ratios)
        print(
            f"  {label:32s} best in {100 * np.mean(r >= 1 - SAME):5.1f} % of {r.size}, "
            f"worst ratio {r.min():.3f}, {1e3 * seconds[label] / r.size:6.1f} ms"
        )


def brownian(n: int, rank_one: bool, pairs: int) -> None:
    print(f"n = {n}, A of {'rank one' if rank_one else 'full rank'}, k = 2 ... {n - 1}")
    A, B = draw_pairs(pairs, np.random.default_rng([7, n, rank_one]), n, rank_one=rank_one)
    cases = [
        (lambda a=a, b=b: es.Pencil(a, b), k, "lambda_max")
        for a, b in zip(A, B)
        for k in range(2, n)
    ]
    settings = {
        "greedy, passes and swaps alone": ("greedy", PASSES),
        "greedy": ("greedy", {}),
        "exact": ("exact", {"n_jobs": 1}),
    }
    compare(cases, settings, "exact")


def general(problems: int, p: int = 12) -> None:
    print(f"general pencils, {p} features, k = 2, 3, 5, 8")
    cases = []
    for seed in range(problems):
        rng = np.random.default_rng(seed)
        M, N = rng.normal(size=(p + 2, p)), rng.normal(size=(p + 3, p))
        A = M.T @ M if seed % 2 else M[:p] + M[:p].T
        cases += [(lambda A=A, B=N.T @ N: es.Pencil(A, B), k, "lambda_max") for k in (2, 3, 5, 8)]
    settings = {
        "greedy, passes and swaps alone": ("greedy", PASSES),
        "greedy": ("greedy", {}),
        "dc, two further starts": ("dc", {"n_starts": 2}),
        "dc": ("dc", {}),
    }
    compare(cases, settings, "exhaustive")


def classes(n: int, p: int, settings: dict[str, tuple[str, Options]]) -> None:
    print(f"LDA, {n} rows, {p} columns, k = 5, 10, 20; the best is the best of these")
    cases = []
    for seed, (count, criterion) in enumerate(((2, "logdet"), (4, "logdet"), (4, "trace"))):
        rng = np.random.default_rng(seed)
        y = np.arange(n) % count
        shift = (rng.random(p) < 0.1) * rng.normal(size=(count, p))[y] * 0.7
        noise = rng.normal(size=(n, p))
        factors = rng.normal(size=(n, 15)) @ rng.normal(size=(15, p)) + 0.5 * noise
        for X in (noise + shift, factors + shift):
            for k in (5, 10, 20):
                cases.append((lambda X=X, y=y: es.lda_pencil(X, y), k, criterion))
    compare(cases, settings, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20, help="of every kind")
    pairs = parser.parse_args().pairs
    for rank_one in (True, False):  # imports are not timed
        A, B = draw_pairs(1, np.random.default_rng(0), 12, rank_one=rank_one)
        for solver in ("greedy", "exact", "dc"):
            es.solve(es.Pencil(A[0], B[0]), 4, solver)
    for n in (16, 30):
        for rank_one in (True, False):
            brownian(n, rank_one, pairs)
    general(2 * pairs)
    for n, p in ((80, 600), (1000, 700)):
        classes(n, p, STARTS | BACKWARD)
    for n, p in ((600, 2500), (80, 5000), (80, 10_000)):
        classes(n, p, STARTS | {"greedy": ("greedy", {})})


if __name__ == "__main__":
    main()
