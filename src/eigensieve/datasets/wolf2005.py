"""Simulations of Wolf & Shashua (2005), section 6: samples x features, which features matter.

In ``N(m, v)`` of the paper v is read as a variance, except where a docstring says otherwise. For
the noise N(0, 20) the text leaves it open, and published errors do not tell: they come from
standardised features, on which its scale has no bearing.
"""

from __future__ import annotations

import math

import numpy as np

Labelled = tuple[np.ndarray, np.ndarray, np.ndarray]
NOISE_VARIANCE = 20.0
SESSION = 8


def weston_linear(n_samples: int, rng: np.random.Generator) -> Labelled:
    """Two classes, 6 of 202 features relevant (Weston et al., 2001).

    With probability .7 features 1, 2, 3 are y N(i, 1) and 4, 5, 6 are N(0, 1); else the other way
    round. The rest is N(0, 20).

    Returns
    -------
    X : array (n_samples, 202)
    y : array (n_samples,) of -1 and 1
    relevant : array (202,) of bool

    Examples
    --------
    >>> X, y, relevant = weston_linear(50, np.random.default_rng(0))
    >>> X.shape, int(relevant.sum())
    ((50, 202), 6)
    """
    y = rng.choice([-1, 1], size=n_samples)
    X = rng.normal(0.0, math.sqrt(NOISE_VARIANCE), size=(n_samples, 202))
    means = np.zeros((n_samples, 6))
    first = rng.random(n_samples) < 0.7
    means[first, :3] = means[~first, 3:] = [1.0, 2.0, 3.0]
    X[:, :6] = y[:, None] * means + rng.normal(size=means.shape)
    return X, y, np.arange(202) < 6


def weston_nonlinear(n_samples: int, rng: np.random.Generator) -> Labelled:
    """Two classes of two clusters each, 2 of 52 features relevant (Weston et al., 2001).

    Clusters are N(mean, I), with the means (-3/4, -3) and (3/4, 3) for y = 1, (3, -3) and (-3, 3)
    for y = -1. The rest is N(0, 20).

    Returns
    -------
    X : array (n_samples, 52)
    y : array (n_samples,) of -1 and 1
    relevant : array (52,) of bool

    Examples
    --------
    >>> X, y, relevant = weston_nonlinear(50, np.random.default_rng(0))
    >>> X.shape, int(relevant.sum())
    ((50, 52), 2)
    """
    y = rng.choice([-1, 1], size=n_samples)
    X = rng.normal(0.0, math.sqrt(NOISE_VARIANCE), size=(n_samples, 52))
    means = np.where(y[:, None] == 1, [0.75, 3.0], [-3.0, 3.0])
    X[:, :2] = rng.choice([-1, 1], size=(n_samples, 1)) * means + rng.normal(size=(n_samples, 2))
    return X, y, np.arange(52) < 2


def clusters_in_noise(n_clusters: int, rng: np.random.Generator) -> Labelled:
    """Clusters in 5 of 125 features: the problem of figure 3(b).

    ceil(60 / n_clusters) samples each, centres uniform in [-1, 1], variances in [0, .02]. The other
    120 features are drawn alike; a permutation of the samples for each breaks what they share.

    Returns
    -------
    X : array (n_samples, 125)
    y : array (n_samples,), the cluster
    relevant : array (125,) of bool

    Examples
    --------
    >>> X, y, relevant = clusters_in_noise(4, np.random.default_rng(0))
    >>> X.shape, np.bincount(y).tolist()
    ((60, 125), [15, 15, 15, 15])
    """
    y = np.repeat(np.arange(n_clusters), math.ceil(60 / n_clusters))
    centres = rng.uniform(-1.0, 1.0, size=(n_clusters, 125))
    variances = rng.uniform(0.0, 0.02, size=(n_clusters, 125))
    X = rng.normal(centres[y], np.sqrt(variances[y]))
    X[:, 5:] = rng.permuted(X[:, 5:], axis=0)
    return X, y, np.arange(125) < 5


def hidden_sessions(spread: float, rng: np.random.Generator) -> Labelled:
    """Three clusters in 12 of 60 features, behind a hidden sign for every session of 8 samples.

    Centres are uniform in [0, 1], variances in [spread, 2 spread]; the other 48 features are drawn
    alike, and the samples of each permuted. Features are centred and brought to unit norm *before*
    the signs, which are drawn for each feature and session: do not centre again. Samples are in
    random order, or sessions would lie within clusters.

    Returns
    -------
    X : array (120, 60)
    y : array (120,), the cluster
    relevant : array (60,) of bool

    Examples
    --------
    >>> X, y, relevant = hidden_sessions(0.01, np.random.default_rng(0))
    >>> X.shape, int(relevant.sum())
    ((120, 60), 12)
    """
    y = rng.permutation(np.repeat(np.arange(3), 40))
    centres = rng.uniform(0.0, 1.0, size=(3, 60))
    variances = rng.uniform(spread, 2 * spread, size=(3, 60))
    X = rng.normal(centres[y], np.sqrt(variances[y]))
    X[:, 12:] = rng.permuted(X[:, 12:], axis=0)
    X -= X.mean(axis=0)
    X /= np.linalg.norm(X, axis=0)
    signs = rng.choice([-1.0, 1.0], size=(len(X) // SESSION, 60))
    return X * np.repeat(signs, SESSION, axis=0), y, np.arange(60) < 12


def ben_dor(
    rng: np.random.Generator,
    m: int = 600,
    a: int = 25,
    b: int = 47,
    e: float = 0.72,
    d: float = 555.0,
    s: float = 0.75,
) -> Labelled:
    """Gene expressions of two classes (Ben-Dor et al., 2001); the defaults are for leukemia.

    A share 1 - e of the m features has, in each class, a mean uniform in [-1.5 d, 1.5 d] and a
    standard deviation of s times it; the others are N(0, s), here s too is a standard deviation.

    Returns
    -------
    X : array (a + b, m)
    y : array (a + b,) of 0 and 1
    relevant : array (m,) of bool

    Examples
    --------
    >>> X, y, relevant = ben_dor(np.random.default_rng(0))
    >>> X.shape, int(relevant.sum())
    ((72, 600), 168)
    """
    y = np.repeat([0, 1], [a, b])
    relevant = np.arange(m) < m - round(e * m)
    means = rng.uniform(-1.5 * d, 1.5 * d, size=(2, m))
    X = rng.normal(means[y], s * np.abs(means[y]))
    X[:, ~relevant] = rng.normal(0.0, s, size=(a + b, int(np.sum(~relevant))))
    return X, y, relevant


def positive_mean_matrix(
    n: int, mean: float, deviation: float, rng: np.random.Generator
) -> np.ndarray:
    """A symmetric matrix of independent N(mean, deviation^2): figure 2(a) counts how often its
    leading eigenvector is positive.

    Examples
    --------
    >>> G = positive_mean_matrix(25, 1 / 6, 2**0.5 / 6, np.random.default_rng(0))
    >>> v = np.linalg.eigh(G)[1][:, -1]
    >>> bool(np.all(v * np.sign(v.sum()) > 0))
    True
    """
    G = rng.normal(mean, deviation, size=(n, n))
    return np.asarray(np.triu(G) + np.triu(G, 1).T)
