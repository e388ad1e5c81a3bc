"""The image experiment: patches, histograms and matches against plain loops."""

from __future__ import annotations

import colorsys
from itertools import permutations

import numpy as np
import pytest

from eigensieve.experiments.wolf2005 import images
from eigensieve.experiments.wolf2005.images import (
    BINS,
    PATCH,
    SIDE,
    TEMPLATES,
    best_matches,
    cut,
    histograms,
)


def histogram_by_hand(patch: np.ndarray) -> np.ndarray:
    """Pixel by pixel, with the standard library's conversion."""
    found = np.zeros(BINS)
    for pixel in patch.reshape(-1, 3):
        hsv = colorsys.rgb_to_hsv(*pixel)
        place = tuple(min(int(v * size), size - 1) for v, size in zip(hsv, BINS))
        found[place] += 1 / PATCH**2
    return found.ravel()


def test_cut_gives_the_patches_row_by_row() -> None:
    pictures = np.random.default_rng(0).random((2, SIDE, SIDE, 3))
    patches = cut(pictures)
    assert patches.shape == (2, 49, 20, 20, 3)
    np.testing.assert_array_equal(patches[1, 0], pictures[1, :20, :20])
    np.testing.assert_array_equal(patches[0, 9], pictures[0, 20:40, 40:60])


def test_templates_are_the_block_at_the_centre() -> None:
    pictures = np.random.default_rng(1).random((1, SIDE, SIDE, 3))
    block = pictures[0, 40:100, 40:100]  # 40 pixels on each side of 60
    expected = [block[i : i + 20, j : j + 20] for i in (0, 20, 40) for j in (0, 20, 40)]
    np.testing.assert_array_equal(cut(pictures)[0, TEMPLATES], expected)


def test_histograms_by_hand() -> None:
    patches = np.random.default_rng(2).random((3, 2, PATCH, PATCH, 3))
    patches[0, 0] = 1.0  # white: the last bin of value
    found = histograms(patches)
    assert found.shape == (3, 2, 128)
    for i, j in np.ndindex(3, 2):
        np.testing.assert_allclose(found[i, j], histogram_by_hand(patches[i, j]), atol=1e-12)


def test_best_matches_by_hand() -> None:
    rng = np.random.default_rng(3)
    # every patch has colours of its own, so that matches differ
    tints = rng.random((2, 7, 7, 3)).repeat(20, axis=1).repeat(20, axis=2)
    pictures = np.clip(tints + rng.normal(0.0, 0.1, size=tints.shape), 0.0, 1.0)
    found = best_matches(pictures)
    assert found.shape == (2, 18)
    by_hand = np.array([[histogram_by_hand(p) for p in own] for own in cut(pictures)])
    for picture, template in [(0, 0), (0, 13), (1, 4), (1, 17)]:
        owner, place = divmod(template, 9)
        wanted = by_hand[owner, TEMPLATES[place]]
        expected = min(np.abs(wanted - candidate).sum() for candidate in by_hand[picture])
        assert found[picture, template] == pytest.approx(expected, abs=1e-12)
    assert np.all(found[0, :9] == 0.0)  # a template is found in its own picture
    assert found[1, :9].max() > 0.1


def test_agreement_is_the_best_naming() -> None:
    rng = np.random.default_rng(4)
    for _ in range(10):
        y, found = rng.integers(0, 2, size=(2, 27))
        best = max(np.mean(np.array(names)[found] == y) for names in permutations((0, 1)))
        assert images.agreement(found, y) == pytest.approx(100 * best)


def test_gain_is_taken_collection_by_collection() -> None:
    """70 and 90 against 60 and 84: 8 points on average, with a standard error of 2."""
    one = {"selected": 70.0, "all": 60.0, "features": 9, "positive": 100.0, "high": 5.0}
    other = {**one, "selected": 90.0, "all": 84.0}
    found = [{**one, "shown": {}}, other] * 2
    cells = images.measure({"first": 18, "second": 9, "clusters": 2, "seeds": 2}, found).cells
    gain = cells["photographs", "selected less all, points"]
    assert (gain.value, gain.se) == (8.0, pytest.approx(2.0))


def test_pieces_come_from_the_photographs() -> None:
    pictures, y = images.collect("photographs", [2, 1], np.random.default_rng(5))
    assert pictures.shape == (3, SIDE, SIDE, 3)
    assert y.tolist() == [0, 0, 1]
    for picture, i in zip(pictures, y):
        photograph = images.load_sample_image(images.FILES[i])
        weights = np.array([1, 256, 65536])  # a number for every colour
        pixels = np.round(255 * picture).astype(int) @ weights
        assert np.isin(pixels, photograph.astype(int) @ weights).all()
    assert not np.array_equal(pictures[0], pictures[1])


def test_mosaic_puts_pictures_side_by_side() -> None:
    parts = np.random.default_rng(6).integers(1, 256, size=(5, 4, 4, 3), dtype=np.uint8)
    found = images.mosaic(parts, 3)
    assert found.shape == (10, 16, 4)
    np.testing.assert_array_equal(found[6:10, 6:10, :3], parts[4])
    assert int((found[..., 3] == 255).sum()) == 5 * 16
    assert not found[..., 3][:, 4:6].any()


def test_packed_pictures_come_back() -> None:
    parts = np.random.default_rng(7).integers(0, 256, size=(2, 6, 6, 3), dtype=np.uint8)
    np.testing.assert_array_equal(images._unpack(images._pack(parts / 255.0), 6), parts)
