"""Sparse components by the elastic net (Zou, Hastie & Tibshirani 2006): SPCA.

A is a covariance, B = I. Over an orthonormal a (p, m) and any b (p, m)

    min  sum_j (a_j - b_j)'A(a_j - b_j) + ridge |b_j|^2 + rho_j |b_j|_1,

which is the regression of the data on their own components. In turn:

* b_j is one weighted lasso, with A + ridge I for its B, g = A a_j and t = rho_j / 2;
* a = UV', where A [b_1 .. b_m] = U D V'.

Neither step raises the criterion. With ridge = inf, for many more columns than rows, the direction
of b_j is that of the soft-thresholded A a_j. Where a cardinality is wanted instead of a penalty,
every lasso takes the smallest penalty that leaves so many non-zeros: the end of that piece of its
path, where the non-zeros are shrunk least.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...errors import OptionError, PencilError
from ...pencil.budget import Budget
from ...pencil.factor_pencil import FactorPencil
from ...pencil.pencil import Pencil
from ...pencil.solution import Status
from .weighted_lasso import DiagonalLasso, WeightedLasso, make_lasso

# The ridge in units of the mean variance. With 1e-6 a singular A takes the lasso a hundred times as
# long; on the pit props both give the same features, and variances that agree to .01 %.
RIDGE = 1e-3
# Penalties below this share of the largest one are not looked at.
MIN_PENALTY_SHARE = 1e-8
# The bisection ends when the penalty is known to this, relatively.
SHARP = 1e-11
# The alternation ends when sets have come back so often.
MAX_RETURNS = 20
# Smaller than this share of what it is without a penalty, b is noise.
NOTHING = 1e-4


@dataclass(frozen=True, eq=False)
class ElasticComponents:
    """Where the alternation came to rest: a and b (p, m), and how.

    ``slopes`` is A a: what the entries of b that are zero would be without a penalty, roughly.
    """

    a: np.ndarray
    b: np.ndarray
    slopes: np.ndarray
    n_iter: int
    status: Status


def find_elastic_components(
    pencil: Pencil,
    ks: Sequence[int | None],
    rhos: Sequence[float | None],
    budget: Budget,
    *,
    free: np.ndarray,
    ridge: float | None = None,
    tol: float = 1e-8,
    max_iter: int,
) -> ElasticComponents:
    """Alternate from the leading eigenvectors until no b changes.

    Parameters
    ----------
    pencil : Pencil with B = I and a positive semidefinite A
    ks, rhos : for every component its penalty, or, where that is None, its cardinality
    free : mask (p,) of the features without a penalty
    ridge : float >= 0, inf, or None for a thousandth of the mean variance
    tol : the change of b, relatively, at which it has converged
    max_iter : the most alternations
    """
    lasso = ridge_lasso(pencil, ridge)
    steps = [_Step(lasso, rho, k, free, budget) for k, rho in zip(ks, rhos)]
    a = _leading(pencil, len(steps))
    slopes = pencil.apply_A(a)
    b = np.zeros_like(a)
    status, n_iter = Status.ITERATION_LIMIT, 0
    seen: set[bytes] = set()
    last, returns = b"", 0
    # with a fixed number of features the criterion may rise, and the sets go round in circles
    while n_iter < max_iter and returns < MAX_RETURNS:
        new = np.column_stack([step.solve(g) for step, g in zip(steps, slopes.T)])
        change = np.abs(new - b).max(axis=0)
        b, n_iter = new, n_iter + 1
        if np.all(change <= tol * np.abs(b).max(axis=0)):
            status = Status.CONVERGED
            break
        support = (b != 0).tobytes()
        returns += support != last and support in seen
        seen.add(support)
        last = support
        stopped = budget.stop()
        if stopped is not None:
            status = stopped
            break
        budget.report("spca", "alternate", n_iter, total=max_iter)
        a = polar_factor(pencil.apply_A(b))
        slopes = pencil.apply_A(a)
    return ElasticComponents(a, b, slopes, n_iter, status)


def polar_factor(M: np.ndarray) -> np.ndarray:
    """UV' for M = U D V': the orthonormal matrix nearest to M."""
    U, _, Vt = linalg.svd(M, full_matrices=False)
    return U @ Vt


def ridge_lasso(pencil: Pencil, ridge: float | None) -> WeightedLasso:
    """The lasso with A + ridge I for its B; the identity if the ridge is infinite."""
    if ridge is None:
        ridge = RIDGE * float(pencil.diag_A.mean()) or 1.0  # A = 0: any will do
    if np.isinf(ridge):
        return DiagonalLasso(np.ones(pencil.size))
    try:
        if pencil.factors:
            H = pencil.factor_A
            return make_lasso(FactorPencil(H, H, np.full(pencil.size, ridge)))
        return make_lasso(Pencil(pencil.A, pencil.A + ridge * np.eye(pencil.size)))
    except PencilError as error:
        raise OptionError(f"ridge is {ridge}, too small for a singular A; leave it out") from error


def _leading(pencil: Pencil, m: int) -> np.ndarray:
    """The m leading eigenvectors; zeros for those that a factor pencil does not know."""
    vectors = pencil.top(m)[1]
    return np.pad(vectors, ((0, 0), (0, m - vectors.shape[1])))


class _Step:
    """The lasso of one component; it remembers its answer for the next time."""

    def __init__(
        self,
        lasso: WeightedLasso,
        rho: float | None,
        k: int | None,
        free: np.ndarray,
        budget: Budget,
    ) -> None:
        self.lasso, self.rho, self.k, self.budget = lasso, rho, k, budget
        self.costs = ~free
        self.b: np.ndarray | None = None
        self.t: float | None = None

    def solve(self, g: np.ndarray) -> np.ndarray:
        if self.rho is not None:
            self.b = self._at(g, self.rho / 2)
        elif self.k is None or self.k >= g.size:
            self.b = self._at(g, 0.0)
        else:
            self.b = self._with_most(g, self.k)
        return self.b

    def _at(self, g: np.ndarray, t: float) -> np.ndarray:
        return self.lasso.solve(g, t * self.costs, self.b)

    def _count(self, g: np.ndarray, t: float) -> int:
        return int(np.count_nonzero(self._at(g, t)))

    def _with_most(self, g: np.ndarray, k: int) -> np.ndarray:
        """The answer with at most k non-zeros for the smallest penalty, by bisection."""
        low, high = self._bracket(g, k)
        fits = self._at(g, high)
        while high > low * (1 + SHARP) and self.budget.stop() is None:
            t = float(np.sqrt(low * high))
            b = self._at(g, t)
            if np.count_nonzero(b) <= k:
                high, fits = t, b
            else:
                low = t
        self.t = high
        if low == high or self.budget.stop() is not None:
            return fits  # even the least penalty leaves no more, or there is no time
        least = NOTHING * float((np.abs(g) / self.lasso.diagonal).max())
        if np.count_nonzero(fits) == k and np.abs(fits).max() > least:
            return fits
        # k is skipped, as several enter at once (twins): take them all, and keep the largest
        return _largest(self._with_most(g, max(k + 1, self._count(g, low))), k)

    def _bracket(self, g: np.ndarray, k: int) -> tuple[float, float]:
        """Penalties with more than k non-zeros and with at most k; equal if there are no more."""
        # from top on all is zero, whatever the free features do: |g - Bb|_j^2 <= B_jj g'B^-1 g
        size = float(np.linalg.norm(g))
        top = max(size, float(np.sqrt(self.lasso.diagonal.max() * size)))
        width = 1e-6
        while self.t is not None and width < 1:  # the last penalty may be near
            low, high = self.t / (1 + width), self.t * (1 + width)
            if self._count(g, high) <= k < self._count(g, low):
                return low, high
            width *= 30
        low = high = top
        while low > MIN_PENALTY_SHARE * top:
            low /= 4
            if self._count(g, low) > k:
                return low, high
            high = low
        return high, high


def _largest(b: np.ndarray, k: int) -> np.ndarray:
    """b with all but its k largest entries set to zero; ties go to the lowest index."""
    kept = np.zeros_like(b)
    places = np.argsort(-np.abs(b), kind="stable")[:k]
    kept[places] = b[places]
    return kept
