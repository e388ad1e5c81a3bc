"""Jobs of a study: the same results however they are run, true progress, an orderly end."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import joblib
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

import eigensieve as es
from eigensieve.errors import InputError
from eigensieve.studies.data import check_data
from eigensieve.studies.jobs import Job, run_job
from eigensieve.studies.plan import make_plan
from eigensieve.studies.running import runner
from tests.studies.whole import as_bytes, make_table

X, y = make_table(30, 10, gaps=False)
FIRST, NESTED, REPEAT, PERMUTED = 3, 9, 3, 6  # jobs, in this order
ALL = FIRST + NESTED + REPEAT + PERMUTED


def small_study(**options: Any) -> es.Study:
    usual = {"ks": (1, 2), "cv": 3, "n_repeats": 2, "n_permutations": 2}
    return es.study(X, y, **{"estimator": es.RankedLDA("anova"), **usual, **options})


@pytest.fixture(scope="module")
def expected() -> bytes:
    return as_bytes(small_study())


@pytest.fixture(autouse=True)
def nothing_is_left() -> Any:
    """After a run: the filters of warnings are as they were, and threads have ended."""
    before, threads = list(warnings.filters), set(threading.enumerate())
    yield
    assert list(warnings.filters) == before
    assert not runner._GATES
    ends = time.monotonic() + 10
    while set(threading.enumerate()) - threads and time.monotonic() < ends:
        time.sleep(0.01)
    assert not {t for t in threading.enumerate() if t not in threads and not t.daemon}


# ---------------------------------------------------------------- any way of running


@pytest.mark.parametrize("n_jobs", [2, 4])
def test_threads(n_jobs, expected) -> None:
    with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
        assert as_bytes(small_study()) == expected


def test_a_short_study_starts_no_processes(monkeypatch, expected) -> None:
    monkeypatch.setattr(runner, "LONG", np.inf)
    before = len(multiprocessing.active_children())
    assert as_bytes(small_study(n_jobs=2)) == expected
    assert len(multiprocessing.active_children()) == before


def test_a_long_study_runs_in_processes(monkeypatch, expected) -> None:
    here = []

    def watched(*order: Any) -> Any:
        here.append(order)
        return run_job(*order)

    monkeypatch.setattr(runner, "run_job", watched)
    monkeypatch.setattr(runner, "LONG", 0.0)
    try:
        assert as_bytes(small_study(n_jobs=2)) == expected
    finally:
        get_reusable_executor().shutdown(wait=True)
    assert len(here) == 2  # the ones that tell how long a job takes


def test_a_thread_of_the_user(expected) -> None:
    found: list[bytes] = []
    thread = threading.Thread(target=lambda: found.append(as_bytes(small_study(n_jobs=2))))
    thread.start()
    thread.join()
    assert found == [expected]


def test_jobs_that_are_alike_run_once(monkeypatch) -> None:
    ran = []
    monkeypatch.setattr(runner, "run_job", lambda job, *rest: ran.append(job) or [])
    rows = np.arange(30)
    one, same, other = Job(rows[5:], rows[:5], y), Job(rows[5:], rows[:5], y), Job(rows, rows, y)
    plan = make_plan(check_data(X, y, None, None, "error"), {"lda": es.SparseLDA()})
    told: list[tuple[str, int, int]] = []
    stages = [runner.Stage("a", [one, other]), runner.Stage("b", [same])]
    found, cut = runner.run_stages(stages, X, plan, progress=lambda *event: told.append(event))
    assert not cut
    assert len(ran) == 2
    assert set(found) == {one.key, other.key}
    assert told == [("a", 1, 2), ("a", 2, 2)]


def test_keys_tell_jobs_apart() -> None:
    rows = np.arange(30)
    jobs = [
        Job(rows[5:], rows[:5], y), Job(rows[6:], rows[:6], y), Job(rows[:5], rows[5:], y),
        Job(rows[5:], rows[:5], y[::-1]), Job(rows[5:], rows[:4], y), Job(rows[::-1], rows[:5], y),
    ]  # fmt: skip
    assert len({job.key for job in jobs}) == len(jobs)
    assert Job(rows[5:].astype(np.int32), rows[:5], y.astype(object)).key == jobs[0].key


# ---------------------------------------------------------------- progress


def check_progress(events: list[tuple[str, int, int]], first: dict[str, int]) -> None:
    for stage in dict.fromkeys(name for name, _, _ in events):
        done = [d for name, d, _ in events if name == stage]
        totals = {t for name, _, t in events if name == stage}
        assert len(totals) == 1
        assert done == list(range(first.get(stage, 1), totals.pop() + 1))


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_progress(n_jobs, tmp_path) -> None:
    events: list[tuple[str, int, int]] = []
    small_study(n_jobs=n_jobs, progress=lambda *e: events.append(e), checkpoint=tmp_path / "c")
    check_progress(events, {"final models": 0})
    counts = Counter(name for name, _, _ in events)
    assert counts == {
        "cross-validation": FIRST + REPEAT, "nested check": NESTED, "permutations": PERMUTED,
        "final models": 5,
    }  # fmt: skip
    again: list[tuple[str, int, int]] = []
    small_study(progress=lambda *event: again.append(event), checkpoint=tmp_path / "c")
    check_progress(again, {"final models": 0})
    assert Counter(name for name, _, _ in again) == counts


def test_an_error_of_the_callback_is_the_callers() -> None:
    def fail(*event: Any) -> None:
        raise ZeroDivisionError

    for n_jobs in (1, 2):
        with pytest.raises(ZeroDivisionError):
            small_study(progress=fail, n_jobs=n_jobs)


# ---------------------------------------------------------------- Ctrl-C


def press_at(event: int) -> Callable[..., None]:
    told = iter(range(1, event))

    def tell(*_: Any) -> None:
        if next(told, None) is None:
            raise KeyboardInterrupt

    return tell


def missing_after(done: int) -> list[str]:
    parts = []
    if done < FIRST + NESTED + REPEAT:
        parts.append("1 of 2 repeats of the cross-validation is done")
    if done < FIRST + NESTED:
        parts.append("the error on new samples was not estimated")
    n_permuted = max(0, (done - ALL + PERMUTED) // 3)
    are = "is" if n_permuted == 1 else "are"
    return [*parts, *([f"{n_permuted} of 2 permutations {are} done"] if n_permuted < 2 else [])]


@pytest.mark.parametrize("event", range(1, ALL + 1, 2))
def test_ctrl_c_at_any_job(event, tmp_path, expected) -> None:
    stop = press_at(event)
    raised = []

    def tell(*event: Any) -> None:
        if not raised:
            try:
                stop()
            except KeyboardInterrupt:
                raised.append(event)
                raise

    if event < FIRST:
        with pytest.raises(KeyboardInterrupt, match="k is not known yet"):
            small_study(progress=tell, checkpoint=tmp_path / "c")
    else:
        study = small_study(progress=tell, checkpoint=tmp_path / "c")
        assert list(study.unfinished) == missing_after(event)
        assert study.interrupted == bool(missing_after(event))
        assert (study.honest_error is None) == (event < FIRST + NESTED)
        assert study.null is None or study.null.n_permutations == (event - ALL + PERMUTED) // 3
        assert study.final_estimator.predict(X).shape == y.shape
    assert len((tmp_path / "c").read_bytes().splitlines()) == 1 + event
    assert as_bytes(small_study(checkpoint=tmp_path / "c")) == expected


@pytest.mark.parametrize("estimator", [es.RankedLDA("anova"), es.SparseLDA(), es.GroupLassoLDA()])
@pytest.mark.parametrize("step", range(5))
def test_ctrl_c_in_the_final_models(estimator, step) -> None:
    def tell(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("final models", step):
            raise KeyboardInterrupt

    options: dict[str, Any] = {"estimator": estimator, "n_repeats": 1, "n_permutations": 0}
    if step == 0:
        with pytest.raises(KeyboardInterrupt):
            small_study(progress=tell, **options)
        return
    study = small_study(progress=tell, **options)
    assert list(study.unfinished) == ["bounds and prices of the features were not computed"]
    assert list(study.path) == [study.best_k]
    assert study.solution.support.tolist() == sorted(f.index for f in study.selected)
    assert study.solution.objective > 0
    assert study.honest_error is not None


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("nth", [2, 10, 20])
def test_a_signal_in_a_job(monkeypatch, tmp_path, expected, n_jobs, nth) -> None:
    asked, told, all_before = iter(range(nth - 1)), [], threading.Event()

    def tell(*event: Any) -> None:
        told.append(event)
        if len(told) == nth - 1:
            all_before.set()

    def run_or_press(job: Job, *rest: Any) -> Any:
        if next(asked, None) is None:
            assert all_before.wait(timeout=30)  # another thread may still be at an earlier job
            os.kill(os.getpid(), signal.SIGINT)
            monkeypatch.setattr(runner, "run_job", run_job)  # one press is enough
        return run_job(job, *rest)

    monkeypatch.setattr(runner, "run_job", run_or_press)
    try:
        with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
            study = small_study(checkpoint=tmp_path / "c", progress=tell)
    except KeyboardInterrupt:
        assert nth < FIRST
    else:
        assert nth > FIRST
        assert study.unfinished
    monkeypatch.setattr(runner, "run_job", run_job)
    assert as_bytes(small_study(checkpoint=tmp_path / "c")) == expected


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_signals_at_random_moments(tmp_path, n_jobs) -> None:
    options: dict[str, Any] = {"estimator": es.SparseLDA()}
    path = tmp_path / "c"
    for delay in np.random.default_rng(n_jobs).uniform(0.01, 0.3, size=5):
        timer = threading.Timer(delay, os.kill, (os.getpid(), signal.SIGINT))
        try:
            timer.start()
            with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
                small_study(checkpoint=path, **options)
            timer.join()  # if the study was faster, the signal comes here
            time.sleep(0.05)
        except KeyboardInterrupt:
            timer.join()
    assert as_bytes(small_study(checkpoint=path, **options)) == as_bytes(small_study(**options))


# ---------------------------------------------------------------- limits and warnings


def test_no_time_for_a_choice() -> None:
    with pytest.raises(InputError, match=r"time limit .* k = 2; raise it.*a given k needs none"):
        small_study(estimator=es.SparseLDA(time_limit=0.0))


def test_no_time_for_an_error_estimate() -> None:
    study = small_study(estimator=es.SparseLDA(time_limit=0.0), k=2)
    assert study.honest_error is None
    assert study.cv is None
    assert study.table.empty
    assert study.stability.shape == (10, 0)
    assert any("No error estimate: the time limit ended a search" in note for note in study.notes)
    assert len(study.selected) == 2
    assert "error unknown" in repr(study)


def test_models_that_cannot_have_k_features_are_noted() -> None:
    estimator = es.SparseOptimalScoring()
    study = small_study(estimator=estimator, ks=(3,), k=3, n_repeats=1, n_permutations=0)
    assert any(note.startswith("For k = 3 the models of cross-val") for note in study.notes)
    assert study.table["n_features"].tolist() != [3]
