"""One worker of a dask cluster against two: a study, and an exact search.

``python -m benchmarks.scale_workers`` prints seconds. Workers are processes of this machine with
one thread each; they have everything loaded before the clock starts.
"""

from __future__ import annotations

import logging
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import joblib
import numpy as np
from dask.distributed import Client, LocalCluster

import eigensieve as es


def workers() -> None:
    """Print seconds for one and for two workers."""
    times = {n: _measure(n) for n in (1, 2)}
    print(f"{'':30}{'1 worker':>12}{'2 workers':>12}{'ratio':>8}")
    for name, one in times[1].items():
        two = times[2][name]
        print(f"{name:30}{one:10.1f} s{two:10.1f} s{one / two:8.2f}")


def _measure(n_workers: int) -> dict[str, float]:
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        cluster = stack.enter_context(
            LocalCluster(
                n_workers=n_workers, threads_per_worker=1, processes=True, local_directory=folder,
                dashboard_address=":0", silence_logs=logging.ERROR,
            )
        )  # fmt: skip
        client = stack.enter_context(Client(cluster))
        _study(n_features=50)
        _search(client, n_features=30)
        return {
            "study, 60 x 20,000": _seconds(lambda: _study(n_features=20_000)),
            "exact search, 70 columns": _seconds(lambda: _search(client, n_features=70)),
        }


def _seconds(run: Callable[[], Any]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def _study(n_features: int) -> None:
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 30)
    X = rng.normal(size=(60, n_features))
    X[y == "a", :10] += 0.8
    with joblib.parallel_config("dask"):
        es.study(X, y, ks=(1, 2, 5, 10, 20), n_repeats=2, n_permutations=5)


def _search(client: Client, n_features: int) -> None:
    """Three million nodes where there are 70 features."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, n_features)) + 0.3 * y[:, None] * rng.normal(size=n_features)
    X += rng.normal(size=(120, 5)) @ rng.normal(size=(5, n_features))
    pencil = es.lda_pencil(X, y, shrinkage=0.0)
    found = es.solve(pencil, 14, "leaps", time_limit=300, client=client)
    assert found.is_certified


if __name__ == "__main__":
    workers()
