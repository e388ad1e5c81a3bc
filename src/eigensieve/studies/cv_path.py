"""Error against the number of features, and the rule that chooses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import InputError
from .estimates import class_weights
from .jobs import Findings, Job
from .plan import StudyPlan

ONE_SE = "smallest k whose cross-validated error is within one standard error of the smallest"
LEAST = "smallest k of least cross-validated error; a single test part has no standard error"
ONE_SE_BALANCED, LEAST_BALANCED = (
    rule.replace("error", "balanced error", 1) for rule in (ONE_SE, LEAST)
)
CHOSEN = (ONE_SE, ONE_SE_BALANCED, LEAST, LEAST_BALANCED)
GIVEN = "given by the user"
ONLY = "the only k that was tried"
OWN = "the method's own number of features"
DIGITS = 12  # errors are sums of fractions: round-off does not decide


@dataclass(frozen=True, eq=False)
class CVPath:
    """Errors of every test part, for every setting and k.

    Attributes
    ----------
    ks : tuple of int, ascending; empty if the method chooses the number of features itself
    fold_errors, fold_balanced_errors : arrays (n_repeats * n_folds, n_settings, n_sizes)
    fold_aucs : the same; NaN where a test part does not have samples of two classes
    fold_sizes : the same; numbers of features that were used
    shares : array (n_repeats * n_folds,)
        The number of samples of every test part, as a share of the mean number: a sample counts
        alike wherever it is tested.
    n_folds, n_repeats : int
        Test parts that use all samples once, and how often that was done.
    score : "error" or "balanced_error", the one that chooses
    """

    ks: tuple[int, ...]
    fold_errors: np.ndarray
    fold_balanced_errors: np.ndarray
    fold_aucs: np.ndarray
    fold_sizes: np.ndarray
    shares: np.ndarray
    n_folds: int
    n_repeats: int
    score: str = "error"

    @property
    def _scores(self) -> np.ndarray:
        return self.fold_errors if self.score == "error" else self.fold_balanced_errors

    def average(self, values: np.ndarray) -> np.ndarray:
        """The mean of figures of all test parts, (n_settings, n_sizes), by their samples."""
        return np.asarray(np.tensordot(self.shares, values, axes=1) / self.shares.size)

    @property
    def mean(self) -> np.ndarray:
        """Mean of the score that chooses, (n_settings, n_sizes)."""
        return self.average(self._scores)

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of that mean.

        The folds of one repeat use all samples once; further repeats are no new samples,
        so the divisor counts the folds of one repeat only. A single test part tells nothing: NaN.
        """
        n_parts = self.shares.size
        if n_parts < 2:
            return np.full(self._scores.shape[1:], np.nan)
        # the mean is a ratio, of errors to samples: its deviations count by the samples
        deviations = self.shares[:, None, None] * (self._scores - self.mean)
        variance = np.square(deviations).sum(axis=0) / (n_parts - 1)
        return np.asarray(np.sqrt(variance / self.n_folds))

    @property
    def rule(self) -> str:
        """How `best_size` is chosen, in words."""
        rules = (ONE_SE, ONE_SE_BALANCED) if self.shares.size > 1 else (LEAST, LEAST_BALANCED)
        return rules[self.score == "balanced_error"]

    @property
    def best_settings(self) -> np.ndarray:
        """The setting of least error for every k; of equal ones the first."""
        return np.asarray(np.argmin(self.mean.round(DIGITS), axis=0))

    def along_best(self, values: np.ndarray) -> np.ndarray:
        """Of values (n_settings, n_sizes) those of the best setting of every k."""
        return np.asarray(values[self.best_settings, np.arange(values.shape[1])])

    @property
    def best_size(self) -> int:
        """Position in ks of the smallest k within one SE of the smallest error (1-SE rule)."""
        error = self.along_best(self.mean).round(DIGITS)
        lowest = int(np.argmin(error))
        se = float(np.nan_to_num(self.along_best(self.standard_error)[lowest]))
        return int(np.argmax(error <= (error[lowest] + se).round(DIGITS)))

    @property
    def best_k(self) -> int:
        """The k of the 1-SE rule."""
        if not self.ks:
            raise InputError(
                "the method chooses the number of features itself, so that no k was tried; "
                "study.best_k is the number it took"
            )
        return self.ks[self.best_size]

    def choose(self, k: int | None = None) -> tuple[int, int]:
        """(setting, size) of the 1-SE rule, or of the best setting for a given k."""
        size = self.best_size if k is None else self.ks.index(k)
        return int(self.best_settings[size]), size


def make_path(repeats: Sequence[Sequence[tuple[Job, Findings]]], plan: StudyPlan) -> CVPath:
    """From what the jobs of whole repeats found."""
    done = [entry for repeat in repeats for entry in repeat]
    weights = _weights([job for job, _ in done])
    measured = np.array([_measure(job, out, plan.classes, weights) for job, out in done])
    errors, balanced_errors, aucs, sizes = np.moveaxis(measured, -1, 0)
    tested = np.array([job.test.size for job, _ in done])
    n_folds = _count_folds([job for job, _ in repeats[0]])
    return CVPath(
        plan.ks, errors, balanced_errors, aucs, sizes, tested / tested.mean(), n_folds,
        len(repeats), plan.score,
    )  # fmt: skip


def _weights(jobs: Sequence[Job]) -> np.ndarray:
    """With these weights of the rows every class counts alike among those that are tested."""
    rows = np.unique(np.concatenate([job.test for job in jobs]))
    weights = np.zeros(jobs[0].labels.size)
    weights[rows] = class_weights(jobs[0].labels[rows])
    return weights


def _count_folds(jobs: Sequence[Job]) -> int:
    """How many test parts use all samples once; a splitter may use them several times."""
    tested = np.concatenate([job.test for job in jobs])
    return max(1, round(len(jobs) * np.unique(tested).size / tested.size))


def _measure(
    job: Job, outcome: Findings, classes: np.ndarray, weights: np.ndarray
) -> list[list[list[float]]]:
    truth, weight = job.labels[job.test], weights[job.test]
    rows = []
    for findings in outcome:
        cells = []
        for found in findings:
            wrong = classes[found["predicted"]] != truth
            auc = np.nan if found["auc"] is None else found["auc"]
            size = len(found["support"])
            cells.append([float(wrong.mean()), float((weight * wrong).mean()), auc, size])
        rows.append(cells)
    return rows
