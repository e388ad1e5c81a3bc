"""The generated pictures: colours, and that only the animal tells the kinds apart."""

from __future__ import annotations

import colorsys

import numpy as np
import pytest
from matplotlib.colors import rgb_to_hsv

from eigensieve.datasets import pictures
from eigensieve.datasets.pictures import FROG, SIDE, TOAD, animal_pictures, to_rgb


def hues(image: np.ndarray) -> np.ndarray:
    return np.asarray(rgb_to_hsv(image)[..., 0])


def middle(kind: int, n: int, seed: int) -> np.ndarray:
    """Median hue of the 10 x 10 pixels at the centre of n pictures of a kind."""
    n_toads, n_frogs = (n, 0) if kind == TOAD else (0, n)
    found, _ = animal_pictures(n_toads, n_frogs, np.random.default_rng(seed))
    centre = slice(SIDE // 2 - 5, SIDE // 2 + 5)
    return np.array([np.median(hues(image[centre, centre])) for image in found])


def test_colours_are_those_of_the_standard_library() -> None:
    hsv = np.random.default_rng(0).random((50, 3))
    expected = [colorsys.hsv_to_rgb(*colour) for colour in hsv]
    np.testing.assert_allclose(to_rgb(hsv), expected, atol=1e-12)
    # hues go round: 1.2 is 0.2
    np.testing.assert_allclose(to_rgb(hsv + np.array([1.0, 0.0, 0.0])), expected, atol=1e-12)


def test_pictures_are_seeded_and_in_range() -> None:
    first, y = animal_pictures(3, 2, np.random.default_rng(4))
    again, _ = animal_pictures(3, 2, np.random.default_rng(4))
    other, _ = animal_pictures(3, 2, np.random.default_rng(5))
    assert first.shape == (5, SIDE, SIDE, 3)
    assert y.tolist() == [TOAD] * 3 + [FROG] * 2
    assert first.min() >= 0.0
    assert first.max() <= 1.0
    np.testing.assert_array_equal(first, again)
    assert np.abs(first - other).max() > 0.1


def test_no_picture_at_all() -> None:
    found, y = animal_pictures(0, 0, np.random.default_rng(0))
    assert found.shape == (0, SIDE, SIDE, 3)
    assert y.size == 0


@pytest.mark.parametrize("kind", [TOAD, FROG])
def test_the_centre_has_the_hue_of_the_kind(kind: int) -> None:
    """Skin or spot, within four deviations: the centre of every picture lies on the animal."""
    found = middle(kind, 20, seed=1)
    expected = np.array([pictures.SKIN_HUES[kind], pictures.SPOT_HUES[kind]])
    away = np.abs(found[:, None] - expected)
    away = np.minimum(away, 1.0 - away).min(axis=1)
    # an animal that is small and far off may leave the centre to the background
    assert np.mean(away < 4 * pictures.HUE_SPREAD) >= 0.8


def test_backgrounds_do_not_tell_the_kind() -> None:
    """Corners have hues all over the circle, for both kinds alike."""
    found, y = animal_pictures(30, 30, np.random.default_rng(2))
    corner = np.array([np.median(hues(image[:8, :8])) for image in found])
    for kind in (TOAD, FROG):
        counts = np.histogram(corner[y == kind], bins=3, range=(0.0, 1.0))[0]
        assert counts.min() >= 3, counts  # of 30, a third each is expected


def test_a_fifth_of_the_difference() -> None:
    """The rule that fixes how hard the pictures are."""
    for kinds in (pictures.SKIN_HUES, pictures.SPOT_HUES):
        assert pytest.approx((kinds[1] - kinds[0]) / 5) == pictures.HUE_SPREAD
