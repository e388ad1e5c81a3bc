"""The semidefinite relaxation of sparse PCA: DSPCA (d'Aspremont et al. 2005).

A unit vector x with k non-zeros gives X = xx' with trace 1 and sum |X_ij| = |x|_1^2 <= k. Hence

    max tr(AX)   s.t.   X semidefinite, tr X = 1, sum |X_ij| <= k

is no less than the largest eigenvalue of any k features. Its dual,

    min over symmetric Y of   lambda_max(A - Y) + k max |Y_ij|,

makes EVERY Y a proof: x'Ax = x'(A - Y)x + x'Yx, and x'Yx <= max |Y_ij| |x|_1^2.

Both are solved by ADMM: X is projected on the first set and Z on the l1 ball, and a multiplier,
which is Y, draws them together. Both projections are exact. One step costs an eigen-decomposition.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg

from ..pencil.criteria import TINY
from .spectral_bound import MARGIN

# Over-relaxation: saves a quarter of the steps that 1 takes.
RELAX = 1.8
# Balancing the residuals: how often, how unequal they may be, the most by which beta then changes.
EVERY = 20
UNEQUAL = 2.0
MAX_CHANGE_RATIO = 5.0
# From then on beta stays: ADMM is proved to converge for a constant one.
BALANCED = 1000


class State(NamedTuple):
    """Where the splitting method stands: Z, the multiplier Y, its step and the steps done."""

    Z: np.ndarray
    Y: np.ndarray
    beta: float
    n_iter: int

    def restrict(self, index: np.ndarray) -> State:
        """The same on some of the features."""
        part = np.ix_(index, index)
        return self._replace(Z=self.Z[part], Y=self.Y[part])


class Relaxation:
    """The splitting method for one A (B = I) and one k, from the start or from a state.

    Attributes
    ----------
    upper : the least dual value so far, moved outward for round-off: a proved bound
    lower : the largest value of an X that keeps all constraints
    n_iter : steps done
    """

    def __init__(self, A: np.ndarray, k: int, state: State | None = None) -> None:
        self.scale = float(np.abs(A).max()) or 1.0
        self.A, self.k = A / self.scale, k
        self.beta, self.n_iter = 1.0, 0
        self.Z = np.zeros_like(self.A)
        self.W = np.zeros_like(self.A)  # Y / beta
        if state is not None:
            self.Z, self.beta, self.n_iter = state.Z, state.beta, state.n_iter
            self.W = state.Y / (self.scale * self.beta)
        self.X = self.Z
        self.vector = np.zeros(len(A))  # the leading eigenvector of X
        self._upper, self._lower = np.inf, -np.inf
        if state is None:
            self.look()

    @property
    def upper(self) -> float:
        return self.scale * self._upper

    @property
    def lower(self) -> float:
        return self.scale * self._lower

    @property
    def multiplier(self) -> np.ndarray:
        """Y of the dual, as it is now."""
        return self.scale * self.beta * self.W

    @property
    def state(self) -> State:
        """Where it stands."""
        return State(self.Z, self.multiplier, self.beta, self.n_iter)

    def is_solved(self, tol: float) -> bool:
        """Whether the relaxation's own optimum is known to tol, relatively."""
        return self._upper - self._lower <= tol * max(abs(self._upper), 1.0)

    def step(self) -> None:
        """One step of ADMM."""
        values, V = linalg.eigh(self.Z - self.W + self.A / self.beta, driver="evd")
        weights = project_simplex(values)
        used = weights > 0
        self.X, self.vector = (V[:, used] * weights[used]) @ V[:, used].T, V[:, -1]
        mixed = RELAX * self.X + (1 - RELAX) * self.Z
        old, self.Z = self.Z, project_l1_ball(mixed + self.W, self.k)
        self.W += mixed - self.Z
        self.n_iter += 1
        if self.n_iter % EVERY == 0 and self.n_iter <= BALANCED:
            self._balance(old)

    def look(self) -> None:
        """Bring the bounds up to date."""
        Y = self.beta * self.W
        values = linalg.eigvalsh(self.A - Y)
        margin = MARGIN * max(1.0, float(np.abs(values).max()))
        dual = float(values[-1]) + self.k * float(np.abs(Y).max())
        self._upper = min(self._upper, dual + margin)
        # a little of the best single feature brings X into the l1 ball
        best = float(np.diag(self.A).max())
        total = float(np.abs(self.X).sum())
        share = 1.0 if total <= self.k else (self.k - 1) / (total - 1)
        inside = share * float(np.sum(self.A * self.X)) + (1 - share) * best
        self._lower = max(self._lower, best, inside if self.n_iter else best)

    def _balance(self, old: np.ndarray) -> None:
        """Change beta so that X - Z and the change of Z go to zero alike."""
        size = max(float(np.linalg.norm(self.X)), float(np.linalg.norm(self.Z)), TINY)
        primal = float(np.linalg.norm(self.X - self.Z)) / size
        dual = float(np.linalg.norm(self.Z - old)) / max(float(np.linalg.norm(self.W)), TINY)
        ratio = np.sqrt(max(primal, TINY) / max(dual, TINY))
        if not 1 / UNEQUAL <= ratio <= UNEQUAL:
            change = float(np.clip(ratio, 1 / MAX_CHANGE_RATIO, MAX_CHANGE_RATIO))
            self.beta *= change
            self.W /= change


def project_simplex(v: np.ndarray, total: float = 1.0) -> np.ndarray:
    """The nearest non-negative vector with this sum."""
    return np.maximum(v - _water_level(v, total), 0.0)


def project_l1_ball(M: np.ndarray, radius: float) -> np.ndarray:
    """The nearest matrix with sum |M_ij| <= radius."""
    size = np.abs(M)
    if size.sum() <= radius:
        return M.copy()
    return np.sign(M) * np.maximum(size - _water_level(size.ravel(), radius), 0.0)


def _water_level(v: np.ndarray, total: float) -> float:
    """The level above which v has this sum: Newton's method, which ends with it."""
    level, above = -np.inf, v
    while True:
        higher = (float(above.sum()) - total) / above.size
        if not higher > level:
            return level
        level = higher
        left = above[above > level]
        if left.size in (0, above.size):
            return level
        above = left
