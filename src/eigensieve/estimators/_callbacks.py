"""Callbacks of scikit-learn (`sklearn.callback`): what can be watched is the search of a fit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from ..errors import OptionError
from ..pencil.progress import Listener, Progress, follows_protocol
from ..pencil.solution import Solution, Status
from ..pencil.tasks import SearchTasks, fit_task

try:
    from sklearn.callback import CallbackSupportMixin
except ModuleNotFoundError:  # scikit-learn before 1.9: there is no set_callbacks then

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks."""


class WatchedFit(CallbackSupportMixin):
    """An estimator whose `fit` is a task of scikit-learn's callback protocol."""

    _tasks: SearchTasks | None = None  # while a fit is watched

    @contextmanager
    def _watched(self, X: Any, y: Any = None, n_parts: int | None = None) -> Iterator[None]:
        """The fit; ``n_parts``: how many searches it has, each of which is a `_part`."""
        if not hasattr(self, "_skl_callbacks"):  # where scikit-learn keeps what was set
            yield
            return
        with fit_task(self, X, y, n_parts=n_parts) as self._tasks:
            try:
                yield
            finally:
                del self._tasks

    @contextmanager
    def _part(self, name: str) -> Iterator[SearchTasks | None]:
        """One of the searches of a fit; None if nobody watches."""
        with nullcontext() if self._tasks is None else self._tasks.part(name) as part:
            yield part


def is_last(solution: Solution, part: SearchTasks | None) -> bool:
    """Whether Ctrl-C, or a callback when the part of this search ended, leaves out the others."""
    return solution.status is Status.INTERRUPTED or (part is not None and part.is_stopped)


def listener_of(estimator: Any, own: Any) -> dict[str, Any]:
    """The callback as an option of a search, if the fit is watched.

    The tasks of the fit hear of the search; that of solver_options does as well.
    """
    tasks: SearchTasks | None = getattr(estimator, "_tasks", None)
    if tasks is None:
        return {}
    if own is None:
        return {"callback": tasks}
    if follows_protocol(own):
        raise OptionError(
            f"solver_options has a {type(own).__name__} as callback, and the estimator has "
            "callbacks, too; set all of them by set_callbacks"
        )
    return {"callback": _both(own, tasks)}


def _both(first: Listener, second: SearchTasks) -> Listener:
    def tell(event: Progress) -> Status | None:
        answers = [first(event), second(event)]
        return next((answer for answer in answers if isinstance(answer, Status)), None)

    return tell
