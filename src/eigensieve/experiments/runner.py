"""Run experiments: the tasks in parallel, each kept in the cache, then measured and judged."""

from __future__ import annotations

import importlib
import time
import traceback
from collections.abc import Generator, Mapping
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed

from ..studies.running.runner import StageProgress, quiet_run
from .cache import Cache, CacheError, TaskResult, as_plain, task_key
from .data import missing_files
from .judge import Cell, judge_cells
from .protocol import Experiment
from .values import Measured


@dataclass(frozen=True)
class Result:
    """An experiment, run and judged.

    Attributes
    ----------
    experiment : Experiment
    level : str
        Which protocol was run.
    cells : list of Cell
    measured : Measured or None
        None where nothing could be run.
    missing : tuple of str
        Data files that were not there.
    seconds : float
        CPU seconds of all tasks, those from the cache included.
    n_tasks, n_cached : int
    trouble, details : str
        Why it failed, if it did, and where.
    """

    experiment: Experiment
    level: str
    cells: list[Cell]
    measured: Measured | None = None
    missing: tuple[str, ...] = ()
    seconds: float = 0.0
    n_tasks: int = 0
    n_cached: int = 0
    trouble: str = ""
    details: str = ""

    @property
    def n_confirmed(self) -> tuple[int, int]:
        """Cells that agree with an earlier reproduction, and all of which that can be told."""
        known = [cell.confirms for cell in self.cells if cell.confirms is not None]
        return sum(known), len(known)

    @property
    def n_undecided(self) -> int:
        """Cells of which it cannot be told whether they agree with an earlier reproduction."""
        return sum(c.confirms is None and None not in (c.ours, c.checked) for c in self.cells)


def run_experiment(
    experiment: Experiment,
    level: str = "full",
    *,
    cache: Cache | None = None,
    n_jobs: int | None = None,
    progress: StageProgress | None = None,
) -> Result:
    """Measure and judge one experiment.

    An error in it is part of the result: the other experiments go on. Ctrl-C is not caught; what
    is in the cache stays there.

    Examples
    --------
    >>> from eigensieve.experiments.catalogue import find_experiments
    >>> from eigensieve.experiments.runner import run_experiment
    >>> (experiment,) = find_experiments(["wolf2005/figure2a"])
    >>> result = run_experiment(experiment, "smoke", n_jobs=1)
    >>> result.trouble
    ''
    """
    missing = tuple(missing_files(experiment.data))
    if missing:
        return Result(experiment, level, judge_cells(experiment, None, missing), missing=missing)
    try:
        return _run(experiment, level, cache, n_jobs, progress)
    except CacheError:
        raise  # no fault of the experiment
    except Exception as error:
        trouble = f"{type(error).__name__}: {error}"
        cells, details = judge_cells(experiment, None), traceback.format_exc()
        return Result(experiment, level, cells, trouble=trouble, details=details)


def _run(
    experiment: Experiment,
    level: str,
    cache: Cache | None,
    n_jobs: int | None,
    progress: StageProgress | None,
) -> Result:
    module = importlib.import_module(experiment.module)
    protocol = dict(experiment.protocols[level])
    tasks = [as_plain(task) for task in module.tasks(protocol)]
    keys = [task_key(experiment, task) for task in tasks]
    done: dict[int, TaskResult] = {}
    if cache is not None:
        kept = ((i, cache.get(experiment, key)) for i, key in enumerate(keys))
        done = {i: outcome for i, outcome in kept if outcome is not None}
    n_cached = len(done)
    tell(progress, experiment, len(done), len(tasks))
    left = {i: task for i, task in enumerate(tasks) if i not in done}
    with closing(_results(experiment, left, n_jobs)) as results:
        for i, outcome in results:
            done[i] = outcome
            if cache is not None:
                cache.put(experiment, keys[i], tasks[i], outcome)
            tell(progress, experiment, len(done), len(tasks))
    found = [done[i].found for i in range(len(tasks))]
    with quiet_run():
        measured: Measured = module.measure(protocol, found)
    seconds = sum(outcome.seconds for outcome in done.values())
    cells = judge_cells(experiment, measured)
    return Result(experiment, level, cells, measured, (), seconds, len(tasks), n_cached)


def tell(progress: StageProgress | None, experiment: Experiment, done: int, total: int) -> None:
    """Show how far an experiment has come."""
    if progress is not None:
        progress(experiment.name, done, total)


def _results(
    experiment: Experiment, tasks: Mapping[int, Mapping[str, Any]], n_jobs: int | None
) -> Generator[tuple[int, TaskResult]]:
    if experiment.alone or n_jobs == 1 or len(tasks) < 2:
        yield from (run_task(experiment.module, i, task) for i, task in tasks.items())
        return
    pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    yield from pool(delayed(run_task)(experiment.module, i, task) for i, task in tasks.items())


def run_task(module: str, i: int, task: Mapping[str, Any]) -> tuple[int, TaskResult]:
    """One task, in this process or in another."""
    with quiet_run():
        work = importlib.import_module(module).work
        start = time.process_time()
        found = as_plain(work(**task))
    return i, TaskResult(found, time.process_time() - start)
