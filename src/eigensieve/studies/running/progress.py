"""How far a long run has come: bars where they can be drawn, else a line now and then."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from ...errors import OptionError
from ...pencil.progress import Progress as SearchEvent

if TYPE_CHECKING:
    from .runner import StageProgress

# Lines are for log files, which nobody wants full: the longer a run has taken, the rarer they are.
MIN_SECONDS, SHARE = 30.0, 0.2  # from line to line, and as a share of the time until the last
MIN_SECONDS_OF_STAGE, SHARE_OF_STAGE = 5.0, 0.1  # the same before the first line of a stage


class SearchStage(str):
    """The name of a stage that is one search: its begin is nothing to tell, most last no time."""

    __slots__ = ()


@contextmanager
def progress_bar() -> Iterator[StageProgress]:
    """A bar per stage on stderr, in a terminal or a notebook; elsewhere a line now and then.

    A stage may carry details behind a colon ("search: best 1.2"); a total of 0 is unknown.
    """
    if not can_redraw():
        yield Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    bar = Progress(*columns, TimeElapsedColumn(), console=Console(stderr=True), transient=True)
    tasks = {"starting": bar.add_task("starting", total=None)}

    def show(stage: str, done: int, total: int) -> None:
        if "starting" in tasks:
            bar.remove_task(tasks.pop("starting"))
        name = stage.partition(":")[0]
        if name not in tasks:
            tasks[name] = bar.add_task(stage, total=total or None)
        bar.update(tasks[name], description=stage, completed=done, total=total or None)

    with bar:
        yield show


def can_redraw() -> bool:
    """Whether what stderr shows can be drawn over: in a terminal, or in a notebook with widgets."""
    if sys.stderr.isatty():
        return True
    if "IPython" not in sys.modules or find_spec("ipywidgets") is None:
        return False
    from rich.console import Console

    return Console(stderr=True).is_jupyter


class Lines:
    """One line for the begin of a stage and then some: of a search of a day about forty."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.clock = clock
        self.start, self.last = clock(), 0.0
        self.stage: str | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        name, _, details = stage.partition(":")
        now = self.clock() - self.start
        if now < self._next(is_new=name != self.stage and not isinstance(stage, SearchStage)):
            return
        self.last, self.stage = now, name
        count = f"{done:,} of {total:,}" if total else "" if details else f"{done:,}"
        words = ", ".join(part for part in (count, details.strip()) if part)
        minutes, seconds = divmod(int(now), 60)
        sys.stderr.write(f"[{minutes}:{seconds:02}] {name}: {words}\n")
        sys.stderr.flush()

    def _next(self, *, is_new: bool) -> float:
        """When the next line may come, if it is the first of a stage or another one."""
        if not is_new:
            return max(self.last + MIN_SECONDS, self.last * (1 + SHARE))
        if self.stage is None:
            return 0.0
        return max(self.last + MIN_SECONDS_OF_STAGE, self.last * (1 + SHARE_OF_STAGE))


def show_search(progress: StageProgress) -> Callable[[SearchEvent], None]:
    """A callback for searches that shows incumbent, bound, gap and nodes as a stage."""

    def show(event: SearchEvent) -> None:
        stage, details = f"{event.solver} {event.phase}", event.describe()
        name = SearchStage(f"{stage}: {details}" if details else stage)
        progress(name, event.step, event.total or 0)

    return show


@contextmanager
def shown(progress: Any) -> Iterator[StageProgress | None]:
    """What to call with the stages of a study: nothing, a function of the user's, or a display."""
    if progress is True:
        with progress_bar() as show:
            yield show
    elif progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    else:
        raise OptionError(
            f"progress is {progress!r}; it must be True, False, or a function that is called with "
            "stage, done and total"
        )
