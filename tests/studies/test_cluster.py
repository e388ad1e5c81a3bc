"""Studies on a cluster: the same bytes as in one process, whatever becomes of the workers."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import joblib
import numpy as np
import pytest

import eigensieve as es
from eigensieve.errors import ClusterError, InputError
from eigensieve.studies.running import runner
from eigensieve.tables.cluster import WorkerPool
from tests.local_cluster import kill_workers, thread_workers, two_workers, wait_for_both
from tests.studies.whole import as_bytes, make_table, plain_study


@pytest.fixture(scope="module")
def shared_client(tmp_path_factory) -> Iterator[Any]:
    with two_workers(tmp_path_factory.mktemp("workers")) as client:
        yield client


@pytest.fixture
def cluster(shared_client) -> Iterator[Any]:
    """The client of a cluster that joblib knows of."""
    wait_for_both(shared_client)
    with joblib.parallel_config("dask"):
        yield shared_client


@pytest.fixture(scope="module")
def expected() -> bytes:
    return as_bytes(plain_study())


def at_event(number: int, call: Callable[[], None]) -> Callable[..., None]:
    """A progress callback that makes a call when so many jobs are done."""
    told = iter(range(1, number))

    def tell(*event: Any) -> None:
        if next(told, None) is None and not made:
            made.append(event)
            call()

    made: list[Any] = []
    return tell


# ---------------------------------------------------------------- the same results


def test_a_study_with_everything(cluster, expected) -> None:
    events: list[tuple[str, int, int]] = []
    assert as_bytes(plain_study(progress=lambda *event: events.append(event))) == expected
    again: list[tuple[str, int, int]] = []
    with joblib.parallel_config("sequential"):
        plain_study(progress=lambda *event: again.append(event))
    assert Counter(events) == Counter(again)


@pytest.mark.parametrize("backend", [{"n_jobs": 2}, {"priority": 1}])
def test_settings_and_groups(cluster, backend) -> None:
    X, y = make_table(gaps=False)
    options: dict[str, Any] = {
        "estimator": [es.SparseLDA(shrinkage=0.2), es.SparseLDA(shrinkage=0.8)],
        "groups": np.arange(y.size) // 3, "ks": (1, 3), "cv": 3, "n_repeats": 1,
    }  # fmt: skip
    with joblib.parallel_config("sequential"):
        here = as_bytes(es.study(X, y, **options))
    with joblib.parallel_config("dask", **backend):
        assert as_bytes(es.study(X, y, **options)) == here


def test_threads_of_this_process_as_workers(expected) -> None:
    with thread_workers(1, threads=2), joblib.parallel_config("dask"):
        assert as_bytes(plain_study()) == expected
    assert not runner._GATES


def test_a_comparison_sends_the_table_once(cluster, monkeypatch) -> None:
    sent = []
    send = WorkerPool._send
    monkeypatch.setattr(
        WorkerPool, "_send", lambda pool, o: sent.append(pool.held) or send(pool, o)
    )
    X, y = make_table(gaps=False)
    options: dict[str, Any] = {"methods": ["sparse-lda", "anova", "sulda"], "ks": (1, 2), "cv": 3}
    found = es.compare(X, y, **options)
    assert [held.shape for held in sent] == [X.shape]
    with joblib.parallel_config("sequential"):
        here = es.compare(X, y, **options)
    assert list(found.results) == list(here.results) == options["methods"]
    for name, study in found.results.items():
        assert as_bytes(study) == as_bytes(here.results[name])
    assert found.table.equals(here.table)


def test_jobs_travel_without_the_table(cluster, monkeypatch) -> None:
    sizes = []
    submit = WorkerPool._submit

    def watch(pool: WorkerPool, task: Any, *rest: Any) -> Any:
        sizes.append(len(pickle.dumps(task)))
        return submit(pool, task, *rest)

    monkeypatch.setattr(WorkerPool, "_submit", watch)
    X, y = make_table(n=30, p=3000, gaps=False)
    es.study(X, y, es.RankedLDA("anova"), ks=(1, 2), cv=3, n_repeats=1)
    assert len(sizes) == 12
    assert max(sizes) < X.nbytes / 100


# ---------------------------------------------------------------- lost workers


@pytest.mark.parametrize("count", [1, 2])
def test_workers_killed_in_the_middle(cluster, count, expected, tmp_path) -> None:
    tell = at_event(10, lambda: kill_workers(cluster, count))
    path = tmp_path / "c"
    assert as_bytes(plain_study(progress=tell, checkpoint=path)) == expected
    assert len(path.read_bytes().splitlines()) == 1 + 30  # no job was lost, none is there twice
    with joblib.parallel_config("sequential"):
        assert as_bytes(plain_study(checkpoint=path)) == expected


class Deadly(es.RankedLDA):
    """Ends the process of any worker."""

    def predict(self, X: Any) -> np.ndarray:
        if multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().predict(X)


def test_a_method_that_ends_its_workers(cluster, monkeypatch) -> None:
    monkeypatch.setattr(cluster.cluster.scheduler, "allowed_failures", 0)  # once is enough
    X, y = make_table(gaps=False)
    with pytest.raises(ClusterError, match=r"given up: its workers ended \d times"):
        es.study(X, y, Deadly("anova"), ks=(1,), cv=3, n_repeats=1)


# ---------------------------------------------------------------- errors, limits, Ctrl-C


def test_an_error_of_a_job_is_the_users(cluster) -> None:
    with pytest.raises(InputError, match=r"time limit .* k = 2; raise it.*a given k needs none"):
        plain_study(estimator=es.SparseLDA(time_limit=0.0))


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_keeps_what_is_done(cluster, expected, tmp_path) -> None:
    path = tmp_path / "c"
    study = plain_study(progress=at_event(16, press_ctrl_c), checkpoint=path)
    assert study.interrupted
    assert 16 <= len(path.read_bytes().splitlines()) < 31
    assert as_bytes(plain_study(checkpoint=path)) == expected


def test_ctrl_c_while_it_waits(cluster, expected, tmp_path) -> None:
    timer = threading.Timer(0.3, press_ctrl_c)
    timer.start()
    try:
        plain_study(checkpoint=tmp_path / "c")
        timer.join()  # if the study was faster, the signal comes here
    except KeyboardInterrupt:
        timer.join()
    assert as_bytes(plain_study(checkpoint=tmp_path / "c")) == expected


# ---------------------------------------------------------------- silence


def test_threads_of_a_worker_are_quiet_together() -> None:
    before = list(warnings.filters)
    both_in, first_out = threading.Barrier(2, timeout=10), threading.Event()
    heard = []

    def leave_first() -> None:
        with runner._QUIET:
            both_in.wait()
        first_out.set()

    def stay() -> None:
        with runner._QUIET:
            both_in.wait()
            first_out.wait(10)
            heard.append(warnings.filters[0][:3])
            warnings.warn("as a fit does", UserWarning, stacklevel=1)

    threads = [threading.Thread(target=run) for run in (leave_first, stay)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert heard == [("ignore", None, UserWarning)]
    assert list(warnings.filters) == before
