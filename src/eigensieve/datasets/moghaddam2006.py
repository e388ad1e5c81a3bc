"""Random pairs of covariances, as in the Monte Carlo of Moghaddam, Weiss & Avidan (2006), 3.1.

The paper tells of "synthetic stochastic Brownian processes of various degrees of smoothness", and
no more. Here a process is fractional Brownian motion at the times 1 ... n, its Hurst exponent
uniform in [.1, .9] (rough to smooth; .5 is Brownian motion itself), and a covariance matrix is that
of some sampled paths, 64 if nothing else is said. How many decides how far greedy search falls
behind: the fewer, the farther.
"""

from __future__ import annotations

import numpy as np

HURST = (0.1, 0.9)
PATHS = 64


def brownian_covariances(
    count: int, rng: np.random.Generator, n: int = 16, *, paths: int = PATHS
) -> np.ndarray:
    """Sample covariances (count, n, n) of fractional Brownian motion, each of its own smoothness.

    Centred, with the number of paths for divisor: positive definite where that is above n.

    Examples
    --------
    >>> C = brownian_covariances(3, np.random.default_rng(0))
    >>> C.shape, bool(np.linalg.eigvalsh(C).min() > 0)
    ((3, 16, 16), True)
    """
    twice = 2 * rng.uniform(*HURST, size=(count, 1, 1))
    t = np.arange(1.0, n + 1)
    C = (t[:, None] ** twice + t**twice - np.abs(t[:, None] - t) ** twice) / 2
    X = rng.normal(size=(count, paths, n)) @ np.linalg.cholesky(C).transpose(0, 2, 1)
    X -= X.mean(axis=1, keepdims=True)
    return np.asarray(X.transpose(0, 2, 1) @ X / paths)


def draw_pairs(
    count: int,
    rng: np.random.Generator,
    n: int = 16,
    *,
    rank_one: bool = False,
    paths: int = PATHS,
) -> tuple[np.ndarray, np.ndarray]:
    """Pairs (A, B) of covariances.

    With ``rank_one`` A is dd' for a difference d of two class means, drawn from N(0, A): the case
    of two classes.

    Returns
    -------
    A, B : arrays (count, n, n)

    Examples
    --------
    >>> A, B = draw_pairs(5, np.random.default_rng(0), rank_one=True)
    >>> np.linalg.matrix_rank(A).tolist()
    [1, 1, 1, 1, 1]
    """
    A, B = (brownian_covariances(count, rng, n, paths=paths) for _ in range(2))
    if rank_one:
        d = np.linalg.cholesky(A) @ rng.normal(size=(count, n, 1))
        A = d @ d.transpose(0, 2, 1)
    return A, B
