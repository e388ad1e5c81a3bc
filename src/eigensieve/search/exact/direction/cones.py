"""Cones that cover all directions, up to their sign, and what is known at their corners."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Protocol

import numpy as np

from .cones_kernel import cone_reach, fix_by_cones, pair_sums

# Shorter edges are not split.
MIN_EDGE = 1e-4
# No more corners for one node: with those that it has, it branches on a feature.
MAX_CORNERS = 300
# A cone is split where what lies between its corners adds this share of what is above the cut.
COARSE = 0.5
# Of a product, and of a corner of a cone for a feature, in units of `Budget.spend`.
WORK_OF_ENTRY, WORK_OF_CONE = 10.0, 100.0


@dataclass(frozen=True, eq=False)
class Corner:
    """The relaxation in a direction v: with z = W X, y = (h - W'z) / sqrt(D), h = v'H.

    No set T has a larger v' H_T B_T^-1 H_T' v than z'z + the sum of y^2 over T.

    Attributes
    ----------
    direction : unit vector (c,)
    weights : w of all features there are
    y, x, rest : of the forced and then the free features: y, X (zero without a weight), W'z
    """

    direction: np.ndarray
    weights: np.ndarray
    y: np.ndarray
    x: np.ndarray
    rest: np.ndarray


class Part(Protocol):
    """A problem with some features forced; ``need`` of the free ones are to be chosen.

    ``margin`` is 1 + the relative rounding of a bound; ``work[0]`` counts the arithmetic.
    """

    n_forced: int
    need: int
    margin: float
    work: np.ndarray

    @property
    def stopped(self) -> bool:
        """Whether a limit is reached: no more corners."""
        ...

    def relax(self, direction: np.ndarray, weights: np.ndarray) -> Corner:
        """A corner, from weights of a direction or a node nearby."""
        ...


class Cones:
    """Cones as rows of indices of corners, and the bound on the sets of a part in each."""

    def __init__(self, part: Part, corners: Sequence[Corner], cells: np.ndarray) -> None:
        self.part, self.corners, self.cells = part, list(corners), cells
        self._codes = np.empty(0, dtype=np.int64)
        self._sums = np.empty((0, 3))
        self._measure()

    def _measure(self) -> None:
        """The bound of every cone, from sums of products over pairs of its corners."""
        c = self.cells.shape[1]
        ends = self.cells[:, :, None], self.cells[:, None, :]
        codes = (np.minimum(*ends) * (1 << 32) + np.maximum(*ends)).reshape(-1, c * c)
        new = np.setdiff1d(codes, self._codes)
        pairs = np.ascontiguousarray(np.stack([new >> 32, new & 0xFFFFFFFF], axis=1))
        rows = self._rows()
        self.part.work[0] += WORK_OF_ENTRY * (len(pairs) + 1) * rows[0].shape[1]
        sums = pair_sums(*rows, pairs, self.part.n_forced, self.part.need)
        both = np.concatenate([self._codes, new])
        order = np.argsort(both)
        self._codes, self._sums = both[order], np.vstack([self._sums, sums])[order]
        self._places = np.searchsorted(self._codes, codes)
        self.frames = np.array([corner.direction for corner in self.corners])[self.cells]
        self._grams = (self.frames @ self.frames.transpose(0, 2, 1)).reshape(-1, c * c)
        self._triple = tuple(np.ascontiguousarray(self._sums.T))
        self.reach = cone_reach(self._grams, self._places, c, *self._triple) * self.part.margin
        self.best = self._triple[0][self._places[:, :: c + 1]].max(axis=1)

    def _rows(self) -> list[np.ndarray]:
        names = ("y", "x", "rest")
        return [np.array([getattr(corner, name) for corner in self.corners]) for name in names]

    @property
    def bound(self) -> float:
        """No set is above it in any of the cones."""
        return float(self.reach.max(initial=-np.inf))

    def keep(self, mask: np.ndarray) -> None:
        """Leave out the other cones."""
        for name in ("cells", "reach", "best", "frames", "_grams", "_places"):
            setattr(self, name, getattr(self, name)[mask])

    def refine(self, cut: float) -> None:
        """Keep the cones in which a set above the cut may be, as fine as they should be."""
        while True:
            self.keep(self.reach > cut)
            longest, length = _longest_edges(self.frames)
            top = float(self.best.max(initial=cut))
            is_coarse = self.reach - top > COARSE * (top - cut)
            is_coarse &= length > MIN_EDGE
            enough = len(self.corners) > MAX_CORNERS or self.part.stopped
            if enough or not is_coarse.any():
                return
            self._split(is_coarse, longest)
            self._measure()

    def _split(self, mask: np.ndarray, longest: np.ndarray) -> None:
        """Cut some cones in two, through the middle of their longest edges."""
        middles = dict[tuple[int, int], int]()
        cells = [self.cells[~mask]]
        for cell, (i, j) in zip(self.cells[mask], longest[mask]):
            a, b = sorted((int(cell[i]), int(cell[j])))
            if (a, b) not in middles:
                middle = self.corners[a].direction + self.corners[b].direction
                near = self.corners[a].weights
                middles[a, b] = len(self.corners)
                self.corners.append(self.part.relax(middle / np.linalg.norm(middle), near))
            halves = np.array([cell, cell])
            halves[0, i] = halves[1, j] = middles[a, b]
            cells.append(halves)
        self.cells = np.vstack(cells)

    def fix(self, cut: float) -> tuple[np.ndarray, np.ndarray]:
        """Masks: what a set above the cut must have of the free features, and cannot have."""
        Y = self._rows()[0]
        must, cannot = np.zeros((2, Y.shape[1] - self.part.n_forced), dtype=bool)
        order = np.argsort(-self.reach, kind="stable")
        self.part.work[0] += WORK_OF_CONE * self.cells.size * must.size
        fix_by_cones(
            self._grams[order], self.cells[order], self._places[order], *self._triple,
            Y, self.part.n_forced, cut / self.part.margin, must, cannot,
        )  # fmt: skip
        return must, cannot

    def top(self) -> Corner:
        """The best corner of the cone with the largest bound."""
        cell = int(np.argmax(self.reach))
        own = self._triple[0][self._places[cell, :: self.cells.shape[1] + 1]]
        return self.corners[self.cells[cell, int(np.argmax(own))]]

    def used(self) -> tuple[list[Corner], np.ndarray]:
        """The corners that the cones have, and the cones in terms of these."""
        places, cells = np.unique(self.cells, return_inverse=True)
        return [self.corners[i] for i in places], cells.reshape(self.cells.shape)


def all_directions(axes: np.ndarray, part: Part, weights: np.ndarray) -> Cones:
    """Cones over half of the sphere: all have the first axis, and the others of either sign."""
    c = len(axes)
    corners = [part.relax(axis, weights) for axis in np.vstack([axes, -axes[1:]])]
    signs = product((0, 1), repeat=c - 1)
    cells = [[0, *(i + 1 + (c - 1) * s for i, s in enumerate(sign))] for sign in signs]
    return Cones(part, corners, np.array(cells))


def _longest_edges(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of every cone: which two corners are farthest apart, and how far."""
    pairs = np.array(list(combinations(range(frames.shape[1]), 2)), dtype=np.intp).reshape(-1, 2)
    if not len(pairs):
        return np.zeros((len(frames), 2), dtype=np.intp), np.zeros(len(frames))
    lengths = np.linalg.norm(frames[:, pairs[:, 0]] - frames[:, pairs[:, 1]], axis=2)
    longest = lengths.argmax(axis=1)
    return pairs[longest], lengths[np.arange(len(frames)), longest]
