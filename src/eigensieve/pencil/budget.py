"""Limits and progress: time, work, iterations, gap, Ctrl-C.

A solver polls ``budget.stop()`` in its loop and returns what it has: nothing is
lost to a time limit or an interrupt.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from ..errors import OptionError
from .checks import check_number
from .progress import Callback, Listener, Progress, follows_protocol
from .solution import Status
from .tasks import listening

__all__ = ["Budget", "Callback", "Progress"]


@dataclass
class Budget:
    """What a search may spend.

    Parameters
    ----------
    time_limit : seconds, None for no limit
    gap_tol : relative gap at which a certified search may stop
    max_iter : steps of an iterative part (swaps of one local search), None for its default
    callback : called with `Progress`, at most every ``interval`` seconds
        If it returns a `Status` that is early the search ends with that. Or a callback of
        scikit-learn's kind, see `tasks`.
    """

    time_limit: float | None = None
    gap_tol: float = 1e-6
    callback: Callback | None = None
    max_iter: int | None = None
    interval: float = 0.1
    _start: float = field(default_factory=time.perf_counter, repr=False)
    _work_left: float = field(default=np.inf, repr=False)
    _last: float = field(default=-1e9, repr=False)
    _interrupted: bool = field(default=False, repr=False)
    _ended: Status | None = field(default=None, repr=False)
    _listener: Listener | None = field(default=None, repr=False)
    _marks: list[np.ndarray] = field(default_factory=list, repr=False)

    def __post_init__(self) -> None:
        if self.time_limit is not None:
            check_number(self.time_limit, "time_limit", 0.0, np.inf, "seconds >= 0, or None")
        check_number(self.gap_tol, "gap_tol", 0.0, np.inf, "a number >= 0")
        if follows_protocol(self.callback):
            return  # it listens while a search runs
        if isinstance(self.callback, type):
            name = self.callback.__name__
            raise OptionError(f"callback is the class {name}; give an instance of it: {name}()")
        if self.callback is not None and not callable(self.callback):
            raise OptionError(
                f"callback is {self.callback!r}; it must be a function, a callback of "
                "scikit-learn's kind, or None"
            )
        self._listener = self.callback

    @property
    def seconds(self) -> float:
        """Time since the search began."""
        return time.perf_counter() - self._start

    def stop(self) -> Status | None:
        """The reason to stop now, or None."""
        if self._interrupted:
            return Status.INTERRUPTED
        if self._ended is not None:
            return self._ended
        if self.time_limit is not None and self.seconds >= self.time_limit:
            return Status.TIME_LIMIT
        return None if self._work_left > 0 else Status.GAP_LIMIT

    def allow(self, work: float) -> None:
        """From here on no more than so much may be spent; inf for no limit.

        Work is arithmetic, roughly in units of a nanosecond. It is counted, not measured: where a
        search ends by it depends on the problem alone, never on the machine.
        """
        self._work_left = work

    def spend(self, work: float) -> None:
        """Count work that was done. By one thread only: all others would see it at some time."""
        self._work_left -= work

    @property
    def work_left(self) -> float:
        """What may still be spent."""
        return max(self._work_left, 0.0)

    @contextmanager
    def alarm(self) -> Iterator[np.ndarray]:
        """An array of one 0 that becomes 1 when the time is up, or with Ctrl-C.

        For compiled code that releases the GIL: it can look at an array, not at the clock.
        """
        mark = np.zeros(1, dtype=np.int8)
        limit = np.inf if self.time_limit is None else self.time_limit
        left = min(max(limit - self.seconds, 0.0), threading.TIMEOUT_MAX)
        timer = threading.Timer(left, mark.__setitem__, (0, 1))
        timer.daemon = True
        if np.isfinite(limit):
            timer.start()
        self._marks.append(mark)
        try:
            yield mark
        finally:
            timer.cancel()
            self._marks.pop()

    def report(self, solver: str, phase: str, step: int, **details: Any) -> None:
        """Tell the callback, unless it was told a moment ago."""
        if self._listener is None:
            return
        now = self.seconds
        if now - self._last >= self.interval:
            self._last = now
            answer = self._listener(Progress(solver, phase, step, seconds=now, **details))
            if isinstance(answer, Status) and answer.is_early:
                self._ended = answer

    @contextmanager
    def interruptible(self) -> Iterator[None]:
        """The time of the search: the callback listens, and Ctrl-C is a request to stop."""
        with listening(self.callback) as self._listener, self._catching_ctrl_c():
            yield

    @contextmanager
    def _catching_ctrl_c(self) -> Iterator[None]:
        """Turn the first Ctrl-C into a request to stop; a second one raises as usual."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        previous = signal.getsignal(signal.SIGINT)
        # a wrapper of Python's own handler raises as that does
        if getattr(previous, "__wrapped__", previous) is not signal.default_int_handler:
            yield  # somebody else handles Ctrl-C: leave it to them
            return

        def request_stop(signum: int, frame: FrameType | None) -> None:
            self._interrupted = True
            for mark in self._marks:
                mark[0] = 1
            signal.signal(signal.SIGINT, previous)

        signal.signal(signal.SIGINT, request_stop)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)
