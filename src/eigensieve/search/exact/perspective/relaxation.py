"""The perspective relaxation of a whole problem: columns are brought in as they are needed.

See relax_kernel.pyx for the relaxation itself. Here the thousands of features that never
matter are kept out of it: a small working set is solved, all features are priced in O(p n),
those that could matter join, and so on. The result bounds every set of k features. The pricing is
done where the pencil's rows lie, on a device or in memory; the working set comes to the host.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ....pencil.budget import Budget
from ....pencil.criteria import DOMINANT, EPS
from ....pencil.factor_pencil import quadratic_forms
from ....pencil.grading import MAX_CANCELLATION, align, cancellation
from ....pencil.problem import Problem
from ....pencil.row_factor import RowFactor, turn_rows
from ....tables.kinds.arrays import (
    is_device_array,
    largest_values,
    like,
    namespace,
    scatter,
    to_numpy,
)
from ...target import FREE, IN, OUT, decide_by_gains
from .relax_kernel import relax
from .weights import WEIGHTLESS, WeightProblem

# Columns that the working set starts with, and how many join at a time.
WORKING_SET = 200
JOIN = 150
# A diagonal below B must stay below it in spite of rounding.
SAFE = 1e-9
MAX_ROUNDS = 30
# The bound is to come this close to the value, relatively, in so many of Newton's steps at most.
SOLVED = 1e-6
NEWTON_STEPS = 100
# About how much arithmetic there may be between two looks at the clock.
STEP_WORK = 3e8
# While the bound on all is not near the value, relatively, the working set is solved roughly.
NEAR = 0.3
ROUGH = 0.03
# Relative rounding of a bound.
MARGIN = 1e-11
# What it takes to sort a column in or out, and to copy an entry, in units of `Budget.spend`.
WORK_OF_COLUMN, WORK_OF_ENTRY = 300.0, 10.0
# Columns in memory that are priced at a time: they stay in the cache.
BLOCK = 2**14


class ScaledPencil:
    """The pencil with diag(B) = 1, A = H'H and B = diag(D) + something semidefinite."""

    def __init__(self, problem: Problem) -> None:
        self.pencil, self._criterion = problem.pencil, problem.criterion
        pencil = self.pencil
        self.here = pencil.working if pencil.factors else None
        self._factor: Any = pencil.spectral_factor[0]
        self.cancellation = pencil.scale if problem.criterion == "logdet" else 0.0
        if self.cancellation > DOMINANT and isinstance(self._factor, np.ndarray):
            aligned = align(self.factor(slice(None)))
            self.cancellation, self._factor = (
                cancellation(aligned),
                aligned / self.scale(slice(None)),
            )
        elif len(self._factor) > pencil.size:
            triangle = np.linalg.qr(self.factor(slice(None)), mode="r")
            self._factor = triangle / self.scale(slice(None))

    def along(self, direction: np.ndarray) -> ScaledPencil:
        """The same with one row for A: what it is in a direction."""
        part, turn = copy(self), direction[None]
        part.__dict__ |= {"D": self.D, "left_out": self.left_out}
        part.__dict__.pop("H", None)
        part._factor = turn_rows(turn, self._factor)
        if self.here is not None:
            rows = self._working_factor
            on_device = is_device_array(rows)
            own = like(turn, rows) @ rows if on_device else turn_rows(turn, rows)
            part.__dict__["_working_factor"] = own
        return part

    @property
    def size(self) -> int:
        """Number of features."""
        return self.pencil.size

    @property
    def is_blurred(self) -> bool:
        """Whether round-off would hide what the relaxation could say of a log-det."""
        return self.cancellation > MAX_CANCELLATION * float(self.D.min())

    @cached_property
    def left_out(self) -> float:
        """See `Pencil.left_out`."""
        return self.pencil.left_out(self._criterion)

    @cached_property
    def _working_factor(self) -> Any:
        """H in the units of the pencil, where the pencil lies."""
        assert self.here is not None
        is_own = self._factor is self.pencil.spectral_factor[0]
        return self.here.factor_A if is_own else like(self._factor, self.here.d)

    @cached_property
    def H(self) -> np.ndarray:
        """The factor of A for all features."""
        return np.ascontiguousarray(self.factor(slice(None)))

    @cached_property
    def D(self) -> np.ndarray:
        """The diagonal that the relaxation starts from, for all features."""
        return self.diagonal(slice(None))

    @property
    def rank_above_D(self) -> int:
        """The rank of what B has beside a diagonal is not larger."""
        factors = self.pencil.factors
        return self.size if factors is None else len(factors.W)

    def scale(self, index: np.ndarray | slice) -> np.ndarray:
        """1 / sqrt(diag(B)) of some features."""
        return 1.0 / np.sqrt(self.pencil.diag_B[index])

    def factor(self, index: np.ndarray | slice) -> np.ndarray:
        """Some columns of H."""
        return self._factor[:, index] * self.scale(index)

    def diagonal(self, index: np.ndarray | slice) -> np.ndarray:
        """Some entries of D."""
        if self.pencil.factors:
            return self.pencil.diagonal_below[index] / self.pencil.diag_B[index] * (1 - SAFE)
        return self._least[index]

    @cached_property
    def _least(self) -> np.ndarray:
        smallest = linalg.eigvalsh(self.block(np.arange(self.pencil.size)))[0]
        return np.full(self.pencil.size, max(smallest - SAFE, SAFE * smallest))

    def block(self, index: np.ndarray) -> np.ndarray:
        """B on some features, dense."""
        part = self._product(index, index)
        part[np.diag_indices_from(part)] = 1.0
        return part

    def rows(self, index: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Some rows of the block of some columns."""
        part = self._product(index, columns)
        part[index[:, None] == columns] = 1.0
        return part

    def _product(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        pencil, scales = self.pencil, np.outer(self.scale(rows), self.scale(columns))
        if not pencil.factors:
            return pencil.B[np.ix_(rows, columns)] * scales
        every = pencil.factors.W
        W = every[:, columns]
        return ((W if rows is columns else every[:, rows]).T @ W) * scales

    def residuals(self, T: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """y = (h - W'z) / sqrt(D) and X of all features, for weights w of the columns T.

        A has one row h, and z = W X: z'z + the sum of y^2 over a set is no less than its score.
        """
        W_T, x, own = self.columns(T), np.zeros(self.size), self.diagonal(T)
        x[T] = evaluate(self.block(T), self.factor(T), own, w, False)[2][0]
        if W_T is None:
            rest = x[T] @ self.rows(T, np.arange(self.size))
        else:
            rest = ((x[T] @ W_T.T) @ self.pencil.factors.W) * self.scale(slice(None))
        y = (self.H[0] - rest) / np.sqrt(self.D)
        y[T] = x[T] * np.sqrt(own) / w  # the same by the equation of X, without cancellation
        return y, x

    def single(self) -> Any:
        """What every feature is worth alone, where its pencil lies."""
        part = self.pencil if self.here is None else self.here
        return part.diag_A / part.diag_B

    def columns(self, index: np.ndarray) -> np.ndarray | None:
        """Some columns of W with B = W'W + a diagonal; None where B is dense."""
        if not self.pencil.factors:
            return None
        return self.pencil.factors.W[:, index] * self.scale(index)

    def pass_work(self, used: int) -> float:
        """About the arithmetic of `prices` for so many columns with a weight."""
        factors, c = self.pencil.factors, len(self._factor)
        each = c * (used if factors is None else len(factors.W)) + c * c
        return float(each + WORK_OF_COLUMN) * self.size

    def prices(self, T: np.ndarray, W_T: np.ndarray | None, X: np.ndarray, G: np.ndarray) -> Any:
        """The gradient (p,) outside T, where the pencil lies; see `evaluate` for X and G."""
        if W_T is None or self.here is None:
            B = self.pencil.B[T] * np.outer(self.scale(T), self.scale(slice(None)))
            return quadratic_forms(self.H - X @ B, G) / self.D
        # the scales cancel: (H_j - X B_Tj) / sqrt(D_j) is the same in the units of the pencil
        Z = X @ W_T.T
        here, G = self.here, G / (1 - SAFE)
        return price_columns(self._working_factor, here.W, Z, G, here.diagonal_below)


def price_columns(H: Any, W: Any, Z: np.ndarray, G: np.ndarray, d: Any) -> Any:
    """y' G y / d for every column y of H - Z W, d a diagonal below B."""
    if is_device_array(W):
        Y = H - like(Z, W) @ W
        return namespace(W).sum(Y * (like(G, W) @ Y), axis=0) / d
    prices = np.empty(W.shape[1])
    product = Z @ W if isinstance(W, RowFactor) else None  # all at once: one pass over a table
    for start in range(0, prices.size, BLOCK):
        b = slice(start, min(start + BLOCK, prices.size))
        Y = H[:, b] - (Z @ W[:, b] if product is None else product[:, b])
        prices[b] = quadratic_forms(Y, G) / d[b]
    return prices


@dataclass
class Relaxation:
    """What the relaxation says of all the features.

    Attributes
    ----------
    bound : no set scores more
    used : the features with a weight
    used_weights : their weights w at the maximum; 1 for the forced
    prices : array (p,) where the pencil lies, the gradient; exchanging j for i changes the bound
        by prices_i - prices_j
    kth : the smallest of the largest gradients, as many as there are FREE features to choose
    """

    bound: float
    used: np.ndarray
    used_weights: np.ndarray
    prices: Any
    kth: float

    @cached_property
    def weights(self) -> np.ndarray:
        """w (p,) of all features."""
        weights = np.zeros(self.gradient.size)
        weights[self.used] = self.used_weights
        return weights

    @cached_property
    def gradient(self) -> np.ndarray:
        """The prices in the memory of the host."""
        return to_numpy(self.prices)

    def fixed(self, cut: float, state: np.ndarray, k: int) -> np.ndarray:
        """The state (FREE, IN or OUT) with all that a set above ``cut`` must or cannot have."""
        new = state.copy()
        free = np.flatnonzero(state == FREE)
        need = k - int(np.count_nonzero(state == IN))
        if 0 < need < free.size:
            must, cannot = decide_by_gains(self.gradient[free], need, self.bound, cut)
            new[free[must]], new[free[cannot]] = IN, OUT
        return new


def relax_all(
    problem: Problem,
    scaled: ScaledPencil,
    state: np.ndarray,
    weights: np.ndarray,
    *,
    cut: float = -np.inf,
    budget: Budget | None = None,
) -> Relaxation:
    """Solve the relaxation over all FREE features, from weights that sum to k (1 where IN).

    It may end early: once the bound is at or below ``cut``, or by the budget.
    """
    budget = budget or Budget()
    single = scaled.single()
    xp, is_free = namespace(single), like(state == FREE, single)
    first, _ = largest_places(xp.where(is_free, single, -np.inf), max(WORKING_SET, 10 * problem.k))
    working = WorkingSet(problem, scaled, state)
    working.join(np.union1d(first, np.flatnonzero((state == IN) | (weights != 0.0))), weights)
    best, solved = None, SOLVED
    for _ in range(MAX_ROUNDS):
        with one_blas_thread():
            working.improve(cut, solved, budget)
        value, now, late = working.price(is_free)
        budget.spend(scaled.pass_work(now.used.size) + working.take_work())
        if best is None or now.bound < best.bound:
            best = now
        if best.bound <= cut or budget.stop() is not None:
            break
        joining, prices = largest_places(late, JOIN)
        if np.any(prices >= now.kth):
            with one_blas_thread():
                working.join(joining)
        elif solved == SOLVED:
            break
        solved = SOLVED if now.bound - value <= NEAR * abs(now.bound) else ROUGH
    assert best is not None
    return best


class WorkingSet:
    """Some features, with their weights and their part of the scaled pencil, on the host."""

    def __init__(self, problem: Problem, scaled: ScaledPencil, state: np.ndarray) -> None:
        self.scaled, self.state, self.k = scaled, state, problem.k
        self.need = problem.k - int(np.count_nonzero(state == IN))
        self.logdet = problem.criterion == "logdet"
        self.index = np.empty(0, dtype=np.intp)
        self.w, self.B = np.empty(0), np.empty((0, 0))
        self.W = scaled.columns(self.index)
        self.work = np.zeros(1)

    def take_work(self) -> float:
        """The work since it was last taken."""
        work, self.work[0] = float(self.work[0]), 0.0
        return work

    def join(self, index: np.ndarray, weights: np.ndarray | None = None) -> None:
        """Take in more features, with weights of theirs among all or with none."""
        old, scaled = self.index.size, self.scaled
        self.index = np.concatenate([self.index, index])
        new = scaled.columns(index)
        if new is None or self.W is None:
            strip = scaled.rows(index, self.index)
        else:
            self.W = np.concatenate([self.W, new], axis=1)
            strip = new.T @ self.W
        self.work[0] += strip.size * (WORK_OF_ENTRY + 0.3 * (0 if self.W is None else len(self.W)))
        B = np.empty((self.index.size, self.index.size))
        B[:old, :old], B[:old, old:], B[old:] = self.B, strip[:, :old].T, strip
        B.flat[:: len(B) + 1] = 1.0
        self.B = B
        self.H = np.ascontiguousarray(scaled.factor(self.index))
        self.D = scaled.diagonal(self.index)
        w = np.zeros(index.size) if weights is None else weights[index]
        self.w = np.concatenate([self.w, np.where(self.state[index] == IN, 1.0, w)])
        self.is_free = self.state[self.index] == FREE

    def improve(self, cut: float, solved: float, budget: Budget) -> None:
        """Solve for the weights of the FREE features."""
        if not self.need:
            return
        free, forced = np.flatnonzero(self.is_free), np.flatnonzero(~self.is_free)
        problem = WeightProblem(
            self.B, self.H, self.D, forced, free, self.need, self.logdet, self.work
        )
        self.w[free] = maximise(problem, self.w[free], cut, solved, budget)

    def price(self, is_free: Any) -> tuple[float, Relaxation, Any]:
        """The value, what the weights say of all features, and the prices of those not here.

        The latter are -inf for the features that are here or not FREE.
        """
        T = np.flatnonzero(self.w > WEIGHTLESS)
        used, w, D, H = self.index[T], self.w[T], self.D[T], self.H[:, T]
        value, G, X = evaluate(self.B[np.ix_(T, T)], H, D, w, self.logdet)
        own = own_gradient(X, G, D, w)
        prices = self.scaled.prices(used, None if self.W is None else self.W[:, T], X, G)
        scatter(prices, used, own)
        late = namespace(prices).where(is_free, prices, -np.inf)
        top = largest_values(late, self.need)
        scatter(late, self.index, np.full(self.index.size, -np.inf))
        here = float(own[self.is_free[T]] @ w[self.is_free[T]])
        margin = 8 * self.k * EPS / float(D.min())
        bound = (value - here + float(top.sum())) * (1 + MARGIN + margin)
        bound += margin * self.scaled.cancellation + self.k * self.scaled.left_out
        return value, Relaxation(bound, used, w, prices, top.min(initial=np.inf)), late


def maximise(
    problem: WeightProblem, w: np.ndarray, cut: float, solved: float, budget: Budget
) -> np.ndarray:
    """Weights near the maximum, from given ones; whatever it finds, they give a valid bound.

    Ends when the bound is within ``solved`` of the value, or at or below ``cut``.
    """
    w = w.copy()
    # a large step takes some tenths of a second: look at the clock in between
    steps = int(np.clip(STEP_WORK / (len(problem.H) + len(problem.B)) ** 3, 1, NEWTON_STEPS))
    for _ in range(0, NEWTON_STEPS, steps):
        bound, value, _, _ = relax(problem, w, cut, steps, solved, 0.0)
        if not bound - value > solved * abs(bound) or bound <= cut or budget.stop() is not None:
            break
    return w


def evaluate(
    B_T: np.ndarray, H_T: np.ndarray, D_T: np.ndarray, w: np.ndarray, logdet: bool
) -> tuple[float, np.ndarray, np.ndarray]:
    """f at weights w of the columns T, the gradient G of the criterion, and X (c, t).

    The gradient of f is g_j = y_j' G y_j, y_j = (H_j - X B_Tj) / sqrt(D_j), outside T, and
    `own_gradient` on T.
    """
    M = B_T.copy()
    M.flat[:: len(M) + 1] += D_T * (1.0 / w - 1.0)
    _, X, failed = linalg.lapack.dposv(M.T, H_T.T, overwrite_a=True)
    if failed:
        raise np.linalg.LinAlgError("B is not positive definite on the features of a relaxation")
    Q = H_T @ X
    Q = (Q + Q.T) / 2
    value, G = float(np.maximum(np.diag(Q), 0.0).sum()), np.eye(len(Q))
    if logdet:
        value = float(np.log1p(np.maximum(np.linalg.eigvalsh(Q), 0.0)).sum())
        G = np.linalg.inv(G + Q)
    return value, G, X.T


def own_gradient(X: np.ndarray, G: np.ndarray, D_T: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The gradient on T by the equation of X, without cancellation."""
    return quadratic_forms(X, G) * D_T / np.square(w)


def largest_places(values: Any, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Indices and values of the largest above -inf; ties go to the lowest index."""
    least = float(largest_values(values, min(count, values.shape[0])).min())
    is_large = (values >= least) & (values > -np.inf)
    xp = namespace(values)
    index = xp.nonzero(is_large)[0]
    index, found = to_numpy(index), to_numpy(xp.take(values, index))
    order = np.argsort(-found, kind="stable")[:count]
    return index[order], found[order]


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looks at all libraries that are loaded: once


def one_blas_thread() -> AbstractContextManager[Any]:
    """A context in which linear algebra is done by the calling thread alone."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return limit
