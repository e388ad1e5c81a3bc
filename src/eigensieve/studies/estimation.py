"""Cross-validation in all its parts: errors, stability and null, as far as they can be had."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..errors import InputError, TimeLimitError
from ..pencil.wording import counted
from .calibration import Calibration
from .cv_path import CVPath, make_path
from .data import StudyData
from .jobs import Findings
from .nested import (
    HonestError,
    calibrated,
    choose_inside,
    fixed_error,
    nested_error,
    preferring_jobs,
    with_preferred,
)
from .null import PermutationNull, permutation_null
from .plan import StudyPlan
from .running.checkpoint import Checkpoint
from .running.runner import Stage, StageProgress, run_stages
from .schedule import PREFERRED, Schedule, make_schedule
from .splits import LEAVE_ONE_OUT, usable_folds
from .stability import StabilityIndex, selection_frequency, stability_index

N_URGENT = 2  # stages that come first: one cross-validation, and its inner folds


@dataclass
class Estimates:
    """What is known of the error, as far as the estimation came."""

    cv: CVPath | None = None
    honest: HonestError | None = None
    calibration: Calibration | None = None
    null: PermutationNull | None = None
    frequency: np.ndarray | None = None
    indices: Sequence[StabilityIndex] = ()
    notes: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


def estimate(
    data: StudyData,
    plan: StudyPlan,
    n_jobs: int | None = None,
    file: Checkpoint | None = None,
    progress: StageProgress | None = None,
) -> Estimates:
    """Run it all; where it cannot be had, and nothing has to be chosen, a note says why."""
    try:
        schedule = make_schedule(plan, data.y)
    except InputError as reason:
        return _without_estimates(plan, reason)
    try:
        run = partial(
            run_stages, X=data.X, plan=plan, n_jobs=n_jobs, checkpoint=file, progress=progress
        )
        stages = schedule.stages()
        # preferred sets take what the nested check has found, and come before what is less urgent
        n_first = len(stages) if plan.preference is None else N_URGENT
        outcomes, cut_short = run(stages[:n_first])
        outer, cut_now = _outer(data, plan, schedule, outcomes, run)
        cut_short = cut_short or cut_now
        if not cut_short and n_first < len(stages):
            more, cut_short = run(stages[n_first:])
            outcomes = outcomes | more
    except TimeLimitError as reason:
        return _without_estimates(plan, reason)
    found = Estimates()
    _evaluate(data, plan, schedule, outcomes, outer, found)
    if cut_short:
        _tell_unfinished(plan, schedule, outcomes, found)
    return found


def _without_estimates(plan: StudyPlan, reason: Exception) -> Estimates:
    """A note instead of an error estimate, if nothing has to be chosen by it."""
    if plan.must_choose:
        raise InputError(
            f"k cannot be chosen by cross-validation: {reason}; a given k needs none"
        ) from reason
    if plan.preference is not None and plan.preference.needs_resamples:
        raise InputError(f"which set is stable cannot be known: {reason}") from reason
    return Estimates(notes=(f"No error estimate: {reason}.",))


@dataclass(frozen=True, eq=False)
class _Outer:
    """What was chosen for the outer folds, and what they found with it.

    ``outcomes`` has the preferred sets in the place of the best ones, if other sets are preferred.
    """

    chosen: list[tuple[int, int]]
    outcomes: Mapping[str, Findings]


def _outer(
    data: StudyData,
    plan: StudyPlan,
    schedule: Schedule,
    outcomes: Mapping[str, Findings],
    run: Callable[[Sequence[Stage]], tuple[dict[str, Findings], bool]],
) -> tuple[_Outer | None, bool]:
    """The choices for the outer folds; a preferred set takes another fit of each.

    None if something is missing; also whether Ctrl-C has cut it short now.
    """
    outer, inner = schedule.repeats[0], schedule.inner
    if not schedule.is_nested_done(outcomes):
        return None, False
    chosen = [(0, 0 if plan.k is None else plan.ks.index(plan.k))] * len(outer)
    if inner:
        chosen = choose_inside(inner, outcomes, plan)
    if plan.preference is None:
        return _Outer(chosen, outcomes), False
    jobs = preferring_jobs(outer, inner, chosen, outcomes, data.X.shape[1])
    preferred, cut_short = run([Stage(PREFERRED, jobs)])
    if cut_short:
        return None, True
    return _Outer(chosen, with_preferred(outcomes, outer, jobs, preferred)), False


def _evaluate(
    data: StudyData,
    plan: StudyPlan,
    schedule: Schedule,
    outcomes: Mapping[str, Findings],
    outer: _Outer | None,
    found: Estimates,
) -> None:
    """From what the jobs found to errors, stability and null."""
    repeats = schedule.whole_repeats(outcomes)
    if not repeats:
        return
    done = [[(job, outcomes[job.key]) for job in repeat] for repeat in repeats]
    found.cv = make_path(done, plan)
    flat = [outcome for repeat in done for _, outcome in repeat]
    best = found.cv.best_settings.tolist()
    found.frequency = selection_frequency(flat, best, data.X.shape[1])
    found.indices = [
        stability_index(
            [outcome[setting][i]["support"] for outcome in flat],
            data.X.shape[1],
            plan.ks[i] if plan.ks else 0,
        )
        for i, setting in enumerate(best)
    ]
    found.honest = _honest(data, plan, schedule, outcomes, outer, found.cv)
    if found.honest is not None and repeats[0] is schedule.repeats[0]:
        judged = outcomes if outer is None else outer.outcomes
        found.calibration = calibrated(repeats[0], judged, plan, found.honest)
    permuted = schedule.whole_permutations(outcomes)
    if permuted and repeats[0] is schedule.repeats[0]:  # on a cluster another may be done first
        found.null = permutation_null(repeats[0], permuted, outcomes, plan)
    found.notes += tuple(_notes_on_fits(flat, plan, data))
    same = sum(np.array_equal(jobs[0].labels, data.y) for jobs in permuted)
    if same > len(permuted) / 20:
        note = f"{same} of {len(permuted)} permutations gave every sample its own label again"
        found.notes += (f"{note}: groups leave few ways to permute, and the p-value says little.",)


def _honest(
    data: StudyData,
    plan: StudyPlan,
    schedule: Schedule,
    outcomes: Mapping[str, Findings],
    outer: _Outer | None,
    cv: CVPath,
) -> HonestError | None:
    words, folds = plan.splitter.describe(data.y), schedule.repeats[0]
    if plan.has_inner_folds or plan.preference is not None:
        if outer is None:
            return None
        nested = f"nested {words} cross-validation, {_what_is_chosen(plan)} chosen inside"
        if plan.must_choose:
            return nested_error(folds, outer.chosen, outcomes, outer.outcomes, plan, cv, nested)
        each = f"{words} cross-validation, k fixed, a set preferred in every training part"
        return fixed_error([folds], outer.outcomes, plan, nested if schedule.inner else each)
    repeats = schedule.whole_repeats(outcomes)
    times = f"{len(repeats)} times " if len(repeats) > 1 else ""
    rule = "k fixed" if plan.ks else "nothing chosen"
    return fixed_error(repeats, outcomes, plan, f"{times}{words} cross-validation, {rule}")


def _what_is_chosen(plan: StudyPlan) -> str:
    """'k and setting'."""
    parts = ["k"] if plan.k is None and plan.n_sizes > 1 else []
    parts += ["setting"] if len(plan.settings) > 1 else []
    parts += ["preferred set"] if plan.preference is not None else []
    return " and ".join(parts) if len(parts) < 3 else "k, setting and preferred set"


def _notes_on_fits(outcomes: Sequence[Findings], plan: StudyPlan, data: StudyData) -> list[str]:
    """What the fits of cross-validation would have warned of, once."""
    notes, cv = [], plan.splitter.cv
    if isinstance(cv, int):
        folds = usable_folds(data.y, cv, data.groups)
        if folds < cv:
            notes.append(f"{folds} folds instead of {cv}: {smallest_class(data)}.")
    elif cv == LEAVE_ONE_OUT:
        notes.append(
            "Leave-one-out: the training parts differ by one sample or group only, so that any "
            "selection looks stable, and there is no AUC of single samples; 5 folds tell more."
        )
    findings = [f for outcome in outcomes for row in outcome for f in row]
    early = sum(found["early"] for found in findings)
    if early:
        notes.append(
            f"{early} of {counted(len(findings), 'fit')} in cross-validation ended early (time "
            "limit or iterations); the best set so far was taken."
        )
    for i, k in enumerate(plan.ks):
        used = [len(row[i]["support"]) for outcome in outcomes for row in outcome]
        if min(used) != k or max(used) != k:
            sizes = "" if min(used) == max(used) else f"{min(used)} to "
            notes.append(
                f"For k = {k} the models of cross-validation use {sizes}"
                f"{counted(max(used), 'feature')}: the method does not always have exactly k."
            )
    return notes


def smallest_class(data: StudyData) -> str:
    """The smallest class and its size, in words."""
    classes, counts = np.unique(data.y, return_counts=True)
    unit = "samples"
    if data.groups is not None:
        counts = np.array([np.unique(data.groups[data.y == c]).size for c in classes])
        unit = "groups"
    return f"class {str(classes[np.argmin(counts)])!r} has {counts.min()} {unit}"


def _tell_unfinished(
    plan: StudyPlan, schedule: Schedule, outcomes: Mapping[str, Findings], found: Estimates
) -> None:
    """What is missing after Ctrl-C; without one whole cross-validation k cannot be chosen."""
    if found.cv is None and plan.must_choose:
        raise KeyboardInterrupt("k is not known yet")
    parts = []
    n_repeats = len(schedule.whole_repeats(outcomes))
    if n_repeats < len(schedule.repeats):
        parts.append(
            f"{n_repeats} of {len(schedule.repeats)} repeats of the cross-validation "
            f"{'is' if n_repeats == 1 else 'are'} done"
        )
    if found.honest is None:
        parts.append("the error on new samples was not estimated")
        found.notes += ("No error estimate: it was interrupted.",)
    n_permutations = len(schedule.whole_permutations(outcomes))
    if n_permutations < len(schedule.permuted):
        are = "is" if n_permutations == 1 else "are"
        parts.append(f"{n_permutations} of {len(schedule.permuted)} permutations {are} done")
    elif schedule.permuted and found.null is None:
        parts.append("the first repeat, with which permutations are compared, is not done")
    found.unfinished += tuple(parts)
