"""How often a feature is selected again when some of the samples are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .estimates import NORMAL_95
from .jobs import Findings


@dataclass(frozen=True)
class StabilityIndex:
    """Nogueira's index: 1 if every resample selects the same features, about 0 if by chance.

    ``low`` and ``high`` are its approximate 95 % interval. It takes the resamples as
    independent; training parts of cross-validation share most of their samples, so the index
    tells what leaving some samples out changes, not what new samples would.
    """

    k: int
    index: float
    low: float
    high: float


def selection_frequency(
    outcomes: Sequence[Findings], settings: Sequence[int], n_features: int
) -> np.ndarray:
    """(n_sizes, n_features): the share of resamples that select a feature, for every size."""
    frequency = np.zeros((len(settings), n_features))
    for outcome in outcomes:
        for size, setting in enumerate(settings):
            frequency[size, outcome[setting][size]["support"]] += 1
    return frequency / len(outcomes)


def stability_index(supports: Sequence[Sequence[int]], n_features: int, k: int) -> StabilityIndex:
    """The index of Nogueira, Sechidis and Brown (2018), their definition 4 and corollary 10."""
    M, p = len(supports), n_features
    sizes = np.array([len(support) for support in supports], dtype=np.float64)
    mean_size = sizes.mean()
    chance = mean_size / p * (1 - mean_size / p)
    if M < 2 or chance == 0:
        return StabilityIndex(k, np.nan, np.nan, np.nan)
    used, place = np.unique(np.concatenate([list(s) for s in supports]), return_inverse=True)
    Z = np.zeros((M, used.size))
    Z[np.repeat(np.arange(M), sizes.astype(int)), place] = 1.0
    frequency = Z.mean(axis=0)
    spread = M / (M - 1) * float((frequency * (1 - frequency)).sum()) / p
    index = 1 - spread / chance
    # the contribution of each resample, from which the variance of the index follows
    shares, mean_share = sizes / p, mean_size / p
    each = (Z @ frequency) / p - shares * mean_share
    each += index / 2 * (2 * mean_share * shares - shares - mean_share + 1)
    each /= chance
    variance = 4 / M**2 * float(np.square(each - each.mean()).sum())
    half = NORMAL_95 * np.sqrt(variance)
    return StabilityIndex(
        k, float(index), float(max(-1.0, index - half)), float(min(1.0, index + half))
    )
