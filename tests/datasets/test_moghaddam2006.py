"""The random pairs have the covariance of fractional Brownian motion, and the noise of 64 paths."""

from __future__ import annotations

import numpy as np
from scipy import integrate

from eigensieve.datasets.moghaddam2006 import brownian_covariances, draw_pairs

COUNT = 20_000


def mean_power(t: float) -> float:
    """The mean of t^2H, H uniform in [.1, .9], by quadrature."""
    return integrate.quad(lambda h: t ** (2 * h), 0.1, 0.9)[0] / 0.8 if t else 0.0


def expected_covariance(n: int) -> np.ndarray:
    """Of the process, over all exponents, times 63/64 for the mean that is taken off."""
    powers = [mean_power(float(t)) for t in range(n + 1)]
    C = [[(powers[s] + powers[t] - powers[abs(s - t)]) / 2 for t in range(1, n + 1)]
         for s in range(1, n + 1)]  # fmt: skip
    return 63 / 64 * np.array(C)


def assert_mean(draws: np.ndarray, expected: np.ndarray) -> None:
    """Every entry within five standard errors."""
    error = draws.std(axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(draws.mean(axis=0) - expected) <= 5 * error)


def test_the_mean_is_that_of_the_process() -> None:
    draws = brownian_covariances(COUNT, np.random.default_rng(0), n=6)
    assert draws.shape == (COUNT, 6, 6)
    assert np.array_equal(draws, draws.transpose(0, 2, 1))
    assert_mean(draws, expected_covariance(6))


def test_the_noise_is_that_of_64_paths() -> None:
    """At t = 1 the variance is 1 whatever the exponent: 64 times ours is chi-squared, 63 df."""
    variance = 64 * brownian_covariances(COUNT, np.random.default_rng(1), n=2)[:, 0, 0]
    spread = np.square(variance - 63)
    assert_mean(spread[:, None], np.array([2 * 63.0]))


def test_smoothness_varies_between_matrices() -> None:
    """The logarithm of the variance at t = 8 is 2 H log 8, and noise of standard deviation .18."""
    C = brownian_covariances(COUNT, np.random.default_rng(2), n=8)
    exponents = np.log(C[:, 7, 7] / C[:, 0, 0]) / (2 * np.log(8))
    assert abs(np.mean(exponents < 0.3) - 0.25) < 0.02
    assert abs(np.mean(exponents > 0.7) - 0.25) < 0.02


def test_a_pair_is_two_independent_draws() -> None:
    A, B = draw_pairs(COUNT, np.random.default_rng(3), n=4)
    for M in (A, B):
        assert_mean(M, expected_covariance(4))
    logs = [np.log(M[:, 3, 3]) for M in (A, B)]
    assert abs(np.corrcoef(*logs)[0, 1]) < 5 / np.sqrt(COUNT)


def test_rank_one_is_a_difference_of_means() -> None:
    A, B = draw_pairs(COUNT, np.random.default_rng(4), n=4, rank_one=True)
    diagonal = np.diagonal(A, axis1=1, axis2=2)
    assert np.allclose(A**2, diagonal[:, :, None] * diagonal[:, None, :])
    assert_mean(A, expected_covariance(4))
    assert np.array_equal(B, draw_pairs(COUNT, np.random.default_rng(4), n=4)[1])
