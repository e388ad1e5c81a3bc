"""Cones that cover all directions, up to their sign, and what is known at their corners."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

import numpy as np

# Shorter edges are not split: the Gram matrix of the corners would be too nearly singular.
MIN_EDGE = 2e-3
# No more corners for one node: with those that it has, it branches on a feature.
MAX_CORNERS = 250
# A coefficient above minus this counts as not negative: that can only raise a maximum.
ALMOST_ZERO = 1e-7
# Relative rounding of a maximum over a cone.
MARGIN = 1e-9


@dataclass(frozen=True, eq=False)
class Corner:
    """What the relaxation says of one direction v.

    Attributes
    ----------
    direction : unit vector (c,)
    weights : w of all features of the tree, or of the problem
    bound : no set has a larger v' H_S B_S^-1 H_S' v
    gains : of the free features; one less of the largest for j takes their difference off the bound
    """

    direction: np.ndarray
    weights: np.ndarray
    bound: float
    gains: np.ndarray


# A corner in this direction; weights from nearby to start with.
Relax = Callable[[np.ndarray, np.ndarray], Corner]


@dataclass(frozen=True, eq=False)
class Cones:
    """Corners, and cones as rows of their indices."""

    corners: list[Corner]
    cells: np.ndarray

    def frames(self) -> np.ndarray:
        """The corners of every cone (n, c, c)."""
        return np.array([corner.direction for corner in self.corners])[self.cells]

    def reach(self) -> np.ndarray:
        """What no set exceeds in a direction of the cone, for every cone."""
        norms = np.sqrt([corner.bound for corner in self.corners])[self.cells]
        return maxima(self.frames(), norms[:, :, None])[:, 0]

    def keep(self, mask: np.ndarray) -> Cones:
        """Some of the cones, and the corners that they have."""
        used, cells = np.unique(self.cells[mask], return_inverse=True)
        return Cones([self.corners[i] for i in used], cells.reshape(-1, self.cells.shape[1]))

    def again(self, relax: Relax) -> Cones:
        """The same cones with new corners."""
        corners = [relax(corner.direction, corner.weights) for corner in self.corners]
        return Cones(corners, self.cells)


def all_directions(axes: np.ndarray, relax: Relax, weights: np.ndarray) -> Cones:
    """Cones over half of the sphere: all have the first axis, and the others of either sign."""
    c = len(axes)
    corners = [relax(axis, weights) for axis in np.vstack([axes, -axes[1:]])]
    signs = product((0, 1), repeat=c - 1)
    cells = [[0, *(i + 1 + (c - 1) * s for i, s in enumerate(sign))] for sign in signs]
    return Cones(corners, np.array(cells))


def refine(cones: Cones, relax: Relax, cut: float) -> tuple[Cones, float]:
    """The cones in which a set above the cut may be, as fine as they should be; their bound.

    Within a cone the bound is interpolated between the corners, which adds to it. Where that is
    more than what the corners themselves are above the cut, a cone is split.
    """
    while True:
        reach = cones.reach()
        cones, reach = cones.keep(reach > cut), reach[reach > cut]
        if not reach.size:
            return cones, cut
        best = np.array([corner.bound for corner in cones.corners])[cones.cells].max(axis=1)
        is_coarse = (reach - best > best - cut) & np.isfinite(reach)
        longest, length = _longest_edges(cones.frames())
        is_coarse &= length > MIN_EDGE
        if not is_coarse.any() or len(cones.corners) > MAX_CORNERS:
            return cones, float(reach.max())
        cones = _split(cones, is_coarse, longest, relax)


def _longest_edges(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of every cone: which two corners are farthest apart, and how far."""
    pairs = np.array(list(combinations(range(frames.shape[1]), 2)), dtype=np.intp).reshape(-1, 2)
    if not len(pairs):
        return np.zeros((len(frames), 2), dtype=np.intp), np.zeros(len(frames))
    lengths = np.linalg.norm(frames[:, pairs[:, 0]] - frames[:, pairs[:, 1]], axis=2)
    longest = lengths.argmax(axis=1)
    return pairs[longest], lengths[np.arange(len(frames)), longest]


def _split(cones: Cones, mask: np.ndarray, longest: np.ndarray, relax: Relax) -> Cones:
    """Cut some cones in two, through the middle of their longest edges."""
    corners, middles = list(cones.corners), dict[tuple[int, int], int]()
    cells = [cones.cells[~mask]]
    for cell, (i, j) in zip(cones.cells[mask], longest[mask]):
        a, b = sorted((int(cell[i]), int(cell[j])))
        if (a, b) not in middles:
            one, two = corners[a], corners[b]
            middle = one.direction + two.direction
            near = one if one.bound >= two.bound else two
            middles[a, b] = len(corners)
            corners.append(relax(middle / np.linalg.norm(middle), near.weights))
        halves = np.array([cell, cell])
        halves[0, i] = halves[1, j] = middles[a, b]
        cells.append(halves)
    return Cones(corners, np.vstack(cells))


def maxima(frames: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """The largest f(v)^2 of unit vectors v in every cone (n, m), from f at the corners (n, c, m).

    f is a norm (or a seminorm): at v = a_1 v_1 + ... + a_c v_c, a >= 0, it is at most
    a_1 f(v_1) + ... + a_c f(v_c), a linear function of v. That is largest at the projection of its
    gradient on the cone: on one of the faces, where no coefficient is negative.
    """
    best = np.full((norms.shape[0], norms.shape[2]), np.inf)
    finite = np.isfinite(norms).all(axis=1)
    if not finite.all():
        norms = np.where(finite[:, None, :], norms, 0.0)
    best[finite] = 0.0
    for _, coefficients, values in _on_faces(frames, norms):
        is_inside = (coefficients >= -ALMOST_ZERO).all(axis=1)
        best = np.where(is_inside & (values > best), values, best)
    return best * (1.0 + MARGIN)


def peak(frame: np.ndarray, norms: np.ndarray) -> np.ndarray:
    """The coefficients of the direction where the bound of one cone is largest."""
    best, found = -1.0, np.zeros(norms.size)
    for face, coefficients, values in _on_faces(frame[None], norms[None, :, None]):
        if values[0, 0] > best and (coefficients >= -ALMOST_ZERO).all():
            best, found = float(values[0, 0]), np.zeros(norms.size)
            found[face] = np.maximum(coefficients[0, :, 0], 0.0)
    return found


def _on_faces(
    frames: np.ndarray, norms: np.ndarray
) -> Iterator[tuple[list[int], np.ndarray, np.ndarray]]:
    """Of every face: the coefficients of the maximum over what it spans, and its square."""
    gram = frames @ frames.transpose(0, 2, 1)
    for face in _faces(frames.shape[1]):
        f = norms[:, face]
        coefficients = np.linalg.solve(gram[:, face][:, :, face], f) if len(face) > 1 else f
        yield face, coefficients, np.einsum("nij,nij->nj", coefficients, f)


@cache
def _faces(c: int) -> list[list[int]]:
    return [list(face) for size in range(1, c + 1) for face in combinations(range(c), size)]
