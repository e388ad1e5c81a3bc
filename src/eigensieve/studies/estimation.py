"""Cross-validation in all its parts: errors, stability and null, as far as they can be had."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, TimeLimitError
from .checkpoint import Checkpoint
from .cv_path import CVPath, make_path
from .data import StudyData
from .jobs import Job, Outcome, Recipe
from .nested import HonestError, fixed_error, nested_error
from .null import PermutationNull, permutation_null
from .plan import Plan, make_plan
from .runner import StageProgress, run_stages
from .splits import LEAVE_ONE_OUT, Splitter, usable_folds
from .stability import StabilityIndex, selection_frequency, stability_index


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be done."""

    data: StudyData
    recipe: Recipe
    k: int | None
    score: str
    splitter: Splitter
    n_repeats: int
    n_permutations: int

    @property
    def must_choose(self) -> bool:
        """Whether k, or a setting, is to be chosen."""
        several_sizes = self.k is None and self.recipe.n_sizes > 1
        return several_sizes or len(self.recipe.settings) > 1


@dataclass
class Estimates:
    """What is known of the error, as far as the estimation came."""

    cv: CVPath | None = None
    honest: HonestError | None = None
    null: PermutationNull | None = None
    frequency: np.ndarray | None = None
    indices: Sequence[StabilityIndex] = ()
    notes: tuple[str, ...] = ()
    unfinished: tuple[str, ...] = ()


def estimate(
    task: Task,
    n_jobs: int | None = None,
    file: Checkpoint | None = None,
    progress: StageProgress | None = None,
) -> Estimates:
    """Run it all; where it cannot be had, and nothing has to be chosen, a note says why."""
    try:
        plan = _make_plan(task)
    except InputError as reason:
        return _without_estimates(task, reason)
    try:
        outcomes, cut_short = run_stages(
            plan.stages(), task.data.X, task.recipe,
            n_jobs=n_jobs, checkpoint=file, progress=progress,
        )  # fmt: skip
    except TimeLimitError as reason:
        return _without_estimates(task, reason)
    found = Estimates()
    _evaluate(task, plan, outcomes, found)
    if cut_short:
        _tell_unfinished(task, plan, outcomes, found)
    return found


def _make_plan(task: Task) -> Plan:
    y, groups = task.data.y, task.data.groups
    if task.must_choose and isinstance(task.splitter.cv, int):
        usable_folds(y, task.splitter.cv, groups, least=3)  # one is held out, two are left
    return make_plan(
        task.splitter, y, n_repeats=task.n_repeats, is_nested=task.must_choose,
        n_permutations=task.n_permutations,
    )  # fmt: skip


def _without_estimates(task: Task, reason: Exception) -> Estimates:
    """A note instead of an error estimate, if nothing has to be chosen by it."""
    if task.must_choose:
        raise InputError(
            f"k cannot be chosen by cross-validation: {reason}; a given k needs none"
        ) from reason
    return Estimates(notes=(f"No error estimate: {reason}.",))


def _evaluate(task: Task, plan: Plan, outcomes: Mapping[str, Outcome], found: Estimates) -> None:
    """From what the jobs found to errors, stability and null."""
    repeats = plan.whole_repeats(outcomes)
    if not repeats:
        return
    recipe, data = task.recipe, task.data
    done = [[(job, outcomes[job.key]) for job in repeat] for repeat in repeats]
    found.cv = make_path(done, recipe, task.score)
    flat = [outcome for repeat in done for _, outcome in repeat]
    best = found.cv.best_settings.tolist()
    found.frequency = selection_frequency(flat, best, data.X.shape[1])
    found.indices = [
        stability_index(
            [outcome[setting][i]["support"] for outcome in flat],
            data.X.shape[1],
            recipe.ks[i] if recipe.ks else 0,
        )
        for i, setting in enumerate(best)
    ]
    found.honest = _honest(task, plan, repeats, outcomes)
    permuted = plan.whole_permutations(outcomes)
    if permuted:
        found.null = permutation_null(
            plan.repeats[0], permuted, outcomes, recipe, k=task.k, score=task.score
        )
    found.notes += tuple(_notes_on_fits(flat, recipe, task.splitter, data))
    same = sum(np.array_equal(jobs[0].labels, data.y) for jobs in permuted)
    if same > len(permuted) / 20:
        note = f"{same} of {len(permuted)} permutations gave every sample its own label again"
        found.notes += (f"{note}: groups leave few ways to permute, and the p-value says little.",)


def _honest(
    task: Task, plan: Plan, repeats: list[list[Job]], outcomes: Mapping[str, Outcome]
) -> HonestError | None:
    words, groups = task.splitter.describe(task.data.y), task.data.groups
    if task.must_choose:
        if not plan.is_nested_done(outcomes):
            return None
        chosen = "k" if len(task.recipe.settings) == 1 else "k and setting"
        if task.k is not None:
            chosen = "setting"
        return nested_error(
            plan.repeats[0], plan.inner, outcomes, task.recipe, k=task.k, score=task.score,
            groups=groups, how=f"nested {words} cross-validation, {chosen} chosen inside",
        )  # fmt: skip
    size = 0 if task.k is None else task.recipe.ks.index(task.k)
    times = f"{len(repeats)} times " if len(repeats) > 1 else ""
    rule = "k fixed" if task.recipe.ks else "nothing chosen"
    how = f"{times}{words} cross-validation, {rule}"
    return fixed_error(repeats, outcomes, task.recipe, size=size, groups=groups, how=how)


def _notes_on_fits(
    outcomes: Sequence[Outcome], recipe: Recipe, splitter: Splitter, data: StudyData
) -> list[str]:
    """What the fits of cross-validation would have warned of, once."""
    notes = []
    if isinstance(splitter.cv, int):
        folds = usable_folds(data.y, splitter.cv, data.groups)
        if folds < splitter.cv:
            notes.append(f"{folds} folds instead of {splitter.cv}: {smallest_class(data)}.")
    elif splitter.cv == LEAVE_ONE_OUT:
        notes.append(
            "Leave-one-out: the training parts differ by one sample or group only, so that any "
            "selection looks stable, and there is no AUC of single samples; 5 folds tell more."
        )
    findings = [f for outcome in outcomes for row in outcome for f in row]
    early = sum(found["early"] for found in findings)
    if early:
        notes.append(
            f"{early} of {len(findings)} searches in cross-validation ended early (time limit or "
            "iterations); the best set so far was taken."
        )
    for i, k in enumerate(recipe.ks):
        used = [len(row[i]["support"]) for outcome in outcomes for row in outcome]
        if min(used) != k or max(used) != k:
            notes.append(
                f"For k = {k} the models of cross-validation use {min(used)} to {max(used)} "
                "features: the method cannot have exactly k."
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
    task: Task, plan: Plan, outcomes: Mapping[str, Outcome], found: Estimates
) -> None:
    """What is missing after Ctrl-C; without one whole cross-validation k cannot be chosen."""
    if found.cv is None and task.must_choose:
        raise KeyboardInterrupt("k is not known yet")
    parts = []
    n_repeats = len(plan.whole_repeats(outcomes))
    if n_repeats < len(plan.repeats):
        parts.append(f"{n_repeats} of {len(plan.repeats)} repeats of the cross-validation are done")
    if found.honest is None:
        parts.append("the error on new samples was not estimated")
        found.notes += ("No error estimate: it was interrupted.",)
    n_permutations = len(plan.whole_permutations(outcomes))
    if n_permutations < len(plan.permuted):
        parts.append(f"{n_permutations} of {len(plan.permuted)} permutations are done")
    found.unfinished += tuple(parts)
