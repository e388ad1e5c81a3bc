"""What is left of a problem at a node, and its relaxation in a direction.

For a direction v the problem is one of two classes, with the one row v'H in the place of H: the
perspective relaxation bounds it (see perspective/relax_kernel.pyx).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ....pencil.criteria import EPS
from ...target import FREE, IN
from ..perspective.relaxation import MARGIN
from ..perspective.tree_kernel import refill
from ..perspective.weights import WeightProblem
from .cones import Cones, Corner
from .cones_kernel import relax_direction

NEWTON_STEPS = 60
# A relaxation is solved when its bound is this close to its value, relatively, or when it is
# this share of what the value is above the cut.
SOLVED = 1e-6
HOPELESS = 0.02
# What a corner takes beside its relaxation, in units of `Budget.spend`.
WORK_OF_CORNER = 5e4


class Ground(NamedTuple):
    """The scaled problem on some features: k of them; B - diag(D) is semidefinite.

    ``stop`` is raised when the time is up, and ``work[0]`` counts the arithmetic.
    """

    B: np.ndarray
    H: np.ndarray
    D: np.ndarray
    k: int
    margin: float
    stop: np.ndarray
    work: np.ndarray

    def take(self, index: np.ndarray) -> Ground:
        """The same on some of them."""
        B, H = self.B[np.ix_(index, index)], np.ascontiguousarray(self.H[:, index])
        return self._replace(B=B, H=H, D=self.D[index])

    def score(self, members: np.ndarray) -> tuple[float, float]:
        """The largest eigenvalue of a set, and that with what round-off may hide of it."""
        L = linalg.cholesky(self.B[np.ix_(members, members)], lower=True)
        Z = linalg.solve_triangular(L, self.H[:, members].T, lower=True)
        value = float(np.linalg.svd(Z, compute_uv=False)[0]) ** 2
        return value, value * (1 + 8 * members.size * EPS / float(np.diag(L).min()) ** 2)


class SmallPart:
    """The sets of a node: all of ``forced`` and ``need`` of the free features."""

    def __init__(self, ground: Ground, state: np.ndarray, cut: float) -> None:
        self._ground, self._cut = ground, cut
        self.forced, self.free = np.flatnonzero(state == IN), np.flatnonzero(state == FREE)
        self.members = np.concatenate([self.forced, self.free])
        self.n_forced, self.need = self.forced.size, ground.k - self.forced.size
        self.margin, self.work = ground.margin, ground.work

    @property
    def stopped(self) -> bool:
        """Whether the time is up."""
        return bool(self._ground.stop[0])

    def cones(self, corners: list[Corner], cells: np.ndarray) -> Cones:
        """The cones of another part, for this one."""
        own = [self.relax(corner.direction, corner.weights) for corner in corners]
        return Cones(self, own, cells)

    def relax(self, direction: np.ndarray, weights: np.ndarray) -> Corner:
        """The relaxation in a direction, from weights of another node or direction."""
        ground, free = self._ground, self.free
        h = direction @ ground.H
        w = weights[free]
        refill(w, np.square(h[free]) / ground.D[free], self.need)
        problem = WeightProblem(
            ground.B, h[None], ground.D, self.forced, free, self.need, False, ground.work,
            ground.stop,
        )  # fmt: skip
        y, x = relax_direction(problem, w, self._cut, NEWTON_STEPS, SOLVED, HOPELESS)
        ground.work[0] += WORK_OF_CORNER
        new = np.zeros(weights.size)
        new[free] = w
        rest = h[self.members] - np.sqrt(ground.D[self.members]) * y
        return Corner(direction, new, y, x, rest)

    def heaviest(self, weights: np.ndarray) -> np.ndarray:
        """The set of the features with the largest weights."""
        top = np.argsort(-weights[self.free], kind="stable")[: self.need]
        return np.concatenate([self.forced, self.free[top]])

    def branch_feature(self, weights: np.ndarray) -> int:
        """The free feature whose weight says least; of equals, one that has some."""
        w = weights[self.free]
        return int(self.free[np.argmax(w * (1 - w) + 1e-9 * w)])


def margin_of(k: int, D: np.ndarray) -> float:
    """1 + the relative rounding of a bound on sets of k features."""
    return 1 + MARGIN + 8 * k * EPS / float(D.min())
