"""Row-sparse basis pursuit: min sum_j |x_j| (lengths of the rows of x) subject to Ux = C, U with
orthonormal rows.

With r_j >= 0 the multiplier of |u_j'Y| <= 1, the optimum has rows x_j = r_j u_j'Y where Y solves
M(r) Y = C, M(r) = sum_j r_j u_j u_j', and r minimises the convex

    f(r) = 1/2 trace(C' M(r)^-1 C) + 1/2 sum_j r_j   subject to r >= 0.

Every r > 0 gives an x that satisfies the constraint, and Y, scaled, a lower bound. f is minimised
by a primal-dual interior-point method on a working set of columns, which the vertices of the l1
problem start; columns with |u_j'Y| > 1 join it until there are none. Newton steps on the columns
that are left (|u_j'Y| = 1) then give all digits.

Costs (w columns in the working set, about twice as many as the answer has): a step is
O(w^2 (g + w)), a check of all columns O(g p q).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ..core.budget import Budget
from ..core.pursuit import Answer, find_copies, row_lengths
from ..core.solution import Status

MAX_STEPS = 100  # of one interior-point run; 15 to 25 are usual
MAX_ROUNDS = 50  # of the working set
CLOSE = 1e-9  # relative gap at which Newton's method takes over
VIOLATION = 1e-12  # of |u_j'Y| <= 1
SHORTEST = 1e-6  # multipliers below this share of the largest may leave
NEWTON_STEPS = 12
NEARLY = 1e-6  # |z_j|^2 - 1 from which Newton's method counts as converging
EXACT = 1e-13  # relative residual
TO_BOUNDARY = 0.99


def solve_row_sparse(
    rows: np.ndarray, target: np.ndarray, start: np.ndarray, budget: Budget
) -> Answer:
    """x (p, q) with the fewest long rows, and the dual y (g, q).

    ``start`` (p, q) is some solution of the constraint; the columns it uses start the working set.
    """
    if not target.any():
        return Answer(np.zeros_like(start), np.zeros_like(target), 0)
    search = _Search(rows, target, budget)
    r = row_lengths(start, "l21")
    work = search.without_copies(np.flatnonzero(r))
    for _ in range(MAX_ROUNDS):
        found = search.polish(search.minimise(work, r[work]))
        sizes = row_lengths(rows.T @ found.Y, "l21")
        violated = np.setdiff1d(np.flatnonzero(sizes > 1.0 + VIOLATION), found.work)
        if violated.size == 0 or search.stopped is not None:
            break
        worst = violated[np.argsort(-sizes[violated], kind="stable")[: 2 * len(rows)]]
        r = np.zeros(r.size)
        r[found.work] = found.r
        work = search.without_copies(np.union1d(found.work, worst))
    x = np.zeros_like(start)
    x[found.work] = search.weights(found)
    return Answer(x, found.Y, search.n_steps, search.stopped)


@dataclass(frozen=True, eq=False)
class _Point:
    """Multipliers r of the columns in ``work``, Y = M(r)^-1 C and Z = U'Y."""

    work: np.ndarray
    r: np.ndarray
    Y: np.ndarray
    Z: np.ndarray
    K: np.ndarray  # U'M^-1 U

    @property
    def slack(self) -> np.ndarray:
        """(1 - |z_j|^2) / 2: the gradient of f."""
        return 0.5 - 0.5 * np.einsum("ij,ij->i", self.Z, self.Z)

    @property
    def hessian(self) -> np.ndarray:
        return self.K * (self.Z @ self.Z.T)

    @property
    def gap(self) -> float:
        """Relative, with respect to the columns in work."""
        lengths = np.linalg.norm(self.Z, axis=1)
        objective = self.r @ lengths
        bound = self.r @ lengths**2 / max(1.0, lengths.max())  # <C, Y> = sum r_j |z_j|^2
        return float((objective - bound) / objective)


class _Search:
    """The minimisation, the steps it took and why it stopped early, if it did."""

    def __init__(self, rows: np.ndarray, target: np.ndarray, budget: Budget) -> None:
        self.rows, self.target, self.budget = rows, target, budget
        self.n_steps = 0
        self.stopped: Status | None = None

    def point(self, work: np.ndarray, r: np.ndarray) -> _Point:
        U = self.rows[:, work]
        M = (U * r) @ U.T
        solved = linalg.solve(M, np.hstack([self.target, U]), assume_a="pos")
        q = self.target.shape[1]
        Y = solved[:, :q]
        Y = Y + linalg.solve(M, self.target - M @ Y, assume_a="pos")
        return _Point(work, r, Y, U.T @ Y, U.T @ solved[:, q:])

    def without_copies(self, work: np.ndarray) -> np.ndarray:
        """Only the first of identical columns: the multipliers of copies are undetermined."""
        copies = find_copies(self.rows[:, work], np.arange(work.size))
        return work[~np.triu(copies, 1).any(axis=0)]

    def minimise(self, work: np.ndarray, r: np.ndarray) -> _Point:
        """Interior points, until the gap on these columns is small."""
        r = np.maximum(r, 0.05 * r.mean())
        point = self.point(work, r)
        # f(ar) is least for a^2 = sum r_j |z_j|^2 / sum r_j
        factor = np.linalg.norm(point.Z * np.sqrt(r)[:, None]) / np.sqrt(r.sum())
        point = self.point(work, r * factor)
        dual = np.maximum(point.slack, 0.1)
        shrink = 0.2
        for _ in range(MAX_STEPS):
            self.stopped = self.stopped or self.budget.stop()
            if point.gap <= CLOSE or self.stopped is not None:
                break
            self.budget.report("interior point", "steps", self.n_steps)
            mu = shrink * float(point.r @ dual) / work.size
            step = _solve(point.hessian + np.diag(dual / point.r), mu / point.r - point.slack)
            dual_step = mu / point.r - dual - dual / point.r * step
            length = min(_room(point.r, step), _room(dual, dual_step))
            point = self.point(work, point.r + length * step)
            dual = dual + length * dual_step
            shrink = 0.1 if length > 0.9 else 0.4
            self.n_steps += 1
        return point

    def polish(self, point: _Point) -> _Point:
        """Newton's method for |z_j| = 1 on the columns that are left, for all digits.

        Where it does not converge (an optimum with fewer rows than the rank, say) the interior
        point is kept.
        """
        kept = point.r > SHORTEST * point.r.max()
        best, error = point, NEARLY
        work, r = point.work[kept], point.r[kept]
        for _ in range(NEWTON_STEPS):
            try:
                trial = self.point(work, r)
                step = _solve(trial.hessian, -trial.slack)
            except linalg.LinAlgError:
                break
            off = float(np.abs(trial.slack).max())
            if off < error:
                best, error = trial, off
            elif best is not point:
                break  # no more digits to gain
            stays = r + step > 0.0
            work, r = work[stays], (r + step)[stays]
        return best

    def weights(self, point: _Point) -> np.ndarray:
        """The rows of x in work."""
        x = point.r[:, None] * point.Z
        kept = point.r > SHORTEST * point.r.max()
        if kept.all():
            return x
        # an interior point has no zeros: the few long rows may do without the others
        U = self.rows[:, point.work[kept]]
        few = np.zeros_like(x)
        few[kept] = linalg.lstsq(U, self.target)[0]
        off = np.linalg.norm(U @ few[kept] - self.target)
        return few if off <= EXACT * np.linalg.norm(self.target) else x


def _room(values: np.ndarray, step: np.ndarray) -> float:
    """How far one may go along step with values staying positive, at most 1."""
    falling = step < 0
    return min(1.0, TO_BOUNDARY * float(np.min(-values[falling] / step[falling], initial=np.inf)))


def _solve(H: np.ndarray, b: np.ndarray) -> np.ndarray:
    return linalg.solve(H, b, assume_a="pos")
