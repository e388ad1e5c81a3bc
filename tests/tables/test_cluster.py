"""Work on a cluster: every item once, whatever becomes of the workers."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections import namedtuple
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from eigensieve.errors import ClusterError, MissingExtraError, OptionError
from eigensieve.tables import cluster
from eigensieve.tables.cluster import WorkerPool, check_client
from tests.local_cluster import (
    kill_workers,
    thread_workers,
    two_workers,
    wait_for_both,
    worker_pids,
)

Pair = namedtuple("Pair", "first second")


@pytest.fixture(scope="module")
def shared_client(tmp_path_factory) -> Iterator[Any]:
    with two_workers(tmp_path_factory.mktemp("workers")) as client:
        yield client


@pytest.fixture
def client(shared_client) -> Any:
    wait_for_both(shared_client)
    return shared_client


def add(held: float, item: float) -> float:
    return held + item


def slow_sum(held: np.ndarray, item: int) -> float:
    time.sleep(0.05)
    return float(held.sum()) + item


def is_job(key: str) -> bool:
    return key.startswith("eigensieve")


def once(call: Callable[[], Any]) -> Callable[[], bool]:
    """A look at whether it is over (never) that makes a call the second time."""
    looks = iter(range(2))

    def is_over() -> bool:
        if next(looks, None) == 1:
            call()
        return False

    return is_over


def test_every_item_comes_back_with_its_place(client) -> None:
    found = list(WorkerPool(client, 0.5).run(add, [10, 20, 30]))
    assert sorted(found) == [(0, 10.5), (1, 20.5), (2, 30.5)]
    assert list(WorkerPool(client, 0.5).run(add, [])) == []


def test_few_are_out_at_once(client, monkeypatch) -> None:
    monkeypatch.setattr(cluster, "MAX_ITEMS_OUT", 1)
    most = 0

    def look() -> bool:
        nonlocal most
        most = max(most, sum(map(is_job, client.futures)))
        return False

    assert dict(WorkerPool(client, 1).run(add, range(30), look)) == {i: i + 1 for i in range(30)}
    assert 4 <= most <= 6  # two for each thread, and those that have just ended


@pytest.mark.parametrize("held", [[1, 2], (), {"a": 1}, Pair(print, 2), None, np.arange(3)])
def test_things_arrive_as_they_are(client, held) -> None:
    item = Pair(len, [held])  # dask takes a tuple with a function for a task
    ((_, found),) = WorkerPool(client, held).run(lambda *both: both, [item])
    assert [type(one) for one in found] == [type(held), Pair]
    assert found[1].first is len
    for one in (found[0], found[1].second[0]):
        np.testing.assert_equal(one, held)


def test_it_is_sent_once(client) -> None:
    held = np.ones(100_000)
    pool = WorkerPool(client, held)
    for _ in range(3):
        assert sum(x for _, x in pool.run(slow_sum, [0, 1, 2])) == 3 * held.size + 3
    assert pool.n_sent == 1


def test_what_was_sent_is_released(client) -> None:
    pool = WorkerPool(client, np.ones(1000))
    assert len(list(pool.run(slow_sum, [1]))) == 1
    key = pool._sent.key
    assert key in client.futures
    del pool
    ends = time.monotonic() + 10
    while key in client.futures and time.monotonic() < ends:
        time.sleep(0.01)
    assert key not in client.futures


def test_placement(client) -> None:
    addresses = list(client.nthreads())
    pool = WorkerPool(client, None, workers=addresses[:1])
    assert {pid for _, pid in pool.run(lambda *_: os.getpid(), range(6))} == {
        client.run(os.getpid, workers=addresses[:1])[addresses[0]]
    }


def test_an_error_of_the_work_is_raised_here(client) -> None:
    with pytest.raises(ZeroDivisionError):
        list(WorkerPool(client, 1).run(lambda held, item: held / item, [1, 0, 2]))


def test_it_ends_when_it_is_over(client) -> None:
    start = time.monotonic()
    found = list(WorkerPool(client, 30).run(lambda *_: time.sleep(30), range(4), lambda: True))
    assert found == []
    assert time.monotonic() - start < 10
    client.restart()  # the workers are still asleep


# ---------------------------------------------------------------- lost workers


@pytest.mark.parametrize("count", [1, 2])
def test_lost_workers_cost_no_result(client, count) -> None:
    pool = WorkerPool(client, np.ones(1000))
    kill = once(lambda: kill_workers(client, count))
    found = list(pool.run(slow_sum, range(40), kill))
    assert sorted(found) == [(i, 1000.0 + i) for i in range(40)]
    assert pool.n_sent == count  # with one left it is not lost


def test_a_restarted_cluster_costs_no_result(client) -> None:
    pool = WorkerPool(client, np.ones(1000))
    before = worker_pids(client)
    found = dict(pool.run(slow_sum, range(40), once(client.restart)))
    assert found == {i: 1000.0 + i for i in range(40)}
    assert not set(before) & set(worker_pids(client))


def test_work_that_ends_its_worker_is_given_up(client) -> None:
    def deadly(held: None, item: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(ClusterError, match=r"given up: its workers ended \d times"):
        list(WorkerPool(client, None).run(deadly, [1]))


def test_work_that_is_lost_again_and_again_is_given_up(client, monkeypatch) -> None:
    from distributed import Future

    monkeypatch.setattr(cluster, "MAX_LOSSES", 1)

    def lose() -> bool:
        client.cancel([Future(key, client) for key in list(client.futures) if is_job(key)])
        return False

    with pytest.raises(ClusterError, match="its workers ended 2 times"):
        list(WorkerPool(client, None).run(lambda *_: time.sleep(0.3), [1], lose))


def test_a_cluster_without_workers(monkeypatch) -> None:
    monkeypatch.setattr(cluster, "PATIENCE", 0.2)
    with thread_workers(0) as client:
        assert list(WorkerPool(client, None).run(add, [1], lambda: True)) == []
        with pytest.raises(ClusterError, match="has had no worker for 0 seconds"):
            list(WorkerPool(client, None).run(add, [1]))


# ---------------------------------------------------------------- the client


@pytest.mark.parametrize("wrong", ["tcp://127.0.0.1:8786", 2, True, object()])
def test_no_client(wrong) -> None:
    with pytest.raises(OptionError, match=r"client is .*; it must be a dask\.distributed\.Client"):
        check_client(wrong)


def test_a_client_is_let_through(client) -> None:
    assert check_client(client) is client


def test_a_closed_client(client) -> None:
    from distributed import Client

    with Client(client.scheduler.address, set_as_default=False) as other:
        pass
    with pytest.raises(OptionError, match="client is closed"):
        check_client(other)


def test_an_asynchronous_client(client) -> None:
    import asyncio

    from distributed import Client

    async def check() -> None:
        address = client.scheduler.address
        async with Client(address, asynchronous=True, set_as_default=False) as other:
            check_client(other)

    with pytest.raises(OptionError, match="asynchronous"):
        asyncio.run(check())


def test_without_distributed(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'eigensieve\[dask\]'"):
        check_client(object())
