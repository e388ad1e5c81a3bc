"""The progress of a search as tasks of scikit-learn's callback protocol (`sklearn.callback`).

A fit is a task, and so is a search that `solve` was asked for. Its phases are subtasks, and of a
phase the steps: as the protocol tells no numbers, a step ended is all that a bar can draw.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import OptionError
from .progress import Callback, Listener, Progress, follows_protocol
from .solution import Status

# A context keeps its subtasks for as long as it lives: there must not be too many.
MAX_STEPS = 100  # of a phase whose length is known
MIN_SECONDS = 1.0  # between two steps of a phase whose length is not known


class _Phase:
    """A part of a search by its name, such as "greedy forward"."""

    def __init__(self, context: Any, total: int | None) -> None:
        self.context, self.n_steps = context, total
        self.n_done, self.last = 0, -MIN_SECONDS

    def count_due(self, event: Progress) -> int:
        """How many steps have ended since the last event that was told.

        Where a search goes through the same phase again, the farthest that it has come counts.
        """
        if self.n_steps is None:
            is_due = event.seconds - self.last >= MIN_SECONDS
            self.last = event.seconds if is_due else self.last
            return int(is_due)
        if not event.total:
            return 0
        return self.n_steps * min(event.step, event.total) // event.total - self.n_done


class SearchTasks:
    """Hears of the progress of a search, and tells it as subtasks of a context.

    Attributes
    ----------
    is_stopped : bool
        Whether a callback has asked, when this task ended, that those beside it be left out.
    """

    def __init__(self, estimator: Any, context: Any) -> None:
        self.estimator, self.context = estimator, context
        self.phases: dict[str, _Phase] = {}
        self.inner: SearchTasks | None = None
        self.is_stopped = False

    def __call__(self, event: Progress) -> Status | None:
        """The status with which to end the search, if a callback asks for that."""
        if self.inner is not None:
            return self.inner(event)
        name, stop = f"{event.solver} {event.phase}", False
        if name not in self.phases:
            n_steps = min(event.total, MAX_STEPS) if event.total else None
            self.phases[name] = _Phase(self._begin(name, n_steps), n_steps)
        phase = self.phases[name]
        for _ in range(phase.count_due(event)):
            step = phase.context.subcontext(task_name=event.describe())
            step.call_on_fit_task_begin(estimator=self.estimator)
            stop |= step.call_on_fit_task_end(estimator=self.estimator)
            phase.n_done += 1
        return Status.ITERATION_LIMIT if stop else None

    def _begin(self, name: str, n_steps: int | None) -> Any:
        context = self.context.subcontext(task_name=name, max_subtasks=n_steps)
        return context.call_on_fit_task_begin(estimator=self.estimator)

    @contextmanager
    def part(self, name: str) -> Iterator[SearchTasks]:
        """A search among several: until the end of the block its phases are this part's."""
        self.inner = SearchTasks(self.estimator, self._begin(name, None))
        try:
            yield self.inner
            self.inner.end()
        finally:
            self.inner = None

    def end(self, **about: Any) -> None:
        """The phases have ended, and with them the task."""
        for phase in self.phases.values():
            phase.context.call_on_fit_task_end(estimator=self.estimator)
        self.is_stopped = self.context.call_on_fit_task_end(estimator=self.estimator, **about)


@contextmanager
def fit_task(
    estimator: Any, X: Any = None, y: Any = None, *, name: str = "fit", n_parts: int | None = None
) -> Iterator[SearchTasks]:
    """The block is a task of this estimator, which has scikit-learn's `CallbackSupportMixin`.

    Its callbacks are torn down at the end, whatever happens. In place of a decorator, which would
    put frames between a warning and the line of the user that it is about.
    """
    from sklearn.callback import with_callbacks

    try:
        context = estimator._init_callback_context(task_name=name, max_subtasks=n_parts)
        context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        tasks = SearchTasks(estimator, context)
        yield tasks
        tasks.end(X=X, y=y, reconstruction_attributes={})
    finally:
        with_callbacks(_do_nothing)(estimator)  # it is the decorator that tears down


def _do_nothing(estimator: Any) -> None:
    """A method that has ended."""


@contextmanager
def listening(callback: Callback | None) -> Iterator[Listener | None]:
    """A function to call with the progress of a search, whatever kind of callback was given."""
    if callback is None or not follows_protocol(callback):
        yield callback  # type: ignore[misc]
        return
    try:
        from sklearn.callback import CallbackSupportMixin
    except ModuleNotFoundError as error:
        raise OptionError(
            f"callback is a {type(callback).__name__}: callbacks of this kind need scikit-learn "
            "1.9 or later (pip install -U scikit-learn); or give a function"
        ) from error
    searcher = type("eigensieve", (CallbackSupportMixin,), {})()  # the name that a bar shows
    with fit_task(searcher.set_callbacks(callback), name="search") as tasks:
        yield tasks
