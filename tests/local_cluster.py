"""A dask cluster of two worker processes on this machine, and a way to kill them."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

SETTINGS = {
    # a job that ends more workers is given up: dask's own 3 would take longer to test, and with 1
    # a job may have bad luck when both are killed
    "distributed.scheduler.allowed-failures": 2,
    # a LocalCluster gives up a worker that is away 15 s after it was lost, though it may have been
    # back, and been lost again, in between
    "distributed.deploy.lost-worker-timeout": "1 hour",
}

pytest.importorskip("distributed", reason="NO CLUSTER: dask[distributed] is not installed")


@contextmanager
def two_workers(folder: Path) -> Iterator[Any]:
    """A client of such a cluster; workers that end are started anew."""
    import dask
    from distributed import Client, LocalCluster

    with dask.config.set(SETTINGS):
        cluster = LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",  # any port that is free
            silence_logs=logging.CRITICAL + 1,
            local_directory=str(folder),
        )
        try:
            with Client(cluster) as client:
                yield client
        finally:
            # dask's own list of workers may lack one that was killed, and its last step looks it up
            with suppress(KeyError):
                cluster.close()


@contextmanager
def thread_workers(n_workers: int, threads: int = 1, **options: Any) -> Iterator[Any]:
    """A client of a cluster whose workers are threads of this process."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=threads,
            processes=False,
            dashboard_address=":0",
        ) as cluster,
        Client(cluster, **options) as client,
    ):
        yield client


def worker_pids(client: Any) -> list[int]:
    return sorted(client.run(os.getpid).values())


def kill_workers(client: Any, count: int = 1) -> None:
    """End so many workers at once, as a machine that loses its power would."""
    for pid in worker_pids(client)[:count]:
        os.kill(pid, signal.SIGKILL)


def wait_for_both(client: Any) -> None:
    client.wait_for_workers(2, timeout=60)
