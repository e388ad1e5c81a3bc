"""The perspective relaxation of some columns: its value, its gradient, the way up.

Plain NumPy: for the bound that a fitted model reports of itself, without a search.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ....pencil.factor_pencil import quadratic_forms
from .weights import WEIGHTLESS, WeightProblem

MAX_STEPS = 300
# The bound is to come this close to the value, relatively.
SOLVED = 1e-6
# A step must beat the worst of so many values before it.
MEMORY = 8
# Newton's steps begin when a step has changed no more of the zeros than this share of the weights.
SETTLED = 0.1
# One of them must have divided the gap by this much for another one to follow.
NEWTON_GAIN = 4.0
# Its matrix is lifted by this share of its diagonal, so that it is definite.
LIFT = 1e-10


class Point(NamedTuple):
    """f at some weights of the free columns.

    ``w`` and the gradient ``g`` are about the free columns, T is the columns that count (first
    the forced), ``weight`` their weights; see `evaluate` for G, X and the factor.
    """

    w: np.ndarray
    value: float
    g: np.ndarray
    T: np.ndarray
    weight: np.ndarray
    G: np.ndarray
    X: np.ndarray
    factor: np.ndarray

    def bound(self, need: int) -> float:
        """No weights that sum to ``need`` have a larger value."""
        here = float(self.g @ np.where(self.w > WEIGHTLESS, self.w, 0.0))
        return self.value - here + float(largest(self.g, need).sum())


class Climb:
    """f, point by point."""

    def __init__(self, problem: WeightProblem) -> None:
        self.problem = problem
        self._rows: tuple[np.ndarray, ...] = ()

    def evaluate(self, w: np.ndarray) -> Point:
        """f and its gradient at weights of the free columns."""
        B, H, D, forced, free, _, logdet, _ = self.problem
        held = w > WEIGHTLESS
        T = np.concatenate([forced, free[held]])
        weight = np.concatenate([np.ones(forced.size), w[held]])
        if not (self._rows and np.array_equal(T, self._rows[0])):  # the last steps share T
            rows = B[T]
            self._rows = T, rows, rows[:, T]
        _, rows, block = self._rows
        value, G, X, factor = evaluate(block, H[:, T], D[T], weight, logdet)
        g = quadratic_forms(H - X @ rows, G) / D
        g[T] = own_gradient(X, G, D[T], weight)
        return Point(w, value, g[free], T, weight, G, X, factor)

    def newton_step(self, at: Point) -> np.ndarray | None:
        """Newton's step of sum zero on the weights between 0 and 1, or None if there is none."""
        held = np.flatnonzero(at.w > WEIGHTLESS)
        weight = at.w[held]
        inside = np.flatnonzero(weight < 1.0 - WEIGHTLESS)
        if inside.size < 2:
            return None
        _, _, D, forced, free, _, logdet, _ = self.problem
        held, weight, place = held[inside], weight[inside], forced.size + inside
        inverse, _ = linalg.lapack.dpotri(at.factor)  # upper triangles are all that is used
        scale = np.sqrt(D[free[held]]) / weight
        Y = at.X[:, place] * scale
        K = Y.T @ (at.G @ Y)
        M = inverse[np.ix_(place, place)] * (-2.0 * scale[:, None] * scale)
        M.flat[:: len(M) + 1] += 2.0 / weight
        M = (M + K if logdet else M) * K
        M.flat[:: len(M) + 1] *= 1.0 + LIFT
        right = np.stack([at.g[held], np.ones(held.size)], axis=1)
        _, found, failed = linalg.lapack.dposv(M.T, right, lower=True, overwrite_a=True)
        if failed:
            return None
        step = np.zeros(at.w.size)
        step[held] = found[:, 0] - found[:, 0].sum() / found[:, 1].sum() * found[:, 1]
        return step


def evaluate(
    B_T: np.ndarray, H_T: np.ndarray, D_T: np.ndarray, w: np.ndarray, logdet: bool
) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """f at weights w of the columns T, the gradient G of the criterion, X (c, t), a factor.

    The gradient of f is g_j = y_j' G y_j, y_j = (H_j - X B_Tj) / sqrt(D_j), outside T, and
    `own_gradient` on T. The factor is Cholesky's of B + diag(D (1/w - 1)), in its upper triangle.
    """
    M = B_T.copy()
    M.flat[:: len(M) + 1] += D_T * (1.0 / w - 1.0)
    factor, X, failed = linalg.lapack.dposv(M.T, H_T.T, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError("B is not positive definite on the features of a relaxation")
    Q = H_T @ X
    Q = (Q + Q.T) / 2
    value, G = float(np.maximum(np.diag(Q), 0.0).sum()), np.eye(len(Q))
    if logdet:
        value = float(np.log1p(np.maximum(np.linalg.eigvalsh(Q), 0.0)).sum())
        G = np.linalg.inv(G + Q)
    return value, G, X.T, factor


def own_gradient(X: np.ndarray, G: np.ndarray, D_T: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient on T by the equation of X, without cancellation."""
    return quadratic_forms(X, G) * D_T / np.square(w)


def ascend(problem: WeightProblem, w: np.ndarray, cut: float, solved: float = SOLVED) -> np.ndarray:
    """Weights near the maximum: projected gradients with Barzilai-Borwein steps, and Newton's.

    The gradients find which weights are zero. Once a step leaves nearly all of those as they
    were, Newton's steps follow, as long as they are worth it. Ends when the bound is within
    ``solved`` of the value, or at or below ``cut``.
    """
    climb, need = Climb(problem), problem.need
    now = best = climb.evaluate(w)
    if not now.g.any():
        return w
    step = need / float(np.abs(now.g).sum())
    recent, last_gap, is_settled, was_newton = [now.value], np.inf, False, False
    for _ in range(MAX_STEPS):
        bound = now.bound(need)
        gap = bound - now.value
        if bound <= cut or gap <= solved * abs(bound):
            return now.w
        newton = None
        if is_settled and (not was_newton or NEWTON_GAIN * gap <= last_gap):
            newton = climb.newton_step(now)
        d = project(now.w + (step * now.g if newton is None else newton), need) - now.w
        if newton is not None and float(now.g @ d) <= 0:
            newton, d = None, project(now.w + step * now.g, need) - now.w
        new = _search(climb, now, d, min(recent))
        if new is None:
            break
        d = new.w - now.w
        bend = -float(d @ (new.g - now.g))  # the function is concave: not negative
        step = float(d @ d) / bend if bend > 0 else 10 * step
        is_settled = _count_changes(new.w, now.w) <= SETTLED * now.T.size
        was_newton, last_gap = newton is not None, gap
        now = new
        recent = [*recent[1 - MEMORY :], now.value]
        if now.value > best.value:
            best = now
    return best.w


def _count_changes(new: np.ndarray, old: np.ndarray) -> int:
    """How many weights became zero or ceased to be."""
    return int(np.count_nonzero((new > WEIGHTLESS) != (old > WEIGHTLESS)))


def _search(climb: Climb, now: Point, d: np.ndarray, least: float) -> Point | None:
    """The first point along d that is better than ``least`` by a little of the slope."""
    slope, share = float(now.g @ d), 1.0
    if slope <= 0:
        return None
    for _ in range(20):
        new = climb.evaluate(now.w + share * d)
        if new.value >= least + 1e-4 * share * slope:
            return new
        share *= 0.4
    return None


def largest(values: np.ndarray, count: int) -> np.ndarray:
    """The ``count`` largest values, the least of them first."""
    if count == 0:
        return values[:0]
    first = values.size - count
    return np.partition(values, first)[first:]


def project(v: np.ndarray, k: int) -> np.ndarray:
    """The nearest point with entries in [0, 1] that sum to k <= v.size: clip(v - t, 0, 1)."""
    order = np.sort(v)
    points = np.sort(np.concatenate([order, order - 1.0]))  # between them the sum is linear in t
    above = np.append(np.cumsum(order[::-1])[::-1], 0.0)

    def excess(t: np.ndarray) -> np.ndarray:  # the sum of max(v - t, 0)
        first = np.searchsorted(order, t, side="right")
        return above[first] - (v.size - first) * t

    sums = excess(points) - excess(points + 1.0)
    right = int(np.searchsorted(-sums, -float(k)))  # sums fall from v.size to 0
    if right == 0:
        return np.clip(v - points[0], 0.0, 1.0)
    left = min(right, points.size - 1) - 1
    fall = sums[left] - sums[left + 1]
    share = (sums[left] - k) / fall if fall > 0 else 0.0
    return np.clip(v - (points[left] + share * (points[left + 1] - points[left])), 0.0, 1.0)
