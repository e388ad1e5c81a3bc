"""Features that take each other's place, as a graph on a circle."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import PathPatch
from matplotlib.path import Path

from ..plots._style import INK, PALETTE, house_style, new_figure, plain, short_names
from ..search.near_optimal.sets import NearOptimalSets

MAX_EDGES = 30
HEIGHT = 4.2  # inches
ROOM = 1.75  # of the picture, where the circle has the radius 1: the rest is for the names
NAME = 16  # characters
WIDEST = 4.0  # points, of a line


class ExchangeDisplay:
    """A dot for every feature, a line between two that differ between a pair of panels.

    The wider the line, the more pairs; features that are linked lie near each other.

    Parameters
    ----------
    found : NearOptimalSets

    Attributes
    ----------
    figure_ : where it was drawn
    features : the features, in their order on the circle
    edges : the exchanges that are drawn, the most frequent ones
    """

    def __init__(self, found: NearOptimalSets) -> None:
        self.found = found
        self.edges = found.exchanges[:MAX_EDGES]
        self.features = _around(self.edges)

    def plot(self) -> ExchangeDisplay:
        """Draw on a new figure."""
        angles = 2 * np.pi * np.arange(len(self.features)) / max(1, len(self.features))
        places = np.column_stack([np.cos(angles), np.sin(angles)])
        with house_style():
            self.figure_ = new_figure(HEIGHT)
            ax = self.figure_.add_subplot()
            ax.set_axis_off()
            ax.set_aspect("equal")
            ax.set_xlim(-ROOM, ROOM)
            ax.set_ylim(-ROOM, ROOM)
            self._draw_edges(ax, places)
            self._draw_features(ax, places, angles)
        return self

    def _draw_edges(self, ax: Axes, places: np.ndarray) -> None:
        place = {j: places[i] for i, j in enumerate(self.features)}
        most = max(edge.n_pairs for edge in self.edges)
        for edge in reversed(self.edges):
            ends = place[edge.one], place[edge.other]
            # bent towards the middle: neighbours' lines do not run along the circle
            path = Path([ends[0], 0.25 * (ends[0] + ends[1]), ends[1]], [1, 3, 3])
            width = 0.6 + (WIDEST - 0.6) * edge.n_pairs / most
            line: Any = PathPatch(path, fill=False, lw=width, ec=PALETTE[0], alpha=0.55)
            ax.add_patch(line)

    def _draw_features(self, ax: Axes, places: np.ndarray, angles: np.ndarray) -> None:
        best = set(self.found.sets[0].tolist())
        names = short_names([self.found.name_of(j) for j in self.features], NAME)
        for j, name, place, angle in zip(self.features, names, places, angles.tolist()):
            face = PALETTE[1] if j in best else PALETTE[0]
            ax.plot(*place, marker="o" if j in best else "s", ms=6, color=face, ls="none")
            is_left = np.cos(angle) < -1e-9
            turn = np.degrees(angle) + (180 if is_left else 0)
            x, up = (1.09 * place).tolist()
            text = ax.text(
                x, up, name, size=8, color=INK, rotation=turn, va="center",
                ha="right" if is_left else "left", rotation_mode="anchor",
            )  # fmt: skip
            plain(text)


def _around(edges: Any) -> list[int]:
    """The features of the edges, linked ones near each other.

    Group after group, and in a group along the smoothest vector of the graph.
    """
    features = sorted({j for edge in edges for j in edge[:2]})
    index = {j: i for i, j in enumerate(features)}
    weight = np.zeros((len(features), len(features)))
    for edge in edges:
        i, j = index[edge.one], index[edge.other]
        weight[i, j] = weight[j, i] = edge.n_pairs
    order: list[int] = []
    left = set(range(len(features)))
    while left:
        group = _linked_to(min(left), weight)
        left -= set(group)
        part = weight[np.ix_(group, group)]
        _, vectors = np.linalg.eigh(np.diag(part.sum(axis=0)) - part)
        smooth = vectors[:, min(1, len(group) - 1)].round(9)
        smooth = -smooth if smooth[np.flatnonzero(smooth)[:1]].sum() < 0 else smooth
        order += [group[i] for i in np.argsort(smooth, kind="stable").tolist()]
    return [features[i] for i in order]


def _linked_to(start: int, weight: np.ndarray) -> list[int]:
    reached, todo = {start}, [start]
    while todo:
        new = set(np.flatnonzero(weight[todo.pop()]).tolist()) - reached
        reached |= new
        todo += sorted(new)
    return sorted(reached)
