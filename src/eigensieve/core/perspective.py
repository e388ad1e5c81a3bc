"""The perspective relaxation of a whole problem: columns are brought in as they are needed.

See kernels/perspective.py for the relaxation itself. Here the thousands of features that never
matter are kept out of it: a small working set is solved, all features are priced in O(p n),
those that could matter join, and so on. The result bounds every set of k features.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from .budget import Budget
from .criteria import EPS
from .factor_pencil import FactorPencil
from .problem import Problem
from .search import FREE, IN, OUT

# Columns that the working set starts with, and the most that join at a time.
WORKING_SET = 200
# A diagonal below B must stay below it in spite of rounding.
SAFE = 1e-9
MAX_ROUNDS = 30
MAX_STEPS = 300
# Weights below this are zero.
TINY = 1e-9
# Relative rounding of a bound.
MARGIN = 1e-11


class ScaledPencil:
    """The pencil with diag(B) = 1, A = H'H and B = diag(D) + something semidefinite."""

    def __init__(self, problem: Problem) -> None:
        pencil = problem.pencil
        self.scale = 1.0 / np.sqrt(pencil.diag_B)
        self.pencil = pencil
        H = pencil.spectral_factor[0] * self.scale
        if len(H) > pencil.size:
            H = np.linalg.qr(H, mode="r")
        self.H = np.ascontiguousarray(H)

    @cached_property
    def _W(self) -> np.ndarray | None:
        if not isinstance(self.pencil, FactorPencil):
            return None
        return self.pencil.W * self.scale

    @cached_property
    def D(self) -> np.ndarray:
        """The diagonal that the relaxation starts from."""
        if isinstance(self.pencil, FactorPencil):
            return self.pencil.d * self.scale**2 * (1 - SAFE)
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
        if self._W is None:
            scales = np.outer(self.scale[rows], self.scale[columns])
            return self.pencil.B[np.ix_(rows, columns)] * scales
        return self._W[:, rows].T @ self._W[:, columns]

    def times(self, index: np.ndarray, X: np.ndarray) -> np.ndarray:
        """X B[index] for all features, (c, p); not to be used on the features of ``index``."""
        if self._W is None:
            return X @ (self.pencil.B[index] * np.outer(self.scale[index], self.scale))
        return (X @ self._W[:, index].T) @ self._W


@dataclass
class Relaxation:
    """What the relaxation says of all the features.

    Attributes
    ----------
    bound : no set scores more
    weights : array (p,), w at the maximum; 1 for the forced
    gradient : array (p,); exchanging j for i changes the bound by gradient_i - gradient_j
    """

    bound: float
    weights: np.ndarray
    gradient: np.ndarray

    def fixed(self, cut: float, state: np.ndarray, k: int) -> np.ndarray:
        """The state (FREE, IN or OUT) with all that a set above ``cut`` must or cannot have."""
        new = state.copy()
        free = np.flatnonzero(state == FREE)
        need = k - np.count_nonzero(state == IN)
        if 0 < need < free.size:
            g = self.gradient[free]
            order = np.sort(g)
            kth, after = order[-need], order[-need - 1]
            new[free[(g < kth) & (self.bound - kth + g <= cut)]] = OUT
            new[free[(g >= kth) & (self.bound - g + after <= cut)]] = IN
        return new


def start_state(problem: Problem) -> np.ndarray:
    """FREE for every feature, IN for the included ones."""
    state = np.full(problem.pencil.size, FREE, dtype=np.int8)
    state[problem.include] = IN
    return state


@dataclass
class Part:
    """The relaxation of some columns: those forced in, and those whose weights are sought."""

    B: np.ndarray
    H: np.ndarray
    D: np.ndarray
    forced: np.ndarray
    free: np.ndarray
    need: int
    logdet: bool

    def evaluate(self, w: np.ndarray) -> tuple[float, np.ndarray]:
        """f and its gradient at weights of the free columns."""
        held = w > TINY
        T = np.concatenate([self.forced, self.free[held]])
        weight = np.concatenate([np.ones(self.forced.size), w[held]])
        value, G, Y = evaluate(self.B[np.ix_(T, T)], self.H, self.D, T, weight, self.logdet,
                               lambda X: X @ self.B[T])  # fmt: skip
        return value, np.einsum("ij,ij->j", Y, G @ Y)[self.free]


def ascend(part: Part, w: np.ndarray, cut: float) -> np.ndarray:
    """Weights near the maximum, by projected gradients with Barzilai-Borwein steps.

    Plain NumPy: what a fitted model says of itself must not wait for a compiler. Ends when the
    bound is within 1e-6 of the value, or at or below ``cut``.
    """
    value, g = part.evaluate(w)
    if not g.any():
        return w
    step = part.need / float(np.abs(g).sum())
    for _ in range(MAX_STEPS):
        bound = (
            value
            - float(g @ np.where(w > TINY, w, 0.0))
            + float(np.sort(g)[g.size - part.need :].sum())
        )
        if bound <= cut or bound - value <= 1e-6 * abs(bound):
            break
        d = project(w + step * g, part.need) - w
        slope, share = float(g @ d), 1.0
        if slope <= 0:
            break
        for _ in range(20):
            new_value, new_g = part.evaluate(w + share * d)
            if new_value >= value + 1e-4 * share * slope:
                break
            share *= 0.4
        else:
            break
        bend = -share * float(d @ (new_g - g))  # the function is concave: not negative
        step = share**2 * float(d @ d) / bend if bend > 0 else 10 * step
        w, value, g = w + share * d, new_value, new_g
    return w


def project(v: np.ndarray, k: int) -> np.ndarray:
    """The nearest point with entries in [0, 1] that sum to k."""
    low, high = float(v.min()) - 1.0, float(v.max())
    for _ in range(60):
        middle = 0.5 * (low + high)
        if np.clip(v - middle, 0.0, 1.0).sum() > k:
            low = middle
        else:
            high = middle
    return np.clip(v - low, 0.0, 1.0)


def relax_all(
    problem: Problem,
    scaled: ScaledPencil,
    state: np.ndarray,
    weights: np.ndarray,
    *,
    cut: float = -np.inf,
    maximise: Callable[[Part, np.ndarray, float], np.ndarray] = ascend,
    budget: Budget | None = None,
) -> Relaxation:
    """Solve the relaxation over all FREE features, from weights that sum to k (1 where IN).

    It may end early: once the bound is at or below ``cut``, or by the budget. ``maximise`` solves
    for the working set; whatever it finds, the bound is valid.
    """
    need = problem.k - int(np.count_nonzero(state == IN))
    is_free = state == FREE
    weights = np.where(state == IN, 1.0, weights)
    single = np.where(is_free, np.einsum("ij,ij->j", scaled.H, scaled.H), -np.inf)
    active = np.argsort(-single, kind="stable")[: max(WORKING_SET, 10 * problem.k)]
    active = np.union1d(active[is_free[active]], np.flatnonzero(weights))
    best = Relaxation(np.inf, weights, np.zeros(weights.size))
    for _ in range(MAX_ROUNDS):
        if need:
            open_here = is_free[active]
            part = Part(
                scaled.block(active),
                np.ascontiguousarray(scaled.H[:, active]),
                scaled.D[active],
                np.flatnonzero(~open_here),
                np.flatnonzero(open_here),
                need,
                problem.criterion == "logdet",
            )
            weights[active[open_here]] = maximise(part, weights[active[open_here]], cut)
        now = _price(problem, scaled, state, weights)
        if now.bound < best.bound:
            best = now
        late = is_free.copy()
        late[active] = False
        kth = np.sort(now.gradient[is_free])[-need] if need else np.inf
        violators = np.flatnonzero(late & (now.gradient >= kth))
        if best.bound <= cut or violators.size == 0 or (budget and budget.stop()):
            break
        order = np.argsort(-now.gradient[violators], kind="stable")[:WORKING_SET]
        active = np.union1d(active, violators[order])
    return best


def _price(
    problem: Problem, scaled: ScaledPencil, state: np.ndarray, weights: np.ndarray
) -> Relaxation:
    """Bound and gradient over all features at some weights."""
    T = np.flatnonzero(weights > TINY)
    value, G, Y = evaluate(
        scaled.block(T), scaled.H, scaled.D, T, weights[T], problem.criterion == "logdet",
        lambda X: scaled.times(T, X),
    )  # fmt: skip
    gradient = np.einsum("ij,ij->j", Y, G @ Y)
    free = np.flatnonzero(state == FREE)
    need = problem.k - int(np.count_nonzero(state == IN))
    top = np.sort(gradient[free])[free.size - need :].sum()
    held = np.where(weights > TINY, weights, 0.0)  # what f sees
    bound = value - float(gradient[free] @ held[free]) + float(top)
    margin = MARGIN + 8 * problem.k * EPS / float(scaled.D[T].min())
    return Relaxation(bound * (1 + margin), weights.copy(), gradient)


def evaluate(
    B_T: np.ndarray,
    H: np.ndarray,
    D: np.ndarray,
    T: np.ndarray,
    w: np.ndarray,
    logdet: bool,
    times: Callable[[np.ndarray], np.ndarray],
) -> tuple[float, np.ndarray, np.ndarray]:
    """f at weights w of the columns T, and G and Y with the gradient g_j = y_j' G y_j.

    ``times`` gives X B[T] for X of shape (c, t); what it says of the columns T is not used.
    """
    M = B_T.copy()
    M[np.diag_indices_from(M)] += D[T] * (1.0 / w - 1.0)
    X = linalg.cho_solve(linalg.cho_factor(M), H[:, T].T).T
    Q = H[:, T] @ X.T
    values = np.maximum(linalg.eigvalsh((Q + Q.T) / 2), 0.0)
    value, G = float(values.sum()), np.eye(len(Q))
    if logdet:
        value, G = float(np.log1p(values).sum()), np.linalg.inv(G + Q)
    Y = H - times(X)
    Y[:, T] = D[T] * X / w  # the same by the equation of X, without cancellation
    return value, G, Y / np.sqrt(D)
