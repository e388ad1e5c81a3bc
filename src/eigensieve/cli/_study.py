"""From the options of a command to a FitResult, Ctrl-C and warnings included."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..errors import InputError
from ._common import StageProgress, show_search

if TYPE_CHECKING:
    import numpy as np

    from ..estimators.sparse_lda import SparseLDA
    from ..studies.fitting import FitResult

FEWEST_SAMPLES = 4
FEWEST_OF_A_CLASS = 3  # a third held out, and half of the rest: one is left


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


def find_features(
    wanted: Sequence[str], names: Sequence[str], option: str, target: str | None = None
) -> list[int]:
    """Positions of the features named in an option."""
    from ..io._names import close_names

    place = {name: j for j, name in enumerate(names)}
    for name in wanted:
        if name not in place:
            if name == target:
                raise InputError(f"{option}: {name!r} is the target, not a feature; leave it out")
            close = close_names(name, names)
            hint = f"close: {', '.join(map(repr, close))}" if close else "see the table's header"
            raise InputError(f"{option}: no feature is named {name!r}; {hint}")
    return sorted({place[name] for name in wanted})


def run_task(task: Task, progress: StageProgress) -> FitResult:
    """Cross-validate and fit; what Ctrl-C cut short is noted in the result."""
    from ..studies.fitting import fit_study

    step = "starting"

    def watch(stage: str, done: int, total: int) -> None:
        nonlocal step
        step = f"{stage} {done} of {total} done"
        progress(stage, done, total)

    with noted_warnings() as notes:
        try:
            result = fit_study(
                task.X, task.y, task.names, target=task.target, k=task.k, ks=task.ks,
                estimator=task.estimator, seed=task.seed, n_jobs=task.n_jobs, progress=watch,
                search_progress=show_search(progress),
            )  # fmt: skip
        except KeyboardInterrupt:
            raise KeyboardInterrupt(f"{step}; k is not known yet: nothing was written") from None
    return replace(result, notes=[*result.notes, *notes])


@contextmanager
def noted_warnings() -> Iterator[list[str]]:
    """Warnings as sentences of a list, each once, when the block has ended."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield notes
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        notes.append(f"{text[:1].upper()}{text[1:]}.")
