"""Figure 1: SRBCT on the first two sparse discriminant vectors of PLDA, SLDA and SULDA.

The samples of a split (as in Table 2), projected on the first two directions. The picture shows the
first of ten splits; judged are the means over all ten, as the paper does not tell its own split.
PLDA has two directions, its penalty chosen as in Table 2; SLDA and SULDA have three, of which the
first two are taken.

The claims as figures, of which none is defined in the paper. Two classes intersect if, in the
plane, the nearest other sample (training or test) of some sample of one is of the other: counted
are these samples. The spread of the training samples is the largest distance of one from its class
mean, as a share of the smallest distance of two class means. The paper does not say which class is
which: 1 = EWS, 2 = BL, 3 = NB, 4 = RMS is the order of the usual file of these data, which we have
not been able to check against the paper.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...plots._style import MARKERS, PALETTE, legend_below, new_figure
from ..values import Measured, Place, Value, mean_value
from ._common import fit_slda, fit_sulda, read_halves
from ._plda import fit_plda

CLASSES = ("EWS", "BL", "NB", "RMS")  # 1 to 4 of the paper
METHODS = ("PLDA", "SLDA", "SULDA")
RIVALS = ("PLDA", "SLDA")
PAIRS = ((1, 4), (3, 4))  # of which the paper says that they intersect
SPREAD, MIXED = "training spread", "samples in another class"


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One split each."""
    shared = {key: protocol[key] for key in ("multiples", "folds", "ridge")}
    return [{"seed": seed, **shared} for seed in range(protocol["splits"])]


def work(seed: int, multiples: list[float], folds: int, ridge: float) -> dict[str, Any]:
    """The projections of a split by every method, and their measures."""
    X, y, X_test, y_test = read_halves("SRBCT", seed)
    sulda = fit_sulda(X, y)
    fits: dict[str, Any] = {
        "PLDA": fit_plda(X, y, multiples, folds, seed, n_components=2),
        "SLDA": fit_slda(X, y, sulda, ridge),
        "SULDA": sulda,
    }
    planes, measures = {}, {}
    for method, lda in fits.items():
        Z, Z_test = (lda.transform(samples)[:, :2] for samples in (X, X_test))
        planes[method] = {"train": Z.tolist(), "test": Z_test.tolist()}
        counts = count_mixed(np.vstack([Z, Z_test]), np.concatenate([y, y_test]))
        measures[method] = {SPREAD: training_spread(Z, y), **counts}
    return {"train": y.tolist(), "test": y_test.tolist(), "planes": planes, "measures": measures}


def training_spread(Z: np.ndarray, y: np.ndarray) -> float:
    """The largest distance from the class mean over the smallest distance of two class means."""
    means = np.array([Z[y == label].mean(axis=0) for label in CLASSES])
    within = max(
        float(np.linalg.norm(Z[y == label] - mean, axis=1).max())
        for label, mean in zip(CLASSES, means)
    )
    return within / min(float(np.linalg.norm(a - b)) for a, b in combinations(means, 2))


def count_mixed(Z: np.ndarray, y: np.ndarray) -> dict[str, int]:
    """Samples whose nearest other sample is of another class: in all, and of the named pairs."""
    distances = np.linalg.norm(Z[:, None] - Z, axis=2)
    np.fill_diagonal(distances, np.inf)
    nearest = y[distances.argmin(axis=1)]
    counts = {MIXED: int(np.count_nonzero(nearest != y))}
    for i, j in PAIRS:
        a, b = CLASSES[i - 1], CLASSES[j - 1]
        mixed = ((y == a) & (nearest == b)) | ((y == b) & (nearest == a))
        counts[f"{i} with {j}"] = int(np.count_nonzero(mixed))
    return counts


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """The means of the measures over all splits, and those of the split that is drawn."""
    del protocol
    first = found[0]
    cells: dict[Place, Value] = {}
    for method in METHODS:
        for column in first["measures"][method]:
            values = [part["measures"][method][column] for part in found]
            cells[method, column] = mean_value(values)
    mixed = {m: np.array([part["measures"][m][MIXED] for part in found]) for m in METHODS}
    rival = min((mixed[m] for m in RIVALS), key=lambda counts: float(counts.mean()))
    cells["SULDA less the better of PLDA and SLDA", MIXED] = mean_value(mixed["SULDA"] - rival)
    for method in METHODS:
        for column, value in first["measures"][method].items():
            cells[f"{method}, the split drawn", column] = Value(float(value), n=1)
    return Measured(cells, {key: first[key] for key in ("train", "test", "planes")})


def draw(series: dict[str, Any]) -> Figure:
    """The three panels: training samples filled, test samples hollow."""
    figure = new_figure(8.4)
    panels = figure.subplots(len(METHODS))
    for ax, method in zip(panels, METHODS):
        for part in ("test", "train"):  # the training samples on top
            _scatter(ax, np.array(series["planes"][method][part]), series[part], part == "train")
        ax.set_title(method, fontsize=10, loc="left")
        ax.set_ylabel("second direction")
    panels[-1].set_xlabel("first direction")
    style: dict[str, Any] = {"linestyle": "", "markersize": 5.0}
    handles = [
        panels[-1].plot([], [], marker=m, color=c, **style)[0] for m, c in zip(MARKERS, PALETTE)
    ][: len(CLASSES)]
    hollow = panels[-1].plot([], [], marker="o", color="none", markeredgecolor=PALETTE[0], **style)
    labels = [f"{i} {label}" for i, label in enumerate(CLASSES, start=1)]
    legend_below(panels[-1], [*handles, hollow[0]], [*labels, "hollow: test"])
    return figure


def _scatter(ax: Axes, Z: np.ndarray, y: list[str], filled: bool) -> None:
    labels = np.array(y)
    for label, marker, color in zip(CLASSES, MARKERS, PALETTE):
        ours = labels == label
        ax.scatter(
            Z[ours, 0],
            Z[ours, 1],
            s=24,
            marker=marker,
            facecolor=color if filled else "none",
            edgecolor=color,
        )
