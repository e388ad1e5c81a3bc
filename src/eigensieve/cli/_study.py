"""From the options of a command to a study, Ctrl-C included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ._common import show_search
from ._resume import Kept

if TYPE_CHECKING:
    import numpy as np

    from ..studies.data import StudyData
    from ..studies.plan import StudyPlan
    from ..studies.result import Study
    from ..studies.running.runner import StageProgress

MIN_SAMPLES = 4
# What folds are needed for, and how to do without.
TO_CHOOSE = "to choose k"
TO_PREFER = "to find out which set is stable"
PURPOSES = {TO_CHOOSE: "give --k a number", TO_PREFER: "do without --prefer stable"}


def check_classes(y: np.ndarray, target: str, purpose: str | None) -> None:
    """What can be known to be wrong with the target before the work begins.

    ``purpose``: what the classes are cut into folds for, one of `PURPOSES`; None if they are not.
    """
    import numpy as np

    from ..studies.splits import MIN_SAMPLES_OF_A_CLASS

    classes, counts = np.unique(y, return_counts=True)
    n = len(y)
    if n < MIN_SAMPLES:
        raise InputError(f"the table has {n} sample(s); at least {MIN_SAMPLES} are needed")
    if len(classes) < 2:
        raise InputError(
            f"all {n} samples have the label {str(classes[0])!r} in {target!r}; "
            "at least two classes are needed"
        )
    if len(classes) == n:
        raise InputError(
            f"every sample has a label of its own in {target!r}; name a column of classes"
        )
    if purpose is not None and counts.min() < MIN_SAMPLES_OF_A_CLASS:
        small = [f"{str(c)!r} ({m})" for c, m in zip(classes, counts) if m < MIN_SAMPLES_OF_A_CLASS]
        without = PURPOSES[purpose]
        raise InputError(
            f"too few samples of class {', '.join(small[:5])} {purpose} by cross-validation, "
            f"which takes {MIN_SAMPLES_OF_A_CLASS} of each; {without}, or leave them out"
        )


def sizes_to_try(
    settings: Mapping[str, Any], n_features: int, k: int | str, ks: Sequence[int] | None
) -> Sequence[int]:
    """The values of k to try, by default those that include and exclude allow.

    A solver that starts anew for every k is not asked for more than the k wanted.
    """
    from ..search.solve import find_solvers
    from ..studies.plan import DEFAULT_KS
    from ..studies.prepared import has_size
    from ..studies.settings import usable_range

    method, estimator = next(iter(settings.items()))
    for option, is_given in (("--k", k != "auto"), ("--ks", ks is not None)):
        if is_given and not has_size(estimator):
            raise InputError(
                f"method {method} chooses the number of features itself; leave {option} out"
            )
    if ks is not None:
        return ks
    solver = find_solvers().get(getattr(estimator, "solver", ""))
    if k != "auto" and solver is not None and solver.path is None:
        return [int(k)]
    allowed = usable_range(settings.values(), n_features)
    return sorted({allowed.start, *(k for k in DEFAULT_KS if k in allowed)})


def about_sizes(
    settings: Mapping[str, Any], n_features: int, ks: Sequence[int] | None
) -> list[str]:
    """Say which of the numbers in --ks the table does not allow."""
    from ..studies.settings import usable_ks, usable_range

    if ks is None:
        return []
    usable = usable_ks(settings.values(), ks, n_features)
    odd = [str(k) for k in ks if k not in usable]
    if not odd:
        return []
    allowed = usable_range(settings.values(), n_features)
    limits = f"this table allows {allowed.start} to {allowed.stop - 1} features"
    if any(int(k) in allowed for k in odd):
        limits = "no set of so many features keeps the limits"
    return [f"--ks: {', '.join(odd)} left out; {limits}."]


def find_features(
    wanted: Sequence[str], names: Sequence[str], option: str, target: str | None = None
) -> list[int]:
    """Positions of the features named in an option."""
    from ..pencil.names import close_names

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


def run_watched(
    data: StudyData,
    plan: StudyPlan,
    n_jobs: int | None,
    progress: StageProgress,
    kept: Kept | None = None,
    **source: Any,
) -> Study:
    """Cross-validate and fit; what Ctrl-C cut short is noted in the result.

    ``source`` adds to what the study knows of its origin (log2_floor, annotations).
    """
    from ..studies.run import run_plan

    step = "starting"
    show = progress if kept is None else kept.watch(progress)

    def watch(stage: str, done: int, total: int) -> None:
        nonlocal step
        step = f"{stage} {done} of {total} done"
        show(stage, done, total)

    path = None if kept is None else kept.path
    try:
        study = run_plan(data, plan, n_jobs, path, watch, search_progress=show_search(progress))
    except KeyboardInterrupt:
        hope = "" if kept is None else "; the same command goes on from there"
        raise KeyboardInterrupt(
            f"{step}; k is not known yet: no result was written{hope}"
        ) from None
    return replace(study, source=replace(study.source, **source))
