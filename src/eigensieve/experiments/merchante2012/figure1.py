"""Figure 1: Nakayama's tumours in the first two directions of GLOSS and of SLDA.

All 86 samples of the five largest classes, log2, standardised. The penalty is chosen by
cross-validation as in table 2 (ten folds and seven penalties for GLOSS, five and four for SLDA),
then the first two directions are found from all rows; the paper tells neither. As readings the
directions are found with smaller and larger penalties, too. Sun is not to be had.

The paper does not tell which tumours its groups are. Here 1 and 2 are the classes whose mean, in
all standardised genes, is farthest from the nearest mean of another class, the farthest first; 3 to
5 are the others by name.

Measures in the plane, none of which depends on its axes: with W the covariance within groups,

- confused: rows whose nearest mean (distances by W) is not theirs, with 3, 4, 5 taken as one
- separation of 3 to 5: trace(W^-1 B) of these groups alone, B the covariance of their means
- errors in 3 to 5: rows of these groups whose nearest mean among the three is not theirs

The columns "left out" have the same errors for rows that ten folds leave out, with the penalty that
was chosen.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from ...estimators.group_lasso_lda import GroupLassoLDA
from ...estimators.sparse_optimal_scoring import SparseOptimalScoring
from ...plots._style import FAINT, INK, legend_below, new_figure, style_of
from ..values import Measured, Place, Value
from ._genes import Fit, cross_validate, folds, load_tumours, slda_fit, standardise
from ._models import HALVES, choose, gloss_models

METHODS = ("GLOSS", "SLDA")
DIFFERENCE = "Nakayama: GLOSS less SLDA"
# of the figure, in points of print: a panel, the steps from a mean to its number, the room for one
PANEL, LENGTHS, ROOM = np.array([260.0, 220.0]), (16.0, 24.0, 32.0, 40.0), 11.0
APART = 2  # groups that are said to be well separated
CONFUSED, SEPARATION, ERRORS = "confused, %", "separation of 3 to 5", "errors in 3 to 5, %"
# readings: by how much the penalties are multiplied
PENALTIES = {"penalties by cross-validation": 1.0, "half of these": 0.5, "1.5 times these": 1.5}


def tasks(protocol: dict[str, Any]) -> list[dict[str, Any]]:
    """One method."""
    counts = {"GLOSS": protocol["folds"], "SLDA": protocol["slda_folds"]}
    same = {"genes": protocol["genes"], "penalties": protocol["penalties"]}
    return [{"method": m, "folds_to_choose": counts[m], **same} for m in ("SLDA", "GLOSS")]


def work(method: str, folds_to_choose: int, genes: int, penalties: int) -> dict[str, Any]:
    """The planes of all rows, and what comes of rows left out."""
    X, code, names = load_tumours("nakayama", genes)
    X, _ = standardise(X, X)
    group, names = number_groups(X, code, names)
    fit: Fit = gloss_models if method == "GLOSS" else slda_fit(penalties)
    place, _ = choose([errors for errors, _ in cross_validate(fit, X, group, folds_to_choose)])
    alpha = float(HALVES[place])
    planes = {}
    for name, factor in PENALTIES.items():
        plane, _, variables = project(method, factor * alpha, X, group, X)
        planes[name] = {"plane": plane, "variables": variables}
    guesses, inner = np.empty_like(group), np.empty_like(group)
    for train, left in folds(group, 10):
        own, other, _ = project(method, alpha, X[train], group[train], X[left])
        guesses[left] = nearest(own, group[train], other)
        inner[left] = nearest(*among_the_rest(own, group[train]), other)
    return {
        "method": method,
        "alpha": alpha,
        "planes": planes,
        "group": group,
        "names": names,
        "left out": [confused(group, guesses), wrong_in_the_rest(group, inner)],
    }


def number_groups(
    X: np.ndarray, code: np.ndarray, names: list[str]
) -> tuple[np.ndarray, list[str]]:
    """The classes renumbered: 0 and 1 are those farthest from any other, the rest by name."""
    means = np.array([X[code == k].mean(axis=0) for k in range(len(names))])
    apart = np.linalg.norm(means[:, None] - means, axis=2)
    np.fill_diagonal(apart, np.inf)
    far = np.argsort(-apart.min(axis=1), kind="stable")[:APART]
    order = [*far, *(k for k in range(len(names)) if k not in far)]
    return np.argsort(order)[code], [names[k] for k in order]


def project(
    method: str, alpha: float, X: np.ndarray, group: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray, int]:
    """Two coordinates of the rows, and of others; how many genes they use."""
    lda: GroupLassoLDA | SparseOptimalScoring
    if method == "GLOSS":
        lda = GroupLassoLDA(alpha=alpha, n_components=2)
    else:
        lda = SparseOptimalScoring(alpha=alpha, n_components=2)
    lda.fit(X, group)
    return lda.transform(X), lda.transform(other), int(lda.support_.sum())


def scatter(Z: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The groups that are there, their means, and the covariance within."""
    present, code = np.unique(group, return_inverse=True)
    means = np.array([Z[group == k].mean(axis=0) for k in present])
    rest = Z - means[code]
    return present, means, rest.T @ rest / len(Z)


def nearest(Z: np.ndarray, group: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The group of the nearest mean, by the covariance within."""
    present, means, within = scatter(Z, group)
    steps = other[:, None] - means
    return np.asarray(
        present[np.einsum("ikp,pq,ikq->ik", steps, np.linalg.inv(within), steps).argmin(axis=1)]
    )


def among_the_rest(Z: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows of groups 3 to 5."""
    return Z[group >= APART], group[group >= APART]


def confused(group: np.ndarray, guesses: np.ndarray) -> float:
    """Wrong guesses in percent, where groups 3 to 5 are one."""
    return float(100.0 * np.mean(np.minimum(group, APART) != np.minimum(guesses, APART)))


def wrong_in_the_rest(group: np.ndarray, guesses: np.ndarray) -> float:
    """Wrong guesses in percent, of the rows of groups 3 to 5."""
    rest = group >= APART
    return float(100.0 * np.mean(group[rest] != guesses[rest]))


def separation(Z: np.ndarray, group: np.ndarray) -> float:
    """trace(W^-1 B)."""
    _, _, within = scatter(Z, group)
    total = np.cov(Z.T, bias=True)
    return float(np.trace(np.linalg.solve(within, total - within)))


def measure(protocol: dict[str, Any], found: list[Any]) -> Measured:
    """The claims of the text, for each method and as differences, under every penalty."""
    runs = {run["method"]: run for run in found}
    every = [_cells(runs, reading) for reading in PENALTIES]
    readings = {
        place: {name: cells[place] for name, cells in zip(PENALTIES, every)} for place in every[0]
    }
    cells = dict(every[0])
    left_out = ("confused, left out, %", "errors in 3 to 5, left out, %")
    for method in METHODS:
        for column, value in zip(left_out, runs[method]["left out"]):
            cells[f"Nakayama: {method}", column] = Value(float(value))
    cells[DIFFERENCE, left_out[1]] = _difference(cells, left_out[1])
    names = ", ".join(f"{i + 1} {name}" for i, name in enumerate(runs["GLOSS"]["names"]))
    chosen = ", ".join(f"1/{1 / runs[m]['alpha']:g} of the largest for {m}" for m in METHODS)
    series = {
        method: {
            **run["planes"][next(iter(PENALTIES))],
            "group": run["group"],
            "names": run["names"],
        }
        for method, run in runs.items()
    }
    notes = [f"Groups: {names}.", f"Penalties chosen by cross-validation: {chosen}."]
    return Measured(cells, series, notes, readings)


def _cells(runs: dict[str, Any], reading: str) -> dict[Place, Value]:
    cells: dict[Place, Value] = {}
    for method in METHODS:
        shown = runs[method]["planes"][reading]
        Z, group = np.array(shown["plane"]), np.array(runs[method]["group"])
        rest = among_the_rest(Z, group)
        figures = {
            "variables": shown["variables"],
            CONFUSED: confused(group, nearest(Z, group, Z)),
            SEPARATION: separation(*rest),
            ERRORS: 100.0 * float(np.mean(nearest(*rest, rest[0]) != rest[1])),
        }
        for column, value in figures.items():
            cells[f"Nakayama: {method}", column] = Value(float(value))
    for column in (SEPARATION, ERRORS):
        cells[DIFFERENCE, column] = _difference(cells, column)
    return cells


def _difference(cells: dict[Place, Value], column: str) -> Value:
    first, second = (float(cells[f"Nakayama: {method}", column].value) for method in METHODS)
    return Value(first - second)


def draw(series: dict[str, Any]) -> Figure:
    """A panel for each method, one below the other; big squares are the means of the groups."""
    figure = new_figure(8.2)
    panels = figure.subplots(2, 1)
    for ax, method in zip(panels, METHODS):
        Z, group = np.array(series[method]["plane"]), np.array(series[method]["group"])
        handles = []
        for k in range(group.max() + 1):
            color, marker = style_of(k)["color"], style_of(k)["marker"]
            x, y = Z[group == k].T
            handles.append(ax.scatter(x, y, s=16, marker=marker, color=color, alpha=0.8, lw=0))
            ax.scatter(x.mean(), y.mean(), s=70, marker="s", color=color, edgecolors=INK, zorder=3)
        _number_means(ax, Z, scatter(Z, group)[1])
        ax.axhline(0.0, color=FAINT, lw=0.6, zorder=0)
        ax.axvline(0.0, color=FAINT, lw=0.6, zorder=0)
        ax.set_ylabel(f"{method}: second direction")
    panels[-1].set_xlabel("first direction")
    names = [f"{i + 1} {name}" for i, name in enumerate(series["GLOSS"]["names"])]
    legend_below(panels[-1], handles, names)
    return figure


def _number_means(ax: Axes, Z: np.ndarray, means: np.ndarray) -> None:
    """The numbers of the groups beside their means, joined to them by a line."""
    line = {"arrowstyle": "-", "color": INK, "lw": 0.8, "shrinkA": 0, "shrinkB": 0}
    place: dict[str, Any] = {"textcoords": "offset points", "ha": "center", "va": "center"}
    steps = clear_places(PANEL * Z / np.ptp(Z, axis=0), PANEL * means / np.ptp(Z, axis=0))
    for k, (mean, step) in enumerate(zip(means, steps), start=1):
        ax.annotate(str(k), mean, step, color=INK, zorder=5, arrowprops=line, **place)


def clear_places(points: np.ndarray, means: np.ndarray) -> np.ndarray:
    """For every mean a step to where the nearest point, mean or earlier step is far enough."""
    angles = np.arange(16) * np.pi / 8
    ring = np.column_stack([np.cos(angles), np.sin(angles)])
    steps = np.vstack([length * ring for length in LENGTHS])
    taken = np.vstack([points, means])
    chosen = []
    for mean in means:
        room = np.linalg.norm((mean + steps)[:, None] - taken, axis=2).min(axis=1)
        # of those with room enough the first, which is the shortest
        best = steps[np.minimum(room, ROOM).argmax()]
        chosen.append(best)
        taken = np.vstack([taken, mean + best])
    return np.array(chosen)
