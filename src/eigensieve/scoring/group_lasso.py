"""Group lasso: min 1/2 |T - FB|^2 + 1/2 tr B'RB + lambda sum_j w_j |beta_j|.

A working set of features is solved, the optimality conditions of all others are looked at, and
those that violate them join, until none does. On the working set block coordinate descent finds
the rows that are not zero, and Newton's method all their digits. Features that the duality gap
proves to be unused at this penalty (Ndiaye et al. 2017) are not looked at again.

Newton: with h_j^2 = |beta_j| / w_j and u_j = beta_j / |beta_j| the Hessian on the rows that are not
zero is (G + lambda h^-2) x I less lambda h_j^-2 u_j u_j' in the block of row j. The first part
needs one matrix of the size of the set for all columns of B (the paper's variational form), the
second is a correction of the same size (Woodbury): the q-fold system is never formed.

Costs (w features in the working set): a sweep O(w s q) for s rows that change, a Newton step
O(w^3 + w^2 q), a look at all features O(n p q). Only w x w is ever formed.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ..pencil.budget import Budget
from .group_lasso_base import GroupLassoMethod
from .group_lasso_kernel import descend_rows
from .scoring import ScoringProblem, row_lengths
from .solution import TOL, evaluate

SWEEPS = 20  # of coordinate descent, before Newton steps are tried
NEWTON_STEPS = 20
HALVINGS = 12  # of a Newton step that does not descend
STOPS = 8  # points that are looked at on the way of a Newton step that turns rows round
DAMPINGS = (0.0, 1e-9, 1e-6, 1e-3)  # of a Hessian, scaled to 1 or less, that may be singular
SHORT = 0.01  # share of a Newton step that is no progress
PATIENCE = 20  # rounds on one working set without any progress
PROGRESS = 1e-14
MAX_ROUNDS = 500  # of sweeps and Newton steps, on one working set
MAX_WORKING_SETS = 100
MIN_FEATURES_JOINING = 32  # features that may join a working set at once, at least
WORTHWHILE = 0.25  # share of features below which the others are left out for good


class GroupLassoSearch(GroupLassoMethod):
    """Working sets, coordinate descent and Newton steps."""

    name = "working-set"
    slope: np.ndarray

    def __init__(self, problem: ScoringProblem, budget: Budget, tol: float = TOL) -> None:
        super().__init__(problem, budget, tol)
        self.slope = problem.correlations.copy()
        self.usable = np.flatnonzero(~problem.is_redundant)

    def turn_to(self, problem: ScoringProblem) -> None:
        """Go on with another target for the same features, from the rows before."""
        self.problem = problem
        self.slope = problem.slope(self.S, self.rows)

    def _minimise(self, penalty: float) -> None:
        problem = self.problem
        live = self._screen(penalty)
        W = self._first_set(penalty, live)
        for _ in range(MAX_WORKING_SETS):
            self._solve_on(W, penalty)
            if live is self.usable:
                self.slope = problem.slope(self.S, self.rows)
                live = self._screen(penalty)
                slope = self.slope[live]
            else:
                slope = problem.slope(self.S, self.rows, live)
            violated = self._violated(live, slope, penalty)
            if violated.size == 0 or self.budget.stop() is not None:
                break
            W = np.union1d(self.S, violated)
        self.slope = problem.slope(self.S, self.rows)
        self.n_screened = self.t.size - live.size

    def _screen(self, penalty: float) -> np.ndarray:
        """The features that may be used: the optimal residual is within sqrt(2 gap) of ours.

        (In the space of F and a root of R, where the dual is a projection.)
        """
        figures = evaluate(self.problem, self.S, self.rows, penalty, self.slope)
        radius = np.sqrt(2.0 * max(0.0, figures.objective - figures.bound))
        lengths = row_lengths(self.slope)
        share = min(1.0, 1.0 / float((lengths / self.t).max()))
        reach = share * lengths + radius * np.sqrt(self.problem.curvatures)
        live = reach >= self.t * (1.0 - self._allowed(penalty))
        live[self.S] = True
        few = self.usable[live[self.usable]]
        return few if few.size <= WORTHWHILE * self.usable.size else self.usable

    def _first_set(self, penalty: float, live: np.ndarray) -> np.ndarray:
        """What is used already, and what the strong rule expects to be."""
        expected = row_lengths(self.slope[live]) / self.problem.weights[live]
        likely = live[expected > 2 * penalty - self.penalty]
        return np.union1d(self.S, self._most_violated(likely, self.slope[likely]))

    def _violated(self, live: np.ndarray, slope: np.ndarray, penalty: float) -> np.ndarray:
        wrong = row_lengths(slope) > self.t[live] * (1.0 + self._allowed(penalty)[live])
        wrong &= ~np.isin(live, self.S)
        return self._most_violated(live[wrong], slope[wrong])

    def _most_violated(self, features: np.ndarray, slope: np.ndarray) -> np.ndarray:
        most = max(MIN_FEATURES_JOINING, 2 * self.S.size)
        if features.size <= most:
            return features
        ratio = row_lengths(slope) / self.t[features]
        return features[np.argpartition(-ratio, most)[:most]]

    def _solve_on(self, W: np.ndarray, penalty: float) -> None:
        """The minimum over the features W; what is not used is left out of S.

        In units where every t_j is 1: scales of columns and weights do not matter.
        """
        t = self.t[W, None]
        part = _Part(self.problem.gram(W) / t / t.T, self.problem.correlations[W] / t)
        G = np.ascontiguousarray(part.G)
        B = np.zeros((W.size, self.rows.shape[1]))
        B[np.searchsorted(W, self.S)] = self.rows * self.t[self.S, None]
        least, idle = np.inf, 0
        for _ in range(MAX_ROUNDS):
            allowed = self._allowed(penalty)[W] / 2
            columns, H = np.ascontiguousarray(B.T), np.ascontiguousarray(part.slope(B).T)
            descend_rows(G, columns, H, SWEEPS, float(allowed.min(initial=self.tol)))
            B = np.ascontiguousarray(columns.T)
            self.n_iter += 1
            if part.is_solved(B, allowed) or self.budget.stop() is not None:
                break
            B = self._polish(part, B, allowed)
            self._take(W, B / t)
            value = part.value(B)
            idle = 0 if value < least - PROGRESS * abs(least) or np.isinf(least) else idle + 1
            least = min(value, least)
            if part.is_solved(B, allowed) or idle > PATIENCE:
                break
        self._take(W, B / t)

    def _take(self, W: np.ndarray, B: np.ndarray) -> None:
        used = B.any(axis=1)
        self.S, self.rows = W[used], B[used]

    def _polish(self, part: _Part, B: np.ndarray, allowed: np.ndarray) -> np.ndarray:
        """Newton steps on the rows that are not zero, as long as they descend."""
        used = np.flatnonzero(B.any(axis=1))
        small, rows = part.restrict(used), B[used]
        for _ in range(NEWTON_STEPS):
            better = small.newton(rows)
            if better is None:
                break
            self.n_iter += 1
            rows = better
            if not rows.any(axis=1).all() or small.is_solved(rows, allowed[used] / 2):
                break
        B = np.zeros_like(B)
        B[used] = rows
        return B


class _Part:
    """min 1/2 tr B'GB - tr B'C + sum_j |beta_j| over few features."""

    def __init__(self, G: np.ndarray, C: np.ndarray) -> None:
        self.G, self.C = G, C

    def restrict(self, used: np.ndarray) -> _Part:
        return _Part(self.G[np.ix_(used, used)], self.C[used])

    def slope(self, B: np.ndarray) -> np.ndarray:
        return self.C - self.G @ B

    def value(self, B: np.ndarray) -> float:
        return float(row_lengths(B).sum() - 0.5 * np.sum(B * (self.C + self.slope(B))))

    def is_solved(self, B: np.ndarray, allowed: np.ndarray) -> bool:
        """Whether the optimality conditions hold, as far as is allowed."""
        slope, sizes = self.slope(B), row_lengths(B)
        off = np.maximum(row_lengths(slope) - 1.0, 0.0)
        used = sizes > 0
        off[used] = row_lengths(slope[used] - B[used] / sizes[used, None])
        return bool(np.all(off <= allowed))

    def newton(self, B: np.ndarray) -> np.ndarray | None:
        """A Newton step for rows that are not zero; None if no step descends.

        Where only a short piece of it descends G is nearly singular, as with more rows than its
        rank: the step is then damped more and more, and the lowest point taken.
        """
        if B.size == 0:
            return None
        sizes = row_lengths(B)
        u, h = B / sizes[:, None], np.sqrt(sizes)[:, None]
        M = h * self.G * h.T
        M[np.diag_indices(sizes.size)] += 1.0
        inverse = _inverse(M)
        if inverse is None:
            return None
        first = inverse @ (h * (self.slope(B) - u))
        along = np.einsum("ij,ij->i", u, first)
        K = np.eye(sizes.size) - inverse * (u @ u.T)
        value, best = self.value(B), None
        for damping in DAMPINGS:
            K[np.diag_indices(sizes.size)] += damping
            _, weights, failed = linalg.lapack.dposv(K, along, lower=True)
            if failed:
                continue
            new, share = self.descend_along(B, h * (first + inverse @ (weights[:, None] * u)))
            reached = np.inf if new is None else self.value(new)
            if reached <= value:
                value, best = reached, new
                if share > SHORT:
                    break
        return best

    def descend_along(self, B: np.ndarray, step: np.ndarray) -> tuple[np.ndarray | None, float]:
        """A point on the way that is lower, and where; rows that would turn round are zero.

        The lowest of some points at which a row turns, as more than one may be dropped at once, and
        of the end; if none is lower than B, the first that is of ever shorter steps.
        """
        with np.errstate(divide="ignore"):
            ends = -np.square(row_lengths(B)) / np.einsum("ij,ij->i", B, step)
        ends[ends <= 0] = np.inf
        turns = np.sort(ends[ends <= 1])
        places = np.linspace(0, turns.size - 1, STOPS if turns.size else 0).astype(int)
        far = np.append(turns[np.unique(places)], 1.0)
        value, best, where = self.value(B), None, 0.0
        for share in far:
            new = np.where((ends <= share)[:, None], 0.0, B + share * step)
            reached = self.value(new)
            if reached <= value:
                value, best, where = reached, new, float(share)
        for share in far[0] * 0.5 ** np.arange(1, HALVINGS) if best is None else ():
            new = B + share * step
            if self.value(new) <= value:
                return new, float(share)
        return best, where


def _inverse(M: np.ndarray) -> np.ndarray | None:
    factor, failed = linalg.lapack.dpotrf(M, lower=True, overwrite_a=True)
    if failed:
        return None
    inverse, failed = linalg.lapack.dpotri(factor, lower=True, overwrite_c=True)
    lower = np.tril(inverse)
    return None if failed else lower + np.tril(inverse, -1).T
