"""Work for the workers of a dask cluster, all of which hold the same thing.

Workers come and go. What a lost one was doing another one does anew: dask sees to that. What was
sent to the workers, and is lost with the last of those that held it, dask cannot bring back: it is
sent again.
"""

from __future__ import annotations

import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any

from ..errors import ClusterError, MissingExtraError, OptionError

# Items that are at the cluster at once, at least: the rest waits here, and not in the scheduler.
MAX_ITEMS_OUT = 256
# How often one item, or what all hold, is sent again after it was lost with all who had it. A job
# that ends its workers comes to an end by this, where dask itself begins to count anew.
MAX_LOSSES = 3
# Seconds between two looks at whether it is over.
POLL = 0.05
# Seconds to wait for a worker when all are gone.
PATIENCE = 300.0

Work = Callable[[Any, Any], Any]
IsOver = Callable[[], bool] | None


def check_client(client: Any) -> Any:
    """The client, if it is one that is connected to a cluster."""
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError("distributed", "dask") from error
    if not isinstance(client, Client):
        raise OptionError(
            f"client is {client!r}; it must be a dask.distributed.Client, or None for none"
        )
    if client.asynchronous:
        raise OptionError("client is asynchronous; give one without asynchronous=True")
    if client.status != "running":
        raise OptionError(f"client is {client.status}; give one that is connected to its cluster")
    return client


class WorkerPool:
    """The workers of a cluster.

    Parameters
    ----------
    client : distributed.Client
    held : object
        Sent to every worker at the first use, once; sent anew when it is lost.
    **placement : arguments of ``client.submit`` that say where and when: workers, resources, ...
    """

    def __init__(self, client: Any, held: Any, **placement: Any) -> None:
        self.client, self.held, self.placement = client, held, placement
        self._sent: Any = None  # the future of what is held
        self.n_sent = 0

    @property
    def n_threads(self) -> int:
        """How many items can be worked on at once, by the workers that are there now."""
        return sum(self.client.nthreads().values())

    def run(
        self, work: Work, items: Sequence[Any], is_over: IsOver = None
    ) -> Iterator[tuple[int, Any]]:
        """``work(held, item)`` for every item: its place and the result, in the order they come.

        When ``is_over()`` says so the rest is dropped. An error of ``work`` is raised here.
        """
        out: dict[Any, tuple[int, Any]] = {}
        left, losses = deque(range(len(items))), Counter[int]()
        done: SimpleQueue[Any] = SimpleQueue()
        most_out = max(MAX_ITEMS_OUT, 2 * self.n_threads)
        try:
            while left or out:
                while left and len(out) < most_out:
                    if self._sent is None and not self._send(is_over):
                        return
                    place = left.popleft()
                    future = self._submit(partial(_carry_out, work, items[place]), done)
                    out[future] = place, self._sent
                ended = _next(done, is_over)
                if ended is None:
                    return
                place, sent = out.pop(ended)
                try:
                    result = self._result(ended)
                except CancelledError as error:
                    losses[place] += 1
                    if losses[place] > MAX_LOSSES:
                        raise _given_up(losses[place]) from error
                    if sent is self._sent:  # it is lost, most likely
                        self._sent = None
                    left.appendleft(place)
                else:
                    yield place, result
        finally:
            self._drop(out)

    def _submit(self, task: Callable[[Any], Any], done: SimpleQueue[Any]) -> Any:
        """Hand a task to the cluster; when it has ended, somehow, its future is put into ``done``.

        The task is one function and what is held, nothing else: dask would look into arguments.
        """
        future = self.client.submit(
            task, self._sent, key=f"eigensieve-{uuid.uuid4().hex}", pure=False, **self.placement
        )
        future.add_done_callback(done.put)
        return future

    def _send(self, is_over: IsOver) -> bool:
        """Copy what is held to every worker that is there; False if it is over before."""
        for _ in range(MAX_LOSSES):
            if not self._wait_for_a_worker(is_over):
                return False
            try:
                (self._sent,) = self.client.scatter(
                    [self.held], workers=self.placement.get("workers"), broadcast=True, hash=False
                )
            except (OSError, CancelledError):  # a worker ended just now
                continue
            self.n_sent += 1
            return True
        raise ClusterError(f"workers ended {MAX_LOSSES} times while data was sent to them")

    def _wait_for_a_worker(self, is_over: IsOver) -> bool:
        ends = time.monotonic() + PATIENCE
        while self.n_threads == 0:
            if is_over is not None and is_over():
                return False
            if time.monotonic() > ends:
                raise ClusterError(f"the cluster has had no worker for {PATIENCE:.0f} seconds")
            time.sleep(POLL)
        return True

    def _result(self, future: Any) -> Any:
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            raise _given_up(error.allowed_failures + 1) from error

    def _drop(self, futures: Iterable[Any]) -> None:
        """Nobody waits for these any more."""
        with suppress(Exception):  # the cluster may be gone: that was told, or does not matter
            self.client.cancel(list(futures))


def _given_up(times: int) -> ClusterError:
    return ClusterError(
        f"a job was given up: its workers ended {times} times. Mostly that is a lack of memory: "
        "see the logs of the workers"
    )


def _carry_out(work: Work, item: Any, held: Any) -> Any:
    return work(held, item)


def _next(done: SimpleQueue[Any], is_over: IsOver) -> Any:
    """The next future that has ended, or None if it is over before."""
    while is_over is None or not is_over():
        with suppress(Empty):
            return done.get(timeout=POLL)
    return None
