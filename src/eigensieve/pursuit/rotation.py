"""The rotation of the columns whose x is shortest: min |x|_1 subject to Ux = CZ, over x and Z.

C has q columns, Z is any orthogonal matrix. With h(c) = min {|x|_1 : Ux = c}, a norm, the sum of
h(C z_j) over the columns z_j of Z is to be least. A y with |U'y| <= 1 bounds h by the linear y'c.

For two columns Z is an angle t, from 0 to a right angle: beyond it the columns only change places
and signs. The duals y1 and y2 that are optimal at one angle bound the sum at every other angle by

    (y1'c1 + y2'c2) cos t + (y1'c2 - y2'c1) sin t,

and touch it where they come from. Between two angles the sum is thus at least the greater of two
such waves, whose least value is at an end or where they cross. The crossing that is lowest is tried
next, until no crossing lies below the best angle: then that is the best of all, and the duals prove
it. As h is linear between kinks the search is finite: 5 to 20 angles are usual.

For more columns pairs of them are turned in the same way until none gains, from several starts.
That is a search, without a proof; the bound for every rotation is then the least sum of the lengths
of the rows of x, which no rotation changes and no l1 norm goes below.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy import linalg

from ..pencil.budget import Budget
from ..pencil.solution import Status
from ..tables.copies import first_copies
from .basis_pursuit import pursue
from .pursuit_columns import pursue_by_columns
from .rotation_proof import RIGHT, RotationProof, crossings, waves_of
from .simplex import Vertex
from .solution import Answer, PursuitSolution, judge

CLOSED = 1e-11  # relative gap at which an angle is the best of all
PAIR_CLOSED = 1e-4  # the same for one pair among several, which others will move
MAX_ANGLES = 1000  # of one search: round-off may keep a gap of the size of CLOSED open
MAX_SWEEPS = 20
GAIN = 1e-4  # smallest relative gain of a sweep
STARTS = 4  # the rotation as given, and random ones


@dataclass(frozen=True, eq=False)
class Turned(Answer):
    """x (p, q) with rows x = target ``rotation``, and its dual y.

    Of two columns y holds the duals of every angle that was tried, two columns each: the pair of
    ``best`` belongs to x.
    """

    rotation: np.ndarray = field(default_factory=lambda: np.empty((0, 0)))
    angles: np.ndarray | None = None
    best: int = 0

    def in_order(self, correlations: np.ndarray) -> Turned:
        """Directions that separate the classes more first; the largest weight positive."""
        shares = np.square(correlations) @ np.square(self.rotation)
        order = np.argsort(-shares.round(9), kind="stable")
        Z = self.rotation[:, order]
        signs = np.sign(Z[np.abs(Z).argmax(axis=0), np.arange(len(Z))])
        return replace(
            self, x=self.x[:, order] * signs, y=self.y[:, order] * signs, rotation=Z * signs
        )


def pursue_rotated(rows: Any, target: np.ndarray, budget: Budget) -> tuple[Turned, RotationProof]:
    """x of least l1 norm with rows x = target Z, Z the best rotation found, and what proves a bound
    for every rotation. The target has two columns or more.
    """
    first = shared = None
    if target.shape[1] > 2:
        # the quick answer first: there may be no time for a better one
        first = pursue(rows, target, "l1", "simplex", budget, {})
        shared = pursue(rows, target, "l21", "simplex", budget, {})

    def find(rows: np.ndarray, target: np.ndarray, budget: Budget) -> Turned:
        unit = float(np.abs(target).max())
        # from angle to angle a copy could take the place of its first: leave copies out
        kept = np.unique(first_copies(rows))
        search = _Search(np.ascontiguousarray(rows[:, kept]), budget)
        turn = search.turn_pair if target.shape[1] == 2 else search.turn_all
        found = turn(target / unit)
        x = np.zeros((rows.shape[1], target.shape[1]))
        x[kept] = found.x * unit
        return replace(found, x=x)

    if isinstance(rows, np.ndarray):
        found = find(rows, target, budget)
    else:
        found = pursue_by_columns(rows, target, "l1", budget, find)
    if first is not None and shared is not None:
        if np.abs(first.x).sum() < np.abs(found.x).sum():
            found = replace(found, x=first.x, y=first.y, rotation=np.eye(len(found.rotation)))
        return found, RotationProof(shared.y).scaled(rows, target)
    own = found.y[:, 2 * found.best : 2 * found.best + 2]
    proof = RotationProof(found.y, found.angles).scaled(rows, target)
    return replace(found, y=own), proof


def judge_rotated(
    rows: Any, target: np.ndarray, x: np.ndarray, found: Turned, proof: RotationProof
) -> PursuitSolution:
    """x, which may be ``found`` with more digits, with what it is worth among all rotations."""
    solution = judge(rows, target @ found.rotation, x, found.y, "l1", "simplex", found.stopped)
    steepest, bound = proof.figures(rows, target)
    return replace(
        solution,
        rotation=found.rotation,
        rotation_proof=proof,
        bound_any_rotation=bound / max(1.0, steepest),
    )


@dataclass(frozen=True, eq=False)
class _Angle:
    """An angle, what solves both columns there, and the wave that their duals give."""

    t: float
    x: np.ndarray  # (p, 2)
    y: np.ndarray  # (g, 2)
    value: float
    wave: np.ndarray  # the factors of cos t and sin t


class _Search:
    """The search for a rotation, and why it stopped early, if it did."""

    def __init__(self, rows: np.ndarray, budget: Budget) -> None:
        self.rows, self.budget = rows, budget
        # each follows one of two columns, so that it starts near its next optimum
        self.vertices = Vertex(rows, budget), Vertex(rows, budget)

    @property
    def n_steps(self) -> int:
        return sum(vertex.n_steps for vertex in self.vertices)

    @property
    def stopped(self) -> Status | None:
        return self.vertices[0].stopped or self.vertices[1].stopped

    def at(self, pair: np.ndarray, t: float) -> _Angle:
        """The shortest x for the pair of columns (g, 2) turned by t."""
        turned_pair = pair @ plane_rotation(t)
        found = [
            vertex.solve(np.ascontiguousarray(c))
            for vertex, c in zip(self.vertices, turned_pair.T, strict=True)
        ]
        x, y = (np.column_stack(both) for both in zip(*found, strict=True))
        return _Angle(t, x, y, float(np.abs(x).sum()), waves_of(y, pair)[0])

    def angles(self, pair: np.ndarray, closed: float) -> list[_Angle]:
        """Enough angles, ascending, to know that the best of them is the best there is."""
        found = [self.at(pair, 0.0)]
        while self.stopped is None and len(found) < MAX_ANGLES:
            angles = np.array([angle.t for angle in found])
            crossed, low = crossings(angles, np.array([angle.wave for angle in found]))
            i = int(low.argmin())
            best = min(angle.value for angle in found)
            if low[i] >= best * (1.0 - closed) or crossed[i] in np.append(angles, RIGHT):
                break
            found.insert(i + 1, self.at(pair, float(crossed[i])))
        return found

    def turn_pair(self, target: np.ndarray) -> Turned:
        """The best rotation of two columns."""
        tried = self.angles(target, CLOSED)
        best = min(range(len(tried)), key=lambda i: tried[i].value)
        return Turned(
            x=tried[best].x,
            y=np.hstack([angle.y for angle in tried]),
            n_iter=self.n_steps,
            stopped=self.stopped,
            rotation=plane_rotation(tried[best].t),
            angles=np.array([angle.t for angle in tried]),
            best=best,
        )

    def turn_all(self, target: np.ndarray) -> Turned:
        """The best rotation found of three columns and more."""
        rng = np.random.default_rng(0)
        q, found = target.shape[1], []
        for start in range(STARTS):
            Z = np.eye(q) if start == 0 else linalg.qr(rng.normal(size=(q, q)))[0]
            found.append(self._turn_pairs(target, Z))
            if self.stopped is not None:
                break
        best = min(found, key=lambda turned: float(np.abs(turned.x).sum()))
        return replace(best, n_iter=self.n_steps, stopped=self.stopped)

    def _turn_pairs(self, target: np.ndarray, Z: np.ndarray) -> Turned:
        """From Z on, every pair of columns turned to its best angle until that gains nothing."""
        x, y = np.zeros((self.rows.shape[1], len(Z))), np.zeros(target.shape)
        for i, c in enumerate((target @ Z).T):
            x[:, i], y[:, i] = self.vertices[0].solve(np.ascontiguousarray(c))
        for _ in range(MAX_SWEEPS):
            gain = 0.0
            for i, j in combinations(range(len(Z)), 2):
                if self.stopped is not None:
                    break
                pair = [i, j]
                tried = self.angles(target @ Z[:, pair], PAIR_CLOSED)
                best = min(tried, key=lambda angle: angle.value)
                before = float(np.abs(x[:, pair]).sum())
                if best.value < before:
                    Z[:, pair] = Z[:, pair] @ plane_rotation(best.t)
                    x[:, pair], y[:, pair] = best.x, best.y
                    gain = max(gain, 1.0 - best.value / before)
            if gain <= GAIN:
                break
        return Turned(x, y, 0, None, Z)


def plane_rotation(t: float) -> np.ndarray:
    """The rotation of two columns by t."""
    return np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]])
