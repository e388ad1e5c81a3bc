"""Run the jobs of a study: in parallel, with a checkpoint, and with an orderly end by Ctrl-C."""

from __future__ import annotations

import threading
import time
import uuid
import warnings
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import get_active_backend
from threadpoolctl import ThreadpoolController

from ...tables.cluster import WorkerPool
from ..jobs import Findings, Job, run_job
from ..plan import StudyPlan
from .checkpoint import Checkpoint

LONG = 4.0  # seconds of work for each process from which on starting processes pays
StageProgress = Callable[[str, int, int], None]


class KeptStage(str):
    """The name of a stage, where a result is told that an earlier run has kept."""

    __slots__ = ()


@dataclass(frozen=True, eq=False)
class Stage:
    """Jobs that serve one purpose, by the name the progress bar shows."""

    name: str
    jobs: Sequence[Job]


@dataclass
class StageCount:
    """Tells how many jobs of each stage are done."""

    stages: Sequence[Stage]
    tell: StageProgress | None
    done: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.stage_of: dict[str, str] = {}  # a job that serves two purposes counts once
        for stage in self.stages:
            for job in stage.jobs:
                self.stage_of.setdefault(job.key, stage.name)
        self.total = Counter(self.stage_of.values())

    def add(self, key: str, kind: type[str] = str) -> None:
        """A job is done; ``kind``: `KeptStage` where an earlier run has done it."""
        stage = self.stage_of[key]
        self.done[stage] += 1
        if self.tell is not None:
            self.tell(kind(stage), self.done[stage], self.total[stage])


def run_stages(
    stages: Sequence[Stage],
    X: np.ndarray,
    plan: StudyPlan,
    *,
    n_jobs: int | None = None,
    checkpoint: Checkpoint | None = None,
    progress: StageProgress | None = None,
) -> tuple[dict[str, Findings], bool]:
    """What every job found, by key, and whether Ctrl-C cut it short.

    Jobs with the same key are run once. Results do not depend on ``n_jobs``.
    """
    jobs = {job.key: job for stage in stages for job in stage.jobs}
    found = {} if checkpoint is None else {k: v for k, v in checkpoint.found.items() if k in jobs}
    watch = StageCount(stages, progress)
    left = [job for key, job in jobs.items() if key not in found]
    try:
        for key in found:
            watch.add(key, KeptStage)
        with closing(_run(left, X, plan, n_jobs)) as results:
            for key, outcome in results:
                found[key] = outcome
                if checkpoint is not None:
                    checkpoint.add(key, outcome)
                watch.add(key)
    except KeyboardInterrupt:
        return found, True
    return found, False


def _run(
    jobs: Sequence[Job], X: np.ndarray, plan: StudyPlan, n_jobs: int | None
) -> Generator[tuple[str, Findings]]:
    with quiet_run(), _gate() as ticket:
        backend, _ = get_active_backend()
        if _is_cluster(backend):
            yield from _run_on_cluster(backend, jobs, X, partial(_pass, ticket, plan=plan))
            return
        if not _has_own_backend():
            # The first job has things to load; the second one tells how long a job takes.
            pilots, jobs, seconds = jobs[:2], jobs[2:], 0.0
            for job in pilots:
                start = time.perf_counter()
                yield job.key, run_job(job, X, plan)
                seconds = time.perf_counter() - start
            if seconds * len(jobs) < LONG * effective_n_jobs(n_jobs):
                n_jobs = 1
        # Processes, not threads: much of a fit is Python, and threads would wait for each other.
        pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        yield from pool(delayed(_pass)(ticket, X, job, plan) for job in jobs)


def _has_own_backend() -> bool:
    """Whether the user has told joblib where to run (threads, a cluster): then all goes there."""
    backend, _ = get_active_backend()
    return type(backend).__name__ not in ("LokyBackend", "SequentialBackend")


# ---------------------------------------------------------------- a cluster


def _is_cluster(backend: Any) -> bool:
    return type(backend).__name__ == "DaskDistributedBackend"


def _run_on_cluster(
    backend: Any, jobs: Sequence[Job], X: np.ndarray, work: Callable[..., tuple[str, Findings]]
) -> Generator[tuple[str, Findings]]:
    """Hand the jobs to the client of joblib's backend, and not to the backend itself.

    That one sends a table to some worker; with the worker it would be lost for good, and the
    study with it.
    """
    if not jobs:
        return
    backend.effective_n_jobs(-1)  # waits for the first worker, as long as the user has told joblib
    with backend.retrieval_context():
        for _, found in _pool_with(X, backend).run(work, jobs):
            yield found


_POOLS: ContextVar[list[WorkerPool] | None] = ContextVar("pools that are kept", default=None)


@contextmanager
def sent_once() -> Iterator[None]:
    """Within, a table goes to a cluster once, and not once for each call of `run_stages`."""
    token = _POOLS.set([])
    try:
        yield
    finally:
        _POOLS.reset(token)


def _pool_with(X: np.ndarray, backend: Any) -> WorkerPool:
    kept = _POOLS.get()
    for pool in kept or ():
        if pool.held is X and pool.client is backend.client:
            return pool
    pool = WorkerPool(backend.client, X, **backend.submit_kwargs)
    if kept is not None:
        kept.append(pool)
    return pool


# ---------------------------------------------------------------- silence


@cache
def _libraries() -> ThreadpoolController:
    """To look for those that are loaded takes as long as a small fit."""
    return ThreadpoolController()


@contextmanager
def quiet_run() -> Iterator[None]:
    """One BLAS thread, and no warnings.

    Two threads that each start two more only wait for each other, and the number of threads would
    show in the last digits. Hundreds of fits would warn of the same: the findings tell it once.
    """
    with _libraries().limit(limits=1, user_api="blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


class _SharedQuiet:
    """`quiet_run` for all threads of a process: the first one in begins it, the last one ends it.

    Filters of warnings and the number of BLAS threads are the whole process's.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.inside = 0

    def __enter__(self) -> None:
        with self.lock:
            if self.inside == 0:
                self.quiet = quiet_run()
                self.quiet.__enter__()
            self.inside += 1

    def __exit__(self, *error: object) -> None:
        with self.lock:
            self.inside -= 1
            if self.inside == 0:
                self.quiet.__exit__(None, None, None)


_QUIET = _SharedQuiet()


# ---------------------------------------------------------------- the end of threads


class _Gate:
    """Counts the jobs that are running in this process; closed, it lets no more in."""

    def __init__(self) -> None:
        self.change = threading.Condition()
        self.inside = 0
        self.is_closed = False

    def enter(self) -> bool:
        with self.change:
            self.inside += not self.is_closed
            return not self.is_closed

    def leave(self) -> None:
        with self.change:
            self.inside -= 1
            self.change.notify_all()

    def close(self) -> None:
        """Wait for those inside: a thread that is still in compiled code when the interpreter

        ends would abort it.
        """
        with self.change:
            self.is_closed = True
            self.change.wait_for(lambda: self.inside == 0)


_GATES: dict[str, _Gate] = {}


@contextmanager
def _gate() -> Iterator[str]:
    ticket = uuid.uuid4().hex
    gate = _GATES[ticket] = _Gate()
    try:
        with closing(gate):
            yield ticket
    finally:
        del _GATES[ticket]


def _pass(ticket: str, X: np.ndarray, job: Job, plan: StudyPlan) -> tuple[str, Findings]:
    """Run a job unless the gate is closed; another process (of loky, dask) has no gate."""
    gate = _GATES.get(ticket)
    if gate is None:
        with _QUIET:
            return job.key, run_job(job, X, plan)
    if not gate.enter():
        return job.key, []  # nobody listens any more
    try:
        return job.key, run_job(job, X, plan)
    finally:
        gate.leave()
