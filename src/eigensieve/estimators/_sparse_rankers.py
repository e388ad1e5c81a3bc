"""Rankings of the columns of a sparse table that need more than its standardised rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..tables.operators.centred_rows import CentredRows
from ..tables.statistics import ClassStats


def standardize_sparse(X: Any) -> tuple[np.ndarray, CentredRows | np.ndarray]:
    """Indices of the columns that vary, and these at mean 0 and variance 1, on paper.

    As an array where they are few.
    """
    stats = ClassStats.from_data(X, np.zeros(X.shape[0], dtype=np.int8), form="rows")
    deviations = np.sqrt(stats.within_variance())
    varies = deviations > 0
    scaled = stats.rows / np.where(varies, deviations, 1.0)
    return np.flatnonzero(varies), scaled.take(np.flatnonzero(varies))


def f_values(X: Any, code: np.ndarray, perfect: float) -> np.ndarray:
    """F of a one-way analysis of variance; inf if less than a share varies within the classes."""
    stats = ClassStats.from_data(X, code, form="rows")
    n, K = stats.n_samples, stats.classes.size
    between, within = np.square(stats.between_factor()).sum(axis=0), stats.within_variance()
    scores = np.full(between.size, np.inf)
    use = within > perfect * (between + within)
    scores[use] = (between[use] / (K - 1)) / (within[use] / (n - K))
    return scores


def signal_to_noise(X: Any, member: np.ndarray, perfect: float) -> np.ndarray:
    """|m1 - m2| / (s1 + s2) of the rows of a class (a mask) and the rest."""
    stats = ClassStats.from_data(X, member, form="rows")
    signal = np.abs((stats.means[1] - stats.means[0]) + (stats.tails[1] - stats.tails[0]))
    parts = [stats.rows.of_rows(np.flatnonzero(own)) for own in (member, ~member)]
    noise = sum(np.sqrt(part.squares() / len(part)) for part in parts)
    total = stats.within_variance() + np.square(stats.between_factor()).sum(axis=0)
    use = noise > np.sqrt(perfect * total)
    return np.divide(signal, noise, out=np.full_like(signal, np.inf), where=use)
