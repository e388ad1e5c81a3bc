"""Group lasso with a diagonal R > 0 and few rows in F: Newton's method on the dual.

With R diagonal the residual r = T - FB (m, q) determines every row by itself,

    beta_j = max(0, 1 - t_j / |v_j|) v_j / R_j,   v_j = r'F_j,

so that r, the maximiser of  <T, r> - 1/2 |r|^2 - sum_j max(0, |v_j| - t_j)^2 / (2 R_j),  is all
there is to find. For LDA with a diagonal within-class covariance (GLOSS-D) it is a square matrix
with a row per class but one, however many features there are and are used. The function is strongly
concave with a piecewise smooth gradient: Newton steps with a line search converge, the last ones
fast.

Costs: a step O(p m q + s (m q)^2 + (m q)^3) with s features used.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..pencil.budget import Budget
from ..pencil.criteria import EPS
from .group_lasso_base import GroupLassoMethod
from .scoring import ScoringProblem, row_lengths

MAX_UNKNOWNS = 400  # entries of r: beyond, a step takes too long
MIN_CURVATURE = 1e-3  # R_j, as a share of |F_j|^2, below which r does not fix beta_j well
MAX_STEPS = 200
LAST_STEPS = 4  # full ones, at the end
HIDDEN = 1e-11  # relative gain that round-off may hide
MIN_SHARE = 1e-9
ROUND_OFF = 1e-14  # relative, of |v_j|: at lambda_max nothing is used
ASCENT = 1e-4  # share of the promised gain that a step must bring


def can_solve(problem: ScoringProblem) -> bool:
    """Whether R is diagonal and positive, and the dual not too large."""
    if not problem.is_separable or problem.target.size > MAX_UNKNOWNS:
        return False
    return bool(np.all(problem.quadratic[problem.lengths > 0] > 0))


def suits(problem: ScoringProblem) -> bool:
    """Whether the dual is well-conditioned, too: within="diagonal", columns that vary."""
    if problem.within != "diagonal" or not can_solve(problem):
        return False
    return bool(np.all(problem.quadratic >= MIN_CURVATURE * np.square(problem.lengths)))


class DualGroupLassoSearch(GroupLassoMethod):
    """Newton steps on the residual r; among ``features`` only, the columns that vary."""

    name = "dual"

    def __init__(self, problem: ScoringProblem, budget: Budget, tol: float) -> None:
        super().__init__(problem, budget, tol)
        varies = problem.factor.any(axis=0)
        self.features = np.flatnonzero(varies)
        # a column of F in one piece
        self.columns = np.ascontiguousarray(problem.factor[:, varies].T)
        self.R = problem.quadratic[varies]
        self.r = problem.target.copy()

    def _minimise(self, penalty: float) -> None:
        self.cost = self.t[self.features]
        last_steps = 0
        while self.n_iter < MAX_STEPS and last_steps < LAST_STEPS:
            slope, step = self._newton_step()
            self.n_iter += 1
            promised, value = float((slope * step).sum()), self._value(self.r)
            # what is left to gain is hidden by round-off: full steps, which converge here
            last_steps += promised <= HIDDEN * (1.0 + abs(value))
            self.r = self.r + (1.0 if last_steps else self._share(step, value, promised)) * step
            if self.budget.stop() is not None:
                break
        # no time was left, or round-off hid the way: no answer is worse than none
        S, self.rows = self._worth_keeping(*self._rows())
        self.S = self.features[S]

    def _worth_keeping(self, S: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The rows, if they are better than none; else the one feature that is used first."""
        fit = self.columns[S].T @ rows
        gain = float((self.problem.target * fit).sum() - self.cost[S] @ row_lengths(rows))
        paid = float(np.square(fit).sum() + (self.R[S] @ np.square(rows)).sum())
        if gain > 0.5 * paid:
            return S, rows
        v = self.columns @ self.problem.target
        lengths = row_lengths(v)
        best = np.argmax(lengths / self.cost)
        curvature = self.R[best] + np.square(self.columns[best]).sum()
        if lengths[best] <= self.cost[best] * (1.0 + ROUND_OFF):
            return S[:0], rows[:0]
        row = v[best] * (1.0 - self.cost[best] / lengths[best]) / curvature
        return np.array([best]), row[None]

    def _value(self, r: np.ndarray) -> float:
        over = np.maximum(row_lengths(self.columns @ r) - self.cost, 0.0)
        paid = float((np.square(over) / self.R).sum())
        return float((self.problem.target * r).sum() - 0.5 * np.square(r).sum() - 0.5 * paid)

    def _rows(self) -> tuple[np.ndarray, np.ndarray]:
        v = self.columns @ self.r
        lengths = row_lengths(v)
        S = np.flatnonzero(lengths > self.cost * (1.0 + ROUND_OFF))
        return S, ((1.0 - self.cost[S] / lengths[S]) / self.R[S])[:, None] * v[S]

    def _newton_step(self) -> tuple[np.ndarray, np.ndarray]:
        """The gradient and the step."""
        m, q = self.r.shape
        S, rows = self._rows()
        F, sizes = self.columns[S], row_lengths(rows)
        u = rows / sizes[:, None]
        slope = self.problem.target - self.r - F.T @ rows
        bent = self.cost[S] / (self.cost[S] + self.R[S] * sizes)  # t_j / |v_j|
        flat = F.T @ (((1.0 - bent) / self.R[S])[:, None] * F)
        both = (F[:, :, None] * u[:, None, :]).reshape(S.size, m * q)
        H = np.kron(flat, np.eye(q)) + both.T @ ((bent / self.R[S])[:, None] * both)
        # large columns beside a small ridge: without a share of them H is singular to doubles
        H[np.diag_indices(m * q)] += 1.0 + H.shape[0] * EPS * H.diagonal().max()
        step = linalg.cho_solve(linalg.cho_factor(H), slope.ravel())
        return slope, step.reshape(m, q)

    def _share(self, step: np.ndarray, value: float, promised: float) -> float:
        """1, 1/2, 1/4, ...: the first share of the step that climbs."""
        share = 1.0
        while share > MIN_SHARE:
            if self._value(self.r + share * step) >= value + ASCENT * share * promised:
                break
            share /= 2
        return share
