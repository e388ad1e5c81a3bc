"""An error rate and how sure it is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t

NORMAL_95 = 1.959963984540054


@dataclass(frozen=True)
class ErrorEstimate:
    """An error rate on samples that had no part in choosing the model.

    Attributes
    ----------
    error : float
    low, high : float
        The 95 % interval.
    n_samples : int
    how : str
        Where it comes from, in words.
    """

    error: float
    low: float
    high: float
    n_samples: int
    how: str


def error_estimate(
    wrong: float, n: int, how: str, *, n_effective: float | None = None, shift: float = 0.0
) -> ErrorEstimate:
    """An error rate with its 95 % Wilson interval.

    ``wrong`` may be a mean over repeats, and then need not be whole. Samples that depend on each
    other are worth ``n_effective`` independent ones. The true error may also be off by about
    ``shift``: its square is added to the variance, below the error if it is negative, else above.
    """
    rate = wrong / n
    share = NORMAL_95**2 / (n if n_effective is None else n_effective)
    low = _wilson_end(rate, share, min(shift, 0.0), -1)
    high = _wilson_end(rate, share, max(shift, 0.0), 1)
    # at 0 and 1 the ends are those numbers but for round-off
    low, high = max(0.0, min(low, rate)), min(1.0, max(high, rate))
    return ErrorEstimate(float(rate), low, high, n, how)


def _wilson_end(rate: float, share: float, shift: float, side: int) -> float:
    """The q on that side with (q - rate)^2 = share q (1 - q) + (z shift)^2; share is z^2 / n."""
    variance = rate * (1 - rate) * share + share * share / 4
    variance += (1 + share) * (NORMAL_95 * shift) ** 2
    return float((rate + share / 2 + side * np.sqrt(variance)) / (1 + share))


def cross_validated_size(n_independent: float, n_tested: int, *others: float) -> float:
    """How many new samples would tell as much about the error as those of a cross-validation.

    Of new samples the variance is in proportion to 1 / n; here every one of ``others`` has such a
    term, too: 1 / n_tested + sum(1 / other). By Nadeau and Bengio (Machine Learning 52, 2003) the
    size of the training sets is one of them. ``n_independent`` is what the tested samples would be
    worth by themselves: fewer than ``n_tested`` where those of a group go together.
    """
    return n_independent / (1 + sum(n_tested / n for n in others))


def effective_size(wrong: np.ndarray, groups: np.ndarray | None) -> float | None:
    """How many independent samples are as good as these (Kish's design effect).

    Where samples of a group are right or wrong together, groups are what counts. Without
    any errors, or with errors only, nothing is known of that: then it is the number of groups.
    """
    if groups is None:
        return None
    names, member = np.unique(groups, return_inverse=True)
    n, n_groups, rate = wrong.size, names.size, float(wrong.mean())
    if rate in (0.0, 1.0) or n_groups < 2:
        return float(n_groups)
    excess = np.bincount(member, weights=wrong - rate)
    variance = n_groups / (n_groups - 1) * float(np.square(excess).sum()) / n**2
    # few groups tell little of how they differ: Student's t instead of the normal
    few = (NORMAL_95 / float(t.ppf(0.975, n_groups - 1))) ** 2
    return float(np.clip(few * rate * (1 - rate) / max(variance, 1e-300), 1.0, n))


def class_weights(y: np.ndarray) -> np.ndarray:
    """A weight for every sample, of mean 1, with which every class counts alike."""
    classes, code, counts = np.unique(y, return_inverse=True, return_counts=True)
    return np.asarray((y.size / (classes.size * counts))[code])


def balanced(wrong: np.ndarray, y: np.ndarray) -> float:
    """The mean of the error rates of the classes there are."""
    return float(np.mean([wrong[y == label].mean() for label in np.unique(y)]))
