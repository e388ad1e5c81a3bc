"""The perspective relaxation of a whole problem: columns are brought in as they are needed.

See kernels/perspective.py for the relaxation itself. Here the thousands of features that never
matter are kept out of it: a small working set is solved, all features are priced in O(p n),
those that could matter join, and so on. The result bounds every set of k features.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import linalg

from .factor_pencil import FactorPencil
from .problem import Problem
from .search import FREE, IN, OUT

# Columns that the working set starts with, and the most that join at a time.
WORKING_SET = 200
# A diagonal below B must stay below it in spite of rounding.
SAFE = 1e-9
MAX_ROUNDS = 30
# Relative rounding of a bound.
MARGIN = 1e-11


class ScaledPencil:
    """The pencil with diag(B) = 1, A = H'H and B = diag(D) + something semidefinite."""

    def __init__(self, problem: Problem) -> None:
        pencil = problem.pencil
        self.scale = 1.0 / np.sqrt(pencil.diag_B)
        self.pencil = pencil
        self.H = np.ascontiguousarray(pencil.spectral_factor[0] * self.scale)

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
        if self._W is None:
            part = self.pencil.B[np.ix_(index, index)] * np.outer(
                self.scale[index], self.scale[index]
            )
        else:
            W = self._W[:, index]
            part = W.T @ W
        part[np.diag_indices_from(part)] = 1.0
        return part

    def times(self, index: np.ndarray, X: np.ndarray) -> np.ndarray:
        """B[:, index] @ X for all features, (c, p); the diagonal entries of B left out."""
        if self._W is None:
            rows = self.pencil.B[index] * np.outer(self.scale[index], self.scale)
            rows[np.arange(index.size), index] = 0.0
            return X @ rows
        W = self._W[:, index]
        product = (X @ W.T) @ self._W
        product[:, index] -= X * np.einsum("ij,ij->j", W, W)
        return product


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


def relax_all(
    problem: Problem,
    scaled: ScaledPencil,
    state: np.ndarray,
    weights: np.ndarray,
    *,
    cut: float = -np.inf,
) -> Relaxation:
    """Solve the relaxation over all FREE features, from weights that sum to k (1 where IN).

    It may end early once the bound is at or below ``cut``.
    """
    from ..kernels.perspective import relax

    need = problem.k - np.count_nonzero(state == IN)
    is_free = state == FREE
    weights = np.where(state == IN, 1.0, weights)
    single = np.where(is_free, np.einsum("ij,ij->j", scaled.H, scaled.H), -np.inf)
    active = np.argsort(-single)[: max(WORKING_SET, 10 * problem.k)]
    active = np.union1d(active[is_free[active]], np.flatnonzero(weights))
    best = Relaxation(np.inf, weights, np.zeros(weights.size))
    for _ in range(MAX_ROUNDS):
        open_here = is_free[active]
        w = weights[active[open_here]]
        relax(
            scaled.block(active),
            np.ascontiguousarray(scaled.H[:, active]),
            scaled.D[active],
            np.flatnonzero(~open_here),
            np.flatnonzero(open_here),
            need,
            w,
            cut,
            problem.criterion == "logdet",
            100,
            1e-6,
            0.0,
        )
        weights[active[open_here]] = w
        now = _price(problem, scaled, state, weights)
        if now.bound < best.bound:
            best = now
        late = is_free.copy()
        late[active] = False
        kth = np.sort(now.gradient[is_free])[-need] if need else np.inf
        violators = np.flatnonzero(late & (now.gradient >= kth))
        if best.bound <= cut or violators.size == 0:
            break
        order = np.argsort(-now.gradient[violators])[:WORKING_SET]
        active = np.union1d(active, violators[order])
    return best


def _price(
    problem: Problem, scaled: ScaledPencil, state: np.ndarray, weights: np.ndarray
) -> Relaxation:
    """Bound and gradient over all features at some weights."""
    T = np.flatnonzero(weights > 1e-9)
    w = weights[T]
    M = scaled.block(T)
    M[np.diag_indices_from(M)] += scaled.D[T] * (1.0 / w - 1.0)
    X = linalg.cho_solve(linalg.cho_factor(M), scaled.H[:, T].T).T  # (c, t)
    Q = scaled.H[:, T] @ X.T
    values = np.maximum(linalg.eigvalsh((Q + Q.T) / 2), 0.0)
    if problem.criterion == "logdet":
        value, G = float(np.log1p(values).sum()), np.linalg.inv(np.eye(len(Q)) + Q)
    else:
        value, G = float(values.sum()), np.eye(len(Q))
    Y = scaled.H - scaled.times(T, X)
    Y[:, T] = scaled.D[T] * X / w
    Y /= np.sqrt(scaled.D)
    gradient = np.einsum("ij,ij->j", Y, G @ Y)
    free = np.flatnonzero(state == FREE)
    need = problem.k - np.count_nonzero(state == IN)
    top = np.sort(gradient[free])[free.size - need :].sum()
    bound = value - float(gradient[free] @ weights[free]) + float(top)
    return Relaxation(bound * (1 + MARGIN), weights.copy(), gradient)
