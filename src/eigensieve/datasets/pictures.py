"""Generated pictures of two kinds of animals, for the image experiment of Wolf & Shashua (2005).

They stand for photographs of toads and green frogs. How hard they are follows from one rule, set
before anything was measured: what belongs to the kind (the colours of skin and spots) varies by a
fifth of the difference between the kinds; what does not varies as far as pictures do: the colours
of the background have any hue, the animal is up to a patch off the centre and from a third to three
quarters of the picture long, and the light changes by more than a factor of two.
"""

from __future__ import annotations

import numpy as np

SIDE = 140  # pixels: seven patches of 20
TOAD, FROG = 0, 1
SKIN_HUES = (0.08, 0.28)  # brown, green
SPOT_HUES = (0.02, 0.22)  # of the spots, which are darker
HUE_SPREAD = 0.04  # a fifth of the difference
SHARE_OF_SPOTS = 0.3
SHIFT = 20.0
HALF_LENGTHS = (24.0, 52.0)
LIGHT = (0.6, 1.4)


def animal_pictures(
    n_toads: int, n_frogs: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of toads, then of frogs, each with a background of its own.

    Returns
    -------
    pictures : array (n_toads + n_frogs, 140, 140, 3), red, green and blue in [0, 1]
    y : array (n_toads + n_frogs,), 0 for toads and 1 for frogs

    Examples
    --------
    >>> pictures, y = animal_pictures(2, 1, np.random.default_rng(0))
    >>> pictures.shape, y.tolist()
    ((3, 140, 140, 3), [0, 0, 1])
    """
    y = np.repeat([TOAD, FROG], [n_toads, n_frogs])
    return np.array([_picture(int(kind), rng) for kind in y]).reshape(-1, SIDE, SIDE, 3), y


def to_rgb(hsv: np.ndarray) -> np.ndarray:
    """Hue, saturation and value (last axis) as red, green and blue; hues may lie beyond [0, 1].

    Examples
    --------
    >>> to_rgb(np.array([1 / 3, 1.0, 0.5])).round(6).tolist()
    [0.0, 0.5, 0.0]
    """
    hue, saturation, value = (hsv[..., i, None] for i in range(3))
    sector = (np.array([5.0, 3.0, 1.0]) + 6.0 * hue) % 6.0
    ramp = np.clip(np.minimum(sector, 4.0 - sector), 0.0, 1.0)
    return np.asarray(value * (1.0 - saturation * ramp))


def _picture(kind: int, rng: np.random.Generator) -> np.ndarray:
    hsv = _background(rng)
    body = _body(rng)
    spots = _smooth(rng, 14)
    spotted = body & (spots > np.quantile(spots, 1.0 - SHARE_OF_SPOTS))
    hsv[body] = _colour(SKIN_HUES[kind], 0.55, rng)
    hsv[spotted] = _colour(SPOT_HUES[kind], 0.3, rng)
    hsv[..., 0] += rng.normal(0.0, 0.02, size=(SIDE, SIDE))
    hsv[..., 2] += 0.1 * _smooth(rng, 10) + rng.normal(0.0, 0.05, size=(SIDE, SIDE))
    hsv[..., 2] *= rng.uniform(*LIGHT)
    hsv[..., 1:] = np.clip(hsv[..., 1:], 0.0, 1.0)
    return to_rgb(hsv)


def _colour(hue: float, value: float, rng: np.random.Generator) -> np.ndarray:
    """A colour of this animal: its kind's, give or take."""
    return np.array([rng.normal(hue, HUE_SPREAD), rng.uniform(0.5, 0.7), value])


def _background(rng: np.random.Generator) -> np.ndarray:
    """Four to seven regions (the pixels closest to a point), each of any colour."""
    n = int(rng.integers(4, 8))
    points = rng.uniform(0.0, SIDE, size=(n, 2))
    pixels = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"), axis=-1)
    distances = np.linalg.norm(pixels[:, :, None] - points, axis=-1)
    colours = rng.uniform([0.0, 0.1, 0.2], [1.0, 0.8, 0.9], size=(n, 3))
    return np.asarray(colours[np.argmin(distances, axis=-1)])


def _body(rng: np.random.Generator) -> np.ndarray:
    """The pixels of an ellipse near the centre, turned at random."""
    centre = (SIDE - 1) / 2 + rng.uniform(-SHIFT, SHIFT, size=2)
    length = rng.uniform(*HALF_LENGTHS)
    angle = rng.uniform(0.0, np.pi)
    across, down = np.meshgrid(np.arange(SIDE) - centre[0], np.arange(SIDE) - centre[1])
    along = np.cos(angle) * across + np.sin(angle) * down
    beside = np.cos(angle) * down - np.sin(angle) * across
    return np.asarray((along / length) ** 2 + (beside / (0.7 * length)) ** 2 < 1.0)


def _smooth(rng: np.random.Generator, cells: int) -> np.ndarray:
    """Normal noise on a grid of so many cells a side, joined linearly."""
    coarse = rng.normal(size=(cells + 1, cells + 1))
    place = np.linspace(0.0, cells, SIDE)
    rows = np.array([np.interp(place, np.arange(cells + 1), row) for row in coarse])
    return np.array([np.interp(place, np.arange(cells + 1), row) for row in rows.T]).T
