"""An upper bound on the largest eigenvalue of every set of k features, from one look.

For every tau, A <= tau I + (A - tau I)_+ in the order of semidefinite matrices, and the largest
eigenvalue of a semidefinite matrix is at most its trace. So with B = I no set exceeds

    tau + the sum of the k largest diagonal entries of (A - tau I)_+.

A feature that does not fit into such a sum above a given value is in no better set.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, optimize

from ..pencil.budget import Budget
from ..pencil.criteria import EPS, generalized_eigh, value_rounding
from ..pencil.factor_pencil import quadratic_forms
from ..pencil.pencil import Pencil
from ..pencil.problem import Problem
from ..pencil.row_factor import weighted_gram

# Combinations of squared eigenvectors, by weights of the eigenvalues: (m,) -> (p,).
Combine = Callable[[np.ndarray], np.ndarray]

# Up to this many features a general B is looked at in full, with a dozen decompositions.
DENSE_LIMIT = 500
# Steps of a bisection.
STEPS = 14
# Added to every bound, relatively, for round-off.
MARGIN = 1e-9
# Backward error of an eigen-decomposition, per row, in units of the largest eigenvalue.
BACKWARD = 1e-14


def spectral_upper_bound(problem: Problem, value: float = -np.inf) -> float:
    """No set that the problem allows has a larger leading eigenvalue.

    ``value`` is that of a known set: below it nothing is looked for.
    """
    pencil = problem.pencil
    if pencil.has_diagonal_B:
        bound = TraceBound(problem).least
    elif pencil.size <= DENSE_LIMIT:
        bound = _by_levels(problem, value)
    else:
        top = float(pencil.top()[0][0])
        share = float((pencil.diagonal_below / pencil.diag_B).min())
        top += (MARGIN + 8 * pencil.size * EPS / share) * max(abs(top), pencil.scale)
        bound = min(TraceBound(problem).least, top)
    return max(bound, value)


def screen(
    problem: Problem, support: np.ndarray, cut: float, budget: Budget
) -> tuple[float, np.ndarray]:
    """A bound on all sets, and the features that one above the cut, or the support, may hold."""
    traces = TraceBound(problem)
    if traces.least <= cut:
        return traces.least, support
    may_hold = traces.may_exceed(cut)
    may_hold[support] = True
    return traces.least, np.flatnonzero(may_hold)


class TraceBound:
    """tau + the largest traces, for a pencil scaled to B = I, or to a diagonal below B."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        pencil = problem.pencil
        self.blocks, _ = problem.blocks_and_needs()
        self.needs = problem.lacks(problem.include)
        self.is_diagonal = pencil.has_diagonal_B
        scale = 1.0 / np.sqrt(pencil.diagonal_below)
        self.values, self.combine, self.is_whole = _spectrum(pencil, scale)
        size = float(np.abs(self.values).max(initial=0.0))
        self.margin = MARGIN * max(size, pencil.scale)
        self.taus, self.totals = self._curve()

    @property
    def least(self) -> float:
        """The bound at the best tau."""
        return self._outward(float(np.min(self.totals)))

    def may_exceed(self, value: float) -> np.ndarray:
        """A mask of the features that a set above the value may hold; the included ones among them.

        They fit into a sum above the value, at the best few tau.
        """
        mask = np.ones(self.problem.pencil.size, dtype=bool)
        for tau in self.taus[np.argsort(self.totals)[:4]]:
            traces = self._traces(tau)
            total, least = self._total(tau, traces)
            mask &= self._outward_all(total - least[self.blocks] + traces) > value
        mask[self.problem.include] = True
        return mask

    def _outward(self, bound: float) -> float:
        return float(self._outward_all(np.array(bound)))

    def _outward_all(self, bounds: np.ndarray) -> np.ndarray:
        # x'Dx <= x'Bx turns a bound for D into one for B only if it is not negative
        return (bounds if self.is_diagonal else np.maximum(bounds, 0.0)) + self.margin

    def _traces(self, tau: float) -> np.ndarray:
        return self.combine(np.maximum(self.values - tau, 0.0))

    def _total(self, tau: float, traces: np.ndarray) -> tuple[float, np.ndarray]:
        """The sum, and of every block the smallest trace in it (inf if none is needed)."""
        total = tau + float(traces[self.problem.include].sum())
        free = np.ones(traces.size, dtype=bool)
        free[self.problem.include] = False
        least = np.full(self.needs.size, np.inf)
        for b, need in enumerate(self.needs):
            own = traces[free & (self.blocks == b)]
            if need > 0:
                largest = np.partition(own, own.size - need)[own.size - need :]
                total += float(largest.sum())
                least[b] = largest.min()
        return total, least

    def _curve(self) -> tuple[np.ndarray, np.ndarray]:
        """Bounds at some tau, closing in on the best one: the sum is convex in tau."""
        low, high = float(np.min(self.values)), float(np.max(self.values))
        if not self.is_whole:
            low = 0.0  # the eigenvalues that are not there are zero: tau must not be below
        high = max(low, high)
        ratio = (np.sqrt(5.0) - 1) / 2
        taus = [low, high, high - ratio * (high - low), low + ratio * (high - low)]
        sums = [self._total(tau, self._traces(tau))[0] for tau in taus]
        a, b, left, right = low, high, 2, 3
        for _ in range(STEPS):
            if sums[left] < sums[right]:
                b, right = taus[right], left
                taus.append(b - ratio * (b - a))
                left = len(taus) - 1
            else:
                a, left = taus[left], right
                taus.append(a + ratio * (b - a))
                right = len(taus) - 1
            sums.append(self._total(taus[-1], self._traces(taus[-1]))[0])
        return np.array(taus), np.array(sums)


def _spectrum(pencil: Pencil, scale: np.ndarray) -> tuple[np.ndarray, Combine, bool]:
    """Eigenvalues of the scaled A, squared vectors (p, m), and whether that is all of them.

    The squared vectors as a function of weights (m,), their combination: of rows that are no array
    they are not formed.
    """
    if pencil.max_rank >= pencil.size:
        values, vectors = linalg.eigh(pencil.A * np.outer(scale, scale))
        return values, _of_squares(vectors), True
    H, signs = pencil.spectral_factor
    H = H * scale
    gram, U = linalg.eigh(weighted_gram(H))
    root = U * np.sqrt(np.maximum(gram, 0.0))
    values, X = linalg.eigh(root.T @ (signs[:, None] * root))
    keep = values > 1e-12 * np.abs(values).max(initial=0.0)
    if not keep.any():
        return np.zeros(1), lambda weights: np.zeros(pencil.size), False
    turn = signs[:, None] * (root @ X[:, keep]) / values[keep]
    if isinstance(H, np.ndarray):
        return values[keep], _of_squares(H.T @ turn), False
    return values[keep], lambda weights: quadratic_forms(H, (turn * weights) @ turn.T), False


def _of_squares(vectors: np.ndarray) -> Combine:
    squares = np.square(vectors, out=vectors)  # ours: no second copy of wide data
    return lambda weights: squares @ weights


def _by_levels(problem: Problem, value: float) -> float:
    """The lowest level at which the spectral trace test of the search proves, by bisection."""
    pencil = problem.pencil
    d = 1.0 / np.sqrt(pencil.diag_B)
    unit = pencil.scale or 1.0
    A, B = pencil.A * np.outer(d, d) / unit, pencil.B * np.outer(d, d)
    blocks, needs = problem.blocks_and_needs()[0], problem.lacks(problem.include)
    inside = problem.include.astype(np.int64)
    free = np.setdiff1d(problem.features, inside)
    values = generalized_eigh(A, B)[0]
    top = float(values[0])
    rounding = value_rounding(values, A, B, "lambda_max", pencil.least_B)
    high = top + MARGIN * max(abs(top), 1.0) + rounding
    singles = np.diag(A)[free if needs.sum() else inside]
    low = min(max(float(singles.min()), value / unit), high)
    for _ in range(int(np.clip(2e8 / pencil.size**3, 3, STEPS))):  # not a second if it is large
        middle = (low + high) / 2
        slack = 2 * (pencil.size + 2) * EPS * (1.0 + abs(middle))  # round-off of an entry of N
        N = middle * B - A - slack * np.eye(pencil.size)
        if _proves(N, blocks, needs, inside, free):
            high = middle
        else:
            low = middle
    return high * unit


def _proves(
    N: np.ndarray, blocks: np.ndarray, needs: np.ndarray, inside: np.ndarray, free: np.ndarray
) -> bool:
    """Whether N = level B - A is seen to be positive definite on every allowed set.

    The spectral trace test of exact/levelset/search_kernel.pyx, in NumPy: a model asks for it once.
    """
    if inside.size:
        try:
            C = linalg.solve_triangular(
                np.linalg.cholesky(N[np.ix_(inside, inside)]), N[np.ix_(inside, free)], lower=True
            )
        except np.linalg.LinAlgError:
            return False
        N = N[np.ix_(free, free)] - C.T @ C
    diagonal = np.diag(N)
    if np.any(diagonal <= 0):
        return False
    if needs.sum() <= 1:
        return True
    scale = diagonal**-0.25  # half way between B's units and N's: often the best of simple ones
    theta, V = linalg.eigh(N * np.outer(scale, scale))
    squares, places = np.square(V), [np.flatnonzero(blocks[free] == b) for b in range(needs.size)]
    hidden = BACKWARD * theta.size * float(np.abs(theta).max())

    def total(tau: float) -> float:
        y = squares @ np.maximum(1.0 - tau * theta, 0.0)
        largest = (np.sort(y[own])[own.size - n :].sum() for own, n in zip(places, needs))
        return float(sum(largest)) + tau * hidden

    if theta[0] > MARGIN * theta[-1]:
        return True
    best = optimize.minimize_scalar(
        lambda t: total(np.exp(t)), bounds=(-12.0 - np.log(theta[-1]), 12.0 - np.log(theta[-1]))
    )
    return bool(best.fun <= 1.0 - MARGIN)
