"""Figures 4 and 5: pictures of two kinds told apart without labels.

27 pictures (18 of one kind, 9 of the other). The nine patches of 20 x 20 pixels at the centre of
each are templates: 243 features. Each is matched with the 49 patches of every picture by the L1
distance of colour histograms in HSV space, and the best match is the picture's score. Q-alpha with
k = 2 weighs the features, and spectral clusters (k-means of the two leading eigenvectors) of the
selected ones are compared with those of all: percent of pictures in the right cluster, the better
of the two ways to name the clusters.

The photographs (CalPhotos) cannot be had. For them stand generated animals, and pieces cut at
random places and scales from the two photographs that come with scikit-learn (a Chinese temple and
a flower). Not told by the paper, chosen beforehand: 8 x 4 x 4 bins; features centred and of unit
norm; as many selected as the best split of the weights into two groups says ("auto").
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from matplotlib.colors import rgb_to_hsv
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from sklearn.datasets import load_sample_image

from ...datasets.pictures import animal_pictures
from ...estimators.clustering import spectral_clusters
from ...estimators.qalpha_selector import QAlphaSelector
from ...plots._style import INK, PALETTE, new_figure
from ..values import Measured, mean_value

KINDS = {"animals": ("toads", "frogs"), "photographs": ("temple", "flower")}
FILES = ("china.jpg", "flower.jpg")
LARGEST = 420  # pixels a side that a piece of a photograph may have; 427 are there
SHOWN_TEMPLATES, A_ROW, GAP = 20, 10, 2
SHOWN_PICTURES = 3
ROUND_OFF = 1e-9  # of a weight, relative to the largest


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One for every collection of pictures."""
    sizes = [protocol["first"], protocol["second"]]
    return [
        {"kind": kind, "seed": seed, "sizes": sizes, "clusters": protocol["clusters"]}
        for kind in KINDS
        for seed in range(protocol["seeds"])
    ]


def work(kind: str, seed: int, sizes: list[int], clusters: int) -> dict[str, Any]:
    """Percent of pictures in the right cluster; the first collection is also shown."""
    pictures, y = collect(kind, sizes, np.random.default_rng(seed))
    X = best_matches(pictures)
    selector = QAlphaSelector(n_clusters=clusters, random_state=0).fit(X)
    alpha = selector.alpha_
    found: dict[str, Any] = {
        "selected": agreement(spectral_clusters(selector.transform(X), 2), y),
        "all": agreement(spectral_clusters(X, 2), y),
        "features": int(selector.support_.sum()),
        "positive": 100.0 * float(np.mean(alpha >= -ROUND_OFF * alpha.max())),
        "high": 100.0 * float(np.mean(alpha > 0.5 * alpha.max())),
    }
    if seed == 0:
        found["shown"] = _shown(pictures, y, alpha)
    return found


def collect(kind: str, sizes: list[int], rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A collection: so many pictures of the first kind, so many of the second."""
    if kind == "animals":
        return animal_pictures(sizes[0], sizes[1], rng)
    y = np.repeat([0, 1], sizes)
    photographs = [load_sample_image(name) / 255.0 for name in FILES]
    return np.array([_piece(photographs[i], rng) for i in y]), y


def _piece(photograph: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A square of random place and size, brought to the size of a picture."""
    side = int(rng.integers(SIDE, LARGEST + 1))
    top, left = (int(rng.integers(0, length - side + 1)) for length in photograph.shape[:2])
    pixels = np.arange(SIDE) * side // SIDE
    return np.asarray(photograph[np.ix_(top + pixels, left + pixels)])


def agreement(found: np.ndarray, y: np.ndarray) -> float:
    """Percent of labels 0 and 1 that agree, the two clusters named in the better way.

    Examples
    --------
    >>> agreement(np.array([1, 1, 1, 0]), np.array([0, 0, 1, 1]))
    75.0
    """
    same = float(np.mean(found == y))
    return 100.0 * max(same, 1.0 - same)


def _shown(pictures: np.ndarray, y: np.ndarray, alpha: np.ndarray) -> dict[str, Any]:
    """The first pictures of each kind, its templates with the largest weights, the weights."""
    patches = cut(pictures)[:, TEMPLATES].reshape(-1, PATCH, PATCH, 3)
    kind_of = np.repeat(y, len(TEMPLATES))
    ranked = np.argsort(-alpha, kind="stable")
    templates, samples = [], []
    for kind in (0, 1):
        best = ranked[kind_of[ranked] == kind][:SHOWN_TEMPLATES]
        templates.append(_pack(patches[best]))
        samples.append(_pack(pictures[y == kind][:SHOWN_PICTURES, ::2, ::2]))
    return {"templates": templates, "pictures": samples, "alpha": alpha[ranked].tolist()}


def _pack(images: np.ndarray) -> str:
    """Square pictures as text: a byte for each colour of a pixel."""
    return base64.b64encode(np.round(255.0 * images).astype(np.uint8).tobytes()).decode("ascii")


def _unpack(text: str, side: int) -> np.ndarray:
    packed = np.frombuffer(base64.b64decode(text), dtype=np.uint8)
    return packed.reshape(-1, side, side, 3)


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """Means over the collections."""
    cells, notes = {}, []
    series: dict[str, Any] = {}
    for kind, names in KINDS.items():
        runs = [r for task, r in zip(tasks(protocol), found) if task["kind"] == kind]
        cells[kind, "selected features, %"] = mean_value([r["selected"] for r in runs])
        cells[kind, "all features, %"] = mean_value([r["all"] for r in runs])
        cells[kind, "weights >= 0, %"] = mean_value([r["positive"] for r in runs])
        cells[kind, "weights > half the largest, %"] = mean_value([r["high"] for r in runs])
        cells[kind, "features selected"] = mean_value([r["features"] for r in runs])
        gains = np.array([r["selected"] - r["all"] for r in runs])
        cells[kind, "selected less all, points"] = mean_value(gains)
        notes.append(
            f"{kind.capitalize()} ({names[0]} and {names[1]}): the selected features are better in "
            f"{np.sum(gains > 0)} of {len(runs)} collections, worse in {np.sum(gains < 0)}."
        )
        series[kind] = runs[0]["shown"]
    larger = 100.0 * protocol["first"] / (protocol["first"] + protocol["second"])
    notes.append(f"To put all pictures into one cluster would be right for {larger:.1f}\u00a0%.")
    return Measured(cells, series, notes)


def draw(series: dict[str, Any]) -> Figure:
    """Pictures of both kinds, the templates with the largest weights, the sorted weights."""
    figure = new_figure(8.4)
    grid = figure.add_gridspec(8, 1, height_ratios=[1.1, 0.85, 0.85, 1.3] * 2)
    letters = iter("abcdef")
    for block, (kind, names) in enumerate(KINDS.items()):
        shown = series[kind]
        axes = [figure.add_subplot(grid[4 * block + i]) for i in range(4)]
        samples = np.concatenate([_unpack(text, SIDE // 2) for text in shown["pictures"]])
        # not interpolated: an SVG file then keeps the pixels as they are, and stays small
        axes[0].imshow(mosaic(samples, len(samples)), interpolation="none")
        axes[0].set_title(f"pictures: {names[0]}, {names[1]}", fontsize=10, loc="left")
        for ax, name, text in zip(axes[1:], names, shown["templates"]):
            ax.imshow(mosaic(_unpack(text, PATCH), A_ROW), interpolation="none")
            title = f"({next(letters)}) first {SHOWN_TEMPLATES} templates: {name}"
            ax.set_title(title, fontsize=10, loc="left")
        for ax in axes[:3]:
            ax.set_axis_off()
            ax.set_anchor("W")
        axes[3].plot(shown["alpha"], ".", color=PALETTE[0], markersize=3)
        axes[3].axhline(0.0, color=INK, linewidth=0.6)
        axes[3].set_title(f"({next(letters)}) sorted weights", fontsize=10, loc="left")
        axes[3].set(xlabel="templates, by weight", ylabel="weight")
    return figure


def mosaic(images: np.ndarray, columns: int) -> np.ndarray:
    """Square images (n, side, side, 3) side by side as one; what lies between is clear."""
    n, side = images.shape[:2]
    step = side + GAP
    rows = -(-n // columns)
    canvas = np.zeros((rows * step - GAP, columns * step - GAP, 4), dtype=np.uint8)
    for i, image in enumerate(images):
        top, left = (step * place for place in divmod(i, columns))
        canvas[top : top + side, left : left + side, :3] = image
        canvas[top : top + side, left : left + side, 3] = 255
    return canvas


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
