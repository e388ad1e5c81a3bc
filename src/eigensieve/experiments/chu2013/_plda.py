"""PLDA with its penalty, and its number of directions, chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import InputError
from ...estimators.penalized_lda import PenalizedLDA


def fit_plda(
    X: np.ndarray,
    y: np.ndarray,
    multiples: Sequence[float],
    folds: int,
    seed: int,
    n_components: int | None = None,
) -> PenalizedLDA:
    """The penalty (times 1/sqrt(p)) and the number of directions with the fewest errors.

    Of equals the largest penalty, then the fewest directions. A penalty that leaves no direction of
    all samples is out; one that leaves none of a fold's has all its left-out samples wrong. A
    number of directions that is given is not chosen.
    """
    usable = [c for c in sorted(multiples, reverse=True) if fit_or_none(X, y, c) is not None]
    most = np.unique(y).size - 1
    wrong = np.zeros((len(usable), most), dtype=int)
    dealt = deal(y, folds, seed)
    for fold in range(folds):
        out = dealt == fold
        for i, multiple in enumerate(usable):
            wrong[i] += count_wrong(X[~out], y[~out], X[out], y[out], multiple, most)
    choices = range(most) if n_components is None else [n_components - 1]
    best = min(((i, m) for i in range(len(usable)) for m in choices), key=lambda at: wrong[at])
    return PenalizedLDA(usable[best[0]] / np.sqrt(X.shape[1]), n_components=best[1] + 1).fit(X, y)


def fit_or_none(X: np.ndarray, y: np.ndarray, multiple: float) -> PenalizedLDA | None:
    """All directions that the penalty leaves; None if it leaves none."""
    try:
        return PenalizedLDA(multiple / np.sqrt(X.shape[1])).fit(X, y)
    except InputError:
        if multiple <= 1.0:  # nothing can vanish: the trouble is another
            raise
        return None


def deal(y: np.ndarray, folds: int, seed: int) -> np.ndarray:
    """The fold of every sample: each class in random order, dealt out in turn.

    Examples
    --------
    >>> import numpy as np
    >>> from eigensieve.experiments.chu2013._plda import deal
    >>> np.bincount(deal(np.repeat(["a", "b"], [5, 3]), 4, seed=0)).tolist()
    [2, 2, 2, 2]
    """
    rng = np.random.default_rng(seed)
    order = np.concatenate([rng.permutation(np.flatnonzero(y == label)) for label in np.unique(y)])
    dealt = np.empty(len(y), dtype=int)
    dealt[order] = np.arange(len(y)) % folds
    return dealt


def count_wrong(
    X: np.ndarray, y: np.ndarray, X_out: np.ndarray, y_out: np.ndarray, multiple: float, most: int
) -> np.ndarray:
    """Left-out samples that the nearest class mean gets wrong, with 1, 2, ... directions (most,).

    Where the penalty leaves fewer directions all that there are count.
    """
    lda = fit_or_none(X, y, multiple)
    if lda is None:
        return np.full(most, len(y_out))
    Z, Z_out = lda.transform(X), lda.transform(X_out)
    labels = np.unique(y)
    means = np.array([Z[y == label].mean(axis=0) for label in labels])
    # distances with the first direction, the first two, ...
    distances = np.square(Z_out[:, None, :] - means).cumsum(axis=2)
    wrong = (labels[distances.argmin(axis=1)] != y_out[:, None]).sum(axis=0)
    return wrong[np.minimum(np.arange(most), lda.n_components_ - 1)]
