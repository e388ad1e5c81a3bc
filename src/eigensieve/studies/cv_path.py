"""Error against the number of features, and the rule that chooses it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .estimates import class_weights
from .jobs import Job, Outcome, Recipe

SCORES = ("error", "balanced_error")
ONE_SE = "smallest k whose cross-validated error is within one standard error of the smallest"
ONE_SE_BALANCED = ONE_SE.replace("error", "balanced error", 1)
GIVEN = "given by the user"
ONLY = "the only k that was tried"
OWN = "the method's own number of features"


@dataclass(frozen=True, eq=False)
class CVPath:
    """Errors of every test part, for every setting and k.

    Attributes
    ----------
    ks : tuple of int, ascending; empty if the method chooses the number of features itself
    fold_errors, fold_balanced_errors : arrays (n_repeats * n_folds, n_settings, n_sizes)
    fold_aucs : the same; NaN where a test part does not have samples of two classes
    fold_sizes : the same; numbers of features that were used
    n_folds, n_repeats : int
        Test parts that use all samples once, and how often that was done.
    score : "error" or "balanced_error", the one that chooses
    """

    ks: tuple[int, ...]
    fold_errors: np.ndarray
    fold_balanced_errors: np.ndarray
    fold_aucs: np.ndarray
    fold_sizes: np.ndarray
    n_folds: int
    n_repeats: int
    score: str = "error"

    @property
    def _scores(self) -> np.ndarray:
        return self.fold_errors if self.score == "error" else self.fold_balanced_errors

    @property
    def mean(self) -> np.ndarray:
        """Mean of the score that chooses, (n_settings, n_sizes)."""
        return np.asarray(self._scores.mean(axis=0))

    @property
    def standard_error(self) -> np.ndarray:
        """Standard error of that mean.

        The folds of one repeat use all samples once; further repeats are no new samples,
        so the divisor counts the folds of one repeat only. A single test part tells nothing: NaN.
        """
        if len(self._scores) < 2:
            return np.full(self._scores.shape[1:], np.nan)
        return np.asarray(self._scores.std(axis=0, ddof=1) / np.sqrt(self.n_folds))

    @property
    def best_settings(self) -> np.ndarray:
        """The setting of least error for every k; of equal ones the first."""
        return np.asarray(np.argmin(self.mean, axis=0))

    def along_best(self, values: np.ndarray) -> np.ndarray:
        """Of values (n_settings, n_sizes) those of the best setting of every k."""
        return np.asarray(values[self.best_settings, np.arange(values.shape[1])])

    @property
    def best_size(self) -> int:
        """Position in ks of the smallest k within one SE of the smallest error (1-SE rule)."""
        error, se = self.along_best(self.mean), self.along_best(self.standard_error)
        lowest = int(np.argmin(error))
        return int(np.argmax(error <= error[lowest] + np.nan_to_num(se[lowest])))

    @property
    def best_k(self) -> int:
        """The k of the 1-SE rule."""
        return self.ks[self.best_size]

    def choose(self, k: int | None = None) -> tuple[int, int]:
        """(setting, size) of the 1-SE rule, or of the best setting for a given k."""
        size = self.best_size if k is None else self.ks.index(k)
        return int(self.best_settings[size]), size


def make_path(
    repeats: Sequence[Sequence[tuple[Job, Outcome]]], recipe: Recipe, score: str = "error"
) -> CVPath:
    """From what the jobs of whole repeats found."""
    done = [entry for repeat in repeats for entry in repeat]
    measured = np.array([_measure(job, outcome, recipe.classes) for job, outcome in done])
    errors, balanced_errors, aucs, sizes = np.moveaxis(measured, -1, 0)
    n_folds = _count_folds([job for job, _ in repeats[0]])
    return CVPath(recipe.ks, errors, balanced_errors, aucs, sizes, n_folds, len(repeats), score)


def _count_folds(jobs: Sequence[Job]) -> int:
    """How many test parts use all samples once; a splitter may use them several times."""
    tested = np.concatenate([job.test for job in jobs])
    return max(1, round(len(jobs) * np.unique(tested).size / tested.size))


def _measure(job: Job, outcome: Outcome, classes: np.ndarray) -> list[list[list[float]]]:
    truth = job.labels[job.test]
    # By the class sizes of all rows: a test part need not have samples of every class.
    weight = class_weights(job.labels)[job.test]
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
