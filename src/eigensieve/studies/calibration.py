"""Probabilities that hold on new samples: a temperature, and what it is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from .estimates import ErrorEstimate, effective_size, error_estimate
from .jobs import Finding, Job, unpack
from .plan import StudyPlan

MAX_LOG_T = 20.0  # scores of features that hardly vary within the classes are in the millions
MAX_PARTS = 10  # test parts that get a temperature each; more (leave-one-out) share them
MAX_BINS = 10
MIN_BIN_SAMPLES = 15
UNSEEN_MISTAKES = 0.5  # added to those that were seen, as Jeffreys does


@dataclass(frozen=True, eq=False)
class ReliabilityBin:
    """Samples whose predicted class had about the same probability.

    Attributes
    ----------
    low, high : float
        The smallest and the largest of these probabilities.
    confidence : float
        Their mean.
    wrong : ErrorEstimate
        The share that was predicted wrongly, with its interval.
    """

    low: float
    high: float
    confidence: float
    wrong: ErrorEstimate

    @property
    def n_samples(self) -> int:
        """How many samples there are."""
        return self.wrong.n_samples

    @property
    def right(self) -> tuple[float, float, float]:
        """The share that was predicted right, and the ends of its 95 % interval."""
        return 1 - self.wrong.error, 1 - self.wrong.high, 1 - self.wrong.low


@dataclass(frozen=True, eq=False)
class ProbabilityQuality:
    """Probabilities of samples that had no part in the models, against the true classes.

    Attributes
    ----------
    log_proba : array (n, K)
    code : array (n,), the true class
    groups : array (n,) or None
    """

    log_proba: np.ndarray
    code: np.ndarray
    groups: np.ndarray | None = None

    @property
    def log_loss(self) -> float:
        """The mean of minus the logarithm of the probability of the true class."""
        return log_loss(self.log_proba, self.code)

    @property
    def brier(self) -> float:
        """The Brier score, see `brier_score`."""
        return brier_score(np.exp(self.log_proba), self.code)

    @cached_property
    def confidence(self) -> np.ndarray:
        """The probability of the predicted class, (n,)."""
        return np.asarray(np.exp(self.log_proba.max(axis=1)))

    @property
    def right(self) -> np.ndarray:
        """Whether the predicted class is the true one, (n,)."""
        return np.asarray(self.log_proba.argmax(axis=1) == self.code)

    def bins(self) -> list[ReliabilityBin]:
        """By confidence, about as many samples in each; few samples make few bins."""
        n = self.code.size
        order = np.argsort(self.confidence, kind="stable")
        n_bins = int(np.clip(n // MIN_BIN_SAMPLES, 1, MAX_BINS))
        return [self._bin(rows) for rows in np.array_split(order, n_bins)]

    def _bin(self, rows: np.ndarray) -> ReliabilityBin:
        confidence, wrong = self.confidence[rows], (~self.right[rows]).astype(float)
        weight = effective_size(wrong, None if self.groups is None else self.groups[rows])
        estimate = error_estimate(float(wrong.sum()), rows.size, "", n_effective=weight)
        ends = float(confidence.min()), float(confidence.max())
        return ReliabilityBin(*ends, float(confidence.mean()), estimate)


@dataclass(frozen=True, eq=False)
class Calibration:
    """The temperature of the final model, and what it does on samples left out.

    Attributes
    ----------
    temperature : float
        The scores of the model are divided by it before they become probabilities; fitted to the
        predictions of all samples by models that had not seen them.
    before : ProbabilityQuality
        These predictions as they were, with temperature 1.
    after : ProbabilityQuality
        The same, with temperatures that were fitted without the test part they are applied to.
    """

    temperature: float
    before: ProbabilityQuality
    after: ProbabilityQuality

    @property
    def n_samples(self) -> int:
        """Samples that were predicted, each once."""
        return int(self.before.code.size)


def calibrate(
    jobs: Sequence[Job], findings: Sequence[Finding], plan: StudyPlan
) -> Calibration | None:
    """From the test parts of one cross-validation; None where there are no probabilities to mend.

    A sample that is tested several times counts once, and one of a class that its model has never
    seen not at all.
    """
    texts = [found["log_proba"] for found in findings]
    if len(texts) < 2 or any(text is None for text in texts):
        return None
    rows = np.concatenate([job.test for job in jobs])
    part = np.repeat(np.arange(len(jobs)), [job.test.size for job in jobs]) % MAX_PARTS
    kept_proba = [unpack(text, plan.classes.size) for text in texts if text is not None]
    log_proba = tempered(np.vstack(kept_proba), 1.0)  # as exact as if it had not been packed
    code = np.searchsorted(plan.classes, jobs[0].labels)[rows]
    _, first = np.unique(rows, return_index=True)
    kept = first[np.isfinite(log_proba[first, code[first]])]
    log_proba, code, part = log_proba[kept], code[kept], part[kept]
    if np.unique(part).size < 2:
        return None
    groups = None if plan.splitter.groups is None else plan.splitter.groups[rows[kept]]
    after = np.empty_like(log_proba)
    for own in (part == number for number in np.unique(part)):
        after[own] = tempered(log_proba[own], fit_temperature(log_proba[~own], code[~own]))
    return Calibration(
        fit_temperature(log_proba, code),
        ProbabilityQuality(log_proba, code, groups),
        ProbabilityQuality(after, code, groups),
    )


def fit_temperature(
    log_proba: np.ndarray, code: np.ndarray, unseen_mistakes: float = UNSEEN_MISTAKES
) -> float:
    """The T >= 1 of least log-loss, with half a mistake more than was seen, plus (log T)^2 / 2.

    A few samples without a mistake do not show that there are none: the loss of half a sample is
    added that has the most probable of the wrong classes, the mean over all samples. For the same
    reason T is never below 1. The last term keeps T finite where the scores say nothing of the
    classes; some tens of samples outweigh it. The sum is convex in 1 / T: it has one minimum.
    """
    rows = np.arange(code.size)
    wrong = log_proba.copy()
    wrong[rows, code] = -np.inf
    runner_up = wrong.argmax(axis=1)

    def loss(log_t: float) -> float:
        scores = tempered(log_proba, float(np.exp(log_t)))
        seen, unseen = code.size * log_loss(scores, code), log_loss(scores, runner_up)
        return float(seen + unseen_mistakes * unseen + log_t**2 / 2)

    found = minimize_scalar(loss, bounds=(0.0, MAX_LOG_T), options={"xatol": 1e-8})
    return float(np.exp(found.x)) if found.fun < loss(0.0) else 1.0


def tempered(log_proba: np.ndarray, temperature: float) -> np.ndarray:
    """Logarithms of probabilities, from those of temperature 1."""
    return np.asarray(log_softmax(log_proba / temperature, axis=1))


def log_loss(log_proba: np.ndarray, code: np.ndarray) -> float:
    """The mean of minus the logarithm of the probability of the true class."""
    return float(np.abs(log_proba[np.arange(code.size), code]).mean())  # not -0.0


def brier_score(proba: np.ndarray, code: np.ndarray) -> float:
    """The mean of the squared differences between probabilities and what happened (1 or 0).

    Summed over the classes; of two classes one is counted, as scikit-learn does.
    """
    happened = code[:, None] == np.arange(proba.shape[1])
    squares = np.square(proba - happened).sum(axis=1)
    return float(squares.mean() / (2 if proba.shape[1] == 2 else 1))
