"""The error of the whole recipe, the choice of k and setting included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from .calibration import Calibration, calibrate
from .cv_path import CVPath, make_path
from .estimates import (
    ErrorEstimate,
    balanced,
    cross_validated_size,
    effective_size,
    error_estimate,
)
from .jobs import Choice, Finding, Findings, Job
from .plan import StudyPlan


@dataclass(frozen=True, eq=False)
class HonestError:
    """What the recipe does on samples that had no part in it.

    Attributes
    ----------
    estimate : ErrorEstimate
        Its interval is meant to hold the error of the final model on new samples. It is Wilson's
        with a larger variance: the training sets vary, and the final model is not one of those
        that were tested (docs/study.md has the terms).
    balanced_error : float; every class counts alike
    auc : float or None; the mean over test parts, None where no part has two classes
    confusion : array (n_classes, n_classes), true classes in rows; a sample counts once,
        however often it was predicted
    classes : array (n_classes,)
    chosen : list of (setting, size), one per outer fold; empty where nothing was chosen
    wrong : array (n,), how often each sample was classified wrongly; NaN if it never was
    """

    estimate: ErrorEstimate
    balanced_error: float
    auc: float | None
    confusion: np.ndarray
    classes: np.ndarray
    chosen: list[tuple[int, int]]
    wrong: np.ndarray

    # the figures of the estimate, at hand
    @property
    def error(self) -> float:
        """Share of samples that were classified wrongly."""
        return self.estimate.error

    @property
    def low(self) -> float:
        """Lower end of the 95 % interval."""
        return self.estimate.low

    @property
    def high(self) -> float:
        """Upper end of the 95 % interval."""
        return self.estimate.high

    @property
    def n_samples(self) -> int:
        """Samples that were predicted."""
        return self.estimate.n_samples

    @property
    def how(self) -> str:
        """Where it comes from, in words."""
        return self.estimate.how

    def __float__(self) -> float:
        return self.error


def choose_inside(
    inner: Sequence[Sequence[Job]], found: Mapping[str, Findings], plan: StudyPlan
) -> list[tuple[int, int]]:
    """(setting, size) that the inner folds of every outer fold choose."""
    paths = (make_path([[(part, found[part.key]) for part in parts]], plan) for parts in inner)
    return [path.choose(plan.k) for path in paths]


def nested_error(
    outer: Sequence[Job],
    chosen: Sequence[tuple[int, int]],
    found: Mapping[str, Findings],
    preferred: Mapping[str, Findings],
    plan: StudyPlan,
    final: CVPath,
    how: str,
) -> HonestError:
    """In every outer fold the inner folds choose; what they chose is judged on the test part.

    ``final`` chooses what is fitted on all rows. Where the outer folds choose otherwise, theirs is
    another error than the final model's; its cross-validated error shows about by how much. That
    is one of best sets, and compared with theirs (``found``); the error is that of the sets that
    are ``preferred``, where other sets are.
    """

    def chosen_of(outcomes: Mapping[str, Findings]) -> list[Finding]:
        return [outcomes[job.key][setting][size] for job, (setting, size) in zip(outer, chosen)]

    target = float(final.average(final.fold_errors)[final.choose(plan.k)])
    own = _judge([outer], [chosen_of(found)], plan, how, chosen, 0.0)
    shift = target - own.error
    return _judge([outer], [chosen_of(preferred)], plan, how, chosen, shift)


def preferring_jobs(
    outer: Sequence[Job],
    inner: Sequence[Sequence[Job]],
    chosen: Sequence[tuple[int, int]],
    found: Mapping[str, Findings],
    n_features: int,
) -> list[Job]:
    """The outer folds once more, each with the set that is preferred, by its inner folds if any."""
    jobs = []
    for i, (job, (setting, size)) in enumerate(zip(outer, chosen)):
        frequency = np.zeros(n_features)
        for part in inner[i] if inner else ():
            frequency[found[part.key][setting][size]["support"]] += 1.0 / len(inner[i])
        jobs.append(replace(job, choice=Choice(setting, size, frequency)))
    return jobs


def with_preferred(
    found: Mapping[str, Findings],
    outer: Sequence[Job],
    preferring: Sequence[Job],
    preferred: Mapping[str, Findings],
) -> dict[str, Findings]:
    """What the outer folds found, with the preferred sets in the place of those chosen first."""
    patched = dict(found)
    for job, again in zip(outer, preferring):
        assert again.choice is not None
        rows = [list(row) for row in found[job.key]]
        rows[again.choice.setting][again.choice.size] = preferred[again.key][0][0]
        patched[job.key] = rows
    return patched


def calibrated(
    outer: Sequence[Job], found: Mapping[str, Findings], plan: StudyPlan, error: HonestError
) -> Calibration | None:
    """From the predictions that gave the error; of several repeats from the first."""
    size = 0 if plan.k is None else plan.ks.index(plan.k)
    chosen = error.chosen or [(0, size)] * len(outer)
    findings = [found[job.key][setting][k] for job, (setting, k) in zip(outer, chosen)]
    return calibrate(outer, findings, plan)


def fixed_error(
    repeats: Sequence[Sequence[Job]], found: Mapping[str, Findings], plan: StudyPlan, how: str
) -> HonestError:
    """The error of a recipe in which nothing is chosen: that of plain cross-validation."""
    size = 0 if plan.k is None else plan.ks.index(plan.k)
    findings = [[found[job.key][0][size] for job in repeat] for repeat in repeats]
    return _judge(repeats, findings, plan, how)


def _judge(
    repeats: Sequence[Sequence[Job]],
    findings: Sequence[Sequence[Finding]],
    plan: StudyPlan,
    how: str,
    chosen: Sequence[tuple[int, int]] = (),
    shift: float | None = None,
) -> HonestError:
    """From predictions to errors.

    ``shift``: how much larger the error of the final choice is; None if there is no other choice.
    """
    labels, classes, groups = repeats[0][0].labels, plan.classes, plan.splitter.groups
    code = np.searchsorted(classes, labels)
    votes, aucs = np.zeros((labels.size, classes.size)), []
    for job, found in zip(
        (job for repeat in repeats for job in repeat), (f for row in findings for f in row)
    ):
        np.add.at(votes, (job.test, np.array(found["predicted"], dtype=np.intp)), 1)
        aucs.append(found["auc"])
    times = votes.sum(axis=1)
    seen = times > 0
    right = votes[np.arange(labels.size), code]
    each = np.divide(times - right, times, out=np.full(labels.size, np.nan), where=seen)
    rate = each[seen]
    confusion = np.zeros((classes.size, classes.size))
    np.add.at(confusion, code[seen], votes[seen] / times[seen, None])
    independent = effective_size(rate, None if groups is None else groups[seen])
    size = rate.size if independent is None else independent
    n_train = float(np.mean([job.train.size for repeat in repeats for job in repeat]))
    # Nadeau and Bengio have 1 / predictions + 1 / n_train; the final model, 1 / samples or a shift
    predictions = [float(times.sum())] if shift is None else []
    estimate = error_estimate(
        float(rate.sum()),
        rate.size,
        how,
        n_effective=cross_validated_size(size, rate.size, n_train, *predictions),
        shift=shift or 0.0,
    )
    known = [auc for auc in aucs if auc is not None]
    return HonestError(
        estimate,
        balanced(rate, labels[seen]),
        float(np.mean(known)) if known else None,
        confusion,
        classes,
        list(chosen),
        each,
    )
