"""From the options of a command to a study, Ctrl-C included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ._common import StageProgress, show_search
from ._resume import Kept

if TYPE_CHECKING:
    import numpy as np

    from ..studies.result import Study

MIN_SAMPLES = 4
MIN_SAMPLES_OF_A_CLASS = 3  # a third held out, and half of the rest: one is left


@dataclass(frozen=True, eq=False)
class FitRequest:
    """A table and what to do with it, checked by ``check_request``.

    ``settings`` are estimators by name; of several the best is taken, along with k.
    """

    X: Any  # an array; a csr matrix, where the file has one
    y: np.ndarray
    names: list[str]
    target: str
    k: int | str
    settings: dict[str, Any]
    seed: int
    n_jobs: int | None
    groups: np.ndarray | None = None
    missing: str = "error"
    score: str = "error"
    cv: int | str = 5
    n_repeats: int = 5
    n_permutations: int = 0
    ks: Sequence[int] | None = None

    @property
    def must_choose(self) -> bool:
        """Whether cross-validation is to choose k, or a setting."""
        return self.k == "auto" or len(self.settings) > 1

    @property
    def estimator(self) -> Any:
        """The first of the settings: constraints are the same for all of them."""
        return next(iter(self.settings.values()))

    @property
    def sizes(self) -> list[int]:
        """The values of k to try: those that include and exclude allow.

        A solver that starts anew for every k is not asked for more than the k wanted.
        """
        from ..studies.run import DEFAULT_KS
        from ..studies.settings import usable_range

        solver = getattr(self.estimator, "solver", None)
        if self.k != "auto" and self.ks is None and not has_path(solver):
            return [int(self.k)]
        allowed = usable_range(self.settings.values(), len(self.names))
        if self.ks is not None:
            return list(self.ks)
        return sorted({allowed.start, *(k for k in DEFAULT_KS if k in allowed)})


def has_path(solver: str | None) -> bool:
    """Whether a search for the largest k gives the smaller ones as well."""
    from ..search.solve import find_solvers

    return solver not in find_solvers() or find_solvers()[solver].path is not None


def check_request(request: FitRequest) -> None:
    """What can be known to be wrong before the work begins."""
    import numpy as np

    classes, counts = np.unique(request.y, return_counts=True)
    n = len(request.y)
    if n < MIN_SAMPLES:
        raise InputError(f"the table has {n} sample(s); at least {MIN_SAMPLES} are needed")
    if len(classes) < 2:
        raise InputError(
            f"all {n} samples have the label {str(classes[0])!r} in {request.target!r}; "
            "at least two classes are needed"
        )
    if len(classes) == n:
        raise InputError(
            f"every sample has a label of its own in {request.target!r}; name a column of classes"
        )
    if request.must_choose and request.cv != "loo" and counts.min() < MIN_SAMPLES_OF_A_CLASS:
        small = [f"{str(c)!r} ({m})" for c, m in zip(classes, counts) if m < MIN_SAMPLES_OF_A_CLASS]
        raise InputError(
            f"too few samples of class {', '.join(small[:5])} to choose k by cross-validation, "
            f"which takes {MIN_SAMPLES_OF_A_CLASS} of each; give --k a number, or leave them out"
        )
    check_sizes(request)
    check_constraints(request)


def about_sizes(request: FitRequest) -> list[str]:
    """Say which of the numbers in --ks the table does not allow."""
    from ..studies.settings import usable_range

    allowed = usable_range(request.settings.values(), len(request.names))
    odd = [k for k in request.ks or () if k not in allowed]
    if not odd or len(odd) == len(request.ks or ()):  # where none is left, that is an error
        return []
    limits = f"{allowed.start} to {allowed.stop - 1}"
    return [f"--ks: {', '.join(map(str, odd))} left out; this table allows {limits} features."]


def check_sizes(request: FitRequest) -> None:
    """No k for a method that has none."""
    from ..studies.prepared import has_size

    if has_size(request.estimator):
        return
    for option, is_given in (("--k", request.k != "auto"), ("--ks", request.ks is not None)):
        if is_given:
            method = next(iter(request.settings))
            raise InputError(
                f"method {method} chooses the number of features itself; leave {option} out"
            )


def check_constraints(request: FitRequest) -> None:
    """include, exclude and k must leave a choice, or at least an answer."""
    from ..studies.settings import usable_range

    include = set(getattr(request.estimator, "include", ()))
    both = include & set(getattr(request.estimator, "exclude", ()))
    if both:
        raise InputError(f"{request.names[min(both)]!r} is in --include and in --exclude")
    allowed = usable_range(request.settings.values(), len(request.names))
    if not allowed:
        raise InputError("--exclude leaves no feature to select; exclude fewer")
    if request.k != "auto" and int(request.k) not in allowed:
        free = allowed.start == 1 and allowed.stop == len(request.names) + 1
        reason = "" if free else " (--include, --exclude)"
        raise InputError(
            f"k is {request.k}; this table allows {allowed.start} to {allowed.stop - 1}{reason}"
        )


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
            if quoted := cut_at_comma(name, names):
                hint = f"a name with a comma needs double quotes: '\"{quoted}\"'"
            elif close := close_names(name, names):
                hint = f"close: {', '.join(map(repr, close))}"
            else:
                hint = "see the table's header"
            raise InputError(f"{option}: no feature is named {name!r}; {hint}")
    return sorted({place[name] for name in wanted})


def cut_at_comma(part: str, names: Sequence[str]) -> str | None:
    """The name that the comma in it has cut this part from."""
    return next((name for name in names if part in map(str.strip, name.split(",")[:-1])), None)


def run_request(
    request: FitRequest,
    progress: StageProgress,
    kept: Kept | None = None,
    **source: Any,
) -> Study:
    """Cross-validate and fit; what Ctrl-C cut short is noted in the result.

    ``source`` adds to what the study knows of its origin (log2_floor, annotations).
    """
    from ..studies.run import run_study

    step = "starting"
    show = progress if kept is None else kept.watch(progress)

    def watch(stage: str, done: int, total: int) -> None:
        nonlocal step
        step = f"{stage} {done} of {total} done"
        show(stage, done, total)

    try:
        study = run_study(
            request.X, request.y, request.settings, request.sizes, request.cv, request.groups,
            request.n_repeats, request.n_jobs, request.seed,
            k=request.k, score=request.score, missing=request.missing,
            n_permutations=request.n_permutations, names=request.names, target=request.target,
            checkpoint=None if kept is None else kept.path, progress=watch,
            search_progress=show_search(progress),
        )  # fmt: skip
    except KeyboardInterrupt:
        hope = "" if kept is None else "; the same command goes on from there"
        raise KeyboardInterrupt(
            f"{step}; k is not known yet: no result was written{hope}"
        ) from None
    return replace(study, source=replace(study.source, **source))
