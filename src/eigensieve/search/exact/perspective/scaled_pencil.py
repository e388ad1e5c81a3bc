"""The pencil as the perspective relaxation sees it: columns, values and prices."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ....pencil.criteria import DOMINANT
from ....pencil.factor_pencil import quadratic_forms
from ....pencil.grading import MAX_CANCELLATION, align, cancellation
from ....pencil.problem import Problem
from ....pencil.row_factor import RowFactor, turn_rows
from ....tables.kinds.arrays import (
    is_device_array,
    like,
    namespace,
)

# A diagonal below B must stay below it in spite of rounding.
SAFE = 1e-9
# What it takes to sort a column in or out, in units of `Budget.spend`.
WORK_OF_COLUMN = 300.0
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
