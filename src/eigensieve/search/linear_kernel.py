"""Small dense linear algebra for the compiled searches: M = U'U, loops over contiguous rows.

Of a symmetric matrix the upper triangle is used. LAPACK's start-up costs more than these sizes
(10 to 100) do.
"""

from __future__ import annotations

import math

import numpy as np

from ..pencil.compile import jit


@jit
def factorize(M: np.ndarray, n: int, floor: float = 0.0) -> bool:
    """Overwrite the upper triangle of M[:n, :n] by U; False if a pivot is not above the floor."""
    for j in range(n):
        pivot = M[j, j]
        if not pivot > floor:
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
def eliminate(M: np.ndarray, H: np.ndarray, steps: int) -> float:
    """The first steps of `factorize`, carried out on the rows of H as well.

    Afterwards the first ``steps`` rows hold U (and of H the solution U'^-1 H), the others the
    Schur complements. Returns the sum of 1/pivot, or inf if M is not positive definite.
    """
    n, c = H.shape
    shaky = 0.0
    for j in range(steps):
        pivot = M[j, j]
        if not pivot > 0.0:
            return np.inf
        shaky += 1.0 / pivot
        scale = 1.0 / math.sqrt(pivot)
        for b in range(j, n):
            M[j, b] *= scale
        for s in range(c):
            H[j, s] *= scale
        for a in range(j + 1, n):
            factor = M[j, a]
            if factor != 0.0:
                for b in range(a, n):
                    M[a, b] -= factor * M[j, b]
                for s in range(c):
                    H[a, s] -= factor * H[j, s]
    return shaky


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
def solve(U: np.ndarray, n: int, x: np.ndarray) -> None:
    """x <- (U'U)^-1 x."""
    solve_lower(U, n, x)
    solve_upper(U, n, x)


@jit
def invert_by_rows(U: np.ndarray, n: int, P: np.ndarray) -> None:
    """As `invert`, slower, with other last digits: those that proof files were written with."""
    for j in range(n):
        P[j, :n] = 0.0
        P[j, j] = 1.0
        solve(U, n, P[j])
    for j in range(n):
        for i in range(j):
            P[j, i] = P[i, j]


@jit
def invert(U: np.ndarray, n: int, P: np.ndarray) -> None:
    """P[:n, :n] <- (U'U)^-1, symmetric to the last bit."""
    Z = np.zeros((n, n))  # the inverse of U, transposed
    for t in range(n):
        Z[t, t] = 1.0
        for s in range(t):
            factor = U[s, t]
            for b in range(s + 1):
                Z[t, b] -= factor * Z[s, b]
        scale = 1.0 / U[t, t]
        for b in range(t + 1):
            Z[t, b] *= scale
    P[:n, :n] = 0.0
    for t in range(n):
        for a in range(t + 1):
            factor = Z[t, a]
            for b in range(a + 1):
                P[a, b] += factor * Z[t, b]
    for a in range(n):
        for b in range(a):
            P[b, a] = P[a, b]


@jit
def largest_ratio(A: np.ndarray, B: np.ndarray, chosen: np.ndarray) -> float:
    """The largest generalized eigenvalue of a set, from scratch; -inf if B is singular there."""
    n = chosen.size
    U = np.empty((n, n))
    C = np.empty((n, n))
    for i in range(n):
        for j in range(n):
            U[i, j] = B[chosen[i], chosen[j]]
            C[i, j] = A[chosen[i], chosen[j]]
    if not factorize(U, n):
        return -np.inf
    for _ in range(2):  # C = U'^-1 (U'^-1 C)'
        for i in range(n):
            solve_lower(U, n, C[i])
        C = np.ascontiguousarray(C.T)
    for i in range(n):
        for j in range(i):
            C[i, j] = C[j, i] = (C[i, j] + C[j, i]) / 2
    return np.linalg.eigvalsh(C)[n - 1]


@jit
def top_sum(values: np.ndarray, k: int) -> tuple[float, float, float]:
    """The sum of the k largest, the k-th and the next largest (-inf if there is none)."""
    order = np.sort(values)
    n = values.size
    total = 0.0
    for i in range(n - k, n):
        total += order[i]
    return total, order[n - k], order[n - k - 1] if k < n else -np.inf
