"""What the other benchmarks run, with this version and with a former one, in turn.

    OPENBLAS_NUM_THREADS=1 python -m benchmarks.former TREE [--calls FOLDER] [--only gloss,dc]

TREE holds the sources of the former version, ready to import. Each version works in a process of
its own; a round here and a round there, five of them (``--rounds``), and of everything the best
counts. With ``--calls`` also kernels one by one, on what ``benchmarks.replay record`` has written:
up to 400 calls of each, of each call the best, the sum for the kernel. Ratios below 1: faster now.
"""

from __future__ import annotations

import argparse
import copy
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
MAX_CALLS = 400  # of a kernel
Job = tuple[str, Callable[[], Any]]


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    with np.load(Path(os.environ["EIGENSIEVE_DATA"]) / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"]


def jobs(only: str) -> Iterator[Job]:
    """Names with a part of the benchmark of that name; what they need is made beforehand."""
    import eigensieve as es
    from benchmarks.greedy import planted

    wanted = set(only.split(","))
    rng = np.random.default_rng(0)
    if "greedy" in wanted:
        wide = es.lda_pencil(*planted(100, 20_000, 4, 0), shrinkage=0.5)
        dense = es.lda_pencil(*planted(100, 400, 4, 0), shrinkage=0.5)
        for criterion in ("trace", "logdet", "lambda_max"):
            run = partial(es.solve, wide, 20, "greedy", criterion)
            yield f"greedy: {criterion}, 20 of 20,000", run
            run = partial(es.solve, dense, 20, "greedy", criterion)
            yield f"greedy: {criterion}, 20 of 400", run
        for name in ("leukemia", "prostate", "brain"):
            X, y = table(name)
            run = partial(lambda X, y: es.SparseLDA(20, solver="greedy").fit(X, y), X, y)
            yield f"greedy: SparseLDA(20).fit with its bound, {name}", run
    if "exact" in wanted:
        yield from exact_jobs(es)
    if "gloss" in wanted:
        for name in ("srbct", "prostate", "brain"):
            yield f"gloss: a path, {name}", partial(es.gloss_path, *table(name))
    if "sulda" in wanted:
        for name in ("colon", "brain"):
            X, y = table(name)
            yield f"sulda: {name}", partial(lambda X, y: es.SparseUncorrelatedLDA().fit(X, y), X, y)
    if "qalpha" in wanted:
        X = rng.normal(size=(100_000, 100)).T
        yield "qalpha: 100 x 100,000, ten cycles", partial(es.qalpha, X, 4, max_iter=10)
    if "study" in wanted:
        X, y = table("colon")
        ks = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50)
        yield "study: colon, as eigensieve fit makes it", partial(es.study, X, y, ks=ks)
    if "dc" in wanted:
        for p in (100, 400):
            X = rng.normal(size=(p, p))
            yield f"dc: 10 of {p}", partial(es.solve, es.Pencil(X.T @ X), 10, "dc", "lambda_max")
        run = partial(es.solve, es.pca_pencil(table("colon")[0]), 10, "dc", "lambda_max")
        yield "dc: 10 of 2,000 genes", run


def exact_jobs(es: Any) -> Iterator[Job]:
    for name, k, shrinkage, criterion in (
        ("prostate", 10, 0.5, "trace"),
        ("srbct83", 10, 0.5, "trace"),
        ("srbct83", 5, 0.5, "logdet"),
        ("sonar", 10, 0.0, "trace"),
        ("ionosphere", 8, 0.5, "lambda_max"),
    ):
        X, y = table(name)
        X = X[:, X.std(axis=0) > 0]
        pencil = es.lda_pencil(X, y, shrinkage=shrinkage)
        run = partial(es.solve, pencil, k, "exact", criterion, time_limit=60)
        yield f"exact: {criterion}, {k} of {X.shape[1]:,} ({name})", run
    correlations = es.Pencil(np.corrcoef(table("colon")[0][:, :60].T))
    yield "exact: PCA, 8 of 60 genes", partial(es.solve, correlations, 8, "exact", "lambda_max")


def kernel_jobs(folder: Path) -> Iterator[Job]:
    from benchmarks.replay import calls, named

    by_label: dict[str, list[Any]] = {}
    for label, before, _, _ in calls(folder):
        by_label.setdefault(label, []).append(before)
    for label, every in by_label.items():
        home, name = label.split(":")
        module = importlib.import_module(home)
        for before in every[:: -(-len(every) // MAX_CALLS)]:
            args = named(before)
            yield label.removeprefix("eigensieve."), partial(getattr(module, name), *args)


def seconds_of(job: Callable[..., Any]) -> float:
    job = copy.deepcopy(job)  # kernels change what they are given
    start = time.process_time()
    tick = time.perf_counter()
    job()
    wall = time.perf_counter() - tick
    return wall if wall < 0.01 else time.process_time() - start  # CPU, where it can be told


def work(options: argparse.Namespace) -> None:
    """A round for every line of standard input; the seconds of each job go out."""
    every = list(jobs(options.only))
    if options.calls:
        every += kernel_jobs(options.calls)
    for _, job in every:  # what only a first call does is not timed
        copy.deepcopy(job)()
    print("ready", flush=True)
    for _ in sys.stdin:
        print(json.dumps([(name, seconds_of(job)) for name, job in every]), flush=True)


def start_worker(tree: Path, options: argparse.Namespace) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.former", str(tree)]
    command += ["--work", "--only", options.only]
    if options.calls:
        command += ["--calls", str(options.calls.resolve())]
    env = os.environ | {"PYTHONPATH": str(tree / "src")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen(command, env=env, cwd=ROOT, text=True, **pipes)


def compare(options: argparse.Namespace) -> None:
    workers = [start_worker(tree, options) for tree in (options.tree.resolve(), ROOT)]
    for worker in workers:
        worker.stdout.readline()
    best = [np.array(np.inf), np.array(np.inf)]
    for _ in range(options.rounds):
        for i, worker in enumerate(workers):
            worker.stdin.write("go\n")
            worker.stdin.flush()
            names, seconds = zip(*json.loads(worker.stdout.readline()))
            best[i] = np.fmin(best[i], seconds)
    for worker in workers:
        worker.communicate()
    print(f"{'':56}{'calls':>6}{'former ms':>11}{'now ms':>11}{'ratio':>7}")
    for name in dict.fromkeys(names):
        mine = np.array(names) == name
        a, b = (1e3 * times[mine].sum() for times in best)
        print(f"{name:56}{mine.sum():6}{a:11.3f}{b:11.3f}{b / a:7.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--calls", type=Path)
    parser.add_argument("--only", default="greedy,exact,gloss,sulda,qalpha,dc", help="or study")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    (work if options.work else compare)(options)


if __name__ == "__main__":
    main()
