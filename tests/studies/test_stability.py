"""Nogueira's index, literally, and by what it should mean."""

import numpy as np
import pytest

from eigensieve.studies.jobs import Findings
from eigensieve.studies.stability import selection_frequency, stability_index


def literal_index(Z: list[list[int]]) -> float:
    """Nogueira, Sechidis and Brown (2018): 1 - mean s_f^2 / (kbar/d (1 - kbar/d))."""
    M, d = len(Z), len(Z[0])
    total = 0.0
    for f in range(d):
        share = sum(row[f] for row in Z) / M
        total += M / (M - 1) * share * (1 - share)
    kbar = sum(map(sum, Z)) / M
    return 1 - total / d / (kbar / d * (1 - kbar / d))


def literal_variance(Z: list[list[int]]) -> float:
    M, d = len(Z), len(Z[0])
    kbar, phi = sum(map(sum, Z)) / M, literal_index(Z)
    each = []
    for row in Z:
        k = sum(row)
        cross = sum(row[f] * sum(other[f] for other in Z) / M for f in range(d)) / d
        term = phi / 2 * (2 * kbar * k / d**2 - k / d - kbar / d + 1)
        each.append((cross - k * kbar / d**2 + term) / (kbar / d * (1 - kbar / d)))
    mean = sum(each) / M
    return 4 / M**2 * sum((e - mean) ** 2 for e in each)


def draw(rng: np.random.Generator, M: int, chances: np.ndarray) -> np.ndarray:
    Z = rng.random((M, chances.size)) < chances
    Z[:, 0] |= ~Z.any(axis=1)  # no empty sets
    return Z


def index_of(Z: np.ndarray) -> tuple[float, float, float]:
    found = stability_index([np.flatnonzero(row).tolist() for row in Z], Z.shape[1], 3)
    return found.index, found.low, found.high


@pytest.mark.parametrize("seed", range(8))
def test_index_and_interval_are_the_formulas(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Z = draw(rng, int(rng.integers(2, 12)), rng.random(15) ** 2)
    index, low, high = index_of(Z)
    rows = Z.astype(int).tolist()
    assert index == pytest.approx(literal_index(rows), abs=1e-12)
    half = 1.959964 * np.sqrt(literal_variance(rows))
    assert low == pytest.approx(max(-1.0, index - half), abs=1e-6)
    assert high == pytest.approx(min(1.0, index + half), abs=1e-6)


def test_the_same_set_every_time() -> None:
    found = stability_index([[1, 4, 7]] * 5, 20, 3)
    assert found.k == 3
    np.testing.assert_allclose([found.index, found.low, found.high], 1.0, atol=1e-12)


def test_sets_drawn_at_random_are_at_zero() -> None:
    """Unbiased for sets of one size: the mean over 400 times 10 sets is 0 within 4 SE."""
    rng = np.random.default_rng(0)
    values = []
    for _ in range(400):
        supports = [rng.choice(50, size=5, replace=False).tolist() for _ in range(10)]
        values.append(stability_index(supports, 50, 5).index)
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(400)


def test_disjoint_sets_have_the_least_index() -> None:
    """-1 / (M - 1), if the sets together cover all features."""
    found = stability_index([[0, 1], [2, 3], [4, 5]], 6, 2)
    assert found.index == pytest.approx(-0.5)


def test_the_variance_is_that_of_new_resamples() -> None:
    """Standard errors from the formula, on average, against the spread of 400 indices."""
    rng = np.random.default_rng(0)
    chances = np.concatenate([[0.95, 0.9, 0.8, 0.5, 0.3], np.full(45, 0.04)])
    indices, halves = [], []
    for _ in range(400):
        index, low, _ = index_of(draw(rng, 60, chances))
        indices.append(index)
        halves.append((index - low) / 1.959964)
    assert np.sqrt(np.mean(np.square(halves))) == pytest.approx(np.std(indices), rel=0.2)


def test_the_interval_covers_the_index_of_many_resamples() -> None:
    rng = np.random.default_rng(1)
    chances = np.concatenate([[0.95, 0.9, 0.8, 0.5, 0.3], np.full(45, 0.04)])
    truth = index_of(draw(rng, 4000, chances))[0]
    covered = [low <= truth <= high for _, low, high in (
        index_of(draw(rng, 60, chances)) for _ in range(200)
    )]  # fmt: skip
    assert 0.88 <= np.mean(covered) <= 1.0


def test_nothing_is_known_of_one_set_or_of_all_features() -> None:
    assert np.isnan(stability_index([[1, 2]], 5, 2).index)
    assert np.isnan(stability_index([[0, 1, 2]] * 4, 3, 3).index)
    assert np.isnan(stability_index([[], []], 3, 0).low)


def test_frequency_follows_the_best_setting_of_every_size() -> None:
    def found(support: list[int]) -> dict:
        return {"predicted": [], "auc": None, "support": support, "early": False}

    outcomes: list[Findings] = [
        [[found([0]), found([0, 1])], [found([4]), found([4, 3])]],
        [[found([0]), found([0, 2])], [found([1]), found([4, 2])]],
    ]
    np.testing.assert_array_equal(
        selection_frequency(outcomes, [1, 0], 5), [[0, 0.5, 0, 0, 0.5], [1, 0.5, 0.5, 0, 0]]
    )
