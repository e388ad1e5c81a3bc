"""Which jobs a study needs, and what for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .jobs import Findings, Job
from .plan import StudyPlan
from .running.runner import Stage
from .splits import MIN_SAMPLES_OF_A_CLASS, Splitter, permute_labels, usable_folds

MAX_DRAWS = 100
CROSS_VALIDATION, NESTED, PERMUTATIONS = "cross-validation", "nested check", "permutations"
PREFERRED = "preferred sets"


@dataclass(frozen=True, eq=False)
class Schedule:
    """The jobs, by purpose.

    Attributes
    ----------
    repeats : one list of jobs per repeat of the cross-validation
    inner : the inner folds of every outer fold, which are the jobs of the first repeat; empty
        where nothing is chosen by them
    permuted : the jobs of every permutation of the labels
    """

    repeats: list[list[Job]]
    inner: list[list[Job]]
    permuted: list[list[Job]]

    def stages(self) -> list[Stage]:
        """In the order that leaves most if the run is cut short."""
        first, *others = self.repeats
        return [
            Stage(CROSS_VALIDATION, first),
            Stage(NESTED, [job for fold in self.inner for job in fold]),
            Stage(CROSS_VALIDATION, [job for repeat in others for job in repeat]),
            Stage(PERMUTATIONS, [job for jobs in self.permuted for job in jobs]),
        ]

    def whole_repeats(self, found: Mapping[str, Findings]) -> list[list[Job]]:
        """The repeats of which every job is done."""
        return [jobs for jobs in self.repeats if _all_done(jobs, found)]

    def whole_permutations(self, found: Mapping[str, Findings]) -> list[list[Job]]:
        """The permutations of which every job is done."""
        return [jobs for jobs in self.permuted if _all_done(jobs, found)]

    def is_nested_done(self, found: Mapping[str, Findings]) -> bool:
        """Whether the outer and the inner folds are done."""
        return all(_all_done(jobs, found) for jobs in (self.repeats[0], *self.inner))


def _all_done(jobs: list[Job], found: Mapping[str, Findings]) -> bool:
    return all(job.key in found for job in jobs)


def make_schedule(plan: StudyPlan, y: np.ndarray) -> Schedule:
    """All jobs of a study of rows with labels y."""
    splitter = plan.splitter
    if plan.has_inner_folds and isinstance(splitter.cv, int):
        usable_folds(y, splitter.cv, splitter.groups, least=MIN_SAMPLES_OF_A_CLASS)
    n_repeats = 1 if splitter.is_fixed else plan.n_repeats
    # the probabilities of the first repeat: of the models that the error on new samples is of
    repeats = [_jobs(splitter.split(y, r), y, keeps_proba=r == 0) for r in range(n_repeats)]
    outer = repeats[0] if plan.has_inner_folds else []
    inner = [_cut_inside(splitter, y, job) for job in outer]
    rng = np.random.default_rng(splitter.seed)
    permuted = [_permute(splitter, y, rng) for _ in range(plan.n_permutations)]
    return Schedule(repeats, inner, permuted)


def _cut_inside(splitter: Splitter, y: np.ndarray, job: Job) -> list[Job]:
    try:
        return _jobs(splitter.split_inside(y, job.train), y)
    except InputError as error:
        raise InputError(f"with a test part held out, {error}") from error


def _permute(splitter: Splitter, y: np.ndarray, rng: np.random.Generator) -> list[Job]:
    """The jobs of permuted labels; a permutation that cannot be cut like the labels is redrawn."""
    for attempt in range(MAX_DRAWS):
        labels = permute_labels(y, splitter.groups, rng)
        try:
            return _jobs(splitter.split(labels), labels)
        except InputError:
            if attempt == MAX_DRAWS - 1:
                raise
    return []


def _jobs(
    parts: list[tuple[np.ndarray, np.ndarray]], labels: np.ndarray, *, keeps_proba: bool = False
) -> list[Job]:
    return [Job(train, test, labels, keeps_proba) for train, test in parts]
