"""Ctrl-C while modules load waits until they are loaded.

An import that is cut in two looks like one that failed: extension modules turn the
KeyboardInterrupt into an ImportError, or print it and go on with half of a library.
"""

from __future__ import annotations

import _thread
import functools
import signal
import sys
import threading
import time
from types import FrameType

_LOADER = "<frozen importlib._bootstrap>"
PAUSE_S = 0.02


class WholeImports:
    """A context in which Ctrl-C is as ever, but never in the middle of an import.

    Where somebody else handles Ctrl-C, or in a thread, it does nothing.
    """

    def __enter__(self) -> WholeImports:
        self.base = sys._getframe(1)  # the whole program may be somebody's import
        self.is_pending = self.is_over = False
        self.lock = _thread.allocate_lock()
        in_main = threading.current_thread() is threading.main_thread()
        self.is_used = in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self.is_used:
            # as a wrapper of Python's own handler it is known for one that raises
            handler = functools.wraps(signal.default_int_handler)(lambda *args: self._press(*args))
            signal.signal(signal.SIGINT, handler)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if not self.is_used:
            return
        with self.lock:
            self.is_over = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if self.is_pending and kind is None:
            raise KeyboardInterrupt

    def _press(self, signum: int, frame: FrameType | None) -> None:
        if self.is_over:
            self.is_pending = True
        elif self._is_loading(frame):
            self.is_pending = True
            # not a threading.Timer: a signal may find the locks of that module taken
            _thread.start_new_thread(self._press_again, ())
        else:
            self.is_pending = False
            raise KeyboardInterrupt

    def _is_loading(self, frame: FrameType | None) -> bool:
        while frame is not None and frame is not self.base:
            if frame.f_code.co_filename == _LOADER:
                return True
            frame = frame.f_back
        return False

    def _press_again(self) -> None:
        time.sleep(PAUSE_S)
        with self.lock:  # once it is over, nothing may reach the handler that was there before
            if self.is_pending and not self.is_over:
                self.is_pending = False
                _press_ctrl_c()


def _press_ctrl_c() -> None:
    """For the main thread, which wakes up if it sleeps, where the system knows how to do that."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        _thread.interrupt_main()
