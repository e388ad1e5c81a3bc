"""Patches of pictures, and how well those of one picture are found in another."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import rgb_to_hsv
from scipy.spatial.distance import cdist

PATCH = 20  # pixels
GRID = 7  # candidate patches a side: 49 cover a picture of 140 x 140 pixels
SIDE = PATCH * GRID
TEMPLATES = [GRID * row + column for row in (2, 3, 4) for column in (2, 3, 4)]
BINS = (8, 4, 4)  # of hue, saturation and value


def cut(pictures: np.ndarray) -> np.ndarray:
    """(n, 140, 140, 3) as patches (n, 49, 20, 20, 3), row by row."""
    n = len(pictures)
    blocks = pictures.reshape(n, GRID, PATCH, GRID, PATCH, 3).swapaxes(2, 3)
    return np.asarray(blocks.reshape(n, GRID * GRID, PATCH, PATCH, 3))


def histograms(patches: np.ndarray) -> np.ndarray:
    """Shares of the pixels (the last three axes are a patch) in the bins of HSV space."""
    hsv = rgb_to_hsv(patches)
    sizes = np.array(BINS)
    bins = np.minimum((hsv * sizes).astype(int), sizes - 1)  # a value of 1 is in the last bin
    flat = (bins[..., 0] * BINS[1] + bins[..., 1]) * BINS[2] + bins[..., 2]
    flat = flat.reshape(-1, PATCH * PATCH)
    n_bins = int(sizes.prod())
    shifted = flat + n_bins * np.arange(len(flat))[:, None]
    counts = np.bincount(shifted.ravel(), minlength=n_bins * len(flat))
    return np.asarray(counts.reshape(*patches.shape[:-3], n_bins) / flat.shape[1])


def best_matches(pictures: np.ndarray) -> np.ndarray:
    """How well each template of any picture is found in each picture.

    Templates are the 3 x 3 patches at the centre of every picture; the score is the least L1
    distance of its histogram to one of the 49 patches of the picture (0 in its own picture).

    Returns
    -------
    scores : array (n, 9 n): a row for every picture, nine columns for those of every picture
    """
    candidates = histograms(cut(pictures))
    templates = candidates[:, TEMPLATES].reshape(-1, candidates.shape[-1])
    distances = [cdist(templates, own, "cityblock").min(axis=1) for own in candidates]
    return np.array(distances)
