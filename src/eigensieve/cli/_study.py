"""From the options of a command to a FitResult, Ctrl-C and warnings included."""

from __future__ import annotations

import difflib
import signal
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING

import click

from ..errors import InputError, TimeLimitError
from ._common import StageProgress

if TYPE_CHECKING:
    import numpy as np

    from ..estimators.sparse_lda import SparseLDA
    from ..studies.fitting import FitResult

FEWEST_SAMPLES = 4
FEWEST_OF_A_CLASS = 3  # a third held out, and half of the rest: one is left
LAST_STAGE = {True: "nested check", False: "cross-validation"}  # by: is k chosen?


@dataclass(frozen=True, eq=False)
class Task:
    """A table and what to do with it, checked by ``check_task``."""

    X: np.ndarray
    y: np.ndarray
    names: list[str]
    target: str
    k: int | str
    estimator: SparseLDA
    seed: int
    n_jobs: int | None

    @property
    def auto(self) -> bool:
        """Whether cross-validation is to choose k."""
        return self.k == "auto"

    @property
    def n_free(self) -> int:
        """How many features may be selected."""
        return len(self.names) - len(self.estimator.exclude)

    @property
    def ks(self) -> list[int]:
        """The values of k to try: those that include and exclude allow.

        A solver that starts anew for every k is not asked for more than the k wanted.
        """
        from ..solvers.dispatch import find_solvers
        from ..studies.cv_path import DEFAULT_KS

        if not self.auto and find_solvers()[self.estimator.solver].path is None:
            return [int(self.k)]
        least = max(1, len(self.estimator.include))
        most = max(least, self.n_free)
        return sorted({least, *(k for k in DEFAULT_KS if least <= k <= most)})


def check_task(task: Task) -> None:
    """What can be known to be wrong before the work begins."""
    import numpy as np

    classes, counts = np.unique(task.y, return_counts=True)
    n, least = len(task.y), len(task.estimator.include)
    if n < FEWEST_SAMPLES:
        raise InputError(f"the table has {n} sample(s); at least {FEWEST_SAMPLES} are needed")
    if len(classes) < 2:
        raise InputError(
            f"all {n} samples have the label {str(classes[0])!r} in {task.target!r}; "
            "at least two classes are needed"
        )
    if len(classes) == n:
        raise InputError(
            f"every sample has a label of its own in {task.target!r}; name a column of classes"
        )
    if task.auto and counts.min() < FEWEST_OF_A_CLASS:
        small = [f"{str(c)!r} ({m})" for c, m in zip(classes, counts) if m < FEWEST_OF_A_CLASS]
        raise InputError(
            f"too few samples of class {', '.join(small[:5])} to choose k by cross-validation, "
            f"which takes {FEWEST_OF_A_CLASS} of each; give --k a number, or leave them out"
        )
    both = set(task.estimator.include) & set(task.estimator.exclude)
    if both:
        raise InputError(f"{task.names[min(both)]!r} is in --include and in --exclude")
    if not task.auto and not max(1, least) <= int(task.k) <= task.n_free:
        wishes = "" if task.n_free == len(task.names) and not least else " (--include, --exclude)"
        raise InputError(
            f"k is {task.k}; this table allows {max(1, least)} to {task.n_free}{wishes}"
        )
    if task.n_free < max(1, least):
        raise InputError("--exclude leaves no feature to select; exclude fewer")


def find_features(wanted: Sequence[str], names: Sequence[str], option: str) -> list[int]:
    """Positions of the features named in an option."""
    place = {name: j for j, name in enumerate(names)}
    for name in wanted:
        if name not in place:
            close = difflib.get_close_matches(name, names[:5000])
            hint = f"close: {', '.join(map(repr, close))}" if close else "see the table's header"
            raise InputError(f"{option}: no feature is named {name!r}; {hint}")
    return sorted({place[name] for name in wanted})


def run_task(task: Task, progress: StageProgress) -> tuple[FitResult, bool]:
    """Cross-validate and fit; also whether Ctrl-C cut it short.

    Where cross-validation cannot be finished, a fit with a given k is still made, without an
    error estimate; a k to be chosen is then not known, and nothing can be made.
    """
    from ..core.solution import Status
    from ..studies.fitting import fit_study

    steps = ["starting"]

    def watch(stage: str, done: int, total: int) -> None:
        steps.append(f"{stage} {done} of {total} done")
        if stage == LAST_STAGE[task.auto] and done == total:
            interrupt.release()
        progress(stage, done, total)

    stopped = False
    with noted_warnings() as notes, ctrl_c_raises() as interrupt:
        study = partial(
            fit_study, task.X, task.y, task.names, target=task.target, k=task.k, ks=task.ks,
            estimator=task.estimator, seed=task.seed, n_jobs=task.n_jobs, progress=watch,
        )  # fmt: skip
        try:
            result = study()
        except (KeyboardInterrupt, InputError, TimeLimitError) as error:
            reason = why_unfinished(error, task, steps[-1])
            interrupt.release()
            result, stopped = study(cross_validate=False), isinstance(error, KeyboardInterrupt)
            notes.append(f"No error estimate: {reason}.")
    stopped = stopped or result.estimator.solution_.status is Status.INTERRUPTED
    return replace(result, notes=[*result.notes, *notes]), stopped


def why_unfinished(error: BaseException, task: Task, step: str) -> str:
    """Why there is no cross-validation; raised, if k was to be chosen by it."""
    if isinstance(error, KeyboardInterrupt):
        if task.auto:
            text = f"{step}; the choice of k needs all of it, so nothing was written"
            raise KeyboardInterrupt(text) from None
        click.echo(f"\nstopping: {step}; the model is fitted without it", err=True)
        return f"interrupted ({step})"
    if task.auto:
        raise InputError(f"{error} (in cross-validation); a given --k does without") from error
    return str(error)


@contextmanager
def noted_warnings() -> Iterator[list[str]]:
    """Warnings as sentences of a list, each once, when the block has ended."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        notes.append(f"{text[:1].upper()}{text[1:]}.")


class _Interrupt:
    """Ctrl-C raises at once, also inside a search, until ``release``.

    A search by itself takes Ctrl-C as a wish to stop and returns what it has: right for the
    final fit, wrong for one fold of many.
    """

    def __init__(self) -> None:
        main = threading.current_thread() is threading.main_thread()
        # started in the background, a process ignores Ctrl-C: leave it so
        self._ours = main and signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if self._ours:
            signal.signal(signal.SIGINT, self._raise)

    def _raise(self, signum: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    def release(self) -> None:
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)


@contextmanager
def ctrl_c_raises() -> Iterator[_Interrupt]:
    interrupt = _Interrupt()
    try:
        yield interrupt
    finally:
        interrupt.release()
