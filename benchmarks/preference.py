"""Does it help to take the most stable of the sets that are nearly as good as the best one?

``OPENBLAS_NUM_THREADS=1 python -m benchmarks.preference [--splits 20] [--sets colon,sonar]
[--within 0.01 0.02 0.05]``, with EIGENSIEVE_DATA set.

What `eigensieve.study(prefer="stable")` does in an outer fold, on stratified half/half splits: the
inner folds of the training half say how often each feature is selected; of the sets within a share
of the best one the most stable is taken, and judged on the other half, beside the best one. Prints
for every k the error of both and the paired difference with its standard error, how many
sets there were to choose from, how often another than the best one was taken, and the stability
index of the sets that the training halves select: of the best ones, and of the preferred ones.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

import numpy as np

from benchmarks.accuracy import SETS
from benchmarks.data import load_open_set
from eigensieve import SparseLDA
from eigensieve.experiments.data import half_split
from eigensieve.studies.data import check_data
from eigensieve.studies.jobs import Finding, Job, run_job
from eigensieve.studies.nested import preferring_jobs
from eigensieve.studies.plan import StudyPlan, make_plan
from eigensieve.studies.running.runner import quiet_run
from eigensieve.studies.stability import stability_index

KS = (5, 10, 20)
Pair = tuple[Finding, Finding]  # of the best set, and of the preferred one


def compare(name: str, n_splits: int, shares: list[float]) -> dict[tuple[float, int], np.ndarray]:
    """Per share and k: of every split the two errors; prints what else is known."""
    X, y = load_open_set(name)
    data = check_data(X, y, None, None, "error")
    plan = make_plan(data, {"lda": SparseLDA()}, ks=KS, prefer="stable")
    start, found = time.process_time(), {(s, k): [] for s in shares for k in plan.ks}
    labels = np.searchsorted(plan.classes, data.y)
    tests = []
    for split in range(n_splits):
        here, there = half_split(data.y, split)
        tests.append(labels[there])
        outer = Job(here, there, data.y)
        inner = [Job(*part, data.y) for part in plan.splitter.split_inside(data.y, here)]
        for share, k, pair in _both(outer, inner, data.X, plan, shares):
            found[share, k].append(pair)
    seconds = (time.process_time() - start) / n_splits
    errors = {}
    for (share, k), pairs in found.items():
        wrong = np.array([
            [np.mean(np.array(one["predicted"]) != truth) for one in pair]
            for truth, pair in zip(tests, pairs)
        ])  # fmt: skip
        errors[share, k] = wrong
        supports = list(zip(*([one["support"] for one in pair] for pair in pairs)))
        indices = [stability_index(own, data.X.shape[1], k).index for own in supports]
        other = np.mean([a["support"] != b["support"] for a, b in pairs])
        print(
            f"{name:<20}{share:>7.0%}{k:>4}{_errors(wrong)}{other:>8.0%}"
            f"{indices[0]:>9.3f}{indices[1]:>9.3f}{seconds:>8.1f} s",
            flush=True,
        )
    return errors


def _both(
    outer: Job, inner: list[Job], X: np.ndarray, plan: StudyPlan, shares: list[float]
) -> list[tuple[float, int, Pair]]:
    """For every share and k what the best and the preferred set of the outer part find."""
    jobs = [outer, *inner]
    found = {job.key: run_job(job, X, plan) for job in jobs}
    pairs = []
    for size, k in enumerate(plan.ks):
        [again] = preferring_jobs([outer], [inner], [(0, size)], found, X.shape[1])
        for share in shares:
            preferred = run_job(again, X, replace(plan, within=share))[0][0]
            pairs.append((share, k, (found[outer.key][0][size], preferred)))
    return pairs


def _errors(wrong: np.ndarray) -> str:
    difference = wrong[:, 1] - wrong[:, 0]
    standard_error = difference.std(ddof=1) / np.sqrt(len(wrong))
    mean = wrong.mean(axis=0)
    return f"{mean[0]:>8.3f}{mean[1]:>8.3f}{difference.mean():>+8.4f} +-{standard_error:>7.4f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--within", type=float, nargs="+", default=[0.01, 0.02, 0.05])
    given = parser.parse_args()
    print(
        f"{'':<20}{'within':>7}{'k':>4}{'best':>8}{'stable':>8}{'difference':>18}{'other':>8}"
        f"{'index':>9}{'stable':>9}{'a split':>10}"
    )
    with quiet_run():
        results = [compare(name, given.splits, given.within) for name in given.sets.split(",")]
    for key in results[0]:
        own = [errors[key] for errors in results if key in errors]
        means = np.array([(errors[:, 1] - errors[:, 0]).mean() for errors in own])
        spread = means.std(ddof=1) / np.sqrt(means.size) if means.size > 1 else np.nan
        print(
            f"{'all sets':<20}{key[0]:>7.0%}{key[1]:>4}{_errors(np.concatenate(own))}"
            f"  (over sets +-{spread:.4f})"
        )


if __name__ == "__main__":
    main()
