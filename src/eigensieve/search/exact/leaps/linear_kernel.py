"""Small dense linear algebra for the leaps search: loops over contiguous rows only.

Matrices are symmetric with a diagonal near 1, of which the upper triangle is used; what is
chosen already is eliminated by Cholesky steps, which leave a problem of the same kind behind.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ....pencil.compile import jit

EPS = 2.220446049250313e-16
RANK_ONE, TRACE, LOGDET = 0, 1, 2


class Task(NamedTuple):
    """What is maximised: A = H H' with H (p, c), and B with a diagonal near 1.

    ``kind`` is RANK_ONE (trace with c = 1), TRACE or LOGDET. Features of a block stand together;
    ``quota`` is what each block gives. ``unit`` is the size of A, for rounding errors.
    """

    kind: int
    B: np.ndarray
    H: np.ndarray
    blocks: np.ndarray
    quota: np.ndarray
    unit: float


class Log(NamedTuple):
    """What a search finds: the best set as a mask, and for the audit the closed subproblems.

    ``record`` holds the cut, what a better set adds to its value to make the next cut, and the
    largest bound with which a single set was closed.
    """

    best: np.ndarray
    record: np.ndarray
    counts: np.ndarray
    strides: np.ndarray


class Rest(NamedTuple):
    """The problem that is left on the free features when others are chosen.

    ``base`` is the value of the chosen, ``top`` that of everything, and ``error``, which is added
    to it, what rounding may do to any value. ``shaky`` is the sum of 1/pivot of the chosen.
    ``P`` is the inverse of B; ``second`` is P H as a row (rank one), P H H' P (trace) or the
    inverse of B + H H' (logdet).
    """

    free: np.ndarray
    B: np.ndarray
    H: np.ndarray
    P: np.ndarray
    second: np.ndarray
    base: float
    top: float
    error: float
    shaky: float


@jit
def eliminate(M: np.ndarray, H: np.ndarray, steps: int) -> float:
    """Carry out Cholesky steps on the upper triangle of M, and on the rows of H beside it.

    Afterwards the first ``steps`` rows hold the factor (and of H the solution), the others the
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
def invert(M: np.ndarray, P: np.ndarray) -> bool:
    """P = M^-1, all of it; False if M is not positive definite. M is overwritten."""
    n = M.shape[0]
    Z = np.zeros((n, n))  # the inverse of the Cholesky factor, transposed
    if eliminate(M, np.empty((n, 0)), n) == np.inf:
        return False
    for t in range(n):
        Z[t, t] = 1.0
        for s in range(t):
            factor = M[s, t]
            for b in range(s + 1):
                Z[t, b] -= factor * Z[s, b]
        scale = 1.0 / M[t, t]
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
    return True


@jit
def log_det(K: np.ndarray) -> float:
    """log det of a positive definite K, whose upper triangle becomes its Cholesky factor."""
    if eliminate(K, np.empty((K.shape[0], 0)), K.shape[0]) == np.inf:
        return np.inf
    total = 0.0
    for j in range(K.shape[0]):
        total += math.log(K[j, j])
    return 2.0 * total


@jit
def reduce(
    B: np.ndarray, H: np.ndarray, chosen: np.ndarray, free: np.ndarray, is_log: bool
) -> tuple[float, float, np.ndarray, np.ndarray]:
    """What is left when some features are chosen: a problem of the same kind on the free ones.

    H is (p, c), A = H H'. Returns the value of the chosen set, the sum of 1/pivot (inf: they are
    dependent), and B and H of the rest: for every set T of free features the value of
    chosen + T is the value of the chosen plus that of T in the reduced problem.
    """
    m, u, c = chosen.size, free.size, H.shape[1]
    index = np.concatenate((chosen, free))
    M = np.empty((m + u, m + u))
    K = np.empty((m + u, c))
    for a in range(m + u):
        row = B[index[a]]
        for b in range(a, m + u):
            M[a, b] = row[index[b]]
        for s in range(c):
            K[a, s] = H[index[a], s]
    shaky = eliminate(M, K, m)
    value = 0.0
    if shaky < np.inf and is_log:
        C = K[:m].T @ K[:m] + np.eye(c)
        value = log_det(C)
        for a in range(m, m + u):  # K C^-1/2: the directions that are explained count less
            for s in range(c):
                K[a, s] /= C[s, s]
                for t in range(s + 1, c):
                    K[a, t] -= K[a, s] * C[s, t]
    elif shaky < np.inf:
        for a in range(m):
            for s in range(c):
                value += K[a, s] * K[a, s]
    rest = np.empty((u, u))
    for a in range(u):
        for b in range(a, u):
            rest[a, b] = M[m + a, m + b]
            rest[b, a] = rest[a, b]
    return value, shaky, rest, K[m:].copy()


@jit
def score(task: Task, chosen: np.ndarray) -> tuple[float, float]:
    """The value of a set from scratch, and how far it may be off."""
    nothing = np.empty(0, np.int64)
    value, shaky, _, _ = reduce(task.B, task.H, chosen, nothing, task.kind == LOGDET)
    return value, rounding(task, value, shaky)


@jit
def rounding(task: Task, value: float, shaky: float) -> float:
    """What rounding may do to a value that was got through a matrix with these pivots."""
    return 8.0 * EPS * (value + task.unit) * (shaky + 1.0)


@jit
def consider(task: Task, log: Log, mask: np.ndarray) -> None:
    """Close a single set: it is the new best if it is above the cut, from scratch."""
    value, error = score(task, np.flatnonzero(mask))
    record = log.record
    if record[0] < value < np.inf:
        log.best[:] = mask
        record[0] = value + record[1]
    record[2] = max(record[2], value + error)


@jit
def reduce_to_free(task: Task, state: np.ndarray) -> tuple[bool, Rest]:
    """The problem that a node leaves; False if B is too nearly singular to trust it."""
    is_log = task.kind == LOGDET
    free = np.flatnonzero(state == 0)
    base, shaky, B, H = reduce(task.B, task.H, np.flatnonzero(state == 1), free, is_log)
    P, second = np.zeros((free.size, free.size)), np.zeros((1, free.size))
    fine = shaky < np.inf and invert(B.copy(), P)
    if not fine:
        return False, Rest(free, B, H, P, second, base, np.inf, np.inf, shaky)
    X = P @ H
    Q = H.T @ X
    if is_log:
        value = log_det(Q + np.eye(Q.shape[0]))
        second = np.zeros(B.shape)
        fine = invert(B + H @ H.T, second)
    else:
        value = np.trace(Q)
        second = X.T.copy() if task.kind == RANK_ONE else X @ X.T
    error = rounding(task, base + value, shaky + np.trace(P))
    return fine, Rest(free, B, H, P, second, base, base + value + error, error, shaky)
