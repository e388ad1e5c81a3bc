"""Classification in a space of few directions: centroid, nearest sample, LDA.

A rule is made from the projected training rows, and gives a score per class: the largest wins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import linalg
from scipy.spatial import KDTree
from scipy.special import log_softmax

from ..errors import InputError, OptionError
from ..pencil.checks import check_choice
from ..tables.column_statistics import class_means

# A within-class variance below this share of the total one says that the training rows of a class
# fell on one point, not that new rows will.
MIN_VARIANCE = 1e-6


class Rule(ABC):
    """Scores of projected rows, one per class."""

    # whether probabilities are a softmax of the scores: then these may be divided by a temperature
    has_softmax = True

    @abstractmethod
    def scores(self, Z: np.ndarray) -> np.ndarray:
        """(n, K); the largest wins."""

    def log_proba(self, scores: np.ndarray) -> np.ndarray:
        """Logarithms of the class probabilities, (n, K)."""
        return log_softmax(scores, axis=1)


class LinearRule(Rule):
    """Scores that are linear in the projected row: Z weights' + offsets."""

    def __init__(self, weights: np.ndarray, offsets: np.ndarray) -> None:
        self.weights, self.offsets = weights, offsets

    def scores(self, Z: np.ndarray) -> np.ndarray:
        return Z @ self.weights.T + self.offsets


class NearestSample(Rule):
    """1-NN: the class of the nearest training row; scores are minus the distances."""

    has_softmax = False

    def __init__(self, Z: np.ndarray, code: np.ndarray, n_classes: int) -> None:
        self.trees = [KDTree(Z[code == k]) for k in range(n_classes)]

    def scores(self, Z: np.ndarray) -> np.ndarray:
        return -np.column_stack([tree.query(Z)[0] for tree in self.trees])

    def log_proba(self, scores: np.ndarray) -> np.ndarray:
        chosen = scores.argmax(axis=1)
        return np.where(chosen[:, None] == np.arange(len(self.trees)), 0.0, -np.inf)


def nearest_centroid(means: np.ndarray) -> LinearRule:
    """The nearest class mean: -|z - m|^2 / 2, up to what is common to all classes."""
    return LinearRule(means, -0.5 * np.einsum("ij,ij->i", means, means))


def discriminant(means: np.ndarray, within: np.ndarray, priors: np.ndarray) -> LinearRule:
    """The LDA rule with this covariance within the classes, which may be singular."""
    values, vectors = linalg.eigh(within)
    weights = (means @ vectors / np.maximum(values, MIN_VARIANCE)) @ vectors.T
    return LinearRule(weights, -0.5 * np.einsum("ij,ij->i", means, weights) + np.log(priors))


def discriminant_of_columns(
    means: np.ndarray, within: np.ndarray, priors: np.ndarray
) -> LinearRule:
    """The LDA rule of columns as they are: their covariance is positive definite, of any scale."""
    scale = 1.0 / np.sqrt(np.diag(within))
    solved = np.linalg.solve(within * np.outer(scale, scale), (means * scale).T)
    weights = (solved * scale[:, None]).T
    return LinearRule(weights, -0.5 * np.einsum("ij,ij->i", means, weights) + np.log(priors))


RULES = ("centroid", "1-nn", "lda")
WITHOUT_PRIORS = ("centroid", "1-nn")


def check_rule(rule: Any, priors: Any, allowed: Sequence[str] = RULES) -> None:
    """Raise unless there is a rule of that name, which makes use of priors that are given."""
    check_choice(rule, "rule", allowed)
    if priors is not None and rule in WITHOUT_PRIORS:
        raise OptionError(f"priors are for rule 'lda'; rule {rule!r} makes no use of them")


def make_rule(rule: str, Z: np.ndarray, code: np.ndarray, priors: np.ndarray) -> Rule:
    """The rule of that name, from projected rows Z (n, l) of classes ``code`` (n,)."""
    if rule == "1-nn":
        return NearestSample(Z, code, priors.size)
    means = class_means(Z, code)
    rest = Z - means[code]
    return make_linear_rule(rule, means, rest.T @ rest / len(Z), priors)


def make_linear_rule(
    rule: str, means: np.ndarray, within: np.ndarray, priors: np.ndarray
) -> LinearRule:
    """The rule from class means and the covariance of projected rows; of "penalized" that is I."""
    if rule == "centroid":
        return nearest_centroid(means)
    return discriminant(means, np.eye(len(within)) if rule == "penalized" else within, priors)


def check_priors(given: Any, frequencies: np.ndarray) -> np.ndarray:
    """Class probabilities: the frequencies, unless others are given, or equal ones wanted."""
    if given is None:
        return frequencies
    if isinstance(given, str) and given == "balanced":
        return np.full(frequencies.size, 1.0 / frequencies.size)
    wrong = InputError(
        f"priors must be {frequencies.size} positive numbers, one per class, or 'balanced'; "
        f"given was {given!r}"
    )
    try:
        priors = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise wrong from None
    if priors.shape != frequencies.shape or not np.all((priors > 0) & np.isfinite(priors)):
        raise wrong
    priors = priors / priors.max()
    return priors / priors.sum()
