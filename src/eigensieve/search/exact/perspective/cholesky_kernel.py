"""Small triangular algebra for kernels: M = U'U, rows contiguous so that loops vectorise.

LAPACK's start-up costs more than these sizes (10 to 100) do.
"""

from __future__ import annotations

import math

import numpy as np

from ....pencil.compile import jit


@jit
def factorize(M: np.ndarray, n: int) -> bool:
    """Overwrite the upper triangle of M[:n, :n] by U; False if a pivot is not positive."""
    for j in range(n):
        pivot = M[j, j]
        if not pivot > 0.0:
            return False
        scale = 1.0 / math.sqrt(pivot)
        for i in range(j, n):
            M[j, i] *= scale
        for i in range(j + 1, n):
            factor = M[j, i]
            if factor != 0.0:
                for m in range(i, n):
                    M[i, m] -= factor * M[j, m]
    return True


@jit
def solve_lower(U: np.ndarray, n: int, x: np.ndarray) -> None:
    """x <- U'^-1 x."""
    for j in range(n):
        value = x[j] / U[j, j]
        x[j] = value
        if value != 0.0:
            for i in range(j + 1, n):
                x[i] -= value * U[j, i]


@jit
def solve_upper(U: np.ndarray, n: int, x: np.ndarray) -> None:
    """x <- U^-1 x."""
    for i in range(n - 1, -1, -1):
        value = x[i]
        for m in range(i + 1, n):
            value -= U[i, m] * x[m]
        x[i] = value / U[i, i]


@jit
def invert(U: np.ndarray, n: int, P: np.ndarray) -> None:
    """P[:n, :n] <- (U'U)^-1."""
    for j in range(n):
        for i in range(n):
            P[j, i] = 0.0
        P[j, j] = 1.0
        solve_lower(U, n, P[j])
        solve_upper(U, n, P[j])
    for j in range(n):  # symmetric to the last bit
        for i in range(j):
            P[j, i] = P[i, j]
