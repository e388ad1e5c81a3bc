"""How many features to keep: against thresholds tried one by one in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from eigensieve.q_alpha.weight_cut import FLOOR, count_relevant


def profiles() -> list[np.ndarray]:
    """Weights in no order: clear gaps, noise, ties, negatives, few and many."""
    found = []
    for seed in range(120):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 40))
        alpha = rng.exponential(size=n)
        alpha[: int(rng.integers(0, n))] += 3.0 * (seed % 3)
        if seed % 4 == 1:
            alpha = np.round(alpha, 1)  # ties, and zeros
        if seed % 4 == 2:
            alpha -= alpha.mean()
        found.append(rng.permutation(alpha) / np.linalg.norm(alpha))
    return found


def falling(alpha: np.ndarray) -> list[Fraction]:
    """Negative weights count as none."""
    return sorted((Fraction(max(float(a), 0.0)) for a in alpha), reverse=True)


def within(group: list[Fraction]) -> Fraction:
    mean = sum(group) / len(group)
    return sum(((x - mean) ** 2 for x in group), Fraction(0))


def otsu(alpha: np.ndarray) -> int:
    """The count with the least sum of squares within the two groups; the smallest of equals."""
    w = falling(alpha)
    return min(range(1, len(w)), key=lambda c: within(w[:c]) + within(w[c:]))


def ratio(alpha: np.ndarray) -> int:
    floor = float(max(falling(alpha))) * FLOOR
    w = [max(float(x), floor) for x in falling(alpha)]
    return max(range(1, len(w)), key=lambda c: w[c - 1] / w[c])


def energy(alpha: np.ndarray, share: float) -> int:
    squares = [x * x for x in falling(alpha)]
    enough = Fraction(share) * sum(squares)
    return next(c for c in range(1, len(squares) + 1) if sum(squares[:c]) >= enough)


# -- brute force -----------------------------------------------------------------------------


def test_otsu_is_the_best_threshold() -> None:
    for i, alpha in enumerate(profiles()):
        assert count_relevant(alpha, "otsu", 0.9) == otsu(alpha), i


def test_the_largest_ratio() -> None:
    for i, alpha in enumerate(profiles()):
        assert count_relevant(alpha, "ratio", 0.9) == ratio(alpha), i


@pytest.mark.parametrize("share", [1e-6, 0.3, 0.5, 0.9, 0.999])
def test_the_fewest_features_with_the_energy(share: float) -> None:
    for i, alpha in enumerate(profiles()):
        assert count_relevant(alpha, "energy", share) == energy(alpha, share), i


def test_all_of_the_energy() -> None:
    for alpha in ([0.8, 0.6], [0.6, 0.8, 0.0], [0.6, -0.5, 0.8, 0.0], [1.0, 0.0]):
        assert count_relevant(np.array(alpha), "energy", 1.0) == sum(a > 0 for a in alpha)


# -- by hand ---------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", ["otsu", "ratio", "energy"])
def test_one_feature(cut: str) -> None:
    assert count_relevant(np.array([1.0]), cut, 0.9) == 1


def test_a_clear_gap() -> None:
    alpha = np.array([0.01, 0.5, 0.02, 0.48, 0.0, 0.52, -0.3])
    assert [count_relevant(alpha, cut, 0.99) for cut in ("otsu", "ratio", "energy")] == [3, 3, 3]


def test_negative_weights_count_as_none() -> None:
    """Their size is no relevance: the second group is what is not above zero."""
    alpha = np.array([0.5, 0.4, -0.5, -0.4, -0.2])
    for cut in ("otsu", "ratio", "energy"):
        assert count_relevant(alpha, cut, 0.99) == 2
        assert count_relevant(np.maximum(alpha, 0.0), cut, 0.99) == 2


def test_ratios_of_noise_do_not_count() -> None:
    """1e-9 to 1e-15 is the larger ratio, of two weights that are both nothing."""
    assert count_relevant(np.array([0.9, 0.4, 1e-9, 1e-15]), "ratio", 0.9) == 2


@pytest.mark.parametrize("cut", ["otsu", "ratio"])
def test_ties_are_not_parted(cut: str) -> None:
    """Wherever weights differ at all, both cuts fall between two that differ."""
    for alpha in profiles()[1::4]:
        w = np.sort(np.maximum(alpha, 0.0))[::-1]
        count = count_relevant(alpha, cut, 0.9)
        assert w[count - 1] > w[count]


@pytest.mark.parametrize("cut", ["otsu", "ratio"])
def test_equal_weights_have_no_gap(cut: str) -> None:
    """Every cut is as good: the count must not be one of round-off, different for every n."""
    counts = {count_relevant(np.full(n, n**-0.5), cut, 0.9) for n in range(2, 60)}
    assert counts == {1}


def test_half_of_the_energy_of_equal_weights() -> None:
    for n in range(2, 60, 2):
        assert count_relevant(np.full(n, n**-0.5), "energy", 0.5) == n // 2


def test_the_weights_are_not_changed_and_their_dtype_does_not_matter() -> None:
    for alpha in profiles()[::10]:
        before = alpha.copy()
        for cut in ("otsu", "ratio", "energy"):
            count = count_relevant(alpha, cut, 0.9)
            single = count_relevant(alpha.astype(np.float32), cut, 0.9)
            assert single == count_relevant(alpha.astype(np.float32).astype(float), cut, 0.9)
            assert count == count_relevant(1e-3 * alpha, cut, 0.9)
        assert np.array_equal(alpha, before)
