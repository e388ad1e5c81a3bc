"""Backward pass: delete, one by one, the feature that lowers the criterion least."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import linalg

from ...errors import PencilError
from ...pencil.budget import Budget
from ...pencil.factor_pencil import dense_rows, take_columns
from ...pencil.grading import MAX_CANCELLATION
from ...pencil.problem import Problem
from ..secular import best_deletion, first_max
from .inverse import DenseInverse, FactorInverse, ShrinkingInverse

# More features are searched forward, if nothing else is asked for: there a pass takes longer than
# the local searches that find as much.
MAX_FEATURES = 500
# Arithmetic that a backward pass of the largest eigenvalue may cost without being asked for.
CHEAP_WORK = 4e9
# Deleted features are dropped from the arrays when this share of them is left.
COMPACT_AT = 0.7


def backward_is_cheap(problem: Problem) -> bool:
    """Whether a backward pass takes seconds at most (that of the largest eigenvalue may not).

    Not where it is of no use, as for the log-det of an A far above B.
    """
    criterion, p, c = problem.working_criterion, problem.pencil.size, problem.pencil.max_rank
    if p > MAX_FEATURES:
        return False
    if criterion == "logdet" and problem.pencil.scale > MAX_CANCELLATION:
        return False
    if criterion != "lambda_max":
        return True
    return p * (p * c**2 + 20.0 * c**3) <= CHEAP_WORK


def backward_pass(
    problem: Problem, ks: Sequence[int], budget: Budget, solver: str
) -> dict[int, np.ndarray]:
    """The sets of the given sizes on the way from all allowed features down to the smallest.

    If the budget ends first, the smaller sets are missing.
    """
    ids = problem.features
    removable = ~np.isin(ids, problem.include)
    state = make_state(problem, ids)
    alive = np.ones(ids.size, dtype=bool)
    sets: dict[int, np.ndarray] = {}
    steps = ids.size - min(ks)
    for step in range(1, steps + 1):
        if budget.stop() is not None:
            break
        deletable = alive & removable
        if problem.quota is not None:  # of blocks that hold more than they are to give
            assert problem.pencil.blocks is not None
            deletable &= (problem.lacks(ids[alive]) < 0)[problem.pencil.blocks[ids]]
        j = state.cheapest(deletable)
        alive[j] = False
        state.delete(j)
        size = problem.pencil.size - step
        if size in ks:
            sets[size] = ids[alive]
        if size <= COMPACT_AT * alive.size:
            state.keep(alive)
            ids, removable = ids[alive], removable[alive]
            alive = np.ones(size, dtype=bool)
        budget.report(solver, "backward", step, total=steps)
    return sets


def make_state(problem: Problem, ids: np.ndarray) -> BackwardState:
    """The state that scores deletions under the problem's criterion."""
    kinds: dict[str, Callable[[Problem, np.ndarray], BackwardState]] = {
        "trace": TraceBackward,
        "logdet": LogdetBackward,
        "lambda_max": LambdaBackward,
    }
    return kinds[problem.working_criterion](problem, ids)


def _inverse(problem: Problem, ids: np.ndarray, *, total: bool = False) -> ShrinkingInverse:
    """The inverse of B, or of T = A + B, on the given features, in the cheaper form."""
    pencil = problem.pencil
    factors = pencil.factors
    if factors:
        parts = [factors.W, factors.factor_A] if total else [factors.W]
        if sum(map(len, parts)) < ids.size:
            rows = [_dense(part, ids) for part in parts]
            return FactorInverse(np.vstack(rows), factors.d[ids])
    part = pencil.restrict(ids)
    return DenseInverse(part.A + part.B if total else part.B)


def _dense(rows: Any, ids: np.ndarray) -> np.ndarray:
    """Some columns of W or H: all of the table, as a rule."""
    return dense_rows(take_columns(rows, ids), "a backward pass (direction='forward' does without)")


class BackwardState(ABC):
    """The set so far, and what every deletion would cost."""

    def __init__(self, problem: Problem, ids: np.ndarray) -> None:
        self.inverse = _inverse(problem, ids)

    def cheapest(self, deletable: np.ndarray) -> int:
        """The feature that is missed least."""
        return first_max(np.where(deletable, -self.costs(), -np.inf))

    @abstractmethod
    def costs(self) -> np.ndarray:
        """What the criterion loses with each feature."""

    def delete(self, j: int) -> None:
        """Delete a feature."""
        self.inverse.delete(j)

    def keep(self, alive: np.ndarray) -> None:
        """Forget deleted features."""
        self.inverse.keep(alive)


class LogdetBackward(BackwardState):
    """Cost of j: log of (B_S^-1)_jj / (T_S^-1)_jj, T = A + B."""

    def __init__(self, problem: Problem, ids: np.ndarray) -> None:
        if problem.pencil.scale > MAX_CANCELLATION:
            raise PencilError(
                f"A / B is of size {problem.pencil.scale:.1e}; a backward pass by log-det needs "
                f"{MAX_CANCELLATION:.0e} at most: use direction='forward', or rescale the columns"
            )
        super().__init__(problem, ids)
        self.total = _inverse(problem, ids, total=True)

    def costs(self) -> np.ndarray:
        ratio = self.inverse.diagonal / self.total.diagonal
        return np.log(np.maximum(ratio, 1.0))

    def delete(self, j: int) -> None:
        super().delete(j)
        self.total.delete(j)

    def keep(self, alive: np.ndarray) -> None:
        super().keep(alive)
        self.total.keep(alive)


class TraceBackward(BackwardState):
    """Cost of j: |beta_j|^2 / (B_S^-1)_jj with beta = B_S^-1 H_S'."""

    def __init__(self, problem: Problem, ids: np.ndarray) -> None:
        super().__init__(problem, ids)
        H, self.signs = problem.pencil.spectral_factor
        self.H = _dense(H, ids)
        self.beta = self.inverse.apply(self.H.T)

    def costs(self) -> np.ndarray:
        return np.einsum("ij,ij->i", self.beta, self.beta) / self.inverse.diagonal

    def delete(self, j: int) -> None:
        column = self.inverse.delete(j)
        self.beta -= np.outer(column, self.beta[j] / column[j])

    def keep(self, alive: np.ndarray) -> None:
        self.inverse.keep(alive)
        self.H = np.ascontiguousarray(self.H[:, alive])
        self.beta = self.inverse.apply(self.H.T)


class LambdaBackward(TraceBackward):
    """Deleting j imposes x_j = 0: the new largest eigenvalue solves a secular equation.

    With G = H B_S^-1 H' = R R' and C = diag(signs), the eigenvalues that are not zero are those
    of R'CR, the eigenvectors beta C R V / |w|; what is missing to (B_S^-1)_jj belongs
    to the eigenvalue zero.
    """

    def __init__(self, problem: Problem, ids: np.ndarray) -> None:
        super().__init__(problem, ids)
        self.G = self.H @ self.beta
        self.n_alive = ids.size
        self.unit = problem.pencil.scale

    def delete(self, j: int) -> None:
        row, pivot = self.beta[j].copy(), self.inverse.diagonal[j]
        super().delete(j)
        self.G -= np.outer(row, row / pivot)
        self.n_alive -= 1

    def keep(self, alive: np.ndarray) -> None:
        super().keep(alive)
        self.G = self.H @ self.beta

    def cheapest(self, deletable: np.ndarray) -> int:
        w, coordinates = self._spectrum()
        if w.size == 0:  # A vanishes on what is left
            return int(np.argmax(deletable))
        X2 = np.square(coordinates)
        mass = self.inverse.diagonal
        if w.size < self.n_alive:
            w = np.append(w, 0.0)
            rest = np.maximum(mass - X2.sum(axis=1), 0.0)
            X2 = np.column_stack([X2, rest])
        order = np.argsort(-w, kind="stable")
        return best_deletion(w[order], X2[:, order], mass, deletable, self.unit)

    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues that are not zero, and the features' coordinates in the eigenvectors."""
        if not self.G.any():
            return np.empty(0), np.empty((len(self.beta), 0))
        g, U = linalg.eigh((self.G + self.G.T) / 2)
        keep = g > 1e-12 * max(g[-1], 0.0)
        R = U[:, keep] * np.sqrt(g[keep])
        if np.all(self.signs > 0):
            return g[keep], self.beta @ (R / g[keep])
        CR = self.signs[:, None] * R
        w, V = linalg.eigh(R.T @ CR)
        keep = np.abs(w) > 1e-12 * np.abs(w).max(initial=0.0)
        return w[keep], self.beta @ (CR @ V[:, keep] / np.abs(w[keep]))
