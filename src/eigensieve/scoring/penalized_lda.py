"""Penalized LDA (Witten and Tibshirani 2011), by minorization.

In units of the within-class deviations, with R'R = S the scatter between the classes, direction k

    maximises  c'S_k c - alpha l_k sum_j |c_j| - fusion l_k sum_j |c_j - c_(j-1)|,   |c| <= 1.

S_k = R'P_k R, P_k the projector off R c_1, ..., R c_(k-1), and l_k is its largest eigenvalue. As
x'S_k x is convex, 2 c'S_k x - c'S_k c lies below it and touches it at x = c. Maximising that, less
the penalties, is a proximal step from S_k c scaled to length one; the objective never falls. The
start is the leading eigenvector. S_k is never formed: R has a row less than there are classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..pencil.solution import Status
from .total_variation_kernel import merge_neighbours

RANK_TOL = 1e-12  # of eigenvalues: singular values of R below 1e-6 of the largest are zero
VANISHED = 1e-12  # length of a proximal step, of 1 at most, that is round-off
BISECTIONS = 12  # for two digits


@dataclass(frozen=True, eq=False)
class PenalizedDirections:
    """The directions found, columns of length one, and how they were found.

    Attributes
    ----------
    vectors : array (p, m), m below the number asked for if the next one vanished
    separation : array (m,), c'S_k c
    objective : array (m,), the separation less the penalties
    n_iter : array (m,), steps
    settled : array (m,) of bool, whether the last step was within the tolerance
    """

    vectors: np.ndarray
    separation: np.ndarray
    objective: np.ndarray
    n_iter: np.ndarray
    settled: np.ndarray

    @property
    def status(self) -> Status:
        """CONVERGED, or ITERATION_LIMIT if that holds for any direction."""
        return Status.CONVERGED if self.settled.all() else Status.ITERATION_LIMIT


@dataclass(frozen=True)
class Climb:
    """One ascent: the penalties in units of the largest eigenvalue, and when to stop."""

    alpha: float
    fusion: float
    tol: float
    max_iter: int

    def run(self, root: np.ndarray, start: np.ndarray) -> tuple[np.ndarray, int, bool]:
        """The direction (zero if it vanished), the steps taken and whether it settled.

        ``root`` is in units where the largest eigenvalue is 1.
        """
        c = start
        for step in range(1, self.max_iter + 1):
            last, c = c, self.step(root.T @ (root @ c))
            if not c.any() or np.linalg.norm(c - last) <= self.tol:
                return c, step, True
        return c, self.max_iter, False

    def step(self, v: np.ndarray) -> np.ndarray:
        """The maximiser of 2 v'x less the penalties for |x| <= 1."""
        if self.fusion > 0.0:
            v = merge_neighbours(np.ascontiguousarray(v, dtype=np.float64), 0.5 * self.fusion)
        x = np.sign(v) * np.maximum(np.abs(v) - 0.5 * self.alpha, 0.0)
        length = float(np.linalg.norm(x))
        return x / length if length > VANISHED else np.zeros_like(x)

    def penalty(self, c: np.ndarray) -> float:
        """What is subtracted from the separation, in units of the largest eigenvalue."""
        return float(self.alpha * np.abs(c).sum() + self.fusion * np.abs(np.diff(c)).sum())


def count_directions(root: np.ndarray) -> int:
    """The rank of S, the most directions there are; zero if the class means are equal."""
    values = linalg.eigvalsh(root @ root.T)
    return int(np.count_nonzero(values > RANK_TOL * max(values[-1], 0.0)))


def find_directions(
    root: np.ndarray,
    count: int,
    *,
    alpha: float,
    fusion: float = 0.0,
    tol: float = 1e-8,
    max_iter: int = 10_000,
) -> PenalizedDirections:
    """Up to ``count`` directions for root (c, p) of rank ``count`` or more."""
    climb = Climb(alpha, fusion, tol, max_iter)
    vectors, separations, penalties, steps, settled = [], [], [], [], []
    rest = root
    for _ in range(count):
        top, start = leading_pair(rest)
        c, n_iter, is_settled = climb.run(rest / np.sqrt(top), start)
        if not c.any():
            break
        image = rest @ c
        vectors.append(c)
        separations.append(image @ image)
        penalties.append(top * climb.penalty(c))
        steps.append(n_iter)
        settled.append(is_settled)
        rest = deflate(rest, image)
    return PenalizedDirections(
        np.array(vectors).reshape(-1, root.shape[1]).T,
        np.array(separations),
        np.array(separations) - np.array(penalties),
        np.array(steps, dtype=np.intp),
        np.array(settled, dtype=bool),
    )


def leading_pair(root: np.ndarray) -> tuple[float, np.ndarray]:
    """The largest eigenvalue of root'root, and its unit eigenvector, by the small root root'."""
    values, vectors = linalg.eigh(root @ root.T)
    start = root.T @ vectors[:, -1]
    return float(values[-1]), start / np.linalg.norm(start)


def deflate(root: np.ndarray, image: np.ndarray) -> np.ndarray:
    """A root of root'P root, P the projector off ``image``, with a row less.

    A reflection that takes image to the first axis, of which the first row is then left out.
    """
    v = image / np.linalg.norm(image)
    v[0] += np.copysign(1.0, v[0])
    return (root - np.outer(v, (v @ root) * (2.0 / (v @ v))))[1:]


def safe_alpha(p: int) -> float:
    """The largest alpha with which no direction of p entries can vanish, without fusion.

    The objective is l_k (1 - alpha |c|_1) or more at the start, which is not negative for this
    alpha, and never falls; a step that vanished would need one of -c'S_k c at most.
    """
    return float(1.0 / np.sqrt(p))


def largest_alpha(root: np.ndarray, *, fusion: float = 0.0, max_iter: int = 10_000) -> float:
    """About the largest alpha with which the first direction does not vanish, from below.

    The first step ends at zero from alpha = 2 max_j |c_j| on, c the start. Later steps may end
    there with much less, because S c shrinks as c departs from the start: hence the bisection.
    """
    top, start = leading_pair(root)
    unit = root / np.sqrt(top)

    def survives(alpha: float) -> bool:
        return bool(Climb(alpha, fusion, 1e-6, max_iter).run(unit, start)[0].any())

    low = safe_alpha(start.size) if fusion == 0.0 else 0.0
    high = 2.0 * float(np.abs(start).max())
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if survives(middle) else (low, middle)
    return low
