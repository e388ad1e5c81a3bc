"""Greedy search on wide data: time and memory, against a naive loop and fastcan.

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.greedy`` (one core). The naive loop recomputes the
criterion of every candidate from scratch at every step; it is timed on a sample of the
candidates of every step and scaled up. Ratios, not seconds, are the result.
"""

from __future__ import annotations

import resource
import time
import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np

import eigensieve as es

SAMPLE = 40


def planted(n: int, p: int, classes: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian noise with a shift of one standard deviation on 50 columns per class."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, p)), np.arange(n) % classes
    for c in range(classes):
        X[np.ix_(y == c, np.arange(50 * c, 50 * c + 50))] += 1.0
    return X, y


def best_of(function: Callable[[], object], repeats: int = 3) -> float:
    """Seconds of the fastest of a few runs, the first (warm-up) not counted."""
    function()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def naive_seconds(pencil: es.Pencil, order: np.ndarray) -> float:
    """A forward pass that scores each candidate from scratch, scaled up from a sample."""
    rng = np.random.default_rng(0)
    total = 0.0
    for t in range(order.size):
        sample = rng.choice(pencil.size, SAMPLE, replace=False)
        start = time.perf_counter()
        for j in sample:
            small = pencil.restrict(np.append(order[:t], j))
            np.linalg.slogdet(small.A + small.B)[1] - np.linalg.slogdet(small.B)[1]
        total += (time.perf_counter() - start) * (pencil.size - t) / SAMPLE
    return total


def peak_ratio(X: np.ndarray, y: np.ndarray) -> float:
    """Peak memory of building the pencil, forward and swaps, in units of X."""
    tracemalloc.start()
    es.solve(es.lda_pencil(X, y), 50, "greedy", "logdet", direction="forward")
    peak = tracemalloc.get_traced_memory()[1] + X.nbytes
    tracemalloc.stop()
    return peak / X.nbytes


def forward_at_scale() -> None:
    """p = 50,000, n = 100, k = 50, logdet and the other criteria."""
    X, y = planted(100, 50_000, 2, 0)
    X3, y3 = planted(100, 50_000, 4, 0)
    print(f"p = 50,000, n = 100, k = 50 (X: {X.nbytes / 2**20:.0f} MiB)")
    for label, data in (("2 classes", (X, y)), ("4 classes", (X3, y3))):
        print(f"  peak memory, X included, {label}: {peak_ratio(*data):.2f} times X")
    pencil = es.lda_pencil(X, y)
    print(f"  building the pencil: {best_of(lambda: es.lda_pencil(X, y), 2):.2f} s")
    for label, problem in (("2 classes", pencil), ("4 classes", es.lda_pencil(X3, y3))):
        for criterion in ("logdet", "trace", "lambda_max"):
            run = partial(es.solve, problem, 50, "greedy", criterion, direction="forward")
            seconds, swap = best_of(partial(run, swap=False)), best_of(run, 1)
            print(f"  {label}, {criterion:10s} forward {seconds:.2f} s, with swaps {swap:.2f} s")
    solution = es.solve(pencil, 50, "greedy", "logdet", direction="forward", swap=False)
    seconds = best_of(
        lambda: es.solve(pencil, 50, "greedy", "logdet", direction="forward", swap=False)
    )
    naive = naive_seconds(pencil, solution.support)
    print(f"  naive loop (scaled from {SAMPLE} candidates a step): {naive:.0f} s", end="")
    print(f", {naive / seconds:.0f} times slower than forward (logdet)")


def against_fastcan() -> None:
    """The same task as fastcan: greedy forward on canonical correlations."""
    try:
        from fastcan import FastCan
    except ImportError:
        print("fastcan is not installed (pip install 'eigensieve[bench]'): left out")
        return
    for n, p, k in ((62, 2_000, 10), (100, 20_000, 20)):
        X, y = planted(n, p, 2, 1)
        peer = best_of(partial(FastCan(k, verbose=0).fit, X, y))
        for label, options in (
            ("forward", {"direction": "forward", "swap": False}),
            ("forward + swap", {"direction": "forward"}),
            ("both directions, swaps, starts", {}),
        ):
            ours = best_of(
                partial(es.SparseLDA(k, solver="greedy", solver_options=options).fit, X, y)
            )
            print(
                f"n = {n}, p = {p:,}, k = {k}: SparseLDA ({label}) {ours:.3f} s, "
                f"fastcan {peer:.3f} s, ratio {peer / ours:.2f}"
            )


def main() -> None:
    """Run everything and print."""
    forward_at_scale()
    against_fastcan()
    print(f"process peak: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10:.0f} MiB")


if __name__ == "__main__":
    main()
