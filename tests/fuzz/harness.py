"""What every property of the fuzz suite leans on: how many cases, and what a call may do.

A call of the public surface may give a result or refuse with a message. It may not raise anything
else, warn of anything else, change what it was given, or go on for ever.
"""

from __future__ import annotations

import atexit
import functools
import os
import shutil
import signal
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sklearn
from hypothesis import HealthCheck, Phase, settings
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning

from eigensieve.errors import EigensieveError

# CPU seconds of one case, all of its calls together: beyond them it hangs.
PATIENCE = 60.0
DOCUMENTED = (UserWarning, ConvergenceWarning, DataConversionWarning)
SKLEARN = str(Path(sklearn.__file__).parent)

_common: dict[str, Any] = {
    "database": None,
    "deadline": None,  # of wall time, which on a busy machine says nothing; see PATIENCE
    "print_blob": True,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large],
}
settings.register_profile("quick", derandomize=True, phases=set(Phase) - {Phase.explain}, **_common)
settings.register_profile("long", **_common)
PROFILE = os.environ.get("EIGENSIEVE_FUZZ") or os.environ.get("HYPOTHESIS_PROFILE") or "quick"

# By test: cases, and what came of their calls ("answered", "refused").
TALLIES: dict[str, Counter[str]] = {}
_current: Counter[str] = Counter()


class Refused:
    """A call that said no, and why."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __bool__(self) -> bool:
        return False


class HangError(Exception):
    """A case used more CPU than any case should."""


def cases(quick: int, long: int) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """A property with so many cases in each of the profiles; stands above ``@given``."""
    count = long if PROFILE == "long" else quick
    chosen = settings(settings.get_profile(PROFILE), max_examples=count)

    def mark(test: Any) -> Callable[..., None]:
        inner = test.hypothesis.inner_test
        name = f"{inner.__module__.split('.')[-1]}.{inner.__name__}"

        @functools.wraps(inner)
        def counted(*args: Any, **drawn: Any) -> None:
            global _current
            _current = TALLIES.setdefault(name, Counter())
            with _limited():
                inner(*args, **drawn)
            _current["cases"] += 1

        test.hypothesis.inner_test = counted
        return chosen(test)

    return mark


@contextmanager
def _limited() -> Iterator[None]:
    """CPU time, not wall time: a busy machine is no hang."""

    def stop(*_: object) -> None:
        raise HangError(f"more than {PATIENCE:g} s of CPU")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


def attempt(call: Callable[..., Any], *args: Any, at_door: bool = False, **options: Any) -> Any:
    """What the call gives, or `Refused`; AssertionError if it does what no call may do.

    ``at_door``: scikit-learn may refuse, too, where it validates what an estimator is given.
    """
    given = [*args, *options.values()]
    before = [_fingerprint(value) for value in given]
    result: Any
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            result = call(*args, **options)
        except EigensieveError as error:
            result = Refused(error)
        except (ValueError, TypeError) as error:
            if not (at_door and _is_of_sklearn(error)):
                raise
            result = Refused(error)
    if isinstance(result, Refused) and at_door:
        said = []  # scikit-learn adds up infinities before it refuses them
    for warning in said:
        text = f"{warning.category.__name__}: {warning.message} ({warning.filename})"
        assert warning.category in DOCUMENTED, text
        assert str(warning.message).strip(), text
    assert before == [_fingerprint(value) for value in given], "the call changed its input"
    if isinstance(result, Refused):
        assert len(str(result.error).strip()) > 10, repr(result.error)
    tally("refused" if isinstance(result, Refused) else "answered")
    return result


def new_folder() -> Path:
    """A folder for the files of a session; a fixture of one test would live too short."""
    folder = tempfile.mkdtemp(prefix="eigensieve-fuzz-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def tally(outcome: str) -> None:
    """Count what came of a call: "answered" or "refused"."""
    _current[outcome] += 1


def _is_of_sklearn(error: Exception) -> bool:
    return any(frame.filename.startswith(SKLEARN) for frame in _own_frames(error))


def _own_frames(error: Exception) -> list[traceback.FrameSummary]:
    """The frames below the last one of ours: whose doing the error is."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [i for i, frame in enumerate(frames) if f"{os.sep}eigensieve{os.sep}" in frame.filename]
    return frames[ours[-1] + 1 :] if ours else []


def _fingerprint(value: Any) -> Any:
    """Enough of an argument to see that it was changed."""
    if isinstance(value, np.ndarray):
        content = repr(value.tolist()) if value.dtype == object else value.tobytes()
        return value.shape, str(value.dtype), content
    if sparse.issparse(value) and value.format in ("csr", "csc"):
        return tuple(_fingerprint(getattr(value, name)) for name in ("data", "indices", "indptr"))
    if isinstance(value, pd.DataFrame | pd.Series):
        return value.to_json() if value.index.is_unique else repr(value.to_numpy().tolist())
    if isinstance(value, list | tuple):
        return [_fingerprint(one) for one in value]
    if isinstance(value, dict):
        return {str(key): _fingerprint(one) for key, one in value.items()}
    return None
