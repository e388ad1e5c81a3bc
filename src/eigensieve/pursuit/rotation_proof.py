"""Bounds of the l1 norm that hold however the columns of b are rotated, and their proofs.

    minimise  |x|_1   subject to  Ax = bZ,   over x and all orthogonal Z

Two kinds of proof are recomputed here from A and b alone:

- Y (m, q) with no row of A'Y longer than 1. For every Z the dual YZ satisfies |A'YZ| <= 1, so that
  |x|_1 >= <bZ, YZ> = <b, Y>: the bound of the row-sparse problem ("l21").
- for two columns: duals y1, y2 (|A'y| <= 1) for some angles. Z is an angle t from 0 to a right
  angle, but for signs and the order of the columns, and each pair of duals bounds the norm by a
  wave, (y1'b1 + y2'b2) cos t + (y1'b2 - y2'b1) sin t. Between two neighbouring angles the greater
  of their two waves counts. Where both are positive they are concave: the least value is at an end
  or at the crossing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..errors import VerificationError
from ..pencil.criteria import EPS
from .dual import SLACK, dual_figures

RIGHT = np.pi / 2


@dataclass(frozen=True, eq=False)
class RotationProof:
    """What bounds the norm for every rotation.

    Attributes
    ----------
    y : array (m, q), or (m, 2 a) with the duals of a angles, two columns each
    angles : array (a,), ascending from 0; None for the first kind
    """

    y: np.ndarray
    angles: np.ndarray | None = None

    def figures(self, A: Any, b: np.ndarray) -> tuple[float, float]:
        """The largest |A'y|, which must not exceed 1, and the bound, rounded down."""
        self._check_shapes(b)
        if self.angles is None:
            return dual_figures(A, b, self.y, "l21")
        if self.angles[0] != 0.0 or not (np.diff(self.angles, append=RIGHT) >= 0.0).all():
            raise VerificationError("the angles do not cover a right angle")
        steepest = dual_figures(A, np.zeros_like(self.y), self.y, "l1")[0]
        lowest = float(crossings(self.angles, waves_of(self.y, b))[1].min())
        return steepest, lowest - 4.0 * EPS * float(np.sqrt(len(b))) * self._sizes(b)

    def _check_shapes(self, b: np.ndarray) -> None:
        shape = b.shape
        if self.angles is not None:
            shape = len(b), 2 * self.angles.size
            if b.shape[1:] != (2,) or self.angles.ndim != 1 or self.angles.size == 0:
                raise VerificationError("angles prove something of two columns only")
        if self.y.shape != shape:
            raise VerificationError(f"the duals for every rotation are {self.y.shape}, not {shape}")

    def _sizes(self, b: np.ndarray) -> float:
        """Of the terms in a wave: round-off is a share of them."""
        pairs = np.abs(self.y).T @ np.abs(b)
        return float(pairs.max(initial=0.0)) * 4.0

    def scaled(self, A: Any, b: np.ndarray) -> RotationProof:
        """With duals that satisfy |A'y| <= 1, whatever they were."""
        steepest = self.figures(A, b)[0]
        return self if steepest <= 1.0 + SLACK else replace(self, y=self.y / steepest)


def waves_of(duals: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(a, 2): the factors of cos t and sin t in the bound of each pair of duals (m, 2 a)."""
    first, second = duals[:, ::2].T @ b, duals[:, 1::2].T @ b
    return np.column_stack([first[:, 0] + second[:, 1], first[:, 1] - second[:, 0]])


def crossings(angles: np.ndarray, waves: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the waves (a, 2) of neighbouring angles cross, and bounds of the norm between them.

    After the last angle comes a right angle, where the first duals have changed places as the
    columns have. On the left of a crossing one wave counts, on its right the next. A wave that is
    positive at two angles less than half a turn apart is concave between them.
    """
    ends = np.append(angles, RIGHT)
    waves = np.vstack([waves, [-waves[0, 1], waves[0, 0]]])
    difference = waves[:-1] - waves[1:]
    t = np.arctan2(-difference[:, 0], difference[:, 1]) % np.pi
    t = np.clip(t, ends[:-1], ends[1:])
    first, second = waves[:-1].T, waves[1:].T
    places = (first, ends[:-1]), (first, t), (second, t), (second, ends[1:])
    heights = [wave[0] * np.cos(at) + wave[1] * np.sin(at) for wave, at in places]
    return t, np.maximum(0.0, np.min(heights, axis=0))
