"""The simulations of Witten & Tibshirani (2011) against exact means, covariances, Bayes errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from eigensieve.datasets.witten2011 import RELEVANT, SIMULATIONS, make_population
from eigensieve.errors import OptionError

AR = 0.6 ** np.abs(np.subtract.outer(np.arange(100), np.arange(100)))


def exact_bayes_error(simulation: int) -> float:
    """By the distances between the means alone."""
    if simulation == 1:  # the row has four independent scores, its own class 3.5 ahead
        own = 0.7 * np.sqrt(25)
        hit, _ = integrate.quad(lambda z: stats.norm.pdf(z - own) * stats.norm.cdf(z) ** 3, -10, 15)
        return float(1 - hit)
    if simulation == 2:
        ones = np.ones(100)
        return float(stats.norm.cdf(-0.6 * np.sqrt(ones @ np.linalg.solve(AR, ones)) / 2))
    # on a line, 10/3 apart: the outer classes err on one side, the inner ones on two
    return float((1 + 2 + 2 + 1) / 4 * stats.norm.cdf(-10 / 3 / 2))


@pytest.mark.parametrize(("simulation", "published"), [(1, 1.7), (2, 6.7), (3, 7.3)])
def test_bayes_errors(simulation: int, published: float) -> None:
    exact = exact_bayes_error(simulation)
    assert 100 * exact == pytest.approx(published, abs=0.35)
    rng = np.random.default_rng(1)
    population = make_population(simulation, rng)
    X, y = population.draw(8000, rng)
    found = np.mean(population.classify(X) != y)
    assert found == pytest.approx(exact, abs=3 * np.sqrt(exact * (1 - exact) / 8000))


@pytest.mark.parametrize("simulation", [2, 4])
def test_best_guesses_are_those_of_the_densities(simulation: int) -> None:
    rng = np.random.default_rng(2)
    population = make_population(simulation, rng)
    X, _ = population.draw(200, rng)
    covariance = np.kron(np.eye(5), AR) if simulation == 2 else np.eye(500)
    densities = [stats.multivariate_normal(m, covariance).logpdf(X) for m in population.means]
    assert population.classify(X).tolist() == np.argmax(densities, axis=0).tolist()


def test_means() -> None:
    means = {s: make_population(s, np.random.default_rng(3)).means for s in SIMULATIONS}
    assert [len(m) for m in means.values()] == [4, 2, 4, 4]
    for m in means.values():
        assert not m[:, ~RELEVANT].any()
    for k in range(4):
        own = np.arange(500) // 25 == k
        np.testing.assert_array_equal(means[1][k], 0.7 * own)
        np.testing.assert_allclose(means[3][k], k / 3 * RELEVANT)
        assert not means[4][k, ~own].any()
    np.testing.assert_array_equal(means[2], [np.zeros(500), 0.6 * RELEVANT])
    drawn = np.random.default_rng(3).normal(0.0, 0.3, 100)  # class by class
    np.testing.assert_array_equal(means[4].sum(axis=0)[:100], drawn)


@pytest.mark.parametrize("simulation", SIMULATIONS)
def test_rows_have_the_means_and_the_covariance(simulation: int) -> None:
    rng = np.random.default_rng(4)
    population = make_population(simulation, rng)
    X, y = population.draw(4000, rng)
    assert np.ptp(np.bincount(y)) == 0
    noise = X - population.means[y]
    covariance = np.kron(np.eye(5), AR) if simulation == 2 else np.eye(500)
    # entries have a standard error of sqrt(2 / 4000) = .022 at most; there are 250,000 of them
    np.testing.assert_allclose(noise.T @ noise / 4000, covariance, atol=0.13)
    assert np.abs(noise.mean(axis=0)).max() < 0.08


def test_unknown_simulation() -> None:
    with pytest.raises(OptionError, match="5; it must be one of 1, 2, 3, 4"):
        make_population(5, np.random.default_rng(0))
